//! The schema of a stream: its tables and indexes, their first pages and columns.

use std::iter::Peekable;
use std::str::Chars;

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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// The table that an index belongs to.
    pub of: String,
    /// Whether it is an index.
    pub is_index: bool,
    /// The statement that creates it; empty if there is none, as for automatic indexes.
    pub sql: String,
    /// Its first page; 0 where it has none (views and triggers).
    pub root: u32,
    /// Its bytes in the schema.
    pub span: Span,
}

impl Table {
    /// Whether it is the table with this name.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        !self.is_index && self.root > 0 && self.name.eq_ignore_ascii_case(name)
    }

    /// The names of its columns, in lower case. They are read from its statement: a database may have thousands of tables.
    #[must_use]
    pub fn columns(&self) -> Vec<String> {
        column_names(&self.sql)
    }

    /// Whether its first column is the number of its rows, whatever value the rows store there.
    pub(super) fn has_rowid_key(&self) -> bool {
        let mut rest = self.sql.chars().peekable();
        while token(&mut rest).is_some_and(|token| token != Token::Sign('(')) {}
        let is_word =
            |token: Option<Token>, word: &str| matches!(token, Some(Token::Word(w)) if w.eq_ignore_ascii_case(word));
        let _name = token(&mut rest);
        ["INTEGER", "PRIMARY", "KEY"].iter().all(|word| is_word(token(&mut rest), word))
            && !is_word(token(&mut rest), "DESC")
    }

    /// Whether it is an index of the table with this name.
    #[must_use]
    pub fn is_index_of(&self, name: &str) -> bool {
        self.is_index && self.root > 0 && self.of.eq_ignore_ascii_case(name)
    }
}

/// Tables of a stream, and their columns.
const TABLES: [(&str, &[&str]); 3] = [
    ("meta", &["version", "block_size_po2", "coordinate_format"]),
    ("blocks", &["loc", "vb", "instances"]),
    ("channels", &["idx", "depth"]),
];

/// Reads the schema; pushes its damage and what does not belong to a stream.
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
            None => faults.push(walk::fault(pages, page, "row of the schema", "not readable as a row")),
        }
    });
    let whole = faults.is_empty() && !damage.iter().skip(from).any(walk::hides_cells);
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
    Some(Table { name: text(name), of: text(of), is_index: header.utf8(kind).as_ref() == b"index", sql, root, span })
}

/// A token of a statement: a word or name, its quotes removed, or another character.
#[derive(Debug, PartialEq)]
enum Token {
    Word(String),
    Quoted(String),
    Sign(char),
}

/// The next token, by the rules of SQLite; blanks and comments are skipped.
fn token(rest: &mut Peekable<Chars<'_>>) -> Option<Token> {
    loop {
        let c = rest.next()?;
        match (c, rest.peek().copied()) {
            (c, _) if c.is_ascii_whitespace() => {}
            ('-', Some('-')) => while rest.next().is_some_and(|c| c != '\n') {},
            ('/', Some('*')) => {
                rest.next();
                while rest.next().is_some_and(|c| c != '*' || rest.peek() != Some(&'/')) {}
                rest.next();
            }
            ('"' | '\'' | '`' | '[', _) => {
                let close = if c == '[' { ']' } else { c };
                let mut name = String::new();
                while let Some(c) = rest.next() {
                    // A quote that is doubled is part of the name.
                    if c == close && (c == ']' || rest.next_if_eq(&close).is_none()) {
                        break;
                    }
                    name.push(c);
                }
                return Some(Token::Quoted(name));
            }
            (c, _) if is_of_word(c) => {
                let mut word = String::from(c);
                while let Some(c) = rest.next_if(|c| is_of_word(*c)) {
                    word.push(c);
                }
                return Some(Token::Word(word));
            }
            (c, _) => return Some(Token::Sign(c)),
        }
    }
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$') || !c.is_ascii()
}

/// Words with which a constraint of the table begins, instead of a column.
const CONSTRAINTS: [&str; 5] = ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"];

