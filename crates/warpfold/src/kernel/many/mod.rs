//! Many reductions at once on a [`Machine`]: of the segments of an array in its memory.

mod faults;
mod launch;

use std::marker::PhantomData;

pub use launch::ManyLaunch;

use super::buffer::{Buffer, View};
use super::machine::{Machine, Memory};
use crate::element::Element;
use crate::plan::{Batch, BoundsKind, CudaBatchPlan, Partition, choose_cuda_batch};
use crate::policy::policy_methods;
use crate::{Error, Op, Overflow, Policy, Result};
use faults::Faults;

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

/// Reductions of segments on a machine being set up: choose, then call the reduction. Floats are folded fast or refused.
#[must_use = "call a reduction, such as .sum()"]
pub struct ReduceSegments<'a, M: Machine, T> {
    machine: &'a M,
    x: View<'a, M, T>,
    segments: DeviceSegments<'a, M>,
    policy: Policy,
    grid: Option<u32>,
    element: PhantomData<T>,
}

impl<'a, M: Machine, T: Element> ReduceSegments<'a, M, T> {
    pub(crate) fn new(machine: &'a M, x: View<'a, M, T>, segments: DeviceSegments<'a, M>) -> Self {
        ReduceSegments {
            machine,
            x,
            segments,
            policy: Policy::default(),
            grid: None,
            element: PhantomData,
        }
    }

    policy_methods!("NaN propagates (the default) or is ignored.");

    /// So many blocks, and not as many as the plan would take: for measuring. The last bits of fast sums depend on it.
    pub fn grid(mut self, blocks: u32) -> Self {
        self.grid = Some(blocks);
        self
    }

    /// How a reduction would run.
    ///
    /// # Errors
    /// As [`choose_cuda_batch`]; [`Error::Segments`] if these are no segments of the array.
    pub fn plan(&self, op: Op) -> Result<CudaBatchPlan> {
        let elements = self.x.len as u64;
        let (segments, bounds, _) = self.segments.known(elements)?;
        let partition = Partition::Segments { elements, segments, bounds };
        let batch = Batch { op, dtype: T::DTYPE, partition, policy: self.policy };
        let plan = choose_cuda_batch(batch, self.machine.facts())?;
        Ok(self.grid.map_or(plan.clone(), |blocks| plan.of_grid(blocks)))
    }

    /// Launches that do `op`, results going to `out`. Everything is an address in the machine's memory; `faults` is of
    /// [`FAULT_BYTES`](Self::FAULT_BYTES), all ones, `workspace` of the plan's bytes, zero before its first use.
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
        let plan = self.plan(op)?;
        let (segments, bounds, offsets) = self.segments.known(self.x.len as u64)?;
        let (bytes, length) = match bounds {
            BoundsKind::Every(length) => (0, length),
            BoundsKind::Offsets32 => (4, 0),
            BoundsKind::Offsets64 => (8, 0),
        };
        let options = plan.options();
        let x = self.x.address;
        let words = vec![
            x,
            self.x.len as u64,
            offsets,
            bytes,
            length,
            segments,
            out,
            workspace,
            faults,
            options,
        ];
        // What is done again is found by all multiprocessors; a few blocks each hide that they wait for memory.
        let grid = self.machine.facts().multiprocessors.saturating_mul(2).min(plan.grid);
        let redo = plan.redo().map(|(entry, block)| ManyLaunch {
            entry,
            grid,
            block,
            words: words.clone(),
        });
        let launch = ManyLaunch { entry: plan.entry(), grid: plan.grid, block: plan.block, words };
        Ok(std::iter::once(launch).chain(redo).collect())
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
        let plan = self.plan(op)?;
        assert_eq!(plan.output(), R::DTYPE, "{op} of {}", T::DTYPE);
        let outputs = plan.batch.outputs() as usize;
        let out = Buffer::new(self.machine.zeros(outputs * size_of::<R>())?, outputs);
        if outputs == 0 {
            return Ok(out);
        }
        let workspace = self.machine.zeros(plan.workspace as usize)?;
        let faults = self.machine.copy_of(&[0xff; Faults::BYTES])?;
        let launches = self.launches(op, out.address(), workspace.address(), faults.address())?;
        self.machine.run_many(&launches)?;
        let mut bytes = [0; Faults::BYTES];
        faults.read(&mut bytes)?;
        let wraps = self.policy.overflow == Overflow::Wrap;
        Faults::read(&bytes).check(&plan, wraps)?;
        Ok(out)
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
    pub fn mean(&self) -> Result<Vec<T::Round>> {
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
