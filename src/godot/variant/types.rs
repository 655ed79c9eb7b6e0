//! The types of both engines and their numbers.
//!
//! The low 8 bits of a Variant's header are the type's place in `Variant::Type`, a list that Godot 4 made longer and
//! put into another order: `Vector3` is 7 in Godot 3 and 9 in Godot 4. Source: `core/variant.h` (Godot 3),
//! `core/variant/variant.h` (Godot 4).

use super::Dialect;

macro_rules! types {
    ($($variant:ident $name:literal $(/ $old:literal)? $(: $count:literal $scalar:ident)?;)*) => {
        /// A type of either engine. A type that both have, possibly under different names, is one variant here.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Type {
            $(#[doc = concat!("`", $name, "`.")] $variant,)*
        }

        impl Type {
            /// Its name in that dialect, as the engine's `typeof` shows it; a type that Godot 3 does not have keeps its
            /// name of Godot 4.
            #[must_use]
            pub const fn name(self, dialect: Dialect) -> &'static str {
                match (self, dialect) {
                    $($((Self::$variant, Dialect::Godot3) => $old,)?)*
                    $((Self::$variant, _) => $name,)*
                }
            }

            /// The layout of one value, or of one element of a packed array; `None` if it is not a plain run of numbers.
            pub(super) const fn layout(self) -> Option<NumberRun> {
                match self {
                    $($(Self::$variant => Some(NumberRun { count: $count, scalar: Scalar::$scalar }),)?)*
                    _ => None,
                }
            }
        }
    };
}

types! {
    Nil "Nil";
    Bool "bool";
    Int "int";
    Float "float";
    String "String";
    Vector2 "Vector2": 2 Real;
    Vector2i "Vector2i": 2 Int32;
    Rect2 "Rect2": 4 Real;
    Rect2i "Rect2i": 4 Int32;
    Vector3 "Vector3": 3 Real;
    Vector3i "Vector3i": 3 Int32;
    Transform2D "Transform2D": 6 Real;
    Vector4 "Vector4": 4 Real;
    Vector4i "Vector4i": 4 Int32;
    Plane "Plane": 4 Real;
    Quaternion "Quaternion" / "Quat": 4 Real;
    Aabb "AABB": 6 Real;
    Basis "Basis": 9 Real;
    Transform3D "Transform3D" / "Transform": 12 Real;
    Projection "Projection": 16 Real;
    Color "Color": 4 Single;
    StringName "StringName";
    NodePath "NodePath";
    Rid "RID";
    Object "Object";
    Callable "Callable";
    Signal "Signal";
    Dictionary "Dictionary";
    Array "Array";
    PackedByteArray "PackedByteArray" / "PoolByteArray": 1 Byte;
    PackedInt32Array "PackedInt32Array" / "PoolIntArray": 1 Int32;
    PackedInt64Array "PackedInt64Array": 1 Int64;
    PackedFloat32Array "PackedFloat32Array" / "PoolRealArray": 1 Single;
    PackedFloat64Array "PackedFloat64Array": 1 Double;
    PackedStringArray "PackedStringArray" / "PoolStringArray";
    PackedVector2Array "PackedVector2Array" / "PoolVector2Array": 2 Real;
    PackedVector3Array "PackedVector3Array" / "PoolVector3Array": 3 Real;
    PackedColorArray "PackedColorArray" / "PoolColorArray": 4 Single;
    PackedVector4Array "PackedVector4Array": 4 Real;
}

impl Type {
    /// The types of Godot 3, each at its number.
    pub const GODOT_3: &'static [Self] = &[
        Self::Nil,
        Self::Bool,
        Self::Int,
        Self::Float,
        Self::String,
        Self::Vector2,
        Self::Rect2,
        Self::Vector3,
        Self::Transform2D,
        Self::Plane,
        Self::Quaternion,
        Self::Aabb,
        Self::Basis,
        Self::Transform3D,
        Self::Color,
        Self::NodePath,
        Self::Rid,
        Self::Object,
        Self::Dictionary,
        Self::Array,
        Self::PackedByteArray,
        Self::PackedInt32Array,
        Self::PackedFloat32Array,
        Self::PackedStringArray,
        Self::PackedVector2Array,
        Self::PackedVector3Array,
        Self::PackedColorArray,
    ];

    /// The types of Godot 4, each at its number.
    pub const GODOT_4: &'static [Self] = &[
        Self::Nil,
        Self::Bool,
        Self::Int,
        Self::Float,
        Self::String,
        Self::Vector2,
        Self::Vector2i,
        Self::Rect2,
        Self::Rect2i,
        Self::Vector3,
        Self::Vector3i,
        Self::Transform2D,
        Self::Vector4,
        Self::Vector4i,
        Self::Plane,
        Self::Quaternion,
        Self::Aabb,
        Self::Basis,
        Self::Transform3D,
        Self::Projection,
        Self::Color,
        Self::StringName,
        Self::NodePath,
        Self::Rid,
        Self::Object,
        Self::Callable,
        Self::Signal,
        Self::Dictionary,
        Self::Array,
        Self::PackedByteArray,
        Self::PackedInt32Array,
        Self::PackedInt64Array,
        Self::PackedFloat32Array,
        Self::PackedFloat64Array,
        Self::PackedStringArray,
        Self::PackedVector2Array,
        Self::PackedVector3Array,
        Self::PackedColorArray,
        Self::PackedVector4Array,
    ];

    /// All types of a dialect, each at its number.
    #[must_use]
    pub const fn all(dialect: Dialect) -> &'static [Self] {
        match dialect {
            Dialect::Godot3 => Self::GODOT_3,
            Dialect::Godot4 => Self::GODOT_4,
        }
    }

    /// The type of that number.
    #[must_use]
    pub fn from_number(dialect: Dialect, number: u32) -> Option<Self> {
        Self::all(dialect).get(usize::try_from(number).ok()?).copied()
    }

    /// Its number, if the dialect has it.
    #[must_use]
    pub fn number(self, dialect: Dialect) -> Option<u32> {
        Self::all(dialect).iter().position(|&ty| ty == self).and_then(|n| u32::try_from(n).ok())
    }

    /// Whether it is an array of plain values (`Packed...Array`, `Pool...Array`).
    #[must_use]
    pub fn is_packed(self) -> bool {
        self >= Self::PackedByteArray
    }

    /// Whether it is a vector, rectangle, plane, quaternion, box, basis, transform, projection or colour: a fixed run
    /// of numbers.
    #[must_use]
    pub fn is_math(self) -> bool {
        !self.is_packed() && self.layout().is_some()
    }
}

/// A run of equal numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NumberRun {
    /// How many.
    pub count: usize,
    /// The type of each number.
    pub scalar: Scalar,
}

impl NumberRun {
    /// Bytes of one value or element.
    pub const fn bytes(self, wide: bool) -> usize {
        self.count.saturating_mul(match self.scalar {
            Scalar::Byte => 1,
            Scalar::Int32 | Scalar::Single => 4,
            Scalar::Int64 | Scalar::Double => 8,
            Scalar::Real => {
                if wide {
                    8
                } else {
                    4
                }
            }
        })
    }
}

/// One number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    /// u8.
    Byte,
    /// i32.
    Int32,
    /// i64.
    Int64,
    /// f32.
    Single,
    /// f64.
    Double,
    /// f32, or f64 with the header's 64-bit flag: the `real_t` of the engine that wrote it.
    Real,
}
