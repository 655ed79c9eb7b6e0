// This is a generated file! Please edit source .ksy file and use kaitai-struct-compiler to rebuild

#![allow(unused_imports)]
#![allow(non_snake_case)]
#![allow(non_camel_case_types)]
#![allow(irrefutable_let_patterns)]
#![allow(unused_comparisons)]

use crate::runtime::*;
use std::convert::{TryFrom, TryInto};
use std::cell::{Ref, Cell, RefCell};
use std::rc::{Rc, Weak};

/**
 * Chunks as zlib streams in blocks of 4,096 bytes. first_block_offset is taken in blocks here; one passage of the notes
 * counts it in bytes. See section 8 of ../formats.md.
 */

#[derive(Default, Debug, Clone)]
pub struct PakRegion {
    pub _root: SharedType<PakRegion>,
    pub _parent: SharedType<PakRegion>,
    pub _self: SharedType<Self>,
    tag: RefCell<Vec<u8>>,
    version_number: RefCell<i32>,
    record_count: RefCell<i32>,
    first_block_offset: RefCell<i32>,
    records: RefCell<Vec<OptRc<PakRegion_Record>>>,
    _io: RefCell<BytesReader>,
}
impl KStruct for PakRegion {
    type Root = PakRegion;
    type Parent = PakRegion;

    fn read<S: KStream>(
        self_rc: &OptRc<Self>,
        _io: &S,
        _root: SharedType<Self::Root>,
        _parent: SharedType<Self::Parent>,
    ) -> KResult<()> {
        *self_rc._io.borrow_mut() = _io.clone();
        self_rc._root.set(_root.get());
        self_rc._parent.set(_parent.get());
        self_rc._self.set(Ok(self_rc.clone()));
        let _rrc = self_rc._root.get_value().borrow().upgrade();
        let _prc = self_rc._parent.get_value().borrow().upgrade();
        let _r = _rrc.as_ref().unwrap();
        *self_rc.tag.borrow_mut() = _io.read_bytes(4 as usize)?.into();
        *self_rc.version_number.borrow_mut() = _io.read_s4le()?.into();
        *self_rc.record_count.borrow_mut() = _io.read_s4le()?.into();
        if !(((*self_rc.record_count() as i32) >= (0 as i32))) {
            return Err(KError::ValidationFailed(ValidationFailedError { kind: ValidationKind::LessThan, src_path: "/seq/2".to_string() }));
        }
        *self_rc.first_block_offset.borrow_mut() = _io.read_s4le()?.into();
        *self_rc.records.borrow_mut() = Vec::new();
        let l_records = *self_rc.record_count();
        for _i in 0..l_records {
            let t = Self::read_into::<_, PakRegion_Record>(&*_io, Some(self_rc._root.clone()), Some(self_rc._self.clone()))?.into();
            self_rc.records.borrow_mut().push(t);
        }
        Ok(())
    }
}
impl PakRegion {
}

/**
 * not documented
 */
impl PakRegion {
    pub fn tag(&self) -> Ref<'_, Vec<u8>> {
        self.tag.borrow()
    }
}
impl PakRegion {
    pub fn version_number(&self) -> Ref<'_, i32> {
        self.version_number.borrow()
    }
}
impl PakRegion {
    pub fn record_count(&self) -> Ref<'_, i32> {
        self.record_count.borrow()
    }
}
impl PakRegion {
    pub fn first_block_offset(&self) -> Ref<'_, i32> {
        self.first_block_offset.borrow()
    }
}
impl PakRegion {
    pub fn records(&self) -> Ref<'_, Vec<OptRc<PakRegion_Record>>> {
        self.records.borrow()
    }
}
impl PakRegion {
    pub fn _io(&self) -> Ref<'_, BytesReader> {
        self._io.borrow()
    }
}

#[derive(Default, Debug, Clone)]
pub struct PakRegion_Record {
    pub _root: SharedType<PakRegion>,
    pub _parent: SharedType<PakRegion>,
    pub _self: SharedType<Self>,
    block_offset: RefCell<i16>,
    block_length: RefCell<i16>,
    file_length: RefCell<i32>,
    _io: RefCell<BytesReader>,
    chunk_raw: RefCell<Vec<u8>>,
    f_chunk: Cell<bool>,
    chunk: RefCell<Vec<u8>>,
}
impl KStruct for PakRegion_Record {
    type Root = PakRegion;
    type Parent = PakRegion;

    fn read<S: KStream>(
        self_rc: &OptRc<Self>,
        _io: &S,
        _root: SharedType<Self::Root>,
        _parent: SharedType<Self::Parent>,
    ) -> KResult<()> {
        *self_rc._io.borrow_mut() = _io.clone();
        self_rc._root.set(_root.get());
        self_rc._parent.set(_parent.get());
        self_rc._self.set(Ok(self_rc.clone()));
        let _rrc = self_rc._root.get_value().borrow().upgrade();
        let _prc = self_rc._parent.get_value().borrow().upgrade();
        let _r = _rrc.as_ref().unwrap();
        *self_rc.block_offset.borrow_mut() = _io.read_s2le()?.into();
        *self_rc.block_length.borrow_mut() = _io.read_s2le()?.into();
        *self_rc.file_length.borrow_mut() = _io.read_s4le()?.into();
        Ok(())
    }
}
impl PakRegion_Record {
    pub fn chunk(
        &self
    ) -> KResult<Ref<'_, Vec<u8>>> {
        let _io = self._io.borrow();
        let _rrc = self._root.get_value().borrow().upgrade();
        let _prc = self._parent.get_value().borrow().upgrade();
        let _r = _rrc.as_ref().unwrap();
        if self.f_chunk.get() {
            return Ok(self.chunk.borrow());
        }
        self.f_chunk.set(true);
        if ((*self.block_offset() as i16) >= (0 as i16)) {
            let io = Clone::clone(&*_r._io());
            let _pos = io.pos();
            io.seek(((((*_r.first_block_offset() as i32) + (*self.block_offset() as i32)) as i32) * (4096 as i32)) as usize)?;
            *self.chunk_raw.borrow_mut() = io.read_bytes(*self.file_length() as usize)?.into();
            *self.chunk.borrow_mut() = process_zlib(&self.chunk_raw.borrow()).map_err(|msg| KError::BytesDecodingError { msg })?;
            io.seek(_pos)?;
        }
        Ok(self.chunk.borrow())
    }
}

/**
 * -1 if there is no chunk
 */
impl PakRegion_Record {
    pub fn block_offset(&self) -> Ref<'_, i16> {
        self.block_offset.borrow()
    }
}
impl PakRegion_Record {
    pub fn block_length(&self) -> Ref<'_, i16> {
        self.block_length.borrow()
    }
}
impl PakRegion_Record {
    pub fn file_length(&self) -> Ref<'_, i32> {
        self.file_length.borrow()
    }
}
impl PakRegion_Record {
    pub fn _io(&self) -> Ref<'_, BytesReader> {
        self._io.borrow()
    }
}
impl PakRegion_Record {
    pub fn chunk_raw(&self) -> Ref<'_, Vec<u8>> {
        self.chunk_raw.borrow()
    }
}
