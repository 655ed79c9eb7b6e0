//! What the arrays of a voxel map show of their headers and of the map's description, and what of a damaged description
//! can be read.
//!
//! Three say how large an array is: its header, the description (dim, blockCount), and the length of its file. Where two
//! of them agree to the byte, the third is put right. Nothing else is.

pub mod text;

use std::io;

use crate::bytes::{Span, index};
use crate::damage::{Code, Damage};
use crate::source::Source;
use crate::voxel_map::flags;
use crate::voxel_map::grid::centimetres;
use crate::voxel_map::npy::{Dtype, Npy, PREFIX_BYTES};

/// How long the header of an array is whose header cannot be read: the exporter's are 80 or 96 bytes, NumPy's 128.
const HEADERS: std::ops::RangeInclusive<u64> = 64..=256;

/// What lengths of headers are multiples of.
const ALIGNED: u64 = 16;

/// The beginning of an array without the highest bit of its first byte.
pub const SEVEN_BITS: &[u8] = b"\x13NUMPY";

/// Bytes that a disk writes together.
const SECTOR: u64 = 512;

/// Numbers that are read at once.
const SOME: u64 = 1 << 16;

/// Metres of water that packed voxels can have, in centimetres.
const DEEPEST: i32 = 1_000_000;

/// What an array is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Flags of voxels.
    Data,
    /// Coordinates of blocks.
    Index,
    /// Depths.
    Depth,
}

impl Role {
    /// Whether such numbers can be what it is for.
    const fn accepts(self, dtype: Dtype) -> bool {
        match self {
            Self::Data | Self::Index => dtype.is_integer(),
            Self::Depth => matches!(dtype, Dtype::F32),
        }
    }

    /// The types that the exporter writes.
    const fn dtypes(self) -> &'static [Dtype] {
        match self {
            Self::Data => &[Dtype::I64, Dtype::I32],
            Self::Index => &[Dtype::I32, Dtype::I64],
            Self::Depth => &[Dtype::F32],
        }
    }
}

/// An array, as it is to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Its header; `data` are the bytes that are there.
    pub npy: Npy,
    /// Why its header has to be written anew, if it has.
    pub header: Option<&'static str>,
    /// Numbers that its shape asks for and that are not there.
    pub missing: u64,
    /// Bytes of the file behind its numbers.
    pub behind: u64,
    /// Numbers in a run of zeros that begins before them: they were lost with the header.
    pub zeroed: u64,
    /// Whether the highest bit of every byte was taken away, so that numbers may have changed.
    pub is_seven_bits: bool,
}

impl Array {
    /// An array that is whole.
    fn new(npy: Npy) -> Self {
        Self { npy, header: None, missing: 0, behind: 0, zeroed: 0, is_seven_bits: false }
    }
}

/// How an array is to be read, given the shapes that the description asks for; `Err` says in a few words why it cannot be.
///
/// # Errors
/// What the operating system says.
pub fn array<S: Source>(source: &S, role: Role, asked: &[Vec<u64>]) -> io::Result<Result<Array, &'static str>> {
    let mut damage = Vec::new();
    let mut prefix = Vec::new();
    source.read_into(0, PREFIX_BYTES, &mut prefix)?;
    let npy = Npy::decode(&prefix, source.len()).report_to(&mut damage);
    let Some(npy) = npy else { return unreadable(source, role, asked, &prefix, &damage) };
    if !role.accepts(npy.dtype) {
        return Ok(Err("it is of another type of number"));
    }
    let there = source.len() - npy.data.start;
    let bytes = |shape: &[u64]| bytes_of(shape, npy.dtype);
    if bytes(&npy.shape) != Some(there)
        && let Some(shape) = asked.iter().find(|shape| bytes(shape) == Some(there))
        && *shape != npy.shape
    {
        let data = Span::new(npy.data.start, source.len());
        let npy = Npy { shape: shape.clone(), data, ..npy };
        let why = "its header disagreed with the length of the file, which is that of the description";
        return Ok(Ok(Array { header: Some(why), ..Array::new(npy) }));
    }
    let missing = npy.declared() - npy.there().min(npy.declared());
    let behind = source.len().saturating_sub(npy.data.end);
    Ok(Ok(Array { missing, behind, ..Array::new(npy) }))
}

