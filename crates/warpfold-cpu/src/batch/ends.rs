//! [`FirstNumber`], and [`Ends`] for both at once: extremes with their first indices, where no element is NaN and indices ascend, by half the operations of
//! [`FirstHighest`](super::FirstHighest).

use std::hint::select_unpredictable;

use super::lanes::{LaneOperation, N, Positions, without_exponent_range};
use super::ranks::{End, Order, Rank, Ranked, Ranks};
use crate::Nan;
use warpfold_num::element::Ordered;

/// The highest rank of an order with its first index. No element is NaN; indices ascend from 0 as elements are added, and are no more than
/// [`MOST_INDICES`](super::MOST_INDICES).
#[derive(Debug, Clone, Copy)]
pub(crate) struct FirstNumber<W>(pub(crate) Order<W>);

impl<W: Rank> LaneOperation for FirstNumber<W> {
    type Element = W;
    type Lanes = Ranks<W>;
    type Small = Ranked<W>;
    const NOTHING: Ranked<W> = Ranked::NOTHING;
    const IS_LARGE: bool = true;
    without_exponent_range!(W);

    #[inline(always)]
    fn filler(self, first: W) -> W {
        first
    }

    // What is nowhere above the lowest rank leaves an index of 0, which is right: then all are equal.
    #[inline(always)]
    fn lanes(self, (): ()) -> Ranks<W> {
        Ranks { ranks: [W::LOWEST; N], arg_indices: [0; N] }
    }

    #[inline(always)]
    fn add(self, Ranks { ranks, arg_indices }: &mut Ranks<W>, x: &[W; N], at: Positions) {
        let mut new = [W::LOWEST; N];
        for l in 0..N {
            new[l] = x[l].number_rank(&self.0);
        }
        for l in 0..N {
            let here = at.of(l) as u32;
            arg_indices[l] = select_unpredictable(new[l] > ranks[l], here, arg_indices[l]);
        }
        for l in 0..N {
            ranks[l] = ranks[l].max(new[l]);
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

    #[inline(always)]
    fn merge(self, small: &mut Ranked<W>, other: &Ranked<W>) -> bool {
        self.0.join(small, other);
        true
    }

    #[inline(always)]
    fn moved(small: Ranked<W>, by: i64) -> Ranked<W> {
        small.moved(by)
    }
}

/// Both ends at once, the least first, as a [`FirstNumber`] each is: one rank tells both. Columns take them so, which go to memory every few rows; in rows each
/// end goes by itself, as only then all of its lanes are whole vectors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends<W> {
    greatest: Order<W>,
    least: Order<W>,
}

impl<W: Rank> Ends<W> {
    /// Those of a type.
    pub(crate) fn of<R: Ordered>(nan: Nan) -> Self {
        let order = |end| Order::of::<R>(end, nan);
        Ends { greatest: order(End::Greatest), least: order(End::Least) }
    }

    #[inline(always)]
    fn ranked(self, rank: W, arg_index: u32) -> Ranked<W> {
        self.greatest.ranked(rank, arg_index)
    }
}

/// Ranks, by the order of the greatest, and their indices.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EndsLanes<W> {
    greatest: [W; N],
    least: [W; N],
    greatest_at: [u32; N],
    least_at: [u32; N],
}

impl<W: Rank> LaneOperation for Ends<W> {
    type Element = W;
    type Lanes = EndsLanes<W>;
    type Small = [Ranked<W>; 2];
    const NOTHING: [Ranked<W>; 2] = [Ranked::NOTHING; 2];
    const IS_LARGE: bool = true;
    without_exponent_range!(W);

    #[inline(always)]
    fn filler(self, first: W) -> W {
        first
    }

    #[inline(always)]
    fn lanes(self, (): ()) -> EndsLanes<W> {
        EndsLanes {
            greatest: [W::LOWEST; N],
            least: [W::HIGHEST; N],
            greatest_at: [0; N],
            least_at: [0; N],
        }
    }

    #[inline(always)]
    fn add(self, lanes: &mut EndsLanes<W>, x: &[W; N], at: Positions) {
        let EndsLanes { greatest, least, greatest_at, least_at } = lanes;
        let mut new = [W::LOWEST; N];
        for l in 0..N {
            new[l] = x[l].number_rank(&self.greatest);
        }
        for l in 0..N {
            let here = at.of(l) as u32;
            greatest_at[l] = select_unpredictable(new[l] > greatest[l], here, greatest_at[l]);
        }
        for l in 0..N {
            let here = at.of(l) as u32;
            least_at[l] = select_unpredictable(new[l] < least[l], here, least_at[l]);
        }
        for l in 0..N {
            greatest[l] = greatest[l].max(new[l]);
        }
        for l in 0..N {
            least[l] = least[l].min(new[l]);
        }
    }

    #[inline(always)]
    fn lane(self, lanes: &EndsLanes<W>, lane: usize) -> [Ranked<W>; 2] {
        let least = self.ranked(lanes.least[lane], lanes.least_at[lane]);
        [least, self.ranked(lanes.greatest[lane], lanes.greatest_at[lane])]
    }

    #[inline(always)]
    fn all(self, lanes: &EndsLanes<W>) -> [[Ranked<W>; 2]; N] {
        let mut all = [Self::NOTHING; N];
        for l in 0..N {
            all[l][0] = self.ranked(lanes.least[l], lanes.least_at[l]);
        }
        for l in 0..N {
            all[l][1] = self.ranked(lanes.greatest[l], lanes.greatest_at[l]);
        }
        all
    }

    #[inline(always)]
    fn total(self, lanes: &EndsLanes<W>) -> [Ranked<W>; 2] {
        let mut turned = [W::LOWEST; N];
        for l in 0..N {
            turned[l] = !lanes.least[l];
        }
        let (least, least_at) = W::first_greatest(&turned, &lanes.least_at);
        let (greatest, greatest_at) = W::first_greatest(&lanes.greatest, &lanes.greatest_at);
        [self.ranked(!least, least_at), self.ranked(greatest, greatest_at)]
    }

    const MERGES: bool = true;

    #[inline(always)]
    fn merge(self, [least, greatest]: &mut [Ranked<W>; 2], other: &[Ranked<W>; 2]) -> bool {
        self.least.join(least, &other[0]);
        self.greatest.join(greatest, &other[1]);
        true
    }

    #[inline(always)]
    fn moved([least, greatest]: [Ranked<W>; 2], by: i64) -> [Ranked<W>; 2] {
        [least.moved(by), greatest.moved(by)]
    }
}
