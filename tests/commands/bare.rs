//! Lone files that are no save, and what they are called; paths as they were given.

use std::fs;

use tempfile::tempdir;

use crate::{Demo, run};

#[test]
fn a_lone_file_is_said_to_be_what_show_reads() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    let array = dir.path().join("array.npy");
    fs::copy(demo.path("healthy/map-sparse/Lake_Global.npy"), &array).unwrap();
    let block = dir.path().join("block.bin");
    // A block of 2 x 2 x 2 voxels whose channels are uniform.
    let bytes = [&[4, 2, 0, 2, 0, 2, 0, 1, 7][..], &[1, 0].repeat(7), &[0x0d, 0xf0, 0x0d, 0x90]].concat();
    fs::write(&block, &bytes).unwrap();
    for (path, what) in [(&array, "an array of numbers (.npy)"), (&block, "block data without a container")] {
        let path = path.to_str().unwrap();
        let out = dir.path().join("out");
        let out = out.to_str().unwrap();
        for arguments in [
            &["check", path][..],
            &["info", path],
            &["ls", path],
            &["export", path, "--out", out],
            &["convert", path, "--out", out],
            &["diff", path, path],
        ] {
            let done = run(arguments);
            let code = if arguments[0] == "diff" { 2 } else { 8 };
            assert_eq!(done.code, Some(code), "{arguments:?}: {}", done.err);
            assert!(
                done.err.contains(&format!("it looks like {what}: `voxscope show {path}` reads it")),
                "{}",
                done.err
            );
        }
        assert_eq!(run(&["show", path]).code, Some(0), "{path}");
    }
    // A cut array is an array with a finding, and no repair is advised for it.
    let whole = fs::read(&array).unwrap();
    for (len, code) in [(1000, "npy-truncated"), (40, "npy-cut")] {
        fs::write(&array, &whole[..len]).unwrap();
        let done = run(&["show", array.to_str().unwrap()]);
        assert_eq!(done.code, Some(4), "{len}: {}", done.err);
        assert!(done.out.contains(code) && !done.out.contains("voxscope repair"), "{}", done.out);
        let done = run(&["show", array.to_str().unwrap(), "--format=json"]);
        assert!(done.out.contains(code) && !done.out.contains("voxscope repair"), "{}", done.out);
    }
}

#[test]
#[cfg(unix)]
fn a_link_to_a_lone_file_is_followed_as_one_to_a_save_is() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    let link = |name: &str, target: &str| {
        let link = dir.path().join(name);
        std::os::unix::fs::symlink(demo.path(target), &link).unwrap();
        link.to_str().unwrap().to_owned()
    };
    let array = link("array", "healthy/map-sparse/Lake_Global.npy");
    for arguments in [&[&array[..]][..], &["show", &array], &["show", &array, "--as=npy", "--hex"]] {
        let done = run(arguments);
        assert_eq!(done.code, Some(0), "{arguments:?}: {}", done.err);
        assert!(done.out.starts_with(&array) && done.out.contains("read as npy"), "{}", done.out);
    }
    assert!(run(&["check", &array]).err.contains("it looks like an array of numbers"));
    let save = link("save", "healthy/current");
    assert_eq!(run(&["check", &save]).code, Some(0));
    // Links in a directory are named and not followed.
    fs::remove_file(&save).unwrap();
    let done = run(&["show", dir.path().to_str().unwrap()]);
    assert!(done.err.contains("array: a symbolic link, which is not followed"), "{}", done.err);
}

#[test]
fn an_empty_directory_is_called_that() {
    let dir = tempdir().unwrap();
    let done = run(&["check", dir.path().to_str().unwrap()]);
    assert_eq!(done.code, Some(8));
    assert!(done.err.contains("no save here") && done.err.contains("the directory is empty"), "{}", done.err);
}

#[test]
fn a_rig_of_voxedit_and_cells_of_maps_are_named() {
    let demo = Demo::new();
    let dir = tempdir().unwrap();
    let rig = dir.path().join("figure.vxr");
    fs::write(&rig, b"VXR3 and more").unwrap();
    for arguments in [&["show", rig.to_str().unwrap()][..], &["show", rig.to_str().unwrap(), "--block=0,0,0"]] {
        let done = run(arguments);
        assert_eq!(done.code, Some(8), "{}", done.err);
        assert!(done.err.contains("VoxEdit"), "{}", done.err);
    }
    let map = demo.path("healthy/map-sparse");
    let done = run(&["show", &map, "--block=1,0,0"]);
    assert!(done.err.contains("--block is not for voxel maps") && done.err.contains("--voxel 16,0,0"), "{}", done.err);
    let done = run(&["show", &map, "--record=1"]);
    assert!(done.err.contains("--record is not for voxel maps"), "{}", done.err);
}

#[test]
fn paths_are_those_that_were_given() {
    let demo = Demo::new();
    let regions = demo.path("healthy/current/regions");
    for (dir, file) in [(regions, "lod0/r.0.0.0.vxr"), (demo.path("healthy"), "pak-room/x0_y0_z0.region")] {
        let mut command = crate::command(&["info", file]);
        command.current_dir(&dir);
        let done = crate::finish(command);
        assert_eq!(done.code, Some(0), "{}", done.err);
        assert!(!done.out.contains(&dir), "{}", done.out);
        let first = done.out.lines().next().unwrap();
        assert!(first.starts_with(file), "{first}");
        // In the directory of the file, its name is all of the path.
        let path = std::path::Path::new(&dir).join(file);
        let name = path.file_name().unwrap().to_str().unwrap();
        let mut command = crate::command(&["info", name]);
        command.current_dir(path.parent().unwrap());
        let first = crate::finish(command).out;
        assert!(first.starts_with(&format!("{name} · ")), "{first}");
    }
}

#[test]
fn a_row_of_a_pak_region_that_cannot_be_read_is_below_the_headings() {
    let demo = Demo::new();
    let out = run(&["info", &demo.path("damaged/pak-header-cut/x0_y0_z0.region")]).out;
    let rows: Vec<&str> = out.lines().skip(2).take(2).collect();
    // Numbers end where their headings end; words begin where their heading begins.
    let end = |row: &str, text: &str| row.find(text).unwrap() + text.len();
    assert_eq!(end(rows[0], "size"), end(rows[1], "10 B"), "{out}");
    assert_eq!(rows[0].find("first block"), rows[1].find("cannot be read"), "{out}");
}
