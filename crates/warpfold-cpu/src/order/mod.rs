//! Minimum and maximum, each with its first index, in one pass at memory speed.
//!
//! A block that fits in L1 is reduced to its least and greatest key with integer minima and maxima alone. Only a block that
//! beats the best so far is searched for the first index of its key, which random data does about ln(blocks) times.
//! The keys of NaNs lie outside those of the infinities, so that the two extremes also tell whether a block holds any
//! NaN: only then is it read again with NaNs left out.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

use std::hint::select_unpredictable;

use super::executor::{ArrayFold, Split, run};
use super::isa::{Avx512, Target};
use super::made::Made;
use super::memory::{prefetch, streamed};
use crate::Nan;
use warpfold_exact::partial::{ArgIndex, Extremes};
use warpfold_num::element::Ordered;
use warpfold_plan::plan::Plan;

/// Bytes of a block: streams long enough to read ahead in, little enough to be in the cache still when it is searched.
pub(super) const BLOCK_BYTES: usize = 64 << 10;

/// Folds a slice whose first element has the index `first`.
pub(super) fn extremes<R: Ordered>(plan: &Plan, x: &[R], first: u64) -> Extremes<R> {
    run(plan, x, first, || Order::<R, false>::new(plan), CountedExtremes::merge).extremes
}

/// Extremes, and how many NaNs were met, whether they propagate or not.
pub(super) struct CountedExtremes<R: Ordered> {
    pub(super) extremes: Extremes<R>,
    pub(super) nans: u64,
}

impl<R: Ordered> CountedExtremes<R> {
    pub(super) fn merge(&mut self, other: Self) {
        self.extremes.merge(&other.extremes);
        self.nans += other.nans;
    }
}

/// The extremes so far, of elements or of the magnitudes of floats.
pub(super) struct Order<R: Ordered, const MAGNITUDES: bool = false> {
    extremes: Extremes<R>,
    nans: u64,
    nan: Nan,
    avx512: Option<Avx512>,
}

impl<R: Ordered, const MAGNITUDES: bool> Order<R, MAGNITUDES> {
    pub(super) fn new(plan: &Plan) -> Self {
        let (nan, avx512) = (plan.problem.policy.nan, Avx512::found(plan.isa));
        Order { extremes: Extremes::new(), nans: 0, nan, avx512 }
    }

    #[inline(always)]
    fn block<C: Target>(&mut self, x: &[R], first: u64) {
        let span = self.span::<C>(x);
        self.within_span(x, first, span);
    }

    /// Folds in a block, not too long to be in the cache still, whose span is known.
    #[inline(always)]
    pub(super) fn take_block(&mut self, x: &[R], first: u64, span: Span<R::Key>) {
        self.extremes.count += x.len() as u64;
        self.within_span(x, first, span);
    }

    #[inline(always)]
    fn within_span(&mut self, x: &[R], first: u64, mut span: Span<R::Key>) {
        if R::from_key(span.low).is_nan() || R::from_key(span.high).is_nan() {
            span = self.without_nans(x, first);
        }
        let Span { low, high } = span;
        // A span turned over belongs to a block of nothing but NaNs.
        if low > high {
            return;
        }
        let arg_index =
            |key| ArgIndex { key, index: first + position(x, |x| Self::key(x) == key) as u64 };
        if self.extremes.min.is_none_or(|best| low < best.key) {
            self.extremes.min = Some(arg_index(low));
        }
        if self.extremes.max.is_none_or(|best| high > best.key) {
            self.extremes.max = Some(arg_index(high));
        }
    }

    /// The key of an element, or of its magnitude.
    #[inline(always)]
    fn key(x: R) -> R::Key {
        // Of a float that is not negative, the bits are the key.
        if MAGNITUDES { bytemuck::cast(x.magnitude()) } else { x.key() }
    }

    /// Whether a span has nothing new: no NaN, and neither end beyond the best.
    fn is_within(&self, Span { low, high }: Span<R::Key>) -> bool {
        !R::from_key(low).is_nan()
            && !R::from_key(high).is_nan()
            && self.extremes.min.is_some_and(|best| low >= best.key)
            && self.extremes.max.is_some_and(|best| high <= best.key)
    }

