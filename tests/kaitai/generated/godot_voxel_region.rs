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
use super::godot_voxel_container::GodotVoxelContainer;

/**
 * A box of blocks of one LOD. Versions 1 and 2 store no format fields: those are in meta.vxrm, so they are not described
 * here. See section 4 of ../formats.md.
 */

#[derive(Default, Debug, Clone)]
pub struct GodotVoxelRegion {
    pub _root: SharedType<GodotVoxelRegion>,
    pub _parent: SharedType<GodotVoxelRegion>,
    pub _self: SharedType<Self>,
    magic: RefCell<Vec<u8>>,
    version: RefCell<u8>,
    block_size_po2: RefCell<u8>,
    region_size_x: RefCell<u8>,
    region_size_y: RefCell<u8>,
    region_size_z: RefCell<u8>,
    channel_depths: RefCell<Vec<u8>>,
    sector_size: RefCell<u16>,
    palette_hint: RefCell<u8>,
    palette: RefCell<Vec<u32>>,
    entries: RefCell<Vec<OptRc<GodotVoxelRegion_Entry>>>,
    _io: RefCell<BytesReader>,
    f_sectors_start: Cell<bool>,
    sectors_start: RefCell<i32>,
}
impl KStruct for GodotVoxelRegion {
    type Root = GodotVoxelRegion;
    type Parent = GodotVoxelRegion;

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
        *self_rc.magic.borrow_mut() = _io.read_bytes(4 as usize)?.into();
        if !(*self_rc.magic() == vec![0x56u8, 0x58u8, 0x52u8, 0x5fu8]) {
            return Err(KError::ValidationFailed(ValidationFailedError { kind: ValidationKind::NotEqual, src_path: "/seq/0".to_string() }));
        }
        *self_rc.version.borrow_mut() = _io.read_u1()?.into();
        if !(((*self_rc.version() as u8) == (3 as u8))) {
            return Err(KError::ValidationFailed(ValidationFailedError { kind: ValidationKind::NotEqual, src_path: "/seq/1".to_string() }));
        }
        *self_rc.block_size_po2.borrow_mut() = _io.read_u1()?.into();
        *self_rc.region_size_x.borrow_mut() = _io.read_u1()?.into();
        *self_rc.region_size_y.borrow_mut() = _io.read_u1()?.into();
        *self_rc.region_size_z.borrow_mut() = _io.read_u1()?.into();
        *self_rc.channel_depths.borrow_mut() = Vec::new();
        let l_channel_depths = 8;
        for _i in 0..l_channel_depths {
            self_rc.channel_depths.borrow_mut().push(_io.read_u1()?.into());
        }
        *self_rc.sector_size.borrow_mut() = _io.read_u2le()?.into();
        *self_rc.palette_hint.borrow_mut() = _io.read_u1()?.into();
        if !( ((((*self_rc.palette_hint() as u8) == (0 as u8))) || (*self_rc.palette_hint() == 255)) ) {
            return Err(KError::ValidationFailed(ValidationFailedError { kind: ValidationKind::NotAnyOf, src_path: "/seq/8".to_string() }));
        }
        if *self_rc.palette_hint() == 255 {
            *self_rc.palette.borrow_mut() = Vec::new();
            let l_palette = 256;
            for _i in 0..l_palette {
                self_rc.palette.borrow_mut().push(_io.read_u4be()?.into());
            }
        }
        *self_rc.entries.borrow_mut() = Vec::new();
        let l_entries = (((((*self_rc.region_size_x() as i32) as i32) * ((*self_rc.region_size_y() as i32) as i32)) as i32) * ((*self_rc.region_size_z() as i32) as i32));
        for _i in 0..l_entries {
            let t = Self::read_into::<_, GodotVoxelRegion_Entry>(&*_io, Some(self_rc._root.clone()), Some(self_rc._self.clone()))?.into();
            self_rc.entries.borrow_mut().push(t);
        }
        Ok(())
    }
}
impl GodotVoxelRegion {
    pub fn sectors_start(
        &self
    ) -> KResult<Ref<'_, i32>> {
        let _io = self._io.borrow();
        let _rrc = self._root.get_value().borrow().upgrade();
        let _prc = self._parent.get_value().borrow().upgrade();
        let _r = _rrc.as_ref().unwrap();
        if self.f_sectors_start.get() {
            return Ok(self.sectors_start.borrow());
        }
        self.f_sectors_start.set(true);
        *self.sectors_start.borrow_mut() = (((((20 as i32) + (if *self.palette_hint() == 255 { 1024 } else { 0 } as i32)) as i32) + (((((((4 as i32) * ((*self.region_size_x() as i32) as i32)) as i32) * ((*self.region_size_y() as i32) as i32)) as i32) * ((*self.region_size_z() as i32) as i32)) as i32))) as i32;
        Ok(self.sectors_start.borrow())
    }
}
impl GodotVoxelRegion {
    pub fn magic(&self) -> Ref<'_, Vec<u8>> {
        self.magic.borrow()
    }
}
impl GodotVoxelRegion {
    pub fn version(&self) -> Ref<'_, u8> {
        self.version.borrow()
    }
}
impl GodotVoxelRegion {
    pub fn block_size_po2(&self) -> Ref<'_, u8> {
        self.block_size_po2.borrow()
    }
}
impl GodotVoxelRegion {
    pub fn region_size_x(&self) -> Ref<'_, u8> {
        self.region_size_x.borrow()
    }
}
impl GodotVoxelRegion {
    pub fn region_size_y(&self) -> Ref<'_, u8> {
        self.region_size_y.borrow()
    }
}
impl GodotVoxelRegion {
    pub fn region_size_z(&self) -> Ref<'_, u8> {
        self.region_size_z.borrow()
    }
}
impl GodotVoxelRegion {
    pub fn channel_depths(&self) -> Ref<'_, Vec<u8>> {
        self.channel_depths.borrow()
    }
}
impl GodotVoxelRegion {
    pub fn sector_size(&self) -> Ref<'_, u16> {
        self.sector_size.borrow()
    }
}
impl GodotVoxelRegion {
    pub fn palette_hint(&self) -> Ref<'_, u8> {
        self.palette_hint.borrow()
    }
}

