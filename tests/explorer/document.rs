//! EXPLORER.md says what the table of actions says.

use std::fmt::Write;

use voxscope::tui::action::{ACTIONS, Group};
use voxscope::tui::config::Config;

const BEGIN: &str = "<!-- keys: made from the table of actions, held to it by a test -->\n";
const END: &str = "<!-- end of keys -->";

fn table() -> String {
    let mut out = String::new();
    for (group, heading) in Group::ALL {
        writeln!(out, "| {heading} | keys | |\n|---|---|---|").unwrap();
        for spec in ACTIONS.iter().filter(|spec| spec.group == group) {
            let keys: Vec<String> = spec.keys.iter().map(|key| format!("`{}`", key.replace('|', "\\|"))).collect();
            writeln!(out, "| {} | {} | {} |", spec.name, keys.join(" "), spec.help).unwrap();
        }
        out.push('\n');
    }
    out
}

#[test]
fn the_keys_are_those_of_the_table() {
    let document = include_str!("../../EXPLORER.md");
    let from = document.find(BEGIN).unwrap() + BEGIN.len();
    let to = document.find(END).unwrap();
    let expected = table();
    assert!(document[from..to] == expected, "put this between the marks of EXPLORER.md:\n{expected}");
}

#[test]
fn the_example_of_a_configuration_is_one() {
    let document = include_str!("../../EXPLORER.md");
    let document = document.split_once("## Configuration").unwrap().1;
    let from = document.find("```toml\n").unwrap() + 8;
    let example = &document[from..from + document[from..].find("```").unwrap()];
    let config = Config::parse(example).unwrap();
    assert!(config.theme().unwrap().is_some() && !config.keys.is_empty());
}

#[test]
fn the_example_of_names_names_types() {
    let document = include_str!("../../EXPLORER.md").split_once("## The World pane").unwrap().1;
    let from = document.find("```toml\n").unwrap() + 8;
    let example = &document[from..from + document[from..].find("```").unwrap()];
    let palette = voxscope::picture::palette::Palette::parse(example).unwrap();
    assert_eq!((palette.name(1), palette.name(2), palette.color(2)), (Some("grass"), Some("stone"), [0x7f; 3]));
}
