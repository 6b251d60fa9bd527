//! Many reductions at once on a [`Machine`]: of the segments or the axes of an array in its memory.

mod asked;
mod columns;
mod faults;
mod launch;
mod stats;

use std::marker::PhantomData;

use asked::{Asked, Undefined};
use faults::Faults;
pub use launch::ManyLaunch;

use super::buffer::{Buffer, View};
use super::machine::Machine;
use crate::element::Element;
use crate::error::At;
use crate::plan::{BoundsKind, CudaBatchPlan};
use crate::policy_methods;
use crate::shape::{Folding, Form, Layout};
use crate::{Error, Op, Policy, Result};

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

impl<M: Machine> DeviceSegments<'_, M> {
    /// How many segments there are, how they are known, and at which address.
    fn known(&self, n: u64) -> Result<(u64, BoundsKind, u64)> {
        let asked = || format!("segments of {n} elements on a device");
        let count = |offsets: usize| match offsets {
            0 => Err(Error::Segments {
                asked: asked(),
                obstacle: "there are no offsets".into(),
                remedy: "give one offset more than segments: [0] for none",
            }),
            more => Ok(more as u64 - 1),
        };
        Ok(match self {
            DeviceSegments::Every(length) => {
                let fits = n == 0 || n.checked_rem(*length) == Some(0);
                if !fits {
                    return Err(Error::Segments {
                        asked: asked(),
                        obstacle: format!("their length {length} does not divide it"),
                        remedy: "take a length that divides the array, or give offsets",
                    });
                }
                (n.checked_div(*length).unwrap_or(0), BoundsKind::Every(*length), 0)
            }
            DeviceSegments::Offsets32(view) => {
                (count(view.len)?, BoundsKind::Offsets32, view.address)
            }
            DeviceSegments::Offsets64(view) => {
                (count(view.len)?, BoundsKind::Offsets64, view.address)
            }
        })
    }
}

/// How an array is parted into the inputs of many reductions.
enum Parts<'a, M: Machine> {
    Segments(DeviceSegments<'a, M>),
    Axes { form: Form, shape: Vec<u64> },
}

/// Many reductions of one array on a machine being set up: choose, then call the reduction.
#[must_use = "call a reduction, such as .sum()"]
pub struct ReduceMany<'a, M: Machine, T> {
    machine: &'a M,
    x: View<'a, M, T>,
    parts: Parts<'a, M>,
    policy: Policy,
    grid: Option<u32>,
    ddof: u64,
    /// What segments are called, if not by their numbers.
    name: Option<Name<'a>>,
    element: PhantomData<T>,
}

/// What a segment is called.
type Name<'a> = Box<dyn Fn(u64) -> At + 'a>;

impl<'a, M: Machine, T: Element> ReduceMany<'a, M, T> {
    fn new(machine: &'a M, x: View<'a, M, T>, parts: Parts<'a, M>) -> Self {
        let policy = Policy::default();
        let (grid, name) = (None, None);
        ReduceMany { machine, x, parts, policy, grid, ddof: 0, name, element: PhantomData }
    }

    pub(crate) fn segments(
        machine: &'a M,
        x: View<'a, M, T>,
        segments: DeviceSegments<'a, M>,
    ) -> Self {
        ReduceMany::new(machine, x, Parts::Segments(segments))
    }

    /// Segments that errors call by other names.
    pub(crate) fn named(mut self, name: impl Fn(u64) -> At + 'a) -> Self {
        self.name = Some(Box::new(name));
        self
    }

    /// Of some axes of an array whose elements lie in `x` as the layout says.
    pub(crate) fn axes(
        machine: &'a M,
        x: View<'a, M, T>,
        layout: &Layout,
        axes: &[i64],
    ) -> Result<Self> {
        let extent = layout.extent()?;
        if extent.end > x.len as u64 {
            return Err(Error::Shape {
                asked: format!(
                    "an array of shape {:?} in {} elements of a device",
                    layout.shape(),
                    x.len
                ),
                obstacle: format!("its last element would be number {}", extent.end - 1),
                remedy: "check the shape and the strides",
            });
        }
        let folding = Folding::of(layout.clone(), axes)?;
        let (form, shape) = (folding.form()?, folding.shape());
        Ok(ReduceMany::new(machine, x, Parts::Axes { form, shape }))
    }

    policy_methods!("NaN propagates (the default) or is ignored.");

    /// The delta degrees of freedom of var and std that stay on the device.
    pub fn ddof(mut self, ddof: u64) -> Self {
        self.ddof = ddof;
        self
    }

    /// So many blocks, and not as many as the plan would take: for measuring. The last bits of fast sums depend on it.
    pub fn grid(mut self, blocks: u32) -> Self {
        self.grid = Some(blocks);
        self
    }

    /// How a reduction would run.
    ///
    /// # Errors
    /// As [`choose_cuda_batch`](crate::plan::choose_cuda_batch); [`Error::Segments`] if these are no segments of the array.
    pub fn plan(&self, op: Op) -> Result<CudaBatchPlan> {
        self.asked().plan(op)
    }

    /// What is asked, whatever the type of the elements.
    fn asked(&self) -> Asked<'_, M> {
        let ReduceMany { machine, x, parts, policy, grid, name, .. } = self;
        let name = name.as_deref();
        Asked {
            machine,
            x: x.untyped(),
            parts,
            policy: *policy,
            grid: *grid,
            name,
            undefined: Undefined::Fails,
        }
    }

    /// Launches that do `op`, results going to `out`. Everything is an address in the machine's memory; `faults` is of
    /// [`FAULT_BYTES`](Self::FAULT_BYTES), all ones, `workspace` of the plan's bytes, zero before its first use but for its last words, which are the
    /// plan's [`tables`](CudaBatchPlan::tables).
    ///
    /// # Errors
    /// As [`plan`](Self::plan).
    pub fn launches(
        &self,
        op: Op,
        out: u64,
        workspace: u64,
        faults: u64,
    ) -> Result<Vec<ManyLaunch>> {
        let asked = self.asked();
        asked.launches(&asked.plan(op)?, self.ddof, [out, workspace, faults])
    }

    /// Bytes of the words in which a launch says what was wrong.
    pub const FAULT_BYTES: usize = Faults::BYTES;

    /// The results of `op`, left in the machine's memory; `R` is the type of the plan's [`output`](CudaBatchPlan::output).
    ///
    /// # Errors
    /// As [`plan`](Self::plan); [`Error::Output`] with the first segment that has no result, [`Error::Segments`] for offsets that are none,
    /// [`Error::Device`].
    ///
    /// # Panics
    /// If `R` is another type.
    pub fn on_device<R: Element>(&self, op: Op) -> Result<Buffer<M, R>> {
        self.left(op, self.ddof)
    }

    fn left<R: Element>(&self, op: Op, ddof: u64) -> Result<Buffer<M, R>> {
        self.asked().left(op, ddof)
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
        self.left(Op::Var, ddof)?.download()
    }

    /// The standard deviations over `n - ddof`, rounded once.
    ///
    /// # Errors
    /// As [`on_device`](Self::on_device).
    pub fn std(&self, ddof: u64) -> Result<Vec<T::Round>> {
        self.left(Op::Std, ddof)?.download()
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
