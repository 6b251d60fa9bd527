//! Exact sums of few floats, each lane in whatever range its elements have.
//!
//! So few need no range of exponents that is chosen before they are added: they are added as they come, and the greatest and least magnitude among them say
//! afterwards whether an addition can have lost anything. Values that are multiples of one grid, whose sum has no more than 53 bits above it, are added by f64
//! exactly, in any order. Of f64 itself each addition's error is added up beside, which is exact where so many errors fit 53 bits. Sums of which that
//! cannot be said are in doubt; where many are, all are folded in a range of exponents (`float_sums`).

use std::hint::black_box;
use std::marker::PhantomData;

use super::lanes::{LaneOperation, N, Positions};
use super::survey::Spans;
use crate::float::Lane;
use warpfold_exact::exact::Pair;
use warpfold_num::double_double::{power_of_two, two_sum};

/// Elements of an input at most.
pub(crate) const MOST: u64 = 16;

/// Sums of floats, or of their magnitudes, with a second number for each if `LOWS` is one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShortSums<F, const LOWS: usize> {
    /// The bits of an f64 that are added: all, or all but the sign.
    mask: u64,
    float: PhantomData<F>,
}

impl<F, const LOWS: usize> ShortSums<F, LOWS> {
    pub(crate) fn values() -> Self {
        ShortSums { mask: u64::MAX, float: PhantomData }
    }

    pub(crate) fn norm1() -> Self {
        ShortSums { mask: u64::MAX >> 1, float: PhantomData }
    }
}

/// A sum, exact unless its first number is NaN.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShortSum<const LOWS: usize> {
    high: f64,
    low: [f64; LOWS],
}

impl<const LOWS: usize> ShortSum<LOWS> {
    /// The sum as a pair, and whether it is known.
    #[inline(always)]
    pub(crate) fn pair(&self) -> (Pair, bool) {
        let low = if LOWS > 0 { self.low[0] } else { 0.0 };
        (Pair { high: self.high, low }, !self.high.is_nan())
    }
}

/// How far magnitudes may lie from each other, and where they end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits<W> {
    span: W,
    end: W,
}

/// First numbers side by side, on lines of the cache.
#[repr(align(64))]
struct Known([f64; N]);

/// Sums side by side, and what went into them; on lines of the cache, as arrays of them are read and written in whole registers.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Sums<F: Lane, const LOWS: usize> {
    high: [f64; N],
    low: [[f64; N]; LOWS],
    spans: Spans<F, N>,
    limits: Limits<F::Word>,
}

impl<F: Lane, const LOWS: usize> Sums<F, LOWS> {
    /// The first numbers as they are to be read: NaN where something may be lost.
    #[inline(always)]
    fn known(&self) -> [f64; N] {
        let mut known = [0.0; N];
        for lane in 0..N {
            let Limits { span, end } = self.limits;
            let high = self.high[lane] * power_of_two(-i64::from(F::SCALE));
            // By bits: a selection would be made a branch for each lane.
            let lost = u64::from(!self.spans.is_near(lane, span, end));
            known[lane] = f64::from_bits(high.to_bits() | lost.wrapping_neg());
        }
        known
    }
}

impl<F: Lane, const LOWS: usize> LaneOperation for ShortSums<F, LOWS> {
    type Element = F;
    type Range = ();
    type ExponentRange = Limits<F::Word>;
    type Monitor = ();
    type Lanes = Sums<F, LOWS>;
    type Small = ShortSum<LOWS>;
    const NOTHING: Self::Small = ShortSum { high: 0.0, low: [0.0; LOWS] };
    const MAY_MISS: bool = false;
    const IS_LARGE: bool = LOWS > 0;
    const RESTS_APART: bool = false;

    #[inline(always)]
    fn filler(self, _: F) -> F {
        F::default()
    }

    #[inline(always)]
    fn survey(self, _: &[F]) {}

    #[inline(always)]
    fn join((): (), (): ()) {}

