//! Data in a file of its own, without the save around it: a block, a container, instance data, an array.
//!
//! The documents say that blocks go "to files, network or databases", and that data without compression has no container.
//! The kind is inferred by trying each reader on the whole file; a kind is accepted only if nothing is wrong with the data.

use std::path::Path;

use crate::bytes::Span;
use crate::damage::Damage;
use crate::godot::block::{Block, BlockLayout};
use crate::godot::byte_order::ByteOrder;
use crate::godot::container::{Container, Decoder, Mode};
use crate::godot::instances::Instances;
use crate::limits::Limits;
use crate::printable;
use crate::save::arrays;
use crate::save::block_layout::{self, ShownLayout};
use crate::save::scan::is_foreign_database;
use crate::save::view::decode_in_order;
use crate::source::{FileSource, OpenError, Source};
use crate::voxel_map::npy::{MAGIC, Npy, PREFIX_BYTES};

/// A kind of bare data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BareKind {
    /// Block data without a container.
    Block,
    /// A container with block data or instance data.
    Container,
    /// Instance data without a container.
    Instances,
    /// An array of numbers.
    Npy,
}

impl BareKind {
    /// Every kind, in the order in which they are tried.
    pub const ALL: [Self; 4] = [Self::Npy, Self::Container, Self::Instances, Self::Block];

    /// `block`, `container`, `instances` or `npy`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Container => "container",
            Self::Instances => "instances",
            Self::Npy => "npy",
        }
    }

    const fn why(self) -> &'static str {
        match self {
            Self::Block => "the file is block data from its version to its epilogue",
            Self::Container => "the file decompresses to data that is whole up to its epilogue",
            Self::Instances => "the file is instance data from its version to its epilogue",
            Self::Npy => "the file begins with 0x93 and NUMPY",
        }
    }
}

/// What a file holds when it is read as one kind.
#[derive(Debug)]
pub struct Bare<'a> {
    /// The kind.
    pub kind: BareKind,
    /// The container, if the kind has one.
    pub container: Option<Container<'a>>,
    /// The block, if there is one.
    pub block: Option<Block<'a>>,
    /// The instances, if there are any.
    pub instances: Option<Instances<'a>>,
    /// The header of the array.
    pub npy: Option<Npy>,
    /// The layout of a block of version 1, if it was inferred from the bytes and not given.
    pub layout: Option<ShownLayout>,
    /// What is wrong with it.
    pub damage: Vec<Damage>,
}

/// A kind that was tried, and why the file is not of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The kind.
    pub kind: BareKind,
    /// Why not, as a clause.
    pub why: String,
}

/// Opens a lone file. The path given by the user may be a link, as that of a save may.
///
/// # Errors
/// When it cannot be opened.
pub fn open_file(path: &Path) -> Result<FileSource, OpenError> {
    FileSource::open(&std::fs::canonicalize(path)?)
}

/// The bytes of a lone file, as many as the limit for stored blocks allows.
///
/// # Errors
/// When it cannot be opened or read.
pub fn read_file(path: &Path, limits: &Limits) -> Result<Vec<u8>, OpenError> {
    let source = open_file(path)?;
    let mut bytes = Vec::new();
    source.read_into(0, crate::bytes::index(source.len().min(limits.stored_bytes)), &mut bytes)?;
    Ok(bytes)
}

/// Reads bytes as a kind. Blocks of version 1 need a layout; it is inferred if none is given.
pub fn read<'a>(
    kind: BareKind,
    bytes: &'a [u8],
    layout: Option<&BlockLayout>,
    limits: &Limits,
    decoder: &'a mut Decoder,
    reversed: &'a mut Vec<u8>,
) -> Bare<'a> {
    let mut bare =
        Bare { kind, container: None, block: None, instances: None, npy: None, layout: None, damage: Vec::new() };
    let shown = |bytes: &[u8]| block_layout::infer(bytes).filter(|_| layout.is_none());
    match kind {
        BareKind::Npy => {
            let prefix = bytes.get(..PREFIX_BYTES).unwrap_or(bytes);
            bare.npy = Npy::decode(prefix, bytes.len() as u64).report_to(&mut bare.damage);
        }
        BareKind::Block => {
            let mut plain = bytes;
            bare.layout = shown(bytes);
            let layout = layout.or(bare.layout.as_ref().map(|shown| &shown.layout));
            bare.block =
                Some(decode_in_order(&mut plain, reversed, layout, limits, &mut bare.damage, ByteOrder::default));
        }
        BareKind::Instances => bare.instances = Some(Instances::decode(bytes).report_to(&mut bare.damage)),
        BareKind::Container => {
            let mut packed = bytes;
            if let Some(rest) = after_size(bytes)
                && !decoder.decode(bytes, limits).report_to(&mut Vec::new()).whole
            {
                packed = rest;
            }
            let mut container = decoder.decode(packed, limits).report_to(&mut bare.damage);
            if packed.len() < bytes.len() {
                let Span { start, end } = container.body;
                container.body = Span::new(start.saturating_add(SIZE_BYTES), end.saturating_add(SIZE_BYTES));
                bare.damage.iter_mut().for_each(|damage| *damage = damage.shifted(SIZE_BYTES));
            }
            bare.container = Some(container);
            if container.mode.is_none() || container.plain.is_empty() {
                return bare;
            }
            let (mut of_block, mut of_instances) = (Vec::new(), Vec::new());
            let instances = Instances::decode(container.plain).report_to(&mut of_instances);
            let of_version_1 = shown(container.plain);
            let layout = layout.or(of_version_1.as_ref().map(|shown| &shown.layout));
            let plain = &mut container.plain;
            let block = decode_in_order(plain, reversed, layout, limits, &mut of_block, ByteOrder::default);
            // Instance data begins with 0 or 1 like block data of version 1, so the one without damage counts.
            if of_instances.is_empty() && (!of_block.is_empty() || of_version_1.is_some()) {
                bare.instances = Some(instances);
            } else {
                bare.layout = of_version_1;
                bare.block = Some(block);
                bare.container = Some(container);
                bare.damage.append(&mut of_block);
            }
        }
    }
    bare
}

