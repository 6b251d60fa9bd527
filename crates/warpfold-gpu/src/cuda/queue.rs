//! [`Queue`]: reductions one after another on a stream, results left on the device, the host free meanwhile.

use super::Reduce;
use super::raw_kernel::RawKernel;
use super::stream_context::StreamContext;
use crate::driver::{self, CudaEvent};
use crate::element::Element;
use crate::kernel::{self, AnyReduce, BatchedLaunch};
use crate::partial::{Finish, Output};
use crate::{Op, Result};

/// A stream of reductions. Nothing is allocated and nothing waits when one is started (but for the first of a kernel, which
/// loads it), so that a stream being captured into a graph captures them.
pub struct Queue {
    context: StreamContext,
}

impl Queue {
    pub(super) fn new(context: StreamContext) -> Self {
        Queue { context }
    }

    /// Starts a reduction whose result goes to device memory; returns before it has run.
    ///
    /// The value ([`value_bytes`](crate::kernel::value_bytes) of it) is the result as the contract has it, to the same bits as on the host:
    /// `f32` or `f64`, complex as a pair; min and max an element, minmax two; argmin, argmax, count and linf of integers a `u64`; any and
    /// all one byte. Of integers: sum 16 bytes, the exact sum as `i128` or `u128`; dot 24, its three limbs; prod the low 64 bits and,
    /// in 8 bytes more, 1 if those are not the product. Where NaNs are ignored and too little is left for a mean, a variance or a
    /// deviation, that is NaN; an extreme of nothing but ignored NaNs is unspecified.
    ///
    /// Of a [length on the device](Reduce::len_on_device) the length is read when the kernel runs, which in a graph is at each replay. Then a mean of nothing, and a
    /// variance or deviation of too few elements, is NaN, and an extreme of nothing is unspecified; an error tells of an array that has no room for one element.
    ///
    /// # Safety
    /// The array of `reduce`, its length on the device if there is one, and the memory at `value` (aligned to its type) must live, and be left alone, until the queue has come
    /// this far: [`Queue::synchronize`] says when.
    ///
    /// # Errors
    /// As [`Reduce::plan`]; [`Error::Empty`](crate::Error::Empty) and [`Error::TooFew`](crate::Error::TooFew) where the length alone
    /// tells; [`Error::Unsupported`](crate::Error::Unsupported) for `stats`, which is no single value.
    pub unsafe fn start<T: Element>(
        &mut self,
        reduce: &Reduce<'_, T>,
        op: Op,
        value: u64,
    ) -> Result<()> {
        // SAFETY: as the caller promises.
        unsafe { self.start_as(reduce, op, Finish::default(), value) }
    }

    /// As [`start`](Self::start), with the delta degrees of freedom of var and std, and the type of what is rounded: of elements of 16 bits
    /// their own, if it is asked for.
    ///
    /// # Safety
    /// As [`start`](Self::start).
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub unsafe fn start_as<T: Element>(
        &mut self,
        reduce: &Reduce<'_, T>,
        op: Op,
        finish: Finish,
        value: u64,
    ) -> Result<()> {
        // SAFETY: as the caller promises.
        unsafe { self.start_any(&reduce.untyped(), op, finish, value) }
    }

    /// The same of a reduction whose types are known at run time.
    ///
    /// # Safety
    /// As [`start`](Self::start).
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub unsafe fn start_any(
        &mut self,
        reduce: &AnyReduce<'_>,
        op: Op,
        finish: Finish,
        value: u64,
    ) -> Result<()> {
        let plan = reduce.plan(op)?;
        let (x, y) = reduce.inputs(op)?;
        self.context.after_all(x, y)?;
        let length = reduce.length();
        length.map_or(Ok(()), |length| self.context.after(length.ready))?;
        let addresses = [x.address, y.map_or(0, |y| y.address), value];
        // SAFETY: as the caller promises.
        unsafe { self.context.start(&plan, addresses, finish, length.map(|n| n.address)) }
    }

