//! What a thread knows of the others.

use std::rc::Rc;

/// A place in the world's histories of releases, and how many of its releases are known.
pub(crate) type Known = (u32, u32);

/// For each thread of a block, the stamp up to which its accesses are known to come before; and the
/// same of other blocks, by reference to the releases that were seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Knowledge {
    clock: Vec<u32>,
    /// Sorted by place.
    pub(crate) foreign: Vec<Known>,
}

impl Knowledge {
    /// The stamp known of `thread`. Stamps begin at one: zero is nothing.
    pub(crate) fn of(&self, thread: u32) -> u32 {
        self.clock.get(thread as usize).copied().unwrap_or(0)
    }

    /// Learns that `thread`'s accesses up to `now` come before.
    pub(crate) fn learn(&mut self, thread: u32, now: u32) {
        let at = thread as usize;
        if at >= self.clock.len() {
            self.clock.resize(at + 1, 0);
        }
        self.clock[at] = self.clock[at].max(now);
    }

    /// Learns all that `other` knows of the block's own threads.
    pub(crate) fn learn_clock(&mut self, other: &Knowledge) {
        if other.clock.len() > self.clock.len() {
            self.clock.resize(other.clock.len(), 0);
        }
        for (mine, theirs) in self.clock.iter_mut().zip(&other.clock) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Learns of releases elsewhere.
    pub(crate) fn learn_foreign(&mut self, other: &[Known]) {
        for &(location, count) in other {
            match self.foreign.binary_search_by_key(&location, |known| known.0) {
                Ok(at) => self.foreign[at].1 = self.foreign[at].1.max(count),
                Err(at) => self.foreign.insert(at, (location, count)),
            }
        }
    }

    pub(crate) fn learn_all(&mut self, other: &Knowledge) {
        self.learn_clock(other);
        self.learn_foreign(&other.foreign);
    }
}

/// All that any of `threads` knows, and each one's own accesses up to its stamp.
pub(crate) fn joined<'a>(
    threads: impl Iterator<Item = (u32, u32, &'a Rc<Knowledge>)> + Clone,
) -> Knowledge {
    let mut last: Option<&Rc<Knowledge>> = None;
    let mut all = Knowledge::default();
    for (_, _, knowledge) in threads.clone() {
        // Threads that met at the last barrier share what they know.
        if last.is_none_or(|last| !Rc::ptr_eq(last, knowledge)) {
            all.learn_all(knowledge);
            last = Some(knowledge);
        }
    }
    for (thread, now, _) in threads {
        all.learn(thread, now);
    }
    all
}
