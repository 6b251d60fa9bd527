//! [`LaneOperation`]: one kind of fold as `N` accumulators side by side, and the small exact value in each.
//!
//! Rows, columns and short segments differ only in what stands in the lanes: elements of one input, or one element each of `N`. So a kind
//! says how lanes take elements, and the drivers (`rows`, `columns`) say which. Where additions are exact only within a range of
//! exponents, a kind surveys elements before they are added and chooses the range from them; elements that no range covers go to the kernels
//! for one array. Once there is a range, a kind monitors elements while it adds them, and the driver takes back additions outside the range.
//!
//! Kinds see words: the order of all 32-bit types is one kind with a few constants, so that few kernels are compiled.

use super::band::Band;
use super::rows::{Along, Appended, RUNS_AT_ONCE};
use super::turned::{self, beside};
use crate::isa::with_lanes;
use warpfold_plan::plan::Isa;

/// Accumulators side by side: two registers of f64, or fewer of narrower numbers.
pub(crate) const N: usize = 16;

/// Elements of a run at most that is turned over to lie beside others: to turn over longer ones takes longer than their lanes.
pub(super) const MOST_TURNED: usize = 64;

/// The same of sums: the lanes of a longer run, and its last few elements, take no more time than to turn it over.
pub(super) const MOST_OF_SUMS: usize = 2 * N;

/// Where the elements that lanes take stand in their outputs' inputs: lane `l` at `first + l · step`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Positions {
    pub(super) first: u64,
    pub(super) step: u64,
}

impl Positions {
    #[inline(always)]
    pub(super) fn of(self, lane: usize) -> u64 {
        self.first.wrapping_add(self.step.wrapping_mul(lane as u64))
    }
}

/// A kind of fold. Everything that touches elements must be `#[inline(always)]`: it is compiled once for each instruction set.
pub(crate) trait LaneOperation: Copy + Send + Sync {
    /// An element's words.
    type Element: Copy + Send + Sync;
    /// What a survey finds.
    type Range: Copy;
    /// What lets additions be exact.
    type ExponentRange: Copy;
    /// What a monitor records of elements as they are added, lane by lane.
    type Monitor: Copy;
    /// `N` accumulators for one exponent range.
    type Lanes: Copy;
    /// What an accumulator holds, exactly.
    type Small: Copy + Send + Sync;

    /// What stands for an output that no accumulator holds; never read, but read without harm.
    const NOTHING: Self::Small;

    /// An element that changes nothing beside `first`, which stands before it.
    fn filler(self, first: Self::Element) -> Self::Element;

    /// Looks at elements that are in a near cache or on their way.
    fn survey(self, x: &[Self::Element]) -> Self::Range;

    /// What two surveys found together.
    fn join(one: Self::Range, other: Self::Range) -> Self::Range;

    /// The exponent range under which one accumulator, and those it is joined with, add so many of the surveyed elements exactly.
    fn exponents(self, range: Self::Range, additions: u64) -> Option<Self::ExponentRange>;

    /// A monitor before the first element.
    fn monitor(self) -> Self::Monitor;

    /// Looks at what is added.
    fn observe(self, monitor: &mut Self::Monitor, x: &[Self::Element; N]);

    /// Whether there is anything to be looked at.
    #[inline(always)]
    fn is_monitoring(self) -> bool {
        size_of::<Self::Monitor>() > 0
    }

    /// Whether all monitored elements are in the exponent range. Only then may the additions be kept.
    fn keeps(self, exponents: Self::ExponentRange, monitor: &Self::Monitor) -> bool;

    /// Empty accumulators.
    fn lanes(self, exponents: Self::ExponentRange) -> Self::Lanes;

    /// Adds an element to each.
    fn add(self, lanes: &mut Self::Lanes, x: &[Self::Element; N], arg_indices: Positions);

    /// Whether accumulators begin with an element more easily than they take it into none.
    const BEGINS: bool = false;

