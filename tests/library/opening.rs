//! What a path can be, and what is found there.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{SMALL, small_header, small_region, small_sector};
use tempfile::{TempDir, tempdir};
use voxscope::damage::Code;
use voxscope::godot::forest::Meta;
use voxscope::godot::region::Format;
use voxscope::godot::slots::SlotFormula;
use voxscope::limits::Limits;
use voxscope::save::{Error, Kind, Options, Save, Scratch};

fn write(path: &Path, data: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, data).unwrap();
}

fn meta(version: u8) -> Vec<u8> {
    let meta = Meta {
        version: Some(version),
        block_size_po2: Some(SMALL.block_size_po2),
        region_size_po2: Some(1),
        sector_size: Some(SMALL.sector_size),
        depths: Some(SMALL.depths),
        ..Meta::default()
    };
    meta.encode()
}

/// A region file with one block in slot 3, whose TYPE is `value`.
fn region(version: u8, value: u8) -> Vec<u8> {
    let mut entries = [(0, 0); 8];
    entries[3] = (0, 1);
    let header = if version == 3 { small_header() } else { vec![b'V', b'X', b'R', b'_', version] };
    small_region(&header, entries, &small_sector(if version == 3 { 4 } else { 1 }, value))
}

/// A forest in `dir` with one region file of each of these names.
fn forest(dir: &Path, names: &[&str]) {
    write(&dir.join("meta.vxrm"), &meta(3));
    for name in names {
        write(&dir.join("regions").join(name), &region(3, 1));
    }
}

fn temp() -> (TempDir, PathBuf) {
    let dir = tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap();
    (dir, path)
}

