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
 * The compressed form of block data and instance data, as every engine since 2021-01-31 writes it. Older containers have no
 * mode byte. Some programs of 2025 and 2026 wrote mode 1 with a little-endian size. See section 2 of ../formats.md.
 */

#[derive(Default, Debug, Clone)]
pub struct GodotVoxelContainer {
    pub _root: SharedType<GodotVoxelContainer>,
    pub _parent: SharedType<GodotVoxelContainer>,
    pub _self: SharedType<Self>,
    mode: RefCell<GodotVoxelContainer_Mode>,
    declared_size_be: RefCell<u32>,
    declared_size_le: RefCell<u32>,
    body: RefCell<Vec<u8>>,
    _io: RefCell<BytesReader>,
    f_declared_size: Cell<bool>,
    declared_size: RefCell<i32>,
}
impl KStruct for GodotVoxelContainer {
    type Root = GodotVoxelContainer;
    type Parent = GodotVoxelContainer;

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
        *self_rc.mode.borrow_mut() = (_io.read_u1()? as i64).try_into()?;
        if *self_rc.mode() == GodotVoxelContainer_Mode::Lz4BigEndian {
            *self_rc.declared_size_be.borrow_mut() = _io.read_u4be()?.into();
        }
        if  ((*self_rc.mode() == GodotVoxelContainer_Mode::Lz4) || (*self_rc.mode() == GodotVoxelContainer_Mode::Zstd))  {
            *self_rc.declared_size_le.borrow_mut() = _io.read_u4le()?.into();
        }
        *self_rc.body.borrow_mut() = _io.read_bytes_full()?.into();
        Ok(())
    }
}
impl GodotVoxelContainer {
    pub fn declared_size(
        &self
    ) -> KResult<Ref<'_, i32>> {
        let _io = self._io.borrow();
        let _rrc = self._root.get_value().borrow().upgrade();
        let _prc = self._parent.get_value().borrow().upgrade();
        let _r = _rrc.as_ref().unwrap();
        if self.f_declared_size.get() {
            return Ok(self.declared_size.borrow());
        }
        self.f_declared_size.set(true);
        if *self.mode() != GodotVoxelContainer_Mode::Plain {
            *self.declared_size.borrow_mut() = (if *self.mode() == GodotVoxelContainer_Mode::Lz4BigEndian { *self.declared_size_be() } else { *self.declared_size_le() }) as i32;
        }
        Ok(self.declared_size.borrow())
    }
}
impl GodotVoxelContainer {
    pub fn mode(&self) -> Ref<'_, GodotVoxelContainer_Mode> {
        self.mode.borrow()
    }
}
impl GodotVoxelContainer {
    pub fn declared_size_be(&self) -> Ref<'_, u32> {
        self.declared_size_be.borrow()
    }
}
impl GodotVoxelContainer {
    pub fn declared_size_le(&self) -> Ref<'_, u32> {
        self.declared_size_le.borrow()
    }
}

/**
 * the data as it is (mode 0), one LZ4 block without a frame (1 and 2), one Zstandard frame (3)
 */
impl GodotVoxelContainer {
    pub fn body(&self) -> Ref<'_, Vec<u8>> {
        self.body.borrow()
    }
}
impl GodotVoxelContainer {
    pub fn _io(&self) -> Ref<'_, BytesReader> {
        self._io.borrow()
    }
}
#[derive(Debug, PartialEq, Clone)]
pub enum GodotVoxelContainer_Mode {
    Plain,
    Lz4BigEndian,
    Lz4,
    Zstd,
    Unknown(i64),
}

impl TryFrom<i64> for GodotVoxelContainer_Mode {
    type Error = KError;
    fn try_from(flag: i64) -> KResult<GodotVoxelContainer_Mode> {
        match flag {
            0 => Ok(GodotVoxelContainer_Mode::Plain),
            1 => Ok(GodotVoxelContainer_Mode::Lz4BigEndian),
            2 => Ok(GodotVoxelContainer_Mode::Lz4),
            3 => Ok(GodotVoxelContainer_Mode::Zstd),
            _ => Ok(GodotVoxelContainer_Mode::Unknown(flag)),
        }
    }
}

impl From<&GodotVoxelContainer_Mode> for i64 {
    fn from(v: &GodotVoxelContainer_Mode) -> Self {
        match *v {
            GodotVoxelContainer_Mode::Plain => 0,
            GodotVoxelContainer_Mode::Lz4BigEndian => 1,
            GodotVoxelContainer_Mode::Lz4 => 2,
            GodotVoxelContainer_Mode::Zstd => 3,
            GodotVoxelContainer_Mode::Unknown(v) => v
        }
    }
}

impl Default for GodotVoxelContainer_Mode {
    fn default() -> Self { GodotVoxelContainer_Mode::Unknown(0) }
}

