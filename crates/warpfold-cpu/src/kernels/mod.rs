//! Which kernel each element type takes: the one place where types meet lane counts.

mod stats_state;

use warpfold_num::{Column, Complex};

pub(crate) use self::stats_state::{
    StatsState, TakeGreatest, TakeLeast, TakeMoments, TakeNorms, TakeSpreads, TakeSquares, TakeSums,
};
use super::batch::{
    About, Approximate, Batched, Both, BothEnds, End, Ends, Extremum, FirstHighest, FirstNumber,
    FloatStats, FloatSums, FoldBatched, Highest, Kept, Largest, LargestSquare, MOST_INDICES,
    Multiplied, NearComplexProduct, NearComplexProducts, NearNorm, NearProduct, NearProducts,
    Nonzero, NormSums, Order, Out, Part, Plain, Rank, Ranked, ShortSum, ShortSums, Sizes, Squares,
    SquaresAlone, Sums, Tally, Totals, Twice, Widest, Wrapped, alone, drive, drive_parts, few,
    multiply, short,
};
use super::batch::{IntoPartial, Read};
use super::count::Nans;
use super::executor::{Together, run};
use super::fast::{FastDot, FastSum};
use super::float::{
    AbsoluteValues, ComplexDotFold, DotFold, MomentsFold, Squared, SumFold, Summed, Values,
};
use super::norm_inf::{LargestComplex, LargestReal};
use super::norm1::NormSum;
use super::order::Order as Ordering;
use super::product::{OfComplexes, OfReals, intervals};
use super::read::{MomentState, OfShort, Outputs, ProductAs, SumState};
use super::running::{self, Typed};
use super::whole::FoldWhole;
use crate::{Accuracy, Nan, Op, Policy, bf16, f16};
use crate::{Input, Result};
use warpfold_exact::exact::{Dot, Exact, Moments, Pair};
use warpfold_exact::partial::{Extremes, Magnitude, Norm1, Partial, Product, Stats};
use warpfold_num::double_double::DoubleDouble;
use warpfold_num::element::{Decode, Element, Ordered};
use warpfold_plan::plan::Plan;

/// The exact folds of an element type.
pub(crate) trait Kernels: FoldWhole + Element<Sums: IntoPartial<Self> + SumState> {
    /// Sums and sums of squares that are known to 2^-53, and to 2^-105.
    #[doc(hidden)]
    type Plain: IntoPartial<Self>;
    #[doc(hidden)]
    type Approximate: IntoPartial<Self> + MomentState<Self::Plain>;

    /// The exact sum.
    #[doc(hidden)]
    fn exact_sum(plan: &Plan, x: &[Self], first: u64) -> Exact<Self>;

    /// The exact sum and sum of squares.
    #[doc(hidden)]
    fn exact_moments(plan: &Plan, x: &[Self], first: u64) -> Moments<Self>;

    /// The exact dot product of two slices of one length.
    #[doc(hidden)]
    fn exact_dot(plan: &Plan, x: &[Self], y: &[Self], first: u64) -> Dot<Self>;

    /// The sum of magnitudes.
    #[doc(hidden)]
    fn norm1(plan: &Plan, x: &[Self]) -> Norm1<Self>;

    /// The largest magnitude.
    #[doc(hidden)]
    fn norm_inf(plan: &Plan, x: &[Self]) -> Magnitude<Self>;

    /// Everything that one pass tells.
    #[doc(hidden)]
    fn stats(plan: &Plan, x: &[Self], first: u64) -> Stats<Self>;

    /// The product of elements of which the first has an index.
    #[doc(hidden)]
    fn product(plan: &Plan, x: &[Self], first: u64) -> Product<Self>;

    /// A fold that is given arrays piece after piece, where there is one of an exact reduction.
    #[doc(hidden)]
    fn running(_: &Plan) -> Option<Box<dyn Typed<Self>>> {
        None
    }

    /// The same of magnitudes.
    #[doc(hidden)]
    fn running_of_magnitudes(_: &Plan) -> Option<Box<dyn Typed<Self>>> {
        None
    }

    /// Batched exact sums.
    #[doc(hidden)]
    fn batched_sums(batched: &Batched<'_, Self>, out: &Out<'_, Self, Sums<Self>>);

