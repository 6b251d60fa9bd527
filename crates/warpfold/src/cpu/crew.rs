//! Work shared with the threads of rayon's pool, as far as they are free.
//!
//! A scope of rayon waits until each task it spawned has run, even where the calling thread did all the work while the pool was
//! busy with something else. Here who comes too late finds the work closed and leaves, and only those who began are waited for.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

type Panic = Box<dyn std::any::Any + Send>;

/// Who is at work.
#[derive(Default)]
struct Crew {
    state: Mutex<State>,
    left: Condvar,
}

#[derive(Default)]
struct State {
    closed: bool,
    working: usize,
    panic: Option<Panic>,
}

impl Crew {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    /// Does the work, unless it is closed.
    fn join(&self, work: &(dyn Fn() + Sync)) {
        let mut state = self.state();
        if state.closed {
            return;
        }
        state.working += 1;
        drop(state);
        let panic = catch_unwind(AssertUnwindSafe(work)).err();
        let mut state = self.state();
        state.working -= 1;
        state.panic = state.panic.take().or(panic);
        self.left.notify_one();
    }

    /// Lets no one begin any more and waits for those who did.
    fn close(&self) -> Option<Panic> {
        let mut state = self.state();
        state.closed = true;
        while state.working > 0 {
            state = self.left.wait(state).unwrap_or_else(|poison| poison.into_inner());
        }
        state.panic.take()
    }
}

/// Runs the work on the calling thread and on up to `threads - 1` of the pool that the caller runs in.
///
/// # Panics
/// If the work does, on any thread.
pub(super) fn share(threads: usize, work: &(dyn Fn() + Sync)) {
    if threads <= 1 {
        return work();
    }
    let crew = Arc::new(Crew::default());
    // SAFETY: nothing looks at the reference after `close`, which comes before the end of this function whether the work panics here
    // or not: `join` asks first, under the lock, whether it is closed.
    let lent: &'static (dyn Fn() + Sync) = unsafe { std::mem::transmute(work) };
    for _ in 1..threads {
        let crew = Arc::clone(&crew);
        rayon::spawn(move || crew.join(lent));
    }
    let here = catch_unwind(AssertUnwindSafe(work)).err();
    if let Some(panic) = crew.close().or(here) {
        resume_unwind(panic);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_busy_pool_is_not_waited_for() {
        let workers = rayon::current_num_threads();
        let (busy, free) =
            (Arc::new(Barrier::new(workers + 1)), Arc::new(Barrier::new(workers + 1)));
        for _ in 0..workers {
            let (busy, free) = (Arc::clone(&busy), Arc::clone(&free));
            rayon::spawn(move || {
                busy.wait();
                free.wait();
            });
        }
        busy.wait();
        let done = AtomicUsize::new(0);
        share(workers + 1, &|| {
            done.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(done.load(Ordering::Relaxed), 1);
        free.wait();
    }

    #[test]
    fn a_panic_of_any_thread_comes_out() {
        let caught = catch_unwind(|| share(2, &|| panic!("on purpose")));
        assert!(caught.is_err());
    }
}