/// Bytes of the size before a container in a region file.
const SIZE_BYTES: u64 = 4;

/// The container behind its size, when the file is a block as it is in the sectors of a region, zeros to their end included:
/// `repair` leaves such files in `lost+found`.
fn after_size(bytes: &[u8]) -> Option<&[u8]> {
    let (size, rest) = bytes.split_first_chunk::<4>()?;
    let (packed, padding) = rest.split_at_checked(crate::bytes::index(u32::from_le_bytes(*size).into()))?;
    padding.iter().all(|byte| *byte == 0).then_some(packed)
}

impl Bare<'_> {
    /// What the shape and the values of an array show, a clause each; `bytes` are those of the file.
    #[must_use]
    pub fn array_words(&self, bytes: &[u8]) -> Vec<String> {
        self.npy.as_ref().map(|npy| arrays::describe_values(npy, bytes)).unwrap_or_default()
    }

    /// What was read, a clause each: container, block or instances, array.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let mut out = Vec::new();
        if let Some(container) = &self.container {
            let bytes = printable::count(container.plain.len() as u64, "byte");
            out.push(format!("container {}, {bytes} decompressed", container.mode.map_or("unknown", Mode::name)));
        }
        if let Some(block) = &self.block {
            let [x, y, z] = block.size;
            out.push(format!("block of version {}, {x} x {y} x {z} voxels", block.version));
        }
        if let Some(shown) = &self.layout {
            let (how, why) = shown.how();
            out.push(format!("size and depths {how}: {why}"));
        }
        if let Some(instances) = &self.instances {
            let layers = printable::count(instances.layers.len() as u64, "layer");
            out.push(format!("instances of version {}, {layers}", instances.version));
        }
        if let Some(npy) = &self.npy {
            let shape: Vec<String> = npy.shape.iter().map(u64::to_string).collect();
            out.push(format!("array {} [{}]", npy.dtype.name(), shape.join(", ")));
        }
        out.extend(self.damage.iter().map(ToString::to_string));
        out
    }

    /// Why the file is not of this kind; `None` if it is.
    fn refuted(&self) -> Option<String> {
        if let Some(damage) = self.damage.iter().find(|d| d.code.hides_data()) {
            return Some(damage.to_string());
        }
        match self.kind {
            BareKind::Npy => None,
            BareKind::Container => {
                let holds = self.block.is_some() || self.instances.is_some();
                (!holds).then(|| "there is nothing in the container".to_owned())
            }
            BareKind::Block | BareKind::Instances => None,
        }
    }
}

/// Infers the kind of a file's bytes.
///
/// # Errors
/// What was tried, if the bytes are of no kind.
pub fn infer(
    bytes: &[u8],
    layout: Option<&BlockLayout>,
    limits: &Limits,
) -> Result<(BareKind, &'static str), Vec<Tried>> {
    // Nothing else begins so: a damaged array is an array too.
    if bytes.starts_with(&MAGIC) {
        return Ok((BareKind::Npy, BareKind::Npy.why()));
    }
    let mut tried = Vec::new();
    for kind in BareKind::ALL {
        let mut decoder = Decoder::default();
        let mut reversed = Vec::new();
        let bare = read(kind, bytes, layout, limits, &mut decoder, &mut reversed);
        match bare.refuted() {
            // A block of version 1 that begins with a raw channel could be a container without compression. Where only an
            // inferred layout makes it one, block data as it is is the simpler reading.
            None if kind == BareKind::Container
                && bare.layout.is_some_and(|shown| is_block(bytes, shown.pass, limits)) =>
            {
                return Ok((BareKind::Block, BareKind::Block.why()));
            }
            None => return Ok((kind, kind.why())),
            Some(why) => tried.push(Tried { kind, why }),
        }
    }
    Err(tried)
}

