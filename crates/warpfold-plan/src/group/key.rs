//! [`Key`]: the types that keys can have.

use std::fmt::{Debug, Display};
use std::hash::Hash;

use crate::{DType, Value};

pub(super) mod sealed {
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

    /// The key's place among all numbers of 64 bits, in the order of keys.
    #[doc(hidden)]
    fn rank(self) -> u64;

    /// The key of a place that [`rank`](Self::rank) gave.
    #[doc(hidden)]
    fn from_rank(rank: u64) -> Self;
}

macro_rules! keys {
    ($($ty:ty: $variant:ident, $least:expr;)+) => {$(
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

            #[inline(always)]
            fn rank(self) -> u64 {
                (self as u64).wrapping_sub($least)
            }

            #[inline(always)]
            fn from_rank(rank: u64) -> Self {
                rank.wrapping_add($least) as $ty
            }
        }
    )+};
}
keys! {
    i8: I8, i64::MIN as u64;
    i16: I16, i64::MIN as u64;
    i32: I32, i64::MIN as u64;
    i64: I64, i64::MIN as u64;
    u8: U8, 0;
    u16: U16, 0;
    u32: U32, 0;
    u64: U64, 0;
}

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

    fn rank(self) -> u64 {
        self.into()
    }

    fn from_rank(rank: u64) -> Self {
        rank != 0
    }
}
