//! GPUs that were opened, and a queue for each stream of another library.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use warpfold_gpu::cuda::{Buffer, Gpu, Queue};
use warpfold_gpu::kernel::is_faulted;
use warpfold_num::Result;
use warpfold_plan::plan::{CudaBatchPlan, CudaWay, WORKSPACE_HEADER};

use crate::run::is_forked;

static GPUS: Mutex<Vec<(i32, Gpu)>> = Mutex::new(Vec::new());

/// Queues of streams, with workspaces of their own, in the order in which they were made.
static QUEUES: Mutex<Option<Queues>> = Mutex::new(None);

/// By the number of the GPU, the stream, and what they are for.
type Queues = HashMap<(i32, usize, For), Arc<Mutex<Ready>>>;

/// Queues at most: beyond, one is made for each call.
const MOST_QUEUES: usize = 64;

/// The handle of a stream of each thread (`cudaStreamPerThread`): a queue for it would give two of them one workspace.
const PER_THREAD: usize = 2;

/// What a queue of a stream is for: who starts work does not wait behind who reads a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum For {
    /// Results that are left on the device.
    Leaving,
    /// Results that the host waits for.
    Reading,
}

/// A queue of a stream.
pub(crate) struct Ready {
    pub(crate) queue: Queue,
    /// Where kernels of many results say what was wrong, with all bits set: of results that nobody waits for nothing can be.
    faults: Option<Buffer<u64>>,
    /// Where they leave what blocks hold: zero before its first use up to [`WORKSPACE_HEADER`], as it is left behind.
    workspace: Option<Buffer<u8>>,
}

/// Bytes of a queue's own workspace at most.
const MOST_WORKSPACE: u64 = 16 << 20;

impl Ready {
    /// The address of so many words of ones.
    pub(crate) fn faults(&mut self, gpu: &Gpu, words: usize) -> Result<u64> {
        match &self.faults {
            Some(faults) => Ok(faults.address()),
            None => {
                let made = gpu.upload(&vec![u64::MAX; words])?;
                Ok(self.faults.insert(made).address())
            }
        }
    }

    /// Waits, and says whether nothing was wrong; the words say nothing afterwards.
    pub(crate) fn is_sound(&mut self, gpu: &Gpu) -> Result<bool> {
        self.queue.synchronize()?;
        let Some(faults) = &mut self.faults else { return Ok(true) };
        let words = gpu.download(faults.view())?;
        if words.iter().any(|&word| word != u64::MAX) {
            faults.write(0, &vec![u64::MAX; words.len()])?;
        }
        Ok(!is_faulted(&words))
    }

    /// The address of a plan's workspace, which the queue keeps from one call to the next; `None` if the plan has to have one of its own, all zeros: one
    /// that is large, or one that runs in a graph, perhaps beside others of this queue.
    pub(crate) fn workspace(&mut self, gpu: &Gpu, plan: &CudaBatchPlan) -> Result<Option<u64>> {
        let bytes = WORKSPACE_HEADER + plan.workspace;
        if plan.workspace == 0 {
            return Ok(Some(0));
        }
        if bytes > MOST_WORKSPACE || self.queue.is_captured()? {
            return Ok(None);
        }
        if self.workspace.as_ref().is_none_or(|kept| (kept.len() as u64) < bytes) {
            // What runs may still use the one before.
            self.queue.synchronize()?;
            self.workspace = Some(gpu.alloc(bytes.next_power_of_two() as usize)?);
        }
        let address = self.workspace.as_ref().map_or(0, Buffer::address);
        // The first words are the ticket's, of whoever has one, and zero again when it is done.
        let before = if plan.way == CudaWay::Segments { 0 } else { WORKSPACE_HEADER };
        Ok(Some(address + before))
    }
}

/// Tables of plans on GPUs. They stay, as graphs may read them whenever they run.
static TABLES: Mutex<Option<Tables>> = Mutex::new(None);

/// By the number of the GPU and what they hold.
type Tables = HashMap<(i32, Vec<u64>), Buffer<u64>>;

/// Tables that are kept at most.
const MOST_TABLES: usize = 4096;

/// The address of a plan's tables; `None` where they cannot be copied now, as a graph is being captured in the stream, or where too many are kept.
///
/// # Safety
/// As [`on_stream`].
pub(crate) unsafe fn tables(
    gpu: &Gpu,
    number: i32,
    stream: usize,
    plan: &CudaBatchPlan,
) -> Result<Option<u64>> {
    let key = (number, plan.tables());
    if key.1.is_empty() {
        return Ok(Some(0));
    }
    let mut kept = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = kept.get_or_insert_default();
    if let Some(known) = kept.get(&key) {
        return Ok(Some(known.address()));
    }
    // SAFETY: as the caller promises; nothing is started.
    let is_captured =
        unsafe { on_stream(gpu, number, stream, For::Leaving, |ready| ready.queue.is_captured()) }?;
    if is_captured || kept.len() >= MOST_TABLES {
        return Ok(None);
    }
    let made = gpu.upload(&key.1)?;
    let address = made.address();
    kept.insert(key, made);
    Ok(Some(address))
}

/// The GPUs that the kernels run on: number, name, and architecture. None where there is no driver.
#[pyfunction]
pub(crate) fn _gpus() -> Vec<(usize, String, String)> {
    let all = warpfold_gpu::cuda::devices().unwrap_or_default();
    let usable = all.into_iter().filter(|gpu| gpu.obstacle().is_none());
    usable.map(|gpu| (gpu.ordinal, gpu.name, format!("sm_{}", gpu.compute))).collect()
}

/// A GPU by its number, opened once.
pub(crate) fn gpu(number: i32) -> PyResult<Gpu> {
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

/// Hands the queue of a stream to a function that uses it.
///
/// # Safety
/// As [`Gpu::queue_on`]; a stream of a number that was another's before is one as good.
pub(crate) unsafe fn on_stream<R>(
    gpu: &Gpu,
    number: i32,
    stream: usize,
    what: For,
    start: impl FnOnce(&mut Ready) -> Result<R>,
) -> Result<R> {
    let make = || -> Result<Ready> {
        // SAFETY: as the caller promises.
        let queue = unsafe { gpu.queue_on(stream as *mut _) }?;
        Ok(Ready { queue, faults: None, workspace: None })
    };
    let known = {
        let mut queues = QUEUES.lock().unwrap_or_else(PoisonError::into_inner);
        let queues = queues.get_or_insert_default();
        match queues.get(&(number, stream, what)) {
            Some(queue) => Some(queue.clone()),
            None if queues.len() >= MOST_QUEUES || stream == PER_THREAD => None,
            None => {
                let made = Arc::new(Mutex::new(make()?));
                queues.insert((number, stream, what), made.clone());
                Some(made)
            }
        }
    };
    match known {
        Some(queue) => start(&mut queue.lock().unwrap_or_else(PoisonError::into_inner)),
        // It waits for its work where it is dropped.
        None => start(&mut make()?),
    }
}
