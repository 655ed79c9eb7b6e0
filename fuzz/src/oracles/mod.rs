//! What must hold: of any bytes (one file a format), and of files that are built and damaged (`built`).
//!
//! Each `check` panics with the property that failed and says how far the input got. The library's own tests take this
//! directory in by path, so it uses nothing but `voxscope`, the naive decoders (`crate::naive`, which is `tests/naive/` of
//! the library), the standard library and `arbitrary`.

pub mod block;
pub mod block_files;
pub mod built;
pub mod container;
pub mod describe;
pub mod disk;
pub mod explorer;
pub mod forest;
pub mod instances;
pub mod map_json;
pub mod npy_map;
pub mod pak;
pub mod region;
pub mod replay;
pub mod stream;
pub mod variant;
mod verified;

use voxscope::bytes::Span;
use voxscope::check::Finding;
use voxscope::damage::{Code, Damage, Level, Space};
use voxscope::limits::Limits;

use built::Model;

/// Looks at one input.
pub type Oracle = fn(&[u8]) -> Reach;

/// A target.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name; that of one that builds its files ends with `_built`.
    pub name: &'static str,
    /// Looks at one input.
    pub check: Oracle,
    /// Says what an input stands for, what is read of it and what is wrong with it.
    pub describe: fn(&[u8]) -> String,
    /// The names of the kinds of damage, where files are built.
    pub kinds: fn() -> Vec<&'static str>,
    /// The kind of damage that an input has.
    pub kind_of: fn(&[u8]) -> Option<&'static str>,
}

/// A target of bytes as they are.
const fn raw(name: &'static str, check: Oracle, describe: fn(&[u8]) -> String) -> Target {
    Target { name, check, describe, kinds: Vec::new, kind_of: |_| None }
}

/// A target that builds its files.
const fn built<M: Model>(name: &'static str) -> Target {
    let (check, describe) = (built::check::<M>, built::describe::<M>);
    Target { name, check, describe, kinds: built::names::<M>, kind_of: built::kind_of::<M> }
}

/// Every target, by name. The tests hold this list against the targets and the corpora there are.
pub const ALL: &[Target] = &[
    raw("block_files", block_files::check, describe::block_files),
    built::<built::block_files::BlockFiles>("block_files_built"),
    raw("block_v1", block::check::<1>, describe::block),
    built::<built::block::Block<1>>("block_v1_built"),
    raw("block_v2", block::check::<2>, describe::block),
    built::<built::block::Block<2>>("block_v2_built"),
    raw("block_v3", block::check::<3>, describe::block),
    built::<built::block::Block<3>>("block_v3_built"),
    raw("block_v4", block::check::<4>, describe::block),
    built::<built::block::Block<4>>("block_v4_built"),
    raw("container", container::check, describe::container),
    built::<built::container::Container>("container_built"),
    raw("explorer", explorer::check, explorer::describe),
    built::<built::explorer::Explorer>("explorer_built"),
    raw("forest", forest::check, describe::forest),
    built::<built::forest::Forest>("forest_built"),
    raw("instances", instances::check, describe::instances),
    built::<built::instances::Instances>("instances_built"),
    raw("map_json", map_json::check, describe::map_json),
    built::<built::map_json::Map>("map_json_built"),
    raw("npy_map", npy_map::check, describe::npy_map),
    built::<built::npy_map::Map>("npy_map_built"),
    raw("pak", pak::check, describe::pak),
    built::<built::pak::Pak>("pak_built"),
    raw("region_v2", region::check_v2, describe::region),
    built::<built::region::Region<2>>("region_v2_built"),
    raw("region_v3", region::check_v3, describe::region),
    built::<built::region::Region<3>>("region_v3_built"),
    raw("stream", stream::check, describe::stream),
    built::<built::stream::Stream>("stream_built"),
    raw("stream_log", stream::check_log, describe::stream_log),
    Target {
        name: "stream_log_built",
        check: built::stream_log::check,
        describe: built::stream_log::describe,
        kinds: built::stream_log::names,
        kind_of: built::stream_log::kind_of,
    },
    raw("variant_godot3", variant::check_3, describe::variant_3),
    built::<built::variant::Value<3>>("variant_godot3_built"),
    raw("variant_godot4", variant::check_4, describe::variant_4),
    built::<built::variant::Value<4>>("variant_godot4_built"),
];

/// The target of that name.
#[must_use]
pub fn find(name: &str) -> Option<Target> {
    ALL.iter().find(|target| target.name == name).copied()
}

/// How far an input got. A target whose inputs all stop at the header tests nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// It is of another version, which has a target of its own.
    Foreign,
    /// The header was refused, or the input has none.
    Refused,
    /// The header was read; what it announces was not there or did not make sense.
    Header,
    /// Content was read as well.
    Content,
    /// Everything was read, nothing was wrong, and the way back to bytes was compared.
    Healthy,
}

/// The library's caps, with those lowered that an input of a few KiB could not reach, or would need seconds to.
#[must_use]
pub const fn limits() -> Limits {
    Limits { block_bytes: 256 << 10, entries: 512, variant_depth: 1000, variant_values: 4096, ..Limits::DEFAULT }
}

/// Damage lies inside the input, is counted in the right bytes, and can be said in words.
fn damage_inside(damage: &[Damage], space: Space, len: usize) {
    let all = Span::sized(0, len as u64);
    for d in damage {
        assert_eq!(d.space, space, "{d:?} counts other bytes than those of the input");
        assert!(all.contains(&d.span) && d.span.start <= d.span.end, "{d:?} lies outside the input of {len} bytes");
        assert!(!d.field.is_empty() && !d.to_string().is_empty(), "{d:?} says nothing");
    }
}

fn has(damage: &[Damage], code: Code) -> bool {
    damage.iter().any(|d| d.code == code)
}

fn worse_than_note(damage: &[Damage]) -> bool {
    damage.iter().any(|d| d.code.level() > Level::Note)
}

/// Findings that point at where sectors should be, also where the file ends before them.
const OF_SECTORS: [Code; 3] = [Code::TableBeyondEnd, Code::SectorCut, Code::TableOverlap];

/// Findings point into the file, and those about decompressed bytes at no more of them than there may be.
fn findings_inside(findings: &[Finding], len: usize, most_plain: u64) {
    let all = Span::sized(0, len as u64);
    for f in findings {
        let span = f.span.unwrap_or_default();
        let inside = all.contains(&span) || span.is_empty() || OF_SECTORS.contains(&f.code());
        assert!(inside && span.start <= span.end, "{f:?} lies outside the file of {len} bytes");
        assert!(f.damage.space == Space::File || f.damage.span.end <= most_plain, "{f:?} counts more than was decoded");
        assert!(!f.to_string().is_empty() && !f.message().is_empty(), "{f:?} says nothing");
    }
}

fn worst_of(findings: &[Finding]) -> Option<Level> {
    findings.iter().map(Finding::level).max()
}

/// Whether there are more findings than are listed.
fn has_cut(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.code() == Code::FindingsCut)
}

/// The bytes of a span, which must be inside.
fn bytes(data: &[u8], span: Span) -> &[u8] {
    let range = usize::try_from(span.start).ok().zip(usize::try_from(span.end).ok());
    let bytes = range.and_then(|(start, end)| data.get(start..end));
    assert!(bytes.is_some(), "{span} lies outside the input of {} bytes", data.len());
    bytes.unwrap_or_default()
}