/// An array whose header cannot be read: its length may still say what it is.
fn unreadable<S: Source>(
    source: &S,
    role: Role,
    asked: &[Vec<u64>],
    prefix: &[u8],
    damage: &[Damage],
) -> io::Result<Result<Array, &'static str>> {
    let other = damage.iter().any(|d| d.code == Code::NpyDtype).then(|| width(prefix)).flatten();
    // Where the length of the header makes sense, it is believed.
    let claimed = prefix.get(8..10).and_then(|b| Some(10 + u64::from(u16::from_le_bytes(*b.first_chunk()?))));
    let claimed = claimed.filter(|n| is_header(*n));
    let mut fitting: Vec<Npy> = Vec::new();
    for shape in asked {
        for dtype in role.dtypes().iter().filter(|dtype| other != Some(dtype.size())) {
            let header = bytes_of(shape, *dtype).and_then(|n| source.len().checked_sub(n));
            let Some(start) = header.filter(|n| is_header(*n) && claimed.is_none_or(|claimed| claimed == *n)) else {
                continue;
            };
            let npy = Npy { data: Span::new(start, source.len()), ..Npy::new(*dtype, shape) };
            if !fitting.contains(&npy) {
                fitting.push(npy);
            }
        }
    }
    let [npy] = fitting.as_slice() else {
        if damage.iter().any(|d| d.code == Code::NpyDtype) {
            return Ok(Err("its numbers are of a type that a map does not have there"));
        }
        return Ok(Err("its header cannot be read, and its length does not determine it"));
    };
    if !makes_sense(source, npy, role)? {
        return Ok(Err("its header cannot be read, and neither can what is behind it"));
    }
    let why = "its header could not be read; the length of the file and the description determine it";
    let zeroed = (zeros_at_start(source)?.saturating_sub(npy.data.start) / npy.dtype.size()).min(npy.declared());
    let is_seven_bits = prefix.starts_with(SEVEN_BITS);
    Ok(Ok(Array { header: Some(why), zeroed, is_seven_bits, ..Array::new(npy.clone()) }))
}

/// The sectors of a disk at the start of a file that are zero, in bytes.
fn zeros_at_start<S: Source>(source: &S) -> io::Result<u64> {
    let (mut at, mut buffer) = (0, Vec::new());
    while at < source.len() {
        source.read_into(at, index(SECTOR.min(source.len() - at)), &mut buffer)?;
        if buffer.iter().any(|byte| *byte != 0) {
            break;
        }
        at += SECTOR;
    }
    Ok(at.min(source.len()))
}

/// Whether a header can have this length.
fn is_header(len: u64) -> bool {
    HEADERS.contains(&len) && len.is_multiple_of(ALIGNED)
}

/// Bytes of a number, by the end of the type's name in a header.
fn width(prefix: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(prefix.get(..256.min(prefix.len()))?).into_owned();
    let descr = text.split_once("descr")?.1.split_once(':')?.1.trim_start().trim_start_matches(['\'', '"']);
    let digits = descr.trim_start_matches(|c: char| !c.is_ascii_digit());
    digits.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn bytes_of(shape: &[u64], dtype: Dtype) -> Option<u64> {
    shape.iter().try_fold(dtype.size(), |n, d| n.checked_mul(*d))
}

/// Whether numbers read so can be what they are for; all zeros are what a power loss leaves behind.
fn makes_sense<S: Source>(source: &S, npy: &Npy, role: Role) -> io::Result<bool> {
    let (mut place, mut any, mut buffer) = (0, false, Vec::new());
    while place < npy.there() {
        npy.read(source, place, SOME, &mut buffer)?;
        any |= buffer.iter().any(|b| *b != 0);
        let fits = match role {
            Role::Data => npy.bits(&buffer).all(|bits| {
                flags::unknown(bits & u64::from(u32::MAX)) == 0
                    && (npy.dtype.size() < 8 || (0..=DEEPEST).contains(&centimetres(bits)))
            }),
            Role::Index => npy.integers(&buffer).all(|n| (0..1 << 27).contains(&n)),
            Role::Depth => true,
        };
        if !fits {
            return Ok(false);
        }
        place += SOME;
    }
    // One block at the origin is all zeros in the index.
    Ok(any || role == Role::Index)
}

/// The bytes of the numbers that belong to a row (an index of the first dimension), where rows are in one piece.
#[must_use]
pub fn row(npy: &Npy, row: u64) -> Span {
    let width = row_numbers(npy);
    npy.span(row.saturating_mul(width), width)
}

/// Numbers of a row.
#[must_use]
pub fn row_numbers(npy: &Npy) -> u64 {
    npy.shape.get(1..).unwrap_or_default().iter().fold(1, |n, d| n.saturating_mul(*d))
}

/// Whether two rows hold the same numbers.
///
/// # Errors
/// What the operating system says.
pub fn same_rows<S: Source>(source: &S, npy: &Npy, a: u64, b: u64) -> io::Result<bool> {
    let (mut one, mut other) = (Vec::new(), Vec::new());
    read_row(source, npy, a, &mut one)?;
    read_row(source, npy, b, &mut other)?;
    Ok(one == other)
}

/// Reads the numbers of a row, as far as they are there.
///
/// # Errors
/// What the operating system says.
pub fn read_row<S: Source>(source: &S, npy: &Npy, number: u64, out: &mut Vec<u8>) -> io::Result<()> {
    if !npy.fortran {
        let span = row(npy, number);
        return source.read_into(span.start, index(span.len()), out);
    }
    out.clear();
    let mut buffer = Vec::new();
    let rows = npy.shape.first().copied().unwrap_or(0);
    for column in 0..row_numbers(npy) {
        npy.read(source, column.saturating_mul(rows).saturating_add(number), 1, &mut buffer)?;
        out.extend_from_slice(&buffer);
    }
    // In the order of the file: the same for every row, which is what matters for comparing.
    Ok(())
}
