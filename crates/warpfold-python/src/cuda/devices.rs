//! GPUs that were opened, and a queue for each stream of another library.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use warpfold_gpu::cuda::{Gpu, Queue};
use warpfold_num::Result;

use crate::run::is_forked;

static GPUS: Mutex<Vec<(i32, Gpu)>> = Mutex::new(Vec::new());

/// Queues of streams, with workspaces of their own, in the order in which they were made.
static QUEUES: Mutex<Option<HashMap<(i32, usize), Queue>>> = Mutex::new(None);

/// Queues at most: beyond, one is made for each call.
const MOST_QUEUES: usize = 64;

/// The GPUs that the kernels run on: number, name, and architecture. None where there is no driver.
#[pyfunction]
pub(crate) fn _gpus() -> Vec<(usize, String, String)> {
    let all = warpfold_gpu::cuda::devices().unwrap_or_default();
    let usable = all.into_iter().filter(|gpu| gpu.obstacle().is_none());
    usable.map(|gpu| (gpu.ordinal, gpu.name, format!("sm_{}", gpu.compute))).collect()
}

/// A GPU by its number, opened once.
pub(super) fn gpu(number: i32) -> PyResult<Gpu> {
    if is_forked() {
        return Err(PyRuntimeError::new_err(
            "a process that was forked cannot use the GPUs of its parent; start processes with multiprocessing's \"spawn\"",
        ));
    }
    let mut gpus = GPUS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, gpu)) = gpus.iter().find(|(known, _)| *known == number) {
        return Ok(gpu.clone());
    }
    let gpu = Gpu::open(number.max(0) as usize);
    let gpu = gpu.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    gpus.push((number, gpu.clone()));
    Ok(gpu)
}

/// Hands the queue of a stream to a function that starts work in it.
///
/// # Safety
/// As [`Gpu::queue_on`]; a stream of a number that was another's before is one as good.
pub(super) unsafe fn on_stream(
    gpu: &Gpu,
    number: i32,
    stream: usize,
    start: impl FnOnce(&mut Queue) -> Result<()>,
) -> Result<()> {
    let mut queues = QUEUES.lock().unwrap_or_else(PoisonError::into_inner);
    let queues = queues.get_or_insert_default();
    // SAFETY: as the caller promises.
    let make = || unsafe { gpu.queue_on(stream as *mut _) };
    if queues.len() >= MOST_QUEUES && !queues.contains_key(&(number, stream)) {
        // It waits for its work where it is dropped.
        return start(&mut make()?);
    }
    match queues.entry((number, stream)) {
        std::collections::hash_map::Entry::Occupied(mut queue) => start(queue.get_mut()),
        std::collections::hash_map::Entry::Vacant(room) => start(room.insert(make()?)),
    }
}
