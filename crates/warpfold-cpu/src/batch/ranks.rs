//! The highest element, many at a time, with its index where that is requested.
//!
//! Elements are compared as ranks: signed integers of their own width that grow with the order, turned over for minima, with every NaN on top
//! where NaN propagates and at the bottom where it is ignored. So NaNs, signed zeros and infinities take no path of their own,
//! and neither do types: their orders differ by a few constants.

use std::hint::{black_box, select_unpredictable};
use std::ops::{BitXor, Not};

use super::lanes::{LaneOperation, MOST_TURNED, N, Positions, without_exponent_range};
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

/// What is kept of an extreme.
pub(crate) trait Kept: Copy + Send + Sync {
    /// The bits of the element: of NaNs, those of the one that results have.
    fn bits(self) -> u64;

    /// Its first index, where that is kept.
    fn arg_index(self) -> u64;
}

/// The bits of an element.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extremum<W>(W);

impl<W: Rank> Kept for Extremum<W> {
    #[inline(always)]
    fn bits(self) -> u64 {
        self.0.bits()
    }

    #[inline(always)]
    fn arg_index(self) -> u64 {
        0
    }
}

/// The bits of an element, and its first index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ranked<W: Rank>(W::Indexed);

impl<W: Rank> Kept for Ranked<W> {
    #[inline(always)]
    fn bits(self) -> u64 {
        W::apart(self.0).0.bits()
    }

    #[inline(always)]
    fn arg_index(self) -> u64 {
        W::apart(self.0).1.into()
    }
}

impl<W: Rank> Ranked<W> {
    pub(super) const NOTHING: Self = Ranked(W::FIRST_ZERO);

    /// The same with an index that is so much greater.
    #[inline(always)]
    pub(super) fn moved(self, by: i64) -> Self {
        let (bits, arg_index) = W::apart(self.0);
        Ranked(bits.indexed(arg_index.wrapping_add_signed(by as i32)))
    }
}

/// Elements at most of an output whose indices are kept in 32 bits: as wide as most ranks, so that registers hold as many.
pub(crate) const MOST_INDICES: u64 = 1 << 32;

/// A signed integer that ranks are.
pub(crate) trait Rank:
    Copy + Ord + std::fmt::Debug + BitXor<Output = Self> + Not<Output = Self> + Send + Sync
{
    const LOWEST: Self;
    const HIGHEST: Self;
    const ZERO: Self;

    /// Bits and an index: one word where they fit, as lanes make words and do not make pairs.
    type Indexed: Copy + std::fmt::Debug + Send + Sync;
    const FIRST_ZERO: Self::Indexed;

    /// Both as one.
    fn indexed(self, arg_index: u32) -> Self::Indexed;

    /// Both again.
    fn apart(indexed: Self::Indexed) -> (Self, u32);

    /// The rank whose bits, in two's complement, these are, as many as it has.
    fn of_bits(bits: u64) -> Self;

    /// The rank of bits, by the constants of a type and end.
    fn rank(self, order: &Order<Self>) -> Self;

    /// The same of what is no NaN.
    fn number_rank(self, order: &Order<Self>) -> Self;

    /// The bits, zeros before them.
    fn bits(self) -> u64;

    /// The element of a rank.
    fn element(self, order: &Order<Self>) -> Self;

    /// The greatest rank, and the least index of it.
    fn first_greatest(ranks: &[Self; N], arg_indices: &[u32; N]) -> (Self, u32);
}

/// The order of a type, from an end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Order<W> {
    /// What is turned over of elements whose sign bit is set, and of others.
    negative: W,
    positive: W,
    /// The greatest magnitude that is no NaN's.
    infinite: W,
    /// The rank of every NaN, and the element that has it.
    of_nan: W,
    nan: W,
    /// Nothing: it makes this too large for a register or two. Out of these, what is chosen for each lane would be chosen in 64 bits and cut to its width.
    _room: [u64; 3],
}

