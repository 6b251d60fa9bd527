//! From the words that a kernel writes to what they stand for. The layouts are given at the head of each kernel's source.

use super::fast::{FastMoments, FastSum};
use super::floats;
use crate::double_double::DoubleDouble;
use crate::element::{Components, Element, Ordered};
use crate::exact::{Dot, Exact, Fixed, Limbs, Moments, ProductLimbs, Register, Special, SumLimbs};
use crate::partial::{
    ArgIndex, ComplexProduct, Complexes, Count, Extremes, Finish, IntegerProduct, Magnitude, Norm1,
    Output, Partial, Product, RealProduct, Reals, SpecialFlags, Stats, join_of,
};
use crate::plan::{CudaPlan, DeviceFold};
use crate::{AnyPartial, DType, Op, Result, with_element};
use warpfold_exact::tree::{Interval, Operator};

/// Words that the kernels of a plan may write to their record: the parts of an interval of the canonical tree, up to 31 leaves and 31 runs at each end and
/// two spans of each size above.
pub const RECORD_WORDS: usize = ROOT_WORDS + (2 * 31 + 2 * 31 + 2 * 54) * 5;

/// Words before the parts of an interval, for the device's own last step (`tree_array.cuh`).
const ROOT_WORDS: usize = 5;

/// Words that folds write that are not exact sums of floats: stats of integers write the most.
const MOST_PLAIN_WORDS: usize = 12;

/// Words that a plan's kernels write.
pub fn record_words(plan: &CudaPlan) -> usize {
    plan.folds().map(|fold| words_of(plan, fold)).sum()
}

/// Words that one of a plan's kernels writes.
pub(super) fn words_of(plan: &CudaPlan, fold: DeviceFold) -> usize {
    let dtype = plan.problem.dtype;
    if fold.is_tree(dtype) {
        let parts = Interval::<Reals>::levels(plan.first, plan.first + plan.problem.n).count();
        return ROOT_WORDS + parts * words_of_part(dtype);
    }
    with_element!(dtype, T => {
        let (sum, product) = (size_of::<SumLimbs<T>>() / 8, size_of::<ProductLimbs<T>>() / 8);
        match fold {
            DeviceFold::ExactL1 if dtype.is_complex() => 2 + product,
            DeviceFold::ExactSum | DeviceFold::ExactL1 => 2 + T::PARTS * sum,
            DeviceFold::ExactDot => 2 + T::PARTS * product,
            DeviceFold::ExactMoments => 2 + T::PARTS * sum + product,
            DeviceFold::ExactStats => 2 + 2 * sum + product + 6,
            _ => MOST_PLAIN_WORDS,
        }
    })
}

/// What a kernel's record stands for.
///
/// # Panics
/// If the record is shorter than [`record_words`].
pub fn read(plan: &CudaPlan, record: &[u64]) -> Outcome {
    let (dtype, n) = (plan.problem.dtype, plan.problem.n);
    match plan.fold {
        DeviceFold::Sum | DeviceFold::Dot | DeviceFold::L1 | DeviceFold::Squares
            if dtype.is_float() =>
        {
            let imaginary = if dtype.is_complex() { f64::from_bits(record[1]) } else { 0.0 };
            let parts = [f64::from_bits(record[0]), imaginary];
            Outcome::Sum(FastSum { parts, count: n - record[2], dtype })
        }
        DeviceFold::Moments if dtype.is_float() => Outcome::Moments(fast_moments(record, n, dtype)),
        _ => Outcome::Exact(with_element!(dtype, T => partial::<T>(plan, record).into())),
    }
}

/// The exact partial that a record stands for.
fn partial<T: Element>(plan: &CudaPlan, record: &[u64]) -> Partial<T> {
    let n = plan.problem.n;
    let skips_nan = plan.skips_nan();
    match plan.fold {
        DeviceFold::ExactMoments if plan.then.is_some() => {
            let norm1 = &record[words_of(plan, plan.fold)..];
            Partial::Stats(Box::new(floats::complex_stats(record, norm1, n, skips_nan)))
        }
        DeviceFold::ExactStats => Partial::Stats(Box::new(floats::stats(record, n, skips_nan))),
        fold if fold.is_exact() => floats::read(fold, record, n, skips_nan),
        DeviceFold::Sum => Partial::Sum(Exact { parts: registers::<T, _>(&record[..2]), count: n }),
        DeviceFold::Dot => {
            Partial::Dot(Box::new(Dot { parts: registers::<T, _>(&record[..3]), count: n }))
        }
        DeviceFold::Moments => Partial::Moments(Box::new(moments(record, n))),
        DeviceFold::Stats => Partial::Stats(Box::new(Stats {
            moments: moments(record, n),
            norm1: norm1(&record[5..7], n),
            extremes: extremes(&record[7..12], n),
            nans: 0,
            seen: n,
        })),
        DeviceFold::Min
        | DeviceFold::Max
        | DeviceFold::MinMax
        | DeviceFold::ArgMin
        | DeviceFold::ArgMax => Partial::Extremes(extremes(record, n)),
        DeviceFold::Count => Partial::Count(Count { seen: n - record[1], nonzero: record[0] }),
        DeviceFold::L1 | DeviceFold::Squares => Partial::Norm1(Box::new(norm1(&record[..2], n))),
        DeviceFold::Linf if T::PARTS > 1 => Partial::Magnitude(Box::new(largest_complex(record))),
        DeviceFold::Linf => Partial::Magnitude(Box::new(largest(record[1]))),
        DeviceFold::Prod => Partial::Product(Box::new(product(plan, record))),
        other => unreachable!("{other:?} is an exact fold"),
    }
}

