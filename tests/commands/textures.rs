//! Textures of smooth terrain: shown, converted to Single, and channels of other depths.

use serde_json::Value as Json;

use crate::{Demo, lines, output, run};

/// The channels of a voxel, by name.
fn channel(save: &str, voxel: &str, name: &str) -> Json {
    let shown = output(&["show", save, &format!("--voxel={voxel}"), "--format=json"]);
    let json: Json = serde_json::from_str(&shown).unwrap();
    json["channels"].as_array().unwrap().iter().find(|channel| channel["name"] == name).unwrap().clone()
}

/// A path at which nothing is yet.
fn new(demo: &Demo, name: &str) -> String {
    demo.root.join(name).to_str().unwrap().to_owned()
}

#[test]
fn mixel4_is_unpacked() {
    let demo = Demo::new();
    let save = demo.path("healthy/textures");
    // x = 5 is in the second stripe; z = 3 of 15 is blended into the next texture.
    let indices = channel(&save, "5,0,3", "INDICES");
    assert_eq!((indices["value"].as_u64(), &indices["unpacked"]), (Some(0x4321), &serde_json::json!([1, 2, 3, 4])));
    assert_eq!(channel(&save, "5,0,3", "WEIGHTS")["unpacked"], serde_json::json!([12, 3, 0, 0]));
    assert_eq!(channel(&save, "5,0,3", "SDF")["unpacked"], Json::Null);
    let text = output(&["show", &save, "--voxel=5,0,3"]);
    assert!(text.contains("textures 1, 2, 3, 4") && text.contains("weights 12, 3, 0, 0 of 15"), "{text}");
}

#[test]
fn a_repeated_index_is_a_note_with_its_number_of_voxels() {
    let demo = Demo::new();
    let found = lines(&output(&["check", &demo.path("healthy/textures"), "--format=jsonl"]));
    let found: Vec<&Json> = found.iter().filter(|finding| finding["code"] == "textures-repeat").collect();
    assert_eq!(found.len(), 1);
    assert_eq!((&found[0]["level"], &found[0]["found"]), (&Json::from("note"), &Json::from("1")));
    assert!(found[0]["message"].as_str().unwrap().contains("1 voxel"), "{found:?}");
    // Of the block alone, too.
    let block = found[0]["block"].as_array().unwrap().iter().map(Json::to_string).collect::<Vec<_>>().join(",");
    let shown = output(&["show", &demo.path("healthy/textures"), "--block", &block, "--format=json"]);
    let shown: Json = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["findings"][0]["code"], "textures-repeat", "{shown}");
}

