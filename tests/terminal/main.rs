//! The explorer in a real pseudo-terminal: what it shows, and that it leaves the terminal as it was, however it ends.
#![cfg(all(unix, feature = "tui"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

#[path = "../common/mod.rs"]
mod common;
mod pty;
mod text;

use std::process::Command;

use common::edit::{edited, set};
use pty::Terminal;
use voxscope::demo::{ForestSpec, write_forest};
use voxscope::godot::container::Mode;

/// A small forest in a directory that lasts as long as the value.
fn world() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let spec = ForestSpec { lods: ForestSpec::default().lods[..1].to_vec(), ..ForestSpec::default() };
    write_forest(&dir.path().join("world"), &spec, None).unwrap();
    dir
}

#[test]
fn keys_lead_through_the_panes_and_out() {
    let dir = world();
    let mut terminal = Terminal::start(&[dir.path().to_str().unwrap()], &[], 100, 30);
    terminal.wait("the check", |screen| screen.contains("nothing wrong"));
    for (key, word) in [("2", "Blocks"), ("1", "Sectors"), ("6", "Hex"), ("?", "searches")] {
        terminal.type_keys(key);
        terminal.wait(word, |screen| screen.contains(word));
    }
    terminal.type_keys("q");
    terminal.wait("help to close", |screen| !screen.contains("searches"));
    terminal.type_keys("q");
    assert_eq!(terminal.end(), Some(0));
    terminal.is_as_it_was();
}

#[test]
fn the_world_is_zoomed_panned_dragged_and_typed_to() {
    let dir = world();
    let path = dir.path().to_str().unwrap();
    let mut terminal = Terminal::start(&[path], &[("COLORTERM", "truecolor")], 120, 40);
    terminal.wait("the picture", |screen| screen.contains("surface") && screen.contains('▀') && screen.contains('◆'));
    terminal.type_keys("++++++++++++");
    terminal.wait("a voxel of several cells", |screen| screen.contains('[') && !screen.contains('◆'));
    terminal.type_keys("@-3,2,5\r");
    terminal.wait("the place that was typed", |screen| screen.contains("┌ (-3, ") && screen.contains(", 5) "));
    // Shift and the right arrow: the picture moves, the cursor stays.
    terminal.type_keys("\x1b[1;2C");
    terminal.wait("the same place", |screen| screen.contains("┌ (-3, "));
    // A press moves the cursor, dragging moves the world with it.
    terminal.type_keys("\x1b[<0;60;20M");
    terminal.wait("another place", |screen| !(screen.contains("┌ (-3, ") && screen.contains(", 5) ")));
    terminal.type_keys("\x1b[<32;70;24M\x1b[<0;70;24m");
    terminal.resize(90, 28);
    terminal.wait("the narrow screen", |screen| screen.contains("surface") && screen.contains('['));
    terminal.type_keys("q");
    assert_eq!(terminal.end(), Some(0));
    terminal.is_as_it_was();
}

#[test]
fn a_terminal_that_answers_no_query_gets_a_screen_and_its_keys_after_that() {
    let dir = world();
    let mut terminal = Terminal::start(&[dir.path().to_str().unwrap()], &[], 100, 30);
    terminal.wait("the picture", |screen| screen.contains("surface"));
    let output = String::from_utf8_lossy(&terminal.output()).into_owned();
    let (frame, asked) = (output.find("1 World").unwrap(), output.find("\x1b]11;?"));
    assert!(asked.is_some_and(|asked| asked > frame), "it asks for the background, after the first frame");
    terminal.type_keys("2");
    terminal.wait("the pane", |screen| screen.contains("2 Blocks") && screen.contains("position"));
    terminal.type_keys("q");
    assert_eq!(terminal.end(), Some(0));
    terminal.is_as_it_was();
}

/// A terminal that draws pixels, once it said so.
#[cfg(feature = "graphics")]
fn drawing(dir: &tempfile::TempDir, answer: &str) -> Terminal {
    let environment = [("COLORTERM", "truecolor")];
    let mut terminal = Terminal::with_pixels(&[dir.path().to_str().unwrap()], &environment, 100, 30, [10, 20]);
    terminal.wait("the picture", |screen| screen.contains("nothing wrong") && screen.contains('◆'));
    // A key, the answer, a key: both keys are typed.
    terminal.type_keys(&format!("2{answer}1"));
    terminal.wait("the picture again", |screen| screen.contains("surface"));
    terminal
}

