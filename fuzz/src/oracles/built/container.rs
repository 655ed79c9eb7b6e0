//! Containers of every mode around a block.
//!
//! No kind damages bytes inside the data: LZ4 has no checksum, so another literal is another voxel and cannot be detected.
//! Mode 0 has no size either: there a cut shows by the block's epilogue, which the target for blocks tests.

use arbitrary::{Result, Unstructured};
use voxscope::damage::{Code, Space};
use voxscope::godot::container::{Decoder, Mode, encode};
use voxscope::save::bare::{self, BareKind};

use super::block::{Plain, layout};
use super::{Case, Dice, Kind, Model, Place, Seen, spliced};
use crate::naive::lz4;
use crate::oracles::{container as raw, limits};

/// A block in a container.
#[derive(Debug)]
pub struct Container {
    mode: Mode,
    plain: Plain,
}

impl Container {
    fn plain(&self) -> &[u8] {
        &self.plain.written.bytes
    }

    /// Bytes before the packed data.
    fn header(&self) -> usize {
        match self.mode {
            Mode::Plain => 1,
            Mode::Headerless => 4,
            _ => 5,
        }
    }
}

impl Container {
    /// In a file of its own, the container is taken for one and its block for a block.
    fn compare_bare(&self, bytes: &[u8]) {
        let layout = self.plain.layout();
        for (kind, bytes) in [(BareKind::Container, bytes), (BareKind::Block, self.plain())] {
            let inferred = bare::infer(bytes, Some(&layout), &limits());
            // The first byte of a block of version 0 is that of a container without compression, and the rest can be
            // whole as both.
            let both = kind == BareKind::Block && bytes.first() == Some(&0);
            let of_both = both && inferred.as_ref().is_ok_and(|(kind, _)| *kind == BareKind::Container);
            assert!(
                of_both || inferred.as_ref().is_ok_and(|(found, _)| *found == kind),
                "{}: {inferred:?}",
                kind.name()
            );
            let (mut decoder, mut reversed) = (Decoder::default(), Vec::new());
            let found = bare::read(kind, bytes, Some(&layout), &limits(), &mut decoder, &mut reversed);
            let version = found.block.map(|block| block.version);
            assert_eq!(version, Some(self.plain.block.version), "another block as {}", kind.name());
        }
    }
}

/// Packs bytes.
pub(super) fn packed(mode: Mode, plain: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    encode(mode, plain, &mut out);
    out
}

/// `declared` in the size field of a container.
pub(super) fn declaring(mode: Mode, container: Vec<u8>, declared: u32) -> Option<Vec<u8>> {
    Some(match mode {
        Mode::Plain => return None,
        Mode::Lz4BigEndian => spliced(container, 1..5, &declared.to_be_bytes()),
        Mode::Headerless => spliced(container, 0..4, &declared.to_le_bytes()),
        Mode::Lz4 | Mode::Zstd | Mode::Lz4WrongOrder => spliced(container, 1..5, &declared.to_le_bytes()),
    })
}

impl Model for Container {
    fn make(u: &mut Unstructured<'_>) -> Result<Self> {
        let (mode, version): (u8, u8) = u.arbitrary()?;
        let layout = layout(u)?;
        let plain = Plain::make(u, 1 + version % 4, &layout)?;
        Ok(Self { mode: Mode::ALL[usize::from(mode) % Mode::ALL.len()], plain })
    }

    fn bytes(&self) -> Vec<u8> {
        packed(self.mode, self.plain())
    }

    fn look(&self, bytes: &[u8]) -> Vec<Seen> {
        let mut damage = Vec::new();
        let _ = Decoder::default().decode(bytes, &limits()).report_to(&mut damage);
        damage.into_iter().map(Seen::from).collect()
    }

    fn compare(&self, bytes: &[u8]) {
        let (mut decoder, mut damage) = (Decoder::default(), Vec::new());
        let found = decoder.decode(bytes, &limits()).report_to(&mut damage);
        assert_eq!(found.mode, Some(self.mode), "another mode");
        assert!(found.whole && damage.is_empty() && found.plain == self.plain(), "other data");
        if matches!(self.mode, Mode::Lz4 | Mode::Lz4BigEndian | Mode::Headerless) {
            let naive = lz4::decode(&bytes[self.header()..], found.plain.len());
            assert_eq!(naive.as_deref(), Ok(found.plain), "the naive decoder gives something else");
        }
        self.compare_bare(bytes);
    }

    fn any(&self, bytes: &[u8]) {
        raw::check(bytes);
    }

    fn kinds() -> &'static [Kind<Self>] {
        const {
            &[
                Kind { name: "declared_size_too_large", apply: declared_size_too_large },
                Kind { name: "declared_size_beyond_the_format", apply: declared_size_beyond_the_format },
                Kind { name: "declared_size_too_small", apply: declared_size_too_small },
                Kind { name: "declared_size_zero", apply: declared_size_zero },
                Kind { name: "mode_unknown", apply: mode_unknown },
                Kind { name: "empty", apply: empty },
                Kind { name: "header_cut", apply: header_cut },
                Kind { name: "data_cut", apply: data_cut },
                Kind { name: "data_trailing", apply: data_trailing },
                Kind { name: "checksum_changed", apply: checksum_changed },
                Kind { name: "match_before_the_start", apply: match_before_the_start },
                Kind { name: "declared_size_in_the_wrong_order", apply: declared_size_in_the_wrong_order },
            ]
        }
    }
}

