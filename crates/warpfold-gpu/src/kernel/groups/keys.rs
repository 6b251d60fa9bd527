//! Keys by the name of their type: which numbers they are, and which of them are groups'.

use crate::group::{self, Key};
use crate::kernel::{AnyView, Executor};
use crate::{DType, Error, Result, Value};

/// Runs an expression with the type of keys that a name stands for.
macro_rules! with_key {
    ($dtype:expr, $K:ident => $body:expr, else $other:expr) => {{
        macro_rules! of {
            ($ty:ty) => {{
                type $K = $ty;
                $body
            }};
        }
        match $dtype {
            DType::Bool => of!(bool),
            DType::I8 => of!(i8),
            DType::I16 => of!(i16),
            DType::I32 => of!(i32),
            DType::I64 => of!(i64),
            DType::U8 => of!(u8),
            DType::U16 => of!(u16),
            DType::U32 => of!(u32),
            DType::U64 => of!(u64),
            _ => $other,
        }
    }};
}

/// Refuses keys that are no integers or not as many as values, and arrays that lie elsewhere.
pub(super) fn check(machine: &dyn Executor, keys: AnyView<'_>, values: AnyView<'_>) -> Result<()> {
    group::check_lengths(keys.len, values.len)?;
    if keys.dtype.is_float() {
        return Err(Error::Keys {
            requested: format!("groups of {} elements by keys of {}", values.len, keys.dtype),
            obstacle: "keys name groups, and these are no integers".into(),
            remedy: "give keys of bool or of integers",
        });
    }
    keys.check(machine)?;
    values.check(machine)
}

/// A key's rank among all numbers of 64 bits.
pub(super) fn rank(key: Value) -> u64 {
    let rank = key
        .dtype()
        .and_then(|dtype| with_key!(dtype, K => key.typed::<K>().map(Key::rank), else None));
    rank.unwrap_or_else(|| unreachable!("{key:?} was a key"))
}

/// The rank of zero among keys of a type.
pub(super) fn rank_of_zero(dtype: DType) -> u64 {
    with_key!(dtype, K => K::from_id(0).map_or(0, Key::rank), else 0)
}

/// The bytes of the key of a rank.
pub(super) fn bytes_of_rank(dtype: DType, rank: u64) -> Vec<u8> {
    with_key!(dtype, K => bytemuck::bytes_of(&K::from_rank(rank)).to_vec(), else Vec::new())
}

/// The greatest key that numbers of groups reach, and the first that is none's.
pub(super) fn bounds(dtype: DType, groups: u64) -> [u64; 2] {
    // What the keys' type cannot hold needs no bits.
    let (greatest, most) = (groups.saturating_sub(1), most(dtype));
    // Negative keys look greater than all that are not.
    [greatest.min(most), groups.min(most.saturating_add(1))]
}

/// The greatest number that a type of keys holds.
fn most(dtype: DType) -> u64 {
    let bits = 8 * dtype.size() as u32;
    let all = u64::MAX >> (u64::BITS - bits);
    // Signed types have half as many, and truth values two.
    let holds = |&id: &u64| with_key!(dtype, K => K::from_id(id).is_some(), else false);
    [all, all >> 1].iter().copied().find(holds).unwrap_or(1)
}

/// The error of a key that is no group's number.
pub(super) fn outside(keys: AnyView<'_>, groups: u64, index: usize, key: Value) -> Error {
    let error = with_key!(
        keys.dtype,
        K => key.typed::<K>().map(|key| group::outside(keys.len, groups, index, key)),
        else None
    );
    error.unwrap_or_else(|| unreachable!("{key:?} was a key of {}", keys.dtype))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_groups_end_where_the_type_of_keys_does() {
        assert_eq!(bounds(DType::I8, 1000), [127, 128]);
        assert_eq!(bounds(DType::U8, 1000), [255, 256]);
        assert_eq!(bounds(DType::U8, 7), [6, 7]);
        assert_eq!(bounds(DType::Bool, 9), [1, 2]);
        assert_eq!(bounds(DType::U64, 1 << 32), [(1 << 32) - 1, 1 << 32]);
        assert_eq!(bounds(DType::U16, 0), [0, 0]);
    }

    #[test]
    fn places_of_keys_are_those_of_their_types() {
        assert_eq!(rank((-1i32).into()) + 1, rank_of_zero(DType::I32));
        assert_eq!(rank(7u8.into()), 7);
        assert_eq!(bytes_of_rank(DType::I16, rank((-2i16).into())), (-2i16).to_ne_bytes());
        assert_eq!(bytes_of_rank(DType::Bool, rank(true.into())), [1]);
    }
}