/// Exact moments of integers: `[sum, 2 limbs; squares, 3 limbs]`.
pub(super) fn moments<T: Element>(record: &[u64], n: u64) -> Moments<T> {
    // Squares are never negative, whatever their elements: their top limb is extended by zeros.
    let squares = Register { fixed: extend(&record[2..5], 0), special: Special::NONE };
    Moments { sum: registers::<T, _>(&record[..2]), squares, count: n }
}

/// The exact sum of magnitudes of integers.
pub(super) fn norm1<T: Element>(limbs: &[u64], n: u64) -> Norm1<T> {
    let sum = Register::<[u64; 3]> { fixed: extend(limbs, 0), special: Special::NONE };
    Norm1::from_sum(&sum, 0, n)
}

/// What a reduction leaves: an exact partial where there is one.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "boxing would cost an allocation for each small sum")]
pub enum Outcome {
    /// Mergeable, not rounded yet.
    Exact(AnyPartial),
    /// A float sum that was rounded on the way.
    Sum(FastSum),
    /// Float moments that were rounded on the way.
    Moments(FastMoments),
}

impl Outcome {
    /// The partial, unless it was rounded on the way.
    pub fn exact(self) -> Option<AnyPartial> {
        match self {
            Outcome::Exact(partial) => Some(partial),
            Outcome::Sum(_) | Outcome::Moments(_) => None,
        }
    }

    /// The result of `op`.
    ///
    /// # Errors
    /// As [`Partial::finish`].
    pub fn finish(&self, op: Op, finish: Finish) -> Result<Output> {
        let to = |dtype| finish.round_to.unwrap_or(rounds_to(dtype));
        Ok(Output::One(match self {
            Outcome::Exact(partial) => return partial.finish(op, finish),
            Outcome::Sum(sum) => sum.finish(op, to(sum.dtype))?,
            Outcome::Moments(moments) => moments.finish(op, finish.ddof, to(moments.dtype))?,
        }))
    }
}

/// The float type of an element type's means.
fn rounds_to(dtype: DType) -> DType {
    with_element!(dtype, T => <<T as Element>::Round as Element>::DTYPE)
}

/// Words of a part of an interval: a leaf, or a span.
fn words_of_part(dtype: DType) -> usize {
    if dtype.is_complex() { 5 } else { 4 }
}

/// Integers `[low 64 bits of the magnitude, flags]`; of floats the parts of an interval of the tree after the root's words. Spans of reals are `[mantissa as
/// two f64, exponent, flags]`, of complex numbers `[real and imaginary mantissa, two f64 each; exponent]`; flags are 1 for a zero, 2 for an infinity or a
/// magnitude beyond 2^64, 4 for a NaN, 8 for negative.
fn product<T: Element>(plan: &CudaPlan, record: &[u64]) -> Product<T> {
    if T::DTYPE.is_float() {
        let parts = record[ROOT_WORDS..].chunks_exact(words_of_part(T::DTYPE));
        return if T::PARTS > 1 {
            let complexes = Complexes { join: join_of::<T>() };
            let leaf = |part: &[u64]| [float(part[0]), float(part[1])];
            Product::of_complexes([interval(plan, complexes, parts, leaf, complex_span)])
        } else {
            let reals = Reals { join: join_of::<T>() };
            Product::of_reals([interval(plan, reals, parts, |part| float(part[0]), real_span)])
        };
    }
    integer_product(record)
}

/// The product of integers: `[low 64 bits of the magnitude, flags]`.
pub(super) fn integer_product<T: Element>(record: &[u64]) -> Product<T> {
    let (specials, negative) = flags(record[1]);
    Product::integer(match specials {
        SpecialFlags { zero: true, .. } => IntegerProduct::ZERO,
        SpecialFlags { infinity: true, .. } => {
            IntegerProduct { magnitude: IntegerProduct::CAP, low: record[0], negative }
        }
        _ => IntegerProduct { magnitude: record[0].into(), low: record[0], negative },
    })
}