/// Whether bytes are block data without a container, of a layout that is at least as usual.
fn is_block(bytes: &[u8], pass: usize, limits: &Limits) -> bool {
    let (mut decoder, mut reversed) = (Decoder::default(), Vec::new());
    let bare = read(BareKind::Block, bytes, None, limits, &mut decoder, &mut reversed);
    bare.refuted().is_none() && bare.layout.is_none_or(|shown| shown.pass <= pass)
}

/// Bytes of a file that are read to describe it: only small files can be bare data of a block.
const LONE: u64 = 1 << 20;

/// Entries of a directory that are described.
const ENTRIES: usize = 24;

/// What is in a directory that has no save, and why each entry is not one: a line for each.
#[must_use]
pub fn describe_directory(dir: &Path, limits: &Limits) -> Vec<String> {
    let Ok(list) = std::fs::read_dir(dir) else { return Vec::new() };
    let mut entries: Vec<_> = list.filter_map(Result::ok).collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    if entries.is_empty() {
        return vec!["the directory is empty".to_owned()];
    }
    let more = entries.len().saturating_sub(ENTRIES);
    let mut lines: Vec<String> = entries
        .iter()
        .take(ENTRIES)
        .map(|entry| {
            let name = printable::path(Path::new(&entry.file_name()));
            let what = match entry.file_type() {
                Ok(kind) if kind.is_symlink() => "a symbolic link, which is not followed".to_owned(),
                Ok(kind) if kind.is_dir() => "a directory without a save in it".to_owned(),
                Ok(kind) if kind.is_file() => describe_file(&entry.path(), limits),
                Ok(_) => "neither a file nor a directory".to_owned(),
                Err(error) => error.to_string(),
            };
            format!("{name}: {what}")
        })
        .collect();
    if more > 0 {
        lines.push(format!("and {} more", printable::grouped(more as u64)));
    }
    lines.extend(arrays::describe_together(dir));
    lines
}

/// What a lone file looks like that is no save but bare data, as a noun; `None` if it is of no kind.
#[must_use]
pub fn describe_lone(path: &Path, limits: &Limits) -> Option<&'static str> {
    let bytes = read_file(path, &Limits { stored_bytes: limits.stored_bytes.min(LONE), ..*limits }).ok()?;
    Some(match infer(&bytes, None, limits).ok()?.0 {
        BareKind::Block => "block data without a container",
        BareKind::Container => "a container with the data of a block or of instances",
        BareKind::Instances => "instance data without a container",
        BareKind::Npy => "an array of numbers (.npy)",
    })
}

