//! What the generated readers need: a stream over bytes, and shared structures that know their root and parent.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::rc::{Rc, Weak};

pub type KResult<T> = Result<T, KError>;

/// Why a structure cannot be read.
#[derive(Clone, Debug, PartialEq)]
pub enum KError {
    /// The bytes end before it.
    Eof { wanted: usize, there: usize },
    /// A value that the description excludes.
    ValidationFailed(ValidationFailedError),
    /// A number that is none of an enumeration.
    UnknownVariant(i64),
    /// Text in another encoding.
    BytesDecodingError { msg: String },
    /// A root or a parent that is gone or has another type.
    NoRelative,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ValidationFailedError {
    pub kind: ValidationKind,
    pub src_path: String,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ValidationKind {
    NotEqual,
    LessThan,
    GreaterThan,
    NotAnyOf,
}

/// A structure that may not be there.
#[derive(Debug)]
pub struct OptRc<T>(Option<Rc<T>>);

impl<T> OptRc<T> {
    pub const fn is_none(&self) -> bool {
        self.0.is_none()
    }
}

impl<T> Default for OptRc<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Clone for OptRc<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Deref for OptRc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect("a structure that the file does not have")
    }
}

/// A structure that owns the one with this field.
#[derive(Debug)]
pub struct SharedType<T>(RefCell<Weak<T>>);

impl<T> Default for SharedType<T> {
    fn default() -> Self {
        Self(RefCell::new(Weak::new()))
    }
}

impl<T> Clone for SharedType<T> {
    fn clone(&self) -> Self {
        Self(RefCell::new(self.0.borrow().clone()))
    }
}

impl<T> SharedType<T> {
    pub fn get(&self) -> KResult<OptRc<T>> {
        self.0.borrow().upgrade().map(|of| OptRc(Some(of))).ok_or(KError::NoRelative)
    }

    pub fn set(&self, of: KResult<OptRc<T>>) {
        *self.0.borrow_mut() = of.ok().and_then(|of| of.0).map_or_else(Weak::new, |of| Rc::downgrade(&of));
    }

    pub const fn get_value(&self) -> &RefCell<Weak<T>> {
        &self.0
    }
}

/// Bytes and a position in them.
#[derive(Clone, Debug, Default)]
pub struct BytesReader {
    bytes: Rc<Vec<u8>>,
    at: Cell<usize>,
}

impl From<Vec<u8>> for BytesReader {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes: Rc::new(bytes), at: Cell::new(0) }
    }
}

pub trait KStream {
    fn clone(&self) -> BytesReader;
    fn size(&self) -> usize;
    fn pos(&self) -> usize;
    fn seek(&self, at: usize) -> KResult<()>;
    fn read_bytes(&self, count: usize) -> KResult<Vec<u8>>;

    fn read_bytes_full(&self) -> KResult<Vec<u8>> {
        self.read_bytes(self.size().saturating_sub(self.pos()))
    }

    fn read_array<const N: usize>(&self) -> KResult<[u8; N]> {
        Ok(self.read_bytes(N)?.try_into().expect("as many bytes as were asked for"))
    }

    fn read_u1(&self) -> KResult<u8> {
        self.read_array().map(u8::from_le_bytes)
    }

    fn read_u2le(&self) -> KResult<u16> {
        self.read_array().map(u16::from_le_bytes)
    }

    fn read_s2le(&self) -> KResult<i16> {
        self.read_array().map(i16::from_le_bytes)
    }

    fn read_u4le(&self) -> KResult<u32> {
        self.read_array().map(u32::from_le_bytes)
    }

    fn read_u4be(&self) -> KResult<u32> {
        self.read_array().map(u32::from_be_bytes)
    }

    fn read_s4le(&self) -> KResult<i32> {
        self.read_array().map(i32::from_le_bytes)
    }

    fn read_f4le(&self) -> KResult<f32> {
        self.read_array().map(f32::from_le_bytes)
    }
}

impl KStream for BytesReader {
    fn clone(&self) -> BytesReader {
        Clone::clone(self)
    }

    fn size(&self) -> usize {
        self.bytes.len()
    }

    fn pos(&self) -> usize {
        self.at.get()
    }

    fn seek(&self, at: usize) -> KResult<()> {
        self.at.set(at);
        Ok(())
    }

    fn read_bytes(&self, count: usize) -> KResult<Vec<u8>> {
        let rest = self.bytes.get(self.at.get()..).unwrap_or_default();
        let read = rest.get(..count).ok_or(KError::Eof { wanted: count, there: rest.len() })?;
        self.at.set(self.at.get() + count);
        Ok(read.to_vec())
    }
}

/// A structure of a description.
pub trait KStruct: Default + 'static {
    type Root: KStruct;
    type Parent: KStruct;

    fn read<S: KStream>(
        self_rc: &OptRc<Self>,
        io: &S,
        root: SharedType<Self::Root>,
        parent: SharedType<Self::Parent>,
    ) -> KResult<()>;

    /// Reads another structure. One without a root is its own.
    fn read_into<S: KStream, T: KStruct>(
        io: &S,
        root: Option<SharedType<T::Root>>,
        parent: Option<SharedType<T::Parent>>,
    ) -> KResult<OptRc<T>> {
        let made = Rc::new(T::default());
        let root = root.unwrap_or_else(|| {
            let root = SharedType::default();
            let any: Rc<dyn Any> = Rc::<T>::clone(&made);
            root.set(any.downcast::<T::Root>().map(|of| OptRc(Some(of))).map_err(|_| KError::NoRelative));
            root
        });
        let made = OptRc(Some(made));
        T::read(&made, io, root, parent.unwrap_or_default())?;
        Ok(made)
    }
}

/// Reads a whole file.
pub fn read<T: KStruct>(bytes: &[u8]) -> KResult<OptRc<T>> {
    T::read_into::<_, T>(&BytesReader::from(bytes.to_vec()), None, None)
}

// The generated readers infer the type of the argument from this one.
#[allow(clippy::ptr_arg)]
pub fn bytes_to_str(bytes: &Vec<u8>, encoding: &str) -> KResult<String> {
    let wrong = || KError::BytesDecodingError { msg: format!("this is not {encoding}") };
    if bytes.is_ascii() { String::from_utf8(bytes.clone()).map_err(|_| wrong()) } else { Err(wrong()) }
}

pub fn process_zlib(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut plain = Vec::new();
    let mut zlib = flate2::read::ZlibDecoder::new(bytes);
    std::io::Read::read_to_end(&mut zlib, &mut plain).map_err(|error| error.to_string())?;
    Ok(plain)
}