    #[inline(always)]
    fn exponents(self, (): (), additions: u64) -> Option<Limits<F::Word>> {
        let log = 64 - additions.saturating_sub(1).leading_zeros();
        // A sum has the bits of an element, those of a field's difference, and one more for each doubling. Errors are half a unit of a sum at most, and so many.
        let (bits, end) = match LOWS {
            0 => (F::MANTISSA_BITS + log, F::FIELD_MAX),
            _ => (1 + 2 * log, F::FIELD_MAX - log - 2),
        };
        let fields = 53u32.saturating_sub(bits).min(F::FIELD_MAX);
        Some(Limits { span: F::field_bits(fields), end: F::field_bits(end) })
    }

    #[inline(always)]
    fn monitor(self) {}

    #[inline(always)]
    fn observe(self, (): &mut (), _: &[F; N]) {}

    #[inline(always)]
    fn keeps(self, _: Limits<F::Word>, (): &()) -> bool {
        true
    }

    #[inline(always)]
    fn lanes(self, limits: Limits<F::Word>) -> Self::Lanes {
        Sums { high: [0.0; N], low: [[0.0; N]; LOWS], spans: Spans::none(), limits }
    }

    #[inline(always)]
    fn add(self, lanes: &mut Self::Lanes, x: &[F; N], _: Positions) {
        lanes.spans.observe(x);
        for lane in 0..N {
            let value = f64::from_bits(x[lane].wide().to_bits() & self.mask);
            if LOWS == 0 {
                lanes.high[lane] += value;
            } else {
                let sum = two_sum(lanes.high[lane], value);
                lanes.high[lane] = sum.high;
                lanes.low[0][lane] += sum.low;
            }
        }
    }

    const BEGINS: bool = true;

    #[inline(always)]
    fn begin(self, limits: Limits<F::Word>, x: &[F; N], _: Positions) -> Self::Lanes {
        let mut lanes = self.lanes(limits);
        lanes.spans.observe(x);
        for lane in 0..N {
            lanes.high[lane] = f64::from_bits(x[lane].wide().to_bits() & self.mask);
        }
        lanes
    }

    #[inline(always)]
    fn lane(self, lanes: &Self::Lanes, lane: usize) -> Self::Small {
        self.all(lanes)[lane]
    }

    #[inline(always)]
    fn all(self, lanes: &Self::Lanes) -> [Self::Small; N] {
        let (mut high, mut all) = (Known(lanes.known()), [Self::NOTHING; N]);
        if LOWS > 0 {
            // Where they come from is not to be seen: the compiler would compute those that lie between others one by one.
            black_box(&mut high);
        }
        for lane in 0..N {
            all[lane].high = high.0[lane];
            for k in 0..LOWS {
                all[lane].low[k] = lanes.low[k][lane];
            }
        }
        all
    }

    #[inline(always)]
    fn total(self, lanes: &Self::Lanes) -> Self::Small {
        // Limits are those of all elements together.
        let (mut all, mut left) = (*lanes, N);
        while left > 1 {
            left /= 2;
            all.spans.fold(left);
            for lane in 0..left {
                let other = lane + left;
                if LOWS == 0 {
                    all.high[lane] += all.high[other];
                } else {
                    let sum = two_sum(all.high[lane], all.high[other]);
                    all.high[lane] = sum.high;
                    all.low[0][lane] += all.low[0][other] + sum.low;
                }
            }
        }
        self.lane(&all, 0)
    }

    const MERGES: bool = true;

