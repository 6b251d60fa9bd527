//! Threads: as many as the system grants, of those that are wanted.
//!
//! A pool that cannot start one of its threads has none at all, and a thread that finds no memory for its signal stack aborts the process. So
//! threads are started one after another, each after a look whether there is room for it, and the pool is made of those that run.

use std::error::Error as _;
use std::io;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

use rayon::{ThreadBuilder, ThreadPoolBuilder};
use warpfold_io::memory::is_available;
use warpfold_io::threads::{BESIDE, STACK, start};

use crate::Failure;
use crate::memory;

/// Starts the global pool of threads: `most` of them, as many as the machine has cores unless given, or as many as there is room for.
///
/// # Errors
/// [`Failure::NoThread`] where there is none.
pub(crate) fn start_pool(most: Option<usize>) -> Result<(), Failure> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let most = most.unwrap_or_else(cores);
    memory::keep_to_one_arena();
    let is_roomy = is_available(most.saturating_mul(STACK + BESIDE) + memory::BUFFERS);
    let (hand_over, worker) = channel::<ThreadBuilder>();
    let worker = Arc::new(Mutex::new(worker));
    let mut started = 0;
    let mut refusal = None;
    // The first thread is tried however little room there is.
    while started < most
        && (is_roomy || started == 0 || is_available(memory::BUFFERS + STACK + BESIDE))
    {
        let worker = Arc::clone(&worker);
        let work = move || {
            let work = worker.lock().unwrap_or_else(PoisonError::into_inner).recv();
            if let Ok(work) = work {
                work.run();
            }
        };
        let thread = match is_roomy {
            true => Builder::new().name(format!("warpfold-{started}")).spawn(work).map(drop),
            false => start(&format!("warpfold-{started}"), work).map(drop),
        };
        match thread {
            Ok(()) => started += 1,
            Err(error) => {
                refusal = Some(error);
                break;
            }
        }
    }
    if started == 0 {
        return Err(Failure::no_thread(&refusal.unwrap_or(io::ErrorKind::OutOfMemory.into())));
    }
    let pool = ThreadPoolBuilder::new().num_threads(started).spawn_handler(|worker| {
        // The thread waits for it, unless all of them have ended.
        hand_over.send(worker).map_err(|_| io::Error::other("its thread has ended"))
    });
    match pool.build_global() {
        // Only a thread that could not be had is an error of the system's; else there is a pool already, as in tests.
        Err(error) if error.source().is_some() => Err(Failure::no_thread(&io::Error::other(error))),
        _ => Ok(()),
    }
}
