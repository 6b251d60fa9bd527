//! [`Groups`]: an aggregate of many groups, by their numbers.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, LargeBinaryBuilder};
use datafusion_common::Result;
use datafusion_expr::{EmitTo, GroupsAccumulator};

use crate::cell::Cell;
use crate::column::validity;
use crate::slot::{Item, Slot, Wide};
use crate::task::Task;

/// A small state for each group, and a wide one for the few whose numbers are spread too far for it.
#[derive(Debug)]
pub(crate) struct Groups<S: Slot> {
    task: Task,
    slots: Vec<S>,
    wide: HashMap<usize, Box<S::Wide>>,
}

impl<S: Slot> Groups<S> {
    pub(crate) fn new(task: Task) -> Self {
        Groups { task, slots: Vec::new(), wide: HashMap::new() }
    }

    #[inline(always)]
    fn add(slots: &mut [S], wide: &mut HashMap<usize, Box<S::Wide>>, group: usize, item: S::Item) {
        if !slots[group].add(item) {
            Self::add_wide(wide, group, item);
        }
    }

    #[cold]
    #[inline(never)]
    fn add_wide(wide: &mut HashMap<usize, Box<S::Wide>>, group: usize, item: S::Item) {
        S::add_wide(wide.entry(group).or_default(), item);
    }

    /// Takes the groups that are asked for out, and renumbers the others.
    fn take(&mut self, emit_to: EmitTo) -> (Vec<S>, HashMap<usize, Box<S::Wide>>) {
        let slots = emit_to.take_needed(&mut self.slots);
        let wide = std::mem::take(&mut self.wide);
        let (out, rest) = wide.into_iter().partition(|(group, _)| *group < slots.len());
        let renumbered = HashMap::into_iter(rest).map(|(group, wide)| (group - slots.len(), wide));
        self.wide = renumbered.collect();
        (slots, out)
    }
}

/// All of a group.
fn joined<S: Slot>(slot: &S, wide: Option<&S::Wide>) -> S::Wide {
    let mut all = slot.widen();
    wide.into_iter().for_each(|wide| all.merge(wide));
    all
}

impl<S: Slot> GroupsAccumulator for Groups<S> {
    fn update_batch(
        &mut self,
        columns: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        total: usize,
    ) -> Result<()> {
        self.slots.resize(total, S::default());
        let (slots, wide) = (&mut self.slots[..], &mut self.wide);
        match validity(columns, filter) {
            None => S::Item::each(columns, |row, item| Self::add(slots, wide, groups[row], item)),
            Some(valid) => S::Item::each(columns, |row, item| {
                if valid.is_valid(row) {
                    Self::add(slots, wide, groups[row], item);
                }
            }),
        }
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let (slots, wide) = self.take(emit_to);
        let task = self.task;
        let result = |(group, slot): (usize, &S)| match wide.get(&group) {
            None if slot.count() == 0 => Ok(None),
            None => match slot.quick(task) {
                Some(cell) => Ok(Some(cell)),
                None => slot.widen().finish(task),
            },
            wide => joined(slot, wide.map(|wide| &**wide)).finish(task),
        };
        let cells: Vec<_> = slots.iter().enumerate().map(result).collect::<Result<_>>()?;
        Cell::column(&cells, &task.output())
    }

    /// A group without rows is null.
    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let (slots, wide) = self.take(emit_to);
        let mut states = LargeBinaryBuilder::with_capacity(slots.len(), 24 * slots.len());
        for (group, slot) in slots.iter().enumerate() {
            match wide.get(&group) {
                None if slot.count() == 0 => states.append_null(),
                wide => {
                    states.append_value(joined(slot, wide.map(|wide| &**wide)).to_bytes());
                }
            }
        }
        Ok(vec![Arc::new(states.finish())])
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], total: usize) -> Result<()> {
        self.slots.resize(total, S::default());
        for (bytes, &group) in states[0].as_binary::<i64>().iter().zip(groups) {
            let Some(bytes) = bytes else { continue };
            let state = S::Wide::from_bytes(bytes)?;
            if !self.slots[group].absorb(&state) {
                self.wide.entry(group).or_default().merge(&state);
            }
        }
        Ok(())
    }

    /// Each row as a group of its own, for plans that give up on grouping early.
    fn convert_to_state(
        &self,
        columns: &[ArrayRef],
        filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let valid = validity(columns, filter);
        let rows = columns[0].len();
        let mut states = LargeBinaryBuilder::with_capacity(rows, 16 * rows);
        S::Item::each(columns, |row, item| {
            if valid.as_ref().is_some_and(|valid| valid.is_null(row)) {
                return states.append_null();
            }
            let mut wide = S::Wide::default();
            S::add_wide(&mut wide, item);
            states.append_value(wide.to_bytes());
        })?;
        Ok(vec![Arc::new(states.finish())])
    }

    fn size(&self) -> usize {
        let wide = size_of::<usize>() + size_of::<Box<S::Wide>>() + size_of::<S::Wide>();
        self.slots.capacity() * size_of::<S>() + self.wide.capacity() * wide
    }
}
