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
 * A box of voxels with eight channels, decompressed. Raw values are in the order ZXY: y varies fastest. Version 1 stores
 * no version, size or depths and is not described here. See section 1 of ../formats.md.
 */

#[derive(Default, Debug, Clone)]
pub struct GodotVoxelBlock {
    pub _root: SharedType<GodotVoxelBlock>,
    pub _parent: SharedType<GodotVoxelBlock>,
    pub _self: SharedType<Self>,
    version: RefCell<u8>,
    size_x: RefCell<u16>,
    size_y: RefCell<u16>,
    size_z: RefCell<u16>,
    channels: RefCell<Vec<OptRc<GodotVoxelBlock_Channel>>>,
    metadata: RefCell<OptRc<GodotVoxelBlock_Metadata>>,
    epilogue: RefCell<Vec<u8>>,
    _io: RefCell<BytesReader>,
    f_volume: Cell<bool>,
    volume: RefCell<i32>,
}
impl KStruct for GodotVoxelBlock {
    type Root = GodotVoxelBlock;
    type Parent = GodotVoxelBlock;

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
        *self_rc.version.borrow_mut() = _io.read_u1()?.into();
        if !(((*self_rc.version() as u8) >= (2 as u8))) {
            return Err(KError::ValidationFailed(ValidationFailedError { kind: ValidationKind::LessThan, src_path: "/seq/0".to_string() }));
        }
        if !(((*self_rc.version() as u8) <= (4 as u8))) {
            return Err(KError::ValidationFailed(ValidationFailedError { kind: ValidationKind::GreaterThan, src_path: "/seq/0".to_string() }));
        }
        *self_rc.size_x.borrow_mut() = _io.read_u2le()?.into();
        if !(((*self_rc.size_x() as u16) >= (1 as u16))) {
            return Err(KError::ValidationFailed(ValidationFailedError { kind: ValidationKind::LessThan, src_path: "/seq/1".to_string() }));
        }
        *self_rc.size_y.borrow_mut() = _io.read_u2le()?.into();
        if !(((*self_rc.size_y() as u16) >= (1 as u16))) {
            return Err(KError::ValidationFailed(ValidationFailedError { kind: ValidationKind::LessThan, src_path: "/seq/2".to_string() }));
        }
        *self_rc.size_z.borrow_mut() = _io.read_u2le()?.into();
        if !(((*self_rc.size_z() as u16) >= (1 as u16))) {
            return Err(KError::ValidationFailed(ValidationFailedError { kind: ValidationKind::LessThan, src_path: "/seq/3".to_string() }));
        }
        *self_rc.channels.borrow_mut() = Vec::new();
        let l_channels = 8;
        for _i in 0..l_channels {
            let t = Self::read_into::<_, GodotVoxelBlock_Channel>(&*_io, Some(self_rc._root.clone()), Some(self_rc._self.clone()))?.into();
            self_rc.channels.borrow_mut().push(t);
        }
        if ((((_io.size() as i32) - (_io.pos() as i32)) as i32) > (4 as i32)) {
            let t = Self::read_into::<_, GodotVoxelBlock_Metadata>(&*_io, Some(self_rc._root.clone()), Some(self_rc._self.clone()))?.into();
            *self_rc.metadata.borrow_mut() = t;
        }
        *self_rc.epilogue.borrow_mut() = _io.read_bytes(4 as usize)?.into();
        if !(*self_rc.epilogue() == vec![0xdu8, 0xf0u8, 0xdu8, 0x90u8]) {
            return Err(KError::ValidationFailed(ValidationFailedError { kind: ValidationKind::NotEqual, src_path: "/seq/6".to_string() }));
        }
        Ok(())
    }
}
impl GodotVoxelBlock {
    pub fn volume(
        &self
    ) -> KResult<Ref<'_, i32>> {
        let _io = self._io.borrow();
        let _rrc = self._root.get_value().borrow().upgrade();
        let _prc = self._parent.get_value().borrow().upgrade();
        let _r = _rrc.as_ref().unwrap();
        if self.f_volume.get() {
            return Ok(self.volume.borrow());
        }
        self.f_volume.set(true);
        *self.volume.borrow_mut() = ((((((*self.size_x() as i32) as i32) * ((*self.size_y() as i32) as i32)) as i32) * ((*self.size_z() as i32) as i32))) as i32;
        Ok(self.volume.borrow())
    }
}
impl GodotVoxelBlock {
    pub fn version(&self) -> Ref<'_, u8> {
        self.version.borrow()
    }
}
impl GodotVoxelBlock {
    pub fn size_x(&self) -> Ref<'_, u16> {
        self.size_x.borrow()
    }
}
impl GodotVoxelBlock {
    pub fn size_y(&self) -> Ref<'_, u16> {
        self.size_y.borrow()
    }
}
impl GodotVoxelBlock {
    pub fn size_z(&self) -> Ref<'_, u16> {
        self.size_z.borrow()
    }
}