#[cfg(feature = "graphics")]
#[test]
fn terminals_that_draw_pixels_get_them_by_their_own_protocol() {
    let dir = world();
    let protocols = [("kitty(0.40.0)", "\x1b_G"), ("foot(1.20.2)", "\x1bP"), ("iTerm2 3.5.0", "\x1b]1337;File=")];
    for (name, begins) in protocols {
        let mut terminal = drawing(&dir, &format!("\x1bP>|{name}\x1b\\"));
        terminal.wait_for_output(name, begins);
        terminal.type_keys("q");
        assert_eq!(terminal.end(), Some(0));
        terminal.is_as_it_was();
    }
}

#[cfg(feature = "graphics")]
#[test]
fn a_terminal_that_draws_no_pixels_or_answers_nothing_keeps_half_blocks() {
    let dir = world();
    for answer in ["", "\x1bP>|XTerm(390)\x1b\\"] {
        let mut terminal = drawing(&dir, answer);
        terminal.type_keys("+");
        terminal.wait("the cursor", |screen| screen.contains('◆'));
        terminal.type_keys("q");
        assert_eq!(terminal.end(), Some(0));
        let output = String::from_utf8_lossy(&terminal.output()).into_owned();
        assert!(output.contains("\x1b[>0q"), "its name is asked for");
        assert!(!output.contains("\x1b_G") && !output.contains("\x1bP") && !output.contains("1337"));
        terminal.is_as_it_was();
    }
}

#[test]
fn keys_that_are_typed_before_the_first_frame_are_handled() {
    let dir = world();
    let mut terminal = Terminal::start(&[dir.path().to_str().unwrap()], &[], 100, 30);
    terminal.type_keys("2");
    terminal.wait("the pane", |screen| screen.contains("2 Blocks") && screen.contains("position"));
    terminal.type_keys("q");
    assert_eq!(terminal.end(), Some(0));
    terminal.is_as_it_was();
}

#[test]
fn an_answer_changes_the_theme_and_is_no_key() {
    let dir = world();
    let mut terminal = Terminal::start(&[dir.path().to_str().unwrap()], &[], 100, 30);
    // Keys before, between and after the answer.
    terminal.type_keys("2\x1b]11;rgb:ffff/ffff/ffff\x1b\\?");
    terminal.wait("the help", |screen| screen.contains("searches"));
    terminal.type_keys("q");
    terminal.wait("the pane", |screen| screen.contains("position") && !screen.contains("searches"));
    terminal.type_keys("T");
    terminal.wait("the theme after light", |screen| screen.contains("Theme mono."));
    terminal.type_keys("q");
    assert_eq!(terminal.end(), Some(0));
    terminal.is_as_it_was();
}

#[test]
fn demo_begins_with_the_first_world_of_its_tour() {
    let mut terminal = Terminal::start(&["demo"], &[("COLORTERM", "truecolor")], 120, 40);
    terminal.wait("the tour", |screen| screen.contains("A healthy world") && screen.contains('◆'));
    assert!(terminal.screen().trim_end().ends_with("q quit"), "{}", terminal.screen());
    let title = terminal.screen().lines().next().unwrap_or_default().to_owned();
    assert!(title.contains("voxscope  demo") && !title.contains("voxscope-demo"), "no temporary name: {title}");
    terminal.type_keys("q");
    terminal.wait("the end", |screen| !screen.contains("World"));
    assert_eq!(terminal.end(), Some(0));
    terminal.is_as_it_was();
}

#[test]
fn the_mouse_can_be_left_to_the_terminal_and_keys_can_be_others() {
    let dir = world();
    let path = dir.path().join("world");
    let config = dir.path().join("config.toml");
    std::fs::write(&config, "mouse = false\n[keys]\nquit = ['Q']\nblocks = ['B']\n").unwrap();
    let (path, config) = (path.to_str().unwrap(), config.to_str().unwrap());
    let no_mouse = ["--no-mouse", path];
    let configured = ["--config", config, path];
    for (arguments, [blocks, quit], has_mouse) in
        [(&[path][..], ["2", "q"], true), (&no_mouse, ["2", "q"], false), (&configured, ["B", "Q"], false)]
    {
        let mut terminal = Terminal::start(arguments, &[], 100, 30);
        terminal.wait("the picture", |screen| screen.contains("surface"));
        if blocks == "B" {
            // These have nothing to do now.
            terminal.type_keys("2q");
        }
        terminal.type_keys(blocks);
        terminal.wait("the pane", |screen| screen.contains("position"));
        terminal.type_keys(quit);
        assert_eq!(terminal.end(), Some(0));
        let output = String::from_utf8_lossy(&terminal.output()).into_owned();
        assert_eq!(output.contains("\x1b[?1000h"), has_mouse, "{arguments:?}");
        terminal.is_as_it_was();
    }
}