/**
 * red, green, blue, alpha
 */
impl GodotVoxelRegion {
    pub fn palette(&self) -> Ref<'_, Vec<u32>> {
        self.palette.borrow()
    }
}

/**
 * slot = y + region_size_y * (x + region_size_x * z)
 */
impl GodotVoxelRegion {
    pub fn entries(&self) -> Ref<'_, Vec<OptRc<GodotVoxelRegion_Entry>>> {
        self.entries.borrow()
    }
}
impl GodotVoxelRegion {
    pub fn _io(&self) -> Ref<'_, BytesReader> {
        self._io.borrow()
    }
}

#[derive(Default, Debug, Clone)]
pub struct GodotVoxelRegion_Block {
    pub _root: SharedType<GodotVoxelRegion>,
    pub _parent: SharedType<GodotVoxelRegion_Entry>,
    pub _self: SharedType<Self>,
    len_container: RefCell<u32>,
    container: RefCell<OptRc<GodotVoxelContainer>>,
    _io: RefCell<BytesReader>,
    container_raw: RefCell<Vec<u8>>,
}
impl KStruct for GodotVoxelRegion_Block {
    type Root = GodotVoxelRegion;
    type Parent = GodotVoxelRegion_Entry;

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
        *self_rc.len_container.borrow_mut() = _io.read_u4le()?.into();
        *self_rc.container_raw.borrow_mut() = _io.read_bytes(*self_rc.len_container() as usize)?.into();
        let container_raw = self_rc.container_raw.borrow();
        let _t_container_raw_io = BytesReader::from(container_raw.clone());
        let t = Self::read_into::<BytesReader, GodotVoxelContainer>(&_t_container_raw_io, None, None)?.into();
        *self_rc.container.borrow_mut() = t;
        Ok(())
    }
}
impl GodotVoxelRegion_Block {
}
impl GodotVoxelRegion_Block {
    pub fn len_container(&self) -> Ref<'_, u32> {
        self.len_container.borrow()
    }
}
impl GodotVoxelRegion_Block {
    pub fn container(&self) -> Ref<'_, OptRc<GodotVoxelContainer>> {
        self.container.borrow()
    }
}
impl GodotVoxelRegion_Block {
    pub fn _io(&self) -> Ref<'_, BytesReader> {
        self._io.borrow()
    }
}
impl GodotVoxelRegion_Block {
    pub fn container_raw(&self) -> Ref<'_, Vec<u8>> {
        self.container_raw.borrow()
    }
}

