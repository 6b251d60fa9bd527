//! Work shared with the threads of rayon's pool, as far as they are free.
//!
//! A scope of rayon waits until each task it spawned has run, even where the calling thread did all the work while the pool was
//! busy with something else. Here who comes too late finds the work closed and leaves, and only those who began are waited for.

use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};

use crate::gate::Gate;

/// Runs the work on the calling thread and on up to `threads - 1` of the pool that the caller runs in.
///
/// # Panics
/// If the work does, on any thread.
pub fn share(threads: usize, work: &(dyn Fn() + Sync)) {
    if threads <= 1 {
        return work();
    }
    #[cfg(test)]
    SHARED.with(|shared| shared.set(shared.get() + 1));
    let gate = Arc::new(Gate::new());
    let tell = || {
        for number in 1..threads {
            let gate = Arc::clone(&gate);
            rayon::spawn(move || gate.join(number));
        }
    };
    // SAFETY: this thread alone opens it, once.
    let done = unsafe { gate.open(&|_| work(), tell) };
    done.unwrap_or_else(|panic| resume_unwind(panic));
}

/// Works on each of some items, one after another as threads are free, on up to `threads` of them.
///
/// # Panics
/// If the work does, on any thread.
pub fn each<I: ExactSizeIterator + Send>(threads: usize, items: I, work: impl Fn(I::Item) + Sync) {
    let threads = threads.min(items.len());
    let items = Mutex::new(items);
    let next = || items.lock().unwrap_or_else(|poison| poison.into_inner()).next();
    share(threads, &|| {
        while let Some(item) = next() {
            work(item);
        }
    });
}

/// What the work makes of each item, in their order.
pub fn map<I: ExactSizeIterator + Send, R: Send>(
    threads: usize,
    items: I,
    work: impl Fn(I::Item) -> R + Sync,
) -> Vec<R> {
    let mut made: Vec<Option<R>> = (0..items.len()).map(|_| None).collect();
    each(threads, made.iter_mut().zip(items), |(made, item)| *made = Some(work(item)));
    made.into_iter().flatten().collect()
}

/// What is found in the first item, in their order, in which anything is.
pub fn find<I: ExactSizeIterator + Send, R: Send>(
    threads: usize,
    items: I,
    look: impl Fn(I::Item) -> Option<R> + Sync,
) -> Option<R> {
    let first = Mutex::new(None::<(usize, R)>);
    let first_found = || first.lock().unwrap_or_else(|poison| poison.into_inner());
    each(threads, items.enumerate(), |(k, item)| {
        if first_found().as_ref().is_some_and(|&(earlier, _)| earlier < k) {
            return;
        }
        if let Some(found) = look(item) {
            let mut first = first_found();
            if first.as_ref().is_none_or(|&(earlier, _)| k < earlier) {
                *first = Some((k, found));
            }
        }
    });
    first.into_inner().unwrap_or_else(|poison| poison.into_inner()).map(|(_, found)| found)
}

#[cfg(test)]
thread_local! {
    /// How often this thread shared work with others.
    pub(crate) static SHARED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::panic::{AssertUnwindSafe, catch_unwind};
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
    fn no_more_threads_than_allowed_work_on_each_item_once() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().expect("threads start");
        for threads in [0, 1, 2, 3, 20] {
            let (done, who) = (AtomicUsize::new(0), Mutex::new(HashSet::new()));
            let work = |k: usize| {
                done.fetch_add(1 << (8 * (k % 4)), Ordering::Relaxed);
                who.lock().unwrap().insert(std::thread::current().id());
                // Time for the others to come.
                std::thread::sleep(std::time::Duration::from_micros(100));
                k * k
            };
            let made = pool.install(|| map(threads, 0..200, work));
            assert_eq!(made, (0..200).map(|k| k * k).collect::<Vec<_>>());
            assert_eq!(done.into_inner(), 0x3232_3232);
            let who = who.into_inner().unwrap().len();
            assert!((1..=threads.max(1)).contains(&who), "{who} of {threads} threads");
        }
    }

    #[test]
    fn the_first_find_is_found_whoever_comes_first() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().expect("threads start");
        for threads in [1, 2, 8] {
            for from in [0, 1, 17, 99] {
                let look = |k: usize| {
                    // The earlier, the slower.
                    std::thread::sleep(std::time::Duration::from_micros(200 - 2 * k as u64));
                    (k >= from).then_some(k)
                };
                assert_eq!(pool.install(|| find(threads, 0..100, look)), Some(from));
            }
            assert_eq!(find(threads, 0..100, |_| None::<()>), None);
        }
    }

    #[test]
    fn a_panic_of_any_thread_comes_out() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads start");
        for panics_here in [true, false] {
            let caught = pool.install(|| {
                // Both are at work before one of them panics.
                let (caller, both) = (std::thread::current().id(), Barrier::new(2));
                let work = || {
                    both.wait();
                    assert!((std::thread::current().id() == caller) != panics_here, "on purpose");
                };
                catch_unwind(AssertUnwindSafe(|| share(2, &work)))
            });
            assert!(caught.is_err(), "of the caller's own: {panics_here}");
        }
    }
}
