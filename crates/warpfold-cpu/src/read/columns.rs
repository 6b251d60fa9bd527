//! Results whose types are known only at run time, as columns.

use std::marker::PhantomData;

use warpfold_exact::partial::Partial;
use warpfold_num::element::Element;
use warpfold_num::{Column, Complex, DType, Error, Scalar};
use warpfold_plan::Indices;

use super::counts::{HowMany, Whether};
use super::moments::{self, Moment, MomentState};
use super::others::Values;
use super::products::{ProductAs, Rounded};
use super::ranks::{Both, Extreme, Index, LargestFloat, LargestWhole};
use super::sums::{Collect, Sum, SumState};
use super::{Outputs, with_real};
use crate::batch::{FoldMany, IntoPartial, Read, Sums, Widest};
use crate::kernels::Kernels;
use crate::{Op, Result, bf16, f16};

/// What a reduction gives for each output, by name: one column, two for minmax, a dozen for stats.
pub type Columns = Vec<(&'static str, Column)>;

/// The results of a reduction, by name, in the outputs' order; what integers that overflow do is the policy's to say.
pub(crate) fn columns<T: Kernels>(many: &Outputs<'_, T>) -> Result<Columns> {
    let (op, finish, nan) = (many.plan.batch.op, many.finish, many.plan.batch.policy.nan);
    // Refused for one as for many.
    if finish.round_to.is_some()
        && let Err(error @ Error::Unsupported { .. }) = Partial::<T>::empty(op).finish(op, finish)
    {
        return Err(error);
    }
    let column = match op {
        Op::Sum | Op::Mean | Op::L1 => sums(many)?,
        Op::Linf if finish.round_to.is_none() => largest(many)?,
        Op::Any | Op::All => Column::of(many.read(Whether(op), T::many_nonzero)?),
        Op::Count => Column::of(many.read(HowMany, T::many_nonzero)?),
        Op::Min | Op::Max => {
            let extreme = Extreme::<T::Part> { nan, element: PhantomData };
            Column::of(many.read(extreme, T::many_highest)?)
        }
        Op::ArgMin | Op::ArgMax => {
            let index = Index::<T::Part> { nan, element: PhantomData };
            let found = many.read(index, T::many_highest)?;
            Column::of(match many.indices {
                Indices::OfInput => found,
                Indices::OfArray => many.parts.flat(many.x.len(), found),
            })
        }
        Op::MinMax => {
            let both = Both::<T::Part> { nan, element: PhantomData };
            let (least, greatest) = many.read(both, T::many_both_ends)?.into_iter().unzip();
            return Ok(vec![("min", Column::of::<T::Part>(least)), ("max", Column::of(greatest))]);
        }
        Op::Stats => unreachable!("stats are read a column at a time"),
        Op::Dot => {
            let why = "dot takes two arrays; see reduce_pair";
            return Err(Error::Undefined { op, dtype: T::DTYPE, why });
        }
        Op::Var | Op::Std | Op::L2 | Op::Sumsq => moments(many)?,
        Op::Prod if finish.round_to.is_none() && T::DTYPE.is_float() => products(many)?,
        Op::Linf | Op::Prod => values(many)?,
    };
    Ok(vec![(op.name(), column)])
}

/// The results of reductions that have one number, from their partials.
fn values<T: Kernels>(many: &Outputs<'_, T>) -> Result<Column> {
    Ok(Column::of_values(many.read(Values, T::many_alone)?))
}

/// Folds of many outputs, by the reader that is chosen for them.
struct Folds<'f, T: Kernels>(&'f Outputs<'f, T>, FoldMany<T, Sums<T>>);

impl<T: Kernels> Collect<Sums<T>> for Folds<'_, T> {
    fn collect<D: Read<Sums<T>, Result: Scalar>>(self, reader: D) -> Result<Column> {
        Ok(Column::of(self.0.read(reader, self.1)?))
    }
}

/// Moments of many outputs, in either precision.
struct Moments<'f, T: Kernels>(&'f Outputs<'f, T>);

impl<T: Kernels> moments::Collect<T::Plain, T::Approximate> for Moments<'_, T> {
    fn in_turn<D>(self, reader: D) -> Result<Column>
    where
        D: Read<T::Plain, Result: Scalar>
            + Read<T::Approximate, Result = <D as Read<T::Plain>>::Result>,
    {
        let results = self.0.read_in_turn(reader, (T::many_plain_moments, T::many_moments))?;
        Ok(Column::of(results))
    }

    fn second<D: Read<T::Approximate, Result: Scalar>>(self, reader: D) -> Result<Column> {
        Ok(Column::of(self.0.read(reader, T::many_moments)?))
    }
}

fn moments<T: Kernels>(many: &Outputs<'_, T>) -> Result<Column> {
    let (op, finish, natural) = (many.plan.batch.op, many.finish, <T::Round as Element>::DTYPE);
    let result = if op == Op::Sumsq && !T::DTYPE.is_float() { whole::<T>() } else { natural };
    let (to, narrow) = (finish.round_to.unwrap_or(result), natural == DType::F32);
    let what = Moment { op, ddof: finish.ddof };
    let column = T::Approximate::column(what, to, narrow, Moments(many));
    column.unwrap_or_else(|| values(many))
}

/// The type of sums of integers.
fn whole<T: Element>() -> DType {
    match T::DTYPE {
        DType::Bool | DType::U8 | DType::U16 | DType::U32 | DType::U64 => DType::U64,
        _ => DType::I64,
    }
}

fn sums<T: Kernels>(many: &Outputs<'_, T>) -> Result<Column> {
    let op = many.plan.batch.op;
    let fold = if op == Op::L1 { T::many_norms } else { T::many_sums };
    let natural = [<T::Round as Element>::DTYPE, whole::<T>()];
    let sum = Sum::of(op).unwrap_or_else(|| unreachable!("{op} is no sum"));
    let column = Sums::<T>::column(sum, many.finish.round_to, natural, Folds(many, fold));
    column.unwrap_or_else(|| values(many))
}

fn products<T: Kernels>(many: &Outputs<'_, T>) -> Result<Column> {
    fn of<T: Kernels, R>(many: &Outputs<'_, T>) -> Result<Column>
    where
        R: Rounded + Copy + Send + Sync,
    {
        Ok(Column::of(many.read(ProductAs::<R>(PhantomData), T::many_products)?))
    }
    match (T::DTYPE.is_complex(), <T::Round as Element>::DTYPE) {
        (false, DType::F32) => of::<T, f32>(many),
        (false, _) => of::<T, f64>(many),
        (true, DType::F32) => of::<T, Complex<f32>>(many),
        (true, _) => of::<T, Complex<f64>>(many),
    }
}

fn largest<T: Kernels>(many: &Outputs<'_, T>) -> Result<Column> {
    fn of<T: Kernels, D: Read<Widest, Result: Scalar>>(
        many: &Outputs<'_, T>,
        reader: D,
    ) -> Result<Column>
    where
        Widest: IntoPartial<T>,
    {
        Ok(Column::of(many.read(reader, T::many_largest)?))
    }
    with_real!(T::Part::DTYPE, [F16 f16, BF16 bf16, F32 f32, F64 f64], R => of(many, LargestFloat::<R>(PhantomData)),
        else of(many, LargestWhole))
}