/**
 * TYPE, SDF, COLOR, INDICES, WEIGHTS, DATA5, DATA6, DATA7
 */
impl GodotVoxelBlock {
    pub fn channels(&self) -> Ref<'_, Vec<OptRc<GodotVoxelBlock_Channel>>> {
        self.channels.borrow()
    }
}
impl GodotVoxelBlock {
    pub fn metadata(&self) -> Ref<'_, OptRc<GodotVoxelBlock_Metadata>> {
        self.metadata.borrow()
    }
}
impl GodotVoxelBlock {
    pub fn epilogue(&self) -> Ref<'_, Vec<u8>> {
        self.epilogue.borrow()
    }
}
impl GodotVoxelBlock {
    pub fn _io(&self) -> Ref<'_, BytesReader> {
        self._io.borrow()
    }
}
#[derive(Debug, PartialEq, Clone)]
pub enum GodotVoxelBlock_Storage {
    Raw,
    Uniform,
    Unknown(i64),
}

impl TryFrom<i64> for GodotVoxelBlock_Storage {
    type Error = KError;
    fn try_from(flag: i64) -> KResult<GodotVoxelBlock_Storage> {
        match flag {
            0 => Ok(GodotVoxelBlock_Storage::Raw),
            1 => Ok(GodotVoxelBlock_Storage::Uniform),
            _ => Ok(GodotVoxelBlock_Storage::Unknown(flag)),
        }
    }
}

impl From<&GodotVoxelBlock_Storage> for i64 {
    fn from(v: &GodotVoxelBlock_Storage) -> Self {
        match *v {
            GodotVoxelBlock_Storage::Raw => 0,
            GodotVoxelBlock_Storage::Uniform => 1,
            GodotVoxelBlock_Storage::Unknown(v) => v
        }
    }
}

impl Default for GodotVoxelBlock_Storage {
    fn default() -> Self { GodotVoxelBlock_Storage::Unknown(0) }
}


