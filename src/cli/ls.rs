//! `ls`: the blocks of a save, filtered, as text, JSON or CSV.

use std::io::Write;
use std::path::PathBuf;

use voxscope::check::{self, Compared, Filter, Row};
use voxscope::export::{self, Lines, codes, flags};
use voxscope::save::{File, Kind};

use super::exit::{Exit, Failure};
use super::output::{
    Align, DIM, complain_of_file_once, complain_of_parts, complain_of_unread, count, grouped, stdout, write_json,
};
use super::target;

const AFTER_HELP: &str = "\
Examples:
  voxscope ls world state=error
  voxscope ls world lod=0 'bytes>4096' --format csv

Filters, all of which must hold: FIELD OPERATOR VALUE without spaces, such as lod=0 bytes>4096 state!=ok
  numbers   lod x y z slot sector sectors bytes plain ratio version instances
            with = != < <= > >=; of pak regions, record is the same as slot, and block and blocks
            are the same as sector and sectors; stored and decompressed are bytes and plain
  state     ok note warning error                                     with = != < <= > >=, by severity
  container plain lz4-be lz4 zstd headerless lz4-wrong-order zlib     with = !=
  code      any code of `voxscope explain`                            with = !=
  file      a part of the file's name                                 with = !=";

/// Arguments of `ls`.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// The save: its directory, one of its files, or a directory that contains several saves
    path: PathBuf,
    /// Filters; quote those that contain < or >
    filter: Vec<String>,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// How deep to look
    #[arg(long, value_name = "LEVEL", default_value = "decode")]
    level: Level,
    #[command(flatten)]
    options: target::Options,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Level {
    /// Each block by itself: faster
    Decode,
    /// Also blocks that are in wrong places
    Semantic,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Format {
    /// Columns for people
    #[value(aliases = ["human", "table"])]
    Text,
    /// One JSON array
    Json,
    /// One JSON object per line
    Jsonl,
    /// Comma-separated values with a header
    Csv,
}

/// Columns of the table. All but the findings fit 80 characters.
const COLUMNS: [(&str, usize, Align); 12] = [
    ("lod", 3, Align::Right),
    ("x", 5, Align::Right),
    ("y", 4, Align::Right),
    ("z", 5, Align::Right),
    ("sector", 6, Align::Right),
    ("n", 3, Align::Right),
    ("stored", 7, Align::Right),
    ("decompressed", 12, Align::Right),
    ("ver", 3, Align::Right),
    ("container", 15, Align::Left),
    ("state", 7, Align::Left),
    // The last column is optional: codes of findings, or flags of a voxel map.
    ("", 0, Align::Left),
];

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let filter = Filter::parse(&arguments.filter.join(" ")).map_err(Failure::Usage)?;
    let save = arguments.options.open_as_placed(&arguments.path)?;
    // Places are compared in regions only.
    let are_places_open = arguments.level == Level::Decode && save.regions().next().is_some();
    let mut printer = Printer::new(stdout(), arguments.format, are_places_open)?;
    let mut exit = complain_of_unread(&save);
    let compared = match arguments.level {
        Level::Decode => Compared::default(),
        Level::Semantic => Compared::new(&save, &check::Options::default()),
    };
    for file in save.files() {
        printer.words(file);
        let mut printed = Ok(());
        let listed = check::list_each(&save, file, &check::Options::default(), &mut |mut row| {
            compared.add_to(std::slice::from_mut(&mut row));
            if printed.is_ok() && filter.matches(&row) {
                printed = printer.row(&row);
            }
        });
        printed?;
        match listed {
            Ok(left_out) => exit = exit.and(complain_of_parts(&left_out)),
            Err(error) => {
                let name = save.shown(&file.path());
                complain_of_file_once(&name, &error.to_string());
                exit = exit.and(Exit::FAILED);
            }
        }
    }
    printer.finish()?;
    Ok(exit)
}

enum Printer<W: Write> {
    Table(Table<W>),
    /// Whether a row was written.
    Array(W, bool),
    Lines(Lines<W, Row>),
}

impl<W: Write> Printer<W> {
    fn new(out: W, format: Format, are_places_open: bool) -> std::io::Result<Self> {
        Ok(match format {
            Format::Text => Self::Table(Table { out, file: None, words: WORDS, rows: 0, are_places_open }),
            Format::Json => Self::Array(out, false),
            Format::Jsonl => Self::Lines(Lines::new(out, export::Format::Jsonl)?),
            Format::Csv => Self::Lines(Lines::new(out, export::Format::Csv)?),
        })
    }

    /// Sets the words for the rows of a file.
    fn words(&mut self, file: File<'_>) {
        if let Self::Table(table) = self {
            table.words = match file {
                File::Pak(..) => Words { index: "record", place: "block", first: 0, is_stored_in_sectors: true },
                File::Stream(_) => Words { index: "row", place: "page", first: 1, is_stored_in_sectors: true },
                File::Map(_) => Words { index: "row", place: "-", first: 0, is_stored_in_sectors: false },
                File::Region(forest, _) if forest.kind == Kind::BlockFiles => {
                    Words { index: "file", place: "-", first: 0, is_stored_in_sectors: false }
                }
                _ => WORDS,
            };
        }
    }