macro_rules! rank {
    ($($ty:ty, $unsigned:ty, $indexed:ty: $zero:expr, $join:expr, $apart:expr, $first_greatest:ident);+) => {$(
        impl Rank for $ty {
            const LOWEST: $ty = <$ty>::MIN;
            const HIGHEST: $ty = <$ty>::MAX;
            const ZERO: $ty = 0;
            type Indexed = $indexed;
            const FIRST_ZERO: $indexed = $zero;

            #[inline(always)]
            fn indexed(self, arg_index: u32) -> $indexed {
                $join(self, arg_index)
            }

            #[inline(always)]
            fn apart(indexed: $indexed) -> ($ty, u32) {
                $apart(indexed)
            }

            fn of_bits(bits: u64) -> $ty {
                bits as $ty
            }

            #[inline(always)]
            fn rank(self, order: &Order<$ty>) -> $ty {
                let rank = self.number_rank(order);
                select_unpredictable(self & <$ty>::MAX > order.infinite, order.of_nan, rank)
            }

            #[inline(always)]
            fn number_rank(self, order: &Order<$ty>) -> $ty {
                self ^ select_unpredictable(self < 0, order.negative, order.positive)
            }

            #[inline(always)]
            fn bits(self) -> u64 {
                u64::from(self as $unsigned)
            }

            #[inline(always)]
            fn element(self, order: &Order<$ty>) -> $ty {
                let is_negative = self ^ order.positive < 0;
                let turn = select_unpredictable(is_negative, order.negative, order.positive);
                select_unpredictable(self == order.of_nan, order.nan, self ^ turn)
            }

            #[inline(always)]
            fn first_greatest(ranks: &[$ty; N], arg_indices: &[u32; N]) -> ($ty, u32) {
                $first_greatest(ranks, arg_indices)
            }
        }
    )+};
}
macro_rules! narrow_rank {
    ($($ty:ty, $unsigned:ty);+) => {
        rank!($($ty, $unsigned, u64: 0, |bits: $ty, arg_index| u64::from(bits as $unsigned) << 32 | u64::from(arg_index),
            |word: u64| ((word >> 32) as $ty, word as u32), by_words);+);
    };
}
narrow_rank!(i8, u8; i16, u16; i32, u32);
rank!(i64, u64, (i64, u32): (0, 0), |bits, arg_index| (bits, arg_index), std::convert::identity, in_turn);

/// The greatest of all, by halves.
#[inline(always)]
fn greatest<X: Copy + Ord>(mut all: [X; N]) -> X {
    let mut left = N;
    while left > 1 {
        left /= 2;
        for l in 0..left {
            all[l] = all[l].max(all[l + left]);
        }
    }
    all[0]
}

/// The greatest rank with its first index, as the upper half of a word and the lower one, which is turned over.
#[inline(always)]
fn by_words<W: Copy + Into<i64> + TryFrom<i64>>(
    ranks: &[W; N],
    arg_indices: &[u32; N],
) -> (W, u32) {
    let mut words = [0; N];
    for l in 0..N {
        words[l] = ranks[l].into() << 32 | i64::from(!arg_indices[l]);
    }
    let word = greatest(words);
    let Ok(rank) = W::try_from(word >> 32) else { unreachable!("the upper half is a rank") };
    (rank, !(word as u32))
}

/// The same of ranks as wide as words.
#[inline(always)]
fn in_turn(ranks: &[i64; N], arg_indices: &[u32; N]) -> (i64, u32) {
    // Out of memory, as they would be taken apart one by one otherwise, from the first addition on.
    let (ranks, arg_indices) = black_box((ranks, arg_indices));
    let (rank, mut first) = (greatest(*ranks), u32::MAX);
    for l in 0..N {
        first = first.min(select_unpredictable(ranks[l] == rank, arg_indices[l], u32::MAX));
    }
    (rank, first)
}

