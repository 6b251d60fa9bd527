//! The range of magnitudes among elements.

use std::hint::select_unpredictable;

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
        2 => survey_in_lanes::<R, 64>(x),
        4 => survey_in_lanes::<R, 32>(x),
        _ => survey_in_lanes::<R, 16>(x),
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

#[inline(always)]
fn survey_in_lanes<R: Ordered, const LANES: usize>(x: &[R]) -> Span<R::Magnitude> {
    let none = Span { top: R::Magnitude::default(), low: R::MAGNITUDE_MAX };
    let (groups, rest) = x.as_chunks::<LANES>();
    let mut all = none;
    if !groups.is_empty() {
        let (mut top, mut low) = ([none.top; LANES], [none.low; LANES]);
        for group in groups {
            for l in 0..LANES {
                let span = of(group[l]);
                top[l] = greater(top[l], span.top);
                low[l] = lesser(low[l], span.low);
            }
        }
        all = Span {
            top: top.into_iter().fold(none.top, greater),
            low: low.into_iter().fold(none.low, lesser),
        };
    }
    rest.iter().fold(all, |all, &x| all.join(of(x)))
}
