//! [`AwakeThreads`]: threads that stay awake for a while, for work of microseconds.
//!
//! Waking a thread takes as long as the driver of a GPU takes to start a kernel, so a thread that has to be woken is no help with that. These watch for more work
//! for a millisecond after each piece of it. Whoever has work while they sleep does it alone, and wakes them when it is done: for the next, which may be soon.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use crate::gate::Gate;

/// How long a thread watches for more work: far more than a call that such threads make shorter takes.
const AWAKE: Duration = Duration::from_millis(1);

/// Threads that take part in one piece of work after another.
pub struct AwakeThreads {
    post: Arc<Post>,
    /// How many threads there are. Locked by whoever has work.
    threads: Mutex<usize>,
    /// How many can watch at once.
    cores: LazyLock<usize>,
}

/// Where work is put.
struct Post {
    gate: Gate,
    /// How often there was work.
    turn: AtomicU64,
    /// How many threads may take part in it.
    threads: AtomicUsize,
    /// How many threads are asleep.
    asleep: Mutex<usize>,
    wake: Condvar,
}

impl Post {
    fn asleep(&self) -> MutexGuard<'_, usize> {
        self.asleep.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a thread of some number from 1 on does as long as the process runs.
    fn watch(&self, number: usize) {
        let (mut seen, mut since) = (0, Instant::now());
        loop {
            // Looking at the clock takes longer than many looks at the turn.
            while (0..64).all(|_| self.turn.load(Ordering::Acquire) == seen) {
                if since.elapsed() > AWAKE {
                    self.sleep(seen);
                    since = Instant::now();
                }
            }
            seen = self.turn.load(Ordering::Acquire);
            if number < self.threads.load(Ordering::Relaxed) {
                self.gate.join(number);
            }
            since = Instant::now();
        }
    }

    fn sleep(&self, seen: u64) {
        let mut asleep = self.asleep();
        *asleep += 1;
        while self.turn.load(Ordering::Acquire) == seen {
            asleep = self.wake.wait(asleep).unwrap_or_else(PoisonError::into_inner);
        }
        *asleep -= 1;
    }

    fn wake(&self) {
        if *self.asleep() > 0 {
            self.wake.notify_all();
        }
    }
}

impl AwakeThreads {
    /// Without threads so far.
    pub fn new() -> Self {
        let post = Post {
            gate: Gate::new(),
            turn: AtomicU64::new(0),
            threads: AtomicUsize::new(0),
            asleep: Mutex::new(0),
            wake: Condvar::new(),
        };
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        AwakeThreads { post: Arc::new(post), threads: Mutex::new(0), cores: LazyLock::new(cores) }
    }

    /// Runs the work on the calling thread and on up to `threads - 1` others, on those that are awake and have nothing else to do. It is told
    /// the number of its thread: 0 is the caller, and the others keep theirs from one piece of work to the next.
    ///
    /// # Panics
    /// If the work does, on any thread.
    pub fn share(&self, threads: usize, work: &(dyn Fn(usize) + Sync)) {
        let mut started = match self.threads.try_lock() {
            Ok(started) if threads > 1 => started,
            Err(TryLockError::Poisoned(poison)) if threads > 1 => poison.into_inner(),
            // Someone else has work for them.
            _ => return work(0),
        };
        let tell = || {
            self.post.threads.store(threads, Ordering::Relaxed);
            self.post.turn.fetch_add(1, Ordering::Release);
        };
        // SAFETY: only who has locked `threads` comes here.
        let done = unsafe { self.post.gate.open(work, tell) };
        self.post.wake();
        while *started + 1 < threads.min(*self.cores) {
            let (post, number) = (Arc::clone(&self.post), *started + 1);
            let thread = std::thread::Builder::new().name("warpfold-awake".into());
            // Where no thread can be had, the caller goes on alone.
            if thread.spawn(move || post.watch(number)).is_err() {
                break;
            }
            *started += 1;
        }
        drop(started);
        done.unwrap_or_else(|panic| resume_unwind(panic));
    }
}

impl Default for AwakeThreads {
    fn default() -> Self {
        AwakeThreads::new()
    }
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn threads_that_are_awake_take_part() {
        let awake = AwakeThreads::new();
        if *awake.cores < 2 {
            return;
        }
        // The first piece starts the thread; a later one finds it awake.
        let begun = Instant::now();
        loop {
            let helped = AtomicBool::new(false);
            let caller = std::thread::current().id();
            awake.share(2, &|_| {
                if std::thread::current().id() != caller {
                    helped.store(true, Ordering::Relaxed);
                }
                let since = Instant::now();
                while !helped.load(Ordering::Relaxed) && since.elapsed() < AWAKE {
                    std::hint::spin_loop();
                }
            });
            if helped.into_inner() {
                break;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "nobody ever helped");
        }
    }

    #[test]
    fn whoever_comes_while_they_sleep_works_alone_and_loses_nothing() {
        let awake = AwakeThreads::new();
        for pause in [0, 0, 5, 0, 20] {
            std::thread::sleep(Duration::from_millis(pause));
            let (next, sum) = (AtomicU64::new(0), AtomicU64::new(0));
            awake.share(3, &|_| {
                loop {
                    let item = next.fetch_add(1, Ordering::Relaxed);
                    if item >= 1000 {
                        return;
                    }
                    sum.fetch_add(item, Ordering::Relaxed);
                }
            });
            assert_eq!(sum.into_inner(), 499_500);
        }
    }

    #[test]
    fn work_within_work_is_done_by_its_caller() {
        let awake = AwakeThreads::new();
        let done = AtomicU64::new(0);
        awake.share(2, &|_| {
            awake.share(2, &|_| {
                done.fetch_add(1, Ordering::Relaxed);
            });
        });
        assert!(done.into_inner() > 0);
    }

    #[test]
    fn a_panic_is_the_callers() {
        let awake = AwakeThreads::new();
        let panic =
            std::panic::catch_unwind(AssertUnwindSafe(|| awake.share(2, &|_| panic!("lost"))));
        assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"lost"));
        let done = AtomicU64::new(0);
        awake.share(2, &|_| {
            done.fetch_add(1, Ordering::Relaxed);
        });
        assert!(done.into_inner() > 0);
    }
}