#[test]
fn any_size_is_survived() {
    let dir = world();
    let mut terminal = Terminal::start(&[dir.path().to_str().unwrap()], &[], 80, 24);
    terminal.wait("the check", |screen| screen.contains("nothing wrong"));
    for (columns, rows) in [(1, 1), (2, 50), (200, 2), (40, 10), (250, 80), (1, 1), (80, 24)] {
        terminal.resize(columns, rows);
        terminal.type_keys("1267?q");
    }
    terminal.wait("the screen to come back", |screen| screen.contains("nothing wrong"));
    terminal.type_keys("q");
    assert_eq!(terminal.end(), Some(0));
    terminal.is_as_it_was();
}

#[test]
fn an_escape_sequence_without_an_end_does_not_lock_the_keys() {
    let dir = world();
    let begins =
        ["\x1b[<", "\x1b[?", "\x1b[200~", "\x1b[200~text", "\x1b[1;", "\x1b[M", "\x1bO", "\x1bP", "\x1b]11;rgb:f"];
    for begin in begins {
        for leave in ["q", "\x03"] {
            let mut terminal = Terminal::start(&[dir.path().to_str().unwrap()], &[], 100, 30);
            terminal.wait("the check", |screen| screen.contains("nothing wrong"));
            terminal.type_keys(begin);
            // Somebody who sees nothing happen presses the key again, but not often and not for long.
            assert!(terminal.ends_after_keys(leave, 5), "{begin:?} locks {leave:?}:\n{}", terminal.screen());
            assert_eq!(terminal.end(), Some(0), "{begin:?}");
            terminal.is_as_it_was();
        }
    }
}

