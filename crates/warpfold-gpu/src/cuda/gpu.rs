//! [`Gpu`]: the door to one device.

use std::sync::{Arc, Mutex, PoisonError};

use super::StreamHandle;
use super::buffer::{Buffer, View};
use super::device::{Description, Device};
use super::queue::Queue;
use super::stream_context::StreamContext;
use crate::driver::{self, Memory};
use crate::element::Element;
use crate::kernel::{
    self, AnyBuffer, AnyView, BatchedLaunch, Devices, Executor, Home, Machine, Ready, Record,
    Running, Started, check_arrays, machine_methods,
};
use crate::plan::{CudaFacts, CudaPlan, Problem, TunedRow, Tuning, choose_tuned};
use crate::{DType, Error, Result};

/// An NVIDIA GPU. Cheap to clone; clones share everything.
#[derive(Clone)]
pub struct Gpu(Arc<Shared>);

struct Shared {
    /// Before the device, so that stream contexts are dropped while it is open.
    idle: Mutex<Vec<StreamContext>>,
    device: Arc<Device>,
    /// What was measured on it.
    rows: Vec<TunedRow>,
}

impl Gpu {
    /// Opens a GPU by its number.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device): there is no driver, it is too old, or there is no such GPU.
    pub fn open(ordinal: usize) -> Result<Gpu> {
        Gpu::open_tuned(ordinal, None)
    }

    /// Opens a GPU, whose plans take the shapes that were measured on one of its name, if the tuning has it.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    ///
    /// # Panics
    /// If the tuning does not pass its own [`check`](Tuning::check).
    pub fn open_tuned(ordinal: usize, tuning: Option<&Tuning>) -> Result<Gpu> {
        let device = Arc::new(Device::open(ordinal)?);
        let mut rows = Vec::new();
        if let Some(tuning) = tuning {
            assert_eq!(tuning.check(), Ok(()), "a tuning is checked where it is read");
            let gpu = tuning.of(&device.description.name, device.facts());
            rows = gpu.map_or(rows, |gpu| gpu.rows.clone());
        }
        Ok(Gpu(Arc::new(Shared { idle: Mutex::default(), device, rows })))
    }

    /// How it would run a problem.
    ///
    /// # Errors
    /// As [`plan::choose_cuda`](crate::plan::choose_cuda).
    pub fn plan(&self, problem: Problem) -> Result<CudaPlan> {
        choose_tuned(problem, self.facts(), &self.0.rows)
    }

    /// What it is.
    pub fn description(&self) -> &Description {
        &self.0.device.description
    }

    /// Bytes of its memory that are free now.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn free_memory(&self) -> Result<u64> {
        driver::free_memory(&self.0.device.context)
    }

    /// An array whose elements are whatever the memory holds (of `bool`: false, as not every byte is a value).
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device): out of memory, with the sizes.
    pub fn unwritten<T: Element>(&self, len: usize) -> Result<Buffer<T>> {
        if T::DTYPE == DType::Bool {
            return self.alloc(len);
        }
        let memory = Executor::unwritten(self, len.saturating_mul(size_of::<T>()))?;
        Ok(Buffer::new(AnyBuffer::new(memory, T::DTYPE, len)))
    }

    /// What the planner knows of it.
    pub fn facts(&self) -> CudaFacts {
        self.0.device.facts()
    }

    pub(super) fn device(&self) -> &Arc<Device> {
        &self.0.device
    }

    /// Copies a slice to the device.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device): out of memory, with the sizes.
    pub fn upload<T: Element>(&self, x: &[T]) -> Result<Buffer<T>> {
        Machine::upload(self, x)
    }

    /// Copies elements to the host, once the stream that they come after has got there.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device); also if the device holds bytes that are no value of the type (a `bool` of 2).
    pub fn download<T: Element>(&self, x: View<'_, T>) -> Result<Vec<T>> {
        kernel::elements(&self.bytes_of(x.untyped())?)
    }

    /// An array of zeros on the device.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device): out of memory, with the sizes.
    pub fn alloc<T: Element>(&self, len: usize) -> Result<Buffer<T>> {
        let memory = self.zeros(len.saturating_mul(size_of::<T>()))?;
        Ok(Buffer::new(AnyBuffer::new(memory, T::DTYPE, len)))
    }

    /// A queue of its own for reductions whose results stay on the device.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn queue(&self) -> Result<Queue> {
        Ok(Queue::new(StreamContext::new(&self.0.device)?))
    }

    /// A queue on a stream of another library (a `CUstream`), so that reductions are ordered with its other work.
    ///
    /// # Safety
    /// `stream` must be a stream of this GPU's primary context that outlives the queue.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub unsafe fn queue_on(&self, stream: *mut std::ffi::c_void) -> Result<Queue> {
        // SAFETY: as the caller promises.
        let stream = unsafe { self.0.device.context.wrap_borrowed_stream(stream.cast()) };
        Ok(Queue::new(StreamContext::on(&self.0.device, stream)?))
    }

    /// A stream of another library (a `CUstream`; null for the default one), for [`View::after`](kernel::View::after).
    ///
    /// # Safety
    /// `stream` must be a stream of this GPU's primary context that outlives the value.
    pub unsafe fn borrow_stream(&self, stream: *mut std::ffi::c_void) -> StreamHandle {
        // SAFETY: as the caller promises.
        unsafe { self.0.device.context.wrap_borrowed_stream(stream.cast()) }
    }

    /// Lends an idle stream context, or a new one.
    pub(super) fn with_stream_context<R>(
        &self,
        f: impl FnOnce(&mut StreamContext) -> Result<R>,
    ) -> Result<R> {
        let mut context = self.stream_context()?;
        let result = f(&mut context)?;
        self.give_back(context);
        Ok(result)
    }

    /// An idle stream context, or a new one.
    fn stream_context(&self) -> Result<StreamContext> {
        let idle = self.0.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| StreamContext::new(&self.0.device), Ok)
    }

    /// Keeps a stream context for the next reduction. Only one that ended well: a failed launch may have left its ticket half way.
    fn give_back(&self, context: StreamContext) {
        self.0.idle.lock().unwrap_or_else(PoisonError::into_inner).push(context);
    }
}

