//! Results whose types are known only at run time, as columns.

use std::sync::Arc;

use super::{Arrange, Indices, Plain, Read, ReduceMany};
use crate::element::{DType, Element, Float, Parts};
use crate::partial::{Extremes, Finish, Output, Partial};
use crate::value::{Column, Value};
use crate::{Error, Op, Result};

/// What a reduction gives for each output, by name: one column, two for minmax, a dozen for stats.
pub type Columns = Vec<(&'static str, Column)>;

impl<T: Element, A: Arrange> ReduceMany<'_, T, A> {
    /// The results of any reduction, by name, in the outputs' order; what integers that overflow do is the policy's to say. Of stats, a mean,
    /// variance or deviation that does not exist is NaN.
    ///
    /// ```
    /// use warpfold::{Column, Op, Segments, partial::Finish, reduce_segments};
    /// let many = reduce_segments(&[1u8, 2, 3], Segments::every(1))?;
    /// assert_eq!(many.columns(Op::Sum, Finish::default())?, [("sum", Column::U64(vec![1, 2, 3]))]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    /// As the reduction's own method; [`Error::Unsupported`] for a rounding that the result does not have.
    pub fn columns(&self, op: Op, finish: Finish) -> Result<Columns> {
        let (x, how) = (self.x, Arc::clone(&self.how));
        let (policy, indices) = (self.policy, self.indices);
        let at = |output| self.arrange.at(output);
        T::columns(&ReduceMany { x, how, policy, indices, arrange: Plain(&at) }, op, finish)
    }
}

/// [`ReduceMany::columns`] for one type.
pub(crate) fn columns<T: Element>(
    many: &ReduceMany<'_, T, Plain<'_>>,
    op: Op,
    finish: Finish,
) -> Result<Columns> {
    let finish = Finish { overflow: many.policy.overflow, ..finish };
    // Refused for one as for many.
    if finish.round_to.is_some()
        && let Err(error @ Error::Unsupported { .. }) = Partial::<T>::empty(op).finish(op, finish)
    {
        return Err(error);
    }
    let natural = finish.round_to.unwrap_or(<T::Round as Element>::DTYPE);
    let column = match (op, natural) {
        (Op::Sum, _) if finish.round_to.is_none() => Column::of(many.sum()?),
        (Op::Sum, DType::F32) => Column::of(many.sum_as::<f32>()?),
        (Op::Sum, DType::F64) => Column::of(many.sum_as::<f64>()?),
        (Op::Mean, DType::F32) => Column::of(many.mean_as::<f32>()?),
        (Op::Mean, DType::F64) => Column::of(many.mean_as::<f64>()?),
        (Op::L1, DType::F32) => Column::of(many.l1_as::<f32>()?),
        (Op::L1, DType::F64) => Column::of(many.l1_as::<f64>()?),
        (Op::Linf, _) if finish.round_to.is_none() => Column::of(many.linf()?),
        (Op::Any, _) => Column::of(many.any()?),
        (Op::All, _) => Column::of(many.all()?),
        (Op::Count, _) => Column::of(many.count()?),
        (Op::Min, _) => Column::of(many.ordered(op)?.min()?),
        (Op::Max, _) => Column::of(many.ordered(op)?.max()?),
        (Op::ArgMin, _) => Column::of(many.ordered(op)?.argmin()?),
        (Op::ArgMax, _) => Column::of(many.ordered(op)?.argmax()?),
        (Op::MinMax, _) => {
            let (least, greatest) = many.ordered(op)?.minmax()?.into_iter().unzip();
            return Ok(vec![("min", Column::of::<T::Part>(least)), ("max", Column::of(greatest))]);
        }
        (Op::Stats, _) => return stats(many, finish),
        (Op::Dot, _) => {
            let why = "dot takes two arrays; see reduce_pair";
            return Err(Error::Undefined { op, dtype: T::DTYPE, why });
        }
        _ => Column::of_values(many.values(op, finish)?),
    };
    Ok(vec![(op.name(), column)])
}

impl<T: Element> ReduceMany<'_, T, Plain<'_>> {
    /// The same reductions of elements that have an order.
    fn ordered(&self, op: Op) -> Result<ReduceMany<'_, T::Part, Plain<'_>>> {
        crate::cpu::check::<T>(op)?;
        let (x, how) = (T::as_parts(self.x), Arc::clone(&self.how));
        let ReduceMany { policy, indices, arrange, .. } = *self;
        Ok(ReduceMany { x, how, policy, indices, arrange })
    }

    /// The results of reductions that have one number.
    fn values(&self, op: Op, finish: Finish) -> Result<Vec<Value>> {
        let partial = |partial: &Partial<T>| match partial.finish(op, finish)? {
            Output::One(value) => Ok(value),
            other => unreachable!("{op} has one number, not {other:?}"),
        };
        let reader = Read { small: |&(): &(), _| None, partial, single: |_| None };
        self.run(op, &reader, T::many_alone)
    }
}

/// Everything that stats tells, a column each.
fn stats<T: Element>(many: &ReduceMany<'_, T, Plain<'_>>, finish: Finish) -> Result<Columns> {
    let all = many.stats()?;
    let at = |(output, error): (usize, Error)| Error::Output {
        output: many.arrange.at(output as u64),
        error: Box::new(error),
    };
    macro_rules! column {
        ($stats:ident => $read:expr) => {
            Column::of(all.iter().map(|$stats| $read).collect::<Vec<_>>())
        };
        (? $stats:ident => $read:expr) => {{
            let values = all.iter().enumerate().map(|(k, $stats)| $read.map_err(|e| at((k, e))));
            Column::of(values.collect::<Result<Vec<_>>>()?)
        }};
    }
    let nan = <T::Round as Float>::NAN;
    let none = T::join(Parts::from_fn(|_| nan));
    let mut columns = vec![
        ("count", column!(s => s.count())),
        ("nan_count", column!(s => s.nan_count())),
        ("sum", column!(? s => s.sum(finish.overflow))),
        ("mean", column!(s => s.mean().unwrap_or(none))),
        ("var", column!(s => s.var(finish.ddof).unwrap_or(nan))),
        ("std", column!(s => s.std(finish.ddof).unwrap_or(nan))),
    ];
    if T::PARTS == 1 {
        columns.push(("min", column!(? s => s.extremes.min().map_err(|e| s.explain(e)))));
        columns.push(("max", column!(? s => s.extremes.max().map_err(|e| s.explain(e)))));
        for (name, index) in
            [("argmin", Extremes::argmin as fn(&_) -> _), ("argmax", Extremes::argmax)]
        {
            let places = all
                .iter()
                .enumerate()
                .map(|(k, s)| index(&s.extremes).map_err(|e| at((k, s.explain(e)))));
            let places = places.collect::<Result<Vec<u64>>>()?;
            columns.push((
                name,
                Column::of(match many.indices {
                    Indices::OfInput => places,
                    Indices::OfArray => many.how.flat(many.x.len(), places),
                }),
            ));
        }
    }
    columns.push(("l1", column!(s => s.l1())));
    columns.push(("l2", column!(s => s.l2())));
    Ok(columns)
}
