//! The highest element, many at a time, with its index where that is requested.
//!
//! Elements are compared as ranks: signed integers of their own width that grow with the order, turned over for minima, with every NaN on top
//! where NaN propagates and at the bottom where it is ignored. So NaNs, signed zeros and infinities take no path of their own,
//! and neither do types: their orders differ by a few constants.

use std::hint::select_unpredictable;

use super::lanes::{LaneOperation, N, Positions, without_exponent_range};
use crate::Nan;
use warpfold_num::element::Ordered;

/// Which end of the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The least element.
    Least,
    /// The greatest element.
    Greatest,
}

/// The bits of an element, and its first index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ranked {
    pub(crate) bits: u64,
    pub(crate) arg_index: u64,
}

/// A signed integer that ranks are.
pub(crate) trait Rank: Copy + Ord + Send + Sync {
    const LOWEST: Self;
    const HIGHEST: Self;

    /// The rank whose bits, in two's complement, these are, as many as it has.
    fn of_bits(bits: u64) -> Self;

    /// The rank of bits, by the constants of a type and end.
    fn rank(self, order: &Order<Self>) -> Self;

    /// The bits of a rank: of NaN's, those of some NaN, since no number has that rank.
    fn element(self, order: &Order<Self>) -> u64;
}

/// The order of a type, from an end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order<W> {
    /// The sign bit, for unsigned types.
    bias: W,
    /// What is turned over of negative floats: all but the sign.
    negative: W,
    /// All ones for minima.
    turn: W,
    /// The greatest magnitude that is no NaN's.
    infinite: W,
    /// The rank of every NaN.
    of_nan: W,
}

macro_rules! rank {
    ($($ty:ty, $unsigned:ty);+) => {$(
        impl Rank for $ty {
            const LOWEST: $ty = <$ty>::MIN;
            const HIGHEST: $ty = <$ty>::MAX;

            fn of_bits(bits: u64) -> $ty {
                bits as $ty
            }

            #[inline(always)]
            fn rank(self, order: &Order<$ty>) -> $ty {
                let key = self ^ order.bias;
                let key = key ^ (key >> (<$ty>::BITS - 1)) & order.negative;
                let nan = self & <$ty>::MAX > order.infinite;
                select_unpredictable(nan, order.of_nan, key ^ order.turn)
            }

            #[inline(always)]
            fn element(self, order: &Order<$ty>) -> u64 {
                let key = self ^ order.turn;
                let key = key ^ (key >> (<$ty>::BITS - 1)) & order.negative;
                u64::from((key ^ order.bias) as $unsigned)
            }
        }
    )+};
}
rank!(i8, u8; i16, u16; i32, u32; i64, u64);

impl<W: Rank> Order<W> {
    /// The order of a type of the width of a rank, from an end.
    pub(crate) fn of<R: Ordered>(end: End, nan: Nan) -> Self {
        const { assert!(size_of::<R>() == size_of::<W>()) };
        let (all, none) = (W::of_bits(u64::MAX), W::of_bits(0));
        let signed = R::KEY_MIN < R::Key::default();
        Order {
            bias: if signed { none } else { W::LOWEST },
            negative: if R::INFINITE.is_some() { W::HIGHEST } else { none },
            turn: if end == End::Least { all } else { none },
            // No magnitude of an integer is above the highest.
            infinite: R::INFINITE.map_or(W::HIGHEST, |infinite| W::of_bits(infinite.into())),
            of_nan: if nan == Nan::Propagate { W::HIGHEST } else { W::LOWEST },
        }
    }
}

/// The highest rank of an order; `PLACED` with its first index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Highest<W, const PLACED: bool>(pub(crate) Order<W>);

/// Ranks and indices side by side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ranks<W> {
    ranks: [W; N],
    arg_indices: [u64; N],
}

impl<W: Rank, const PLACED: bool> Highest<W, PLACED> {
    #[inline(always)]
    fn empty() -> Ranks<W> {
        Ranks { ranks: [W::LOWEST; N], arg_indices: [u64::MAX; N] }
    }

