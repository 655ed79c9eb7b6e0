//! Voxel maps: what NumPy reads in the same files, and a real export.

use std::path::{Path, PathBuf};

use crate::common;
use serde_json::Value as Json;
use voxscope::damage::{Code, Level};
use voxscope::limits::Limits;
use voxscope::source::FileSource;
use voxscope::voxel_map::grid::{Grid, block_of};
use voxscope::voxel_map::map_json::Format;
use voxscope::voxel_map::npy::{Dtype, Npy};
use voxscope::voxel_map::scan::scan;
use voxscope::voxel_map::{Map, flags};
use voxscope::watch::Watch;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/npy").join(name)
}

fn json(path: &Path) -> Json {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// All index tuples of a shape, the last running fastest.
fn all_of(shape: &[u64]) -> Vec<Vec<u64>> {
    shape.iter().fold(vec![vec![]], |list, &size| {
        list.iter().flat_map(|at| (0..size).map(|n| [&at[..], &[n]].concat())).collect()
    })
}

#[test]
fn arrays_are_what_numpy_reads() {
    let expected = json(&data("arrays/expected.json"));
    let expected = expected.as_object().unwrap();
    assert!(expected.len() > 70);
    for (name, expected) in expected {
        let bytes = std::fs::read(data("arrays").join(name)).unwrap();
        let mut damage = Vec::new();
        let npy = Npy::open(&bytes).unwrap().report_to(&mut damage).unwrap();
        let shape: Vec<u64> = expected["shape"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
        assert_eq!(npy.shape, shape, "{name}");
        assert_eq!(npy.big_endian, expected["big"], "{name}");
        if npy.shape.iter().filter(|&&n| n > 1).count() > 1 {
            assert_eq!(npy.fortran, expected["fortran"], "{name}");
        }
        assert!(damage.iter().all(|d| matches!(d.code, Code::NpyBigEndian | Code::NpyFortran)), "{name}: {damage:?}");
        let mut buffer = Vec::new();
        let numbers: Vec<i64> = all_of(&shape)
            .iter()
            .map(|at| {
                npy.read(&bytes, npy.place(at).unwrap(), 1, &mut buffer).unwrap();
                match npy.dtype {
                    Dtype::F32 => i64::from(npy.floats(&buffer).next().unwrap().to_bits()),
                    _ => npy.integers(&buffer).next().unwrap(),
                }
            })
            .collect();
        let wanted: Vec<i64> = expected["numbers"].as_array().unwrap().iter().map(|n| n.as_i64().unwrap()).collect();
        assert_eq!(numbers, wanted, "{name}");
        // Written anew: the same header, and NumPy's bytes behind it.
        let start = usize::try_from(npy.data.start).unwrap();
        let again = [&npy.encode(64)[..], &bytes[start..]].concat();
        let read = Npy::open(&again).unwrap().report_to(&mut Vec::new()).unwrap();
        assert_eq!((read.dtype, &read.shape, read.fortran), (npy.dtype, &npy.shape, npy.fortran), "{name}");
    }
}

fn open(map: &Map) -> Grid<FileSource> {
    map.grid(map.layers().next().unwrap(), &Limits::DEFAULT)
}

#[test]
fn sparse_maps_are_what_numpy_reads() {
    for name in ["sparse_i4", "sparse_i4_fortran_big", "sparse_i8"] {
        let map = Map::open(&data(name), &Limits::DEFAULT).unwrap();
        assert_eq!(map.damage, [], "{name}");
        let grid = open(&map);
        assert!(grid.faults.iter().all(|fault| fault.damage.code.level() == Level::Note), "{:?}", grid.faults);
        assert!(!grid.packed);
        let expected = json(&data(name).join("expected.json"));
        for cell in expected["cells"].as_array().unwrap() {
            let at = [0, 1, 2].map(|n| u32::try_from(cell[n].as_u64().unwrap()).unwrap());
            let voxel = grid.voxel(at).unwrap().unwrap();
            assert_eq!(voxel.block.map(|(row, _)| u64::from(row)), cell[3].as_u64(), "{name} {at:?}");
            assert_eq!(voxel.bits, cell[4].as_u64(), "{name} {at:?}");
            assert_eq!(voxel.depth.map(|d| u64::from(d.to_bits())), cell[5].as_u64(), "{name} {at:?}");
        }
        let report = scan(&grid, &Limits::DEFAULT, &Watch::default());
        let counts = report.counts;
        let wanted = &expected["histogram"];
        for (field, n) in [
            ("voxels", counts.voxels),
            ("set", counts.set),
            ("open_water", counts.open_water),
            ("dry", counts.dry),
            ("unknown", counts.unknown),
        ] {
            assert_eq!(wanted[field], n, "{name}: {field}");
        }
        assert_eq!(wanted["flags"], serde_json::to_value(counts.flags).unwrap(), "{name}");
        let (mut buffer, mut voxels) = (Vec::new(), Vec::new());
        for (row, wanted) in (0..).zip(expected["blocks"].as_array().unwrap()) {
            let counts = grid.count_block(row, &mut buffer, &mut voxels).unwrap();
            assert_eq!(wanted, &serde_json::to_value(counts.flags).unwrap(), "{name}: block {row}");
        }
        let shallow = report.faults.iter().find(|fault| fault.damage.code == Code::MapWaterDepth);
        assert_eq!(shallow.map_or(0, |fault| fault.count), expected["water_without_depth"].as_u64().unwrap(), "{name}");
        let (low, high) = report.depths.unwrap().range.unwrap();
        assert_eq!([low, high].map(f64::from), [0, 1].map(|n| expected["range"][n].as_f64().unwrap()), "{name}");
        assert_eq!(report.faults.iter().filter(|fault| fault.damage.code.level() > Level::Note).count(), 1, "{name}");
    }
}

#[test]
#[ignore = "reads the full set, which VOXSCOPE_GOLDEN names"]
fn a_real_export_is_read_and_is_not_called_damaged() {
    let dir = common::golden("voxel_map/dense_int32");
    let map = Map::open(&dir, &Limits::DEFAULT).unwrap();
    assert_eq!(map.damage.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::MapLayerName]);
    let layers: Vec<_> = map.layers().collect();
    assert_eq!(layers.len(), 5);
    // Counted with Python's `struct`: voxels with something and without WATER.
    for (layer, dry) in layers.iter().zip([5972, 929, 1201, 4577, 7163]) {
        let grid = map.grid(layer, &Limits::DEFAULT);
        assert_eq!(grid.faults, []);
        assert_eq!(grid.format, Some(Format::Dense));
        let report = scan(&grid, &Limits::DEFAULT, &Watch::default());
        assert_eq!(report.faults.len(), 1);
        assert_eq!((report.faults[0].damage.code, report.faults[0].count), (Code::MapFlagDry, dry));
        let frame = layer.frame().unwrap();
        assert_eq!(Some(report.counts.voxels), frame.cells());
        let first = report.faults[0].first.unwrap().map(|n| u32::try_from(n).unwrap());
        assert_eq!(frame.cell(frame.centre(first)), Some(first));
        assert!(flags::is_dry(grid.voxel(first).unwrap().unwrap().flags));
    }
    // The first numbers of the last layer are 0, 0, 0x800.
    let grid = map.grid(layers[4], &Limits::DEFAULT);
    let cell = layers[4].frame().unwrap().cell([159.4, -4.0, -56.5]).unwrap();
    assert_eq!((cell, block_of(cell)), ([0, 0, 2], [0; 3]));
    assert_eq!(grid.voxel(cell).unwrap().unwrap().bits, Some(0x800));
    assert_eq!(grid.voxel([49, 0, 0]).unwrap(), None);
    // The description, written anew, says the same.
    let again =
        voxscope::voxel_map::map_json::MapData::decode(&map.data.as_ref().unwrap().encode()).report_to(&mut Vec::new());
    assert_eq!(again, map.data);
    // The header of an array, written anew, is the exporter's to the byte.
    let name = dir.join(layers[0].data_file.as_ref().unwrap());
    let bytes = std::fs::read(name).unwrap();
    let npy = Npy::open(&bytes).unwrap().report_to(&mut Vec::new()).unwrap();
    assert!(bytes.starts_with(&npy.encode(16)));
}

/// The findings of a check.
fn findings(dir: &Path) -> Vec<(Code, Level)> {
    let save = voxscope::save::Save::open(dir, &voxscope::save::Options::default()).unwrap();
    let mut all = Vec::new();
    voxscope::check::run(&save, &voxscope::check::Options::default(), |finding| {
        all.push((finding.damage.code, finding.level()));
    });
    all
}

/// Real exports have their layers inside of the global one, which they agree with about water.
#[test]
fn healthy_maps_have_only_the_notes_they_are_made_for() {
    for sample in voxscope::demo::samples().filter(|sample| sample.healthy && sample.name.starts_with("map-")) {
        let dir = tempfile::tempdir().unwrap();
        (sample.make)(dir.path()).unwrap();
        let found = findings(dir.path());
        let layers = [Code::MapLayerOutside, Code::MapLayerDisagrees, Code::MapLayerType];
        assert!(found.iter().all(|(code, _)| !layers.contains(code)), "{}: {found:?}", sample.name);
    }
}

#[test]
fn names_of_a_map_contradict_only_another_id_or_scene() {
    let odd = [Code::MapName, Code::MapFileUnnamed];
    let of = |dir: &Path| findings(dir).iter().filter(|(code, _)| odd.contains(code)).copied().collect::<Vec<_>>();
    let dir = tempfile::tempdir().unwrap();
    let note = (Code::MapName, Level::Note);
    // The description has mapID 1006001; the files have no id in their names.
    for (name, expected) in [
        ("Lake_1006001", vec![]),
        ("lake", vec![]),
        ("lake_2", vec![]),
        ("Lake_1006002", vec![note]),
        ("1006001", vec![]),
        ("1006002", vec![note]),
        ("20260107", vec![]),
    ] {
        let copy = dir.path().join(name);
        let sample = voxscope::demo::samples().find(|sample| sample.name == "map-dense").unwrap();
        (sample.make)(&copy).unwrap();
        assert_eq!(of(&copy), expected, "{name}");
    }
    // A file of another scene and id, in a directory that has both.
    let copy = dir.path().join("Lake_1006001");
    let text = std::fs::read_to_string(copy.join("map_data.json")).unwrap();
    std::fs::rename(copy.join("Lake_Global.npy"), copy.join("Pond_1006009_Global.npy")).unwrap();
    std::fs::write(copy.join("map_data.json"), text.replace("Lake_Global.npy", "Pond_1006009_Global.npy")).unwrap();
    assert_eq!(of(&copy), [note, note]);
    // A small number is an id where the scene is that of the files.
    let small = dir.path().join("Pond_8");
    let sample = voxscope::demo::samples().find(|sample| sample.name == "map-dense").unwrap();
    (sample.make)(&small).unwrap();
    std::fs::rename(small.join("Lake_Global.npy"), small.join("Pond_7_Global.npy")).unwrap();
    let text = std::fs::read_to_string(small.join("map_data.json")).unwrap();
    let text = text.replace("Lake_Global.npy", "Pond_7_Global.npy").replace("1006001", "7");
    std::fs::write(small.join("map_data.json"), text).unwrap();
    assert_eq!(of(&small), [note]);
    let same = dir.path().join("Pond_7");
    std::fs::rename(&small, &same).unwrap();
    assert_eq!(of(&same), []);
    // A layer that no description names.
    std::fs::copy(copy.join("Pond_1006009_Global.npy"), copy.join("left.NPY")).unwrap();
    assert_eq!(of(&copy), [note, note, (Code::MapFileUnnamed, Level::Note)]);
}