/// The names of the columns in `CREATE TABLE name (a INTEGER, "b c" TEXT DEFAULT (1, 2), PRIMARY KEY (a))`, in lower case.
fn column_names(sql: &str) -> Vec<String> {
    let mut rest = sql.chars().peekable();
    while token(&mut rest).is_some_and(|token| token != Token::Sign('(')) {}
    let (mut depth, mut names, mut first) = (0usize, Vec::new(), true);
    while let Some(token) = token(&mut rest) {
        let begins = std::mem::take(&mut first);
        match token {
            Token::Sign('(') => depth = depth.saturating_add(1),
            Token::Sign(')') if depth == 0 => break,
            Token::Sign(')') => depth = depth.saturating_sub(1),
            Token::Sign(',') if depth == 0 => first = true,
            Token::Word(word) if begins && !CONSTRAINTS.iter().any(|c| word.eq_ignore_ascii_case(c)) => {
                names.push(word.to_ascii_lowercase());
            }
            Token::Quoted(name) if begins => names.push(name.to_ascii_lowercase()),
            _ => {}
        }
    }
    names
}

/// Compares the tables with those of a stream.
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
            None if table.is_index => foreign(table.span, "an index that is not part of a stream"),
            None => foreign(table.span, "a table that is not part of a stream"),
            Some((_, columns)) if table.columns().len() > columns.len() => {
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
                let columns = table.columns();
                let same = columns.iter().zip(*expected).take_while(|(a, b)| a == *b).count();
                let fits = same >= needed.min(expected.len()) && (same == expected.len() || columns.len() == same);
                (!fits).then_some((table.span, "other columns"))
            }
            // If a part of the schema cannot be read, a missing table is not reported on its own.
            None => whole.then_some((schema, "missing")),
        };
        if let Some((span, found)) = wrong {
            let field = if *name == "meta" { "table `meta`" } else { "table `blocks`" };
            damage.push(Damage::new(Code::StreamTable, span, field).found(Value::Words(found)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Table, column_names};

    #[test]
    fn the_key_is_the_row_number_as_sqlite_decides() {
        for (sql, is_rowid) in [
            ("CREATE TABLE blocks (loc INTEGER PRIMARY KEY, vb BLOB, instances BLOB)", true),
            ("create table \"blocks\"([loc] integer primary key asc, vb)", true),
            ("CREATE TABLE blocks (loc INTEGER PRIMARY KEY DESC, vb BLOB)", false),
            ("CREATE TABLE blocks (loc INT PRIMARY KEY, vb BLOB)", false),
            ("CREATE TABLE blocks (loc INTEGER, vb BLOB)", false),
            ("CREATE TABLE blocks (loc TEXT PRIMARY KEY, vb BLOB)", false),
            ("", false),
        ] {
            let table = Table { sql: sql.to_owned(), ..Table::default() };
            assert_eq!(table.has_rowid_key(), is_rowid, "{sql}");
        }
    }

    #[test]
    fn columns_are_named_as_sqlite_names_them() {
        for (sql, columns) in [
            ("CREATE TABLE blocks (loc INTEGER PRIMARY KEY, vb BLOB, instances BLOB)", &["loc", "vb", "instances"][..]),
            (
                "CREATE TABLE \"a (b\"(\"last saved\" INTEGER, [x, y] TEXT, `k``l`, 'm')",
                &["last saved", "x, y", "k`l", "m"],
            ),
            (
                "CREATE TABLE a (loc INTEGER, \"say \"\"hi\"\"\" TEXT DEFAULT (')'), PRIMARY KEY (loc))",
                &["loc", "say \"hi\""],
            ),
            ("CREATE TABLE a (b -- , c\n, /* d, */ \"PRIMARY KEY\", Größe)", &["b", "primary key", "größe"]),
            ("CREATE INDEX i ON a(b, c)", &["b", "c"]),
            ("CREATE TABLE a (\"open", &["open"]),
            ("", &[]),
        ] {
            assert_eq!(column_names(sql), columns, "{sql}");
        }
    }
}
