//! Results whose types are known only at run time, as columns.

use std::sync::Arc;

use super::{Arrange, Plain, ReduceMany};
use crate::element::{Element, Float, Parts};
use crate::partial::{Finish, Stats, with_float};
use crate::value::Column;
use crate::{Error, Op, Result};

/// What a reduction gives for each output, by name: one column, two for minmax, a dozen for stats.
pub type Columns = Vec<(&'static str, Column)>;

impl<T: Element, A: Arrange> ReduceMany<'_, T, A> {
    /// The results of any reduction, by name, in the outputs' order; what integers that overflow do is the policy's to say. Of stats, a mean, variance or deviation that does not exist is NaN.
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
        let many = ReduceMany {
            x: self.x,
            how: Arc::clone(&self.how),
            policy: self.policy,
            arrange: Plain(&self.arrange),
        };
        let to = finish.round_to.unwrap_or(<T::Round as Element>::DTYPE);
        let column = match (op, finish.round_to) {
            (Op::Sum, None) => Column::of(many.sum()?),
            (Op::Sum, Some(to)) => {
                with_float!(to, op, T::DTYPE, F => Column::of(many.sum_as::<F>()?))
            }
            (Op::Mean, _) => with_float!(to, op, T::DTYPE, F => Column::of(many.mean_as::<F>()?)),
            (Op::Var, _) => {
                with_float!(to, op, T::DTYPE, F => Column::of(many.var_as::<F>(finish.ddof)?))
            }
            (Op::Std, _) => {
                with_float!(to, op, T::DTYPE, F => Column::of(many.std_as::<F>(finish.ddof)?))
            }
            (Op::L1, _) => with_float!(to, op, T::DTYPE, F => Column::of(many.l1_as::<F>()?)),
            (Op::L2, _) => with_float!(to, op, T::DTYPE, F => Column::of(many.l2_as::<F>()?)),
            (Op::Linf, None) => Column::of(many.linf()?),
            (Op::Linf, Some(to)) => {
                with_float!(to, op, T::DTYPE, F => Column::of(many.linf_as::<F>()?))
            }
            (Op::Prod, None) => Column::of(many.prod()?),
            (Op::Prod, Some(to)) => {
                with_float!(to, op, T::DTYPE, F => Column::of(many.prod_as::<F>()?))
            }
            (Op::Any, _) => Column::of(many.any()?),
            (Op::All, _) => Column::of(many.all()?),
            (Op::Count, _) => Column::of(many.count()?),
            (Op::Min, _) => Column::of(many.ordered(op)?.min()?),
            (Op::Max, _) => Column::of(many.ordered(op)?.max()?),
            (Op::ArgMin, _) => Column::of(many.ordered(op)?.argmin()?),
            (Op::ArgMax, _) => Column::of(many.ordered(op)?.argmax()?),
            (Op::MinMax, _) => {
                let (least, greatest) = many.ordered(op)?.minmax()?.into_iter().unzip();
                return Ok(vec![
                    ("min", Column::of::<T::Part>(least)),
                    ("max", Column::of(greatest)),
                ]);
            }
            (Op::Stats, _) => return stats(&many, finish),
            (Op::Dot, _) => {
                let why = "dot takes two arrays; see reduce_pair";
                return Err(Error::Undefined { op, dtype: T::DTYPE, why });
            }
        };
        Ok(vec![(op.name(), column)])
    }

    /// The same reductions of elements that have an order.
    fn ordered(&self, op: Op) -> Result<ReduceMany<'_, T::Part, Plain<'_, A>>> {
        crate::cpu::check::<T>(op)?;
        let (x, how) = (T::as_parts(self.x), Arc::clone(&self.how));
        Ok(ReduceMany { x, how, policy: self.policy, arrange: Plain(&self.arrange) })
    }
}

/// Everything that stats tells, a column each.
fn stats<T: Element, A: Arrange<Of<Stats<T>> = Vec<Stats<T>>>>(
    many: &ReduceMany<'_, T, A>,
    finish: Finish,
) -> Result<Columns> {
    // Refused for one as for many: stats has no one type to round to.
    Stats::<T>::new().summary(finish)?;
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
        ("sum", column!(? s => s.sum(many.policy.overflow))),
        ("mean", column!(s => s.mean().unwrap_or(none))),
        ("var", column!(s => s.var(finish.ddof).unwrap_or(nan))),
        ("std", column!(s => s.std(finish.ddof).unwrap_or(nan))),
    ];
    if T::PARTS == 1 {
        columns.push(("min", column!(? s => s.extremes.min())));
        columns.push(("max", column!(? s => s.extremes.max())));
        columns.push(("argmin", column!(? s => s.extremes.argmin())));
        columns.push(("argmax", column!(? s => s.extremes.argmax())));
    }
    columns.push(("l1", column!(s => s.l1())));
    columns.push(("l2", column!(s => s.l2())));
    Ok(columns)
}
