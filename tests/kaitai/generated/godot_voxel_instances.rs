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
 * Instances of a VoxelInstancer in one block, decompressed. Version 0 has the same fields, all big-endian. See section 7 of
 * ../formats.md.
 */

#[derive(Default, Debug, Clone)]
pub struct GodotVoxelInstances {
    pub _root: SharedType<GodotVoxelInstances>,
    pub _parent: SharedType<GodotVoxelInstances>,
    pub _self: SharedType<Self>,
    version: RefCell<u8>,
    layer_count: RefCell<u8>,
    position_range: RefCell<f32>,
    layers: RefCell<Vec<OptRc<GodotVoxelInstances_Layer>>>,
    epilogue: RefCell<Vec<u8>>,
    _io: RefCell<BytesReader>,
}
impl KStruct for GodotVoxelInstances {
    type Root = GodotVoxelInstances;
    type Parent = GodotVoxelInstances;

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
        if !(((*self_rc.version() as u8) == (1 as u8))) {
            return Err(KError::ValidationFailed(ValidationFailedError { kind: ValidationKind::NotEqual, src_path: "/seq/0".to_string() }));
        }
        *self_rc.layer_count.borrow_mut() = _io.read_u1()?.into();
        *self_rc.position_range.borrow_mut() = _io.read_f4le()?.into();
        *self_rc.layers.borrow_mut() = Vec::new();
        let l_layers = *self_rc.layer_count();
        for _i in 0..l_layers {
            let t = Self::read_into::<_, GodotVoxelInstances_Layer>(&*_io, Some(self_rc._root.clone()), Some(self_rc._self.clone()))?.into();
            self_rc.layers.borrow_mut().push(t);
        }
        *self_rc.epilogue.borrow_mut() = _io.read_bytes(4 as usize)?.into();
        if !(*self_rc.epilogue() == vec![0xdu8, 0xf0u8, 0xdu8, 0x90u8]) {
            return Err(KError::ValidationFailed(ValidationFailedError { kind: ValidationKind::NotEqual, src_path: "/seq/4".to_string() }));
        }
        Ok(())
    }
}
impl GodotVoxelInstances {
}
impl GodotVoxelInstances {
    pub fn version(&self) -> Ref<'_, u8> {
        self.version.borrow()
    }
}
impl GodotVoxelInstances {
    pub fn layer_count(&self) -> Ref<'_, u8> {
        self.layer_count.borrow()
    }
}
impl GodotVoxelInstances {
    pub fn position_range(&self) -> Ref<'_, f32> {
        self.position_range.borrow()
    }
}
impl GodotVoxelInstances {
    pub fn layers(&self) -> Ref<'_, Vec<OptRc<GodotVoxelInstances_Layer>>> {
        self.layers.borrow()
    }
}
impl GodotVoxelInstances {
    pub fn epilogue(&self) -> Ref<'_, Vec<u8>> {
        self.epilogue.borrow()
    }
}
impl GodotVoxelInstances {
    pub fn _io(&self) -> Ref<'_, BytesReader> {
        self._io.borrow()
    }
}

#[derive(Default, Debug, Clone)]
pub struct GodotVoxelInstances_Instance {
    pub _root: SharedType<GodotVoxelInstances>,
    pub _parent: SharedType<GodotVoxelInstances_Layer>,
    pub _self: SharedType<Self>,
    x: RefCell<u16>,
    y: RefCell<u16>,
    z: RefCell<u16>,
    scale: RefCell<u8>,
    rotation: RefCell<Vec<u8>>,
    _io: RefCell<BytesReader>,
}
impl KStruct for GodotVoxelInstances_Instance {
    type Root = GodotVoxelInstances;
    type Parent = GodotVoxelInstances_Layer;

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
        *self_rc.x.borrow_mut() = _io.read_u2le()?.into();
        *self_rc.y.borrow_mut() = _io.read_u2le()?.into();
        *self_rc.z.borrow_mut() = _io.read_u2le()?.into();
        *self_rc.scale.borrow_mut() = _io.read_u1()?.into();
        *self_rc.rotation.borrow_mut() = Vec::new();
        let l_rotation = 4;
        for _i in 0..l_rotation {
            self_rc.rotation.borrow_mut().push(_io.read_u1()?.into());
        }
        Ok(())
    }
}
impl GodotVoxelInstances_Instance {
}
impl GodotVoxelInstances_Instance {
    pub fn x(&self) -> Ref<'_, u16> {
        self.x.borrow()
    }
}
impl GodotVoxelInstances_Instance {
    pub fn y(&self) -> Ref<'_, u16> {
        self.y.borrow()
    }
}
impl GodotVoxelInstances_Instance {
    pub fn z(&self) -> Ref<'_, u16> {
        self.z.borrow()
    }
}
impl GodotVoxelInstances_Instance {
    pub fn scale(&self) -> Ref<'_, u8> {
        self.scale.borrow()
    }
}

