//! [`Sliding`]: an aggregate over a frame that rows enter and leave. An exact sum loses nothing when a row leaves, so there is no drift.

use arrow::array::ArrayRef;
use datafusion_common::{Result, ScalarValue, not_impl_err};
use datafusion_expr::Accumulator;
use warpfold_exact::exact::Special;

use crate::cell::Cell;
use crate::column::validity;
use crate::slot::{Item, Slot, Wide};
use crate::task::Task;

const EACH: [Special; 3] = [Special::NAN, Special::PLUS, Special::MINUS];

/// The sum of everything finite in the frame, and how many special values each register has met: a set alone could not forget one.
#[derive(Debug)]
pub(crate) struct Sliding<S: Slot> {
    task: Task,
    finite: S::Wide,
    specials: [[u64; 3]; 2],
}

#[derive(Clone, Copy, PartialEq)]
enum Move {
    In,
    Out,
}

impl<S: Slot> Sliding<S> {
    pub(crate) fn new(task: Task) -> Self {
        Sliding { task, finite: S::Wide::default(), specials: [[0; 3]; 2] }
    }

    fn shift(&mut self, columns: &[ArrayRef], by: Move) -> Result<()> {
        let valid = validity(columns, None);
        S::Item::each(columns, |row, item| {
            if valid.as_ref().is_some_and(|valid| valid.is_null(row)) {
                return;
            }
            let mut one = S::Wide::default();
            S::add_wide(&mut one, item);
            for (counts, special) in self.specials.iter_mut().zip(one.specials()) {
                let met = special.map_or(Special::NONE, std::mem::take);
                for (count, special) in counts.iter_mut().zip(EACH) {
                    let met = u64::from(met == special);
                    *count = if by == Move::In { *count + met } else { *count - met };
                }
            }
            match by {
                Move::In => self.finite.merge(&one),
                Move::Out => self.finite.subtract(&one),
            }
        })
    }
}

impl<S: Slot> Accumulator for Sliding<S> {
    fn update_batch(&mut self, columns: &[ArrayRef]) -> Result<()> {
        self.shift(columns, Move::In)
    }

    fn retract_batch(&mut self, columns: &[ArrayRef]) -> Result<()> {
        self.shift(columns, Move::Out)
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut all = self.finite.clone();
        for (counts, special) in self.specials.iter().zip(all.specials()) {
            let met = counts.iter().zip(EACH).filter(|&(&count, _)| count > 0);
            let met = met.fold(Special::NONE, |all, (_, special)| all.union(special));
            special.into_iter().for_each(|special| *special = met);
        }
        Cell::scalar(all.finish(self.task)?, &self.task.output())
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        not_impl_err!("the state of a frame that slides")
    }

    fn merge_batch(&mut self, _states: &[ArrayRef]) -> Result<()> {
        not_impl_err!("states merged into a frame that slides")
    }
}
