//! [`Plain`]: f64 additions, for narrow floats whose results are f32.

use super::super::lanes::{
    LaneOperation, MOST_OF_SUMS, MOST_TURNED, N, Positions, without_exponent_range,
};
use super::Approximate;
use super::widen::Widen;
use crate::float::added_by_halves;

/// Additions in one lane at most: each rounds, so that what many make is better added up by parts.
pub(crate) const MOST_PLAIN: u64 = 4096;

/// Sums and sums of squares by f64 additions, of what is left of parts of narrow floats when an element near them is taken away.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plain<W, const PARTS: usize, const LANES: usize> {
    near: [W; PARTS],
    pivots: [f64; LANES],
}

impl<W: Widen, const PARTS: usize, const LANES: usize> Plain<W, PARTS, LANES> {
    fn beside(near: [W; PARTS]) -> Self {
        Plain { near, pivots: std::array::from_fn(|lane| near[lane % PARTS].widen().0) }
    }

    /// For norms, whose elements are taken as they are.
    pub(crate) fn norms() -> Self {
        Self::beside([W::default(); PARTS])
    }

    /// For variances of the elements, some of which tell what is near them.
    pub(crate) fn variances(x: &[[W; PARTS]]) -> Self {
        const SOME: usize = 64;
        let some = || x.iter().step_by(x.len().div_ceil(SOME).max(1));
        let near = |part: usize| {
            let values = || some().map(|x| x[part].widen().0).filter(|x| x.is_finite());
            let n = values().count() as f64;
            let mean = values().sum::<f64>() / n;
            // Not far from zero, beside what they spread over, whole numbers are better left whole.
            let is_far = mean * mean > 0.98 * (values().map(|x| x * x).sum::<f64>() / n);
            let distance = |x: &[W; PARTS]| (x[part].widen().0 - mean).abs();
            let nearest = some().min_by(|a, b| distance(a).total_cmp(&distance(b)));
            nearest.filter(|_| is_far).map_or(W::default(), |x| x[part])
        };
        Self::beside(std::array::from_fn(near))
    }
}

impl<W, const PARTS: usize, const LANES: usize> Plain<W, PARTS, LANES> {
    /// What is taken away of the first part.
    pub(crate) fn pivot(&self) -> f64 {
        self.pivots[0]
    }
}

impl<W: Widen, const PARTS: usize, const LANES: usize> LaneOperation for Plain<W, PARTS, LANES> {
    type Element = [W; PARTS];
    type Lanes = [[f64; LANES]; 2];
    type Small = Approximate<f64, PARTS>;
    const NOTHING: Approximate<f64, PARTS> = Approximate { sum: [0.0; PARTS], squares: 0.0 };
    without_exponent_range!([W; PARTS]);
    // Where a run's last few elements cost much beside its others.
    const BESIDE: usize =
        if PARTS == 2 || size_of::<W>() <= 2 { MOST_TURNED } else { MOST_OF_SUMS };
    const TURNS_FULL: bool = size_of::<W>() <= 2;
    const TURNS_FROM: usize = N + 1;

    #[inline(always)]
    fn filler(self, _: [W; PARTS]) -> [W; PARTS] {
        self.near
    }

    #[inline(always)]
    fn lanes(self, (): ()) -> Self::Lanes {
        [[0.0; LANES]; 2]
    }

    #[inline(always)]
    fn add(self, [sums, squares]: &mut Self::Lanes, x: &[[W; PARTS]; N], _: Positions) {
        let parts = x.as_flattened();
        for lane in 0..LANES {
            let x = parts[lane].widen().0 - self.pivots[lane];
            sums[lane] += x;
            squares[lane] = x.mul_add(x, squares[lane]);
        }
    }

    #[inline(always)]
    fn lane(self, [sums, squares]: &Self::Lanes, lane: usize) -> Approximate<f64, PARTS> {
        let first = lane * PARTS;
        let mut all = Self::NOTHING;
        all.sum.copy_from_slice(&sums[first..first + PARTS]);
        for part in 0..PARTS {
            all.squares += squares[first + part];
        }
        all
    }

    #[inline(always)]
    fn total(self, [sums, squares]: &Self::Lanes) -> Approximate<f64, PARTS> {
        let (sums, squares) = (added_by_halves(*sums, PARTS), added_by_halves(*squares, 1));
        let mut all = Approximate { squares: squares[0], ..Self::NOTHING };
        all.sum.copy_from_slice(&sums[..PARTS]);
        all
    }

    const PUTS: bool = true;

    #[inline(always)]
    fn put(self, small: &mut Approximate<f64, PARTS>, x: [W; PARTS]) -> bool {
        for part in 0..PARTS {
            let x = x[part].widen().0 - self.pivots[part];
            small.sum[part] += x;
            small.squares = x.mul_add(x, small.squares);
        }
        true
    }

    const MERGES: bool = true;
    const MOST_ADDED: u64 = MOST_PLAIN;

    #[inline(always)]
    fn merge(self, small: &mut Approximate<f64, PARTS>, other: &Approximate<f64, PARTS>) -> bool {
        for part in 0..PARTS {
            small.sum[part] += other.sum[part];
        }
        small.squares += other.squares;
        true
    }
}
