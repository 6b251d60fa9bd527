//! [`WhileWaiting`]: what rank 0 does while it waits for others.

use std::cell::RefCell;
use std::fmt;
use std::time::Duration;

use crate::Meanwhile;

/// How often it is done: a bar that moves ten times a second looks alive.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// What is done meanwhile, if anything.
#[derive(Default)]
pub(crate) struct WhileWaiting(RefCell<Option<Meanwhile>>);

impl WhileWaiting {
    pub(crate) fn set(&self, meanwhile: Meanwhile) {
        *self.0.borrow_mut() = Some(meanwhile);
    }

    pub(crate) fn is_on(&self) -> bool {
        self.0.borrow().is_some()
    }

    /// Does it, with the sum of what was reported.
    pub(crate) fn tick(&self, reported: u64) {
        if let Some(meanwhile) = &mut *self.0.borrow_mut() {
            meanwhile(reported);
        }
    }
}

impl fmt::Debug for WhileWaiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_on() { "watched" } else { "unwatched" })
    }
}