    fn row(&mut self, row: &Row) -> std::io::Result<()> {
        match self {
            Self::Table(table) => table.row(row),
            Self::Array(out, any) => {
                out.write_all(if *any { b"," } else { b"[" })?;
                *any = true;
                write_json(out, row)
            }
            Self::Lines(lines) => lines.write(row),
        }
    }

    fn finish(self) -> std::io::Result<()> {
        match self {
            Self::Table(table) => table.finish(),
            Self::Array(mut out, any) => {
                out.write_all(if any { b"]\n" } else { b"[]\n" })?;
                out.flush()
            }
            Self::Lines(lines) => lines.finish(),
        }
    }
}

/// What the columns are called in a family of saves.
#[derive(Clone, Copy)]
struct Words {
    /// The index of a block in its table.
    index: &'static str,
    /// Where the block begins.
    place: &'static str,
    /// The number of the first place: SQLite counts pages from 1, and so do `show` and the explorer.
    first: u64,
    is_stored_in_sectors: bool,
}

const WORDS: Words = Words { index: "slot", place: "sector", first: 0, is_stored_in_sectors: true };

struct Table<W: Write> {
    out: W,
    file: Option<std::sync::Arc<str>>,
    words: Words,
    rows: u64,
    /// Whether the places of blocks were not compared although they could be.
    are_places_open: bool,
}

impl<W: Write> Table<W> {
    /// Columns of fixed width, so that rows can be written one by one; each file has its own heading.
    fn row(&mut self, row: &Row) -> std::io::Result<()> {
        self.rows += 1;
        if self.file.as_ref() != Some(&row.file) {
            let gap = if self.file.is_some() { "\n" } else { "" };
            writeln!(self.out, "{gap}{DIM}{}{DIM:#}", row.file)?;
            let head = |name: &str| if name == "sector" { self.words.place } else { name }.to_owned();
            let heads = COLUMNS.map(|(name, ..)| head(name));
            writeln!(self.out, "{DIM}{}{DIM:#}", line(&heads))?;
            self.file = Some(std::sync::Arc::clone(&row.file));
        }
        // Where the place is not known, the index in the table tells blocks apart.
        let is_one_array = row.flags.is_some() && row.position.is_none();
        let entry = || match is_one_array {
            true => ["", "", "all"].map(str::to_owned),
            false => ["", self.words.index, &row.slot.to_string()].map(str::to_owned),
        };
        let [x, y, z] = row.position.map_or_else(entry, |p| p.map(|n| n.to_string()));
        let instances =
            row.instances.map(|n| format!("{}instances {}", gap(row), count(n, "byte"))).unwrap_or_default();
        let cells = [
            row.lod.to_string(),
            x,
            y,
            z,
            match row.sector {
                _ if !self.words.is_stored_in_sectors => "-".to_owned(),
                Some(n) => (u64::from(n) + self.words.first).to_string(),
                None => row.offset.map_or_else(|| "-".to_owned(), |byte| format!("@{byte}")),
            },
            if self.words.is_stored_in_sectors { row.sectors.to_string() } else { "-".to_owned() },
            grouped(row.bytes),
            grouped(row.plain),
            row.version.map_or_else(|| "-".to_owned(), |v| v.to_string()),
            row.container.unwrap_or("-").to_owned(),
            row.state().to_owned(),
            [codes(row, ", "), flags_of(row), instances, record(row)].concat(),
        ];
        writeln!(self.out, "{}", line(&cells))
    }

    fn finish(mut self) -> std::io::Result<()> {
        let gap = if self.rows > 0 { "\n" } else { "" };
        let hint = match self.are_places_open && self.rows > 0 {
            true => "places are not checked; --level semantic checks them · ",
            false => "",
        };
        writeln!(self.out, "{gap}{DIM}{hint}{}{DIM:#}", count(self.rows, "block"))?;
        self.out.flush()
    }
}

/// The number of a chunk's record, for `show --record`, unless it takes the place of the position.
fn record(row: &Row) -> String {
    let is_chunk = row.position.is_some() && row.file.ends_with(".region");
    if is_chunk { format!("{}record {}", gap(row), row.slot) } else { String::new() }
}

/// The flags of a block of a voxel map.
fn flags_of(row: &Row) -> String {
    let flags = flags(row, " ", " · ");
    if flags.is_empty() { flags } else { format!("{}{flags}", gap(row)) }
}

/// The separator between codes of findings and what follows.
fn gap(row: &Row) -> &'static str {
    if row.codes.is_empty() { "" } else { " · " }
}

fn line(cells: &[String; COLUMNS.len()]) -> String {
    let mut line = String::new();
    for (cell, (_, width, align)) in cells.iter().zip(COLUMNS) {
        if !line.is_empty() {
            line.push(' ');
        }
        match align {
            Align::Right => line.push_str(&format!("{cell:>width$}")),
            Align::Left => line.push_str(&format!("{cell:<width$}")),
        }
    }
    line.truncate(line.trim_end().len());
    line
}
