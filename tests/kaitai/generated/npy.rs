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
 * An array of a voxel map. The header is the text of a Python dictionary with descr, fortran_order and shape. See section 9
 * of ../formats.md.
 */

#[derive(Default, Debug, Clone)]
pub struct Npy {
    pub _root: SharedType<Npy>,
    pub _parent: SharedType<Npy>,
    pub _self: SharedType<Self>,
    magic: RefCell<Vec<u8>>,
    major: RefCell<u8>,
    minor: RefCell<u8>,
    len_header_1: RefCell<u16>,
    len_header_2: RefCell<u32>,
    header: RefCell<String>,
    data: RefCell<Vec<u8>>,
    _io: RefCell<BytesReader>,
}
impl KStruct for Npy {
    type Root = Npy;
    type Parent = Npy;

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
        *self_rc.magic.borrow_mut() = _io.read_bytes(6 as usize)?.into();
        if !(*self_rc.magic() == vec![0x93u8, 0x4eu8, 0x55u8, 0x4du8, 0x50u8, 0x59u8]) {
            return Err(KError::ValidationFailed(ValidationFailedError { kind: ValidationKind::NotEqual, src_path: "/seq/0".to_string() }));
        }
        *self_rc.major.borrow_mut() = _io.read_u1()?.into();
        if !(((*self_rc.major() as u8) >= (1 as u8))) {
            return Err(KError::ValidationFailed(ValidationFailedError { kind: ValidationKind::LessThan, src_path: "/seq/1".to_string() }));
        }
        if !(((*self_rc.major() as u8) <= (3 as u8))) {
            return Err(KError::ValidationFailed(ValidationFailedError { kind: ValidationKind::GreaterThan, src_path: "/seq/1".to_string() }));
        }
        *self_rc.minor.borrow_mut() = _io.read_u1()?.into();
        if ((*self_rc.major() as u8) == (1 as u8)) {
            *self_rc.len_header_1.borrow_mut() = _io.read_u2le()?.into();
        }
        if ((*self_rc.major() as u8) > (1 as u8)) {
            *self_rc.len_header_2.borrow_mut() = _io.read_u4le()?.into();
        }
        *self_rc.header.borrow_mut() = bytes_to_str(&_io.read_bytes(if ((*self_rc.major() as u8) == (1 as u8)) { (*self_rc.len_header_1() as u32) } else { *self_rc.len_header_2() } as usize)?.into(), "ASCII")?;
        *self_rc.data.borrow_mut() = _io.read_bytes_full()?.into();
        Ok(())
    }
}
impl Npy {
}
impl Npy {
    pub fn magic(&self) -> Ref<'_, Vec<u8>> {
        self.magic.borrow()
    }
}
impl Npy {
    pub fn major(&self) -> Ref<'_, u8> {
        self.major.borrow()
    }
}
impl Npy {
    pub fn minor(&self) -> Ref<'_, u8> {
        self.minor.borrow()
    }
}
impl Npy {
    pub fn len_header_1(&self) -> Ref<'_, u16> {
        self.len_header_1.borrow()
    }
}
impl Npy {
    pub fn len_header_2(&self) -> Ref<'_, u32> {
        self.len_header_2.borrow()
    }
}
impl Npy {
    pub fn header(&self) -> Ref<'_, String> {
        self.header.borrow()
    }
}
impl Npy {
    pub fn data(&self) -> Ref<'_, Vec<u8>> {
        self.data.borrow()
    }
}
impl Npy {
    pub fn _io(&self) -> Ref<'_, BytesReader> {
        self._io.borrow()
    }
}
