//! [`BatchedRequest`]: many reductions as a machine runs them, whatever the type of the elements.

use super::faults::Faults;
use super::launch::Launches;
use super::{AnySegments, BatchedLaunch, Parts};
use crate::error::At;
use crate::kernel::executor::Memory;
use crate::kernel::{AnyBuffer, AnyView, Executor};
use crate::plan::{
    Batch, BoundsKind, CudaBatchPlan, CudaWay, Partition, Rounding, choose_cuda_batch,
    choose_cuda_parts, dense_rows,
};
use crate::{Column, DType, Error, Op, Overflow, Policy, Result};

/// What [`AnyReduceBatched`](super::AnyReduceBatched) was asked for.
#[derive(Clone, Copy)]
pub(super) struct BatchedRequest<'a> {
    pub(super) machine: &'a dyn Executor,
    pub(super) x: AnyView<'a>,
    pub(super) parts: &'a Parts<'a>,
    pub(super) policy: Policy,
    pub(super) grid: Option<u32>,
    /// The type of results of floats, if not their accumulator's.
    pub(super) round_to: Option<DType>,
    /// Where the plan's tables are, if not in the workspace.
    pub(super) tables: Option<u64>,
    pub(super) name: Option<&'a (dyn Fn(u64) -> At + Sync + 'a)>,
    pub(super) undefined: Undefined,
}

/// What becomes of outputs whose inputs are too few for a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Undefined {
    /// The first is an error.
    Fails,
    /// They keep what kernels wrote, for callers that know which they are.
    IsKept,
}

/// The most elements that can be reported instead of a result of 16 bits, where they are too few for one.
const COUNTED_IN_16: u64 = u16::MAX as u64;

