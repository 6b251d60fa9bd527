//! Mapped values on their way to the fold.

use warpfold_expr::Type;
use warpfold_num::Nan;
use warpfold_plan::HostArray;

/// Values of the type that is computed in.
#[derive(Debug)]
pub(super) enum Buffer {
    Bool(Vec<bool>),
    I64(Vec<i64>),
    U64(Vec<u64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
}

macro_rules! each {
    ($buffer:expr, $values:ident => $body:expr) => {
        match $buffer {
            Buffer::Bool($values) => $body,
            Buffer::I64($values) => $body,
            Buffer::U64($values) => $body,
            Buffer::F32($values) => $body,
            Buffer::F64($values) => $body,
        }
    };
}

impl Buffer {
    pub(super) fn new(ty: Type, capacity: usize) -> Self {
        match ty {
            Type::Bool => Buffer::Bool(Vec::with_capacity(capacity)),
            Type::I64 => Buffer::I64(Vec::with_capacity(capacity)),
            Type::U64 => Buffer::U64(Vec::with_capacity(capacity)),
            Type::F32 => Buffer::F32(Vec::with_capacity(capacity)),
            Type::F64 => Buffer::F64(Vec::with_capacity(capacity)),
        }
    }

    pub(super) fn array(&self) -> HostArray<'_> {
        each!(self, values => HostArray::of(values))
    }

    pub(super) fn len(&self) -> usize {
        each!(self, values => values.len())
    }

    pub(super) fn clear(&mut self) {
        each!(self, values => values.clear());
    }

    /// Takes in the values of a tile, with ones for those that a mask drops: floats are multiplied by where they stand.
    pub(super) fn push_factors(&mut self, bytes: &[u8], n: usize, kept: &[u8]) {
        fn fill<T>(values: &mut [T], kept: &[u8], one: impl Fn() -> T) {
            let dropped = values.iter_mut().zip(kept).filter(|(_, kept)| **kept == 0);
            dropped.for_each(|(value, _)| *value = one());
        }
        let before = self.len();
        self.push(bytes, n, None);
        match self {
            Buffer::F32(values) => fill(&mut values[before..], kept, || 1.0),
            Buffer::F64(values) => fill(&mut values[before..], kept, || 1.0),
            Buffer::Bool(_) | Buffer::I64(_) | Buffer::U64(_) => {
                unreachable!("integers may close gaps")
            }
        }
    }

    /// Takes in the values of a tile, given as bytes; of those, where a mask says which, only some.
    pub(super) fn push(&mut self, bytes: &[u8], n: usize, kept: Option<&[u8]>) {
        fn all<T: bytemuck::AnyBitPattern>(
            values: &mut Vec<T>,
            bytes: &[u8],
            n: usize,
            kept: Option<&[u8]>,
        ) {
            let tile = &bytemuck::cast_slice::<u8, T>(bytes)[..n];
            let Some(kept) = kept else { return values.extend_from_slice(tile) };
            // Each is written, and the next one over it unless it counts: no branch to guess.
            let mut end = values.len();
            values.extend_from_slice(tile);
            for (&value, &kept) in tile.iter().zip(kept) {
                values[end] = value;
                end += usize::from(kept);
            }
            values.truncate(end);
        }
        match self {
            Buffer::Bool(values) => match kept {
                None => values.extend(bytes[..n].iter().map(|&byte| byte != 0)),
                Some(kept) => values.extend(
                    bytes[..n]
                        .iter()
                        .zip(kept)
                        .filter(|(_, kept)| **kept != 0)
                        .map(|(&byte, _)| byte != 0),
                ),
            },
            Buffer::I64(values) => all(values, bytes, n, kept),
            Buffer::U64(values) => all(values, bytes, n, kept),
            Buffer::F32(values) => all(values, bytes, n, kept),
            Buffer::F64(values) => all(values, bytes, n, kept),
        }
    }
}

/// Clears the mask of a tile where a value is NaN, if NaNs are ignored.
pub(super) fn drop_nans(ty: Type, bytes: &[u8], nan: Nan, kept: &mut [u8]) {
    if nan == Nan::Propagate {
        return;
    }
    match ty {
        Type::F32 => clear(bytemuck::cast_slice::<u8, f32>(bytes), f32::is_nan, kept),
        Type::F64 => clear(bytemuck::cast_slice::<u8, f64>(bytes), f64::is_nan, kept),
        Type::Bool | Type::I64 | Type::U64 => {}
    }
}

fn clear<T: Copy>(values: &[T], is_nan: impl Fn(T) -> bool, kept: &mut [u8]) {
    for (kept, &value) in kept.iter_mut().zip(values) {
        *kept &= u8::from(!is_nan(value));
    }
}

/// The first element of a tile, of those that count, whose weight is negative or not finite.
pub(super) fn bad_weight(
    ty: Type,
    bytes: &[u8],
    n: usize,
    kept: Option<&[u8]>,
) -> Option<(usize, String)> {
    fn find<T: Copy + std::fmt::Display>(
        values: &[T],
        kept: Option<&[u8]>,
        is_bad: impl Fn(T) -> bool,
    ) -> Option<(usize, String)> {
        if !values.iter().fold(false, |any, &value| any | is_bad(value)) {
            return None;
        }
        let counts = |lane: usize| kept.is_none_or(|kept| kept[lane] != 0);
        let lane = (0..values.len()).find(|&lane| counts(lane) && is_bad(values[lane]))?;
        Some((lane, values[lane].to_string()))
    }
    match ty {
        Type::F32 => find(&bytemuck::cast_slice::<u8, f32>(bytes)[..n], kept, |w| {
            !(0.0..f32::INFINITY).contains(&w)
        }),
        Type::F64 => find(&bytemuck::cast_slice::<u8, f64>(bytes)[..n], kept, |w| {
            !(0.0..f64::INFINITY).contains(&w)
        }),
        Type::I64 => find(&bytemuck::cast_slice::<u8, i64>(bytes)[..n], kept, |w| w < 0),
        Type::U64 | Type::Bool => None,
    }
}
