//! [`Key`]: the types that keys can have.

use std::fmt::{Debug, Display};
use std::hash::Hash;

use crate::{DType, Value};

mod sealed {
    pub trait Sealed {}
}

/// An integer that names a group: `bool` or an integer of 8 to 64 bits.
pub trait Key:
    sealed::Sealed + Copy + Ord + Hash + Debug + Display + Into<Value> + Send + Sync + 'static
{
    /// The type's name as data.
    const DTYPE: DType;

    /// The key as a group's number, where it is not negative.
    fn id(self) -> Option<u64>;

    /// The key of a group's number, where the type holds it.
    fn from_id(id: u64) -> Option<Self>;
}

macro_rules! keys {
    ($($ty:ty: $variant:ident),+) => {$(
        impl sealed::Sealed for $ty {}
        impl Key for $ty {
            const DTYPE: DType = DType::$variant;

            #[inline(always)]
            fn id(self) -> Option<u64> {
                u64::try_from(self).ok()
            }

            #[inline(always)]
            fn from_id(id: u64) -> Option<Self> {
                Self::try_from(id).ok()
            }
        }
    )+};
}
keys!(i8: I8, i16: I16, i32: I32, i64: I64, u8: U8, u16: U16, u32: U32, u64: U64);

impl sealed::Sealed for bool {}
impl Key for bool {
    const DTYPE: DType = DType::Bool;

    fn id(self) -> Option<u64> {
        Some(self.into())
    }

    fn from_id(id: u64) -> Option<Self> {
        match id {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}
