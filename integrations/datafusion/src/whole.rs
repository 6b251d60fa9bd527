//! [`Whole`]: an aggregate without groups, or one of few.

use arrow::array::{ArrayRef, AsArray};
use datafusion_common::{Result, ScalarValue};
use datafusion_expr::Accumulator;

use crate::cell::Cell;
use crate::column::validity;
use crate::slot::{Slot, Wide};
use crate::task::Task;

/// One exact state, fed by the engine's own reductions of arrays.
#[derive(Debug)]
pub(crate) struct Whole<S: Slot> {
    task: Task,
    wide: S::Wide,
}

impl<S: Slot> Whole<S> {
    pub(crate) fn new(task: Task) -> Self {
        Whole { task, wide: S::Wide::default() }
    }
}

impl<S: Slot> Accumulator for Whole<S> {
    fn update_batch(&mut self, columns: &[ArrayRef]) -> Result<()> {
        S::fold(&mut self.wide, columns, validity(columns, None).as_ref())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Cell::scalar(self.wide.finish(self.task)?, &self.task.output())
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let is_empty = self.wide.count() == 0;
        Ok(vec![ScalarValue::LargeBinary((!is_empty).then(|| self.wide.to_bytes()))])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let states = states[0].as_binary::<i64>();
        states.iter().flatten().try_for_each(|bytes| {
            self.wide.merge(&S::Wide::from_bytes(bytes)?);
            Ok(())
        })
    }
}