    #[inline(always)]
    fn merge(self, small: &mut Self::Small, other: &Self::Small) -> bool {
        let sum = two_sum(small.high, other.high);
        let mut is_exact = sum.low == 0.0;
        for k in 0..LOWS {
            let low = two_sum(small.low[k], other.low[k]);
            let rest = two_sum(low.high, sum.low);
            small.low[k] = rest.high;
            is_exact = (low.low == 0.0) & (rest.low == 0.0);
        }
        small.high = if is_exact { sum.high } else { f64::NAN };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpfold_exact::exact::Exact;
    use warpfold_num::element::Float;
    use warpfold_num::random::Words;
    use warpfold_num::{bf16, f16};

    /// Holds sums of each lane, and of all, to exact ones; how many are known.
    fn known<F: Lane, const LOWS: usize>(x: &[[F; N]]) -> usize {
        let kind = ShortSums::<F, LOWS>::values();
        let add = |count: usize| {
            let limits = kind.exponents((), count as u64).expect("limits");
            let here = Positions { first: 0, step: 0 };
            // With the first element, and from nothing.
            let mut lanes = [kind.begin(limits, &x[0], here), kind.lanes(limits)];
            kind.add(&mut lanes[1], &x[0], here);
            for x in &x[1..] {
                lanes.iter_mut().for_each(|lanes| kind.add(lanes, x, here));
            }
            for (one, other) in kind.all(&lanes[0]).iter().zip(kind.all(&lanes[1])) {
                assert_eq!(one.pair().1, other.pair().1);
            }
            lanes[usize::from(count.is_multiple_of(2))]
        };
        let check = |small: &ShortSum<LOWS>, x: &mut dyn Iterator<Item = F>| {
            let (Pair { high, low }, is_known) = small.pair();
            if is_known {
                let mut rest = Exact::<f64>::default();
                rest.add(-high);
                rest.add(-low);
                x.for_each(|x| rest.add(x.wide() * power_of_two(-i64::from(F::SCALE))));
                assert_eq!(rest.round_as::<f64>(), 0.0, "{high} and {low}");
            }
            usize::from(is_known)
        };
        let all = kind.all(&add(x.len()));
        let total = kind.total(&add(x.len() * N));
        check(&total, &mut x.as_flattened().iter().copied());
        (0..N).map(|l| check(&all[l], &mut x.iter().map(|x| x[l]))).sum()
    }

    fn held_to_exact_sums<F: Lane + Float, const LOWS: usize>() {
        let (mut words, mut found) = (Words(5), Vec::new());
        for spread in [1, 8, 40, 300] {
            let mut one = |_| {
                let size = 2f64.powi((words.next() % spread) as i32 - spread as i32 / 2);
                F::of(((words.next() >> 11) as f64 * 2f64.powi(-52) - 1.0) * size)
            };
            let x = Vec::from_iter((0..16).map(|_| std::array::from_fn(&mut one)));
            found.push((2..=16).map(|n| known::<F, LOWS>(&x[..n])).sum::<usize>());
        }
        // All of those that are near each other, and none of those far from each other, unless all are near.
        assert_eq!(found[0], 15 * N, "{found:?}");
        assert!(found[3] < N || F::MANTISSA_BITS == 11, "{found:?}");
        for special in [f64::INFINITY, f64::NAN, f64::NEG_INFINITY] {
            assert_eq!(known::<F, LOWS>(&[[F::of(special); N], [F::of(1.0); N]]), 0);
        }
        assert_eq!(known::<F, LOWS>(&[[F::of(0.0); N]; 3]), N);
        assert_eq!(known::<F, LOWS>(&[[F::of(0.0); N], [F::of(3.0); N]]), N);
    }

    #[test]
    fn what_is_known_is_exact() {
        held_to_exact_sums::<f16, 0>();
        held_to_exact_sums::<bf16, 0>();
        held_to_exact_sums::<f32, 0>();
        held_to_exact_sums::<f64, 1>();
    }

    #[test]
    fn what_is_joined_is_exact_or_in_doubt() {
        let kind = ShortSums::<f64, 1>::values();
        let of = |high, low| ShortSum { high, low: [low] };
        let mut sum = of(1.0, 2f64.powi(-60));
        assert!(kind.merge(&mut sum, &of(2f64.powi(60), 2f64.powi(-60))));
        assert!(!sum.pair().1);
        let mut sum = of(1.0, 2f64.powi(-50));
        assert!(kind.merge(&mut sum, &of(2f64.powi(53), 2f64.powi(-40))));
        let (pair, is_known) = sum.pair();
        assert!(is_known && pair.high == 2f64.powi(53));
        assert_eq!(pair.low, 1.0 + 2f64.powi(-40) + 2f64.powi(-50));
    }
}