fn at(bytes: Vec<u8>, code: Code, start: usize, end: usize) -> Option<Case> {
    Some(Case::at(bytes, code, Space::File, start, end))
}

/// Without a byte for the mode, a size that does not fit may read as a mode: only that something is wrong is certain.
fn lie(model: &Container, bytes: Vec<u8>, declared: u32, code: Code, span: (usize, usize)) -> Option<Case> {
    let bytes = declaring(model.mode, bytes, declared)?;
    if model.mode == Mode::Headerless {
        // A first byte of 0 is mode 0, which declares nothing and so has nothing that could not fit.
        return (bytes[0] != 0).then(|| Case::of(bytes, &[], Place::Anywhere));
    }
    at(bytes, code, span.0, span.1)
}

fn declared_size_too_large(model: &Container, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (header, end, plain) = (model.header(), bytes.len(), model.plain().len());
    let declared = plain + dice.within(1, 300);
    let most = if model.mode == Mode::Zstd { usize::MAX } else { (end - header) * 255 };
    if declared > most {
        return None;
    }

    lie(model, bytes, declared as u32, Code::ContainerLength, (header, end))
}

fn declared_size_beyond_the_format(model: &Container, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let declared: u32 = dice.one(&[u32::MAX, u32::MAX - 1, 1 << 31, 1 << 30])?;
    // In the other byte order, 2^30 is the true size of a block of 64 bytes.
    if declared.swap_bytes() as usize == model.plain().len() {
        return None;
    }
    let code = if model.mode == Mode::Zstd { Code::OverLimit } else { Code::ContainerDeclared };
    lie(model, bytes, declared, code, (1, 5))
}

fn declared_size_too_small(model: &Container, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (header, end, plain) = (model.header(), bytes.len(), model.plain().len());
    let declared = dice.within(1, plain - 1) as u32;
    lie(model, bytes, declared, Code::ContainerLength, (header, end))
}

fn declared_size_zero(model: &Container, bytes: Vec<u8>, _: &mut Dice) -> Option<Case> {
    let (header, end) = (model.header(), bytes.len());
    lie(model, bytes, 0, Code::ContainerLength, (header, end))
}

fn declared_size_in_the_wrong_order(model: &Container, mut bytes: Vec<u8>, _: &mut Dice) -> Option<Case> {
    if model.mode != Mode::Lz4BigEndian {
        return None;
    }
    bytes[1..5].reverse();
    at(bytes, Code::ContainerByteOrder, 1, 5)
}

fn mode_unknown(model: &Container, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    if model.mode == Mode::Headerless {
        return None;
    }
    bytes[0] = dice.within(4, 255) as u8;
    at(bytes, Code::ContainerMode, 0, 1)
}

fn empty(_: &Container, _: Vec<u8>, _: &mut Dice) -> Option<Case> {
    at(Vec::new(), Code::ContainerEmpty, 0, 0)
}

fn header_cut(model: &Container, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    if matches!(model.mode, Mode::Plain | Mode::Headerless) {
        return None;
    }
    let end = dice.within(1, 4);
    bytes.truncate(end);
    at(bytes, Code::ContainerCut, 1, end)
}

fn data_cut(model: &Container, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    if model.mode == Mode::Plain {
        return None;
    }
    let end = dice.within(model.header(), bytes.len() - 1);
    bytes.truncate(end);
    if model.mode == Mode::Headerless {
        return (bytes[0] != 0).then(|| Case::of(bytes, &[], Place::Anywhere));
    }
    // Whole sequences that are too few, or one that is cut, or too little to stand for what is declared.
    let codes = [Code::ContainerCorrupt, Code::ContainerLength, Code::ContainerDeclared];
    let place = Place::Touching(voxscope::bytes::Span::new(1, end as u64));
    Some(Case::of(bytes, &codes, place))
}

fn data_trailing(model: &Container, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let end = bytes.len();
    bytes.extend(vec![dice.below(256) as u8; dice.within(1, 40)]);
    let all = bytes.len();
    match model.mode {
        Mode::Plain => None,
        Mode::Zstd => at(bytes, Code::ContainerTrailing, end, all),
        Mode::Headerless => (bytes[0] != 0).then(|| Case::of(bytes, &[], Place::Anywhere)),
        // The last sequence goes on, or others follow it.
        Mode::Lz4 | Mode::Lz4BigEndian | Mode::Lz4WrongOrder => {
            let place = Place::Touching(voxscope::bytes::Span::new(5, all as u64));
            Some(Case::of(bytes, &[Code::ContainerCorrupt, Code::ContainerLength], place))
        }
    }
}

fn checksum_changed(model: &Container, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    if model.mode != Mode::Zstd {
        return None;
    }
    let end = bytes.len();
    bytes[end - 1 - dice.below(4)] ^= dice.within(1, 255) as u8;
    at(bytes, Code::ContainerChecksum, end - 4, end)
}

/// A first sequence that reaches further back than there is anything.
fn match_before_the_start(model: &Container, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    if !matches!(model.mode, Mode::Lz4 | Mode::Lz4BigEndian) {
        return None;
    }
    let offset = dice.one(&[0u16, 3, 200, u16::MAX])?;
    let sequence = [&[0x20, 7, 7][..], &offset.to_le_bytes()].concat();
    let bytes = spliced(bytes, 5..5, &sequence);
    let end = bytes.len();
    at(bytes, Code::ContainerCorrupt, 8, end)
}
