//! Arrays in the memory of NVIDIA GPUs, in the streams of the program that they belong to.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

use warpfold_engine::{self as engine, Columns, Indices};
use warpfold_gpu::cuda::{Gpu, KeepContext, Queue};
use warpfold_gpu::kernel::{AnyReduce, AnyReduceBatched, AnySegments, AnyView, value_bytes};
use warpfold_num::{DType, Error, Op};
use warpfold_plan::shape::{Folding, Layout};

use crate::failure::{Failure, Outcome, guard};
use crate::memory::{self, Memory, object};
use crate::partition::{Partition, lies_in_order};
use crate::request::wf_request;
use crate::run::{OutputBuffer, named};
use crate::status::wf_status;
use crate::types::dtype_code;

/// A GPU: its kernels, once they are loaded, and for each stream what reductions in it need. Any number of threads may use it.
pub struct wf_gpu {
    gpu: Gpu,
    queues: Mutex<HashMap<usize, Arc<Mutex<Queue>>>>,
}

/// Threads of C share it by its address, where the compiler does not look.
const _: () = {
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<wf_gpu>();
};

impl wf_gpu {
    /// The queue of a stream, made when the stream is first seen.
    ///
    /// # Safety
    /// The stream is null or one of the GPU's primary context, and outlives this.
    unsafe fn queue(&self, stream: *mut c_void) -> Outcome<Arc<Mutex<Queue>>> {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(queue) = queues.get(&stream.addr()) {
            return Ok(queue.clone());
        }
        // SAFETY: as the caller vouches.
        let made = Arc::new(Mutex::new(unsafe { self.gpu.queue_on(stream) }?));
        queues.insert(stream.addr(), made.clone());
        Ok(made)
    }
}

/// A request as a GPU runs it.
struct OnGpu<'a> {
    gpu: &'a Gpu,
    request: &'a wf_request,
    memory: &'a Memory,
    x: AnyView<'a>,
}

impl<'a> OnGpu<'a> {
    /// # Safety
    /// The request's arrays lie in memory that the GPU can read, and are as the caller of the interface promised while `'a` lasts.
    unsafe fn new(gpu: &'a Gpu, request: &'a wf_request) -> Outcome<Self> {
        let memory = request.memory()?;
        // What is undefined is said before types are compared.
        engine::check(request.op, memory.raw.dtype)?;
        // SAFETY: as the caller vouches.
        let x = unsafe { memory.raw.on_device() };
        Ok(OnGpu { gpu, request, memory, x })
    }

    fn refused(&self, option: &'static str, why: &'static str) -> Failure {
        let (op, dtype) = (self.request.op, self.memory.raw.dtype);
        Error::Unsupported { option, op, dtype, why }.into()
    }