    /// The span of a block.
    #[inline(always)]
    pub(super) fn span<C: Target>(&self, x: &[R]) -> Span<R::Key> {
        let itself = |x: R| Span { low: Self::key(x), high: Self::key(x) };
        match self.avx512 {
            #[cfg(target_arch = "x86_64")]
            Some(_) if C::AVX512 => {
                // SAFETY: there is an `Avx512` only where its features were found.
                let (all, rest) = unsafe {
                    if R::INFINITE.is_some() && !MAGNITUDES && size_of::<R>() < 8 {
                        avx512::span_of_bits(x)
                    } else {
                        avx512::span::<R, MAGNITUDES>(x)
                    }
                };
                rest.iter().fold(all, |all, &x| all.join(itself(x)))
            }
            _ if C::AVX512 => unreachable!("code for AVX-512 runs where it was found"),
            #[cfg(target_arch = "x86_64")]
            _ if matches!(C::ISA, warpfold_plan::plan::Isa::Avx2)
                && size_of::<R>() == 8
                && R::INFINITE.is_none() =>
            {
                // SAFETY: code for AVX2 runs where it was found.
                let (all, rest) = unsafe { avx2::span(x) };
                rest.iter().fold(all, |all, &x| all.join(itself(x)))
            }
            #[cfg(target_arch = "x86_64")]
            _ if matches!(C::ISA, warpfold_plan::plan::Isa::Avx2)
                && R::INFINITE.is_some()
                && !MAGNITUDES =>
            {
                // SAFETY: code for AVX2 runs where it was found.
                let (all, rest) = unsafe {
                    if size_of::<R>() == 8 {
                        avx2::span_of_f64(x)
                    } else {
                        let (all, rest) = avx2::span_of_bits(x);
                        (Some(all), rest)
                    }
                };
                match all {
                    Some(all) => rest.iter().fold(all, |all, &x| all.join(itself(x))),
                    None => span(x, itself),
                }
            }
            _ => span(x, itself),
        }
    }

    #[inline(always)]
    fn without_nans(&mut self, x: &[R], first: u64) -> Span<R::Key> {
        if self.nan == Nan::Propagate && self.extremes.first_nan.is_none() {
            self.extremes.first_nan = Some(first + position(x, R::is_nan) as u64);
        }
        self.nans += x.iter().filter(|x| x.is_nan()).count() as u64;
        span(x, |x| match x.is_nan() {
            true => Span { low: R::KEY_MAX, high: R::KEY_MIN },
            false => Span { low: Self::key(x), high: Self::key(x) },
        })
    }
}

impl<R: Ordered, const MAGNITUDES: bool> ArrayFold<&[R]> for Order<R, MAGNITUDES> {
    type Partial = CountedExtremes<R>;

    #[inline(always)]
    fn take<C: Target>(&mut self, piece: &[R], first: u64) {
        self.extremes.count += piece.len() as u64;
        let mut first = first;
        for block in piece.chunks(BLOCK_BYTES / size_of::<R>()) {
            self.block::<C>(block, first);
            first += block.len() as u64;
        }
    }

    fn finish(mut self) -> CountedExtremes<R> {
        if self.nan == Nan::Ignore {
            self.extremes.count -= self.nans;
        }
        CountedExtremes { extremes: self.extremes, nans: self.nans }
    }
}

impl<R: Ordered + bytemuck::Pod> ArrayFold<Made<'_, R>> for Order<R> {
    type Partial = CountedExtremes<R>;

    #[inline(always)]
    fn take<C: Target>(&mut self, piece: Made<'_, R>, first: u64) {
        /// Bytes that are made at once: the end of each is a few dozen instructions.
        const TILE_BYTES: usize = 4 << 10;
        let (block, tile) = (BLOCK_BYTES / size_of::<R>(), TILE_BYTES / size_of::<R>());
        let mut memory = [0u64; TILE_BYTES / size_of::<u64>()];
        let values: &mut [R] = bytemuck::cast_slice_mut(&mut memory);
        for start in (0..piece.len()).step_by(block) {
            let made = piece.piece(start..piece.len().min(start + block));
            let mut all = Span { low: R::KEY_MAX, high: R::KEY_MIN };
            for at in (0..made.len()).step_by(tile) {
                let values = &mut values[..tile.min(made.len() - at)];
                made.fill(at, values);
                all = all.join(self.span::<C>(values));
            }
            if self.is_within(all) {
                self.extremes.count += made.len() as u64;
            } else {
                // Made again, to be searched.
                ArrayFold::<&[R]>::take::<C>(self, &made.to_vec(), first + start as u64);
            }
        }
    }

    fn finish(self) -> CountedExtremes<R> {
        ArrayFold::<&[R]>::finish(self)
    }
}

