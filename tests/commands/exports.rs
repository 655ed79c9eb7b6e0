//! What `export` leaves out is named; files of higher LODs, instances of several streams, names of files.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;
use tempfile::tempdir;

use crate::common::copy_dir;
use crate::{Demo, run};

#[test]
fn an_export_of_pak_regions_names_the_map_beside_them_and_one_of_a_layer_the_pak_regions() {
    let demo = Demo::new();
    let both = demo.root.join("both");
    copy_dir(demo.path("healthy/pak-room"), &both);
    copy_dir(demo.path("healthy/map-sparse"), &both);
    let (both, out) = (both.to_str().unwrap(), tempdir().unwrap());
    let to = |name: &str| out.path().join(name).to_str().unwrap().to_owned();
    let done = run(&["export", both, "--out", &to("chunks")]);
    assert_eq!(done.code, Some(8), "{}{}", done.out, done.err);
    assert!(done.err.contains("a voxel map is exported layer by layer, by --layer"), "{}", done.err);
    let done = run(&["export", both, "--layer=Lake_Global", "--out", &to("layer")]);
    assert_eq!(done.code, Some(8), "{}{}", done.out, done.err);
    assert!(done.err.contains("left out: --layer exports a layer of a voxel map only"), "{}", done.err);
    assert!(Path::new(&to("layer")).exists() && Path::new(&to("chunks")).join("chunks.jsonl").is_file());
    // Alone, both are exported without a word.
    let alone = run(&["export", &demo.path("healthy/pak-room"), "--out", &to("alone")]);
    assert_eq!((alone.code, alone.err.as_str()), (Some(0), ""));
}

#[test]
fn a_file_of_a_higher_lod_is_exported_as_that_lod() {
    let demo = Demo::new();
    let out = tempdir().unwrap();
    for (name, file) in
        [("region", "healthy/lods/regions/lod1/r.0.0.0.vxr"), ("block", "healthy/block-files/blocks/lod1")]
    {
        let path = demo.path(file);
        let path = if Path::new(&path).is_dir() {
            let mut all: Vec<_> = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()).collect();
            all.sort();
            all[0].to_str().unwrap().to_owned()
        } else {
            path
        };
        let to = out.path().join(name);
        let done = run(&["export", &path, "--out", to.to_str().unwrap()]);
        assert_eq!(done.code, Some(0), "{path}: {}", done.err);
        let json: Json = serde_json::from_str(&fs::read_to_string(to.join("export.json")).unwrap()).unwrap();
        assert_eq!(json["lod"], 1, "{path}");
        assert!(json["blocks"].as_u64().unwrap() > 0, "{path}");
    }
}

#[cfg(feature = "sqlite")]
#[test]
fn instances_of_several_streams_are_refused_with_their_names() {
    let demo = Demo::new();
    let both = demo.root.join("streams");
    for name in ["stream", "stream-texts"] {
        copy_dir(demo.path(&format!("healthy/{name}")), both.join(name));
    }
    let to = demo.root.join("instances.csv");
    let done = run(&["export", both.to_str().unwrap(), "--instances", "--out", to.to_str().unwrap()]);
    assert_eq!(done.code, Some(16), "{}", done.err);
    assert!(done.err.contains("there are 2 streams here"), "{}", done.err);
    assert!(done.err.contains("stream/world.sqlite, stream-texts/world.sqlite"), "{}", done.err);
    assert!(!to.exists());
    // One stream among other saves is that one.
    copy_dir(demo.path("healthy/pak-room"), demo.root.join("mixed"));
    copy_dir(demo.path("healthy/stream"), demo.root.join("mixed"));
    let mixed = demo.root.join("mixed");
    let done = run(&["export", mixed.to_str().unwrap(), "--instances", "--out", to.to_str().unwrap()]);
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
}

#[cfg(unix)]
#[test]
fn names_of_exported_files_have_no_control_characters() {
    let demo = Demo::new();
    let from = demo.path("healthy/pak-room/x0_y0_z0.region");
    let file = demo.root.join("a\u{1b}[2Jx0_y0_z0.region");
    fs::copy(from, &file).unwrap();
    let to = demo.root.join("chunks");
    let done = run(&["export", file.to_str().unwrap(), "--out", to.to_str().unwrap()]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let names: Vec<String> =
        fs::read_dir(&to).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.contains(&"a_[2Jx0_y0_z0.record-0.npy".to_owned()), "{names:?}");
    assert!(names.iter().all(|name| !name.chars().any(char::is_control)), "{names:?}");
}

/// Asserts that `export` refuses arguments, and why.
fn assert_refused(demo: &Demo, arguments: &[&str], why: &str) {
    let refused = run(&[&["export", &demo.path("healthy/current")][..], arguments].concat());
    assert!(refused.code == Some(16) && refused.err.contains(why), "{arguments:?}: {}", refused.err);
}