/// The interval of an array's elements, from its parts in order.
fn interval<'r, O: Operator>(
    plan: &CudaPlan,
    operator: O,
    parts: impl Iterator<Item = &'r [u64]>,
    leaf: impl Fn(&[u64]) -> O::Leaf,
    span: impl Fn(&[u64]) -> O::Node,
) -> Interval<O> {
    let mut interval = Interval::new(plan.first);
    for (level, part) in Interval::<O>::levels(plan.first, plan.first + plan.problem.n).zip(parts) {
        match level {
            0 => interval.leaf(operator, leaf(part)),
            _ => interval.node(operator, level, span(part)),
        }
    }
    interval
}

fn float(word: u64) -> f64 {
    f64::from_bits(word)
}

fn flags(flags: u64) -> (SpecialFlags, bool) {
    let specials =
        SpecialFlags { zero: flags & 1 != 0, infinity: flags & 2 != 0, nan: flags & 4 != 0 };
    (specials, flags & 8 != 0)
}

fn real_span(part: &[u64]) -> RealProduct {
    let (specials, negative) = flags(part[3]);
    let mantissa = DoubleDouble { high: float(part[0]), low: float(part[1]) };
    RealProduct { mantissa, exponent: part[2] as i64, negative, specials }
}

fn complex_span(part: &[u64]) -> ComplexProduct {
    let pair = |k: usize| DoubleDouble { high: float(part[k]), low: float(part[k + 1]) };
    ComplexProduct { re: pair(0), im: pair(2), exponent: part[4] as i64 }
}

/// The largest magnitude, from the bits of a number that has it. Those of an integer's magnitude are such a number: the magnitude
/// of the least integer is what its own bits say without the sign.
pub(super) fn largest<T: Element>(word: u64) -> Magnitude<T> {
    let bytes = word.to_le_bytes();
    let part: T::Component =
        bytemuck::checked::pod_read_unaligned(&bytes[..size_of::<T::Component>()]);
    Magnitude::of(&T::Components::from_fn(|_| part.magnitude()))
}

/// `[1 for a NaN + 2 for an infinity, the bits of the magnitudes of the largest number's parts]`.
fn largest_complex<T: Element>(record: &[u64]) -> Magnitude<T> {
    let special = match record[0] {
        0 => {
            return Magnitude::of(&T::Components::from_fn(|k| {
                let bytes = record[1 + k].to_le_bytes();
                let part: T::Component =
                    bytemuck::checked::pod_read_unaligned(&bytes[..size_of::<T::Component>()]);
                part.magnitude()
            }));
        }
        1 | 3 => Special::NAN,
        _ => Special::PLUS,
    };
    Magnitude { square: Register { special, ..Register::default() } }
}

/// The one register of an integer element, signed if the element is.
pub(super) fn registers<T: Element, L: Limbs>(low: &[u64]) -> T::Components<Register<L>> {
    let negative = low.last().is_some_and(|&top| top >> 63 == 1) && T::DTYPE.is_signed();
    let fixed = extend(low, if negative { u64::MAX } else { 0 });
    T::Components::from_fn(|_| Register { fixed, special: Special::NONE })
}

/// A number of fewer limbs, and what its further limbs are.
fn extend<L: Limbs>(low: &[u64], further: u64) -> Fixed<L> {
    let mut fixed = Fixed::<L>::default();
    for (k, limb) in fixed.0.as_mut().iter_mut().enumerate() {
        *limb = low.get(k).copied().unwrap_or(further);
    }
    fixed
}

/// `[sum of distances, 2 parts; sum of their squares; the point they are from, 2 parts; skipped]`, all but the last as f64.
fn fast_moments(record: &[u64], n: u64, dtype: DType) -> FastMoments {
    let word = |k: usize| f64::from_bits(record[k]);
    let count = n - record[5];
    let divisor = count.max(1) as f64;
    let distance = |k: usize| word(k) / divisor;
    let parts = if dtype.is_complex() { 2 } else { 1 };
    // The squares about the mean, from those about a point near it. Rounding may leave less than nothing.
    let about_mean = word(2) - (0..parts).map(|k| word(k) * distance(k)).sum::<f64>();
    FastMoments {
        mean: std::array::from_fn(|k| if k < parts { word(3 + k) + distance(k) } else { 0.0 }),
        squares: if about_mean < 0.0 { 0.0 } else { about_mean },
        count,
        dtype,
    }
}

