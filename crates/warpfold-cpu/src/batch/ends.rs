//! [`FirstNumber`]: an extreme with its first index, where no element is NaN and indices ascend: half the operations of [`FirstHighest`](super::FirstHighest).

use std::hint::select_unpredictable;

use super::lanes::{LaneOperation, N, Positions, without_exponent_range};
use super::ranks::{Order, Rank, Ranked, Ranks};

/// The highest rank of an order with its first index. No element is NaN; indices ascend from 0 as elements are added, and are no more than
/// [`MOST_INDICES`](super::MOST_INDICES).
#[derive(Debug, Clone, Copy)]
pub(crate) struct FirstNumber<W>(pub(crate) Order<W>);

impl<W: Rank> LaneOperation for FirstNumber<W> {
    type Element = W;
    type Lanes = Ranks<W>;
    type Small = Ranked;
    const NOTHING: Ranked = Ranked::NOTHING;
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
    fn lane(self, lanes: &Ranks<W>, lane: usize) -> Ranked {
        self.0.ranked(lanes.ranks[lane], lanes.arg_indices[lane])
    }

    #[inline(always)]
    fn all(self, lanes: &Ranks<W>) -> [Ranked; N] {
        let mut all = [Ranked::NOTHING; N];
        for lane in 0..N {
            all[lane] = self.lane(lanes, lane);
        }
        all
    }

    #[inline(always)]
    fn total(self, lanes: &Ranks<W>) -> Ranked {
        let (rank, arg_index) = W::first_greatest(&lanes.ranks, &lanes.arg_indices);
        self.0.ranked(rank, arg_index)
    }

    const MERGES: bool = true;

    #[inline(always)]
    fn merge(self, small: &mut Ranked, other: &Ranked) -> bool {
        self.0.join(small, other);
        true
    }

    #[inline(always)]
    fn moved(small: Ranked, by: i64) -> Ranked {
        small.moved(by)
    }
}
