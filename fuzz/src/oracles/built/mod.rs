//! Structure-aware fuzzing: the input's choices make a valid file, which must be found healthy. It is then damaged in one
//! named way, and the damage must be reported with its code at its place.
//!
//! An input is a byte for the kind of damage (0: none), eight bytes for the choices of the damage, and the rest for the
//! model. So a mutation of one part leaves the others alone, and seeds are simple to make.

pub mod block;
pub mod block_files;
mod block_files_kinds;
mod block_kinds;
pub mod container;
pub mod explorer;
pub mod forest;
pub mod instances;
pub mod map_json;
mod npy_kinds;
pub mod npy_map;
pub mod pak;
mod pak_kinds;
pub mod region;
mod region_kinds;
pub mod stream;
mod stream_kinds;
pub mod stream_log;
pub mod variant;

use std::fmt::{Debug, Write as _};

use arbitrary::{Result, Unstructured};
use voxscope::bytes::Span;
use voxscope::check::Finding;
use voxscope::damage::{Code, Damage, Level, Space};
use voxscope::voxel_map::grid::LayerFile;

use super::Reach;

/// A healthy file that the choices of an input make.
pub trait Model: Debug + Sized + 'static {
    /// Makes one; missing choices are zeros.
    fn make(choices: &mut Unstructured<'_>) -> Result<Self>;

    /// Its bytes, by an encoder that is not the library's where there is one.
    fn bytes(&self) -> Vec<u8>;

    /// What the library reports about a file that takes the place of this one.
    fn look(&self, bytes: &[u8]) -> Vec<Seen>;

    /// Compares what the library reads from the healthy bytes with the model, and the bytes it writes with these.
    fn compare(&self, bytes: &[u8]);

    /// Checks the properties that hold for any bytes.
    fn any(&self, _bytes: &[u8]) {}

    /// Every kind of damage.
    fn kinds() -> &'static [Kind<Self>];
}

/// A named kind of damage.
pub struct Kind<M: 'static> {
    /// Its name, which names its seed and its failures.
    pub name: &'static str,
    /// Damages the bytes of a model; `None` where this model cannot have the damage.
    pub apply: fn(&M, Vec<u8>, &mut Dice) -> Option<Case>,
}

/// A damaged file and what must be reported about it.
#[derive(Debug)]
pub struct Case {
    /// The file.
    pub bytes: Vec<u8>,
    /// What must be reported: all of these.
    pub expected: Vec<Expected>,
}

/// One thing that must be reported.
#[derive(Clone, Debug)]
pub struct Expected {
    /// One of these codes; an empty list means any code above note.
    pub codes: Vec<Code>,
    /// Where.
    pub place: Place,
    /// Of which block or file.
    pub whose: Option<Whose>,
}

/// What is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The block at this position.
    Block([i32; 3]),
    /// This file of a layer.
    LayerFile(LayerFile),
}

