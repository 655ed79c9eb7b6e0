//! The schema of a stream: which tables and indexes there are, where they begin, what columns they have.

use crate::bytes::Span;
use crate::damage::{Code, Damage, Value};
use crate::godot::stream::loc::Key;
use crate::source::Source;
use crate::sqlite::header::Header;
use crate::sqlite::pages::Pages;
use crate::sqlite::payload::Payload;
use crate::sqlite::record;
use crate::sqlite::walk::{self, Owners};

/// Bytes of a row of the schema that are read.
const MOST: u64 = 1 << 16;

/// A table or an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// The table, of an index.
    pub of: String,
    /// Whether it is an index.
    pub is_index: bool,
    /// The statement that makes it; empty where there is none, as for indexes that a table makes by itself.
    pub sql: String,
    /// Its first page; 0 where it has none (views and triggers).
    pub root: u32,
    /// The names of its columns, in lower case.
    pub columns: Vec<String>,
    /// Where the schema has it.
    pub span: Span,
}

impl Table {
    /// Whether it is the table of a name.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        !self.is_index && self.root > 0 && self.name.eq_ignore_ascii_case(name)
    }

    /// Whether it is an index of the table of a name.
    #[must_use]
    pub fn is_of(&self, name: &str) -> bool {
        self.is_index && self.root > 0 && self.of.eq_ignore_ascii_case(name)
    }
}

/// Tables of a stream, and their columns.
const TABLES: [(&str, &[&str]); 3] = [
    ("meta", &["version", "block_size_po2", "coordinate_format"]),
    ("blocks", &["loc", "vb", "instances"]),
    ("channels", &["idx", "depth"]),
];

/// Reads the schema, pushing what is wrong with it and what does not belong to a stream.
pub(super) fn read<S: Source>(pages: &Pages<S>, owners: &mut Owners, damage: &mut Vec<Damage>) -> Vec<Table> {
    let mut tables = Vec::new();
    let mut payload = Payload::default();
    let mut claimed = Vec::new();
    let mut faults = Vec::new();
    let from = damage.len();
    walk::tree(pages, 1, false, owners, damage, &mut |page, _, cell| {
        if payload.read(pages, page, cell, MOST).is_err() {
            return;
        }
        let columns = record::columns(&payload.bytes, cell.payload).unwrap_or_default();
        let values: Vec<Key<'_>> = columns.iter().map(|column| column.value(&payload.bytes)).collect();
        claimed.extend_from_slice(&payload.pages);
        let span = payload.parts.first().copied().unwrap_or_default();
        match table(&values, span, &pages.header) {
            Some(table) => tables.push(table),
            None => faults.push(walk::fault(pages, page, "row of the schema", "none that makes sense")),
        }
    });
    let whole = damage.len() == from && faults.is_empty();
    damage.append(&mut faults);
    for page in claimed {
        owners.claim(page, walk::Use::Overflow(None));
    }
    columns(&tables, whole, pages.span_in_file(1), damage);
    tables
}

fn table(values: &[Key<'_>], span: Span, header: &Header) -> Option<Table> {
    let [Key::Text(kind), Key::Text(name), Key::Text(of), root, rest @ ..] = values else { return None };
    let text = |bytes: &[u8]| String::from_utf8_lossy(&header.utf8(bytes)).into_owned();
    let root = match root {
        Key::Int(root) => u32::try_from(*root).ok()?,
        Key::Null => 0,
        _ => return None,
    };
    let sql = match rest.first() {
        Some(Key::Text(sql)) => text(sql),
        _ => String::new(),
    };
    let definitions = definitions(&sql);
    let name_of = |definition: &String| {
        let word = definition.split_whitespace().next().unwrap_or_default();
        word.trim_matches(['"', '`', '[', ']', '\'']).to_ascii_lowercase()
    };
    let columns = definitions.iter().map(name_of).collect();
    Some(Table {
        name: text(name),
        of: text(of),
        is_index: header.utf8(kind).as_ref() == b"index",
        sql,
        root,
        columns,
        span,
    })
}

/// The definitions of columns in `CREATE TABLE name (a INTEGER, b TEXT DEFAULT (1, 2))`.
fn definitions(sql: &str) -> Vec<String> {
    let Some((_, body)) = sql.split_once('(') else { return Vec::new() };
    let (mut depth, mut all, mut one) = (0usize, Vec::new(), String::new());
    for c in body.chars() {
        match c {
            '(' => depth = depth.saturating_add(1),
            ')' if depth == 0 => break,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                all.push(std::mem::take(&mut one));
                continue;
            }
            _ => {}
        }
        one.push(c);
    }
    all.push(one);
    all
}

/// Holds the tables against those of a stream.
fn columns(tables: &[Table], whole: bool, schema: Span, damage: &mut Vec<Damage>) {
    let mut foreign = |span: Span, what: &'static str| {
        damage.push(Damage::new(Code::StreamForeign, span, "part of the schema").found(Value::Words(what)));
    };
    for table in tables.iter().filter(|table| table.root > 0) {
        let own = TABLES.iter().find(|(name, _)| table.is(name));
        let automatic = table.is_index && table.name.starts_with("sqlite_autoindex_blocks_");
        match own {
            None if automatic || table.name.starts_with("sqlite_sequence") || table.name.starts_with("sqlite_stat") => {
            }
            None if table.is_index => foreign(table.span, "an index that is no part of a stream"),
            None => foreign(table.span, "a table that is no part of a stream"),
            Some((_, columns)) if table.columns.len() > columns.len() => {
                foreign(table.span, "a table with more columns than a stream has");
            }
            Some(_) => {}
        }
    }
    for (name, expected) in TABLES.iter().take(2) {
        let wrong = match tables.iter().find(|table| table.is(name)) {
            Some(table) => {
                // Version 0 of the settings has no third column.
                let needed = if *name == "meta" { 2 } else { 3 };
                let same = table.columns.iter().zip(*expected).take_while(|(a, b)| a == *b).count();
                let fits =
                    same >= needed.min(expected.len()) && (same == expected.len() || table.columns.len() == same);
                (!fits).then_some((table.span, "one with other columns"))
            }
            // Where the schema cannot be read as a whole, that says it all.
            None => whole.then_some((schema, "missing")),
        };
        if let Some((span, found)) = wrong {
            let field = if *name == "meta" { "table `meta`" } else { "table `blocks`" };
            damage.push(Damage::new(Code::StreamTable, span, field).found(Value::Words(found)));
        }
    }
}
