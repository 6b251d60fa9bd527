//! The range of magnitudes among elements.
//!
//! Of the least magnitude the one below is kept, so that zeros, which are not looked for, come last by themselves: to know them and to take another word in
//! their place would be two instructions more of five.

use std::hint::select_unpredictable;

use super::lanes::N;
use crate::float::Lane;
use warpfold_num::DType;

/// The bits of the greatest magnitude, and of the one below the least but zero.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span<W> {
    pub(super) top: W,
    /// Any word that is no magnitude of a finite number, if all are zero; zero of f16, whose sums need not know it.
    pub(super) below: W,
}

impl<W: Ord + Copy> Span<W> {
    #[inline(always)]
    pub(super) fn join(self, other: Self) -> Self {
        Span { top: greater(self.top, other.top), below: lesser(self.below, other.below) }
    }
}

#[inline(always)]
fn lesser<W: Ord + Copy>(a: W, b: W) -> W {
    select_unpredictable(b < a, b, a)
}

#[inline(always)]
fn greater<W: Ord + Copy>(a: W, b: W) -> W {
    select_unpredictable(b > a, b, a)
}

/// The spans of lanes.
#[derive(Clone, Copy)]
pub(crate) struct Spans<F: Lane, const LANES: usize> {
    top: [F::Word; LANES],
    below: [F::Word; LANES],
}

impl<F: Lane, const LANES: usize> Spans<F, LANES> {
    #[inline(always)]
    pub(super) fn none() -> Self {
        Spans { top: [F::Word::default(); LANES], below: [F::ABS_MASK; LANES] }
    }

    /// Looks at an element in each lane.
    #[inline(always)]
    pub(super) fn observe(&mut self, x: &[F]) {
        for l in 0..LANES {
            let span = of(x[l]);
            self.top[l] = greater(self.top[l], span.top);
            self.below[l] = lesser(self.below[l], span.below);
        }
    }

    /// What two have seen.
    #[inline(always)]
    fn join(mut self, other: &Self) -> Self {
        for l in 0..LANES {
            self.top[l] = greater(self.top[l], other.top[l]);
            self.below[l] = lesser(self.below[l], other.below[l]);
        }
        self
    }

    /// Joins lanes from `half` on, as many, with those before.
    #[inline(always)]
    pub(super) fn fold(&mut self, half: usize) {
        for l in 0..half {
            self.top[l] = greater(self.top[l], self.top[l + half]);
            self.below[l] = lesser(self.below[l], self.below[l + half]);
        }
    }

    /// Whether what a lane has seen is less than `end`, and no more than `span` above the least but zero.
    #[inline(always)]
    pub(super) fn is_near(&self, lane: usize, span: F::Word, end: F::Word) -> bool {
        F::is_below(self.top[lane], self.below[lane], span) & (self.top[lane] < end)
    }

    /// Whether all are zero, or greater than `below` and less than `end`.
    #[inline(always)]
    pub(super) fn are_within(&self, below: F::Word, end: F::Word) -> bool {
        let mut all = true;
        for l in 0..LANES {
            all &= (self.below[l] >= below) & (self.top[l] < end);
        }
        all
    }
}

#[inline(always)]
fn of<F: Lane>(x: F) -> Span<F::Word> {
    let top = x.magnitude_bits();
    // All finite magnitudes of f16 lie within 40 bits, of which f64 adds thousands, wherever they lie.
    let below = if F::DTYPE == DType::F16 { F::Word::default() } else { x.bits_below() };
    Span { top, below }
}

/// The span of a slice.
#[inline(always)]
pub(super) fn survey<F: Lane>(x: &[F]) -> Span<F::Word> {
    // At least two groups: a loop over one is vectorised across iterations, the same lane of four groups in a register, which was a third of the time of sums of f64.
    match size_of::<F>() {
        2 => survey_abreast::<F, 4>(x),
        _ => survey_abreast::<F, 2>(x),
    }
}

/// The same by some groups of lanes. (Loops over 64 lanes are not unrolled before lanes are given registers: what they leave goes through memory then, and each step
/// waits for the one before, which was four fifths of the time of sums of f16 in long rows.)
#[inline(always)]
fn survey_abreast<F: Lane, const GROUPS: usize>(x: &[F]) -> Span<F::Word> {
    let none = Span { top: F::Word::default(), below: F::ABS_MASK };
    let mut spans = [Spans::<F, N>::none(); GROUPS];
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
        span = span.join(Span { top: all.top[l], below: all.below[l] });
    }
    rest.iter().fold(span, |span, &x| span.join(of(x)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpfold_num::random::Words;
    use warpfold_num::{bf16, f16};

    fn agrees<F: Lane + std::fmt::Debug>(of_bits: impl Fn(u64) -> F) {
        let mut words = Words(11);
        for n in (0..70).chain([127, 128, 129, 1000]) {
            for kept in [u64::MAX, 0x8000_8000_8000_8000, 0x8003_8003_8003_8003] {
                let mut x: Vec<F> = (0..n).map(|_| of_bits(words.next() & kept)).collect();
                if n > 3 {
                    x[n / 2] = of_bits(0);
                }
                let magnitudes = x.iter().map(|x| x.magnitude_bits().into());
                let top: u64 = magnitudes.clone().max().unwrap_or(0);
                let span = survey(&x);
                assert_eq!(span.top.into(), top, "{x:?}");
                let below: u64 = span.below.into();
                match magnitudes.filter(|&bits| bits > 0).min() {
                    _ if F::DTYPE == DType::F16 => {}
                    Some(least) => assert_eq!(below, least - 1, "{x:?}"),
                    None => assert!(below >= F::ABS_MASK.into(), "{x:?}"),
                }
            }
        }
    }

    #[test]
    fn spans_are_those_of_all_elements_but_zeros() {
        agrees(|word| f16::from_bits(word as u16));
        agrees(|word| bf16::from_bits(word as u16));
        agrees(|word| f32::from_bits(word as u32));
        agrees(f64::from_bits);
    }
}