#[test]
fn mixel4_becomes_single_and_distances_become_floats() {
    let demo = Demo::new();
    let (save, made) = (demo.path("healthy/textures"), new(&demo, "single"));
    let done = run(&["convert", &save, "--textures=single", "--depth", "SDF=32,weights=8", "--out", &made]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    for (voxel, texture) in [("5,0,3", 1), ("5,0,12", 2), ("15,1,0", 3)] {
        let indices = channel(&made, voxel, "INDICES");
        assert_eq!((indices["depth_bits"].as_u64(), indices["value"].as_u64()), (Some(8), Some(texture)), "{voxel}");
        assert_eq!(channel(&made, voxel, "WEIGHTS")["depth_bits"].as_u64(), Some(8));
        let [was, is] = [&save, &made].map(|save| channel(save, voxel, "SDF"));
        assert_eq!(is["depth_bits"].as_u64(), Some(32));
        assert!((was["sdf"].as_f64().unwrap() - is["sdf"].as_f64().unwrap()).abs() < 1e-3, "{was} {is}");
        let text = output(&["show", &made, &format!("--voxel={voxel}")]);
        assert!(text.contains(&format!("texture {texture}")), "{text}");
    }
    // Blocks of another size hold the same.
    let larger = new(&demo, "larger");
    let done = run(&["convert", &save, "--textures=single", "--block-size=32", "--out", &larger]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert_eq!(channel(&larger, "5,0,12", "INDICES")["value"].as_u64(), Some(2));
    assert_eq!(run(&["check", &made]).code, Some(0));
}

#[test]
fn what_does_not_fit_is_refused_with_a_way_out() {
    let demo = Demo::new();
    let (save, made) = (demo.path("healthy/textures"), new(&demo, "refused"));
    let cut = run(&["convert", &save, "--depth=INDICES=8", "--out", &made]);
    assert_eq!(cut.code, Some(16));
    assert!(cut.err.contains("does not fit 8 bits") && cut.err.contains("--textures single"), "{}", cut.err);
    let bare = run(&["convert", &save, "--depth=8", "--out", &made]);
    assert_eq!(bare.code, Some(16));
    assert!(bare.err.contains("INDICES=8") && bare.err.contains("--from-depths"), "{}", bare.err);
    assert!(bare.err.contains(" --depths"), "{}", bare.err);
    // 16 bits in both channels would be read as Mixel4.
    let wide = run(&["convert", &save, "--textures=single", "--depth=INDICES=16", "--out", &made]);
    assert_eq!(wide.code, Some(16));
    assert!(wide.err.contains("INDICES=8"), "{}", wide.err);
    assert!(!std::path::Path::new(&made).exists());
}

#[test]
fn slices_show_the_texture_of_the_largest_weight() {
    let demo = Demo::new();
    let (save, picture) = (demo.path("healthy/textures"), new(&demo, "slice.png"));
    // x = 0 to 15 of one block: z = 3 weighs 12 and 3, z = 12 weighs 3 and 12, z = 7 and 8 weigh 8.
    for (channel, at, texture) in [
        ("INDICES", "z=3", [0, 1, 2, 3]),
        ("INDICES", "z=12", [1, 2, 3, 4]),
        ("WEIGHTS", "z=3", [12; 4]),
        ("WEIGHTS", "z=8", [8; 4]),
    ] {
        let slice = format!("--slice={at}");
        let channel = format!("--channel={channel}");
        let arguments = ["export", &save, &slice, "--block=0,0,0", &channel, "--look=scale", "--out", &picture];
        let done = run(&arguments);
        assert_eq!(done.code, Some(0), "{arguments:?}: {}", done.err);
        let (pixels, about) = png(&picture);
        assert!(about.contains("largest weight"), "{about}");
        let (low, high) = (*texture.iter().min().unwrap(), *texture.iter().max().unwrap());
        assert!(about.contains(&format!("black is {low}, white is {high}")), "{channel} {at}: {about}");
        for (x, rgba) in pixels.as_chunks::<4>().0.iter().take(16).enumerate() {
            let share = if high > low { f64::from(texture[x / 4] - low) / f64::from(high - low) } else { 0.0 };
            assert_eq!(rgba[0], (share * 255.0).round() as u8, "{channel} {at} x={x}");
        }
        std::fs::remove_file(&picture).unwrap();
    }
}

/// The pixels of a picture, and its description.
fn png(path: &str) -> (Vec<u8>, String) {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    let about = reader.info().uncompressed_latin1_text.iter().map(|text| text.text.clone()).collect();
    (pixels, about)
}

#[test]
fn maps_and_slices_show_textures_in_the_same_colours() {
    let demo = Demo::new();
    let (save, single) = (demo.path("healthy/textures"), new(&demo, "single"));
    let done = run(&["convert", &save, "--textures=single", "--out", &single]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let pixels = |save: &str, channel: &str, how: &[&str], name: &str| {
        let picture = new(&demo, name);
        let channel = format!("--channel={channel}");
        let done = run(&[&["export", save, &channel][..], how, &[&picture]].concat());
        assert_eq!(done.code, Some(0), "{}", done.err);
        png(&picture)
    };
    for channel in ["INDICES", "WEIGHTS"] {
        let (slice, _) = pixels(&save, channel, &["--slice=y=4", "--out"], &format!("{channel}-slice.png"));
        let cut = ["--look=cut", "--slice=y=4", "--map"];
        let (map, about) = pixels(&save, channel, &cut, &format!("{channel}-cut.png"));
        assert!(slice == map, "{channel}");
        assert!(about.contains(&format!("{channel} at y=4")) && about.contains("1 voxel a pixel"), "{about}");
    }
    // The texture of the largest weight is that of Single.
    let (mixel4, _) = pixels(&save, "INDICES", &["--map"], "mixel4.png");
    let (one, about) = pixels(&single, "INDICES", &["--map"], "one.png");
    assert!(mixel4 == one && about.contains("surface"), "{about}");
    // The ground has the slopes of the distances: the first texture alone has many shades.
    let shades: std::collections::HashSet<&[u8; 4]> = mixel4.as_chunks::<4>().0.iter().collect();
    assert!(shades.len() > 40, "{}", shades.len());
}

#[test]
fn a_block_lists_its_textures() {
    let demo = Demo::new();
    let text = output(&["show", &demo.path("healthy/textures"), "--block=0,0,0"]);
    assert!(text.contains("mixel4: textures 0, 1, 2, 3, 4, 5, 6"), "{text}");
    assert!(text.contains("mixel4: weights 0 to 15 of 15"), "{text}");
}

#[test]
fn arrays_say_how_their_textures_are_packed() {
    let demo = Demo::new();
    let (save, single) = (demo.path("healthy/textures"), new(&demo, "single"));
    let done = run(&["convert", &save, "--textures=single", "--out", &single]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    for (save, textures) in [(&save, "mixel4"), (&single, "single")] {
        let to = new(&demo, &format!("{textures}-arrays"));
        let done = run(&["export", save, "--channel=TYPE", "--channel=INDICES", "--channel=WEIGHTS", "--out", &to]);
        assert_eq!(done.code, Some(0), "{}", done.err);
        let report: Json = serde_json::from_slice(&std::fs::read(format!("{to}/export.json")).unwrap()).unwrap();
        let said: Vec<&Json> = report["arrays"].as_array().unwrap().iter().map(|array| &array["textures"]).collect();
        assert_eq!(said, [&Json::Null, &Json::from(textures), &Json::from(textures)]);
    }
}

#[test]
fn exports_have_textures_unpacked_on_request() {
    let demo = Demo::new();
    let (save, made, packed) = (demo.path("healthy/textures"), new(&demo, "arrays"), new(&demo, "packed"));
    let done = run(&["export", &save, "--unpack-textures", "--block=0,0,0", "--out", &made]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(done.out.contains("INDICES_unpacked.npy, WEIGHTS.npy, WEIGHTS_unpacked.npy"), "{}", done.out);
    let description: Json =
        serde_json::from_str(&std::fs::read_to_string(format!("{made}/export.json")).unwrap()).unwrap();
    let array = |name: &str| {
        description["arrays"].as_array().unwrap().iter().find(|array| array["channel"] == name).unwrap().clone()
    };
    let unpacked = serde_json::json!({ "file": "INDICES_unpacked.npy", "uniform": null });
    assert_eq!((&array("INDICES")["unpacked"], &array("SDF")["unpacked"]), (&unpacked, &Json::Null));
    // Shape (z, x, y, 4), from the lowest bits of each number on.
    let numbers = |name: &str| {
        let bytes = std::fs::read(format!("{made}/{name}")).unwrap();
        let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        let text = String::from_utf8_lossy(&bytes[10..header]).into_owned();
        assert!(text.contains("'|u1'") && text.contains("(16, 16, 16, 4)"), "{text}");
        bytes[header..].to_vec()
    };
    let at = |[x, y, z]: [usize; 3]| ((z * 16 + x) * 16 + y) * 4;
    let (indices, weights) = (numbers("INDICES_unpacked.npy"), numbers("WEIGHTS_unpacked.npy"));
    assert_eq!(indices.len(), 4 * 4096);
    assert_eq!(indices[at([5, 0, 3])..][..4], [1, 2, 3, 4]);
    assert_eq!(weights[at([5, 0, 3])..][..4], [12, 3, 0, 0]);
    assert_eq!(weights[at([5, 0, 12])..][..4], [3, 12, 0, 0]);
    let plain = run(&["export", &save, "--out", &packed]);
    assert_eq!(plain.code, Some(0), "{}", plain.err);
    assert!(!std::path::Path::new(&packed).join("INDICES_unpacked.npy").exists());
    // Nothing is unpacked where there is no Mixel4.
    let single = new(&demo, "single");
    assert_eq!(run(&["convert", &save, "--textures=single", "--out", &single]).code, Some(0));
    let none = run(&["export", &single, "--unpack-textures", "--out", &new(&demo, "none")]);
    assert_eq!(none.code, Some(8));
    assert!(none.err.contains("do not show textures of Mixel4"), "{}", none.err);
}

#[test]
fn the_form_of_converted_channels_is_a_sentence() {
    let demo = Demo::new();
    let save = demo.path("healthy/textures");
    let single = run(&["convert", &save, "--textures=single", "--out", &new(&demo, "sentences-single")]);
    for words in [
        "In 12 blocks, INDICES has textures of the form Single in 8 bits in place of 16.",
        "In 12 blocks, WEIGHTS has textures of the form Single in 16 bits, as before.",
    ] {
        assert!(single.out.contains(words), "{words}: {}", single.out);
    }
    let deep = run(&["convert", &save, "--depth", "TYPE=8", "--out", &new(&demo, "sentences-depth")]);
    assert!(deep.out.contains("In 12 blocks, TYPE has 8 bits in place of 16."), "{} {}", deep.out, deep.err);
}
