//! [`Distinct`]: an aggregate of the values that differ.

use std::collections::HashSet;

use arrow::array::{ArrayRef, AsArray};
use datafusion_common::{Result, ScalarValue, exec_err};
use datafusion_expr::Accumulator;

use crate::cell::Cell;
use crate::column::validity;
use crate::slot::{Item, Slot, Wide};
use crate::task::Task;

/// The values met. Zeros are one whatever their sign, and so are all NaN.
#[derive(Debug)]
pub(crate) struct Distinct<S: Slot> {
    task: Task,
    keys: HashSet<[u8; 16]>,
    slot: std::marker::PhantomData<S>,
}

impl<S: Slot> Distinct<S> {
    pub(crate) fn new(task: Task) -> Self {
        Distinct { task, keys: HashSet::new(), slot: std::marker::PhantomData }
    }
}

impl<S: Slot> Accumulator for Distinct<S> {
    fn update_batch(&mut self, columns: &[ArrayRef]) -> Result<()> {
        let valid = validity(columns, None);
        S::Item::each(columns, |row, item| {
            if valid.as_ref().is_none_or(|valid| valid.is_valid(row)) {
                self.keys.insert(item.key());
            }
        })
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut wide = S::Wide::default();
        self.keys.iter().for_each(|&key| S::add_wide(&mut wide, S::Item::from_key(key)));
        Cell::scalar(wide.finish(self.task)?, &self.task.output())
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.keys.capacity() * (size_of::<[u8; 16]>() + 1)
    }

    /// The values, sorted.
    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let mut keys: Vec<_> = self.keys.iter().copied().collect();
        keys.sort_unstable();
        Ok(vec![ScalarValue::LargeBinary(Some(keys.concat()))])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for bytes in states[0].as_binary::<i64>().iter().flatten() {
            let (keys, []) = bytes.as_chunks() else {
                return exec_err!("a state of distinct values has {} bytes", bytes.len());
            };
            self.keys.extend(keys);
        }
        Ok(())
    }
}
