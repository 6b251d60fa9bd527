//! Releases and acquires through atomics, within a block and between blocks.

use std::collections::HashMap;
use std::rc::Rc;

use super::clock::{Knowledge, Known};

/// A place that atomics work on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AtomicLocation {
    /// For the threads of one block: shared memory, or global with block scope.
    Block { block: u32, address: u64 },
    /// For every block.
    Device { address: u64 },
}

/// What was released at one place, in order.
#[derive(Debug, Default)]
struct History {
    length: u32,
    /// Each block's releases: their number in the history, and all that the block has released so far.
    by_block: HashMap<u32, Vec<(u32, Rc<Knowledge>)>>,
    /// What the releasing threads knew of other places.
    foreign: Knowledge,
}

/// Every release of a launch.
#[derive(Debug, Default)]
pub(crate) struct World {
    numbers: HashMap<AtomicLocation, u32>,
    histories: Vec<History>,
}

impl World {
    /// Whether nothing was released yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.histories.is_empty()
    }

    /// A thread of `block` makes `knowledge` visible to whoever acquires at `location`.
    pub(crate) fn release(&mut self, location: AtomicLocation, block: u32, knowledge: &Knowledge) {
        let next = self.histories.len() as u32;
        let number = *self.numbers.entry(location).or_insert(next);
        if number == next {
            self.histories.push(History::default());
        }
        let history = &mut self.histories[number as usize];
        let releases = history.by_block.entry(block).or_default();
        let mut all = knowledge.clone();
        if let Some((_, before)) = releases.last() {
            all.learn_clock(before);
        }
        history.foreign.learn_foreign(&knowledge.foreign);
        all.foreign.clear();
        releases.push((history.length, Rc::new(all)));
        history.length += 1;
    }

    /// What a thread of `block` learns at `location`: of its own block, and of others.
    pub(crate) fn acquire(
        &self,
        location: AtomicLocation,
        block: u32,
    ) -> Option<(Option<&Knowledge>, Vec<Known>)> {
        let number = *self.numbers.get(&location)?;
        let history = &self.histories[number as usize];
        let own = history.by_block.get(&block).and_then(|releases| releases.last());
        let mut known = history.foreign.clone();
        known.learn_foreign(&[(number, history.length)]);
        Some((own.map(|(_, knowledge)| &**knowledge), known.foreign))
    }

    /// Whether an access of another block is among what was learnt.
    pub(crate) fn follows(&self, known: &[Known], block: u32, thread: u32, now: u32) -> bool {
        known.iter().any(|&(location, count)| {
            let Some(releases) = self.histories[location as usize].by_block.get(&block) else {
                return false;
            };
            let seen = releases.partition_point(|(number, _)| *number < count);
            seen > 0 && releases[seen - 1].1.of(thread) >= now
        })
    }
}