/// Where damage must be reported.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// At just these bytes.
    At(Space, Span),
    /// At bytes of the file that touch these.
    Touching(Span),
    /// In the field of this name.
    Field(&'static str),
    /// In the field of this name, at just these bytes of the file.
    FieldAt(&'static str, Span),
    /// Anywhere.
    Anywhere,
}

/// One thing that is reported.
#[derive(Clone, Debug)]
pub struct Seen {
    /// What is wrong, and where in its own bytes.
    pub damage: Damage,
    /// Where in the file.
    pub span: Span,
    /// Of which block or file.
    pub whose: Option<Whose>,
}

impl From<Damage> for Seen {
    fn from(damage: Damage) -> Self {
        Self { damage, span: damage.span, whose: None }
    }
}

impl From<&Finding> for Seen {
    fn from(finding: &Finding) -> Self {
        let span = finding.span.unwrap_or(finding.damage.span);
        let whose = finding.block.and_then(|block| block.position).map(Whose::Block);
        Self { damage: finding.damage, span, whose }
    }
}

impl Case {
    /// A file of which one code must be reported at these bytes.
    #[must_use]
    pub fn at(bytes: Vec<u8>, code: Code, space: Space, start: usize, end: usize) -> Self {
        let place = Place::At(space, Span::new(start as u64, end as u64));
        Self { bytes, expected: vec![Expected { codes: vec![code], place, whose: None }] }
    }

    /// A file of which one of these codes must be reported somewhere.
    #[must_use]
    pub fn of(bytes: Vec<u8>, codes: &[Code], place: Place) -> Self {
        Self { bytes, expected: vec![Expected { codes: codes.to_vec(), place, whose: None }] }
    }

    /// The same, of a block.
    #[must_use]
    pub fn of_block(mut self, block: [i32; 3]) -> Self {
        self.expected.iter_mut().for_each(|expected| expected.whose = Some(Whose::Block(block)));
        self
    }
}

impl Expected {
    fn fits(&self, seen: &Seen) -> bool {
        let code = match self.codes.as_slice() {
            [] => seen.damage.code.level() > Level::Note,
            codes => codes.contains(&seen.damage.code),
        };
        let place = match self.place {
            Place::At(space, span) => seen.damage.space == space && seen.damage.span == span,
            Place::Touching(span) => seen.span.start <= span.end && span.start <= seen.span.end,
            Place::Field(field) => seen.damage.field == field,
            Place::FieldAt(field, span) => seen.damage.field == field && seen.damage.span == span,
            Place::Anywhere => true,
        };
        code && place && self.whose.is_none_or(|whose| seen.whose == Some(whose))
    }
}

/// The choices of a kind of damage: four numbers of 16 bits, used in turn.
#[derive(Debug)]
pub struct Dice {
    numbers: [u16; 4],
    next: usize,
}

impl Dice {
    fn new(choices: &mut Unstructured<'_>) -> Result<Self> {
        Ok(Self { numbers: choices.arbitrary()?, next: 0 })
    }

    /// A number below `n`; 0 if `n` is 0. A quarter of them are one of the last four: faults are often at the ends.
    pub fn below(&mut self, n: usize) -> usize {
        let number = usize::from(self.numbers[self.next % 4]);
        self.next += 1;
        if number >= 0xc000 {
            return n.saturating_sub(1 + number % 4);
        }
        number.checked_rem(n).unwrap_or(0)
    }

    /// A number from `from` to `to`, which must not be less.
    pub fn within(&mut self, from: usize, to: usize) -> usize {
        from + self.below(to - from + 1)
    }

    /// One of them.
    pub fn one<T: Clone>(&mut self, all: &[T]) -> Option<T> {
        let at = self.below(all.len());
        all.get(at).cloned()
    }
}

/// What an input stands for.
struct Made<M: Model> {
    model: M,
    healthy: Vec<u8>,
    damaged: Option<(&'static str, Case)>,
}

fn made<M: Model>(data: &[u8]) -> Result<Made<M>> {
    let mut choices = Unstructured::new(data);
    let number: u8 = choices.arbitrary()?;
    let mut dice = Dice::new(&mut choices)?;
    let model = M::make(&mut choices)?;
    let healthy = model.bytes();
    let kinds = M::kinds();
    let kind = usize::from(number).checked_sub(1).and_then(|n| kinds.get(n % kinds.len()));
    let damaged = kind.and_then(|kind| Some((kind.name, (kind.apply)(&model, healthy.clone(), &mut dice)?)));
    Ok(Made { model, healthy, damaged })
}

/// Builds a file, checks it, damages it, and checks it again.
pub fn check<M: Model>(data: &[u8]) -> Reach {
    let Ok(Made { model, healthy, damaged }) = made::<M>(data) else { return Reach::Refused };
    let seen = model.look(&healthy);
    let worse = seen.iter().find(|seen| seen.damage.code.level() > Level::Note);
    assert!(worse.is_none(), "healthy, and yet {worse:?} is reported of {model:?}");
    let Some((name, case)) = damaged else {
        model.compare(&healthy);
        return Reach::Healthy;
    };
    assert!(case.bytes != healthy || case.expected.is_empty(), "{name} damages nothing of {model:?}");
    let seen = model.look(&case.bytes);
    for expected in &case.expected {
        assert!(seen.iter().any(|seen| expected.fits(seen)), "{name}: expected {expected:?}, but reported is {seen:?}");
    }
    model.any(&case.bytes);
    Reach::Content
}

/// The name of the damage of an input, if any.
pub fn kind_of<M: Model>(data: &[u8]) -> Option<&'static str> {
    made::<M>(data).ok()?.damaged.map(|(name, _)| name)
}

/// The names of all kinds of damage.
pub fn names<M: Model>() -> Vec<&'static str> {
    M::kinds().iter().map(|kind| kind.name).collect()
}

/// An input in words: the model, the damage, what must be reported and what is.
pub fn describe<M: Model>(data: &[u8]) -> String {
    let Ok(Made { model, healthy, damaged }) = made::<M>(data) else { return "too short for a model\n".to_owned() };
    let mut out = format!("model: {model:#?}\nhealthy: {} bytes\n", healthy.len());
    let mut add = |title: &str, seen: Vec<Seen>| {
        let _ = writeln!(out, "{title}: {} findings", seen.len());
        for seen in seen {
            let place = format!("{} {} {}", seen.span, seen.damage.space_name(), seen.damage.span);
            let _ = writeln!(out, "  {} at {place} {:?}: {}", seen.damage.code, seen.whose, seen.damage);
        }
    };
    add("reported of the healthy file", model.look(&healthy));
    if let Some((name, case)) = damaged {
        add("reported of the damaged file", model.look(&case.bytes));
        let _ = writeln!(out, "damage: {name}, {} bytes\nexpected: {:#?}", case.bytes.len(), case.expected);
        let _ = write!(out, "changed: {}", changed(&healthy, &case.bytes));
    }
    out
}

/// Where two files differ first and last, in words.
fn changed(a: &[u8], b: &[u8]) -> String {
    let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let end = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let end = end.min(a.len().min(b.len()) - start);
    let (a, b) = (&a[start..a.len() - end], &b[start..b.len() - end]);
    let hex =
        |bytes: &[u8]| format!("{:02x?}{}", &bytes[..bytes.len().min(16)], if bytes.len() > 16 { " .." } else { "" });
    format!("from {start:#x} on, {} bytes {} became {} bytes {}\n", a.len(), hex(a), b.len(), hex(b))
}

/// `space` in a word.
trait SpaceName {
    fn space_name(&self) -> &'static str;
}

impl SpaceName for Damage {
    fn space_name(&self) -> &'static str {
        match self.space {
            Space::File => "of the file,",
            Space::Block => "of the file, in the block",
        }
    }
}

/// `bytes` with those of `range` replaced by others.
fn spliced(mut bytes: Vec<u8>, range: std::ops::Range<usize>, with: &[u8]) -> Vec<u8> {
    bytes.splice(range, with.iter().copied());
    bytes
}

/// Bytes of a model: mixed, with runs, the same for the same salt.
fn filled(salt: u8, len: usize) -> Vec<u8> {
    let mut state = u32::from(salt).wrapping_mul(0x9e37_79b9) | 1;
    let next = |n: usize| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        // Half of it repeats, as in a world.
        if salt & 1 == 0 && n % 8 < 5 { salt } else { (state >> 8) as u8 }
    };
    (0..len).map(next).collect()
}
