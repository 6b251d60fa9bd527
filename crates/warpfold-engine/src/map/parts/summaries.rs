//! Stats of parts as columns.

use warpfold_exact::partial::Summary;
use warpfold_num::error::At;
use warpfold_num::{Column, Error, Op, Result, Value};

use crate::Columns;

/// The columns of stats of outputs, as [`crate::columns`] names and orders them: NaN where there is no mean, variance or deviation.
///
/// # Errors
/// [`Error::Output`] with the first output, called as a function says, that has no extremes, as there is nothing in it.
pub fn columns_of_stats(summaries: &[Summary], name: impl Fn(u64) -> At) -> Result<Columns> {
    let of = |op, of: &dyn Fn(&Summary) -> Option<Value>| {
        let value = |(k, summary): (usize, &Summary)| {
            of(summary).ok_or_else(|| {
                let nothing = Error::Empty { op, ignored: summary.count > 0 };
                Error::Output { output: name(k as u64), error: Box::new(nothing) }
            })
        };
        let values: Result<Vec<Value>> = summaries.iter().enumerate().map(value).collect();
        Ok((op.name(), Column::of_values(values?)))
    };
    let or_nan = |summary: &Summary, value: Option<Value>| {
        let nan = match summary.sum {
            Value::F32(_) => Value::F32(f32::NAN),
            _ => Value::F64(f64::NAN),
        };
        Some(value.unwrap_or(nan))
    };
    let number = |count: fn(&Summary) -> u64| Column::of(summaries.iter().map(count).collect());
    let counts = [("count", number(|all| all.count)), ("nan_count", number(|all| all.nan_count))];
    let others = [
        of(Op::Sum, &|all| Some(all.sum))?,
        of(Op::Mean, &|all| or_nan(all, all.mean))?,
        of(Op::Var, &|all| or_nan(all, all.var))?,
        of(Op::Std, &|all| or_nan(all, all.std))?,
        of(Op::Min, &|all| all.min)?,
        of(Op::Max, &|all| all.max)?,
        of(Op::ArgMin, &|all| all.argmin.map(Value::U64))?,
        of(Op::ArgMax, &|all| all.argmax.map(Value::U64))?,
        of(Op::L1, &|all| Some(all.l1))?,
        of(Op::L2, &|all| Some(all.l2))?,
    ];
    Ok(counts.into_iter().chain(others).collect())
}