/**
 * a quaternion x, y, z, w; each component (v - 127) / 127
 */
impl GodotVoxelInstances_Instance {
    pub fn rotation(&self) -> Ref<'_, Vec<u8>> {
        self.rotation.borrow()
    }
}
impl GodotVoxelInstances_Instance {
    pub fn _io(&self) -> Ref<'_, BytesReader> {
        self._io.borrow()
    }
}

#[derive(Default, Debug, Clone)]
pub struct GodotVoxelInstances_Layer {
    pub _root: SharedType<GodotVoxelInstances>,
    pub _parent: SharedType<GodotVoxelInstances>,
    pub _self: SharedType<Self>,
    id: RefCell<u16>,
    count: RefCell<u16>,
    scale_min: RefCell<f32>,
    scale_max: RefCell<f32>,
    format: RefCell<u8>,
    instances: RefCell<Vec<OptRc<GodotVoxelInstances_Instance>>>,
    _io: RefCell<BytesReader>,
}
impl KStruct for GodotVoxelInstances_Layer {
    type Root = GodotVoxelInstances;
    type Parent = GodotVoxelInstances;

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
        *self_rc.id.borrow_mut() = _io.read_u2le()?.into();
        *self_rc.count.borrow_mut() = _io.read_u2le()?.into();
        *self_rc.scale_min.borrow_mut() = _io.read_f4le()?.into();
        *self_rc.scale_max.borrow_mut() = _io.read_f4le()?.into();
        *self_rc.format.borrow_mut() = _io.read_u1()?.into();
        if !(((*self_rc.format() as u8) == (0 as u8))) {
            return Err(KError::ValidationFailed(ValidationFailedError { kind: ValidationKind::NotEqual, src_path: "/types/layer/seq/4".to_string() }));
        }
        *self_rc.instances.borrow_mut() = Vec::new();
        let l_instances = *self_rc.count();
        for _i in 0..l_instances {
            let t = Self::read_into::<_, GodotVoxelInstances_Instance>(&*_io, Some(self_rc._root.clone()), Some(self_rc._self.clone()))?.into();
            self_rc.instances.borrow_mut().push(t);
        }
        Ok(())
    }
}
impl GodotVoxelInstances_Layer {
}
impl GodotVoxelInstances_Layer {
    pub fn id(&self) -> Ref<'_, u16> {
        self.id.borrow()
    }
}
impl GodotVoxelInstances_Layer {
    pub fn count(&self) -> Ref<'_, u16> {
        self.count.borrow()
    }
}
impl GodotVoxelInstances_Layer {
    pub fn scale_min(&self) -> Ref<'_, f32> {
        self.scale_min.borrow()
    }
}
impl GodotVoxelInstances_Layer {
    pub fn scale_max(&self) -> Ref<'_, f32> {
        self.scale_max.borrow()
    }
}
impl GodotVoxelInstances_Layer {
    pub fn format(&self) -> Ref<'_, u8> {
        self.format.borrow()
    }
}
impl GodotVoxelInstances_Layer {
    pub fn instances(&self) -> Ref<'_, Vec<OptRc<GodotVoxelInstances_Instance>>> {
        self.instances.borrow()
    }
}
impl GodotVoxelInstances_Layer {
    pub fn _io(&self) -> Ref<'_, BytesReader> {
        self._io.borrow()
    }
}
