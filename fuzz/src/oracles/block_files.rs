//! Saves of `VoxelStreamBlockFiles`: the meta file, and files of blocks with their paths.
//!
//! ```text
//! length u8 of the meta file (255: there is none) · meta file
//! for each file: length u8 of its path · path · length u16 little-endian of the file · file
//! ```
//!
//! A length beyond the end of the input means everything up to it.

use voxscope::bytes::{Span, len64};
use voxscope::check;
use voxscope::damage::{Code, Level, Space};
use voxscope::godot::block_files::{Meta, decode_block_file, encode_block_file, name_of, parse_position};
use voxscope::godot::channel::Depth;
use voxscope::godot::region::Format;
use voxscope::save::{Options, Region, Scratch};

use super::{Reach, damage_inside, findings_inside, limits, worse_than_note, worst_of};
use crate::naive::block_files as naive;

/// The length that stands for a meta file that is missing.
const NO_META: u8 = 255;
/// The first bytes of a file, which are read to find its block.
const PREFIX: usize = 9;
/// The most files of one input.
const FILES: usize = 16;

/// The files of an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// The meta file, if there is one.
    pub meta: Option<Vec<u8>>,
    /// Paths below the directory of the save, and files. Paths of raw inputs are never opened.
    pub blocks: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Files {
    /// The files that an input stands for.
    #[must_use]
    pub fn parse(data: &[u8]) -> Self {
        let mut files = Self::default();
        let Some((&length, mut rest)) = data.split_first() else { return files };
        if length != NO_META {
            let meta;
            (meta, rest) = rest.split_at(rest.len().min(length.into()));
            files.meta = Some(meta.to_vec());
        }
        while let Some((&length, after)) = rest.split_first() {
            let (path, after) = after.split_at(after.len().min(length.into()));
            let Some((length, after)) = after.split_first_chunk::<2>() else { break };
            let (file, after) = after.split_at(after.len().min(u16::from_le_bytes(*length).into()));
            files.blocks.push((path.to_vec(), file.to_vec()));
            rest = after;
            if files.blocks.len() == FILES {
                break;
            }
        }
        files
    }

    /// The input that stands for these files; they must fit their lengths.
    #[must_use]
    pub fn join(&self) -> Vec<u8> {
        let mut out = vec![self.meta.as_ref().map_or(NO_META, |meta| meta.len() as u8)];
        out.extend(self.meta.iter().flatten());
        for (path, file) in &self.blocks {
            out.push(path.len() as u8);
            out.extend(path);
            out.extend((file.len() as u16).to_le_bytes());
            out.extend(file);
        }
        out
    }
}

/// The input is a meta file and files of blocks.
pub fn check(data: &[u8]) -> Reach {
    let files = Files::parse(data);
    let (format, is_sound) = files.meta.as_deref().map_or((None, false), meta);
    let mut reach = if format.is_some() { Reach::Header } else { Reach::Refused };
    let mut healthy = is_sound && !files.blocks.is_empty();
    for (path, file) in &files.blocks {
        position(path);
        let found = block(file, format.as_ref());
        reach = reach.max(found.min(Reach::Content));
        healthy &= found == Reach::Healthy;
    }
    if healthy { Reach::Healthy } else { reach }
}

/// A meta file: agrees with the second reader, and is written again as it was read. Returns the layout it gives, and whether it
/// is healthy.
fn meta(data: &[u8]) -> (Option<Format>, bool) {
    let mut damage = Vec::new();
    let found = Meta::decode(data).report_to(&mut damage);
    damage_inside(&damage, Space::File, data.len());
    assert!(damage.iter().all(|d| d.code == Code::BlockFilesMeta), "{damage:?}");
    assert!(found.is_some() || !damage.is_empty(), "not read, and nobody says why");
    let read = found.filter(|_| damage.is_empty()).map(|meta| {
        let codes = meta.depths.unwrap_or_default().map(Depth::code);
        (meta.lod_count.unwrap_or(0), meta.block_size_po2.unwrap_or(0), codes)
    });
    assert_eq!(read, naive::meta(data), "the naive reader reads another meta file, {damage:?}");
    if let (Some(meta), true) = (found, damage.is_empty()) {
        let mut again = Vec::new();
        let written = meta.encode();
        assert_eq!(Meta::decode(&written).report_to(&mut again), Some(meta), "read otherwise than it was written");
        assert!(again.is_empty() && (written == data || data.len() != written.len()), "{again:?}");
    }
    (found.and_then(|meta| meta.format()), damage.is_empty())
}