#[test]
fn a_long_answer_without_an_end_does_not_lock_the_keys() {
    let dir = world();
    for begin in ["\x1bP", "\x1b]11;"] {
        let mut terminal = Terminal::start(&[dir.path().to_str().unwrap()], &[], 100, 30);
        terminal.wait("the check", |screen| screen.contains("nothing wrong"));
        terminal.type_keys(begin);
        for _ in 0..300 {
            terminal.type_keys(&"x".repeat(1000));
        }
        terminal.type_keys("\x03");
        assert_eq!(terminal.end(), Some(0), "{begin:?}");
        terminal.is_as_it_was();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_huge_terminal_is_drawn_in_part_and_takes_little_memory() {
    let dir = world();
    let mut terminal = Terminal::start(&[dir.path().to_str().unwrap()], &[], 80, 24);
    terminal.wait("the check", |screen| screen.contains("nothing wrong"));
    for (columns, rows) in [(2000, 500), (65_535, 65_535), (65_535, 1)] {
        terminal.resize_unseen(columns, rows);
        terminal.type_keys("1267?qr");
    }
    terminal.resize(80, 24);
    terminal.wait("the screen to come back", |screen| screen.contains("nothing wrong"));
    let peak = terminal.peak_memory();
    assert!(peak < 128 << 20, "{} MiB", peak >> 20);
    terminal.type_keys("q");
    assert_eq!(terminal.end(), Some(0));
    terminal.is_as_it_was();
}

#[cfg(debug_assertions)]
#[test]
fn a_job_that_panics_says_so_and_nothing_else_happens() {
    let dir = world();
    let fault = [("VOXSCOPE_TEST_FAULT", "job")];
    let mut terminal = Terminal::start(&[dir.path().to_str().unwrap()], &fault, 100, 30);
    terminal.wait("the check", |screen| screen.contains("nothing wrong"));
    terminal.type_keys("\x1b[24~");
    terminal.wait("the sentence", |screen| screen.contains("a fault in voxscope stopped this"));
    terminal.type_keys("2");
    terminal.wait("another pane", |screen| !screen.contains("a fault in voxscope"));
    terminal.type_keys("q");
    assert_eq!(terminal.end(), Some(0));
    terminal.is_as_it_was();
}

#[cfg(debug_assertions)]
#[test]
fn a_panic_gives_the_terminal_back_first() {
    let dir = world();
    let fault = [("VOXSCOPE_TEST_FAULT", "screen")];
    let mut terminal = Terminal::start(&[dir.path().to_str().unwrap()], &fault, 100, 30);
    terminal.wait("the check", |screen| screen.contains("nothing wrong"));
    terminal.type_keys("\x1b[24~");
    assert_eq!(terminal.end(), Some(101));
    terminal.is_as_it_was();
    assert!(terminal.screen().contains("on purpose"), "{}", terminal.screen());
}

#[test]
fn a_signal_ends_it_and_the_terminal_is_as_it_was() {
    for signal in ["TERM", "HUP", "INT", "QUIT", "USR1", "USR2", "ALRM", "VTALRM", "PROF", "XCPU"] {
        let dir = world();
        let mut terminal = Terminal::start(&[dir.path().to_str().unwrap()], &[], 100, 30);
        terminal.wait("the check", |screen| screen.contains("nothing wrong"));
        terminal.signal(signal);
        assert_eq!(terminal.end(), Some(32), "{signal}");
        terminal.is_as_it_was();
    }
}

#[test]
fn a_terminal_that_is_closed_ends_it_without_a_panic() {
    let dir = world();
    let mut terminal = Terminal::closable(&[dir.path().to_str().unwrap()], 100, 30);
    terminal.wait("the check", |screen| screen.contains("nothing wrong"));
    // By the signal, or because nothing can be drawn any more.
    let code = terminal.hang_up();
    assert!([8, 32].contains(&code), "{code}");
}

#[test]
fn it_is_stopped_and_goes_on_where_it_was() {
    let dir = world();
    let mut shell = Terminal::shell(100, 30);
    shell.type_keys(&format!("'{}' '{}'\n", env!("CARGO_BIN_EXE_voxscope"), dir.path().display()));
    shell.wait("the check", |screen| screen.contains("nothing wrong"));
    shell.type_keys("6");
    shell.wait("the pane", |screen| screen.contains("6 Hex"));
    shell.type_keys("\x1a");
    shell.wait("the shell", |screen| screen.contains("Stopped"));
    assert!(!shell.is_alternate(), "the shell has its own screen");
    shell.type_keys("echo still-$((40+2)) here\n");
    shell.wait("the shell to answer", |screen| screen.contains("still-42 here"));
    shell.type_keys("fg\n");
    shell.wait("the explorer", |screen| screen.contains("6 Hex") && screen.contains("nothing wrong"));
    assert!(shell.is_alternate());
    shell.type_keys("q");
    shell.wait("the shell again", |screen| screen.contains("still-42 here"));
    shell.type_keys("exit\n");
    assert_eq!(shell.end(), Some(0));
    shell.is_as_it_was();
}

#[test]
fn a_save_that_is_not_there_is_a_sentence_on_a_clean_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("nothing");
    let mut terminal = Terminal::start(&[path.to_str().unwrap()], &[], 100, 30);
    assert_eq!(terminal.end(), Some(8));
    terminal.is_as_it_was();
    assert!(terminal.screen().contains("voxscope:"), "{}", terminal.screen());
}

#[test]
fn bare_data_opens_the_explorer() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("block.bin");
    // A block of version 1 whose channels are uniform: it does not store its size. A lone block has no region, so that the size
    // of a block is a whole layout.
    std::fs::write(&path, [&[1, 7][..], &[1, 0].repeat(7), &[0x0d, 0xf0, 0x0d, 0x90]].concat()).unwrap();
    let path = path.to_str().unwrap();
    for (arguments, size) in [(&[path][..], "version 1, 16 x"), (&[path, "--block-size=4"], "version 1, 4 x")] {
        let mut terminal = Terminal::start(arguments, &[], 120, 30);
        terminal.wait("the bytes", |screen| screen.contains("01 07 01 00 01 00 01 00"));
        terminal.wait("what was read", |screen| screen.contains("bare data") && screen.contains(size));
        terminal.type_keys("q");
        assert_eq!(terminal.end(), Some(0));
        terminal.is_as_it_was();
    }
}

#[test]
fn without_colours_there_are_none_and_letters_only_are_letters() {
    let dir = world();
    let mut terminal = Terminal::start(&["--ascii", dir.path().to_str().unwrap()], &[("NO_COLOR", "1")], 100, 30);
    terminal.wait("the check", |screen| screen.contains("nothing wrong"));
    for key in ["1", "2", "3", "4", "5", "6", "7", "?"] {
        terminal.type_keys(key);
    }
    terminal.wait("help", |screen| screen.contains("searches"));
    assert!(terminal.is_colourless());
    terminal.type_keys("qq");
    assert_eq!(terminal.end(), Some(0));
    assert!(terminal.output().is_ascii());
}