impl BatchedRequest<'_> {
    /// How a reduction would run.
    pub(super) fn plan(&self, op: Op) -> Result<CudaBatchPlan> {
        let partition = match self.parts {
            Parts::Segments(parts) => {
                let elements = self.x.len as u64;
                let (segments, bounds, _) = parts.known(elements)?;
                Partition::Segments { elements, segments, bounds }
            }
            Parts::Axes { form, .. } => Partition::Axes(form.clone()),
        };
        let batch = Batch { op, dtype: self.x.dtype, partition, policy: self.policy };
        let facts = self.machine.facts();
        let plan = choose_cuda_batch(batch, facts)?;
        let is_whole = self.start().is_multiple_of(self.x.dtype.size() as u64);
        let plan = match plan.fold.is_alone_of_stats() && !is_whole {
            true => choose_cuda_parts(plan.batch, facts)?,
            false => plan,
        };
        let plan = if self.start().is_multiple_of(16) { plan } else { plan.unaligned() };
        let plan = match self.round_to {
            Some(to) => plan.rounded_to(to).ok_or(Error::Unsupported {
                option: "rounding to another type on CUDA",
                op,
                dtype: self.x.dtype,
                why: "kernels of many reductions round to the accumulator's type, and to elements of 16 bits; run it on the CPU",
            })?,
            None => plan,
        };
        Ok(match self.grid {
            Some(blocks) => plan.of_grid(blocks),
            None => plan,
        })
    }

    /// The address of the first element that loops reach.
    pub(super) fn start(&self) -> u64 {
        let first = match self.parts {
            Parts::Segments(_) => 0,
            Parts::Axes { form, .. } => form.start,
        };
        self.x.address + first * self.x.dtype.size() as u64
    }

    /// Launches of a plan between addresses in the machine's memory.
    pub(super) fn launches(
        &self,
        plan: &CudaBatchPlan,
        ddof: u64,
        [out, workspace, faults]: [u64; 3],
    ) -> Result<Vec<BatchedLaunch>> {
        let Batch { op, dtype, .. } = plan.batch;
        let unsupported =
            |why| Err(Error::Unsupported { option: "such a ddof on CUDA", op, dtype, why });
        let is_spread = op.is_spread();
        if is_spread && plan.rounding == Rounding::Element && ddof > COUNTED_IN_16 {
            return unsupported(
                "kernels that leave 16 bits take a ddof of 16 bits; run it on the CPU",
            );
        }
        let ddof = match (plan.fold.takes_ddof(), op) {
            (false, _) => ddof,
            (true, op) if op.is_of_squares() && !op.is_spread() => 0,
            // As good as any more, where there are not so many elements.
            (true, _) if u32::try_from(plan.batch.elements()).is_ok() => ddof.min(u32::MAX.into()),
            (true, _) if u32::try_from(ddof).is_ok() => ddof,
            _ => return unsupported("kernels take ddof in 32 bits; run it on the CPU"),
        };
        let multiprocessors = self.machine.facts().multiprocessors;
        let in_workspace = workspace + plan.workspace - 8 * plan.tables().len() as u64;
        let tables = self.tables.unwrap_or(in_workspace);
        let launches = Launches {
            plan,
            x: self.start(),
            out,
            workspace,
            tables,
            faults,
            multiprocessors,
            ddof,
        };
        let form = match (&plan.batch.partition, self.parts) {
            (Partition::Axes(form), _) => form,
            (_, Parts::Segments(parts)) => {
                let n = self.x.len as u64;
                let (segments, bounds, offsets) = parts.known(n)?;
                return Ok(launches.segments((n, segments, bounds, offsets)));
            }
            (other, Parts::Axes { .. }) => unreachable!("axes are not planned as {other}"),
        };
        Ok(match (&plan.way, dense_rows(form)) {
            (CudaWay::Columns(columns), _) => launches.columns(columns, form.folded[0]),
            (CudaWay::Strided(strided), _) => launches.strided(strided, form.inputs),
            (_, Some(length)) => {
                launches.segments((form.elements(), form.outputs, BoundsKind::Every(length), 0))
            }
            (_, None) => launches.by_blocks(),
        })
    }

    /// The results in the machine's memory.
    pub(super) fn result_buffer(&self, op: Op, ddof: u64) -> Result<AnyBuffer> {
        if op == Op::Stats {
            let why = "they are several columns; ask for `columns`";
            return Err(Error::Unsupported {
                option: "leaving one column of results on the device",
                op,
                dtype: self.x.dtype,
                why,
            });
        }
        let plan = self.plan(op)?;
        Ok(AnyBuffer::new(self.run(&plan, ddof)?, plan.output(), plan.outputs() as usize))
    }

    /// The results copied to the host.
    pub(super) fn host_column(&self, op: Op, ddof: u64) -> Result<Column> {
        self.result_buffer(op, ddof)?.column()
    }

    /// What the launches of a plan leave.
    pub(super) fn run(&self, plan: &CudaBatchPlan, ddof: u64) -> Result<Memory> {
        let (outputs, width) = (plan.outputs() as usize, plan.output().size());
        let out = self.machine.zeros(plan.result_bytes() as usize)?;
        if outputs == 0 {
            return Ok(out);
        }
        let offsets = match self.parts {
            Parts::Segments(AnySegments::Offsets(offsets)) => Some(*offsets),
            _ => None,
        };
        let read: Vec<_> = [Some(self.x), offsets].into_iter().flatten().collect();
        read.iter().try_for_each(|array| array.check(self.machine))?;
        let mut workspace = self.machine.zeros(plan.workspace as usize)?;
        let tables: Vec<u8> = plan.tables().into_iter().flat_map(u64::to_le_bytes).collect();
        if !tables.is_empty() {
            workspace.write(plan.workspace as usize - tables.len(), &tables)?;
        }
        let faults = self.machine.copy_of(&[0xff; Faults::BYTES])?;
        let addresses = [out.address(), workspace.address(), faults.address()];
        let launches = self.launches(plan, ddof, addresses)?;
        let after: Vec<_> = read.iter().map(|array| array.ready).collect();
        self.machine.run_batched(&launches, &after)?;
        let mut bytes = [0; Faults::BYTES];
        faults.read(&mut bytes)?;
        let wraps = self.policy.overflow == Overflow::Wrap;
        let counted = |output: u64| {
            // Where too few elements leave no result, their number stands instead.
            let mut found = vec![0; outputs * width];
            out.read(&mut found)?;
            let bytes = &found[output as usize * width..][..width];
            Ok(bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)))
        };
        let faults = match self.undefined {
            Undefined::Fails => Faults::read(&bytes),
            Undefined::IsKept => Faults::read(&bytes).of_defined(),
        };
        faults.check(plan, ddof, wraps, |output| self.at(output), counted)?;
        Ok(out)
    }

    /// An output by its index among segments, or by its indices.
    fn at(&self, mut output: u64) -> At {
        let Parts::Axes { shape, .. } = self.parts else {
            return self.name.map_or(At::Segment(output), |name| name(output));
        };
        let mut indices: Vec<u64> = Vec::with_capacity(shape.len());
        for &length in shape.iter().rev() {
            indices.push(output % length.max(1));
            output /= length.max(1);
        }
        indices.reverse();
        At::Indices(indices)
    }
}