    /// Accumulators of an element each.
    #[inline(always)]
    fn begin(
        self,
        exponents: Self::ExponentRange,
        x: &[Self::Element; N],
        at: Positions,
    ) -> Self::Lanes {
        let mut lanes = self.lanes(exponents);
        self.add(&mut lanes, x, at);
        lanes
    }

    /// Adds the first few of some elements.
    #[inline(always)]
    fn add_some(
        self,
        lanes: &mut Self::Lanes,
        mut x: [Self::Element; N],
        some: usize,
        arg_indices: Positions,
    ) {
        let filler = self.filler(x[0]);
        for l in 0..N {
            x[l] = if l < some { x[l] } else { filler };
        }
        self.add(lanes, &x, arg_indices);
    }

    /// What a lane holds.
    fn lane(self, lanes: &Self::Lanes, lane: usize) -> Self::Small;

    /// What each holds.
    #[inline(always)]
    fn all(self, lanes: &Self::Lanes) -> [Self::Small; N] {
        let mut all = [Self::NOTHING; N];
        for lane in 0..N {
            all[lane] = self.lane(lanes, lane);
        }
        all
    }

    /// Appends what lanes hold, one after another.
    #[inline(always)]
    fn append(self, lanes: &[Self::Lanes], smalls: &mut Vec<Self::Small>) {
        smalls.reserve(lanes.len() * N);
        // No closure: it would be compiled as a call, without the instruction set.
        for lanes in lanes {
            smalls.extend_from_slice(&self.all(lanes));
        }
    }

    /// The first elements of a slice, as many as there are lanes, or all and what changes nothing beside them.
    #[inline(always)]
    fn group(self, x: &[Self::Element]) -> [Self::Element; N] {
        x.first_chunk().copied().unwrap_or_else(|| {
            let mut group = [self.filler(x[0]); N];
            group[..x.len()].copy_from_slice(x);
            group
        })
    }

    /// What all hold together.
    fn total(self, lanes: &Self::Lanes) -> Self::Small;

    /// What runs of elements hold, each in accumulators of its own.
    #[inline(always)]
    fn along(self, isa: Isa, runs: Along<'_, Self>) -> [Self::Small; RUNS_AT_ONCE] {
        with_lanes(isa, runs)
    }

    /// The same after what was found before.
    #[inline(always)]
    fn append_along(self, isa: Isa, runs: Along<'_, Self>, smalls: &mut Vec<Self::Small>) {
        with_lanes(isa, Appended { runs, smalls });
    }

    /// Adds `N` short runs, which lie one after another where `runs` begins, each to a lane.
    #[inline(always)]
    fn beside(
        self,
        _: Isa,
        lanes: Self::Lanes,
        runs: &[Self::Element],
        length: usize,
    ) -> Self::Lanes {
        beside(self, lanes, runs, length)
    }

    /// Adds elements of `N` runs whose indices begin with one, each group those of one index, by a call for each of several kinds.
    #[inline(always)]
    fn add_turned(
        self,
        isa: Isa,
        lanes: &mut Self::Lanes,
        groups: &[[Self::Element; N]],
        first: u64,
    ) {
        turned::add_turned(self, isa, lanes, groups, first);
    }

    /// Adds all rows of a group of neighbouring columns to lanes; what they make then is as it should be where the monitor says so.
    #[inline(always)]
    fn add_rows(
        band: &Band<'_, Self>,
        column: usize,
        lanes: Self::Lanes,
        made: &mut Self::Lanes,
    ) -> Self::Monitor {
        band.add_one(column, lanes, made)
    }

    /// The same of a kind that need not monitor, in place.
    #[inline(always)]
    fn add_rows_unmonitored(band: &Band<'_, Self>, column: usize, lanes: &mut Self::Lanes) {
        band.add_unmonitored(column, lanes);
    }

