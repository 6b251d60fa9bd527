//! Weights: which are none, and squares that they are multiplied with.

use num_bigint::BigInt;
use warpfold_expr::{Type, lanes};
use warpfold_num::Nan;

/// Clears the mask of a tile where a value is NaN, if NaNs are ignored.
pub(super) fn drop_nans(ty: Type, bytes: &[u8], nan: Nan, kept: &mut [u8]) {
    if nan == Nan::Propagate {
        return;
    }
    match ty {
        Type::F32 => lanes::clear_nans(bytemuck::cast_slice::<u8, f32>(bytes), kept),
        Type::F64 => lanes::clear_nans(bytemuck::cast_slice::<u8, f64>(bytes), kept),
        Type::Bool | Type::I64 | Type::U64 => {}
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
        let counts = |lane: usize| kept.is_none_or(|kept| kept[lane] != 0);
        let lane = (0..values.len()).find(|&lane| counts(lane) && is_bad(values[lane]))?;
        Some((lane, values[lane].to_string()))
    }
    /// Looks at each only if one is bad, which may be one that is left out.
    fn find_float<T: lanes::Float + std::fmt::Display>(
        values: &[T],
        kept: Option<&[u8]>,
    ) -> Option<(usize, String)> {
        match lanes::are_weights(values) {
            true => None,
            false => find(values, kept, |weight| !lanes::are_weights(&[weight])),
        }
    }
    match ty {
        Type::F32 => find_float(&bytemuck::cast_slice::<u8, f32>(bytes)[..n], kept),
        Type::F64 => find_float(&bytemuck::cast_slice::<u8, f64>(bytes)[..n], kept),
        Type::I64 => find(&bytemuck::cast_slice::<u8, i64>(bytes)[..n], kept, |w| w < 0),
        Type::U64 | Type::Bool => None,
    }
}

/// The unit of [`weighted_square`], a power of two.
pub(super) const SQUARES_UNIT: i64 = -3 * 1074;

/// w · x² of finite numbers, in units of 2^-3222.
pub(super) fn weighted_square(w: f64, x: f64) -> BigInt {
    let parts = |x: f64| {
        let (bits, sign) = (x.abs().to_bits(), if x < 0.0 { -1 } else { 1 });
        let (exponent, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
        let significand = if exponent == 0 { fraction } else { fraction | 1 << 52 };
        // 2^-1074 is the unit of each.
        (BigInt::from(significand) * sign, exponent.max(1) - 1)
    };
    let ((w, of_w), (x, of_x)) = (parts(w), parts(x));
    (w * &x * x) << (of_w + 2 * of_x)
}

/// The sum of w · x² of integers.
pub(super) fn weighted_squares<T: Copy + Into<i128>>(w: &[T], x: &[T]) -> BigInt {
    let is_small = |values: &[T]| values.iter().all(|&v| v.into().unsigned_abs() < 1 << 31);
    if is_small(w) && is_small(x) {
        let sum: i128 = w.iter().zip(x).map(|(&w, &x)| w.into() * x.into() * x.into()).sum();
        return sum.into();
    }
    let square = |x: i128| BigInt::from(x.unsigned_abs() * x.unsigned_abs());
    w.iter().zip(x).map(|(&w, &x)| square(x.into()) * w.into()).sum()
}
