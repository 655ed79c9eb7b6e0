//! What `diff` prints: a row or an object for each difference, and the summary.

use std::io::{self, Write};

use serde_json::{Value as Json, json};
use voxscope::diff::{BlockChange, Change, Side, Summary, What};
use voxscope::godot::channel::NAMES;
use voxscope::printable::{printable, triple};
use voxscope::world;

use super::Format;
use crate::cli::output::{DIM, count, grouped, wrapped, write_json};

/// Writes the objects of a machine format: a line for each, or the elements of one array.
pub(super) struct Objects {
    is_array: bool,
    count: u64,
}

impl Objects {
    pub const fn new(format: Format) -> Self {
        Self { is_array: matches!(format, Format::Json), count: 0 }
    }

    pub fn write(&mut self, out: &mut impl Write, json: &Json) -> io::Result<()> {
        if self.is_array {
            out.write_all(if self.count == 0 { b"[" } else { b"," })?;
        }
        self.count += 1;
        write_json(out, json)
    }

    pub fn end(&self, out: &mut impl Write) -> io::Result<()> {
        match (self.is_array, self.count) {
            (false, _) => Ok(()),
            (true, 0) => out.write_all(b"[]\n"),
            (true, _) => out.write_all(b"]\n"),
        }
    }
}

/// Prints what one comparison finds.
pub(super) struct Printer<'o, W: Write> {
    pub out: W,
    pub format: Format,
    pub objects: &'o mut Objects,
    /// Voxels along each axis of a block.
    pub sides: u16,
    pub lines: u64,
    /// The name of the world, if several are compared.
    pub name: Option<String>,
}

