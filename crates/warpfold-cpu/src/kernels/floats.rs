//! Floats and complex numbers: the kernels of each, with the levels and lanes of their folds.

use super::{Kernels, both_ends, order_of};
use crate::batch::{
    About, Approximate, Batched, Both, BothEnds, End, Ends, Extremum, FirstHighest, FloatStats,
    FloatSums, FoldBatched, Highest, Largest, LargestSquare, MOST_INDICES, Multiplied,
    NearComplexProduct, NearComplexProducts, NearNorm, NearProduct, NearProducts, Nonzero,
    NormSums, Order, Out, Part, Plain, Ranked, Read, ShortSum, ShortSums, Sizes, Squares,
    SquaresAlone, Sums, Tally, Totals, Twice, Widest, alone, drive, drive_parts, few, multiply,
    short,
};
use crate::count::Nans;
use crate::executor::{Together, run};
use crate::fast::{FastDot, FastSum};
use crate::float::{
    AbsoluteValues, ComplexDotFold, DotFold, MomentsFold, Squared, SumFold, Summed, Values,
};
use crate::norm_inf::{LargestComplex, LargestReal};
use crate::norm1::NormSum;
use crate::order::Order as Ordering;
use crate::product::{OfComplexes, OfReals, intervals};
use crate::read::{OfShort, Outputs, ProductAs};
use crate::running::{self, Typed};
use crate::{Accuracy, Nan, Op, Policy, Result, bf16, f16};
use warpfold_exact::exact::{Dot, Exact, Moments, Pair};
use warpfold_exact::partial::{Extremes, Magnitude, Norm1, Partial, Product, Stats};
use warpfold_num::double_double::DoubleDouble;
use warpfold_num::element::{Decode, Element, Ordered};
use warpfold_num::{Column, Complex};
use warpfold_plan::plan::Plan;