/// What a file is that belongs to no save.
fn describe_file(path: &Path, limits: &Limits) -> String {
    let bytes = match read_file(path, &Limits { stored_bytes: limits.stored_bytes.min(LONE), ..*limits }) {
        Ok(bytes) => bytes,
        Err(error) => return error.to_string(),
    };
    if bytes.is_empty() {
        return "an empty file".to_owned();
    }
    if bytes.starts_with(&MAGIC) {
        return format!("an array without map_data.json: {}", arrays::describe(path));
    }
    if is_foreign_database(path) {
        return "an SQLite database without the tables of a stream (`meta` and `blocks`)".to_owned();
    }
    match infer(&bytes, None, limits) {
        Ok((kind, _)) => format!("bare data: `voxscope show FILE --as {}` shows it", kind.name()),
        Err(_) => {
            let first: Vec<String> = bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
            format!("begins with {}, which is no file of a save", first.join(" "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::godot::container;

    /// A block of version 4 with 2 x 2 x 2 voxels, all channels uniform.
    fn block() -> Vec<u8> {
        let mut bytes = vec![4, 2, 0, 2, 0, 2, 0];
        bytes.extend([1, 7]);
        bytes.extend([1, 0].repeat(7));
        bytes.extend([0x0d, 0xf0, 0x0d, 0x90]);
        bytes
    }

    /// Instance data without layers.
    fn instances() -> Vec<u8> {
        [&[1, 0][..], &16f32.to_le_bytes(), &[0x0d, 0xf0, 0x0d, 0x90]].concat()
    }

    fn kind(bytes: &[u8]) -> Option<BareKind> {
        infer(bytes, None, &Limits::DEFAULT).ok().map(|(kind, _)| kind)
    }

    #[test]
    fn the_kind_of_bare_data_is_inferred() {
        assert_eq!(kind(&block()), Some(BareKind::Block));
        assert_eq!(kind(&instances()), Some(BareKind::Instances));
        assert_eq!(kind(&[crate::voxel_map::npy::header("<i4", &[1]), vec![0; 4]].concat()), Some(BareKind::Npy));
        for mode in Mode::ALL.into_iter().chain([Mode::Lz4WrongOrder]) {
            for data in [block(), instances()] {
                let mut packed = Vec::new();
                container::encode(mode, &data, &mut packed);
                assert_eq!(kind(&packed), Some(BareKind::Container), "{mode:?}");
            }
        }
        for other in [&b""[..], b"text", &[2, 0, 0, 0, 0, 0], &block()[..20]] {
            let tried = infer(other, None, &Limits::DEFAULT).unwrap_err();
            assert_eq!(tried.len(), BareKind::ALL.len(), "{other:?}");
        }
    }

    #[test]
    fn a_container_may_have_its_size_before_it() {
        for mode in [Mode::Plain, Mode::Lz4BigEndian, Mode::Lz4, Mode::Zstd] {
            let mut packed = Vec::new();
            container::encode(mode, &block(), &mut packed);
            let size = u32::try_from(packed.len()).unwrap().to_le_bytes();
            for padding in [0, 300] {
                let stored = [&size[..], &packed, &vec![0; padding]].concat();
                assert_eq!(kind(&stored), Some(BareKind::Container), "{mode:?}, {padding} zeros");
            }
            // The declared size of the container, one byte behind its mode.
            if mode != Mode::Plain {
                let mut stored = [&size[..], &packed].concat();
                stored[5..9].copy_from_slice(&[0xff; 4]);
                let (mut decoder, mut reversed) = (Decoder::default(), Vec::new());
                let bare = read(BareKind::Container, &stored, None, &Limits::DEFAULT, &mut decoder, &mut reversed);
                let span = bare.damage.first().unwrap().span;
                assert!(span.start >= 4 && span.end <= stored.len() as u64, "{mode:?}: {span}");
            }
        }
    }

    #[test]
    fn a_block_of_version_1_needs_a_layout() {
        let bytes = [&[1, 7][..], &[1, 0].repeat(7), &[0x0d, 0xf0, 0x0d, 0x90]].concat();
        let layout = BlockLayout { size: [4; 3], depths: Default::default() };
        let found = infer(&bytes, Some(&layout), &Limits::DEFAULT).unwrap();
        assert_eq!(found.0, BareKind::Block);
        let read = |layout: Option<&BlockLayout>| {
            let (mut decoder, mut reversed) = (Decoder::default(), Vec::new());
            let bare = read(BareKind::Block, &bytes, layout, &Limits::DEFAULT, &mut decoder, &mut reversed);
            assert!(bare.damage.is_empty(), "{:?}", bare.damage);
            (bare.block.unwrap().size, bare.layout.map(|shown| shown.is_only))
        };
        assert_eq!(read(Some(&layout)), ([4; 3], None));
        // Without one it is inferred; uniform channels fit every size.
        assert_eq!(kind(&bytes), Some(BareKind::Block));
        assert_eq!(read(None), ([16; 3], Some(false)));
    }

    #[test]
    fn a_block_of_version_1_is_recognized_raw_and_in_every_container() {
        let voxels: Vec<u8> = (0..4096).map(|n| u8::from(n % 16 < 7)).collect();
        for first in [[&[0][..], &voxels].concat(), vec![1, 3]] {
            let bytes = [&first[..], &[0], &voxels, &[1, 0].repeat(6), &[0x0d, 0xf0, 0x0d, 0x90]].concat();
            assert_eq!(kind(&bytes), Some(BareKind::Block));
            for mode in [Mode::Plain, Mode::Lz4BigEndian, Mode::Lz4, Mode::Zstd, Mode::Headerless] {
                let mut packed = Vec::new();
                container::encode(mode, &bytes, &mut packed);
                assert_eq!(kind(&packed), Some(BareKind::Container), "{mode:?}");
                let (mut decoder, mut reversed) = (Decoder::default(), Vec::new());
                let bare = read(BareKind::Container, &packed, None, &Limits::DEFAULT, &mut decoder, &mut reversed);
                assert_eq!(bare.block.unwrap().size, [16; 3], "{mode:?}");
                assert_eq!(bare.layout.map(|shown| shown.is_only), Some(true), "{mode:?}");
            }
        }
    }

    #[test]
    fn a_container_says_what_is_in_it() {
        let mut packed = Vec::new();
        container::encode(Mode::Lz4, &instances(), &mut packed);
        let mut decoder = Decoder::default();
        let mut reversed = Vec::new();
        let bare = read(BareKind::Container, &packed, None, &Limits::DEFAULT, &mut decoder, &mut reversed);
        assert!(bare.damage.is_empty() && bare.block.is_none() && bare.instances.is_some());
    }
}