    #[inline(always)]
    fn take(self, lanes: &mut Ranks<W>, x: &[W; N], arg_indices: Positions) {
        for l in 0..N {
            let (rank, best) = (x[l].rank(&self.0), lanes.ranks[l]);
            if PLACED {
                let arg_index = arg_indices.of(l);
                let before = (rank > best) | ((rank == best) & (arg_index < lanes.arg_indices[l]));
                lanes.ranks[l] = select_unpredictable(before, rank, best);
                lanes.arg_indices[l] =
                    select_unpredictable(before, arg_index, lanes.arg_indices[l]);
            } else {
                lanes.ranks[l] = select_unpredictable(rank > best, rank, best);
            }
        }
    }

    #[inline(always)]
    fn of_lane(self, lanes: &Ranks<W>, lane: usize) -> Ranked {
        let arg_index = if PLACED { lanes.arg_indices[lane] } else { 0 };
        Ranked { bits: lanes.ranks[lane].element(&self.0), arg_index }
    }

    #[inline(always)]
    fn of_all(self, lanes: &Ranks<W>) -> Ranked {
        let rank = lanes.ranks.into_iter().fold(W::LOWEST, Ord::max);
        let mut arg_index = if PLACED { u64::MAX } else { 0 };
        if PLACED {
            for l in 0..N {
                let here = (lanes.ranks[l] == rank) & (lanes.arg_indices[l] < arg_index);
                arg_index = select_unpredictable(here, lanes.arg_indices[l], arg_index);
            }
        }
        Ranked { bits: rank.element(&self.0), arg_index }
    }
}

impl<W: Rank, const PLACED: bool> LaneOperation for Highest<W, PLACED> {
    type Element = W;
    type Lanes = Ranks<W>;
    type Small = Ranked;
    const NOTHING: Ranked = Ranked { bits: 0, arg_index: 0 };
    without_exponent_range!(W);

    #[inline(always)]
    fn filler(self, first: W) -> W {
        first
    }

    #[inline(always)]
    fn lanes(self, (): ()) -> Ranks<W> {
        Self::empty()
    }

    #[inline(always)]
    fn add(self, lanes: &mut Ranks<W>, x: &[W; N], arg_indices: Positions) {
        self.take(lanes, x, arg_indices);
    }

    #[inline(always)]
    fn lane(self, lanes: &Ranks<W>, lane: usize) -> Ranked {
        self.of_lane(lanes, lane)
    }

    #[inline(always)]
    fn total(self, lanes: &Ranks<W>) -> Ranked {
        self.of_all(lanes)
    }

    fn moved(small: Ranked, by: i64) -> Ranked {
        Ranked { arg_index: small.arg_index.wrapping_add_signed(by), ..small }
    }
}

/// Both ends at once: the least first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BothEnds<W>(pub(crate) Highest<W, false>, pub(crate) Highest<W, false>);

impl<W: Rank> LaneOperation for BothEnds<W> {
    type Element = W;
    type Lanes = (Ranks<W>, Ranks<W>);
    type Small = [Ranked; 2];
    const NOTHING: [Ranked; 2] = [Ranked { bits: 0, arg_index: 0 }; 2];
    without_exponent_range!(W);

    #[inline(always)]
    fn filler(self, first: W) -> W {
        first
    }

    #[inline(always)]
    fn lanes(self, (): ()) -> Self::Lanes {
        (Highest::<W, false>::empty(), Highest::<W, false>::empty())
    }

    #[inline(always)]
    fn add(self, lanes: &mut Self::Lanes, x: &[W; N], arg_indices: Positions) {
        self.0.take(&mut lanes.0, x, arg_indices);
        self.1.take(&mut lanes.1, x, arg_indices);
    }

    #[inline(always)]
    fn lane(self, lanes: &Self::Lanes, lane: usize) -> [Ranked; 2] {
        [self.0.of_lane(&lanes.0, lane), self.1.of_lane(&lanes.1, lane)]
    }

    #[inline(always)]
    fn total(self, lanes: &Self::Lanes) -> [Ranked; 2] {
        [self.0.of_all(&lanes.0), self.1.of_all(&lanes.1)]
    }
}