/// Fast sums leave the exact sums' own partials; moments, and what of complex numbers is more than a sum, are exact at any accuracy.
///
/// Levels and lanes of the folds over the parts of a float type. Lanes fill the registers of AVX-512 (32 of 8 f64 each) without
/// spilling; fewer would wait for additions of four cycles to end.
macro_rules! floats {
    ($($element:ty: $part:ty, parts $parts:literal of $signed:ty | $word:ty,
        sum <$sum_levels:literal, $sum_lanes:literal>,
        moments $width:ident <$value_levels:literal, $square_levels:literal, $square_lanes:literal>,
        dot $dot:ty | $fast:ty,
        prod $class:ident $kind:ident $factors:ty;
    )+) => {$(
        impl Kernels for $element {
            fn exact_sum(plan: &Plan, x: &[Self], first: u64) -> Exact<Self> {
                type Sum = SumFold<$part, Values, $sum_levels, $sum_lanes, $parts>;
                type Plain = FastSum<$part, Values, $parts>;
                let Policy { nan, accuracy, .. } = plan.problem.policy;
                let (plan, x) = (&plan.in_parts($parts), Self::as_parts(x));
                let sum = match accuracy {
                    Accuracy::Exact => run(plan, x, first, || Sum::new(plan.isa, nan), Summed::merge),
                    Accuracy::Fast => run(plan, x, first, || Plain::new(nan), Summed::merge),
                };
                Exact { parts: sum.parts, count: sum.counted / $parts }
            }

            fn exact_moments(plan: &Plan, x: &[Self], first: u64) -> Moments<Self> {
                type Squares = MomentsFold<$part, $value_levels, $square_levels, $square_lanes, $parts>;
                let start = || Squares::new(plan.isa, plan.problem.policy.nan);
                let all = run(&plan.in_parts($parts), Self::as_parts(x), first, start, Squared::merge);
                Moments { sum: all.sum, squares: all.squares, count: all.counted / $parts }
            }

            fn exact_dot(plan: &Plan, x: &[Self], y: &[Self], first: u64) -> Dot<Self> {
                let Policy { nan, accuracy, .. } = plan.problem.policy;
                let (plan, input) = (&plan.in_parts($parts), (Self::as_parts(x), Self::as_parts(y)));
                let dot = match accuracy {
                    Accuracy::Exact => run(plan, input, first, || <$dot>::new(plan.isa, nan), Summed::merge),
                    Accuracy::Fast => run(plan, input, first, || <$fast>::new(plan.isa, nan), Summed::merge),
                };
                Dot { parts: dot.parts, count: dot.counted / $parts }
            }

            fn batched_sums(batched: &Batched<'_, Self>, out: &Out<'_, Self, Sums<Self>>) {
                let kind = FloatSums::<$part, $parts, $sum_levels, { 16 * $parts }>::values();
                drive(kind, batched, |x| bytemuck::cast_slice(x), out);
            }

            fn batched_moments(batched: &Batched<'_, Self>, out: &Out<'_, Self, Self::Approximate>) {
                let kind = Squares::<$part, $parts, { 16 * $parts }>::new();
                drive(kind, batched, |x| bytemuck::cast_slice(x), out);
            }

            fn short_moments<D: Read<Self::Approximate>>(x: &[Self], reader: &D) -> Option<D::Result> {
                let kind = Squares::<$part, $parts, { 16 * $parts }>::new();
                short(kind, bytemuck::cast_slice(x), reader)
            }

            floats!(@$width $part, $parts);
            floats!(@$width $kind $part);

            floats!(@$kind $element, $part, of $signed | $word, sum <$sum_levels, $sum_lanes>,
                moments $width <$value_levels, $square_levels, $square_lanes>, dot $dot);

            fn product(plan: &Plan, x: &[Self], first: u64) -> Product<Self> {
                Product::$class(intervals::<$factors>(plan, Self::as_parts(x), first))
            }

            fn batched_products(batched: &Batched<'_, Self>, out: &Out<'_, Self, Multiplied>) {
                multiply::<Self, $factors>(batched, |x| Self::as_parts(x), out);
            }
        }
    )+};
    (@narrow $part:ty, $parts:literal) => {
        fn batched_plain_moments(batched: &Batched<'_, Self>, out: &Out<'_, Self, Self::Plain>) {
            let kind = match batched.plan.batch.op.is_spread() {
                true => Plain::<$part, $parts, { 16 * $parts }>::variances(bytemuck::cast_slice(batched.memory())),
                false => Plain::norms(),
            };
            drive(kind, batched, |x| bytemuck::cast_slice(x), out);
        }
    };
    (@wide $part:ty, $parts:literal) => {};
    (@narrow complex $part:ty) => {
        fn near_products(outputs: &Outputs<'_, Self>) -> Option<Result<Column>> {
            let near: FoldBatched<Self, NearComplexProduct> = |batched, out| {
                drive(NearComplexProducts::<$part>::new(), batched, |x| bytemuck::cast_slice(x), out);
            };
            let reader = ProductAs::<Complex<$part>>::of_any();
            let results = outputs.read_in_turn(reader, few, (near, Self::batched_products));
            Some(results.map(Column::of))
        }
    };
    (@$width:ident $kind:ident $part:ty) => {};
    (@stats narrow $part:ty, $signed:ty, $sum_levels:literal) => {
        const LEAST_OF_STATS: Option<u64> = Some(if size_of::<$part>() == 2 { 8 } else { 16 });
        type OfStats = (Totals<Pair, About>, [Ranked<$signed>; 2]);

        fn batched_stats(batched: &Batched<'_, Self>, parts: &[Box<dyn Part<Self::OfStats> + '_>]) -> bool {
            let pivot = Plain::<$part, 1, 16>::variances(bytemuck::cast_slice(batched.memory())).pivot();
            let (sums, ends) = (FloatStats::<$part>::new(pivot), Ends::<$signed>::of::<$part>(Nan::Propagate));
            let kinds = (Both(sums, both_ends::<Self, $signed>()), Both(sums, ends));
            drive_parts(kinds, batched, |x| bytemuck::cast_slice(x), parts)
        }
    };
    (@stats wide $part:ty, $signed:ty, $sum_levels:literal) => {
        const LEAST_OF_STATS: Option<u64> = Some(8);
        type OfStats = ([[Pair; 1]; 2], (DoubleDouble, [Ranked<$signed>; 2]));

        fn batched_stats(batched: &Batched<'_, Self>, parts: &[Box<dyn Part<Self::OfStats> + '_>]) -> bool {
            type Sum = FloatSums<$part, 1, $sum_levels, 16>;
            let sums = Twice(Sum::values(), Sum::norm1());
            let kind = Both(sums, Both(SquaresAlone::<$part>::new(), both_ends::<Self, $signed>()));
            drive_parts((kind, kind), batched, |x| bytemuck::cast_slice(x), parts)
        }
    };
    (@real $element:ty, $part:ty, of $signed:ty | $word:ty, sum <$sum_levels:literal, $sum_lanes:literal>,
        moments $width:ident <$value_levels:literal, $square_levels:literal, $square_lanes:literal>, dot $dot:ty) => {
        floats!(@stats $width $part, $signed, $sum_levels);

        fn near_products(outputs: &Outputs<'_, Self>) -> Option<Result<Column>> {
            type Near = NearProducts<$part, $sum_levels>;
            let near: FoldBatched<Self, NearProduct<$sum_levels>> = |batched, out| {
                drive(Near::new(), batched, |x| bytemuck::cast_slice(x), out);
            };
            let reader = ProductAs::<<Self as Element>::Round>::of_bits(Near::BITS);
            let results = outputs.read_in_turn(reader, few, (near, Self::batched_products));
            Some(results.map(Column::of))
        }

        fn running(plan: &Plan) -> Option<Box<dyn Typed<Self>>> {
            type Sum = SumFold<$part, Values, $sum_levels, $sum_lanes, 1>;
            type Squares = MomentsFold<$part, $value_levels, $square_levels, $square_lanes, 1>;
            let nan = plan.problem.policy.nan;
            Some(match plan.problem.op {
                Op::Sum | Op::Mean => running::made(plan, Sum::new(plan.isa, nan), |sum| {
                    Partial::Sum(Exact { parts: sum.parts, count: sum.counted })
                }),
                op if op.is_ordered() => running::made(plan, Ordering::<$part, false>::new(plan), |found| {
                    Partial::Extremes(found.extremes)
                }),
                op if op.is_of_squares() => {
                    running::one(plan, Squares::new(plan.isa, nan), |all| {
                        let moments = Moments { sum: all.sum, squares: all.squares, count: all.counted };
                        Partial::Moments(Box::new(moments))
                    })
                }
                Op::Dot => running::two(plan, <$dot>::new(plan.isa, nan), |dot| {
                    Partial::Dot(Box::new(Dot { parts: dot.parts, count: dot.counted }))
                }),
                _ => return None,
            })
        }

        fn running_of_magnitudes(plan: &Plan) -> Option<Box<dyn Typed<Self>>> {
            type Sum = SumFold<$part, AbsoluteValues, $sum_levels, $sum_lanes, 1>;
            Some(match plan.problem.op {
                Op::Sum | Op::Mean => running::one(plan, Sum::new(plan.isa, plan.problem.policy.nan), |sum| {
                    Partial::Sum(Exact { parts: sum.parts, count: sum.counted })
                }),
                op if op.is_ordered() => running::one(plan, Ordering::<$part, true>::new(plan), |found| {
                    Partial::Extremes(found.extremes)
                }),
                _ => return None,
            })
        }

        fn norm1(plan: &Plan, x: &[Self]) -> Norm1<Self> {
            type Sum = SumFold<$part, AbsoluteValues, $sum_levels, $sum_lanes, 1>;
            type Plain = FastSum<$part, AbsoluteValues, 1>;
            let Policy { nan, accuracy, .. } = plan.problem.policy;
            let sum = match accuracy {
                Accuracy::Exact => run(plan, x, 0, || Sum::new(plan.isa, nan), Summed::merge),
                Accuracy::Fast => run(plan, x, 0, || Plain::new(nan), Summed::merge),
            };
            Norm1::from_sum(&sum.parts[0], <$part as Decode>::UNIT, sum.counted)
        }

        fn batched_norms(batched: &Batched<'_, Self>, out: &Out<'_, Self, Sums<Self>>) {
            let kind = FloatSums::<$part, 1, $sum_levels, 16>::norm1();
            drive(kind, batched, |x| bytemuck::cast_slice(x), out);
        }

        fn short_sums<D: Read<Sums<Self>>>(outputs: &Outputs<'_, Self>, reader: D) -> Result<Vec<D::Result>> {
            let short: FoldBatched<Self, ShortSum<$sum_levels>> = |batched, out| {
                let is_norm = batched.plan.batch.op == Op::L1;
                let kind = if is_norm { ShortSums::norm1() } else { ShortSums::values() };
                drive::<_, ShortSums<$part, $sum_levels>>(kind, batched, |x| bytemuck::cast_slice(x), out);
            };
            let folds = (short, Self::batched_sums_of(outputs.plan.batch.op));
            outputs.read_in_turn(OfShort(reader), few, folds)
        }

        batched_ordered!($signed, $word);

        fn norm_inf(plan: &Plan, x: &[Self]) -> Magnitude<Self> {
            let start = || LargestReal::new(plan.problem.policy.nan);
            run(plan, x, 0, start, |all: &mut Magnitude<Self>, one| all.merge(&one))
        }

        fn stats(plan: &Plan, x: &[Self], first: u64) -> Stats<Self> {
            type Squares = MomentsFold<$part, $value_levels, $square_levels, $square_lanes, 1, 1>;
            let start = || Together(Squares::new(plan.isa, plan.problem.policy.nan), Ordering::<$part, false>::new(plan));
            let (moments, order) = run(plan, x, first, start, |all, one| {
                all.0.merge(one.0);
                all.1.merge(one.1);
            });
            Stats {
                moments: Moments { sum: moments.sum, squares: moments.squares, count: moments.counted },
                norm1: Norm1::from_sum(&moments.norms[0], <$part as Decode>::UNIT, moments.counted),
                extremes: order.extremes,
                nans: order.nans,
                seen: x.len() as u64,
            }
        }
    };
    (@complex $element:ty, $part:ty, of $signed:ty | $word:ty, sum <$sum_levels:literal, $sum_lanes:literal>,
        moments $width:ident <$value_levels:literal, $square_levels:literal, $square_lanes:literal>, dot $dot:ty) => {
        type OfStats = ();

        fn norm1(plan: &Plan, x: &[Self]) -> Norm1<Self> {
            let (plan, x) = (plan.in_parts(2), Self::as_parts(x));
            let start = || NormSum::<Self>::new(plan.isa, plan.problem.policy.nan);
            run(&plan, x, 0, start, |all: &mut Norm1<Self>, one| all.merge(&one))
        }

        fn batched_norms(batched: &Batched<'_, Self>, out: &Out<'_, Self, Sums<Self>>) {
            alone(batched, out);
        }

        fn batched_complex_norms(batched: &Batched<'_, Self>, out: &Out<'_, Self, NearNorm>) {
            let nan = batched.plan.batch.policy.nan;
            match batched.plan.batch.op {
                Op::L1 => drive(NormSums::<Self>::new(nan), batched, |x| bytemuck::cast_slice(x), out),
                _ => drive(LargestSquare::<Self>::new(nan), batched, |x| bytemuck::cast_slice(x), out),
            }
        }

        batched!($signed, $word, 2);

        fn batched_largest(_: &Batched<'_, Self>, _: &Out<'_, Self, Widest>) {
            unreachable!("the largest complex number is that of the largest square");
        }

        fn norm_inf(plan: &Plan, x: &[Self]) -> Magnitude<Self> {
            let (plan, x) = (plan.in_parts(2), Self::as_parts(x));
            let start = || LargestComplex::<Self>::new(plan.problem.policy.nan);
            run(&plan, x, 0, start, |all: &mut Magnitude<Self>, one| all.merge(&one))
        }

        fn stats(plan: &Plan, x: &[Self], first: u64) -> Stats<Self> {
            type Squares = MomentsFold<$part, $value_levels, $square_levels, $square_lanes, 2>;
            let (nan, seen) = (plan.problem.policy.nan, x.len() as u64);
            let start = || {
                Together(Squares::new(plan.isa, nan), Together(NormSum::<Self>::new(plan.isa, nan), Nans::<Self>::new()))
            };
            let (plan, x) = (plan.in_parts(2), Self::as_parts(x));
            let (moments, (norm1, nans)) = run(&plan, x, first, start, |all, one| {
                all.0.merge(one.0);
                all.1.0.merge(&one.1.0);
                all.1.1 += one.1.1;
            });
            let moments =
                Moments { sum: moments.sum, squares: moments.squares, count: moments.counted / 2 };
            Stats { moments, norm1, extremes: Extremes::new(), nans, seen }
        }
    };
}
floats! {
    f16: f16, parts 1 of i16 | u16, sum <0, 64>, moments narrow <0, 1, 32>, dot DotFold<f16, 0, 64> | FastDot<f16>,
        prod of_reals real OfReals<f16>;
    bf16: bf16, parts 1 of i16 | u16, sum <0, 64>, moments narrow <0, 1, 32>, dot DotFold<bf16, 0, 64> | FastDot<bf16>,
        prod of_reals real OfReals<bf16>;
    f32: f32, parts 1 of i32 | u32, sum <0, 64>, moments narrow <0, 1, 32>, dot DotFold<f32, 1, 32> | FastDot<f32>,
        prod of_reals real OfReals<f32>;
    f64: f64, parts 1 of i64 | u64, sum <1, 32>, moments wide <1, 3, 16>, dot DotFold<f64, 3, 16> | FastDot<f64>,
        prod of_reals real OfReals<f64>;
    Complex<f32>: f32, parts 2 of i32 | u32, sum <0, 64>, moments narrow <0, 1, 32>, dot ComplexDotFold<f32, 1, 16> | ComplexDotFold<f32, 1, 16>,
        prod of_complexes complex OfComplexes<f32>;
    Complex<f64>: f64, parts 2 of i64 | u64, sum <1, 32>, moments wide <1, 3, 16>, dot ComplexDotFold<f64, 3, 16> | ComplexDotFold<f64, 3, 16>,
        prod of_complexes complex OfComplexes<f64>;
}