    /// The reduction of a whole array, or of a pair.
    ///
    /// # Safety
    /// As [`new`](Self::new).
    unsafe fn whole(&self) -> Outcome<AnyReduce<'a>> {
        let reduce = match (self.request.op, &self.request.pair) {
            (Op::Dot, Some(pair)) if pair.dtype == self.x.dtype() => {
                // SAFETY: as the caller vouches.
                AnyReduce::pair(self.gpu, self.x, unsafe { pair.on_device() })?
            }
            (Op::Dot, _) => {
                return Err(Failure::argument(
                    "dot needs a second array of the first one's type; give it by wf_request_set_pair",
                ));
            }
            _ => AnyReduce::new(self.gpu, self.x),
        };
        Ok(reduce.policy(self.request.policy))
    }

    /// Whether all elements are reduced to one output, and lie one after another.
    fn is_whole(&self) -> bool {
        matches!(self.request.partition, Partition::Whole)
            && self.memory.layout.as_ref().is_none_or(lies_in_order)
    }

    /// How the parts lie, and how many outputs they have.
    ///
    /// # Safety
    /// As [`new`](Self::new).
    unsafe fn parts(&self) -> Outcome<(AnyReduceBatched<'a>, u64)> {
        let whole = || Layout::c(&[self.x.len() as u64]);
        if self.request.indices == Indices::OfArray {
            return Err(self.refused(
                "flat indices on a GPU",
                "indices count from each part's start there; reduce it in the host's memory",
            ));
        }
        let over = |axes: &[i64]| -> Outcome<_> {
            let layout = self.memory.layout.clone().map_or_else(whole, Ok)?;
            let outputs = Folding::of(layout.clone(), axes)?.outputs()?;
            Ok((AnyReduceBatched::axes(self.gpu, self.x, &layout, axes)?, outputs))
        };
        let segments = |segments, outputs| -> Outcome<_> {
            if self.memory.layout.as_ref().is_some_and(|layout| !lies_in_order(layout)) {
                return Err(self.refused(
                    "segments of a view on a GPU",
                    "its elements do not lie one after another; copy it to an array",
                ));
            }
            Ok((AnyReduceBatched::segments(self.gpu, self.x, segments), outputs))
        };
        match &self.request.partition {
            Partition::Whole => {
                let axes = self.memory.layout.as_ref().map_or(1, |layout| layout.axes().len());
                over(&(0i64..).take(axes).collect::<Vec<_>>())
            }
            Partition::Axes(axes) => over(axes),
            Partition::Every(length) => {
                let outputs = (self.x.len() as u64).checked_div(*length).unwrap_or(0);
                segments(AnySegments::Every(*length), outputs)
            }
            Partition::Offsets(offsets) => {
                // Signed offsets are read as unsigned ones; a negative one is beyond every array's end.
                let dtype = if offsets.dtype.size() == 4 { DType::U32 } else { DType::U64 };
                // SAFETY: as the caller vouches.
                let view = unsafe { offsets.on_device_as(dtype) };
                segments(AnySegments::Offsets(view), (offsets.len as u64).saturating_sub(1))
            }
            Partition::Groups(_) | Partition::Dense(..) | Partition::Runs(_) => Err(self.refused(
                "keys on a GPU",
                "groups are of arrays in the host's memory here; copy array and keys there",
            )),
        }
    }
}

/// Runs a request in a stream, and writes its results to the host's memory.
///
/// # Safety
/// As [`OnGpu::new`], for the GPU's stream too, and the output is as was said.
unsafe fn run(
    gpu: &wf_gpu,
    request: &wf_request,
    stream: *mut c_void,
    buffer: OutputBuffer,
) -> Outcome<()> {
    let _kept = KeepContext::new();
    let finish = request.finish()?;
    // SAFETY: as the caller vouches.
    let stream = unsafe { gpu.gpu.borrow_stream(stream) };
    // SAFETY: as above.
    let on_gpu = unsafe { OnGpu::new(&gpu.gpu, request) }?;
    let on_gpu = OnGpu { x: on_gpu.x.after(&stream), ..on_gpu };
    let (op, dtype) = (request.op, on_gpu.x.dtype());
    let columns: Columns = if on_gpu.is_whole() {
        // SAFETY: as above.
        unsafe { buffer.check(op, dtype, finish.round_to, 1) }?;
        // SAFETY: as above.
        named(op, unsafe { on_gpu.whole() }?.output(op, finish)?)?
    } else if op == Op::Dot {
        return Err(on_gpu.refused("parts of two arrays", "dot reads two whole arrays"));
    } else {
        // SAFETY: as above.
        let (parts, outputs) = unsafe { on_gpu.parts() }?;
        // SAFETY: as above.
        unsafe { buffer.check(op, dtype, finish.round_to, outputs) }?;
        parts.policy(request.policy).ddof(finish.ddof).columns(op, finish)?
    };
    let mut offset = 0;
    for (_, column) in columns {
        // SAFETY: as above, and the room was checked for all columns.
        unsafe { memory::write_column(buffer.dtype, buffer.out, offset, &column) }?;
        offset += column.len();
    }
    Ok(())
}

