//! Exact sums of floats, many at a time.
//!
//! Values of one range of exponents are multiples of one grid, so that a number of f64 additions known beforehand is exact (narrow types),
//! or leaves no more than a second f64 holds (f64, by a [`Cascade`] of one level): `cpu/float` has the proofs. There a window is guessed and what
//! misses it is added apart; here the elements are surveyed first, because an input of a few elements has no time to make up for
//! a wrong guess.

use std::marker::PhantomData;

use super::lanes::{Kind, N, Places};
use super::survey::{Span, survey};
use crate::Nan;
use crate::cpu::float::{Cascade, LOG_ADDS, Lane, Term};
use crate::double_double::power_of_two;
use crate::element::{Element, Ordered, Parts};
use crate::exact::{Pair, Register};
use crate::partial::{Norm1, Partial};

/// Sums over the parts of `T`; `LANES` is `N` times their number.
pub(crate) struct FloatSums<F, K, const LEVELS: usize, const LANES: usize> {
    nan: Nan,
    of: PhantomData<fn(F, K)>,
}

impl<F, K, const LEVELS: usize, const LANES: usize> FloatSums<F, K, LEVELS, LANES> {
    pub(crate) fn new(nan: Nan) -> Self {
        FloatSums { nan, of: PhantomData }
    }
}

impl<F, K, const LEVELS: usize, const LANES: usize> Clone for FloatSums<F, K, LEVELS, LANES> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F, K, const LEVELS: usize, const LANES: usize> Copy for FloatSums<F, K, LEVELS, LANES> {}

/// Exponent fields that magnitudes keep to, and the logarithm of the number of additions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rule {
    low: u32,
    top: u32,
    log: u32,
}

/// The lowest exponent field for which a cascade's bias has a grid.
const LEAST_TOP: u32 = 64;

impl<F: Lane + Ordered, K: Term, const LEVELS: usize, const LANES: usize>
    FloatSums<F, K, LEVELS, LANES>
{
    /// The bits that sums may spread over: what a value has beyond the difference of the fields, and what additions cost.
    fn bits(spread: u32, log: u32) -> u32 {
        match LEVELS {
            0 => spread + F::MANTISSA_BITS + log,
            _ => spread + 1 + 2 * log,
        }
    }

    const MOST_BITS: u32 = 53;

    fn field(magnitude: F::Magnitude) -> u32 {
        let bits: u64 = magnitude.into();
        (bits >> (F::MANTISSA_BITS - 1)) as u32
    }

    /// The fields of a span, unless something in it is not finite.
    #[inline(always)]
    fn fields(range: Span<F::Magnitude>) -> Option<(u32, u32)> {
        let top = Self::field(range.top);
        if top >= F::FIELD_MAX {
            return None;
        }
        // Zeros fit any grid. Subnormals share that of the first normal numbers.
        let low = if range.top == F::Magnitude::default() { top } else { Self::field(range.low) };
        let least = if LEVELS > 0 { LEAST_TOP } else { 1 };
        Some((low.max(1), top.max(least)))
    }

    #[inline(always)]
    fn pair(cascade: &Cascade<LEVELS, LANES>, part: usize, step: usize) -> Pair {
        let (level, rest) = cascade.exact(part, step);
        match LEVELS {
            0 => Pair { high: rest * power_of_two(-i64::from(F::SCALE)), low: 0.0 },
            _ => Pair { high: level, low: rest },
        }
    }
}

impl<T, F, K, const LEVELS: usize, const LANES: usize> Kind<T> for FloatSums<F, K, LEVELS, LANES>
where
    T: Element<Part = F, Small = Pair>,
    F: Lane + Ordered,
    K: Term,
{
    type Range = Span<F::Magnitude>;
    type Rule = Rule;
    type Lanes = Cascade<LEVELS, LANES>;
    type Small = T::Parts<Pair>;

    #[inline(always)]
    fn filler(self, _: T) -> T {
        T::zeroed()
    }

    #[inline(always)]
    fn survey(self, x: &[T]) -> Self::Range {
        survey(T::as_parts(x))
    }

    #[inline(always)]
    fn join(one: Self::Range, other: Self::Range) -> Self::Range {
        one.join(other)
    }

    #[inline(always)]
    fn rule(self, range: Self::Range, additions: u64) -> Option<Rule> {
        let (low, top) = Self::fields(range)?;
        let log = 64 - additions.saturating_sub(1).leading_zeros();
        let slack = Self::MOST_BITS.checked_sub(Self::bits(top.saturating_sub(low), log))?;
        // Room at either end for what comes later.
        let highest =
            if LEVELS > 0 { F::FIELD_MAX.checked_sub(log + 4)? } else { F::FIELD_MAX - 1 };
        let top = if top > highest { return None } else { (top + slack / 2).min(highest) };
        Some(Rule { low: low.saturating_sub(slack - slack / 2).max(1), top, log })
    }

    #[inline(always)]
    fn holds(rule: Rule, range: Self::Range) -> bool {
        Self::fields(range).is_some_and(|(low, top)| rule.low <= low && top <= rule.top)
    }

    #[inline(always)]
    fn lanes(self, rule: Rule) -> Self::Lanes {
        let end = rule.top as i32 + 1 - F::FIELD_ONE as i32;
        let grid = rule.low as i32 - 1 + F::UNIT;
        // A cascade takes 2^LOG_ADDS values below its end: twice as many of half the size are the same to it.
        Cascade::new(end + rule.log as i32 - LOG_ADDS as i32 + F::SCALE, grid + F::SCALE)
    }

    #[inline(always)]
    fn add(self, lanes: &mut Self::Lanes, x: &[T; N], _: Places) {
        let parts = T::as_parts(x);
        for lane in 0..LANES {
            lanes.deposit(0, lane, K::of(parts[lane].wide()));
        }
    }

    #[inline(always)]
    fn lane(lanes: &Self::Lanes, lane: usize) -> Self::Small {
        Parts::from_fn(|part| Self::pair(lanes, lane * T::PARTS + part, LANES))
    }

    #[inline(always)]
    fn total(lanes: &Self::Lanes) -> Self::Small {
        Parts::from_fn(|part| Self::pair(lanes, part, T::PARTS))
    }

    fn pour(self, small: &Self::Small, count: u64, partial: &mut Partial<T>) {
        match partial {
            Partial::Sum(exact) => {
                for (register, pair) in exact.parts.as_mut().iter_mut().zip(small.as_ref()) {
                    register.add_f64(pair.high, F::UNIT);
                    register.add_f64(pair.low, F::UNIT);
                }
                crate::exact::tally(&mut exact.count, count);
            }
            Partial::Norm1(norm) => {
                for pair in small.as_ref() {
                    norm.total.add_f64(pair.high, Norm1::<T>::UNIT);
                    norm.total.add_f64(pair.low, Norm1::<T>::UNIT);
                }
                crate::exact::tally(&mut norm.count, count);
            }
            other => unreachable!("sums are poured into sums, not {other:?}"),
        }
    }

    fn single(self, x: T, partial: &mut Partial<T>) {
        let element = [x];
        let parts = T::as_parts(&element);
        if self.nan == Nan::Ignore && parts.iter().any(|part| part.is_nan()) {
            return;
        }
        match partial {
            Partial::Sum(exact) => exact.add(x),
            Partial::Norm1(norm) => {
                let mut sum = Register::<F::SumLimbs>::default();
                sum.take(F::decode_magnitude(parts[0].magnitude()));
                norm.merge(&Norm1::from_sum(&sum, F::UNIT, 1));
            }
            other => unreachable!("elements are added to sums, not {other:?}"),
        }
    }
}
