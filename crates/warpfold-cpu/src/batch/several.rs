//! Several kinds of the same elements, which come from memory once: kinds take what is in a near cache one after another, each in a loop of its own. In one loop for
//! all, the compiler leaves no group of lanes in whole vectors.

use bytemuck::{Pod, cast_ref, cast_slice};

use super::band::Band;
use super::lanes::{LaneOperation, N, Positions};
use super::rows::{Along, RUNS_AT_ONCE};
use super::turned::beside_of_several;
use warpfold_plan::plan::Isa;

/// What is known of the elements' exponents is known by the first kind.
macro_rules! range_of_first {
    ($first:ty) => {
        type Range = <$first as $crate::batch::LaneOperation>::Range;
        type ExponentRange = <$first as LaneOperation>::ExponentRange;
        type Monitor = <$first as LaneOperation>::Monitor;

        #[inline(always)]
        fn filler(self, first: Self::Element) -> Self::Element {
            self.0.filler(first)
        }

        #[inline(always)]
        fn survey(self, x: &[Self::Element]) -> Self::Range {
            self.0.survey(x)
        }

        #[inline(always)]
        fn join(one: Self::Range, other: Self::Range) -> Self::Range {
            <$first as LaneOperation>::join(one, other)
        }

        #[inline(always)]
        fn exponents(self, range: Self::Range, additions: u64) -> Option<Self::ExponentRange> {
            self.0.exponents(range, additions)
        }

        #[inline(always)]
        fn monitor(self) -> Self::Monitor {
            self.0.monitor()
        }

        #[inline(always)]
        fn observe(self, monitor: &mut Self::Monitor, x: &[Self::Element; N]) {
            self.0.observe(monitor, x);
        }

        #[inline(always)]
        fn keeps(self, exponents: Self::ExponentRange, monitor: &Self::Monitor) -> bool {
            self.0.keeps(exponents, monitor)
        }
    };
}

pub(super) use range_of_first;

/// Two of a kind, which have one exponent range.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Twice<K>(pub(crate) K, pub(crate) K);

impl<K: LaneOperation> LaneOperation for Twice<K> {
    type Element = K::Element;
    type Lanes = [K::Lanes; 2];
    type Small = [K::Small; 2];
    const NOTHING: [K::Small; 2] = [K::NOTHING; 2];
    const MAY_MISS: bool = K::MAY_MISS;
    const MERGES: bool = K::MERGES;
    const MOST_ADDED: u64 = K::MOST_ADDED;
    const IS_LARGE: bool = true;

    range_of_first!(K);

    #[inline(always)]
    fn lanes(self, exponents: K::ExponentRange) -> Self::Lanes {
        [self.0.lanes(exponents), self.1.lanes(exponents)]
    }

    #[inline(always)]
    fn add(self, [one, other]: &mut Self::Lanes, x: &[K::Element; N], at: Positions) {
        self.0.add(one, x, at);
        self.1.add(other, x, at);
    }

    #[inline(always)]
    fn along(self, isa: Isa, runs: Along<'_, Self>) -> [Self::Small; RUNS_AT_ONCE] {
        let Along { kind: Twice(one, other), x, exponents, ahead, ranges } = runs;
        let ones = one.along(isa, Along { kind: one, x, exponents, ahead, ranges });
        let others = other.along(isa, Along { kind: other, x, exponents, ahead: 0, ranges });
        let mut both = [Self::NOTHING; RUNS_AT_ONCE];
        for k in 0..ranges.len() {
            both[k] = [ones[k], others[k]];
        }
        both
    }

    #[inline(always)]
    fn append_along(self, isa: Isa, runs: Along<'_, Self>, smalls: &mut Vec<Self::Small>) {
        let count = runs.ranges.len();
        smalls.extend_from_slice(&self.along(isa, runs)[..count]);
    }

    #[inline(always)]
    fn beside(
        self,
        isa: Isa,
        lanes: Self::Lanes,
        runs: &[K::Element],
        length: usize,
    ) -> Self::Lanes {
        beside_of_several(self, isa, lanes, runs, length)
    }

