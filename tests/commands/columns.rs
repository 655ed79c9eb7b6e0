//! Columns that games add to the tables of a stream, with names that SQLite allows: a repair keeps them and their values.

use rusqlite::Connection;
use tempfile::tempdir;
use voxscope::demo::stream::{StreamSpec, write_changed};
use voxscope::godot::stream::loc::Format;

use crate::run;

/// Definitions of columns, as `ALTER TABLE blocks ADD COLUMN` takes them.
const COLUMNS: [&str; 30] = [
    "\"last saved\" INTEGER",
    "\"a,b\" TEXT",
    "\"(x\" BLOB",
    "\"x)\" BLOB",
    "\"[y]\"",
    "[z w] REAL",
    "[a,\"b] TEXT",
    "\"PRIMARY KEY\" INTEGER",
    "\"say \"\"hi\"\"\" TEXT",
    "`back``tick` TEXT",
    "'single' TEXT",
    "\"it's\" TEXT",
    "\"--c\" TEXT",
    "\"/*\" TEXT",
    "\"*/ x\" TEXT",
    "\"a;b\" TEXT",
    "größe REAL",
    "体素 TEXT",
    "\"row id\" INTEGER",
    "\"select\" TEXT",
    "\"UNIQUE\" TEXT",
    "\"check\" INTEGER DEFAULT 1",
    "\"constraint x\" TEXT",
    "_x$1 TEXT",
    "\"1st\" TEXT",
    "\"%s {0}\" TEXT",
    "\"a.b\" DECIMAL(10, 5)",
    "\"line\nbreak\" TEXT",
    "extra TEXT NOT NULL DEFAULT 'a, b'",
    "\"loc \" TEXT COLLATE NOCASE",
];

/// The names of the columns of a table, and the values of the last one by key.
fn table(path: &std::path::Path) -> (Vec<String>, Vec<(String, Option<String>)>) {
    let db = Connection::open(path).unwrap();
    let mut names = db.prepare("SELECT name FROM pragma_table_info('blocks') ORDER BY cid").unwrap();
    let names: Vec<String> = names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let last = names.last().unwrap().replace('"', "\"\"");
    let mut rows = db.prepare(&format!("SELECT quote(loc), quote(\"{last}\") FROM blocks ORDER BY loc")).unwrap();
    let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    (names, rows)
}

#[test]
fn columns_with_odd_names_are_kept_with_their_values() {
    for format in [Format::Int19, Format::Text] {
        for column in COLUMNS {
            let dir = tempdir().unwrap();
            let path = dir.path().join("world.sqlite");
            // The row of settings twice makes a repair write the database anew.
            let sql = format!("ALTER TABLE blocks ADD COLUMN {column}; INSERT INTO meta SELECT * FROM meta;");
            write_changed(&path, &StreamSpec::small(format), &sql).unwrap();
            let (names, _) = table(&path);
            let last = names.last().unwrap().replace('"', "\"\"");
            let db = Connection::open(&path).unwrap();
            db.execute(&format!("UPDATE blocks SET \"{last}\" = length(vb) WHERE instances IS NOT NULL"), []).unwrap();
            db.close().unwrap();
            let copy = dir.path().join("copy.sqlite");
            let run = run(&["repair", path.to_str().unwrap(), "--out", copy.to_str().unwrap()]);
            assert_eq!(run.code, Some(1), "{column}: {}{}", run.out, run.err);
            assert_eq!(table(&copy), table(&path), "{column}");
            // The engine writes rows by the names of its own columns.
            let db = Connection::open(&copy).unwrap();
            let key = if format == Format::Text { "'7,7,7,0'" } else { "7" };
            let insert = format!(
                "INSERT INTO blocks(loc, vb) VALUES ({key}, x'00') ON CONFLICT(loc) DO UPDATE SET vb = excluded.vb"
            );
            db.execute(&insert, []).unwrap_or_else(|error| panic!("{column}: {error}"));
        }
    }
}

/// A key as a constraint of the table, in another spelling of the same schema.
#[test]
fn a_key_that_is_declared_apart_is_no_column() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("world.sqlite");
    let sql = "ALTER TABLE blocks RENAME TO old;
        CREATE TABLE blocks (loc TEXT, vb BLOB, instances BLOB, \"last saved\" TEXT, PRIMARY KEY (loc));
        INSERT INTO blocks SELECT *, 'then' FROM old; DROP TABLE old; INSERT INTO meta SELECT * FROM meta;";
    write_changed(&path, &StreamSpec::small(Format::Text), sql).unwrap();
    let copy = dir.path().join("copy.sqlite");
    let run = run(&["repair", path.to_str().unwrap(), "--out", copy.to_str().unwrap()]);
    assert_eq!(run.code, Some(1), "{}{}", run.out, run.err);
    assert_eq!(table(&copy), table(&path));
}