fn open(path: &Path) -> Save {
    Save::open(path, &Options::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// Names of the region files of a save, below its path.
fn names(save: &Save) -> Vec<String> {
    save.regions().map(|(forest, file)| save.shown(&forest.dir.join(&file.name))).collect()
}

fn faults(save: &Save) -> Vec<(String, Code)> {
    save.faults.iter().map(|fault| (save.shown(&fault.path), fault.damage.code)).collect()
}

/// TYPE of the first voxel of the only block of the first region file.
fn value(save: &Save) -> Option<u64> {
    let (forest, file) = save.regions().next().expect("a region");
    let region = save.region(forest, file).unwrap()?;
    assert_eq!(region.entries.len(), 1);
    let mut scratch = Scratch::default();
    let view = region.view(region.find(3).expect("slot 3").entry, &mut scratch).unwrap();
    let value = view.block.expect("a block").voxel(0, [0; 3]);
    assert_eq!(scratch.damage, []);
    value
}

#[test]
fn a_forest_by_its_directory_its_meta_file_and_its_regions() {
    let (_dir, path) = temp();
    forest(
        &path,
        &["lod0/r.1.0.0.vxr", "lod0/r.-1.0.0.vxr", "lod0/r.0.-5.0.vxr", "lod10/r.0.0.0.vxr", "lod2/r.0.0.0.vxr"],
    );
    for opened in [path.clone(), path.join("meta.vxrm"), path.join("regions")] {
        let save = open(&opened);
        assert_eq!((save.path.as_path(), save.forests.len(), faults(&save)), (path.as_path(), 1, vec![]));
        let forest = &save.forests[0];
        assert_eq!((forest.kind, forest.dir.as_path(), forest.format), (Kind::Forest, path.as_path(), Some(SMALL)));
        assert_eq!(forest.meta.as_ref().unwrap().version, Some(3));
        // By LOD as a number, then z, y, x.
        let found: Vec<_> = forest.regions.iter().map(|file| (file.lod, file.position)).collect();
        assert_eq!(found, [(0, [0, -5, 0]), (0, [-1, 0, 0]), (0, [1, 0, 0]), (2, [0; 3]), (10, [0; 3])]);
        assert_eq!(names(&save)[0], "regions/lod0/r.0.-5.0.vxr");
        for file in &forest.regions {
            assert_eq!((file.damage.len(), file.len, file.header.as_ref().unwrap().format), (0, 116, SMALL));
        }
        assert_eq!(value(&save), Some(1));
    }
}

/// The only test with a working directory of its own: all others name their files from the root.
#[test]
fn paths_from_the_working_directory() {
    let (_dir, path) = temp();
    write(&path.join("meta.vxrm"), &meta(2));
    write(&path.join("regions/lod3/r.0.0.0.vxr"), &region(2, 7));
    for (from, names) in [
        ("", &["meta.vxrm", "./meta.vxrm", "regions", ".", "regions/lod3", "regions/lod3/r.0.0.0.vxr"][..]),
        ("regions", &[".", "lod3", "..", "../meta.vxrm", "lod3/r.0.0.0.vxr"]),
        ("regions/lod3", &[".", "..", "../..", "../../meta.vxrm", "r.0.0.0.vxr"]),
    ] {
        std::env::set_current_dir(path.join(from)).unwrap();
        for name in names {
            let save = open(Path::new(name));
            assert_eq!((faults(&save), save.regions().count()), (vec![], 1), "{name} in {from:?}");
            assert_eq!(save.forests[0].regions[0].lod, 3, "{name} in {from:?}");
            assert_eq!(value(&save), Some(7), "{name} in {from:?}");
        }
    }
}

#[test]
fn a_directory_of_one_lod_finds_the_meta_file_above() {
    let (_dir, path) = temp();
    write(&path.join("meta.vxrm"), &meta(2));
    write(&path.join("regions/lod3/r.0.0.0.vxr"), &region(2, 7));
    let save = open(&path.join("regions/lod3"));
    assert_eq!((save.forests.len(), save.forests[0].kind, faults(&save)), (1, Kind::Loose, vec![]));
    assert_eq!(save.forests[0].regions[0].lod, 3);
    assert_eq!((value(&save), names(&save)), (Some(7), vec!["r.0.0.0.vxr".to_owned()]));
}

#[test]
fn regions_without_a_meta_file_are_a_forest_that_lacks_it() {
    let (_dir, path) = temp();
    write(&path.join("regions/lod0/r.0.0.0.vxr"), &region(3, 7));
    let save = open(&path);
    assert_eq!(faults(&save), [("meta.vxrm".to_owned(), Code::MetaMissing)]);
    assert_eq!((save.forests[0].kind, save.forests[0].format, value(&save)), (Kind::Forest, None, Some(7)));
    // The directory `regions` names the same forest.
    let save = open(&path.join("regions"));
    assert_eq!(faults(&save), [("meta.vxrm".to_owned(), Code::MetaMissing)]);
    assert_eq!((save.forests[0].kind, value(&save)), (Kind::Forest, Some(7)));
}

#[test]
fn a_file_of_version_3_needs_nothing_else() {
    let (_dir, path) = temp();
    let file = path.join("r.-2.3.4.vxr");
    write(&file, &region(3, 9));
    let save = open(&file);
    assert_eq!((save.path.as_path(), faults(&save)), (file.as_path(), vec![]));
    assert_eq!((save.forests[0].kind, save.forests[0].meta.as_ref()), (Kind::Loose, None));
    assert_eq!(save.forests[0].regions[0].position, [-2, 3, 4]);
    assert_eq!((value(&save), names(&save)), (Some(9), vec!["r.-2.3.4.vxr".to_owned()]));
    // Told by its first bytes, whatever its name: the place is then unknown.
    let other = path.join("backup of a region");
    fs::rename(&file, &other).unwrap();
    let save = open(&other);
    assert_eq!(faults(&save), [("backup of a region".to_owned(), Code::NameRegion)]);
    assert_eq!((save.forests[0].regions[0].position, value(&save)), ([0; 3], Some(9)));
}

#[test]
fn a_file_of_version_2_takes_its_layout_from_above_or_from_the_user() {
    let (_dir, path) = temp();
    let file = path.join("regions/lod0/r.0.0.0.vxr");
    write(&file, &region(2, 5));
    // From nowhere.
    let save = open(&file);
    let unknown = &save.forests[0].regions[0];
    assert_eq!((unknown.header.as_ref(), faults(&save)), (None, vec![]));
    assert_eq!(unknown.damage.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::RegionFormatUnknown]);
    assert!(save.region(&save.forests[0], unknown).unwrap().is_none());
    // From the user.
    let given = Options::default().format(SMALL);
    assert_eq!(value(&Save::open(&file, &given).unwrap()), Some(5));
    // From the meta file.
    write(&path.join("meta.vxrm"), &meta(2));
    let save = open(&file);
    assert_eq!((value(&save), save.forests[0].meta.as_ref().unwrap().version), (Some(5), Some(2)));
    // The user is believed before a meta file that says something else.
    let other = String::from_utf8(meta(2)).unwrap().replace("\"sector_size\": 64", "\"sector_size\": 512");
    write(&path.join("meta.vxrm"), other.as_bytes());
    assert_eq!(value(&Save::open(&file, &given).unwrap()), Some(5));
    assert_eq!(open(&file).forests[0].format, Some(Format { sector_size: 512, ..SMALL }));
}

#[test]
fn a_directory_of_saves_is_searched() {
    let (_dir, path) = temp();
    forest(&path.join("b/world"), &["lod0/r.0.0.0.vxr"]);
    forest(&path.join("a"), &["lod0/r.0.0.0.vxr", "lod1/r.0.0.0.vxr"]);
    write(&path.join("c/r.5.0.0.vxr"), &region(3, 1));
    write(&path.join("readme.txt"), b"nothing to say of this");
    let save = open(&path);
    assert_eq!(save.path, path);
    let found: Vec<_> = save.forests.iter().map(|f| (f.kind, save.shown(&f.dir), f.regions.len())).collect();
    let expected = [(Kind::Forest, "a", 2), (Kind::Forest, "b/world", 1), (Kind::Loose, "c", 1)];
    assert_eq!(found, expected.map(|(kind, dir, n)| (kind, dir.to_owned(), n)));
    assert_eq!(faults(&save), []);
    // No deeper than it was told.
    let shallow = Limits { directory_depth: 1, ..Limits::DEFAULT };
    let save = Save::open(&path, &Options::default().limits(shallow)).unwrap();
    assert_eq!(save.forests.len(), 2);
}

#[test]
fn strange_names_are_faults_and_other_files_are_noted() {
    let (_dir, path) = temp();
    forest(&path, &["lod0/r.0.0.0.vxr"]);
    let lod0 = path.join("regions/lod0");
    for name in ["r.0.0.vxr", "r.01.0.0.vxr", "R.1.0.0.VXR", "r.0.0.0.vxr.bak", "thumbs.db", "copy of r.0.0.0.vxr"] {
        write(&lod0.join(name), &region(3, 1));
    }
    fs::create_dir_all(path.join("regions/lod24")).unwrap();
    fs::create_dir_all(path.join("regions/LOD1")).unwrap();
    fs::create_dir_all(path.join("regions/old")).unwrap();
    write(&path.join("regions/lod5"), b"a file");
    write(&path.join("regions/.directory"), b"");
    let save = open(&path);
    assert_eq!(names(&save), ["regions/lod0/r.0.0.0.vxr", "regions/lod0/R.1.0.0.VXR"]);
    // A file that is read by the name that a copy gave it has a finding of its own.
    let mut found = faults(&save);
    found.sort();
    let expected = [
        ("regions/.directory", Code::NameForeign),
        ("regions/LOD1", Code::NameRegion),
        ("regions/lod0/copy of r.0.0.0.vxr", Code::NameRegion),
        ("regions/lod0/r.0.0.0.vxr.bak", Code::NameRegion),
        ("regions/lod0/r.0.0.0.vxr.bak", Code::CopyName),
        ("regions/lod0/r.0.0.vxr", Code::NameRegion),
        ("regions/lod0/r.01.0.0.vxr", Code::NameRegion),
        ("regions/lod0/thumbs.db", Code::NameForeign),
        ("regions/lod24", Code::NameRegion),
        ("regions/lod5", Code::NameRegion),
        ("regions/old", Code::NameForeign),
    ];
    assert_eq!(found, expected.map(|(path, code)| (path.to_owned(), code)));
}

#[test]
fn a_damaged_meta_file_is_a_fault_and_the_regions_are_read() {
    let (_dir, path) = temp();
    for (data, code) in [(&b""[..], Code::MetaUnreadable), (b"{", Code::MetaUnreadable), (b"[]", Code::MetaUnreadable)]
    {
        forest(&path, &["lod0/r.0.0.0.vxr"]);
        write(&path.join("meta.vxrm"), data);
        let save = open(&path);
        assert_eq!(faults(&save), [("meta.vxrm".to_owned(), code)]);
        assert_eq!((save.forests[0].kind, value(&save)), (Kind::Forest, Some(1)));
    }
    let limits = Limits { meta_bytes: 100, ..Limits::DEFAULT };
    write(&path.join("meta.vxrm"), &[b' '; 101]);
    let save = Save::open(&path, &Options::default().limits(limits)).unwrap();
    assert_eq!(faults(&save), [("meta.vxrm".to_owned(), Code::OverLimit)]);
    // Names of unknown fields are told, made printable.
    let extra = String::from_utf8(meta(3)).unwrap().replace("\"version\"", "\"\\u001b[31m\": 1, \"version\"");
    write(&path.join("meta.vxrm"), extra.as_bytes());
    let save = open(&path);
    assert_eq!(faults(&save), [("meta.vxrm".to_owned(), Code::MetaExtra)]);
    assert_eq!(save.faults[0].detail.as_deref(), Some("It is `\\u{1b}[31m`."));
}

#[test]
fn lods_beyond_the_count_are_a_fault_once_each() {
    let (_dir, path) = temp();
    forest(&path, &["lod0/r.0.0.0.vxr", "lod1/r.0.0.0.vxr", "lod2/r.0.0.0.vxr", "lod2/r.1.0.0.vxr"]);
    let text = String::from_utf8(meta(3)).unwrap().replace("\t\"region", "\t\"lod_count\": 1,\n\t\"region");
    write(&path.join("meta.vxrm"), text.as_bytes());
    let save = open(&path);
    assert_eq!(save.regions().count(), 4);
    assert_eq!(
        faults(&save),
        [("regions/lod1", Code::MetaLods), ("regions/lod2", Code::MetaLods)].map(|(p, c)| (p.to_owned(), c))
    );
}

#[test]
fn files_are_capped() {
    let (_dir, path) = temp();
    forest(&path, &["lod0/r.0.0.0.vxr", "lod0/r.1.0.0.vxr", "lod0/r.2.0.0.vxr", "lod0/r.3.0.0.vxr"]);
    let limits = Limits { files: 5, ..Limits::DEFAULT };
    let save = Save::open(&path, &Options::default().limits(limits)).unwrap();
    assert_eq!(faults(&save).iter().map(|(_, code)| *code).collect::<Vec<_>>(), [Code::OverLimit]);
    assert!(save.regions().count() < 4);
}

#[test]
fn a_directory_with_the_name_of_a_file() {
    let (_dir, path) = temp();
    forest(&path.join("a"), &["lod0/r.0.0.0.vxr"]);
    fs::create_dir_all(path.join("a/regions/lod0/r.1.0.0.vxr")).unwrap();
    fs::create_dir_all(path.join("b/meta.vxrm")).unwrap();
    write(&path.join("b/regions/lod0/r.0.0.0.vxr"), &region(3, 1));
    fs::create_dir_all(path.join("c/r.0.0.0.vxr")).unwrap();
    write(&path.join("d/meta.vxrm"), &meta(3));
    write(&path.join("d/regions"), b"a file");
    let save = open(&path);
    let expected = [
        ("a/regions/lod0/r.1.0.0.vxr", Code::NotAFile),
        ("b/meta.vxrm", Code::NotAFile),
        ("c/r.0.0.0.vxr", Code::NotAFile),
        ("d/regions", Code::NameRegion),
    ];
    assert_eq!(faults(&save), expected.map(|(path, code)| (path.to_owned(), code)));
    assert_eq!(save.regions().count(), 2);
    // As what is opened it is a directory like any other.
    assert!(matches!(Save::open(&path.join("c/r.0.0.0.vxr"), &Options::default()), Err(Error::NothingHere(_))));
}

#[test]
fn nothing_to_open() {
    let (_dir, path) = temp();
    assert!(matches!(Save::open(&path, &Options::default()), Err(Error::NothingHere(p)) if p == path));
    assert!(matches!(Save::open(&path.join("none"), &Options::default()), Err(Error::Io { .. })));
    for (name, data) in [("empty", &b""[..]), ("short", b"VX"), ("text", b"no save at all"), ("meta.vxrm.bak", b"{}")] {
        write(&path.join(name), data);
        let error = Save::open(&path.join(name), &Options::default()).unwrap_err();
        assert!(matches!(&error, Error::NotASave(p) if *p == path.join(name)), "{name}: {error}");
    }
    assert!(matches!(Save::open(&path, &Options::default()), Err(Error::NothingHere(_))));
    // By its name it would be one: then its damage is told.
    write(&path.join("r.0.0.0.vxr"), b"");
    let save = open(&path.join("r.0.0.0.vxr"));
    let file = &save.forests[0].regions[0];
    assert_eq!(file.damage.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::RegionEmpty]);
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    use super::*;

    fn fifo(path: &Path) {
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    #[test]
    fn pipes_and_sockets_are_never_read() {
        let (_dir, path) = temp();
        forest(&path.join("a"), &["lod0/r.0.0.0.vxr"]);
        fifo(&path.join("a/regions/lod0/r.1.0.0.vxr"));
        let _socket = UnixListener::bind(path.join("a/regions/lod0/r.2.0.0.vxr")).unwrap();
        write(&path.join("b/regions/lod0/r.0.0.0.vxr"), &region(3, 1));
        fifo(&path.join("b/meta.vxrm"));
        fs::create_dir(path.join("c")).unwrap();
        fifo(&path.join("c/r.0.0.0.vxr"));
        let save = open(&path);
        let expected = ["a/regions/lod0/r.1.0.0.vxr", "a/regions/lod0/r.2.0.0.vxr", "b/meta.vxrm", "c/r.0.0.0.vxr"];
        assert_eq!(faults(&save), expected.map(|path| (path.to_owned(), Code::NotAFile)));
        assert_eq!(save.regions().count(), 2);
        let error = Save::open(&path.join("c/r.0.0.0.vxr"), &Options::default()).unwrap_err();
        assert!(matches!(error, Error::Open { .. }), "{error}");
        assert!(error.to_string().ends_with("it is a pipe, not a regular file"), "{error}");
    }

    #[test]
    fn links_inside_a_save_are_not_followed() {
        let (_dir, path) = temp();
        let world = path.join("world");
        forest(&world, &["lod0/r.0.0.0.vxr"]);
        // In a circle, to itself, and to a region that is there.
        symlink(&world, world.join("regions/lod1")).unwrap();
        symlink("r.1.0.0.vxr", world.join("regions/lod0/r.1.0.0.vxr")).unwrap();
        symlink("r.0.0.0.vxr", world.join("regions/lod0/r.2.0.0.vxr")).unwrap();
        symlink(&path, path.join("world/again")).unwrap();
        // A forest that is made of links.
        fs::create_dir(path.join("links")).unwrap();
        symlink(world.join("meta.vxrm"), path.join("links/meta.vxrm")).unwrap();
        symlink(world.join("regions"), path.join("links/regions")).unwrap();
        symlink("loop", path.join("loop")).unwrap();
        symlink(world.join("regions/lod0/r.0.0.0.vxr"), path.join("r.0.0.0.vxr")).unwrap();
        let save = open(&path);
        let expected = [
            "links/meta.vxrm",
            "links/regions",
            "r.0.0.0.vxr",
            "world/regions/lod0/r.1.0.0.vxr",
            "world/regions/lod0/r.2.0.0.vxr",
            "world/regions/lod1",
        ];
        assert_eq!(faults(&save), expected.map(|path| (path.to_owned(), Code::LinkSkipped)));
        assert_eq!(names(&save), ["world/regions/lod0/r.0.0.0.vxr"]);
        assert!(matches!(Save::open(&path.join("loop"), &Options::default()), Err(Error::Io { .. })));
    }

    #[test]
    fn what_the_user_names_may_be_a_link() {
        let (_dir, path) = temp();
        forest(&path.join("world"), &["lod4/r.0.0.0.vxr"]);
        symlink(path.join("world"), path.join("to a forest")).unwrap();
        symlink(path.join("world/regions/lod4/r.0.0.0.vxr"), path.join("to a file")).unwrap();
        let save = open(&path.join("to a forest"));
        assert_eq!((faults(&save), value(&save)), (vec![], Some(1)));
        let save = open(&path.join("to a file"));
        assert_eq!((faults(&save), value(&save)), (vec![], Some(1)));
        // The file is where it really is: its LOD and its meta file are those of its directory.
        assert_eq!((save.forests[0].regions[0].lod, save.forests[0].format), (4, Some(SMALL)));
    }

    #[test]
    fn names_that_are_not_utf_8() {
        let (_dir, path) = temp();
        let world = path.join(OsStr::from_bytes(b"w\xf6rld"));
        fs::create_dir(&world).unwrap();
        forest(&world, &["lod0/r.0.0.0.vxr"]);
        write(&world.join("regions/lod0").join(OsStr::from_bytes(b"r.\xff.0.0.vxr")), b"");
        write(&world.join("regions/lod0").join(OsStr::from_bytes(b"\xfe\x1b[2J")), b"");
        fs::create_dir(world.join("regions").join(OsStr::from_bytes(b"lod\xff"))).unwrap();
        let save = open(&path);
        let mut found = faults(&save);
        found.sort();
        let expected = [
            ("w\\xf6rld/regions/lod0/\\xfe\\u{1b}[2J", Code::NameForeign),
            ("w\\xf6rld/regions/lod0/r.\\xff.0.0.vxr", Code::NameRegion),
            ("w\\xf6rld/regions/lod\\xff", Code::NameRegion),
        ];
        assert_eq!(found, expected.map(|(path, code)| (path.to_owned(), code)));
        assert_eq!((save.regions().count(), value(&save)), (1, Some(1)));
        let error = Save::open(Path::new(OsStr::from_bytes(b"\xff\x1b]0;x\x07")), &Options::default()).unwrap_err();
        assert!(!error.to_string().contains(char::is_control), "{error:?}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_cannot_be_read_is_a_fault() {
        use crate::common::deep::sink;
        let (_dir, path) = temp();
        forest(&path.join("a"), &["lod0/r.0.0.0.vxr", "lod0/r.10.0.0.vxr"]);
        let save = open(&sink(&path.join("a"), &path, "regions/lod0/r.0.0.0.vxr"));
        assert_eq!(faults(&save), []);
        let [read, unread] = &save.forests[0].regions[..] else { panic!("two files") };
        assert!(read.damage.is_empty() && read.detail.is_none());
        assert_eq!(unread.damage.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::FileUnreadable]);
        assert!(unread.detail.is_some());

        let (_dir, path) = temp();
        forest(&path.join("a"), &["lod10/r.0.0.0.vxr"]);
        fs::create_dir(path.join("a/regions/lod0")).unwrap();
        let save = open(&sink(&path.join("a"), &path, "regions/lod0"));
        assert_eq!(faults(&save), [("regions/lod10".to_owned(), Code::FileUnreadable)]);
    }
}

#[test]
fn the_slots_that_are_given_are_taken() {
    let (_dir, path) = temp();
    write(&path.join("r.-1.0.0.vxr"), &region(3, 1));
    for slots in [SlotFormula::Legacy, SlotFormula::Euclidean] {
        let save = Save::open(&path, &Options::default().slots(slots)).unwrap();
        let (forest, file) = save.regions().next().unwrap();
        let mut region = save.region(forest, file).unwrap().unwrap();
        assert_eq!(region.slots(&mut Scratch::default()).unwrap(), slots);
    }
}