/// `[1 for a maximum + 2 for a minimum, its bits, its index, the minimum's bits, its index]`.
pub(super) fn extremes<T: Ordered>(record: &[u64], n: u64) -> Extremes<T> {
    let mut extremes = Extremes { count: n, ..Extremes::new() };
    for (flag, k) in [(1, 1), (2, 3)] {
        if record[0] & flag == 0 {
            continue;
        }
        let bytes = record[k].to_le_bytes();
        let value: T = bytemuck::checked::pod_read_unaligned(&bytes[..size_of::<T>()]);
        let index = record[k + 1];
        if value.is_nan() {
            extremes.first_nan = Some(index);
        } else if flag == 1 {
            extremes.max = Some(ArgIndex { key: value.key(), index });
        } else {
            extremes.min = Some(ArgIndex { key: value.key(), index });
        }
    }
    extremes
}

#[cfg(test)]
mod tests {
    use warpfold_num::{Error, Value};

    use super::*;
    use crate::plan::{CudaFacts, Problem, choose_cuda};
    use crate::{Accuracy, Policy};

    fn plan<T: Element>(op: Op, n: u64) -> CudaPlan {
        let policy = Policy { accuracy: Accuracy::Fast, ..Policy::default() };
        let facts = CudaFacts { compute: 90, multiprocessors: 132 };
        choose_cuda(Problem { op, dtype: T::DTYPE, n, policy }, facts).unwrap()
    }

    /// The words given, and zeros after them.
    fn finish<T: Element>(op: Op, n: u64, words: &[u64]) -> crate::Result<Output> {
        let plan = plan::<T>(op, n);
        let mut record = vec![0; record_words(&plan).max(MOST_PLAIN_WORDS)];
        record[..words.len()].copy_from_slice(words);
        read(&plan, &record).finish(op, Finish::default())
    }

    #[test]
    fn integer_sums_keep_their_sign_and_are_checked_on_the_host() {
        let minus_five = &[-5i64 as u64, u64::MAX];
        assert_eq!(finish::<i16>(Op::Sum, 3, minus_five), Ok(Output::One((-5i64).into())));
        let large = &[0, 1];
        assert!(matches!(finish::<u64>(Op::Sum, 3, large), Err(Error::Overflow { .. })));
        let top = &[u64::MAX, u64::MAX];
        let Outcome::Exact(partial) = read(&plan::<u64>(Op::Sum, 1), top) else { panic!() };
        let partial = partial.typed::<u64>();
        assert!(matches!(partial, Some(Partial::Sum(p)) if p.wide() == Ok(u128::MAX)));
    }

    #[test]
    fn extremes_keep_zeros_nans_and_indices() {
        let minus_zero = &[2, 0, 0, 0x8000, 7];
        assert_eq!(
            finish::<warpfold_num::f16>(Op::Min, 9, minus_zero),
            Ok(Output::One(warpfold_num::f16::NEG_ZERO.into()))
        );
        assert_eq!(
            finish::<warpfold_num::f16>(Op::ArgMin, 9, minus_zero),
            Ok(Output::One(7u64.into()))
        );
        let nan = &[1, 0x7ff8_0000_0000_0000, 4];
        assert_eq!(finish::<f64>(Op::ArgMax, 9, nan), Ok(Output::One(4u64.into())));
        assert!(matches!(finish::<f64>(Op::Max, 0, &[]), Err(Error::Empty { .. })));
    }

    #[test]
    fn products_beyond_64_bits_are_an_error_unless_a_zero_was_met() {
        assert_eq!(finish::<i32>(Op::Prod, 2, &[6, 8]), Ok(Output::One((-6i64).into())));
        let beyond = &[0, 2];
        assert!(matches!(finish::<u8>(Op::Prod, 9, beyond), Err(Error::Overflow { .. })));
        assert_eq!(finish::<u8>(Op::Prod, 9, &[0, 3]), Ok(Output::One(0u64.into())));
        let real = &[0, 0, 0, 0, 0, 1.5f64.to_bits(), 0, 3, 8];
        assert_eq!(finish::<f32>(Op::Prod, 32, real), Ok(Output::One((-12f32).into())));
        let nan = &[0, 0, 0, 0, 0, 1f64.to_bits(), 0, 0, 3];
        assert!(
            matches!(finish::<f32>(Op::Prod, 1024, nan), Ok(Output::One(Value::F32(x))) if x.is_nan())
        );
    }

    #[test]
    fn fast_means_divide_by_what_was_kept() {
        let record = &[6f64.to_bits(), 0, 1];
        assert_eq!(finish::<f32>(Op::Mean, 4, record), Ok(Output::One(2f32.into())));
    }
}
