//! [`Gate`]: work of a caller that several threads may join, as long as it is open.

use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long the caller watches for the end of others' work before it sleeps: being woken takes many microseconds.
const SPIN: Duration = Duration::from_micros(50);

pub(crate) type Panic = Box<dyn std::any::Any + Send>;

/// What is done: a function of a thread's number.
type Work = dyn Fn(usize) + Sync;

/// Work that several threads may join, one piece after another.
pub(crate) struct Gate {
    /// How many are at it, and [`OPEN`].
    state: AtomicUsize,
    /// The work, while it is open or somebody is at it.
    work: UnsafeCell<Option<*const Work>>,
    panic: Mutex<Option<Panic>>,
    ended: Condvar,
}

/// The bit of a gate's state that lets threads in.
const OPEN: usize = 1 << (usize::BITS - 1);

// SAFETY: what the pointer leads to is `Sync`. The cell is written by `open` while the gate is closed and nobody is inside, and read by those inside.
unsafe impl Send for Gate {}
// SAFETY: as above.
unsafe impl Sync for Gate {}

impl Gate {
    pub(crate) fn new() -> Self {
        Gate {
            state: AtomicUsize::new(0),
            work: UnsafeCell::new(None),
            panic: Mutex::new(None),
            ended: Condvar::new(),
        }
    }

    /// Opens the gate for a piece of work, tells others of it, does it here too, as number 0, and waits for those who came in.
    ///
    /// # Panics
    /// If the gate is open already.
    ///
    /// # Errors
    /// What the work panics with, on any thread.
    ///
    /// # Safety
    /// No other thread may open the gate before this returns.
    pub(crate) unsafe fn open(
        &self,
        work: &(dyn Fn(usize) + Sync),
        tell: impl FnOnce(),
    ) -> Result<(), Panic> {
        assert_eq!(self.state.load(Ordering::Acquire), 0, "one piece of work at a time");
        // SAFETY: only the lifetime of a pointer changes, which is followed no later than `close` returns (see `join`), and so while the borrow lasts: whatever
        // panics before `close` is caught.
        let pointer =
            unsafe { std::mem::transmute::<*const (dyn Fn(usize) + Sync + '_), *const Work>(work) };
        // SAFETY: nobody is inside, nobody comes in while it is closed, and the caller vouches that nobody else opens it.
        unsafe { *self.work.get() = Some(pointer) };
        self.state.store(OPEN, Ordering::Release);
        let here = catch_unwind(AssertUnwindSafe(|| {
            tell();
            work(0);
        }));
        self.close().map_or(here, Err)
    }

    /// Does the work as one of some number, unless the gate is closed.
    pub(crate) fn join(&self, number: usize) {
        let enter = |state| (state & OPEN != 0).then_some(state + 1);
        if self.state.fetch_update(Ordering::Acquire, Ordering::Relaxed, enter).is_err() {
            return;
        }
        let work = || {
            // SAFETY: the gate was open when this thread was counted, so that the work was there, and `close` waits until it is counted out.
            unsafe { (*self.work.get()).map(|work| (*work)(number)) }
        };
        if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
            self.panic().get_or_insert(panic);
        }
        if self.state.fetch_sub(1, Ordering::Release) == 1 {
            // The lock: whoever found someone inside is asleep by now.
            let _asleep = self.panic();
            self.ended.notify_one();
        }
    }

    fn panic(&self) -> MutexGuard<'_, Option<Panic>> {
        self.panic.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets no one in any more and waits for those inside.
    fn close(&self) -> Option<Panic> {
        self.state.fetch_and(!OPEN, Ordering::Relaxed);
        let is_busy = || self.state.load(Ordering::Acquire) != 0;
        let since = Instant::now();
        while is_busy() && since.elapsed() < SPIN {
            std::hint::spin_loop();
        }
        let mut panic = self.panic();
        while is_busy() {
            panic = self.ended.wait(panic).unwrap_or_else(PoisonError::into_inner);
        }
        panic.take()
    }
}
