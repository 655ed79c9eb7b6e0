//! What must hold for any input, one file a format.
//!
//! Each `check` panics with the property that failed and says how far the input got. The library's own tests take this
//! directory in by path, so it uses nothing but `voxscope`, the standard library and `arbitrary`.

pub mod block;
pub mod container;
pub mod forest_meta;
pub mod map_json;
pub mod npy_map;
pub mod pak;
pub mod region_v3;
pub mod replay;
pub mod variant;

use voxscope::bytes::Span;
use voxscope::check::Finding;
use voxscope::damage::{Code, Damage, Level, Space};
use voxscope::limits::Limits;

/// Looks at one input.
pub type Oracle = fn(&[u8]) -> Reach;

/// Every oracle, by the name of its target. The tests hold this list against the targets and the corpora there are.
pub const ALL: &[(&str, Oracle)] = &[
    ("block", block::check),
    ("container", container::check),
    ("forest_meta", forest_meta::check),
    ("map_json", map_json::check),
    ("npy_map", npy_map::check),
    ("pak", pak::check),
    ("region_v3", region_v3::check),
    ("variant", variant::check),
];

/// How far an input got. A target whose inputs all stop at the header tests nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
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
