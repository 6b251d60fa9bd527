//! Results whose types are known only at run time, as columns.

use super::AnyReduceBatched;
use super::request::BatchedRequest;
use crate::Columns;
use crate::partial::Finish;
use crate::plan::CudaBatchPlan;
use crate::value::Column;
use crate::{Error, Op, Result};

impl AnyReduceBatched<'_> {
    /// The results of any reduction, by name, in the outputs' order, copied to the host; what integers that overflow do is the policy's to say. Of
    /// stats, which are one pass or several ([`plans`](Self::plans)), a mean, variance or deviation that does not exist is NaN.
    ///
    /// # Errors
    /// As [`on_device`](Self::on_device); [`Error::Unsupported`] for a rounding that kernels do not do.
    pub fn columns(&self, op: Op, finish: Finish) -> Result<Columns> {
        self.requested().columns(op, finish)
    }

    /// The plans of what [`columns`](Self::columns) folds: one, but for minmax, and for stats that are not folded in one pass.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    pub fn plans(&self, op: Op) -> Result<Vec<CudaBatchPlan>> {
        let requested = self.requested();
        match op {
            Op::MinMax => Ok(vec![requested.plan(Op::Min)?, requested.plan(Op::Max)?]),
            Op::Stats => match requested.plan_of_stats()? {
                Some(plan) => Ok(vec![plan]),
                None => Op::of_stats(requested.x.dtype).map(|op| requested.plan(op)).collect(),
            },
            _ => Ok(vec![requested.plan(op)?]),
        }
    }
}

impl BatchedRequest<'_> {
    pub(super) fn columns(&self, op: Op, finish: Finish) -> Result<Columns> {
        if op == Op::MinMax {
            let of = |side| self.column(side, finish).map_err(|error| renamed_to(op, error));
            return Ok(vec![("min", of(Op::Min)?), ("max", of(Op::Max)?)]);
        }
        if op == Op::Stats {
            return self.stats(finish);
        }
        Ok(vec![(op.name(), self.column(op, finish)?)])
    }

    pub(super) fn column(&self, op: Op, finish: Finish) -> Result<Column> {
        let requested = BatchedRequest { round_to: finish.round_to, ..*self };
        requested.host_column(op, finish.ddof)
    }
}

/// The error of one of the reductions that another one is made of, as that one's.
pub(super) fn renamed_to(op: Op, error: Error) -> Error {
    match error {
        Error::Empty { ignored, .. } => Error::Empty { op, ignored },
        Error::Output { output, error } => {
            Error::Output { output, error: Box::new(renamed_to(op, *error)) }
        }
        other => other,
    }
}