    /// Adds an element to each lane that has so many, by the index of the element; of others those are whatever they began with.
    #[inline(always)]
    fn add_there(
        self,
        lanes: &mut Self::Lanes,
        mut x: [Self::Element; N],
        lengths: &[u32; N],
        index: u32,
    ) {
        for l in 0..N {
            x[l] = if index < lengths[l] { x[l] } else { self.filler(x[l]) };
        }
        self.add(lanes, &x, Positions { first: index.into(), step: 0 });
    }

    /// The same as `add_turned` of runs of these lengths.
    #[inline(always)]
    fn add_uneven(
        self,
        isa: Isa,
        lanes: &mut Self::Lanes,
        groups: &[[Self::Element; N]],
        (first, lengths): (u32, &[u32; N]),
    ) {
        turned::add_uneven(self, isa, lanes, groups, (first, lengths));
    }

    /// Whether the lanes of one group fill the registers, or no element stands for nothing.
    const IS_LARGE: bool = false;

    /// Elements of a run at most of which `N` runs are added side by side, where all have one length: more than there are lanes where that is faster than
    /// the lanes of a run and its last few elements, which take the longer the narrower elements are.
    const BESIDE: usize = if size_of::<Self::Element>() <= 2 { MOST_TURNED } else { N };

    /// Whether some of them are turned over first. Runs of several lengths are not: no element stands for nothing there.
    const TURNS: bool = true;

    /// Elements of a run from which on it is: gathered one by one, narrow elements take the longer.
    const TURNS_FROM: usize = if size_of::<Self::Element>() <= 2 { 8 } else { N + 1 };

    /// Whether runs of more elements than there are lanes, but no last few, are turned over too.
    const TURNS_FULL: bool = false;

    /// Whether rows add their last few in a call, by `add_some`: among the selections of these the compiler leaves some accumulators no whole vectors.
    /// With AVX-512 the selections are masks, and only large kinds need the call.
    const RESTS_APART: bool = Self::IS_LARGE;

    /// Whether there may be elements that no exponent range covers.
    const MAY_MISS: bool = true;

    /// Whether elements are added to what an accumulator holds.
    const PUTS: bool = false;

    /// Adds an element to what an accumulator holds; `false`, and nothing has changed, where the element does not fit. What kinds do not know is not
    /// planned for (`plan::batch`).
    fn put(self, _small: &mut Self::Small, _x: Self::Element) -> bool {
        false
    }

    /// Whether it is known how to join what two accumulators hold.
    const MERGES: bool = false;

    /// Additions in one lane at most before what it holds is joined with what was found before: integer lanes hold so many.
    const MOST_ADDED: u64 = 1 << 30;

    /// Tiles of a run at most whose accumulators are joined; longer runs are left to the kernels for one array, whose start-up costs as much as adding so many.
    const MOST_TILES: usize = 8;

    /// Adds what another accumulator holds, in the same manner.
    fn merge(self, _small: &mut Self::Small, _other: &Self::Small) -> bool {
        false
    }

    /// What an accumulator holds if the indices of its elements are so much greater.
    fn moved(small: Self::Small, _: i64) -> Self::Small {
        small
    }
}

/// The items of a kind whose additions are exact whatever the elements.
macro_rules! without_exponent_range {
    ($element:ty) => {
        type Range = ();
        type ExponentRange = ();
        type Monitor = ();
        const MAY_MISS: bool = false;

        #[inline(always)]
        fn survey(self, _: &[$element]) {}

        #[inline(always)]
        fn join((): (), (): ()) {}

        #[inline(always)]
        fn exponents(self, (): (), _: u64) -> Option<()> {
            Some(())
        }

        #[inline(always)]
        fn monitor(self) {}

        #[inline(always)]
        fn observe(self, (): &mut (), _: &[$element; N]) {}

        #[inline(always)]
        fn keeps(self, (): (), (): &()) -> bool {
            true
        }
    };
}
pub(super) use without_exponent_range;
