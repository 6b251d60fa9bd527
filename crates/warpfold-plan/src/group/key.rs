//! [`Key`]: the types that keys can have.

use std::fmt::{Debug, Display};
use std::hash::Hash;

use bytemuck::NoUninit;
use warpfold_num::Column;

use crate::{DType, Value};

pub(super) mod sealed {
    pub trait Sealed {}
}

/// An integer that names a group: `bool` or an integer of 8 to 64 bits, `usize` and `isize` among them.
pub trait Key:
    sealed::Sealed + Copy + Ord + Hash + Debug + Display + Into<Value> + Send + Sync + 'static
{
    /// The type's name as data.
    const DTYPE: DType;

    /// The key as a group's number, where it is not negative.
    fn id(self) -> Option<u64>;

    /// The key of a group's number, where the type holds it.
    fn from_id(id: u64) -> Option<Self>;

    /// The key's rank among all numbers of 64 bits, in the order of keys.
    #[doc(hidden)]
    fn rank(self) -> u64;

    /// The key of a rank that [`rank`](Self::rank) gave.
    #[doc(hidden)]
    fn from_rank(rank: u64) -> Self;

    /// Keys with their type inside.
    #[doc(hidden)]
    fn column(keys: Vec<Self>) -> Column;

    /// The keys of a column that [`column`](Self::column) made of this type.
    #[doc(hidden)]
    fn slice(column: &Column) -> Option<&[Self]>;
}

/// Keys that are numbers of a word of fixed length.
macro_rules! keys {
    ($($ty:ty as $word:ty: $variant:ident, $least:expr;)+) => {$(
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

            fn column(keys: Vec<Self>) -> Column {
                Column::of::<$word>(words(keys))
            }

            fn slice(column: &Column) -> Option<&[Self]> {
                column.slice::<$word>().map(bytemuck::cast_slice)
            }
        }
    )+};
}
keys! {
    i8 as i8: I8, i64::MIN as u64;
    i16 as i16: I16, i64::MIN as u64;
    i32 as i32: I32, i64::MIN as u64;
    i64 as i64: I64, i64::MIN as u64;
    u8 as u8: U8, 0;
    u16 as u16: U16, 0;
    u32 as u32: U32, 0;
    u64 as u64: U64, 0;
}
#[cfg(target_pointer_width = "64")]
keys! {
    isize as i64: I64, i64::MIN as u64;
    usize as u64: U64, 0;
}
#[cfg(target_pointer_width = "32")]
keys! {
    isize as i32: I32, i64::MIN as u64;
    usize as u32: U32, 0;
}

/// Keys as words of the same length, where they lie.
fn words<A: NoUninit, B: bytemuck::AnyBitPattern + NoUninit>(keys: Vec<A>) -> Vec<B> {
    bytemuck::try_cast_vec(keys).unwrap_or_else(|(_, keys)| bytemuck::cast_slice(&keys).to_vec())
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

    fn column(keys: Vec<Self>) -> Column {
        Column::of(keys)
    }

    fn slice(column: &Column) -> Option<&[Self]> {
        column.slice()
    }
}
