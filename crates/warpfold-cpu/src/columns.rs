//! Results whose types are known only at run time, as columns.

use std::marker::PhantomData;

use warpfold_exact::partial::Partial;
use warpfold_num::element::{Element, Float};
use warpfold_num::{Column, Complex, DType, Error, Scalar};
use warpfold_plan::plan::Way;
use warpfold_plan::segment::Bounds;
use warpfold_plan::{Indices, Parts};

use crate::batch::{
    IntoPartial, MOST_IN_64, MOST_NEAR, MOST_SHORT, NearNorm, Read, Sums, Widest, Wrapped,
    most_doubtful,
};
use crate::kernels::Kernels;
use crate::read::{
    Both, Collect, CollectMoments, CountTrue, Extreme, Index, LargestFloat, LargestInteger, Moment,
    MomentAs, MomentState, Outputs, ProductAs, ProductOf, Rounded, Sum, SumState, Values, Whether,
    of_magnitudes, with_real,
};
use crate::{Nan, Op, Result, bf16, f16};

/// What a reduction gives for each output, by name: one column, two for minmax, a dozen for stats.
pub type Columns = Vec<(&'static str, Column)>;

/// The results of a reduction, by name, in the outputs' order; what integers that overflow do is the policy's to say.
pub(crate) fn columns<T: Kernels>(batched: &Outputs<'_, T>) -> Result<Columns> {
    let (op, finish, nan) = (batched.plan.batch.op, batched.finish, batched.plan.batch.policy.nan);
    // Refused for one as for many.
    if finish.round_to.is_some()
        && let Err(error @ Error::Unsupported { .. }) = Partial::<T>::empty(op).finish(op, finish)
    {
        return Err(error);
    }
    let column = match op {
        Op::L1 | Op::Linf if T::DTYPE.is_complex() && finish.round_to.is_none() => {
            complex_norms(batched)?
        }
        Op::Sum | Op::Mean | Op::L1 => sums(batched)?,
        Op::Linf if finish.round_to.is_none() => largest(batched)?,
        Op::Any | Op::All => Column::of(batched.read(Whether(op), T::batched_nonzero)?),
        Op::Count => Column::of(batched.read(CountTrue, T::batched_nonzero)?),
        Op::Min | Op::Max => {
            let extreme = Extreme::<T::Component> { nan, element: PhantomData };
            Column::of(batched.read(extreme, T::batched_extremes)?)
        }
        Op::ArgMin | Op::ArgMax => {
            let index = Index::<T::Component> { nan, element: PhantomData };
            let found = batched.read(index, T::batched_highest)?;
            Column::of(match batched.indices {
                Indices::OfInput => found,
                Indices::OfArray => batched.parts.flat(batched.x.len(), found),
            })
        }
        Op::MinMax => {
            let both = Both::<T::Component> { nan, element: PhantomData };
            let (least, greatest) = batched.read(both, T::batched_both_ends)?.into_iter().unzip();
            return Ok(vec![
                ("min", Column::of::<T::Component>(least)),
                ("max", Column::of(greatest)),
            ]);
        }
        Op::Stats => unreachable!("stats are read a few columns at a time"),
        Op::Dot => {
            let why = "dot takes two arrays; see reduce_pair";
            return Err(Error::Undefined { op, dtype: T::DTYPE, why });
        }
        Op::Var | Op::Std | Op::L2 | Op::Sumsq => moments(batched)?,
        Op::Prod if finish.round_to.is_none() => products(batched)?,
        Op::Linf | Op::Prod => values(batched)?,
    };
    Ok(vec![(op.name(), column)])
}

/// The results of reductions that have one number, from their partials.
fn values<T: Kernels>(batched: &Outputs<'_, T>) -> Result<Column> {
    Ok(Column::of_values(batched.read(Values, T::batched_alone)?))
}

/// Sums of many outputs, by the reader that is chosen for them.
struct Folds<'f, T: Kernels>(&'f Outputs<'f, T>);

impl<T: Kernels> Collect<Sums<T>> for Folds<'_, T> {
    type Of = Result<Column>;

    fn collect<D: Read<Sums<T>, Result: Scalar> + 'static>(self, reader: D) -> Result<Column> {
        let Folds(outputs) = self;
        let is_narrow = !T::DTYPE.is_float() && size_of::<T>() <= 4;
        let most = match (outputs.plan.way, T::DTYPE) {
            _ if is_narrow => MOST_IN_64,
            (Way::Columns, _) => MOST_SHORT,
            // Rows of f64 are as fast in one range of exponents, and those of f16 but the shortest.
            (_, DType::F64) => 0,
            (_, DType::F16) => 4,
            _ => MOST_SHORT,
        };
        let results = match have_at_most(outputs, most) {
            true => T::short_sums(outputs, reader)?,
            false => outputs.read(reader, T::batched_sums_of(outputs.plan.batch.op))?,
        };
        Ok(Column::of(results))
    }
}

/// Moments of many outputs, in either precision.
struct Moments<'f, T: Kernels>(&'f Outputs<'f, T>);

