//! The groups of equal keys in the host's memory, whatever integers those are.

use warpfold_engine::{self as engine, HostArray, Parts};
use warpfold_num::{DType, Policy, Result};

/// Runs an expression with the keys as a slice of whatever type they have.
macro_rules! with_keys {
    ($keys:expr, $slice:ident => $body:expr) => {
        with_keys!($keys, $slice => $body, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64)
    };
    ($keys:expr, $slice:ident => $body:expr, $($variant:ident $ty:ty),+) => {
        match $keys.dtype() {
            $(DType::$variant => {
                let $slice: &[$ty] = $keys.slice().unwrap_or_default();
                $body
            })+
            other => unreachable!("keys of {other} were refused"),
        }
    };
}

/// The groups of equal keys, ascending.
pub(crate) fn found(keys: HostArray<'_>, n: usize, policy: Policy) -> Result<Parts<'static>> {
    with_keys!(keys, slice => engine::group_by(slice, n, policy))
}

/// The groups of keys that are their numbers.
pub(crate) fn dense(
    keys: HostArray<'_>,
    groups: u64,
    n: usize,
    policy: Policy,
) -> Result<Parts<'_>> {
    with_keys!(keys, slice => engine::group_dense(slice, groups, n, policy))
}