    #[inline(always)]
    fn add_turned(
        self,
        isa: Isa,
        [one, other]: &mut Self::Lanes,
        groups: &[[K::Element; N]],
        first: u64,
    ) {
        self.0.add_turned(isa, one, groups, first);
        self.1.add_turned(isa, other, groups, first);
    }

    #[inline(always)]
    fn add_uneven(
        self,
        isa: Isa,
        [one, other]: &mut Self::Lanes,
        groups: &[[K::Element; N]],
        lengths: (u32, &[u32; N]),
    ) {
        self.0.add_uneven(isa, one, groups, lengths);
        self.1.add_uneven(isa, other, groups, lengths);
    }

    #[inline(always)]
    fn add_rows(
        band: &Band<'_, Self>,
        column: usize,
        [one, other]: Self::Lanes,
        [one_made, other_made]: &mut Self::Lanes,
    ) -> K::Monitor {
        let Twice(first, second) = band.kind;
        let monitor = K::add_rows(&band.of(first, band.x), column, one, one_made);
        // Of the same elements.
        *other_made = other;
        K::add_rows_unmonitored(&band.of(second, band.x), column, other_made);
        monitor
    }

    #[inline(always)]
    fn add_rows_unmonitored(band: &Band<'_, Self>, column: usize, [one, other]: &mut Self::Lanes) {
        let Twice(first, second) = band.kind;
        K::add_rows_unmonitored(&band.of(first, band.x), column, one);
        K::add_rows_unmonitored(&band.of(second, band.x), column, other);
    }

    #[inline(always)]
    fn lane(self, [one, other]: &Self::Lanes, lane: usize) -> Self::Small {
        [self.0.lane(one, lane), self.1.lane(other, lane)]
    }

    #[inline(always)]
    fn all(self, [one, other]: &Self::Lanes) -> [Self::Small; N] {
        let (ones, others) = (self.0.all(one), self.1.all(other));
        let mut both = [Self::NOTHING; N];
        for lane in 0..N {
            both[lane] = [ones[lane], others[lane]];
        }
        both
    }

    #[inline(always)]
    fn total(self, [one, other]: &Self::Lanes) -> Self::Small {
        [self.0.total(one), self.1.total(other)]
    }

    #[inline(always)]
    fn merge(self, [one, other]: &mut Self::Small, [one_more, other_more]: &Self::Small) -> bool {
        let (mut next, mut other_next) = (*one, *other);
        let fits = self.0.merge(&mut next, one_more) && self.1.merge(&mut other_next, other_more);
        if fits {
            (*one, *other) = (next, other_next);
        }
        fits
    }

    #[inline(always)]
    fn moved([one, other]: Self::Small, by: i64) -> Self::Small {
        [K::moved(one, by), K::moved(other, by)]
    }
}

/// Two kinds of the same elements, the second of which takes all there are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Both<A, B>(pub(crate) A, pub(crate) B);