impl<W: Rank> Order<W> {
    /// The order of a type of the width of a rank, from an end.
    pub(crate) fn of<R: Ordered>(end: End, nan: Nan) -> Self {
        const { assert!(size_of::<R>() == size_of::<W>()) };
        let (all, none) = (W::of_bits(u64::MAX), W::of_bits(0));
        let signed = R::KEY_MIN < R::Key::default();
        // The sign bit of unsigned types, and all of minima; of negative floats all but the sign as well.
        let turned = if end == End::Least { all } else { none };
        let positive = if signed { turned } else { turned ^ W::LOWEST };
        let magnitude = if R::INFINITE.is_some() { W::HIGHEST } else { none };
        let of_nan = if nan == Nan::Propagate { W::HIGHEST } else { W::LOWEST };
        let order = Order {
            negative: positive ^ magnitude,
            positive,
            // No magnitude of an integer is above the highest.
            infinite: R::INFINITE.map_or(W::HIGHEST, |infinite| W::of_bits(infinite.into())),
            of_nan,
            nan: of_nan,
            _room: [0; 3],
        };
        // Of integers an element like others: a rank is turned by what depends on the sign of its element.
        let nan = match R::INFINITE {
            Some(_) => W::of_bits(R::nan().magnitude().into()),
            None => of_nan ^ positive,
        };
        Order { nan, ..order }
    }

    /// The element of a rank, and its index.
    #[inline(always)]
    pub(super) fn ranked(&self, rank: W, arg_index: u32) -> Ranked<W> {
        Ranked(rank.element(self).indexed(arg_index))
    }

    /// The higher one of two, of equal ones the first.
    #[inline(always)]
    pub(super) fn join(&self, small: &mut Ranked<W>, other: &Ranked<W>) {
        let ((one, first), (next, later)) = (W::apart(small.0), W::apart(other.0));
        if (next.rank(self), first) > (one.rank(self), later) {
            *small = *other;
        }
    }
}

/// The highest rank of an order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Highest<W>(pub(crate) Order<W>);

impl<W: Rank> LaneOperation for Highest<W> {
    type Element = W;
    type Lanes = [W; N];
    type Small = Extremum<W>;
    const NOTHING: Extremum<W> = Extremum(W::ZERO);
    without_exponent_range!(W);

    #[inline(always)]
    fn filler(self, first: W) -> W {
        first
    }

    #[inline(always)]
    fn lanes(self, (): ()) -> [W; N] {
        [W::LOWEST; N]
    }

    #[inline(always)]
    fn add(self, lanes: &mut [W; N], x: &[W; N], _: Positions) {
        for l in 0..N {
            lanes[l] = lanes[l].max(x[l].rank(&self.0));
        }
    }

    #[inline(always)]
    fn lane(self, lanes: &[W; N], lane: usize) -> Extremum<W> {
        Extremum(lanes[lane].element(&self.0))
    }

    #[inline(always)]
    fn all(self, lanes: &[W; N]) -> [Extremum<W>; N] {
        let mut all = [Self::NOTHING; N];
        for l in 0..N {
            all[l] = Extremum(lanes[l].element(&self.0));
        }
        all
    }

    #[inline(always)]
    fn total(self, lanes: &[W; N]) -> Extremum<W> {
        Extremum(greatest(*lanes).element(&self.0))
    }

    const MERGES: bool = true;

    // The kernels for one array are as fast.
    const MOST_TILES: usize = 0;

    #[inline(always)]
    fn merge(self, small: &mut Extremum<W>, other: &Extremum<W>) -> bool {
        if other.0.rank(&self.0) > small.0.rank(&self.0) {
            *small = *other;
        }
        true
    }
}

/// The highest rank of an order with its first index, in inputs of no more than [`MOST_INDICES`] elements.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FirstHighest<W>(pub(crate) Order<W>);

/// Ranks and indices side by side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ranks<W> {
    pub(super) ranks: [W; N],
    pub(super) arg_indices: [u32; N],
}

impl<W: Rank> LaneOperation for FirstHighest<W> {
    type Element = W;
    type Lanes = Ranks<W>;
    type Small = Ranked<W>;
    const NOTHING: Ranked<W> = Ranked::NOTHING;
    without_exponent_range!(W);
    // Of indices beside words of 64 bits few are compared at a time.
    const BESIDE: usize = [MOST_TURNED, N + N / 2, 3 * N][size_of::<W>() / 4];

    #[inline(always)]
    fn filler(self, first: W) -> W {
        first
    }

    #[inline(always)]
    fn lanes(self, (): ()) -> Ranks<W> {
        Ranks { ranks: [W::LOWEST; N], arg_indices: [u32::MAX; N] }
    }