impl<W: Write> Printer<'_, W> {
    pub fn change(&mut self, change: &Change) -> io::Result<()> {
        match self.format {
            Format::Json | Format::Jsonl => {
                let mut json = self.json(change);
                if let Some(name) = &self.name {
                    json["save"] = name.as_str().into();
                }
                self.objects.write(&mut self.out, &json)
            }
            Format::Text => self.row(change),
        }
    }

    /// A voxel of a block as a voxel of the LOD.
    fn voxel(&self, change: &Change, inside: [u16; 3]) -> [i64; 3] {
        [0, 1, 2].map(|i| i64::from(change.position[i]) * i64::from(self.sides) + i64::from(inside[i]))
    }

    fn row(&mut self, change: &Change) -> io::Result<()> {
        if self.lines == 0 {
            writeln!(
                self.out,
                "{DIM}lod      x      y      z  what           voxels  where and in which channels{DIM:#}"
            )?;
        }
        self.lines += 1;
        let [x, y, z] = change.position;
        let (what, voxels, rest) = match &change.what {
            What::Added if change.across > 1 => {
                let low = self.voxel(change, [0; 3]);
                let high = low.map(|v| v + i64::from(change.across) * i64::from(self.sides));
                ("added", String::new(), format!("{}..{}", triple(low), triple(high)))
            }
            What::Added => ("added", String::new(), String::new()),
            What::Removed => ("removed", String::new(), String::new()),
            What::Moved { to } => ("moved", String::new(), format!("to {}", triple(*to))),
            What::Unreadable { side, why, other } => {
                let other = other.map_or_else(String::new, |other| format!("; {}", other.words(*side, Side::name)));
                let why = voxscope::damage::with_titles(why);
                ("unreadable", String::new(), format!("in {}: {why}{other}", side.name()))
            }
            What::Changed(block) => {
                let place = block.bounds.map(|[low, high]| {
                    format!("{}..{} ", triple(self.voxel(change, low)), triple(self.voxel(change, high)))
                });
                let names: Vec<&str> = block.channels.iter().filter_map(|c| NAMES.get(c.channel)).copied().collect();
                let mut rest = place.unwrap_or_default() + &names.join(" ");
                if block.instances {
                    rest.push_str(" instances");
                }
                ("changed", grouped(block.voxels), rest.trim_start().to_owned())
            }
        };
        let line = format!("{:>3} {x:>6} {y:>6} {z:>6}  {what:<10} {voxels:>10}  {rest}", change.lod);
        writeln!(self.out, "{}", wrapped(line.trim_end(), &" ".repeat(51)))?;
        if let What::Changed(block) = &change.what {
            self.details(change, block)?;
        }
        Ok(())
    }

    fn details(&mut self, change: &Change, block: &BlockChange) -> io::Result<()> {
        let value = |value: Option<u64>| value.map_or_else(|| "nothing".to_owned(), |n| n.to_string());
        for voxel in &block.list {
            let at = triple(self.voxel(change, voxel.position));
            let name = NAMES.get(voxel.channel).unwrap_or(&"");
            let [a, b] = voxel.values.map(value);
            writeln!(self.out, "      voxel {at} {name}: {a} -> {b}")?;
        }
        let item = |item: &Option<Json>| item.as_ref().map_or_else(|| "nothing".to_owned(), short);
        for metadata in block.metadata.iter().take(MOST_METADATA) {
            let at = metadata
                .voxel
                .map_or_else(|| "the block".to_owned(), |voxel| format!("voxel {}", triple(self.voxel(change, voxel))));
            let line = format!("      metadata of {at}: {} -> {}", item(&metadata.items[0]), item(&metadata.items[1]));
            writeln!(self.out, "{}", wrapped(&line, "        "))?;
        }
        match block.metadata.len().saturating_sub(MOST_METADATA) {
            0 => Ok(()),
            n => writeln!(self.out, "      and metadata of {} more", count(n as u64, "voxel")),
        }
    }

    fn json(&self, change: &Change) -> Json {
        let (lod, position) = (change.lod, change.position);
        let mut json = match &change.what {
            What::Added => json!({ "type": "added", "lod": lod, "block": position }),
            What::Removed => json!({ "type": "removed", "lod": lod, "block": position }),
            What::Moved { to } => json!({ "type": "moved", "lod": lod, "block": position, "to": to }),
            What::Unreadable { side, why, other } => json!({
                "type": "unreadable", "lod": lod, "block": position, "side": side, "why": why, "other": other,
            }),
            What::Changed(block) => {
                let text = |value: Option<u64>| value.map(|n| n.to_string());
                let list: Vec<Json> = block
                    .list
                    .iter()
                    .map(|voxel| {
                        json!({
                            "voxel": self.voxel(change, voxel.position),
                            "channel": NAMES.get(voxel.channel),
                            "a": text(voxel.values[0]),
                            "b": text(voxel.values[1]),
                        })
                    })
                    .collect();
                let metadata: Vec<Json> = block
                    .metadata
                    .iter()
                    .map(|metadata| {
                        let voxel = metadata.voxel.map(|voxel| self.voxel(change, voxel));
                        json!({ "voxel": voxel, "a": metadata.items[0], "b": metadata.items[1] })
                    })
                    .collect();
                let channels = block.channels.iter();
                json!({
                    "type": "changed",
                    "lod": lod,
                    "block": position,
                    "voxels": block.voxels,
                    "box": block.bounds.map(|bounds| bounds.map(|corner| self.voxel(change, corner))),
                    "channels": channels.map(|c| json!({ "channel": NAMES.get(c.channel), "voxels": c.voxels })).collect::<Vec<_>>(),
                    "list": list,
                    "metadata": metadata,
                    "instances": block.instances,
                })
            }
        };
        if change.across > 1 {
            json["across"] = change.across.into();
        }
        json
    }

    pub fn summary(mut self, summary: &Summary) -> io::Result<()> {
        match self.format {
            Format::Json | Format::Jsonl => {
                let list = |faults: &[(Side, world::Fault)]| -> Vec<Json> {
                    let json = |(side, f): &(Side, world::Fault)| json!({ "side": side, "file": f.file, "why": f.why });
                    faults.iter().map(json).collect()
                };
                let mut json = json!({
                        "type": "summary",
                        "blocks_a": summary.blocks[0],
                        "blocks_b": summary.blocks[1],
                        "same": summary.same,
                        "changed": summary.changed,
                        "added": summary.added,
                        "removed": summary.removed,
                        "moved": summary.moved,
                        "unreadable": summary.unreadable,
                        "whole_in": summary.whole_in,
                        "missing_in": summary.missing_in,
                        "voxels": summary.voxels,
                        "holes": summary.holes,
                        "positions_twice": summary.twice,
                        "unowned": summary.unowned,
                        "files_unread": list(&summary.faults),
                        "files_corrected": list(&summary.corrected),
                        "interrupted": summary.interrupted,
                });
                if let Some(name) = &self.name {
                    json["save"] = name.as_str().into();
                }
                self.objects.write(&mut self.out, &json)?;
            }
            Format::Text => {
                if self.lines > 0 {
                    writeln!(self.out)?;
                }
                let not_comparable = format!("not comparable{}", other_states(summary));
                let counts = [
                    (summary.changed, "changed"),
                    (summary.added, "added"),
                    (summary.removed, "removed"),
                    (summary.moved, "moved"),
                    (summary.unreadable, &not_comparable),
                    (summary.same, "the same"),
                ];
                let counts = counts.iter().filter(|(n, _)| *n > 0);
                let counts: Vec<String> = counts.map(|(n, what)| format!("{} {what}", grouped(*n))).collect();
                let voxels = match summary.voxels {
                    0 => String::new(),
                    n => format!(" · {}", count(n, "voxel")),
                };
                let stopped = if summary.interrupted { "interrupted before its end · " } else { "" };
                let counts = if counts.is_empty() { "none to compare".to_owned() } else { counts.join(", ") };
                let holes = match summary.holes {
                    0 => String::new(),
                    n => format!(
                        " · {} missing inside larger ones, compared with what `convert` fills in",
                        count(n, "block")
                    ),
                };
                writeln!(self.out, "{}", wrapped(&format!("{stopped}blocks: {counts}{voxels}{holes}"), ""))?;
            }
        }
        self.out.flush()
    }
}

/// What the other save has where a block cannot be read.
fn other_states(summary: &Summary) -> String {
    let ([whole_a, whole_b], [missing_a, missing_b]) = (summary.whole_in, summary.missing_in);
    let states = [
        (whole_a, "whole in a only"),
        (missing_a, "missing in a"),
        (whole_b, "whole in b only"),
        (missing_b, "missing in b"),
    ];
    let states = states.iter().filter(|(n, _)| *n > 0);
    let states: Vec<String> = states.map(|(n, what)| format!("{} {what}", grouped(*n))).collect();
    if states.is_empty() { String::new() } else { format!(" ({})", states.join(", ")) }
}

/// Items of metadata of one block that a table has.
const MOST_METADATA: usize = 8;

/// Characters of an item on one line.
const WIDTH: usize = 60;

fn short(item: &Json) -> String {
    let text = item.get("value").map_or_else(|| item["kind"].as_str().unwrap_or("").to_owned(), Json::to_string);
    let mut cut: String = printable(&text).chars().take(WIDTH).collect();
    if text.chars().count() > WIDTH {
        cut.push('…');
    }
    cut
}