/// The name of a file of a block has one position, and a position has one name.
fn position(path: &[u8]) {
    let Ok(path) = std::str::from_utf8(path) else { return };
    let name = path.rsplit('/').next().unwrap_or(path);
    if let Some(stem) = name.strip_suffix(".vxb")
        && let Some(position) = parse_position(stem)
    {
        assert_eq!(name_of(position), name, "a name of {position:?}");
    }
    let number = |at: usize| {
        let bytes = path.as_bytes().get(4 * at..4 * at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, i32::from_le_bytes)
    };
    let position = [number(0), number(1), number(2)];
    let name = name_of(position);
    assert_eq!(name.strip_suffix(".vxb").and_then(parse_position), Some(position), "{name}");
}

/// The file of a block: its header agrees with the second reader, and damage of its block is a finding.
fn block(data: &[u8], format: Option<&Format>) -> Reach {
    let mut damage = Vec::new();
    let prefix = &data[..data.len().min(PREFIX)];
    let header = decode_block_file(prefix, len64(data), format).report_to(&mut damage);
    damage_inside(&damage, Space::File, data.len());
    let naive = naive::block(data);
    assert_eq!(header.is_some(), naive.is_some(), "the naive reader disagrees, {damage:?}");
    let (Some(header), Some(naive)) = (header, naive) else {
        assert!(matches!(damage.as_slice(), [d] if d.code == Code::BlockFileHeader), "not read, and why: {damage:?}");
        return Reach::Refused;
    };
    assert!(header.is_single_block());
    let trailing: Vec<_> = damage.iter().map(|d| (d.code, d.span.len())).collect();
    let expected = (naive.trailing > 0).then_some((Code::BlockFileTrailing, naive.trailing));
    assert_eq!(trailing, expected.into_iter().collect::<Vec<_>>(), "bytes after the block");

    let options = Options::default().limits(limits());
    let Ok(region) = Region::load(data, header, 0, [0; 3], &options) else { unreachable!("memory does not fail") };
    assert!(region.damage.is_empty(), "a file without a table has damage in it: {:?}", region.damage);
    let findings = check::region(&region, "b");
    findings_inside(&findings, data.len(), limits().block_bytes);
    let [listed] = region.entries[..] else { panic!("{} blocks in the file of one", region.entries.len()) };
    let mut scratch = Scratch::default();
    let Ok(view) = region.view(listed.entry, &mut scratch) else { unreachable!("memory does not fail") };
    // A size of zero may be that of a zeroed block, which reaches to the end of the file.
    let end = if naive.container.is_empty() { len64(data) } else { 9 + naive.container.len() as u64 };
    assert!(Span::new(5, end).contains(&view.stored.span), "{} of a block up to {end}", view.stored.span);
    assert!(naive.missing == 0 || worse_than_note(view.damage), "a block is cut, and nobody says so");
    for d in view.damage {
        let said = |f: &check::Finding| f.damage == *d || (d.code == Code::BlockZeroed && f.code() == d.code);
        assert!(findings.iter().any(said), "{d:?} is no finding");
    }
    let passed = worst_of(&findings).is_none_or(|level| level == Level::Note);
    match (view.block.is_some(), passed && damage.is_empty()) {
        (true, true) => {
            assert_eq!(encode_block_file(naive.container).as_deref(), Some(data), "not written as it was read");
            Reach::Healthy
        }
        (true, false) => Reach::Content,
        _ => Reach::Header,
    }
}