#[test]
fn options_of_arrays_are_refused_where_something_else_is_written() {
    let demo = Demo::new();
    let to = demo.root.join("out").to_str().unwrap().to_owned();
    let map = format!("--map={to}.png");
    for (arguments, why) in [
        (vec!["--out", &to, "--slice=y=3", "--fill=7"], "--fill has no effect beside --slice"),
        (vec!["--out", &to, "--slice=y=3", "--distances"], "--distances has no effect beside --slice"),
        (vec!["--out", &to, "--lost", "--no-sync"], "--no-sync has no effect beside --lost"),
        (vec!["--out", &to, "--table", "--lod=1"], "--lod has no effect beside --table"),
        (vec![&map, "--fill=0"], "--fill has no effect beside --map"),
        (vec![&map, "--channel=TYPE", "--channel=SDF"], "--map shows one channel"),
    ] {
        assert_refused(&demo, &arguments, why);
    }
}

/// Options of a map are no options of arrays; the parser alone lets them pass beside `--out`.
#[test]
fn options_of_a_map_need_one() {
    let demo = Demo::new();
    let save = demo.path("healthy/current");
    let to = demo.root.join("out").to_str().unwrap().to_owned();
    let map = format!("--map={to}.png");
    for arguments in [
        vec!["--out", &to, "--scale=2"],
        vec!["--out", &to, "--against", &save],
        vec![&map, "--against", &save],
        vec![&map, "--look=height", "--against", &save],
    ] {
        assert_refused(&demo, &arguments, "goes with --map");
    }
}

#[test]
fn the_picture_of_a_repair_has_the_size_of_the_world_however_much_is_lost() {
    let demo = Demo::new();
    let out = tempdir().unwrap();
    for sample in ["power-loss", "findings-cut", "page-zeroed", "table-garbage", "two-writers"] {
        let save = demo.path(&format!("damaged/{sample}"));
        let draw = |look: &str| {
            let to = out.path().join(format!("{sample}-{look}.png"));
            let done = run(&["export", &save, "--map", to.to_str().unwrap(), &format!("--look={look}")]);
            let pixels = done.out.split(" pixels").next().and_then(|text| text.rsplit(": ").next());
            (pixels.unwrap_or_default().to_owned(), done)
        };
        let ((surface, _), (repaired, done)) = (draw("surface"), draw("repair"));
        assert_eq!(surface, repaired, "{sample}: {}{}", done.out, done.err);
        let opened = voxscope::save::Save::open(save.as_ref(), &voxscope::save::Options::default()).unwrap();
        let plan = voxscope::repair::plan(&opened, &voxscope::repair::Options::default()).unwrap();
        let mut lost = 0;
        voxscope::repair::fates(&opened, &plan, &mut |block| {
            lost += u64::from(block.lod == 0 && block.fate == voxscope::repair::Fate::Lost);
        });
        assert_eq!(done.code, Some(if lost > 0 { 4 } else { 0 }), "{sample}: {}", done.err);
        let words = format!("{} of the drawn part", voxscope::printable::count(lost, "block"));
        assert_eq!(done.err.contains(&words), lost > 0, "{sample}: {}", done.err);
    }
}

#[test]
fn a_picture_names_the_ends_of_its_scale_and_what_a_repair_loses() {
    let demo = Demo::new();
    let out = tempdir().unwrap();
    let to = |name: &str| out.path().join(name).to_str().unwrap().to_owned();
    let depth = run(&["export", &demo.path("healthy/map-sparse"), "--map", &to("depth.png"), "--look=depth"]);
    assert!(depth.out.contains("from 5.0 m deep (dark) to 2.5 m (bright)"), "{}{}", depth.out, depth.err);
    let numbers = run(&["export", &demo.path("healthy/map-sparse"), "--map", &to("depth.npy"), "--look=depth"]);
    assert_eq!(numbers.code, Some(0), "{}", numbers.err);
    let described: Json = serde_json::from_slice(&fs::read(to("depth.json")).unwrap()).unwrap();
    assert_eq!(described["unit"], "m");
    // Blocks (0, 0, 0), (0, 1, 0) and (1, 0, 0) have no copy.
    let torn = demo.path("damaged/page-zeroed");
    let torn_elsewhere = torn.clone();
    for (save, area, lost) in [
        (torn.clone(), None, "3 blocks of the drawn part are missing after this repair"),
        (torn, Some("--box=0,0,0..16,16,16"), "2 blocks of the drawn part are missing after this repair"),
        (torn_elsewhere, Some("--box=0,0,16..16,16,32"), ""),
        (demo.path("healthy/current"), None, ""),
    ] {
        let name = to("repair.png");
        let mut arguments = vec!["export", &save, "--map", &name, "--look=repair"];
        arguments.extend(area);
        let done = run(&arguments);
        assert_eq!(done.code, Some(if lost.is_empty() { 0 } else { 4 }), "{}", done.err);
        assert_eq!(done.err.is_empty(), lost.is_empty(), "{save}: {}", done.err);
        assert!(done.err.contains(lost) && (lost.is_empty() || done.err.contains(" --plan")), "{save}: {}", done.err);
        fs::remove_file(name).unwrap();
    }
}
