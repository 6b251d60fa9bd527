//! Outputs without a value, where that is no error.

use super::AnyReduceBatched;
use super::request::{BatchedRequest, Undefined};
use crate::partial::Finish;
use crate::{Columns, Nan, Op, Result};

impl AnyReduceBatched<'_> {
    /// [`columns`](Self::columns), and of each the outputs that have no value, ascending, which are no error: what the column holds there means nothing.
    ///
    /// Which these are takes launches of its own, and copies of as many numbers as there are outputs, where segments differ in length or NaN is ignored.
    ///
    /// # Errors
    /// As [`columns`](Self::columns), but for outputs without a value.
    pub fn columns_and_gaps(&self, op: Op, finish: Finish) -> Result<(Columns, Vec<Vec<u64>>)> {
        let requested = BatchedRequest { undefined: Undefined::IsKept, ..self.requested() };
        let columns = requested.columns(op, finish)?;
        let ops: Vec<Option<Op>> = match op {
            // Counts stand before the others.
            Op::Stats => {
                [None; 2].into_iter().chain(Op::of_stats(self.dtype()).map(Some)).collect()
            }
            op => vec![Some(op); columns.len()],
        };
        let least: Vec<Option<u64>> =
            ops.into_iter().map(|op| op.and_then(|op| op.too_few(finish.ddof))).collect();
        if least.iter().all(Option::is_none) {
            return Ok((columns, vec![Vec::new(); least.len()]));
        }
        let nan_counts = match self.policy.nan {
            Nan::Ignore => requested.nan_counts()?,
            Nan::Propagate => None,
        };
        let kept = requested.kept(&requested.lengths()?, nan_counts.as_deref());
        let gaps = least.into_iter().map(|least| {
            let is_gap = |&(_, kept): &(u64, &u64)| least.is_some_and(|least| *kept <= least);
            (0..).zip(&kept).filter(is_gap).map(|(output, _)| output).collect()
        });
        Ok((columns, gaps.collect()))
    }
}