/// Starts a request in a stream, and leaves its result in the GPU's memory.
///
/// # Safety
/// As [`run`], until the stream has come this far.
unsafe fn start(
    gpu: &wf_gpu,
    request: &wf_request,
    stream: *mut c_void,
    buffer: OutputBuffer,
) -> Outcome<()> {
    let _kept = KeepContext::new();
    let finish = request.finish()?;
    // SAFETY: as the caller vouches.
    let on_gpu = unsafe { OnGpu::new(&gpu.gpu, request) }?;
    let (op, dtype) = (request.op, on_gpu.x.dtype());
    if !on_gpu.is_whole() {
        return Err(on_gpu.refused(
            "a result that is left on a GPU",
            "it is that of a whole array that lies in one piece; wf_gpu_request_run takes parts",
        ));
    }
    // SAFETY: as above.
    unsafe { buffer.check(op, dtype, finish.round_to, 1) }?;
    let values = if op == Op::MinMax { 2 } else { 1 };
    if value_bytes(op, dtype, finish.round_to) != Some(values * buffer.dtype.size()) {
        return Err(on_gpu.refused(
            "a result that is left on a GPU",
            "whether it fits its type is seen on the host, or its type is none that kernels round to; take wf_gpu_request_run",
        ));
    }
    // One handle that stands for a stream of each thread (CU_STREAM_PER_THREAD): two of them would share a workspace.
    if stream.addr() == 2 {
        return Err(Failure::argument(
            "cudaStreamPerThread is another stream on each thread; give one that was created, or take wf_gpu_request_run",
        ));
    }
    // SAFETY: as above.
    let queue = unsafe { gpu.queue(stream) }?;
    let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: as above; the room is of the value's size, as was just compared.
    unsafe { queue.start_any(&on_gpu.whole()?, op, finish, buffer.out.addr() as u64) }?;
    Ok(())
}

/// Opens a GPU by its number, from 0, and its primary context, which is that of the CUDA runtime: WF_ERROR_DEVICE where there is no driver, no
/// such GPU, or one that is too old. Nothing but the driver is needed. Free it with wf_gpu_free. In the child of a fork, GPUs of the parent are of no use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_gpu_open(ordinal: i32, gpu: *mut *mut wf_gpu) -> wf_status {
    guard(|| {
        let make = || {
            let _kept = KeepContext::new();
            let ordinal = usize::try_from(ordinal).map_err(|_| {
                Failure::argument(format!("there is no GPU of the number {ordinal}; count from 0"))
            })?;
            Ok(wf_gpu { gpu: Gpu::open(ordinal)?, queues: Mutex::default() })
        };
        // SAFETY: the caller's duty: null, or memory for a pointer.
        unsafe { memory::hand_over("the pointer to the new GPU", gpu, make) }
    })
}

/// Frees a GPU, once its streams have done what they were given here; nothing happens for a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_gpu_free(gpu: *mut wf_gpu) {
    let _kept = KeepContext::new();
    // SAFETY: the caller's duty: null, or a GPU that was not freed.
    unsafe { memory::free(gpu) }
}

/// Runs a request whose arrays and offsets lie in memory that the GPU can read, behind what the stream (a CUstream or cudaStream_t of the primary
/// context; null is the default one) was given so far, and waits for its results: out is in the host's memory, all else as of wf_request_run.
/// Whole arrays, pairs, axes of any strides and segments; groups by keys are WF_ERROR_UNSUPPORTED. Bytes of WF_BOOL are 0 or 1, which nobody checks there. The
/// thread's current context stays as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_gpu_request_run(
    gpu: *const wf_gpu,
    request: *const wf_request,
    stream: *mut c_void,
    out_type: dtype_code,
    out: *mut c_void,
    capacity: usize,
    written: *mut usize,
) -> wf_status {
    // SAFETY: the caller's duty, for all of them.
    guard(|| unsafe {
        let buffer = OutputBuffer::new(out_type, out, capacity, written)?;
        run(object("the GPU", gpu)?, object("the request", request)?, stream, buffer)
    })
}

/// Starts the same of a whole array, or of two, and returns at once: the stream leaves the result at device_out, memory of the GPU for one element of
/// out_type (two of WF_MINMAX). Arrays and output must stay until the stream has come this far, and the stream until wf_gpu_free. Sums, products and
/// squares of integers are WF_ERROR_UNSUPPORTED, as nobody would say whether they fit. A call that is captured into a CUDA graph must have been run before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_gpu_request_start(
    gpu: *const wf_gpu,
    request: *const wf_request,
    stream: *mut c_void,
    out_type: dtype_code,
    device_out: *mut c_void,
) -> wf_status {
    // SAFETY: the caller's duty, for all of them.
    guard(|| unsafe {
        let buffer = OutputBuffer::new(out_type, device_out, 2, std::ptr::null_mut())?;
        start(object("the GPU", gpu)?, object("the request", request)?, stream, buffer)
    })
}
