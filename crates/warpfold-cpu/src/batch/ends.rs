//! Both extremes at once, each with its first index, where no element is NaN: one rank tells both ends.

use std::hint::select_unpredictable;

use super::lanes::{LaneOperation, N, Positions, without_exponent_range};
use super::ranks::{End, Order, Rank, Ranked};
use crate::Nan;
use warpfold_num::element::Ordered;

/// The least and the greatest element with their first indices. No element is NaN; indices ascend from 0 as elements are added, of no more than
/// [`MOST_INDICES`](super::MOST_INDICES) elements.
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
    fn ranked(self, rank: W, arg_index: u32) -> Ranked {
        Ranked { bits: rank.element(&self.greatest), arg_index: arg_index.into() }
    }
}

/// Ranks, by the order of the greatest, and their indices. What is no greater than the lowest rank there is leaves an index of 0, which is right: then all are
/// equal.
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
    /// The least first.
    type Small = [Ranked; 2];
    const NOTHING: [Ranked; 2] = [Ranked::NOTHING; 2];
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
    fn lane(self, lanes: &EndsLanes<W>, lane: usize) -> [Ranked; 2] {
        let least = self.ranked(lanes.least[lane], lanes.least_at[lane]);
        [least, self.ranked(lanes.greatest[lane], lanes.greatest_at[lane])]
    }

    #[inline(always)]
    fn all(self, lanes: &EndsLanes<W>) -> [[Ranked; 2]; N] {
        let mut all = [Self::NOTHING; N];
        for lane in 0..N {
            all[lane] = self.lane(lanes, lane);
        }
        all
    }

    #[inline(always)]
    fn total(self, lanes: &EndsLanes<W>) -> [Ranked; 2] {
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
    fn merge(self, [least, greatest]: &mut [Ranked; 2], other: &[Ranked; 2]) -> bool {
        self.least.join(least, &other[0]);
        self.greatest.join(greatest, &other[1]);
        true
    }

    #[inline(always)]
    fn moved([least, greatest]: [Ranked; 2], by: i64) -> [Ranked; 2] {
        [least.moved(by), greatest.moved(by)]
    }
}
