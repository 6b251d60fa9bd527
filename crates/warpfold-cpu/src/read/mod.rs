//! Results of many reductions at once: how what accumulators and partials hold becomes values.
//!
//! ```text
//! op, type  →  reader (sums | counts | ranks | others)  →  column
//! ```
//!
//! A reader says what an accumulator's small value is as a result. It knows neither shapes nor, but for the type of the result, elements.

mod alone;
mod counts;
mod means;
mod moments;
mod nearly;
mod others;
mod products;
mod ranks;
mod short;
mod sums;
mod ties;

pub(crate) use counts::{CountTrue, Whether};
pub(crate) use moments::{
    Collect as CollectMoments, CollectOne, Moment, MomentAs, MomentState, of_magnitudes,
};
pub(crate) use others::Values;
pub(crate) use products::{ProductAs, ProductOf, Rounded};
pub(crate) use ranks::{Both, Extreme, Index, LargestFloat, LargestInteger};
pub(crate) use short::OfShort;
pub(crate) use sums::{Collect, Sum, SumState};

use std::sync::Mutex;

use warpfold_exact::partial::{Finish, Output, Partial};
use warpfold_num::{Empty, Scalar};
use warpfold_plan::{Indices, OutputArray, Parts};

use crate::batch::{
    Batched, Ending, FoldBatched, IntoPartial, Read, collect, collect_in_turn, keep,
};
use crate::whole::FoldWhole;
use crate::{BatchPlan, Result};

/// Batched reductions of one array of a type, about to be done.
pub(crate) struct Outputs<'a, T> {
    pub(crate) x: &'a [T],
    pub(crate) parts: &'a Parts<'a>,
    pub(crate) plan: &'a BatchPlan,
    pub(crate) indices: Indices,
    pub(crate) finish: Finish,
    /// What an output does that has no result.
    pub(crate) empty: Empty,
    /// Those that have none, where that is no error.
    pub(crate) gaps: &'a Mutex<Vec<u64>>,
    /// Memory of the caller's for the results: what is written there is not in the column.
    pub(crate) out: Option<&'a OutputArray<'a>>,
}

impl<T: FoldWhole> Outputs<'_, T> {
    /// Folds every input and reads it.
    pub(crate) fn read<S: IntoPartial<T>, D: Read<S>>(
        &self,
        reader: D,
        fold: FoldBatched<T, S>,
    ) -> Result<Vec<D::Result>> {
        let batched = Batched::of(self.plan, self.parts, self.x);
        let mut gaps = self.gaps.lock().unwrap_or_else(|poison| poison.into_inner());
        let names = |output| self.parts.name(output);
        collect(&batched, reader, (self.ending(), self.out), fold, (&names, &mut gaps))
    }

    /// Folds every input and reads it, or folds it in another way if that leaves many in doubt.
    pub(crate) fn read_in_turn<S: IntoPartial<T>, U: IntoPartial<T>, D>(
        &self,
        reader: D,
        most: impl Fn(&Batched<'_, T>) -> Option<u64>,
        folds: (FoldBatched<T, S>, FoldBatched<T, U>),
    ) -> Result<Vec<<D as Read<S>>::Result>>
    where
        D: Read<S> + Read<U, Result = <D as Read<S>>::Result>,
    {
        let batched = Batched::of(self.plan, self.parts, self.x);
        let mut gaps = self.gaps.lock().unwrap_or_else(|poison| poison.into_inner());
        let names = |output| self.parts.name(output);
        let (most, ending) = (most(&batched), (self.ending(), self.out));
        collect_in_turn(&batched, reader, ending, most, folds, (&names, &mut gaps))
    }

    fn ending(&self) -> Ending {
        Ending::of::<T>(self.plan.batch.op, self.finish, self.empty)
    }

    /// The partials, exact and ready to be merged.
    pub(crate) fn partials(&self) -> Vec<Partial<T>> {
        keep(&Batched::of(self.plan, self.parts, self.x))
    }
}

/// The one number of an output, of the type that a reader gives.
fn one<R: Scalar>(output: Output) -> R {
    match output {
        Output::One(value) => value
            .typed()
            .unwrap_or_else(|| unreachable!("{value:?} is of another type than the contract's")),
        other => unreachable!("the reduction has one number, not {other:?}"),
    }
}

/// Runs an expression with a type alias bound to the real element type that a name stands for.
macro_rules! with_real {
    ($dtype:expr, [$($variant:ident $ty:ty),+], $T:ident => $body:expr, else $other:expr) => {
        match $dtype {
            $(DType::$variant => {
                type $T = $ty;
                $body
            })+
            _ => $other,
        }
    };
}
pub(crate) use with_real;