    /// Runs a reduction behind everything that the queue was given, and waits for its result alone, on the host: no other stream is told to
    /// wait, and short ones are seen to end without the driver.
    ///
    /// # Errors
    /// As [`Reduce::output`].
    pub fn output<T: Element>(
        &mut self,
        reduce: &Reduce<'_, T>,
        op: Op,
        finish: Finish,
    ) -> Result<Output> {
        let reduce = reduce.untyped();
        if let Some(length) = reduce.length() {
            // It is what the work before leaves there.
            self.context.after(length.ready)?;
            self.synchronize()?;
        }
        let reduce = reduce.resolved()?;
        let plan = reduce.plan(op)?;
        let (x, y) = reduce.inputs(op)?;
        self.context.after_all(x, y)?;
        // SAFETY: the views borrow arrays of so many elements in device memory, and the stream context waits for the kernel.
        unsafe { self.context.begin(&plan, x.address, y.map_or(0, |y| y.address))? };
        let record = self.context.wait(&plan)?;
        reduce.finished(&kernel::read(&plan, &record), op, finish)
    }

    /// Starts a reduction of any kind and leaves its result nowhere: to time its kernel, over all elements even where a length lies on the device.
    ///
    /// # Safety
    /// As [`start`](Self::start).
    ///
    /// # Errors
    /// As [`Reduce::plan`].
    pub unsafe fn start_for_time(&mut self, reduce: &AnyReduce<'_>, op: Op) -> Result<()> {
        let plan = reduce.plan(op)?;
        let (x, y) = reduce.inputs(op)?;
        self.context.after_all(x, y)?;
        // SAFETY: as the caller promises.
        unsafe { self.context.start_for_time(&plan, x.address, y.map_or(0, |y| y.address)) }
    }

    /// Starts a kernel that is not the library's, in `[blocks, threads, bytes of dynamic shared memory]`; returns before it has run.
    ///
    /// # Safety
    /// The kernel must take so many parameters of 64 bits each; whatever it reads and writes must live, and be left alone, until the queue has
    /// come this far.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device), as for a launch that the device cannot hold.
    pub unsafe fn start_raw(
        &mut self,
        kernel: &RawKernel,
        shape: [u32; 3],
        parameters: &[u64],
    ) -> Result<()> {
        let requested = || format!("launching {} in {} blocks", kernel.entry, shape[0]);
        // SAFETY: as the caller promises.
        unsafe {
            driver::launch(self.context.stream(), kernel.function, shape, parameters, requested)
        }
    }

    /// Starts launches for many reductions one after another; returns before they have run.
    ///
    /// # Safety
    /// They must be of [`ReduceBatched::launches`](crate::kernel::ReduceBatched::launches), and what their addresses point to must live, and be
    /// left alone, until the queue has come this far; their workspace must be used by this queue alone.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub unsafe fn start_batched(&mut self, launches: &[BatchedLaunch]) -> Result<()> {
        // SAFETY: as the caller promises.
        unsafe { self.context.start_batched(launches) }
    }

    /// Whether what is started is being recorded into a graph: it may run later than whatever comes next, and beside it.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn is_captured(&self) -> Result<bool> {
        driver::is_captured(self.context.stream())
    }

    /// Starts to fill memory with a byte; returns before it is done.
    ///
    /// # Safety
    /// So many bytes from the address on must be memory of the queue's GPU, and be left alone until the queue has come this far.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub unsafe fn fill(&mut self, address: u64, bytes: usize, byte: u8) -> Result<()> {
        // SAFETY: as the caller promises.
        unsafe { driver::fill(self.context.stream(), address, bytes, byte) }
    }

    /// Copies bytes of the host behind what the queue was given, and waits.
    ///
    /// # Safety
    /// As many bytes from the address on must be memory of the queue's GPU.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub unsafe fn write(&mut self, address: u64, bytes: &[u8]) -> Result<()> {
        // SAFETY: as the caller promises; the bytes are borrowed until they are there.
        unsafe { driver::write(self.context.stream(), address, bytes)? };
        self.synchronize()
    }

    /// Marks this point in the queue.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn mark(&self) -> Result<Mark> {
        Ok(Mark(driver::record(self.context.stream())?))
    }

    /// Waits until everything started has run.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device), also of reductions that were started.
    pub fn synchronize(&self) -> Result<()> {
        self.context.synchronize()
    }
}

/// A point in a queue, and when the device passed it.
pub struct Mark(CudaEvent);

impl Mark {
    /// Microseconds of device time since an earlier mark; waits until the device has passed this one.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn microseconds_since(&self, earlier: &Mark) -> Result<f64> {
        Ok(f64::from(driver::elapsed(&earlier.0, &self.0)?) * 1e3)
    }
}