    /// The fold of a sum, mean or sum of magnitudes of any number of elements each.
    #[doc(hidden)]
    fn batched_sums_of(op: Op) -> FoldBatched<Self, Sums<Self>> {
        if op == Op::L1 { Self::batched_norms } else { Self::batched_sums }
    }

    /// Such sums of few elements each, or of few bits, in lanes for these where there are some.
    #[doc(hidden)]
    fn short_sums<D: Read<Sums<Self>>>(
        outputs: &Outputs<'_, Self>,
        reader: D,
    ) -> Result<Vec<D::Result>> {
        outputs.read(reader, Self::batched_sums_of(outputs.plan.batch.op))
    }

    /// Batched sums of magnitudes.
    #[doc(hidden)]
    fn batched_norms(batched: &Batched<'_, Self>, out: &Out<'_, Self, Sums<Self>>);

    /// Batched sums and sums of squares, for results in f32 of narrow floats.
    #[doc(hidden)]
    fn batched_plain_moments(_: &Batched<'_, Self>, _: &Out<'_, Self, Self::Plain>) {
        unreachable!("moments of {} are rounded to f64", Self::DTYPE);
    }

    /// The same for any results.
    #[doc(hidden)]
    fn batched_moments(batched: &Batched<'_, Self>, out: &Out<'_, Self, Self::Approximate>);

    /// The result of a short array by what is nearly known of its moments; `None` where that leaves doubt, and where it is not tried.
    #[doc(hidden)]
    fn short_moments<D: Read<Self::Approximate>>(_: &[Self], _: &D) -> Option<D::Result> {
        None
    }

    /// Batched largest magnitudes.
    #[doc(hidden)]
    fn batched_largest(batched: &Batched<'_, Self>, out: &Out<'_, Self, Widest>);

    /// Batched counts of what is not zero.
    #[doc(hidden)]
    fn batched_nonzero(batched: &Batched<'_, Self>, out: &Out<'_, Self, Tally>);

    /// An extreme, and one with its index.
    #[doc(hidden)]
    type Extremum: Kept + IntoPartial<Self>;
    #[doc(hidden)]
    type Ranked: Kept + IntoPartial<Self>;

    /// Batched extremes of the end that the reduction asks for.
    #[doc(hidden)]
    fn batched_extremes(_: &Batched<'_, Self>, _: &Out<'_, Self, Self::Extremum>) {
        unreachable!("{} has no order", Self::DTYPE);
    }

    /// The same with their indices.
    #[doc(hidden)]
    fn batched_highest(_: &Batched<'_, Self>, _: &Out<'_, Self, Self::Ranked>) {
        unreachable!("{} has no order", Self::DTYPE);
    }

    /// Batched extremes of both ends.
    #[doc(hidden)]
    fn batched_both_ends(_: &Batched<'_, Self>, _: &Out<'_, Self, [Self::Extremum; 2]>) {
        unreachable!("{} has no order", Self::DTYPE);
    }

    /// Batched sums of the magnitudes of complex numbers, or the largest ones.
    #[doc(hidden)]
    fn batched_complex_norms(_: &Batched<'_, Self>, _: &Out<'_, Self, NearNorm>) {
        unreachable!("{} is no complex number", Self::DTYPE);
    }

    /// Products of few elements each, which are nearly known first; `None` of a type that has no lanes for that.
    #[doc(hidden)]
    fn near_products(_: &Outputs<'_, Self>) -> Option<Result<Column>> {
        None
    }

    /// Batched products of floats.
    #[doc(hidden)]
    fn batched_products(_: &Batched<'_, Self>, _: &Out<'_, Self, Multiplied>) {
        unreachable!("products of {} have no mantissas", Self::DTYPE);
    }

    /// Batched products of integers.
    #[doc(hidden)]
    fn batched_integer_products(_: &Batched<'_, Self>, _: &Out<'_, Self, Wrapped>) {
        unreachable!("products of {} are not integers", Self::DTYPE);
    }

    /// What lanes of all kinds that stats read hold of an output, where these are folded together.
    #[doc(hidden)]
    type OfStats: StatsState<Self>;

    /// Elements of an output from which that is faster than a fold for each kind, if it is.
    #[doc(hidden)]
    const LEAST_OF_STATS: Option<u64> = None;