#[derive(Default, Debug, Clone)]
pub struct GodotVoxelBlock_Channel {
    pub _root: SharedType<GodotVoxelBlock>,
    pub _parent: SharedType<GodotVoxelBlock>,
    pub _self: SharedType<Self>,
    format: RefCell<u8>,
    data: RefCell<Vec<u8>>,
    _io: RefCell<BytesReader>,
    f_depth_code: Cell<bool>,
    depth_code: RefCell<i32>,
    f_storage: Cell<bool>,
    storage: RefCell<GodotVoxelBlock_Storage>,
    f_value_bytes: Cell<bool>,
    value_bytes: RefCell<i32>,
}
impl KStruct for GodotVoxelBlock_Channel {
    type Root = GodotVoxelBlock;
    type Parent = GodotVoxelBlock;

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
        *self_rc.format.borrow_mut() = _io.read_u1()?.into();
        *self_rc.data.borrow_mut() = _io.read_bytes(if *self_rc.storage()? == GodotVoxelBlock_Storage::Raw { ((*_r.volume()? as i32) * (*self_rc.value_bytes()? as i32)) } else { *self_rc.value_bytes()? } as usize)?.into();
        Ok(())
    }
}
impl GodotVoxelBlock_Channel {
    pub fn depth_code(
        &self
    ) -> KResult<Ref<'_, i32>> {
        let _io = self._io.borrow();
        let _rrc = self._root.get_value().borrow().upgrade();
        let _prc = self._parent.get_value().borrow().upgrade();
        let _r = _rrc.as_ref().unwrap();
        if self.f_depth_code.get() {
            return Ok(self.depth_code.borrow());
        }
        self.f_depth_code.set(true);
        *self.depth_code.borrow_mut() = (((*self.format() as u8) >> (4 as u8))) as i32;
        Ok(self.depth_code.borrow())
    }
    pub fn storage(
        &self
    ) -> KResult<Ref<'_, GodotVoxelBlock_Storage>> {
        let _io = self._io.borrow();
        let _rrc = self._root.get_value().borrow().upgrade();
        let _prc = self._parent.get_value().borrow().upgrade();
        let _r = _rrc.as_ref().unwrap();
        if self.f_storage.get() {
            return Ok(self.storage.borrow());
        }
        self.f_storage.set(true);
        *self.storage.borrow_mut() = (((*self.format() as u8) & (15 as u8)) as i64).try_into()?;
        Ok(self.storage.borrow())
    }
    pub fn value_bytes(
        &self
    ) -> KResult<Ref<'_, i32>> {
        let _io = self._io.borrow();
        let _rrc = self._root.get_value().borrow().upgrade();
        let _prc = self._parent.get_value().borrow().upgrade();
        let _r = _rrc.as_ref().unwrap();
        if self.f_value_bytes.get() {
            return Ok(self.value_bytes.borrow());
        }
        self.f_value_bytes.set(true);
        *self.value_bytes.borrow_mut() = (((1 as i32) << (*self.depth_code()? as i32))) as i32;
        Ok(self.value_bytes.borrow())
    }
}
impl GodotVoxelBlock_Channel {
    pub fn format(&self) -> Ref<'_, u8> {
        self.format.borrow()
    }
}
impl GodotVoxelBlock_Channel {
    pub fn data(&self) -> Ref<'_, Vec<u8>> {
        self.data.borrow()
    }
}
impl GodotVoxelBlock_Channel {
    pub fn _io(&self) -> Ref<'_, BytesReader> {
        self._io.borrow()
    }
}

#[derive(Default, Debug, Clone)]
pub struct GodotVoxelBlock_Metadata {
    pub _root: SharedType<GodotVoxelBlock>,
    pub _parent: SharedType<GodotVoxelBlock>,
    pub _self: SharedType<Self>,
    len_items: RefCell<u32>,
    items: RefCell<Vec<u8>>,
    _io: RefCell<BytesReader>,
}
impl KStruct for GodotVoxelBlock_Metadata {
    type Root = GodotVoxelBlock;
    type Parent = GodotVoxelBlock;

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
        *self_rc.len_items.borrow_mut() = _io.read_u4le()?.into();
        *self_rc.items.borrow_mut() = _io.read_bytes(*self_rc.len_items() as usize)?.into();
        Ok(())
    }
}
impl GodotVoxelBlock_Metadata {
}
impl GodotVoxelBlock_Metadata {
    pub fn len_items(&self) -> Ref<'_, u32> {
        self.len_items.borrow()
    }
}

/**
 * The block's item, then voxel positions (three u2) with an item each. Up to version 3 an item is a Variant; in
 * version 4 it has a tag.
 */
impl GodotVoxelBlock_Metadata {
    pub fn items(&self) -> Ref<'_, Vec<u8>> {
        self.items.borrow()
    }
}
impl GodotVoxelBlock_Metadata {
    pub fn _io(&self) -> Ref<'_, BytesReader> {
        self._io.borrow()
    }
}
