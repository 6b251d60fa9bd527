//! Sums of integers, many at a time: 64-bit lanes, and for 64-bit elements a second lane of upper halves that knows the carries.

use std::marker::PhantomData;

use super::lanes::{Kind, N, Places, without_rules};
use crate::element::{Element, Parts, Real};
use crate::exact::{Limbs, Register, tally};
use crate::partial::{Norm1, Partial};

/// An integer as these lanes add it.
pub(crate) trait Addend: Real {
    /// Whether sums need the upper lane.
    const WIDE: bool;

    /// The value's low 64 bits and what lies above its low 32 (of a magnitude: of the magnitude).
    fn halves(self, magnitude: bool) -> (u64, i64);
}

macro_rules! addends {
    ($($ty:ty as $word:ty, $wide:literal;)+) => {$(
        impl Addend for $ty {
            const WIDE: bool = $wide;

            #[inline(always)]
            fn halves(self, magnitude: bool) -> (u64, i64) {
                let word = self as $word;
                if magnitude {
                    let word = word.abs_diff(0) as u64;
                    (word, (word >> 32) as i64)
                } else {
                    (word as u64, (word >> 32 % <$word>::BITS) as i64)
                }
            }
        }
    )+};
}
addends! {
    bool as u8, false;
    i8 as i8, false;
    i16 as i16, false;
    i32 as i64, false;
    i64 as i64, true;
    u8 as u8, false;
    u16 as u16, false;
    u32 as u64, false;
    u64 as u64, true;
}

/// Sums of values or of magnitudes.
#[derive(Clone, Copy)]
pub(crate) struct IntegerSums<const MAGNITUDES: bool>(PhantomData<()>);

impl<const MAGNITUDES: bool> IntegerSums<MAGNITUDES> {
    pub(crate) fn new() -> Self {
        IntegerSums(PhantomData)
    }
}

/// Remainders of 2^64 of the sums, and for wide elements the sums of upper halves.
#[derive(Clone, Copy)]
pub(crate) struct Halves {
    remainders: [u64; N],
    uppers: [i64; N],
}

/// The sum that a remainder and the sum of the upper halves tell, if fewer than 2^31 were added.
#[inline(always)]
fn whole<T: Addend>(remainder: u64, upper: i64) -> i128 {
    if !T::WIDE {
        return i128::from(remainder as i64);
    }
    let lower = remainder.wrapping_sub((upper << 32) as u64);
    (i128::from(upper) << 32) + i128::from(lower)
}

impl<T, const MAGNITUDES: bool> Kind<T> for IntegerSums<MAGNITUDES>
where
    T: Element<Part = T, Small = i128> + Addend,
{
    without_rules!(T);

    type Lanes = Halves;
    type Small = T::Parts<i128>;

    #[inline(always)]
    fn filler(self, _: T) -> T {
        T::default()
    }

    #[inline(always)]
    fn lanes(self, (): ()) -> Halves {
        Halves { remainders: [0; N], uppers: [0; N] }
    }

    #[inline(always)]
    fn add(self, lanes: &mut Halves, x: &[T; N], _: Places) {
        for l in 0..N {
            let (remainder, upper) = x[l].halves(MAGNITUDES);
            lanes.remainders[l] = lanes.remainders[l].wrapping_add(remainder);
            if T::WIDE {
                lanes.uppers[l] += upper;
            }
        }
    }

    #[inline(always)]
    fn lane(lanes: &Halves, lane: usize) -> Self::Small {
        let (remainder, upper) = (lanes.remainders[lane], lanes.uppers[lane]);
        Parts::from_fn(|_| whole::<T>(remainder, upper))
    }

    #[inline(always)]
    fn total(lanes: &Halves) -> Self::Small {
        let remainder = lanes.remainders.into_iter().fold(0, u64::wrapping_add);
        let upper = lanes.uppers.into_iter().sum();
        Parts::from_fn(|_| whole::<T>(remainder, upper))
    }

    fn pour(self, small: &Self::Small, count: u64, partial: &mut Partial<T>) {
        fn add<L: Limbs>(register: &mut Register<L>, sum: i128) {
            register.fixed.add_signed(sum, 0);
        }
        let sum = small.as_ref()[0];
        match partial {
            Partial::Sum(exact) => {
                add(&mut exact.parts.as_mut()[0], sum);
                tally(&mut exact.count, count);
            }
            Partial::Norm1(norm) => {
                debug_assert_eq!(Norm1::<T>::UNIT, 0);
                add(&mut norm.total, sum);
                tally(&mut norm.count, count);
            }
            other => unreachable!("sums are poured into sums, not {other:?}"),
        }
    }
}
