//! [`Queue`]: reductions one after another on a stream, results left on the device, the host free meanwhile.

use super::Reduce;
use super::driver::{self, CudaEvent};
use super::lane::Lane;
use super::raw_kernel::RawKernel;
use crate::element::Element;
use crate::kernel::ManyLaunch;
use crate::plan::{CudaPlan, Fold};
use crate::{Op, Result};

/// A stream of reductions. Nothing is allocated and nothing waits when one is started (but for the first of a kernel, which
/// loads it), so that a stream being captured into a graph captures them.
pub struct Queue {
    lane: Lane,
}

impl Queue {
    pub(super) fn new(lane: Lane) -> Self {
        Queue { lane }
    }

    /// Starts a reduction whose result goes to device memory; returns before it has run.
    ///
    /// The value is: for sums of integers 16 bytes, the exact sum as `i128` or `u128`; for dot of integers 24, its three limbs; for fast
    /// sums and dots of floats the result's type (`f32` or `f64`, complex as a pair); for min and max an element, for minmax
    /// two; for argmin, argmax and count a `u64`. Nothing on the device is an error: the extreme of an empty array is
    /// unspecified, so ask for none.
    ///
    /// # Safety
    /// The array of `reduce` and the memory at `value` (aligned to its type) must live, and be left alone, until the queue has come
    /// this far: [`Queue::synchronize`] says when.
    ///
    /// # Errors
    /// As [`Reduce::plan`]; [`Error::Unsupported`](crate::Error::Unsupported) where the result is finished on the host only.
    pub unsafe fn start<T: Element>(
        &mut self,
        reduce: &Reduce<'_, T>,
        op: Op,
        value: u64,
    ) -> Result<()> {
        let plan = reduce.plan(op)?;
        let on_device = matches!(
            plan.fold,
            Fold::Sum
                | Fold::Dot
                | Fold::Count
                | Fold::Min
                | Fold::Max
                | Fold::MinMax
                | Fold::ArgMin
                | Fold::ArgMax
                | Fold::ExactSum
                | Fold::ExactL1
                | Fold::ExactDot
        );
        if !on_device || matches!(op, Op::Mean | Op::Any | Op::All) {
            return Err(crate::Error::Unsupported {
                option: "leaving the result on the device",
                op,
                dtype: T::DTYPE,
                why: "its last step runs on the host; take its result there",
            });
        }
        // SAFETY: as the caller promises.
        unsafe { self.enqueue(reduce, &plan, value) }
    }

    /// Starts a reduction of any kind and leaves its result nowhere: to time its kernel.
    ///
    /// # Safety
    /// As [`start`](Self::start).
    ///
    /// # Errors
    /// As [`Reduce::plan`].
    pub unsafe fn start_for_time<T: Element>(
        &mut self,
        reduce: &Reduce<'_, T>,
        op: Op,
    ) -> Result<()> {
        let plan = reduce.plan(op)?;
        // SAFETY: as the caller promises.
        unsafe { self.enqueue(reduce, &plan, 0) }
    }

    /// # Safety
    /// As [`start`](Self::start).
    unsafe fn enqueue<T: Element>(
        &mut self,
        reduce: &Reduce<'_, T>,
        plan: &CudaPlan,
        value: u64,
    ) -> Result<()> {
        let (x, y) = reduce.inputs();
        self.lane.after_all(x, y)?;
        // SAFETY: as the caller promises.
        unsafe { self.lane.start(plan, x.address, y.map_or(0, |y| y.address), value) }
    }

    /// Starts a kernel that is not the library's, in `[blocks, threads, bytes of dynamic shared memory]`; returns before it has run.
    ///
    /// # Safety
    /// The kernel must take `N` parameters of 64 bits; whatever it reads and writes must live, and be left alone, until the queue has
    /// come this far.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device), as for a launch that the device cannot hold.
    pub unsafe fn start_raw<const N: usize>(
        &mut self,
        kernel: &RawKernel,
        shape: [u32; 3],
        parameters: [u64; N],
    ) -> Result<()> {
        let asked = || format!("launching {} in {} blocks", kernel.entry, shape[0]);
        // SAFETY: as the caller promises.
        unsafe {
            driver::launch_words(self.lane.stream(), kernel.function, shape, &parameters, asked)
        }
    }

    /// Starts launches for many reductions one after another; returns before they have run.
    ///
    /// # Safety
    /// They must be of [`ReduceMany::launches`](crate::kernel::ReduceMany::launches), and what their addresses point to must live, and be
    /// left alone, until the queue has come this far; their workspace must be used by this queue alone.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub unsafe fn start_many(&mut self, launches: &[ManyLaunch]) -> Result<()> {
        // SAFETY: as the caller promises.
        unsafe { self.lane.start_many(launches) }
    }

    /// Marks this place in the queue.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn mark(&self) -> Result<Mark> {
        Ok(Mark(driver::record(self.lane.stream())?))
    }

    /// Waits until everything started has run.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device), also of reductions that were started.
    pub fn synchronize(&self) -> Result<()> {
        self.lane.synchronize()
    }
}

/// A place in a queue, and when the device passed it.
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
