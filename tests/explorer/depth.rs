//! The depth map: its values, its scale, and the way to the slice.

use voxscope::tui::pane::Pane;

use crate::on;
use crate::slice::open;

#[test]
fn the_depth_at_the_cursor_is_that_of_the_map() {
    for name in ["map-sparse", "map-packed-depth", "map-fortran-big-endian"] {
        let (mut driver, _dir) = on(name, 120, 40);
        open(&mut driver, "", "Lake_Global");
        driver.keys("8");
        driver.keys("home right right right pageup pageup pageup pageup down down");
        let [x, _, z] = driver.app.selection.voxel.unwrap();
        let opened = driver.app.opened_item().unwrap().clone();
        let grid = opened.grid().unwrap();
        let deepest = (0..grid.dim.unwrap()[1])
            .filter_map(|y| grid.voxel([x, y, z]).unwrap().unwrap().depth)
            .fold(0.0f32, f32::max);
        let screen = driver.text_screen();
        assert!(screen.contains(&format!("column ({x}, {z})")), "{screen}");
        let shown = format!("{deepest:.3}");
        let shown = shown.trim_end_matches('0').trim_end_matches('.');
        assert!(screen.contains(&format!("depth {shown} m")), "{name} {shown}\n{screen}");
        let found = grid.depth.as_ref().map(|_| ());
        assert_eq!(driver.app.selection.bytes.map(|_| ()), found);
        // The scale has both ends.
        assert!(screen.matches(" m").count() >= 2 && screen.contains("no water"), "{screen}");
        driver.keys("enter");
        assert_eq!(driver.app.pane, Pane::Slice);
        let [sx, _, sz] = driver.app.selection.voxel.unwrap();
        assert_eq!((sx, sz), (x, z));
        let screen = driver.text_screen();
        assert!(screen.contains("y = ") && screen.contains(&format!("cell ({x}, ")), "{screen}");
    }
}

#[test]
fn what_is_no_depth_is_said() {
    let (mut driver, _dir) = on("map-water-depth", 120, 40);
    open(&mut driver, "", "Lake_Global");
    driver.keys("8 home pageup pageup pageup pageup");
    assert!(driver.text_screen().contains("no water"), "{}", driver.text_screen());
    driver.keys("down");
    assert!(driver.text_screen().contains("-1.5 m, below 0"), "{}", driver.text_screen());
    driver.keys("down");
    assert!(driver.text_screen().contains("NaN, no number"), "{}", driver.text_screen());
    driver.keys("down");
    assert!(driver.text_screen().contains("inf, no number"), "{}", driver.text_screen());
}