/// The least and the greatest key of a block.
#[derive(Clone, Copy)]
pub(super) struct Span<K> {
    pub(super) low: K,
    pub(super) high: K,
}

impl<K: Ord + Copy> Span<K> {
    #[inline(always)]
    fn join(self, other: Self) -> Self {
        Span { low: lesser(self.low, other.low), high: greater(self.high, other.high) }
    }
}

/// The key of a float by its bits.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn key_of_bits<R: Ordered>(bits: u64) -> R::Key {
    let most: u64 = R::MAGNITUDE_MAX.into();
    let key = if bits > most { bits ^ most } else { bits };
    bytemuck::pod_read_unaligned(&key.to_le_bytes()[..size_of::<R>()])
}

/// The ends of the bits of floats.
#[cfg(target_arch = "x86_64")]
struct Bits<B> {
    /// The greatest as signed numbers, and as unsigned ones.
    signed: B,
    unsigned: B,
    least: B,
}

#[cfg(target_arch = "x86_64")]
impl<B: Ord + Default + bytemuck::Pod + Into<u64>> Bits<B> {
    /// Those of lanes.
    #[inline(always)]
    fn of<R: Ordered<Magnitude = B>>(signed: &[R::Key], unsigned: &[B], least: &[B]) -> Self {
        let signed = signed.iter().copied().fold(R::KEY_MIN, Ord::max);
        Bits {
            signed: bytemuck::cast(signed),
            unsigned: unsigned.iter().copied().fold(B::default(), Ord::max),
            least: least.iter().copied().reduce(Ord::min).unwrap_or_default(),
        }
    }

    /// As a sign is the first bit: the greatest number is the greatest signed one, if that is one without a sign, and otherwise the least. The least number is the
    /// greatest unsigned one, if that has a sign, and otherwise the least.
    #[inline(always)]
    fn span<R: Ordered<Magnitude = B>>(self) -> Span<R::Key> {
        let Bits { signed, unsigned, least } = self;
        let has_sign = |bits: B| bits > R::MAGNITUDE_MAX;
        let key = |bits: B| key_of_bits::<R>(bits.into());
        Span {
            low: key(if has_sign(unsigned) { unsigned } else { least }),
            high: key(if has_sign(signed) { least } else { signed }),
        }
    }
}

/// The lesser by a selection, which no pass of the compiler turns into a branch.
#[inline(always)]
fn lesser<K: Ord + Copy>(a: K, b: K) -> K {
    select_unpredictable(b < a, b, a)
}

/// The greater likewise.
#[inline(always)]
fn greater<K: Ord + Copy>(a: K, b: K) -> K {
    select_unpredictable(b > a, b, a)
}

/// The span of the spans of all elements.
#[inline(always)]
fn span<R: Ordered>(x: &[R], of: impl Fn(R) -> Span<R::Key>) -> Span<R::Key> {
    // 128 bytes of lanes: enough chains to hide the latency of a maximum, few enough for sixteen registers.
    match size_of::<R>() {
        1 => span_in_lanes::<R, 128>(x, of),
        2 => span_in_lanes::<R, 64>(x, of),
        4 => span_in_lanes::<R, 32>(x, of),
        _ => span_in_lanes::<R, 16>(x, of),
    }
}