impl<A, B> LaneOperation for Both<A, B>
where
    A: LaneOperation<Element: Pod>,
    B: LaneOperation<Element: Pod, Range = (), ExponentRange = (), Monitor = ()>,
{
    type Element = A::Element;
    type Lanes = (A::Lanes, B::Lanes);
    type Small = (A::Small, B::Small);
    const NOTHING: (A::Small, B::Small) = (A::NOTHING, B::NOTHING);
    const MAY_MISS: bool = A::MAY_MISS;
    const MERGES: bool = A::MERGES && B::MERGES;
    const MOST_ADDED: u64 =
        if A::MOST_ADDED < B::MOST_ADDED { A::MOST_ADDED } else { B::MOST_ADDED };
    const IS_LARGE: bool = true;
    const BESIDE: usize = 224;
    const TURNS: bool = false;
    // The kernels for one array would read each run once for every kind.
    const MOST_TILES: usize = 1 << 16;

    range_of_first!(A);

    #[inline(always)]
    fn lanes(self, exponents: A::ExponentRange) -> Self::Lanes {
        (self.0.lanes(exponents), self.1.lanes(()))
    }

    #[inline(always)]
    fn add(self, (one, other): &mut Self::Lanes, x: &[A::Element; N], at: Positions) {
        self.0.add(one, x, at);
        self.1.add(other, cast_ref(x), at);
    }

    #[inline(always)]
    fn add_some(self, lanes: &mut Self::Lanes, x: [A::Element; N], some: usize, at: Positions) {
        let (one, other) = lanes;
        self.0.add_some(one, x, some, at);
        self.1.add_some(other, *cast_ref(&x), some, at);
    }

    #[inline(always)]
    fn along(self, isa: Isa, runs: Along<'_, Self>) -> [Self::Small; RUNS_AT_ONCE] {
        let Along { kind: Both(one, other), x, exponents, ahead, ranges } = runs;
        let ones = one.along(isa, Along { kind: one, x, exponents, ahead, ranges });
        let x = cast_slice(x);
        let others = other.along(isa, Along { kind: other, x, exponents: (), ahead: 0, ranges });
        let mut both = [Self::NOTHING; RUNS_AT_ONCE];
        for k in 0..ranges.len() {
            both[k] = (ones[k], others[k]);
        }
        both
    }

    #[inline(always)]
    fn append_along(self, isa: Isa, runs: Along<'_, Self>, smalls: &mut Vec<Self::Small>) {
        let count = runs.ranges.len();
        smalls.extend_from_slice(&self.along(isa, runs)[..count]);
    }

    #[inline(always)]
    fn beside(
        self,
        isa: Isa,
        lanes: Self::Lanes,
        runs: &[A::Element],
        length: usize,
    ) -> Self::Lanes {
        beside_of_several(self, isa, lanes, runs, length)
    }

    #[inline(always)]
    fn add_turned(
        self,
        isa: Isa,
        (one, other): &mut Self::Lanes,
        groups: &[[A::Element; N]],
        first: u64,
    ) {
        self.0.add_turned(isa, one, groups, first);
        self.1.add_turned(isa, other, cast_slice(groups), first);
    }

    #[inline(always)]
    fn add_uneven(
        self,
        isa: Isa,
        (one, other): &mut Self::Lanes,
        groups: &[[A::Element; N]],
        lengths: (u32, &[u32; N]),
    ) {
        self.0.add_uneven(isa, one, groups, lengths);
        self.1.add_uneven(isa, other, cast_slice(groups), lengths);
    }

    #[inline(always)]
    fn add_rows(
        band: &Band<'_, Self>,
        column: usize,
        (one, other): Self::Lanes,
        (one_made, other_made): &mut Self::Lanes,
    ) -> A::Monitor {
        let Both(first, second) = band.kind;
        let monitor = A::add_rows(&band.of(first, band.x), column, one, one_made);
        B::add_rows(&band.of(second, cast_slice(band.x)), column, other, other_made);
        monitor
    }

    #[inline(always)]
    fn add_rows_unmonitored(band: &Band<'_, Self>, column: usize, (one, other): &mut Self::Lanes) {
        let Both(first, second) = band.kind;
        A::add_rows_unmonitored(&band.of(first, band.x), column, one);
        B::add_rows_unmonitored(&band.of(second, cast_slice(band.x)), column, other);
    }

    #[inline(always)]
    fn lane(self, (one, other): &Self::Lanes, lane: usize) -> Self::Small {
        (self.0.lane(one, lane), self.1.lane(other, lane))
    }

    #[inline(always)]
    fn all(self, (one, other): &Self::Lanes) -> [Self::Small; N] {
        let (one, other) = (self.0.all(one), self.1.all(other));
        let mut both = [Self::NOTHING; N];
        for lane in 0..N {
            both[lane] = (one[lane], other[lane]);
        }
        both
    }

    #[inline(always)]
    fn total(self, (one, other): &Self::Lanes) -> Self::Small {
        (self.0.total(one), self.1.total(other))
    }

    #[inline(always)]
    fn merge(self, (one, other): &mut Self::Small, (one_more, other_more): &Self::Small) -> bool {
        let (mut next, mut other_next) = (*one, *other);
        let fits = self.0.merge(&mut next, one_more) && self.1.merge(&mut other_next, other_more);
        if fits {
            (*one, *other) = (next, other_next);
        }
        fits
    }

    #[inline(always)]
    fn moved((one, other): Self::Small, by: i64) -> Self::Small {
        (A::moved(one, by), B::moved(other, by))
    }
}
