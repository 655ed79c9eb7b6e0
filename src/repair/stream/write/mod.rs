//! Writes streams: a new database with the tables of the old one and the chosen rows, and everything else to
//! `lost+found`.

use std::path::{Path, PathBuf};

use crate::draft::{self, Draft, Writer};
use crate::limits::Limits;
use crate::repair::out::{aside, json as pretty, lost_name};
use crate::repair::stream::{StreamPlan, Work, foreign};
use crate::repair::{Action, Error};
use crate::save::Table;
use crate::sqlite::BESIDE;

mod lost;
pub(super) use lost::part_name;
#[cfg(feature = "sqlite")]
mod rows;
#[cfg(feature = "sqlite")]
mod tables;

/// Words that make a statement more than names and types.
const TOO_MUCH: [&str; 7] = ["AS", "CHECK", "GENERATED", "SELECT", "VIRTUAL", "WHERE", "WITHOUT"];

/// The files of a stream: the database, and its journal or log.
pub(super) fn files_of(plan: &StreamPlan) -> Vec<PathBuf> {
    let beside = BESIDE.iter().map(|ending| {
        let mut name = plan.path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    });
    let is_file = |path: &PathBuf| std::fs::symlink_metadata(path).is_ok_and(|m| m.is_file());
    std::iter::once(plan.path.clone()).chain(beside.filter(is_file)).collect()
}

/// Writes the streams. Returns for each the parts of its schema that could not be written.
pub(in crate::repair) fn write(
    draft: &Draft<'_>,
    plans: &[StreamPlan],
    limits: &Limits,
) -> Result<Vec<Vec<String>>, Error> {
    plans.iter().map(|plan| one(draft, plan, limits)).collect()
}

/// Writes only what the plans set aside.
pub(in crate::repair) fn write_lost(draft: &Draft<'_>, plans: &[StreamPlan]) -> Result<(), Error> {
    plans.iter().try_for_each(|plan| match (plan.action, plan.work.as_deref()) {
        (Action::Rebuild, Some(work)) => keep_rebuilt(draft, plan, work, plan.left_out.is_empty()),
        (Action::SetAside | Action::FromBackup, _) => {
            Ok(files_of(plan).iter().try_for_each(|path| keep(draft, plan, path))?)
        }
        _ => Ok(()),
    })
}

/// The files in `lost+found` of a stream that is built anew; `complete` is whether its whole schema is written.
fn keep_rebuilt(draft: &Draft<'_>, plan: &StreamPlan, work: &Work, complete: bool) -> Result<(), Error> {
    lost::write(draft, plan, work)?;
    pages(draft, plan, work)?;
    let files = files_of(plan);
    files.iter().skip(usize::from(complete)).try_for_each(|path| keep(draft, plan, path))?;
    Ok(unchanged(plan, work)?)
}

/// Keeps a file of a stream as it is.
fn keep(draft: &Draft<'_>, plan: &StreamPlan, path: &Path) -> Result<(), draft::Error> {
    let name = path.file_name().map_or_else(|| plan.name.clone(), |name| plan.name.with_file_name(name));
    draft.copy(path, &aside(draft, &name))
}

fn one(draft: &Draft<'_>, plan: &StreamPlan, limits: &Limits) -> Result<Vec<String>, Error> {
    match (plan.action, plan.work.as_deref()) {
        (Action::Rebuild, Some(work)) => {
            let mut left_out = rebuild(draft, plan, work, limits)?;
            left_out.extend(plan.left_out.iter().cloned());
            keep_rebuilt(draft, plan, work, left_out.is_empty())?;
            Ok(left_out)
        }
        (Action::SetAside | Action::FromBackup, _) => {
            files_of(plan).iter().try_for_each(|path| keep(draft, plan, path))?;
            if let Some(older) = plan.backup.as_deref().filter(|_| plan.action == Action::FromBackup) {
                draft.copy(&older.path, &plan.name)?;
            }
            Ok(Vec::new())
        }
        _ => {
            draft.copy(&plan.path, &plan.name)?;
            Ok(Vec::new())
        }
    }
}

#[cfg(feature = "sqlite")]
fn rebuild(draft: &Draft<'_>, plan: &StreamPlan, work: &Work, limits: &Limits) -> Result<Vec<String>, Error> {
    rows::rebuild(draft, plan, work, limits)
}

#[cfg(not(feature = "sqlite"))]
fn rebuild(_: &Draft<'_>, plan: &StreamPlan, _: &Work, _: &Limits) -> Result<Vec<String>, Error> {
    Err(Error::NoLibrary(plan.path.clone()))
}

/// Checks that the files that were read have not changed.
fn unchanged(plan: &StreamPlan, work: &Work) -> Result<(), draft::Error> {
    draft::unchanged(&work.stream.pages.source, &plan.path)?;
    if let Some(overlay) = &work.stream.pages.overlay {
        draft::unchanged(&overlay.source, &plan.path)?;
    }
    match plan.backup.as_deref() {
        Some(older) => draft::unchanged(&older.stream.pages.source, &older.path),
        None => Ok(()),
    }
}