    #[inline(always)]
    fn add(self, Ranks { ranks, arg_indices }: &mut Ranks<W>, x: &[W; N], at: Positions) {
        // Loops that are short enough to be unrolled, as what they leave stays in registers then.
        let (mut new, mut first) = ([W::LOWEST; N], *arg_indices);
        for l in 0..N {
            new[l] = x[l].rank(&self.0);
        }
        for l in 0..N {
            // No element waits for a comparison of indices.
            let least = first[l].min(at.of(l) as u32);
            first[l] = select_unpredictable(new[l] == ranks[l], least, first[l]);
        }
        for l in 0..N {
            arg_indices[l] = select_unpredictable(new[l] > ranks[l], at.of(l) as u32, first[l]);
        }
        for l in 0..N {
            ranks[l] = select_unpredictable(new[l] > ranks[l], new[l], ranks[l]);
        }
    }

    #[inline(always)]
    fn lane(self, lanes: &Ranks<W>, lane: usize) -> Ranked<W> {
        self.0.ranked(lanes.ranks[lane], lanes.arg_indices[lane])
    }

    #[inline(always)]
    fn all(self, lanes: &Ranks<W>) -> [Ranked<W>; N] {
        let mut all = [Self::NOTHING; N];
        for l in 0..N {
            all[l] = self.0.ranked(lanes.ranks[l], lanes.arg_indices[l]);
        }
        all
    }

    #[inline(always)]
    fn total(self, lanes: &Ranks<W>) -> Ranked<W> {
        let (rank, arg_index) = W::first_greatest(&lanes.ranks, &lanes.arg_indices);
        self.0.ranked(rank, arg_index)
    }

    const MERGES: bool = true;

    // The kernels for one array are as fast.
    const MOST_TILES: usize = 0;

    #[inline(always)]
    fn merge(self, small: &mut Ranked<W>, other: &Ranked<W>) -> bool {
        self.0.join(small, other);
        true
    }

    fn moved(small: Ranked<W>, by: i64) -> Ranked<W> {
        small.moved(by)
    }
}

/// Both ends at once: the least first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BothEnds<W>(pub(crate) Highest<W>, pub(crate) Highest<W>);

impl<W: Rank> LaneOperation for BothEnds<W> {
    type Element = W;
    type Lanes = ([W; N], [W; N]);
    type Small = [Extremum<W>; 2];
    const NOTHING: [Extremum<W>; 2] = [Highest::<W>::NOTHING; 2];
    without_exponent_range!(W);

    #[inline(always)]
    fn filler(self, first: W) -> W {
        first
    }

    #[inline(always)]
    fn lanes(self, (): ()) -> Self::Lanes {
        (self.0.lanes(()), self.1.lanes(()))
    }

    #[inline(always)]
    fn add(self, lanes: &mut Self::Lanes, x: &[W; N], at: Positions) {
        self.0.add(&mut lanes.0, x, at);
        self.1.add(&mut lanes.1, x, at);
    }

    #[inline(always)]
    fn lane(self, lanes: &Self::Lanes, lane: usize) -> [Extremum<W>; 2] {
        [self.0.lane(&lanes.0, lane), self.1.lane(&lanes.1, lane)]
    }

    #[inline(always)]
    fn all(self, lanes: &Self::Lanes) -> [[Extremum<W>; 2]; N] {
        let (least, greatest) = (self.0.all(&lanes.0), self.1.all(&lanes.1));
        let mut all = [Self::NOTHING; N];
        for l in 0..N {
            all[l] = [least[l], greatest[l]];
        }
        all
    }

    #[inline(always)]
    fn total(self, lanes: &Self::Lanes) -> [Extremum<W>; 2] {
        [self.0.total(&lanes.0), self.1.total(&lanes.1)]
    }

    const MERGES: bool = true;

    // The kernels for one array are as fast.
    const MOST_TILES: usize = 0;

    #[inline(always)]
    fn merge(self, small: &mut [Extremum<W>; 2], other: &[Extremum<W>; 2]) -> bool {
        let [least, greatest] = small;
        self.0.merge(least, &other[0]) && self.1.merge(greatest, &other[1])
    }
}
