//! Which kernel each element type takes: the one place where types meet lane counts.

mod stats_state;

use warpfold_num::Column;

pub(crate) use self::stats_state::{
    StatsState, TakeGreatest, TakeLeast, TakeMoments, TakeNorms, TakeSpreads, TakeSquares, TakeSums,
};
use super::batch::{
    Batched, End, FirstNumber, FoldBatched, IntoPartial, Kept, Multiplied, NearNorm, Order, Out,
    Part, Rank, Read, Sums, Tally, Twice, Widest, Wrapped,
};
use super::read::{MomentState, Outputs, SumState};
use super::running::Typed;
use super::whole::FoldWhole;
use crate::{Input, Nan, Op, Result};
use warpfold_exact::exact::{Dot, Exact, Moments};
use warpfold_exact::partial::{Magnitude, Norm1, Partial, Product, Stats};
use warpfold_num::element::{Element, Ordered};
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
mod floats;
mod integers;