impl<T: Kernels> CollectMoments<T::Plain, T::Approximate> for Moments<'_, T> {
    type Of = Result<Column>;

    fn in_turn<D>(self, reader: D) -> Result<Column>
    where
        D: Read<T::Plain, Result: Scalar>
            + Read<T::Approximate, Result = <D as Read<T::Plain>>::Result>
            + 'static,
    {
        let results = self.0.read_in_turn(
            reader,
            most_doubtful,
            (T::batched_plain_moments, T::batched_moments),
        )?;
        Ok(Column::of(results))
    }

    fn second<D: Read<T::Approximate, Result: Scalar> + 'static>(
        self,
        reader: D,
    ) -> Result<Column> {
        Ok(Column::of(self.0.read(reader, T::batched_moments)?))
    }
}

fn moments<T: Kernels>(batched: &Outputs<'_, T>) -> Result<Column> {
    let (op, finish) = (batched.plan.batch.op, batched.finish);
    let to = op.result_dtype(T::DTYPE, finish.round_to).unwrap_or(T::DTYPE);
    let narrow = T::DTYPE.round() == DType::F32;
    let what = Moment::of(op, finish.ddof, T::DTYPE, batched.plan.way);
    let column = T::Approximate::column(what, to, narrow, Moments(batched));
    column.unwrap_or_else(|| values(batched))
}

/// What sums are rounded to, and the integers that sums of integers are.
pub(crate) fn natural<T: Kernels>() -> [DType; 2] {
    [T::DTYPE.round(), if T::DTYPE.is_signed() { DType::I64 } else { DType::U64 }]
}

fn sums<T: Kernels>(batched: &Outputs<'_, T>) -> Result<Column> {
    let op = batched.plan.batch.op;
    let sum = Sum::of(op).unwrap_or_else(|| unreachable!("{op} is no sum"));
    let to = batched.finish.round_to;
    let column = Sums::<T>::column(sum, to, natural::<T>(), Folds(batched));
    column.unwrap_or_else(|| values(batched))
}

fn products<T: Kernels>(batched: &Outputs<'_, T>) -> Result<Column> {
    fn of<T: Kernels, R>(batched: &Outputs<'_, T>) -> Result<Column>
    where
        R: Rounded + Copy + Send + Sync,
    {
        Ok(Column::of(batched.read(ProductAs::<R>::of_any(), T::batched_products)?))
    }
    fn of_integers<T: Kernels, I: Scalar>(batched: &Outputs<'_, T>) -> Result<Column>
    where
        ProductOf<I>: Read<Wrapped, Result = I>,
    {
        let reader = ProductOf { overflow: batched.finish.overflow, result: PhantomData::<I> };
        Ok(Column::of(batched.read(reader, T::batched_integer_products)?))
    }
    if !T::DTYPE.is_float() {
        return match T::DTYPE.is_signed() {
            true => of_integers::<T, i64>(batched),
            false => of_integers::<T, u64>(batched),
        };
    }
    if are_near(batched)
        && let Some(column) = T::near_products(batched)
    {
        return column;
    }
    match (T::DTYPE.is_complex(), <T::Round as Element>::DTYPE) {
        (false, DType::F32) => of::<T, f32>(batched),
        (false, _) => of::<T, f64>(batched),
        (true, DType::F32) => of::<T, Complex<f32>>(batched),
        (true, _) => of::<T, Complex<f64>>(batched),
    }
}

/// Whether lanes take inputs of one length, which is no more than that.
fn have_at_most<T: Kernels>(batched: &Outputs<'_, T>, most: u64) -> bool {
    match (batched.parts, batched.plan.way) {
        (Parts::Axes(form, _), Way::Runs | Way::Columns) => form.inputs <= most,
        (Parts::Segments(Bounds::Every { length, .. }, _), Way::Runs) => *length <= most,
        _ => false,
    }
}

/// Whether all inputs are so short that their products are nearly known first.
fn are_near<T: Kernels>(batched: &Outputs<'_, T>) -> bool {
    have_at_most(batched, MOST_NEAR) && batched.plan.batch.policy.nan == Nan::Propagate
}

fn complex_norms<T: Kernels>(batched: &Outputs<'_, T>) -> Result<Column> {
    fn of<T: Kernels, F: Float>(batched: &Outputs<'_, T>) -> Result<Column>
    where
        MomentAs<F>: Read<NearNorm, Result = F>,
    {
        let reader = of_magnitudes::<F>(batched.plan.batch.op);
        Ok(Column::of(batched.read(reader, T::batched_complex_norms)?))
    }
    match <T::Round as Element>::DTYPE {
        DType::F32 => of::<T, f32>(batched),
        _ => of::<T, f64>(batched),
    }
}

fn largest<T: Kernels>(batched: &Outputs<'_, T>) -> Result<Column> {
    fn of<T: Kernels, D: Read<Widest, Result: Scalar>>(
        batched: &Outputs<'_, T>,
        reader: D,
    ) -> Result<Column>
    where
        Widest: IntoPartial<T>,
    {
        Ok(Column::of(batched.read(reader, T::batched_largest)?))
    }
    with_real!(T::Component::DTYPE, [F16 f16, BF16 bf16, F32 f32, F64 f64], R => of(batched, LargestFloat::<R>(PhantomData)),
        else of(batched, LargestInteger))
}
