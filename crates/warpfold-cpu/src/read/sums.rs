//! Sums, means and sums of magnitudes, from the short exact sums of the parts.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use warpfold_exact::exact::{Pair, Small};
use warpfold_exact::partial::Output;
use warpfold_num::element::{Element, Float};
use warpfold_num::{Complex, DType, Scalar};

use super::{alone, means, one, with_real};
use crate::Op;
use crate::batch::{AT_ONCE, Lone, Read, one_by_one};

/// The sum rounded to a float type.
struct SumAs<F>(PhantomData<F>);

/// The mean rounded to a float type.
struct MeanAs<F>(PhantomData<F>);

/// The sum of magnitudes rounded to a float type.
struct NormAs<F>(PhantomData<F>);

/// The sum of integers in an integer type.
struct SumOf<I>(PhantomData<I>);

/// Which sum is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sum {
    Total,
    Mean,
    Norm,
}

impl Sum {
    /// What a reduction reads of short sums, if it does.
    pub(crate) fn of(op: Op) -> Option<Self> {
        match op {
            Op::Sum => Some(Sum::Total),
            Op::Mean => Some(Sum::Mean),
            Op::L1 => Some(Sum::Norm),
            _ => None,
        }
    }
}

/// Folds every output and hands its results on.
pub(crate) trait Collect<S> {
    /// What that makes.
    type Of;

    /// Reads all of them.
    fn collect<D: Read<S, Result: Scalar> + 'static>(self, reader: D) -> Self::Of;
}

/// The short exact sums that a class of elements has.
pub(crate) trait SumState: Sized {
    /// A column of sums rounded to the float type `to`; integers to `natural` where that is `None`. `None` where no reader knows the type.
    fn column<C: Collect<Self>>(
        sum: Sum,
        to: Option<DType>,
        natural: [DType; 2],
        collect: C,
    ) -> Option<C::Of>;
}

/// A column by the reader of a sum and float type.
macro_rules! of_floats {
    ($sum:expr, $to:expr, $collect:expr) => {
        match ($sum, $to) {
            (Sum::Total, DType::F32) => Some($collect.collect(SumAs::<f32>(PhantomData))),
            (Sum::Total, DType::F64) => Some($collect.collect(SumAs::<f64>(PhantomData))),
            (Sum::Mean, DType::F32) => Some($collect.collect(MeanAs::<f32>(PhantomData))),
            (Sum::Mean, DType::F64) => Some($collect.collect(MeanAs::<f64>(PhantomData))),
            (Sum::Norm, DType::F32) => Some($collect.collect(NormAs::<f32>(PhantomData))),
            (Sum::Norm, DType::F64) => Some($collect.collect(NormAs::<f64>(PhantomData))),
            _ => None,
        }
    };
}

impl<const PARTS: usize> SumState for [Pair; PARTS]
where
    SumAs<f32>: Read<Self, Result: Scalar>,
    SumAs<f64>: Read<Self, Result: Scalar>,
    MeanAs<f32>: Read<Self, Result: Scalar>,
    MeanAs<f64>: Read<Self, Result: Scalar>,
    NormAs<f32>: Read<Self, Result: Scalar>,
    NormAs<f64>: Read<Self, Result: Scalar>,
{
    fn column<C: Collect<Self>>(
        sum: Sum,
        to: Option<DType>,
        [rounded, _]: [DType; 2],
        collect: C,
    ) -> Option<C::Of> {
        of_floats!(sum, to.unwrap_or(rounded), collect)
    }
}

impl SumState for [i128; 1] {
    fn column<C: Collect<Self>>(
        sum: Sum,
        to: Option<DType>,
        [rounded, integer]: [DType; 2],
        collect: C,
    ) -> Option<C::Of> {
        match (sum, to, integer) {
            (Sum::Total, None, DType::I64) => Some(collect.collect(SumOf::<i64>(PhantomData))),
            (Sum::Total, None, _) => Some(collect.collect(SumOf::<u64>(PhantomData))),
            _ => of_floats!(sum, to.unwrap_or(rounded), collect),
        }
    }
}

macro_rules! readers {
    ($($reader:ident of $state:ty as $result:ty: $small:expr, $lone:expr $(, $many:path: $of_parts:expr)?;)+) => {$(
        impl<F: Float> Read<$state> for $reader<F> {
            type Result = $result;

            #[inline(always)]
            fn small(&self, small: &$state, count: u64) -> Option<$result> {
                $small(small, count)
            }

            $(
                const IS_LONG: bool = true;

                #[inline(always)]
                fn neighbours(
                    &self,
                    sums: &[$state; AT_ONCE],
                    counts: [u64; AT_ONCE],
                ) -> ([MaybeUninit<$result>; AT_ONCE], [bool; AT_ONCE]) {
                    $many(self, sums, counts, $of_parts)
                }
            )?

            fn finished(&self, output: Output) -> $result {
                one(output)
            }

            fn lone(&self, inputs: Lone<'_, $result>) {
                $lone(inputs);
            }
        }
    )+};
}

