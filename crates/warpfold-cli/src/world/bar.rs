//! One progress bar for all ranks: rank 0 shows it, and the others tell rank 0 how far they are.
//!
//! Where rank 0 has no terminal, nobody tells anything. Reports are messages beside the exchanges, for which nobody waits, at most ten a second.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use warpfold_dist::{Comm, Result, exchange};

use crate::args::Reduction;
use crate::progress::{Progress, is_visible};

/// A bar that moves ten times a second looks alive.
const TICK: Duration = Duration::from_millis(100);

/// How far this rank is, and, on rank 0, all of them.
pub(super) struct Bar<'c> {
    comm: &'c dyn Comm,
    is_shown: bool,
    begun: Instant,
    shared_at: Cell<Instant>,
    shown: Rc<RefCell<Shown>>,
}

/// What rank 0 shows, also while it waits for others.
#[derive(Default)]
struct Shown {
    progress: Option<Progress>,
    /// Bytes of all ranks.
    total: u64,
    /// Bytes of rank 0's share that are done.
    own: u64,
}

impl Shown {
    fn show(&mut self, reported: u64) {
        let done = self.own.saturating_add(reported).min(self.total);
        if let Some(progress) = &mut self.progress {
            progress.set(done);
        }
    }
}

impl<'c> Bar<'c> {
    /// All ranks learn whether rank 0 shows a bar.
    pub(super) fn agree(args: &Reduction, comm: &'c dyn Comm) -> Result<Bar<'c>> {
        let is_seen = comm.rank() == 0 && is_visible(args.progress());
        let text = concat!("warpfold ", env!("CARGO_PKG_VERSION"));
        let all = exchange(comm, text, Ok(&[u8::from(is_seen)]))?;
        let is_shown = all.first().is_some_and(|bytes| bytes[..] == [1]);
        let (begun, shown) = (Instant::now(), Rc::<RefCell<Shown>>::default());
        if is_shown {
            let shown = shown.clone();
            comm.while_waiting(Box::new(move |reported| shown.borrow_mut().show(reported)));
        }
        Ok(Bar { comm, is_shown, begun, shared_at: Cell::new(begun), shown })
    }

    /// Begins to show the work of all ranks, of so many bytes.
    pub(super) fn start(&self, args: &Reduction, total: u64) {
        if self.is_shown && self.comm.rank() == 0 {
            let progress = Some(Progress::start(args.progress(), Some(total)));
            *self.shown.borrow_mut() = Shown { progress, total, own: 0 };
        }
    }

    /// Says how many bytes of this rank's share are done.
    pub(super) fn set(&self, done: u64) {
        if !self.is_shown {
            return;
        }
        if self.comm.rank() == 0 {
            let mut shown = self.shown.borrow_mut();
            shown.own = done;
            shown.show(self.comm.reported());
        } else if self.shared_at.get().elapsed() >= TICK {
            self.shared_at.set(Instant::now());
            self.comm.report(done);
        }
    }

    /// Says that this rank's share is done.
    pub(super) fn finish(&self, done: u64) {
        self.set(done);
        if self.is_shown && self.comm.rank() > 0 {
            self.comm.report(done);
        }
    }

    /// Time since the ranks met.
    pub(super) fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Leaves the terminal as it was.
    pub(super) fn clear(&self) {
        self.shown.borrow_mut().progress = None;
    }
}