#[inline(always)]
fn span_in_lanes<R: Ordered, const LANES: usize>(
    x: &[R],
    of: impl Fn(R) -> Span<R::Key>,
) -> Span<R::Key> {
    let (mut low, mut high) = ([R::KEY_MAX; LANES], [R::KEY_MIN; LANES]);
    let (groups, rest) = x.as_chunks::<LANES>();
    for at in streamed(groups.len()) {
        let group = &groups[at];
        prefetch(group);
        for l in 0..LANES {
            let span = of(group[l]);
            low[l] = lesser(low[l], span.low);
            high[l] = greater(high[l], span.high);
        }
    }
    let all = Span {
        low: low.into_iter().fold(R::KEY_MAX, lesser),
        high: high.into_iter().fold(R::KEY_MIN, greater),
    };
    rest.iter().fold(all, |all, &x| all.join(of(x)))
}

/// The first position that fits; there is one.
#[inline(always)]
fn position<R: Ordered>(x: &[R], fits: impl Fn(R) -> bool) -> usize {
    const GROUP: usize = 64;
    let (groups, _) = x.as_chunks::<GROUP>();
    let skipped = groups
        .iter()
        .position(|group| group.iter().fold(false, |any, &x| any | fits(x)))
        .unwrap_or(groups.len())
        * GROUP;
    skipped + x[skipped..].iter().position(|&x| fits(x)).expect("the block holds its extremes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Op, Policy};
    use warpfold_plan::plan::{Isa, Problem, choose};

    fn agree<R: Ordered>(x: &[R]) {
        for nan in [Nan::Propagate, Nan::Ignore] {
            let mut expected = Extremes::new();
            for (i, &x) in x.iter().enumerate() {
                if nan == Nan::Propagate || !x.is_nan() {
                    expected.add(x, 7 + i as u64);
                }
            }
            for isa in [Isa::Baseline, Isa::Avx2, Isa::Avx512] {
                for threads in [1, 3] {
                    let policy = Policy { nan, isa: Some(isa), ..Policy::default() };
                    let n = x.len() as u64;
                    let problem = Problem { op: Op::MinMax, dtype: R::DTYPE, n, policy };
                    let plan = Plan { threads, grain: 333, ..choose(problem, crate::facts()) };
                    assert_eq!(extremes(&plan, x, 7), expected, "{x:?} {plan}");
                }
            }
        }
    }

    #[test]
    fn small_arrays_of_every_length() {
        for n in 0..140 {
            agree(&(0..n).map(|i| (i * 37 % 101) as i8 - 50).collect::<Vec<_>>());
            agree(&(0..n).map(|i| (i as f64 * 0.7).sin()).collect::<Vec<_>>());
            agree(&(0..n).map(|i| i % 3 == 1).collect::<Vec<_>>());
            let words = (0..n as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            agree(&words.clone().collect::<Vec<_>>());
            agree(&words.map(u64::cast_signed).collect::<Vec<_>>());
        }
    }

    #[test]
    fn every_value_of_sixteen_bits() {
        agree(&(0..=u16::MAX).map(crate::f16::from_bits).collect::<Vec<_>>());
        agree(&(0..=u16::MAX).rev().map(crate::bf16::from_bits).collect::<Vec<_>>());
    }

    macro_rules! agree_on_specials {
        ($($name:ident: $ty:ident;)+) => {$(
            #[test]
            fn $name() {
                let mut x = vec![$ty::default(); 10_000];
                agree(&x);
                x[9000] = -0.0;
                x[9500] = -0.0;
                agree(&x);
                for (all, one) in [(-1.5, 0.0), (-1.5, -0.0), (2.5, -0.0), (2.5, 0.0), (-0.0, 0.0)] {
                    x.fill(all);
                    agree(&x);
                    for at in [0, 77, 9_999] {
                        x[at] = one;
                        agree(&x);
                    }
                }
                x[8000] = -$ty::NAN;
                agree(&x);
                x[8100] = $ty::NAN;
                agree(&x);
                agree(&[$ty::NAN; 5000]);
                agree(&[$ty::NEG_INFINITY, $ty::INFINITY, $ty::MAX]);
                let mut x = vec![-$ty::MAX; 300];
                x[200] = $ty::NEG_INFINITY;
                agree(&x);
                x[100] = $ty::INFINITY;
                agree(&x);
            }
        )+};
    }
    agree_on_specials! {
        nans_and_zeros_of_f32: f32;
        nans_and_zeros_of_f64: f64;
    }
}
