//! Sums and sums of squares of groups, exactly: of floats in five of them, of integers in 128 bits each.

use super::kinds::Kind;
use crate::batch::Approximate;
use crate::kernels::Kernels;
use warpfold_exact::exact::{Expansion, Moments, tally};
use warpfold_exact::partial::Partial;
use warpfold_num::Nan;
use warpfold_num::double_double::{DoubleDouble, fast_two_sum, two_sum};
use warpfold_num::element::Decode;

/// Sums and sums of squares.
#[derive(Clone, Copy)]
pub(super) struct SumAndSquares;

/// What a slot knows, as what moments are rounded from: the sum and the sum of squares are off by less than 2^-103 of the latter.
pub(super) trait Nearly {
    fn nearly(&self) -> Approximate<DoubleDouble, 1>;
}

/// 106 bits of the sum and 159 of the squares.
#[derive(Clone, Copy)]
pub(super) struct FloatMoments {
    sum: Expansion<2>,
    squares: Expansion<3>,
}

/// Fewer than 2^63 integers of 64 bits cannot fill the sum.
#[derive(Clone, Copy)]
pub(super) struct IntegerMoments {
    sum: i128,
    squares: u128,
}

impl Kind<f64> for SumAndSquares {
    type Small = FloatMoments;
    const NOTHING: FloatMoments = FloatMoments { sum: Expansion::ZERO, squares: Expansion::ZERO };

    #[inline(always)]
    fn put(self, small: &mut FloatMoments, x: f64, _: u64) -> bool {
        let mut new = *small;
        let fits = new.sum.add(x) && new.squares.add_product(x, x);
        if fits {
            *small = new;
        }
        fits
    }

    #[inline(always)]
    fn merge(self, small: &mut FloatMoments, other: &FloatMoments) -> bool {
        let mut new = *small;
        let fits = new.sum.add_all(&other.sum) && new.squares.add_all(&other.squares);
        if fits {
            *small = new;
        }
        fits
    }

    fn flush(small: &FloatMoments, _: Nan, count: u64, partial: &mut Partial<f64>) {
        let all = moments(partial);
        small.sum.add_to(&mut all.sum.as_mut()[0], f64::UNIT);
        small.squares.add_to(&mut all.squares, 2 * f64::UNIT);
        tally(&mut all.count, count);
    }

    fn add(partial: &mut Partial<f64>, x: f64, _: u64, nan: Nan) {
        if !(nan == Nan::Ignore && x.is_nan()) {
            moments(partial).add(x);
        }
    }
}

macro_rules! of_integers {
    ($($ty:ty),+) => {$(
        impl Kind<$ty> for SumAndSquares {
            type Small = IntegerMoments;
            const NOTHING: IntegerMoments = IntegerMoments { sum: 0, squares: 0 };

            #[inline(always)]
            fn put(self, small: &mut IntegerMoments, x: $ty, _: u64) -> bool {
                let x = i128::from(x);
                let square = x.unsigned_abs() * x.unsigned_abs();
                add(small, &IntegerMoments { sum: x, squares: square })
            }

            #[inline(always)]
            fn merge(self, small: &mut IntegerMoments, other: &IntegerMoments) -> bool {
                add(small, other)
            }

            fn flush(small: &IntegerMoments, _: Nan, count: u64, partial: &mut Partial<$ty>) {
                let all = moments(partial);
                all.sum.as_mut()[0].fixed.add_signed(small.sum, 0);
                all.squares.fixed.add(small.squares, 0, false);
                tally(&mut all.count, count);
            }

            fn add(partial: &mut Partial<$ty>, x: $ty, _: u64, _: Nan) {
                moments(partial).add(x);
            }
        }
    )+};
}
of_integers!(i64, u64);

/// Adds what there is room for.
#[inline(always)]
fn add(small: &mut IntegerMoments, other: &IntegerMoments) -> bool {
    let sum = small.sum.checked_add(other.sum);
    let (Some(sum), Some(squares)) = (sum, small.squares.checked_add(other.squares)) else {
        return false;
    };
    *small = IntegerMoments { sum, squares };
    true
}

fn moments<T: Kernels>(partial: &mut Partial<T>) -> &mut Moments<T> {
    match partial {
        Partial::Moments(all) => all,
        other => unreachable!("this is no partial of moments: {other:?}"),
    }
}

impl Nearly for FloatMoments {
    fn nearly(&self) -> Approximate<DoubleDouble, 1> {
        let &[sum, rest] = self.sum.terms();
        let &[first, second, third] = self.squares.terms();
        // Squares have one sign, so that each term is far smaller than the one before it.
        let upper = two_sum(first, second);
        let squares = fast_two_sum(upper.high, upper.low + third);
        Approximate { sum: [two_sum(sum, rest)], squares }
    }
}

impl Nearly for IntegerMoments {
    fn nearly(&self) -> Approximate<DoubleDouble, 1> {
        let high = self.sum as f64;
        let sum = DoubleDouble { high, low: (self.sum - high as i128) as f64 };
        let high = self.squares as f64;
        // Less than half of what 128 bits hold, whatever its sign.
        let rest = self.squares.wrapping_sub(high as u128) as i128;
        Approximate { sum: [sum], squares: DoubleDouble { high, low: rest as f64 } }
    }
}
