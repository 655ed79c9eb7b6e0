//! Names of types: from a file that the user gives, from the save, and as the engine writes them.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::{Demo, lines, output, run};

/// Names of all types that the sample has: `kind N`.
fn names(of: &str) -> String {
    (0..64)
        .fold("[types]\n".to_owned(), |all, id| all + &format!("{id} = {{ name = '{of} {id}', color = '#7f7f7f' }}\n"))
}

fn shown(arguments: &[&str]) -> Json {
    serde_json::from_str(&output(&[&["show"], arguments, &["--format=json"]].concat())).unwrap()
}

/// A block, a voxel in it, and the type of that voxel.
fn place(save: &str) -> (String, String, u64) {
    let row = &lines(&output(&["ls", save, "lod=0", "--format=jsonl"]))[0];
    let at = [0, 1, 2].map(|i| row["position"][i].as_i64().unwrap());
    let [x, y, z] = at.map(|n| n * row["size"][0].as_i64().unwrap());
    let voxel = format!("--voxel={x},{y},{z}");
    let value = shown(&[save, &voxel])["channels"][0]["value"].as_u64().unwrap();
    (format!("--block={},{},{}", at[0], at[1], at[2]), voxel, value)
}

#[test]
fn show_has_names_beside_the_values() {
    let demo = Demo::new();
    let save = demo.path("healthy/current");
    let (block, voxel, value) = place(&save);
    let of_type = |arguments: &[&str]| shown(arguments)["channels"][0].clone();
    assert_eq!(of_type(&[&save, &voxel])["value_name"], Json::Null);
    assert_eq!(of_type(&[&save, &block])["names"], json!({}));
    let file = demo.root.join("names.toml");
    std::fs::write(&file, names("kind")).unwrap();
    let with = format!("--names={}", file.display());
    let name = format!("kind {value}");
    let channel = of_type(&[&save, &voxel, &with]);
    assert_eq!((&channel["value"], &channel["value_name"]), (&json!(value), &json!(name)));
    assert!(output(&["show", &save, &voxel, &with]).contains(&name));
    let channel = of_type(&[&save, &block, &with]);
    assert_eq!(channel["names"][value.to_string()], name);
    assert_eq!(channel["names"].as_object().unwrap().len(), channel["distinct"].as_u64().unwrap() as usize);
    assert!(output(&["show", &save, &block, &with]).contains("kind "));
    // The engine's map of ids; other channels have no names.
    std::fs::write(&file, json!({ "map": vec!["moss"; 64] }).to_string()).unwrap();
    let json = shown(&[&save, &voxel, &with]);
    assert_eq!((&json["channels"][0]["value_name"], &json["channels"][1]["value_name"]), (&json!("moss"), &Json::Null));
}

#[test]
fn names_in_the_save_are_read_and_are_no_finding() {
    let demo = Demo::new();
    let save = demo.path("healthy/current");
    let check = || output(&["check", &save, "--notes", "--format=jsonl"]);
    let before = check();
    let own = Path::new(&save).join("voxscope.toml");
    std::fs::write(&own, names("kind")).unwrap();
    let (_, voxel, value) = place(&save);
    let name = |arguments: &[&str]| shown(arguments)["channels"][0]["value_name"].clone();
    assert_eq!(name(&[&save, &voxel]), format!("kind {value}"));
    assert_eq!(check(), before);
    // A file that the user gives wins; a broken one in the save is a warning, and one of the user is wrong usage.
    let file = demo.root.join("names.toml");
    std::fs::write(&file, names("mine")).unwrap();
    let with = format!("--names={}", file.display());
    assert_eq!(name(&[&save, &voxel, &with]), format!("mine {value}"));
    std::fs::write(&own, "types = 3").unwrap();
    let done = run(&["show", &save, &voxel]);
    assert!(done.code == Some(0) && done.err.contains("voxscope.toml"), "{}", done.err);
    assert_eq!(check(), before);
    std::fs::write(&file, "types = 3").unwrap();
    assert_eq!(run(&["show", &save, &voxel, &with]).code, Some(16));
    std::fs::write(&file, "#".repeat(2 << 20)).unwrap();
    let done = run(&["show", &save, &voxel, &with]);
    assert!(done.code == Some(16) && done.err.contains("at most"), "{}", done.err);
}

#[test]
fn exports_have_the_names() {
    let demo = Demo::new();
    let save = demo.path("healthy/current");
    std::fs::write(Path::new(&save).join("voxscope.toml"), "[types]\n0 = 'air'\n2 = { name = 'stone' }\n").unwrap();
    let to = demo.root.join("arrays");
    output(&["export", &save, "--out", to.to_str().unwrap()]);
    let json: Json = serde_json::from_str(&std::fs::read_to_string(to.join("export.json")).unwrap()).unwrap();
    assert_eq!(json["types"], json!({"0": "air", "2": "stone"}));
    #[cfg(feature = "sqlite")]
    {
        let to = demo.root.join("table.sqlite");
        output(&["export", &save, "--table", "--out", to.to_str().unwrap()]);
        let database = rusqlite::Connection::open(&to).unwrap();
        let name = database.query_row("SELECT name FROM types WHERE id = 2", [], |row| row.get::<_, String>(0));
        assert_eq!(name.unwrap(), "stone");
    }
}

/// A link that the user names is followed.
#[cfg(unix)]
#[test]
fn names_can_be_behind_a_link() {
    let demo = Demo::new();
    let save = demo.path("healthy/current");
    let (_, voxel, value) = place(&save);
    std::fs::write(demo.root.join("names.toml"), names("kind")).unwrap();
    let (link, dangling) = (demo.root.join("link.toml"), demo.root.join("dangling.toml"));
    std::os::unix::fs::symlink("names.toml", &link).unwrap();
    std::os::unix::fs::symlink("nowhere", &dangling).unwrap();
    let with = format!("--names={}", link.display());
    assert_eq!(shown(&[&save, &voxel, &with])["channels"][0]["value_name"], format!("kind {value}"));
    let refused = run(&["show", &save, &voxel, &format!("--names={}", dangling.display())]);
    assert!(refused.code == Some(16) && refused.err.contains("dangling.toml: No such file"), "{}", refused.err);
}