machine_methods!(Gpu);

impl Machine for Gpu {}

impl Executor for Gpu {
    fn home(&self) -> Home {
        Home::Cuda(self.description().ordinal)
    }

    fn facts(&self) -> CudaFacts {
        self.0.device.facts()
    }

    fn plan(&self, problem: Problem) -> Result<CudaPlan> {
        Gpu::plan(self, problem)
    }

    fn copy_of(&self, bytes: &[u8]) -> Result<kernel::Memory> {
        Ok(kernel::Memory::Cuda(Memory::copy_of(&self.0.device.context, bytes)?))
    }

    fn zeros(&self, bytes: usize) -> Result<kernel::Memory> {
        Ok(kernel::Memory::Cuda(Memory::zeroed(&self.0.device.context, bytes)?))
    }

    fn unwritten(&self, bytes: usize) -> Result<kernel::Memory> {
        Ok(kernel::Memory::Cuda(Memory::uninitialised(&self.0.device.context, bytes)?))
    }

    fn bytes_of(&self, x: AnyView<'_>) -> Result<Vec<u8>> {
        x.check(self)?;
        if let Some(stream) = x.ready.stream {
            driver::synchronize(stream, || "waiting for another stream".into())?;
        }
        let mut bytes = vec![0; x.len() * x.dtype.size()];
        // SAFETY: the view borrows so many elements in this GPU's memory, as who made it promised.
        unsafe { driver::read(&self.0.device.context, x.address, &mut bytes)? };
        Ok(bytes)
    }

    fn run_batched(&self, launches: &[BatchedLaunch], after: &[Ready<'_>]) -> Result<()> {
        self.with_stream_context(|context| {
            after.iter().try_for_each(|&ready| context.after(ready))?;
            // SAFETY: builders make launches from arrays that they borrow and memory that they own; this waits for them.
            unsafe { context.start_batched(launches)? };
            context.synchronize()
        })
    }

    fn begin<'a>(
        &'a self,
        plan: &CudaPlan,
        x: AnyView<'a>,
        y: Option<AnyView<'a>>,
    ) -> Result<Running<'a>> {
        check_arrays(self, plan, x, y)?;
        let mut context = self.stream_context()?;
        context.after_all(x, y)?;
        // SAFETY: the views borrow arrays of at least so many elements in device memory, as was just looked at, for as long as the stream context
        // may run: it waits for the kernel in `wait`, or where it is dropped.
        unsafe { context.begin(plan, x.address, y.map_or(0, |y| y.address))? };
        Ok(Running::Started(Box::new(Begun { gpu: self, context })))
    }
}

/// A plan that was started in a stream context, which waits for it where it is dropped.
struct Begun<'a> {
    gpu: &'a Gpu,
    context: StreamContext,
}

impl Started for Begun<'_> {
    fn wait(mut self: Box<Self>, plan: &CudaPlan) -> Result<Record> {
        let record = self.context.wait(plan)?;
        self.gpu.give_back(self.context);
        Ok(record)
    }
}

/// Several GPUs of one computer that reduce arrays together; see [`Devices`].
///
/// ```no_run
/// use warpfold::cuda::Gpus;
/// let gpus = Gpus::all()?;
/// let x = gpus.upload(&vec![0.1f32; 1 << 28])?;
/// assert_eq!(gpus.reduce(&x).sum()?, 26843546.0);
/// # Ok::<(), warpfold::Error>(())
/// ```
pub type Gpus = Devices<Gpu>;

impl Devices<Gpu> {
    /// Opens GPUs by their numbers.
    ///
    /// # Errors
    /// As [`Gpu::open`]; also for no number.
    pub fn open(ordinals: &[usize]) -> Result<Gpus> {
        if ordinals.is_empty() {
            return Err(Error::Device {
                requested: "GPUs by their numbers".into(),
                obstacle: "there is no number".into(),
                remedy: "name one at least",
            });
        }
        Ok(Devices::new(ordinals.iter().map(|&k| Gpu::open(k)).collect::<Result<Vec<_>>>()?))
    }

    /// Opens every GPU that the driver shows and that the kernels run on.
    ///
    /// # Errors
    /// As [`Gpu::open`], for the first one if none can be used.
    pub fn all() -> Result<Gpus> {
        let usable = super::devices()?.into_iter().filter(|gpu| gpu.obstacle().is_none());
        let ordinals: Vec<usize> = usable.map(|gpu| gpu.ordinal).collect();
        Gpus::open(if ordinals.is_empty() { &[0] } else { &ordinals })
    }
}
