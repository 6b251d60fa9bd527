//! The range of magnitudes among elements.

use std::hint::select_unpredictable;

use super::lanes::N;
use warpfold_num::DType;
use warpfold_num::element::Ordered;

/// The greatest magnitude, and the least but zero.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span<M> {
    pub(super) top: M,
    /// The greatest there is, if all are zero; zero of f16, whose sums need not know it.
    pub(super) low: M,
}

impl<M: Ord + Copy> Span<M> {
    #[inline(always)]
    pub(super) fn join(self, other: Self) -> Self {
        Span { top: greater(self.top, other.top), low: lesser(self.low, other.low) }
    }
}

#[inline(always)]
fn lesser<M: Ord + Copy>(a: M, b: M) -> M {
    select_unpredictable(b < a, b, a)
}

#[inline(always)]
fn greater<M: Ord + Copy>(a: M, b: M) -> M {
    select_unpredictable(b > a, b, a)
}

/// The spans of lanes.
#[derive(Clone, Copy)]
pub(crate) struct Spans<R: Ordered, const LANES: usize> {
    top: [R::Magnitude; LANES],
    low: [R::Magnitude; LANES],
}

impl<R: Ordered, const LANES: usize> Spans<R, LANES> {
    #[inline(always)]
    pub(super) fn none() -> Self {
        Spans { top: [R::Magnitude::default(); LANES], low: [R::MAGNITUDE_MAX; LANES] }
    }

    /// Looks at an element in each lane.
    #[inline(always)]
    pub(super) fn observe(&mut self, x: &[R]) {
        for l in 0..LANES {
            let span = of(x[l]);
            self.top[l] = greater(self.top[l], span.top);
            self.low[l] = lesser(self.low[l], span.low);
        }
    }

    /// What two have seen.
    #[inline(always)]
    fn join(mut self, other: &Self) -> Self {
        for l in 0..LANES {
            self.top[l] = greater(self.top[l], other.top[l]);
            self.low[l] = lesser(self.low[l], other.low[l]);
        }
        self
    }

    /// Whether all are zero, or at least `low` and less than `end`.
    #[inline(always)]
    pub(super) fn are_within(&self, low: R::Magnitude, end: R::Magnitude) -> bool {
        let mut all = true;
        for l in 0..LANES {
            all &= (self.low[l] >= low) & (self.top[l] < end);
        }
        all
    }
}

/// The span of a slice.
#[inline(always)]
pub(super) fn survey<R: Ordered>(x: &[R]) -> Span<R::Magnitude> {
    // 128 bytes of lanes, as `cpu/order` has them.
    match size_of::<R>() {
        2 => survey_abreast::<R, 4>(x),
        4 => survey_abreast::<R, 2>(x),
        _ => survey_abreast::<R, 1>(x),
    }
}

#[inline(always)]
fn of<R: Ordered>(x: R) -> Span<R::Magnitude> {
    let magnitude = x.magnitude();
    // All finite magnitudes of f16 lie within 40 bits, of which f64 adds thousands, wherever they lie.
    if R::DTYPE == DType::F16 {
        return Span { top: magnitude, low: R::Magnitude::default() };
    }
    let zero = magnitude == R::Magnitude::default();
    Span { top: magnitude, low: select_unpredictable(zero, R::MAGNITUDE_MAX, magnitude) }
}

/// The same by some groups of lanes. (Loops over 64 lanes are not unrolled before lanes are given registers: what they leave goes through memory then, and each step
/// waits for the one before, which was four fifths of the time of sums of f16 in long rows.)
#[inline(always)]
fn survey_abreast<R: Ordered, const GROUPS: usize>(x: &[R]) -> Span<R::Magnitude> {
    let none = Span { top: R::Magnitude::default(), low: R::MAGNITUDE_MAX };
    let mut spans = [Spans::<R, N>::none(); GROUPS];
    let (groups, rest) = x.as_chunks::<N>();
    let (together, alone) = groups.as_chunks::<GROUPS>();
    for together in together {
        for k in 0..GROUPS {
            spans[k].observe(&together[k]);
        }
    }
    let mut all = spans[0];
    for k in 1..GROUPS {
        all = all.join(&spans[k]);
    }
    for group in alone {
        all.observe(group);
    }
    let mut span = none;
    for l in 0..N {
        span = span.join(Span { top: all.top[l], low: all.low[l] });
    }
    rest.iter().fold(span, |span, &x| span.join(of(x)))
}
