//! The largest magnitude of real elements, many at a time.

use std::hint::select_unpredictable;

use super::lanes::{LaneOperation, N, Positions, without_exponent_range};
use crate::Nan;
use warpfold_num::element::Ordered;

/// The bits of a magnitude as [`Ordered::magnitude`] gives it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Widest(pub(crate) u64);

/// An unsigned integer that magnitudes are.
pub(crate) trait Size: Copy + Ord + Default + Into<u64> + Send + Sync {
    /// The size of bits, by the constants of a type.
    fn size(self, of: &Sizes<Self>) -> Self;
}

/// How a type's bits become magnitudes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes<W> {
    /// All ones where negative numbers are two's complements.
    complements: W,
    /// All but the sign of floats.
    mask: W,
    /// The greatest magnitude that counts: NaNs lie above those of numbers.
    most: W,
}

impl<W: Size + TryFrom<u64, Error: std::fmt::Debug>> Sizes<W> {
    /// The magnitudes of a type.
    pub(crate) fn of<R: Ordered>(nan: Nan) -> Self {
        const { assert!(size_of::<R>() == size_of::<W>()) };
        let word = |bits: u64| {
            W::try_from(bits & (u64::MAX >> (64 - 8 * size_of::<W>()))).expect("cut to size")
        };
        let signed = R::INFINITE.is_none() && R::KEY_MIN < R::Key::default();
        Sizes {
            complements: word(if signed { u64::MAX } else { 0 }),
            mask: word(if R::INFINITE.is_some() { R::MAGNITUDE_MAX.into() } else { u64::MAX }),
            most: match (nan, R::INFINITE) {
                (Nan::Ignore, Some(infinite)) => word(infinite.into()),
                _ => word(u64::MAX),
            },
        }
    }
}

macro_rules! size {
    ($($ty:ty, $signed:ty);+) => {$(
        impl Size for $ty {
            #[inline(always)]
            fn size(self, of: &Sizes<$ty>) -> $ty {
                let sign = ((self as $signed) >> (<$ty>::BITS - 1)) as $ty & of.complements;
                let size = (self ^ sign).wrapping_sub(sign) & of.mask;
                select_unpredictable(size > of.most, 0, size)
            }
        }
    )+};
}
size!(u8, i8; u16, i16; u32, i32; u64, i64);

/// Magnitudes as integers, among which those of NaNs are the largest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Largest<W>(pub(crate) Sizes<W>);

impl<W: Size> LaneOperation for Largest<W> {
    type Element = W;
    type Lanes = [W; N];
    type Small = Widest;
    const NOTHING: Widest = Widest(0);
    without_exponent_range!(W);
    const TURNS_FULL: bool = size_of::<W>() <= 2;

    #[inline(always)]
    fn filler(self, first: W) -> W {
        first
    }

    #[inline(always)]
    fn lanes(self, (): ()) -> [W; N] {
        [W::default(); N]
    }

    #[inline(always)]
    fn add(self, lanes: &mut [W; N], x: &[W; N], _: Positions) {
        for l in 0..N {
            let size = x[l].size(&self.0);
            lanes[l] = select_unpredictable(size > lanes[l], size, lanes[l]);
        }
    }

    #[inline(always)]
    fn lane(self, lanes: &[W; N], lane: usize) -> Widest {
        Widest(lanes[lane].into())
    }

    #[inline(always)]
    fn total(self, lanes: &[W; N]) -> Widest {
        Widest(lanes.iter().copied().fold(W::default(), Ord::max).into())
    }
}