#[inline(always)]
fn rounded<S: Small, F: Float>([sum]: &[S; 1], _: u64) -> Option<F> {
    Some(sum.round())
}

/// Sums of neighbours. To round a pair to f64 is to add its numbers; to round it to a narrower float is as little where one of the numbers is zero,
/// as it is of narrow elements, which f64 adds exactly.
#[inline(always)]
fn totals<D, F, const PARTS: usize>(
    reader: &D,
    sums: &[[Pair; PARTS]; AT_ONCE],
    counts: [u64; AT_ONCE],
    of_parts: impl Fn([F; PARTS]) -> D::Result,
) -> ([MaybeUninit<D::Result>; AT_ONCE], [bool; AT_ONCE])
where
    D: Read<[Pair; PARTS]>,
    F: Float,
{
    if F::PRECISION < f64::MANTISSA_DIGITS {
        let mut low = 0;
        for k in 0..AT_ONCE {
            for part in 0..PARTS {
                low |= sums[k][part].low.to_bits();
            }
        }
        // Whatever the signs of zeros.
        if low << 1 != 0 {
            return one_by_one(reader, sums, counts);
        }
    }
    let mut results = [const { MaybeUninit::uninit() }; AT_ONCE];
    for k in 0..AT_ONCE {
        let mut parts = [F::ZERO; PARTS];
        for part in 0..PARTS {
            let Pair { high, low } = sums[k][part];
            // An exact zero is +0.
            parts[part] = F::of((high + low) + 0.0);
        }
        results[k] = MaybeUninit::new(of_parts(parts));
    }
    (results, [true; AT_ONCE])
}

#[inline(always)]
fn mean<S: Small, F: Float>([sum]: &[S; 1], count: u64) -> Option<F> {
    if count == 0 { None } else { sum.mean(count) }
}

#[inline(always)]
fn complex_mean<F: Float>([re, im]: &[Pair; 2], count: u64) -> Option<Complex<F>> {
    Some(Complex::new(mean(&[*re], count)?, mean(&[*im], count)?))
}

readers! {
    SumAs of [Pair; 1] as F: rounded, alone::rounded, totals: |[sum]: [F; 1]| sum;
    SumAs of [i128; 1] as F: rounded, alone::rounded;
    SumAs of [Pair; 2] as Complex<F>: |[re, im]: &[Pair; 2], _| Some(Complex::new(re.round(), im.round())), alone::complex, totals: |[re, im]: [F; 2]| Complex::new(re, im);
    MeanAs of [Pair; 1] as F: mean, alone::rounded, means::neighbours: |[mean]: [F; 1]| mean;
    MeanAs of [i128; 1] as F: mean, alone::rounded, means::neighbours: |[mean]: [F; 1]| mean;
    MeanAs of [Pair; 2] as Complex<F>: complex_mean, alone::complex, means::neighbours: |[re, im]: [F; 2]| Complex::new(re, im);
    NormAs of [Pair; 1] as F: rounded, alone::magnitudes, totals: |[sum]: [F; 1]| sum;
    NormAs of [i128; 1] as F: rounded, alone::magnitudes;
    // The magnitudes of complex elements are folded to partials.
    NormAs of [Pair; 2] as F: |_: &[Pair; 2], _| None, alone::magnitudes;
}

macro_rules! integer_sums {
    ($($integer:ty: [$($variant:ident $ty:ty),+];)+) => {$(
        impl Read<[i128; 1]> for SumOf<$integer> {
            type Result = $integer;

            #[inline(always)]
            fn small(&self, [sum]: &[i128; 1], _: u64) -> Option<$integer> {
                (*sum).try_into().ok()
            }

            /// Of several at once: those of which 64 bits hold all.
            #[inline(always)]
            fn neighbours(
                &self,
                sums: &[[i128; 1]; AT_ONCE],
                _: [u64; AT_ONCE],
            ) -> ([MaybeUninit<$integer>; AT_ONCE], [bool; AT_ONCE]) {
                let mut results = [const { MaybeUninit::uninit() }; AT_ONCE];
                let mut are_results = [false; AT_ONCE];
                for k in 0..AT_ONCE {
                    let result = sums[k][0] as $integer;
                    are_results[k] = i128::from(result) == sums[k][0];
                    results[k] = MaybeUninit::new(result);
                }
                (results, are_results)
            }

            fn finished(&self, output: Output) -> $integer {
                one(output)
            }

            fn lone(&self, inputs: Lone<'_, $integer>) {
                with_real!(inputs.dtype(), [$($variant $ty),+], T => inputs.each(|x: T| x.alone()), else inputs.defer());
            }
        }
    )+};
}
integer_sums! {
    i64: [I8 i8, I16 i16, I32 i32, I64 i64];
    u64: [Bool bool, U8 u8, U16 u16, U32 u32, U64 u64];
}
