//! Many reductions at once, with the types of their arrays and results.

use std::marker::PhantomData;

use super::buffer::{Buffer, View};
use super::machine::Machine;
use super::or_none::OrNone;
use crate::element::Element;
use crate::kernel::{AnyReduceBatched, AnySegments, BatchedLaunch};
use crate::partial::Finish;
use crate::plan::CudaBatchPlan;
use crate::shape::Layout;
use crate::{Columns, DType, Op, Result};

/// How an array in a machine's memory is cut into segments.
pub enum DeviceSegments<'a, M: Machine> {
    /// Segments of one length, one after another; they are the whole array.
    Every(u64),
    /// One more offset than segments, in 32 bits. Whether they are offsets is checked by the kernel.
    Offsets32(View<'a, M, u32>),
    /// One more offset than segments, in 64 bits. Whether they are offsets is checked by the kernel.
    Offsets64(View<'a, M, u64>),
}

impl<'a, M: Machine> From<&'a Buffer<M, u32>> for DeviceSegments<'a, M> {
    fn from(offsets: &'a Buffer<M, u32>) -> Self {
        DeviceSegments::Offsets32(offsets.view())
    }
}

impl<'a, M: Machine> From<&'a Buffer<M, u64>> for DeviceSegments<'a, M> {
    fn from(offsets: &'a Buffer<M, u64>) -> Self {
        DeviceSegments::Offsets64(offsets.view())
    }
}

impl<'a, M: Machine> DeviceSegments<'a, M> {
    /// The same with the type of offsets inside.
    fn untyped(&self) -> AnySegments<'a> {
        match self {
            DeviceSegments::Every(length) => AnySegments::Every(*length),
            DeviceSegments::Offsets32(view) => AnySegments::Offsets(view.untyped()),
            DeviceSegments::Offsets64(view) => AnySegments::Offsets(view.untyped()),
        }
    }
}

/// Many reductions of one array on a machine being set up: choose, then call the reduction.
#[must_use = "call a reduction, such as .sum()"]
pub struct ReduceBatched<'a, M: Machine, T> {
    batched: AnyReduceBatched<'a>,
    of: PhantomData<(&'a M, T)>,
}

impl<'a, M: Machine, T: Element> ReduceBatched<'a, M, T> {
    /// Of an array of the type.
    pub(super) fn new(batched: AnyReduceBatched<'a>) -> Self {
        ReduceBatched { batched, of: PhantomData }
    }

    pub(super) fn segments(
        machine: &'a M,
        x: View<'a, M, T>,
        segments: DeviceSegments<'a, M>,
    ) -> Self {
        ReduceBatched::new(AnyReduceBatched::segments(machine, x.untyped(), segments.untyped()))
    }

    pub(super) fn axes(
        machine: &'a M,
        x: View<'a, M, T>,
        layout: &Layout,
        axes: &[i64],
    ) -> Result<Self> {
        Ok(ReduceBatched::new(AnyReduceBatched::axes(machine, x.untyped(), layout, axes)?))
    }

