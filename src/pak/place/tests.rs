use super::*;

#[test]
fn the_path_of_a_room_may_be_joined_without_a_separator() {
    assert_eq!(parse_room_name("x-1_y0_z12.region"), Some(("", [-1, 0, 12])));
    assert_eq!(parse_room_name("cavex0_y0_z0.region"), Some(("cave", [0, 0, 0])));
    assert_eq!(parse_room_name("box1x2_y-3_z4.region"), Some(("box1", [2, -3, 4])));
    assert_eq!(parse_room_name("max_yx0_y0_z0.region"), Some(("max_y", [0, 0, 0])));
    for other in ["Copy of x0_y0_z0.region", "x0_y0_z0.region.bak", "cave_x0_y0_z0.region", "cavex00_y0_z0.region", "x"]
    {
        assert_eq!(parse_room_name(other), None, "{other}");
    }
}

#[test]
fn the_regions_are_those_of_the_game() {
    for (v, region) in
        [(0, 0), (31, 0), (32, 1), (-1, -1), (-32, -1), (-33, -2), (i32::MAX, (1 << 26) - 1), (i32::MIN, -1 << 26)]
    {
        assert_eq!(region_of(v, 32), region, "{v}");
    }
    for v in (-1000..1000).chain([i32::MIN, i32::MIN + 1, i32::MAX]) {
        assert_eq!(region_of(v, 32), v.div_euclid(32));
        assert_eq!(region_of(v, 16), v.div_euclid(16));
    }
}

#[test]
fn records_and_positions_lead_to_each_other() {
    assert_eq!(Grid::Layer.record([5, 0, 2]), Some(5 + 2 * 32), "x + z * 32");
    assert_eq!(Grid::Cube.record([5, 3, 2]), Some(5 + 16 * (2 + 16 * 3)), "x + 16 * (z + 16 * y)");
    for (grid, count) in [(Grid::Layer, LAYER_RECORDS), (Grid::Cube, CUBE_RECORDS)] {
        for record in 0..count {
            let at = grid.position(record).unwrap();
            assert_eq!(grid.record(at), Some(record));
            for region in [[0, 0, 0], [-1, 0, -3], [7, -2, -1]] {
                let chunk = grid.chunk(region, record).unwrap();
                assert_eq!(grid.find(chunk), (region, Some(record)));
            }
        }
        assert_eq!(grid.position(count), None);
        assert_eq!(grid.position(u32::MAX), None);
        assert_eq!(grid.record(grid.size()), None);
    }
}

#[test]
fn negative_chunks_count_from_the_lower_side() {
    assert_eq!(Grid::Layer.chunk([-1, 0, -2], 0), Some([-32, 0, -64]));
    assert_eq!(Grid::Layer.chunk([-1, 0, -1], 1023), Some([-1, 0, -1]));
    assert_eq!(Grid::Layer.find([-1, 0, -33]), ([-1, 0, -2], Some(31 + 31 * 32)));
    assert_eq!(Grid::Layer.find([0, 1, 0]), ([0, 0, 0], None), "a layer has no y");
    assert_eq!(Grid::Cube.find([-1, -16, 17]), ([-1, -1, 1], Some(15 + 16)));
    assert_eq!(Grid::Layer.chunk([1 << 26, 0, 0], 0), None);
    assert_eq!(Grid::Layer.chunk([-1 << 26, 0, 0], 0), Some([i32::MIN, 0, 0]));
}

#[test]
fn other_numbers_of_records_have_no_coordinates() {
    assert_eq!(
        Grid::from_record_count(1024).map(|grid| (grid.value, grid.how)),
        Some((Grid::Layer, crate::pak::How::Inferred))
    );
    assert_eq!(
        Grid::from_record_count(4096).map(|grid| (grid.value, grid.how)),
        Some((Grid::Cube, crate::pak::How::Assumed))
    );
    for records in [0, 1, 1023, 1025, 32_768] {
        assert_eq!(Grid::from_record_count(records), None);
    }
}

#[test]
fn only_the_names_that_the_game_writes_are_taken() {
    for at in [[0, 0, 0], [-1, 0, -22], [i32::MIN, i32::MAX, 7]] {
        assert_eq!(parse_name(&name(at)), Some(at));
        assert!(is_close(&name(at)));
    }
    assert_eq!(name([-1, 0, 3]), "x-1_y0_z3.region");
    for (other, close, at) in [
        ("x00_y0_z0.region", true, Some([0, 0, 0])),
        ("x+1_y0_z0.region", true, Some([1, 0, 0])),
        ("x-0_y0_z0.region", true, Some([0, 0, 0])),
        ("X0_Y0_Z0.REGION", true, Some([0, 0, 0])),
        ("x0_y0_z0.region.bak", true, None),
        ("x0_y0_z0.region (1)", true, None),
        ("x0_y0.region", true, None),
        ("x0_y0_z2147483648.region", true, None),
        ("backup.region", true, None),
        ("x0_y0_z.region", true, None),
        ("x 0_y0_z0.region", true, None),
        ("xa_yb_zc.region.bak", false, None),
        ("r.0.0.0.vxr", false, None),
        ("notes.txt", false, None),
        ("", false, None),
    ] {
        assert_eq!((parse_name(other), is_close(other), parse_close_name(other)), (None, close, at), "{other}");
    }
}

#[test]
fn names_of_copies_mean_the_region_of_the_original() {
    for (name, region) in [
        ("x1_y0_z-2 (1).region", Some([1, 0, -2])),
        ("x1_y0_z-2.region (copy)", Some([1, 0, -2])),
        ("x1_y0_z2.region.bak", Some([1, 0, 2])),
        ("x1_y0_z2 - Copy.region", Some([1, 0, 2])),
        ("X5_Y0_Z0.REGION", Some([5, 0, 0])),
        ("x0_y0_z0x.region", None),
        ("x0_y0_z.region", None),
        ("x0_y0_z0.regions", None),
        ("backup.region", None),
    ] {
        assert_eq!(parse_meant_name(name), region, "{name}");
    }
}

#[test]
fn places_that_chunks_cannot_have_are_told() {
    assert_eq!(check_name([-5, 0, 7], 1024), None);
    assert_eq!(check_name([-5, 3, 7], 4096), None);
    assert_eq!(check_name([1 << 26, 0, 0], 5), None, "nothing is known of it");
    for (at, records) in [([0, 1, 0], 1024), ([0, -1, 0], 1024), ([1 << 26, 0, 0], 1024), ([0, 1 << 27, 0], 4096)] {
        let damage = check_name(at, records).unwrap();
        assert_eq!((damage.code, damage.span, damage.found), (Code::PakPlace, Span::new(0, 0), Value::triple(at)));
    }
}
