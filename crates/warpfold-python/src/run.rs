//! Where reductions run: without the interpreter where they take long, and in a pool of threads that exists.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Bytes from which on other threads of the program run meanwhile.
const DETACHED: u64 = 64 << 10;

/// How many forks lie between this process and the one that imported the module.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// The pool of this process, after a fork.
static POOL: Mutex<Option<(u64, Arc<ThreadPool>)>> = Mutex::new(None);

/// Says that this process is the child of a fork: the threads of its parent's pool are not here.
#[pyfunction]
pub(crate) fn _forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// Whether this process is the child of a fork.
pub(crate) fn is_forked() -> bool {
    FORKS.load(Ordering::Relaxed) > 0
}

/// The pool of a process that was forked; `None` where that of rayon serves.
fn pool() -> Option<Arc<ThreadPool>> {
    let forks = FORKS.load(Ordering::Relaxed);
    if forks == 0 {
        return None;
    }
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    match &*pool {
        Some((made, pool)) if *made == forks => Some(pool.clone()),
        _ => {
            let made = Arc::new(ThreadPoolBuilder::new().build().ok()?);
            // A pool of the parent's would wait for threads that are not here.
            std::mem::forget(pool.replace((forks, made.clone())));
            Some(made)
        }
    }
}

/// Starts the threads of the pool, if they are not there yet.
pub(crate) fn start(py: Python<'_>) {
    let pool = pool();
    py.detach(|| match pool {
        Some(pool) => drop(pool.broadcast(|_| ())),
        None => drop(rayon::broadcast(|_| ())),
    });
}

/// Runs a reduction of so many bytes.
pub(crate) fn run<R: Send>(py: Python<'_>, bytes: u64, reduction: impl FnOnce() -> R + Send) -> R {
    match pool() {
        Some(pool) => py.detach(|| pool.install(reduction)),
        None if bytes < DETACHED => reduction(),
        None => py.detach(reduction),
    }
}