    /// The same with its type inside.
    pub fn untyped(self) -> AnyReduceBatched<'a> {
        self.batched
    }

    super::policy_methods!(batched);

    /// At most so many threads; the default takes what the machine offers.
    pub fn threads(mut self, threads: usize) -> Self {
        self.batched.policy_mut().threads = Some(threads);
        self
    }

    /// The delta degrees of freedom of var and std that stay on the device.
    pub fn ddof(mut self, ddof: u64) -> Self {
        self.batched = self.batched.ddof(ddof);
        self
    }

    /// The type of results of floats that stay on the device: their accumulator's, which they have anyway, or that of elements of 16 bits.
    pub fn round_to(mut self, dtype: DType) -> Self {
        self.batched = self.batched.round_to(dtype);
        self
    }

    /// The address of the plan's [`tables`](CudaBatchPlan::tables), for [`launches`](Self::launches) of which many share them: nothing is written there.
    pub fn tables_at(mut self, address: u64) -> Self {
        self.batched = self.batched.tables_at(address);
        self
    }

    /// So many blocks, and not as many as the plan would take: for measuring. The last bits of fast sums depend on it.
    pub fn grid(mut self, blocks: u32) -> Self {
        self.batched = self.batched.grid(blocks);
        self
    }

    /// How a reduction would run.
    ///
    /// # Errors
    /// As [`choose_cuda_batch`](crate::plan::choose_cuda_batch); [`Error::Segments`](crate::Error::Segments) if these are no segments of the array.
    pub fn plan(&self, op: Op) -> Result<CudaBatchPlan> {
        self.batched.plan(op)
    }

    /// Launches that do `op`, results going to `out`, of the plan's [`result_bytes`](CudaBatchPlan::result_bytes). Everything is an address in the machine's memory; `faults` is of
    /// [`FAULT_BYTES`](Self::FAULT_BYTES), all ones, `workspace` of the plan's bytes, zero before its first use but for its last words, which are the
    /// plan's [`tables`](CudaBatchPlan::tables) unless these are [elsewhere](Self::tables_at).
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    pub fn launches(
        &self,
        op: Op,
        out: u64,
        workspace: u64,
        faults: u64,
    ) -> Result<Vec<BatchedLaunch>> {
        self.batched.launches(op, out, workspace, faults)
    }

    /// Bytes of the words in which a launch says what was wrong.
    pub const FAULT_BYTES: usize = AnyReduceBatched::FAULT_BYTES;

    /// The results of any reduction, by name, in the outputs' order, copied to the host; what integers that overflow do is the policy's to say. Of
    /// stats, which are one pass or several ([`plans`](Self::plans)), a mean, variance or deviation that does not exist is NaN.
    ///
    /// ```
    /// # #[cfg(feature = "simt")] {
    /// use warpfold::{Column, Op, kernel::DeviceSegments, partial::Finish, simt::Device};
    /// let device = Device::new();
    /// let x = device.upload(&[1u8, 2, 3])?;
    /// let sums = device.reduce_segments(&x, DeviceSegments::Every(1)).columns(Op::Sum, Finish::default())?;
    /// assert_eq!(sums, [("sum", Column::U64(vec![1, 2, 3]))]);
    /// # }
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`on_device`](Self::on_device); [`Error::Unsupported`](crate::Error::Unsupported) for a rounding that kernels do not do.
    pub fn columns(&self, op: Op, finish: Finish) -> Result<Columns> {
        self.batched.columns(op, finish)
    }

    /// [`columns`](Self::columns), and of each the outputs that have no value, ascending, which are no error: what the column holds there means nothing.
    ///
    /// # Errors
    /// As [`columns`](Self::columns), but for outputs without a value.
    pub fn columns_and_gaps(&self, op: Op, finish: Finish) -> Result<(Columns, Vec<Vec<u64>>)> {
        self.batched.columns_and_gaps(op, finish)
    }

    /// Every output is an [`Option`], `None` where it has no value, such as the minimum of an empty segment.
    ///
    /// ```
    /// # #[cfg(feature = "simt")] {
    /// use warpfold::simt::Device;
    /// let device = Device::new();
    /// let (x, offsets) = (device.upload(&[5u8, 7, 6])?, device.upload(&[0u32, 2, 2, 3])?);
    /// let segments = device.reduce_segments(&x, &offsets);
    /// assert!(segments.max().is_err());
    /// assert_eq!(segments.or_none().max()?, [Some(7), None, Some(6)]);
    /// # }
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn or_none(self) -> OrNone<'a, M, T> {
        OrNone(self)
    }

    /// The plans of what [`columns`](Self::columns) folds: one, but for minmax, and for stats that are not folded in one pass.
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    pub fn plans(&self, op: Op) -> Result<Vec<CudaBatchPlan>> {
        self.batched.plans(op)
    }

    /// The results of `op`, kept in the machine's memory; `R` is the type of the plan's [`output`](CudaBatchPlan::output).
    ///
    /// # Errors
    /// As [`plan`](Self::plan); [`Error::Output`](crate::Error::Output) with the first segment that has no result,
    /// [`Error::Segments`](crate::Error::Segments) for offsets that are none, [`Error::Device`](crate::Error::Device).
    ///
    /// # Panics
    /// If `R` is another type.
    pub fn on_device<R: Element>(&self, op: Op) -> Result<Buffer<M, R>> {
        Ok(Buffer::new(self.batched.on_device(op)?))
    }

    fn result_vec<R: Element>(&self, op: Op, ddof: u64) -> Result<Vec<R>> {
        Buffer::<M, R>::new(self.batched.result_buffer(op, ddof)?).download()
    }

    fn values<R: Element>(&self, op: Op) -> Result<Vec<R>> {
        self.on_device(op)?.download()
    }

    /// The sums: of integers checked.
    ///
    /// # Errors
    /// As [`on_device`](Self::on_device).
    pub fn sum(&self) -> Result<Vec<T::Sum>>
    where
        T::Sum: Element,
    {
        self.values(Op::Sum)
    }

    /// The arithmetic means.
    ///
    /// # Errors
    /// As [`on_device`](Self::on_device).
    pub fn mean(&self) -> Result<Vec<T::With<T::Round>>>
    where
        T::With<T::Round>: Element,
    {
        self.values(Op::Mean)
    }

    /// The smallest elements.
    ///
    /// # Errors
    /// As [`on_device`](Self::on_device).
    pub fn min(&self) -> Result<Vec<T>> {
        self.values(Op::Min)
    }

    /// The largest elements.
    ///
    /// # Errors
    /// As [`on_device`](Self::on_device).
    pub fn max(&self) -> Result<Vec<T>> {
        self.values(Op::Max)
    }

    /// Where the smallest elements are, counted from their segments' starts.
    ///
    /// # Errors
    /// As [`on_device`](Self::on_device).
    pub fn argmin(&self) -> Result<Vec<u64>> {
        self.values(Op::ArgMin)
    }

    /// Where the largest elements are, counted from their segments' starts.
    ///
    /// # Errors
    /// As [`on_device`](Self::on_device).
    pub fn argmax(&self) -> Result<Vec<u64>> {
        self.values(Op::ArgMax)
    }

    /// How many elements are nonzero.
    ///
    /// # Errors
    /// As [`on_device`](Self::on_device).
    pub fn count(&self) -> Result<Vec<u64>> {
        self.values(Op::Count)
    }

    /// The sums of magnitudes.
    ///
    /// # Errors
    /// As [`on_device`](Self::on_device).
    pub fn l1(&self) -> Result<Vec<T::Round>> {
        self.values(Op::L1)
    }

    /// The Euclidean norms.
    ///
    /// # Errors
    /// As [`on_device`](Self::on_device).
    pub fn l2(&self) -> Result<Vec<T::Round>> {
        self.values(Op::L2)
    }

    /// The sums of squared magnitudes: of floats rounded once, of integers checked.
    ///
    /// # Errors
    /// As [`on_device`](Self::on_device).
    pub fn sumsq(&self) -> Result<Vec<T::Squares>>
    where
        T::Squares: Element,
    {
        self.values(Op::Sumsq)
    }

    /// The largest magnitudes: of integers as `u64`.
    ///
    /// # Errors
    /// As [`on_device`](Self::on_device).
    pub fn linf(&self) -> Result<Vec<T::Linf>>
    where
        T::Linf: Element,
    {
        self.values(Op::Linf)
    }

    /// Whether there is a nonzero element.
    ///
    /// # Errors
    /// As [`on_device`](Self::on_device).
    pub fn any(&self) -> Result<Vec<bool>> {
        self.values(Op::Any)
    }

    /// Whether there is no zero.
    ///
    /// # Errors
    /// As [`on_device`](Self::on_device).
    pub fn all(&self) -> Result<Vec<bool>> {
        self.values(Op::All)
    }

    /// The variances over `n - ddof`, rounded once.
    ///
    /// # Errors
    /// As [`on_device`](Self::on_device).
    pub fn var(&self, ddof: u64) -> Result<Vec<T::Round>> {
        self.result_vec(Op::Var, ddof)
    }

    /// The standard deviations over `n - ddof`, rounded once.
    ///
    /// # Errors
    /// As [`on_device`](Self::on_device).
    pub fn std(&self, ddof: u64) -> Result<Vec<T::Round>> {
        self.result_vec(Op::Std, ddof)
    }

    /// The products: of integers checked.
    ///
    /// # Errors
    /// As [`on_device`](Self::on_device).
    pub fn prod(&self) -> Result<Vec<T::Sum>>
    where
        T::Sum: Element,
    {
        self.values(Op::Prod)
    }
}