#[derive(Default, Debug, Clone)]
pub struct GodotVoxelRegion_Entry {
    pub _root: SharedType<GodotVoxelRegion>,
    pub _parent: SharedType<GodotVoxelRegion>,
    pub _self: SharedType<Self>,
    value: RefCell<u32>,
    _io: RefCell<BytesReader>,
    f_block: Cell<bool>,
    block: RefCell<OptRc<GodotVoxelRegion_Block>>,
    f_first_sector: Cell<bool>,
    first_sector: RefCell<i32>,
    f_sector_count: Cell<bool>,
    sector_count: RefCell<i32>,
}
impl KStruct for GodotVoxelRegion_Entry {
    type Root = GodotVoxelRegion;
    type Parent = GodotVoxelRegion;

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
        *self_rc.value.borrow_mut() = _io.read_u4le()?.into();
        Ok(())
    }
}
impl GodotVoxelRegion_Entry {
    pub fn block(
        &self
    ) -> KResult<Ref<'_, OptRc<GodotVoxelRegion_Block>>> {
        let _io = self._io.borrow();
        let _rrc = self._root.get_value().borrow().upgrade();
        let _prc = self._parent.get_value().borrow().upgrade();
        let _r = _rrc.as_ref().unwrap();
        if self.f_block.get() {
            return Ok(self.block.borrow());
        }
        if ((*self.value() as u32) != (0 as u32)) {
            let io = Clone::clone(&*_r._io());
            let _pos = io.pos();
            io.seek(((*_r.sectors_start()? as i32) + (((*self.first_sector()? as i32) * (*_r.sector_size() as i32)) as i32)) as usize)?;
            let t = Self::read_into::<BytesReader, GodotVoxelRegion_Block>(&io, Some(self._root.clone()), Some(self._self.clone()))?.into();
            *self.block.borrow_mut() = t;
            io.seek(_pos)?;
        }
        Ok(self.block.borrow())
    }
    pub fn first_sector(
        &self
    ) -> KResult<Ref<'_, i32>> {
        let _io = self._io.borrow();
        let _rrc = self._root.get_value().borrow().upgrade();
        let _prc = self._parent.get_value().borrow().upgrade();
        let _r = _rrc.as_ref().unwrap();
        if self.f_first_sector.get() {
            return Ok(self.first_sector.borrow());
        }
        self.f_first_sector.set(true);
        *self.first_sector.borrow_mut() = (((*self.value() as u32) >> (8 as u32))) as i32;
        Ok(self.first_sector.borrow())
    }
    pub fn sector_count(
        &self
    ) -> KResult<Ref<'_, i32>> {
        let _io = self._io.borrow();
        let _rrc = self._root.get_value().borrow().upgrade();
        let _prc = self._parent.get_value().borrow().upgrade();
        let _r = _rrc.as_ref().unwrap();
        if self.f_sector_count.get() {
            return Ok(self.sector_count.borrow());
        }
        self.f_sector_count.set(true);
        *self.sector_count.borrow_mut() = (((*self.value() as u32) & (255 as u32))) as i32;
        Ok(self.sector_count.borrow())
    }
}
impl GodotVoxelRegion_Entry {
    pub fn value(&self) -> Ref<'_, u32> {
        self.value.borrow()
    }
}
impl GodotVoxelRegion_Entry {
    pub fn _io(&self) -> Ref<'_, BytesReader> {
        self._io.borrow()
    }
}