/// The description of unreadable pages in `lost+found`.
#[derive(serde::Serialize)]
struct PagesReport<'p> {
    file: String,
    page_size: usize,
    pages: &'p [u32],
}

/// Writes unreadable pages, one after the other.
fn pages(draft: &Draft<'_>, plan: &StreamPlan, work: &Work) -> Result<(), draft::Error> {
    if plan.pages.is_empty() {
        return Ok(());
    }
    let mut out = Writer::new(draft, &lost_name(draft, &plan.name, ".pages.bin"))?;
    let size = work.stream.pages.header.page_size as usize;
    let mut buffer = Vec::new();
    for page in &plan.pages {
        draft.go_on()?;
        work.stream.pages.read_some(*page, size, &mut buffer).map_err(draft::Error::read(&plan.path))?;
        buffer.resize(size, 0);
        out.put(&buffer)?;
    }
    out.done()?;
    let about = PagesReport { file: crate::printable::path(&plan.name), page_size: size, pages: &plan.pages };
    draft.file(&lost_name(draft, &plan.name, ".pages.json"), &pretty(&about))
}

/// Whether a part of the schema can be created again. Its statement comes from a possibly hostile file: it is used only
/// if it consists of names, types and plain constraints, so that SQLite evaluates nothing in it.
pub(super) fn can_be_made(table: &Table, tables: &[Table]) -> bool {
    let own = !foreign(std::slice::from_ref(table)).any(|_| true);
    let automatic = table.is_index && table.sql.is_empty() || is_kept_by_sqlite(table);
    if own || automatic {
        return true;
    }
    if table.root == 0 {
        return ["CREATE VIEW ", "CREATE TRIGGER "].iter().any(|start| begins(&table.sql, start));
    }
    if table.is_index {
        let index = begins(&table.sql, "CREATE INDEX ") || begins(&table.sql, "CREATE UNIQUE INDEX ");
        let of = tables.iter().find(|of| !of.is_index && of.name.eq_ignore_ascii_case(&table.of));
        return index && is_plain(&table.sql, 1) && of.is_some_and(|of| can_be_made(of, &[]));
    }
    begins(&table.sql, "CREATE TABLE ") && is_plain(&table.sql, 2)
}

/// Whether SQLite creates this table itself.
pub(super) fn is_kept_by_sqlite(table: &Table) -> bool {
    table.name.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("sqlite_"))
}

fn begins(sql: &str, with: &str) -> bool {
    sql.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with))
}

/// Whether a statement has names, types, numbers and texts in so many pairs of brackets, and nothing else.
pub(super) fn is_plain(sql: &str, most: usize) -> bool {
    let (mut depth, mut deepest, mut word) = (0usize, 0, String::new());
    let mut chars = sql.chars();
    let mut words = Vec::new();
    while let Some(c) = chars.next() {
        if c.is_alphanumeric() || c == '_' {
            word.push(c.to_ascii_uppercase());
            continue;
        }
        words.push(std::mem::take(&mut word));
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return false,
            ')' => depth -= 1,
            '"' | '\'' | '`' => {
                if !chars.by_ref().any(|other| other == c) {
                    return false;
                }
            }
            '[' => {
                if !chars.by_ref().any(|other| other == ']') {
                    return false;
                }
            }
            ',' | '.' | '-' | '+' | ' ' | '\n' | '\r' | '\t' => {}
            _ => return false,
        }
        deepest = deepest.max(depth);
    }
    words.push(word);
    let comment = sql.contains("--") || sql.contains("/*");
    let known = words.iter().all(|word| !TOO_MUCH.contains(&word.as_str()));
    depth == 0 && deepest > 0 && deepest <= most && !comment && known && sql.trim_end().ends_with(')')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_that_compute_are_not_used() {
        for sql in [
            "CREATE TABLE blocks (loc INTEGER PRIMARY KEY, vb BLOB, instances BLOB)",
            "CREATE TABLE players (name TEXT NOT NULL DEFAULT 'a, b', x DECIMAL(10, 5), PRIMARY KEY (name))",
            "CREATE TABLE \"odd (name\" (a, [b c] REAL)",
        ] {
            assert!(is_plain(sql, 2), "{sql}");
        }
        for sql in [
            "CREATE TABLE a AS SELECT 1",
            "CREATE TABLE a (b CHECK (b > 1))",
            "CREATE TABLE a (b, c AS (b))",
            "CREATE TABLE a (b DEFAULT (abs(randomblob(9))))",
            "CREATE TABLE a (b); DROP TABLE c",
            "CREATE TABLE a (b) WITHOUT ROWID",
            "CREATE TABLE a (b -- c\n)",
            "CREATE TABLE a (b",
            "CREATE TABLE a (b 'c)",
            "",
        ] {
            assert!(!is_plain(sql, 2), "{sql}");
        }
        assert!(is_plain("CREATE INDEX i ON a(b, c)", 1) && !is_plain("CREATE INDEX i ON a(lower(b))", 1));
    }
}