#[test]
fn what_changes_underneath_is_seen_and_the_place_is_kept() {
    let dir = world();
    let mut terminal = Terminal::start(&[dir.path().to_str().unwrap()], &[], 100, 30);
    terminal.wait("the check", |screen| screen.contains("nothing wrong"));
    terminal.type_keys("\tjjjj");
    terminal.type_keys("6");
    terminal.wait("bytes", |screen| screen.contains("VXR_"));
    let file = dir.path().join("world/regions/lod0/r.0.0.0.vxr");
    let mut bytes = std::fs::read(&file).unwrap();
    bytes.truncate(100);
    std::fs::write(&file, bytes).unwrap();
    terminal.wait("the damage", |screen| screen.contains("error"));
    assert!(terminal.screen().contains("VXR_"), "{}", terminal.screen());
    terminal.type_keys("q");
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn what_is_copied_goes_to_the_clipboard_of_the_terminal() {
    let dir = world();
    let mut terminal = Terminal::start(&[dir.path().to_str().unwrap()], &[], 100, 30);
    terminal.wait("the check", |screen| screen.contains("nothing wrong"));
    terminal.type_keys("2Y");
    terminal.wait("the word", |screen| screen.contains("Copied"));
    terminal.type_keys("q");
    assert_eq!(terminal.end(), Some(0));
    let output = String::from_utf8_lossy(&terminal.output()).into_owned();
    assert!(output.contains("\x1b]52;c;"), "no OSC 52");
}

/// A second save beside the first one, with one voxel changed; the paths of both.
fn two(dir: &tempfile::TempDir) -> [String; 2] {
    let [a, b] = ["world", "copy"].map(|name| dir.path().join(name));
    edited(&a, &b, Mode::Lz4, &|_, position, block| {
        if position == [-1, 0, -2] {
            set(block, 0, [15, 0, 1], 60_000);
        }
        Some(position)
    });
    [a, b].map(|path| path.to_str().unwrap().to_owned())
}

#[test]
fn two_saves_are_shown_side_by_side_both_ways() {
    let dir = world();
    let [a, b] = two(&dir);
    for arguments in [&["diff", &a, &b, "--tui", "--lod", "0", "--channels", "TYPE"][..], &[&a, "--against", &b]] {
        let mut terminal = Terminal::start(arguments, &[], 100, 30);
        terminal.wait("the change", |screen| screen.contains("~ (-1, 0, -2)") && screen.contains("1 changed"));
        terminal.type_keys("\r");
        terminal.wait("the voxel", |screen| screen.contains("(-1, 0, -31)") && screen.contains("60000"));
        terminal.type_keys("q");
        assert_eq!(terminal.end(), Some(0));
        terminal.is_as_it_was();
    }
}

#[test]
fn the_other_save_is_watched_too() {
    let dir = world();
    let [a, b] = two(&dir);
    let mut terminal = Terminal::start(&[&a, "--against", &b], &[], 100, 30);
    terminal.wait("the change", |screen| screen.contains("~ (-1, 0, -2)") && screen.contains("nothing wrong"));
    let name = "regions/lod0/r.-1.0.-1.vxr";
    std::fs::copy(std::path::Path::new(&a).join(name), std::path::Path::new(&b).join(name)).unwrap();
    terminal.wait("nothing", |screen| screen.contains("Nothing differs"));
    terminal.type_keys("q");
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn two_saves_that_cannot_be_shown_are_trouble() {
    let dir = world();
    let [a, b] = two(&dir);
    for (arguments, code, says) in [
        (&["diff", &a, &b, "--tui"][..], 2, "there is no terminal"),
        (&[&a, "--against", &b], 2, "there is no terminal"),
        (&[&a, "--lod", "0"], 16, "--against"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_voxscope")).args(arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(code), 0), "{arguments:?}: {said}");
        assert!(said.starts_with("voxscope: ") && said.contains(says), "{said}");
    }
    let mut terminal = Terminal::start(&["diff", &a, "/nowhere/save", "--tui"], &[], 100, 30);
    assert_eq!(terminal.end(), Some(2));
    terminal.is_as_it_was();
    assert!(terminal.screen().contains("voxscope:"), "{}", terminal.screen());
}
