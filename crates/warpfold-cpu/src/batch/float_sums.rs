//! Exact sums of floats, many at a time.
//!
//! Values of one range of exponents are multiples of one grid, so that a number of f64 additions known beforehand is exact (narrow types),
//! or leaves no more than a second f64 holds (f64, by a [`Cascade`] of one level): `cpu/float` has the proofs. There a window is guessed and
//! what misses it is added apart; here short inputs are surveyed first, as a few elements have no time to make up for a wrong guess, and columns
//! monitored while they are added (`accumulators`).

use std::marker::PhantomData;

use super::lanes::{LaneOperation, MOST_OF_SUMS, MOST_TURNED, N, Positions};
use super::survey::{Span, Spans, survey};
use crate::float::{Cascade, LOG_ADDS, Lane};
use warpfold_exact::exact::Pair;
use warpfold_num::double_double::{power_of_two, two_sum};

/// Sums of elements of `PARTS` floats, or of the magnitudes of these; `LANES` is `N · PARTS`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FloatSums<F, const PARTS: usize, const LEVELS: usize, const LANES: usize> {
    /// The bits of an f64 that are added: all, or all but the sign.
    mask: u64,
    float: PhantomData<F>,
}

impl<F: Lane, const PARTS: usize, const LEVELS: usize, const LANES: usize>
    FloatSums<F, PARTS, LEVELS, LANES>
{
    pub(crate) fn values() -> Self {
        FloatSums { mask: u64::MAX, float: PhantomData }
    }

    pub(crate) fn norm1() -> Self {
        FloatSums { mask: u64::MAX >> 1, float: PhantomData }
    }

    /// The bits that sums may spread over: what a value has beyond the difference of the fields, and what additions cost.
    fn bits(spread: u32, log: u32) -> u32 {
        match LEVELS {
            0 => spread + F::MANTISSA_BITS + log,
            _ => spread + 1 + 2 * log,
        }
    }

    const MOST_BITS: u32 = 53;

    fn field(magnitude: u64) -> u32 {
        (magnitude >> (F::MANTISSA_BITS - 1)) as u32
    }

    /// The fields of a span, unless something in it is not finite.
    #[inline(always)]
    fn fields(range: Span<F::Word>) -> Option<(u32, u32)> {
        let (top, below): (u64, u64) = (range.top.into(), range.below.into());
        let (is_zero, field) = (top == 0, Self::field(top));
        if field >= F::FIELD_MAX {
            return None;
        }
        let top = field.max(if LEVELS > 0 { LEAST_TOP } else { 1 });
        // Zeros fit any grid. Subnormals share that of the first normal numbers.
        let low = if is_zero { top } else { Self::field(below + 1) };
        Some((low.max(1), top))
    }

    /// A pair and a number, if another pair holds their sum: what is too large becomes a NaN on the way, which is not zero either.
    #[inline(always)]
    fn plus(pair: Pair, x: f64) -> Option<Pair> {
        let sum = two_sum(pair.high, x);
        let rest = two_sum(pair.low, sum.low);
        (rest.low == 0.0).then_some(Pair { high: sum.high, low: rest.high })
    }

    /// What went into each lane, as pairs' first and second numbers.
    #[inline(always)]
    fn pairs(cascade: &Cascade<LEVELS, LANES>) -> ([f64; LANES], [f64; LANES]) {
        let (mut levels, mut rests) = cascade.exact_lanes();
        if LEVELS == 0 {
            for lane in 0..LANES {
                levels[lane] = rests[lane] * power_of_two(-i64::from(F::SCALE));
            }
            rests = [0.0; LANES];
        }
        (levels, rests)
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

/// Exponent fields that magnitudes keep to, and the logarithm of the number of additions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExponentRange {
    low: u32,
    top: u32,
    log: u32,
}

/// The lowest exponent field for which a cascade's bias has a grid.
const LEAST_TOP: u32 = 64;

impl<F: Lane, const PARTS: usize, const LEVELS: usize, const LANES: usize> LaneOperation
    for FloatSums<F, PARTS, LEVELS, LANES>
{
    type Element = [F; PARTS];
    type Range = Span<F::Word>;
    type ExponentRange = ExponentRange;
    type Monitor = Spans<F, LANES>;
    type Lanes = Cascade<LEVELS, LANES>;
    type Small = [Pair; PARTS];
    const NOTHING: [Pair; PARTS] = [Pair { high: 0.0, low: 0.0 }; PARTS];
    const RESTS_APART: bool = LEVELS > 0;
    // Where no level takes what is left of an addition.
    const BESIDE: usize = if size_of::<F>() <= 2 { MOST_TURNED } else { MOST_OF_SUMS };
    const TURNS_FROM: usize = if LEVELS == 0 && size_of::<F>() <= 2 { 8 } else { N + 1 };

    #[inline(always)]
    fn filler(self, _: [F; PARTS]) -> [F; PARTS] {
        [F::default(); PARTS]
    }

    #[inline(always)]
    fn survey(self, x: &[[F; PARTS]]) -> Self::Range {
        survey(x.as_flattened())
    }

    #[inline(always)]
    fn join(one: Self::Range, other: Self::Range) -> Self::Range {
        one.join(other)
    }

    #[inline(always)]
    fn exponents(self, range: Self::Range, additions: u64) -> Option<ExponentRange> {
        let (low, top) = Self::fields(range)?;
        let log = 64 - additions.saturating_sub(1).leading_zeros();
        let slack = Self::MOST_BITS.checked_sub(Self::bits(top.saturating_sub(low), log))?;
        // A cascade's bias must be finite.
        let most = if LEVELS > 0 { F::FIELD_MAX.checked_sub(log + 4)? } else { F::FIELD_MAX - 1 };
        // Room at either end for what comes later.
        let low = low.saturating_sub(slack - slack / 2).max(1);
        (top <= most).then(|| ExponentRange { low, top: (top + slack / 2).min(most), log })
    }

    #[inline(always)]
    fn monitor(self) -> Self::Monitor {
        Spans::none()
    }

    #[inline(always)]
    fn observe(self, monitor: &mut Self::Monitor, x: &[[F; PARTS]; N]) {
        monitor.observe(x.as_flattened());
    }

    #[inline(always)]
    fn keeps(self, exponents: ExponentRange, monitor: &Self::Monitor) -> bool {
        // Subnormals share the grid of the first normal numbers.
        let low = exponents.low;
        let below = if low > 1 { F::below_field(low) } else { F::Word::default() };
        monitor.are_within(below, F::field_bits(exponents.top + 1))
    }

    #[inline(always)]
    fn lanes(self, exponents: ExponentRange) -> Self::Lanes {
        let end = exponents.top as i32 + 1 - F::FIELD_ONE as i32;
        let grid = exponents.low as i32 - 1 + F::UNIT;
        // A cascade takes 2^LOG_ADDS values below its end: twice as many of half the size are the same to it.
        Cascade::new(end + exponents.log as i32 - LOG_ADDS as i32 + F::SCALE, grid + F::SCALE)
    }

    #[inline(always)]
    fn add(self, lanes: &mut Self::Lanes, x: &[[F; PARTS]; N], _: Positions) {
        let parts = x.as_flattened();
        for lane in 0..LANES {
            lanes.deposit(0, lane, f64::from_bits(parts[lane].wide().to_bits() & self.mask));
        }
    }

    #[inline(always)]
    fn lane(self, lanes: &Self::Lanes, lane: usize) -> [Pair; PARTS] {
        let mut pairs = Self::NOTHING;
        for part in 0..PARTS {
            pairs[part] = Self::pair(lanes, lane * PARTS + part, LANES);
        }
        pairs
    }

    #[inline(always)]
    fn all(self, lanes: &Self::Lanes) -> [[Pair; PARTS]; N] {
        let (high, low) = Self::pairs(lanes);
        let mut all = [Self::NOTHING; N];
        for lane in 0..N {
            for part in 0..PARTS {
                let at = lane * PARTS + part;
                all[lane][part] = Pair { high: high[at], low: low[at] };
            }
        }
        all
    }

    #[inline(always)]
    fn append(self, lanes: &[Self::Lanes], smalls: &mut Vec<[Pair; PARTS]>) {
        // Of many lanes at once: those of a few would go through registers one by one.
        const SOME: usize = 16;
        let (mut high, mut low) = ([[0.0; LANES]; SOME], [[0.0; LANES]; SOME]);
        smalls.reserve(lanes.len() * N);
        for lanes in lanes.chunks(SOME) {
            for (lanes, (high, low)) in lanes.iter().zip(high.iter_mut().zip(&mut low)) {
                (*high, *low) = Self::pairs(lanes);
            }
            for k in 0..lanes.len() {
                let mut all = [Self::NOTHING; N];
                for lane in 0..N {
                    for part in 0..PARTS {
                        let at = lane * PARTS + part;
                        all[lane][part] = Pair { high: high[k][at], low: low[k][at] };
                    }
                }
                smalls.extend_from_slice(&all);
            }
        }
    }

    #[inline(always)]
    fn total(self, lanes: &Self::Lanes) -> [Pair; PARTS] {
        let mut pairs = Self::NOTHING;
        for part in 0..PARTS {
            pairs[part] = Self::pair(lanes, part, PARTS);
        }
        pairs
    }

    const PUTS: bool = true;

    #[inline(always)]
    fn put(self, small: &mut [Pair; PARTS], x: [F; PARTS]) -> bool {
        let mut next = *small;
        for part in 0..PARTS {
            if x[part].field() >= F::FIELD_MAX {
                return false;
            }
            let value = f64::from_bits(x[part].wide().to_bits() & self.mask);
            let Some(sum) = Self::plus(next[part], value * power_of_two(-i64::from(F::SCALE)))
            else {
                return false;
            };
            next[part] = sum;
        }
        *small = next;
        true
    }

    const MERGES: bool = true;

    #[inline(always)]
    fn merge(self, small: &mut [Pair; PARTS], other: &[Pair; PARTS]) -> bool {
        let mut next = *small;
        for part in 0..PARTS {
            let Pair { high, low } = other[part];
            let Some(sum) = Self::plus(next[part], high).and_then(|sum| Self::plus(sum, low))
            else {
                return false;
            };
            next[part] = sum;
        }
        *small = next;
        true
    }
}