    /// Batched stats by lanes of all kinds; returns whether there were elements that these do not know, as NaNs.
    #[doc(hidden)]
    fn batched_stats(_: &Batched<'_, Self>, _: &[Box<dyn Part<Self::OfStats> + '_>]) -> bool {
        unreachable!("stats of {} are not folded together", Self::DTYPE);
    }

    /// Batched of what only the kernels for one array know.
    #[doc(hidden)]
    fn batched_alone(batched: &Batched<'_, Self>, out: &Out<'_, Self, ()>);
}

impl<T: Kernels> FoldWhole for T {
    fn fold(plan: &Plan, x: &[Self], first: u64) -> Partial<Self> {
        match crate::run(plan, Input::One(x), first) {
            Ok(partial) => partial,
            Err(error) => unreachable!("the reduction was checked before it was planned: {error}"),
        }
    }
}

/// What is alike for all types: `$signed` is the integer that ranks of the type are, `$word` that of its bits, of which an element has
/// `$parts`.
macro_rules! batched {
    ($signed:ty, $word:ty, $parts:literal) => {
        type Plain = Approximate<f64, $parts>;
        type Approximate = Approximate<DoubleDouble, $parts>;
        type Extremum = Extremum<$signed>;
        type Ranked = Ranked<$signed>;

        fn batched_nonzero(batched: &Batched<'_, Self>, out: &Out<'_, Self, Tally>) {
            let mask = <$word>::MAX >> u32::from(Self::DTYPE.is_float());
            let ignored = batched.plan.batch.policy.nan == Nan::Ignore;
            let infinite = <<Self as Element>::Component as Ordered>::INFINITE.filter(|_| ignored);
            let kind = Nonzero::<$word, $parts> { mask, infinite };
            drive(kind, batched, |x| bytemuck::cast_slice(x), out);
        }

        fn batched_alone(batched: &Batched<'_, Self>, out: &Out<'_, Self, ()>) {
            alone(batched, out);
        }
    };
}

/// What types with an order have beside.
macro_rules! batched_ordered {
    ($signed:ty, $word:ty) => {
        batched!($signed, $word, 1);

        fn batched_largest(batched: &Batched<'_, Self>, out: &Out<'_, Self, Widest>) {
            let sizes = Sizes::<$word>::of::<Self>(batched.plan.batch.policy.nan);
            drive(Largest(sizes), batched, |x| bytemuck::cast_slice(x), out);
        }

        fn batched_extremes(batched: &Batched<'_, Self>, out: &Out<'_, Self, Self::Extremum>) {
            let kind = Highest::<$signed>(order_of::<Self, _>(batched));
            drive(kind, batched, |x| bytemuck::cast_slice(x), out);
        }

        fn batched_highest(batched: &Batched<'_, Self>, out: &Out<'_, Self, Self::Ranked>) {
            if batched.longest() > MOST_INDICES {
                return alone(batched, out);
            }
            let kind = FirstHighest::<$signed>(order_of::<Self, _>(batched));
            drive(kind, batched, |x| bytemuck::cast_slice(x), out);
        }

        fn batched_both_ends(
            batched: &Batched<'_, Self>,
            out: &Out<'_, Self, [Self::Extremum; 2]>,
        ) {
            let nan = batched.plan.batch.policy.nan;
            let end = |end| Highest::<$signed>(Order::of::<Self>(end, nan));
            let kind = BothEnds(end(End::Least), end(End::Greatest));
            drive(kind, batched, |x| bytemuck::cast_slice(x), out);
        }
    };
}

/// The order from the end that a reduction asks for.
fn order_of<T: Ordered + FoldWhole, W: Rank>(batched: &Batched<'_, T>) -> Order<W> {
    let (op, nan) = (batched.plan.batch.op, batched.plan.batch.policy.nan);
    let least = matches!(op, Op::Min | Op::ArgMin);
    Order::of::<T>(if least { End::Least } else { End::Greatest }, nan)
}

/// Both extremes with their indices, the least first.
fn both_ends<T: Kernels<Component: Ordered>, W: Rank>() -> Twice<FirstNumber<W>> {
    let end = |end| FirstNumber(Order::of::<T::Component>(end, Nan::Propagate));
    Twice(end(End::Least), end(End::Greatest))
}

// After the macros that they share.
mod integers;

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
