//! Integers: the kernels of each, by the words that lanes hold them as.

use std::marker::PhantomData;

use super::{Kernels, both_ends, order_of};
use crate::batch::{
    Approximate, Batched, Both, BothEnds, End, Ends, Extremum, FirstHighest, Highest,
    IntegerProducts, IntegerStats, IntegerSums, Integers, Largest, MOST_INDICES, Nonzero, Order,
    Out, Part, Ranked, Read, Sizes, Squares, SquaresAlone, Sums, Tally, Totals, Twice, Widest,
    Wrapped, alone, drive, drive_parts,
};
use crate::executor::run;
use crate::integer;
use crate::norm_inf::LargestReal;
use crate::product::IntegerFactors;
use crate::read::{OfShort, Outputs};
use crate::{Nan, Op, Result};
use warpfold_exact::exact::{Dot, Exact, Moments};
use warpfold_exact::partial::{Magnitude, Norm1, Product, Stats};
use warpfold_num::double_double::DoubleDouble;
use warpfold_num::element::{Element, Ordered};
use warpfold_plan::plan::Plan;

/// Integers and the words that lanes hold them as.
macro_rules! integers {
    ($($element:ty as $word:ty, $signed:ty, $unsigned:ty, $moments:ty, $sums:ident, [$($stats:ident)?];)+) => {$(
        impl Kernels for $element {
            fn exact_sum(plan: &Plan, x: &[Self], _first: u64) -> Exact<Self> {
                integer::sum::<Self, $word>(plan, bytemuck::cast_slice(x))
            }

            fn exact_moments(plan: &Plan, x: &[Self], _first: u64) -> Moments<Self> {
                integer::moments::<Self, $word>(plan, bytemuck::cast_slice(x))
            }

            fn exact_dot(plan: &Plan, x: &[Self], y: &[Self], _first: u64) -> Dot<Self> {
                let (x, y) = (bytemuck::cast_slice(x), bytemuck::cast_slice(y));
                integer::dot::<Self, $word>(plan, x, y)
            }

            fn norm1(plan: &Plan, x: &[Self]) -> Norm1<Self> {
                Norm1::from_exact(&integer::norm1::<Self, $word>(plan, bytemuck::cast_slice(x)))
            }

            fn norm_inf(plan: &Plan, x: &[Self]) -> Magnitude<Self> {
                let start = || LargestReal::new(plan.problem.policy.nan);
                run(plan, x, 0, start, |all: &mut Magnitude<Self>, one| all.merge(&one))
            }

            fn stats(plan: &Plan, x: &[Self], first: u64) -> Stats<Self> {
                integer::stats::<Self, $word>(plan, bytemuck::cast_slice(x), first)
            }

            fn product(plan: &Plan, x: &[Self], _: u64) -> Product<Self> {
                let start = || IntegerFactors::new(plan.isa);
                Product::integer(run(plan, x, 0, start, |all, one| all.merge(&one)))
            }

            fn batched_integer_products(batched: &Batched<'_, Self>, out: &Out<'_, Self, Wrapped>) {
                drive(IntegerProducts::<$word>(PhantomData), batched, |x| bytemuck::cast_slice(x), out);
            }

            fn batched_sums(batched: &Batched<'_, Self>, out: &Out<'_, Self, Sums<Self>>) {
                drive(IntegerSums::<$word>::values(), batched, |x| bytemuck::cast_slice(x), out);
            }

            fn batched_norms(batched: &Batched<'_, Self>, out: &Out<'_, Self, Sums<Self>>) {
                drive(IntegerSums::<$word>::norm1(), batched, |x| bytemuck::cast_slice(x), out);
            }

            fn batched_moments(batched: &Batched<'_, Self>, out: &Out<'_, Self, Self::Approximate>) {
                drive(<$moments>::new(), batched, |x| bytemuck::cast_slice(x), out);
            }

            integers!(@stats [$($stats)?] $word, $signed);
            integers!(@short $sums $word);

            batched_ordered!($signed, $unsigned);
        }
    )+};
    (@short narrow $word:ty) => {
        fn short_sums<D: Read<Sums<Self>>>(outputs: &Outputs<'_, Self>, reader: D) -> Result<Vec<D::Result>> {
            outputs.read(OfShort(reader), |batched, out| {
                let is_norm = batched.plan.batch.op == Op::L1;
                let kind = if is_norm { IntegerSums::norm1() } else { IntegerSums::values() };
                drive::<_, IntegerSums<$word, i64>>(kind, batched, |x| bytemuck::cast_slice(x), out);
            })
        }
    };
    (@short wide $word:ty) => {};
    (@stats [narrow] $word:ty, $signed:ty) => {
        const LEAST_OF_STATS: Option<u64> = Some(16);
        type OfStats = (Totals<i128, DoubleDouble>, [Ranked<$signed>; 2]);

        fn batched_stats(batched: &Batched<'_, Self>, parts: &[Box<dyn Part<Self::OfStats> + '_>]) -> bool {
            let (sums, ends) = (IntegerStats::<$word>::new(), Ends::<$signed>::of::<Self>(Nan::Propagate));
            let kinds = (Both(sums, both_ends::<Self, $signed>()), Both(sums, ends));
            drive_parts(kinds, batched, |x| bytemuck::cast_slice(x), parts)
        }
    };
    (@stats [wide] $word:ty, $signed:ty) => {
        const LEAST_OF_STATS: Option<u64> = Some(16);
        type OfStats = ([[i128; 1]; 2], (DoubleDouble, [Ranked<$signed>; 2]));

        fn batched_stats(batched: &Batched<'_, Self>, parts: &[Box<dyn Part<Self::OfStats> + '_>]) -> bool {
            let sums = Twice(IntegerSums::<$word>::values(), IntegerSums::norm1());
            let kind = Both(sums, Both(SquaresAlone::<$word>::new(), both_ends::<Self, $signed>()));
            drive_parts((kind, kind), batched, |x| bytemuck::cast_slice(x), parts)
        }
    };
    (@stats [] $word:ty, $signed:ty) => {
        type OfStats = ();
    };
}
integers! {
    bool as u8, i8, u8, Integers<u8>, narrow, [];
    i8 as i8, i8, u8, Integers<i8>, narrow, [];
    i16 as i16, i16, u16, Integers<i16>, narrow, [];
    i32 as i32, i32, u32, Integers<i32>, narrow, [narrow];
    i64 as i64, i64, u64, Squares<i64, 1, 16>, wide, [wide];
    u8 as u8, i8, u8, Integers<u8>, narrow, [];
    u16 as u16, i16, u16, Integers<u16>, narrow, [];
    u32 as u32, i32, u32, Integers<u32>, narrow, [narrow];
    u64 as u64, i64, u64, Squares<u64, 1, 16>, wide, [wide];
}
