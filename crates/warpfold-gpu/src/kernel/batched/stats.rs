//! Stats of many inputs: in one pass where there is a kernel for it, else each of its columns by the kernels of that reduction, joined on the host.

use warpfold_kernels::arguments::LengthArguments;

use super::columns::renamed_to;
use super::request::{BatchedRequest, Undefined};
use super::{AnySegments, BatchedLaunch, Parts};
use crate::Columns;
use crate::kernel::array::elements;
use crate::partial::{Finish, refuse_rounding};
use crate::plan::CudaBatchPlan;
use crate::value::Column;
use crate::{Accuracy, Complex, Error, Nan, Op, Policy, Result, with_element};

impl BatchedRequest<'_> {
    /// The columns of stats, as the CPU names and orders them: exact at any accuracy, and NaN where there is no mean, variance or deviation.
    pub(super) fn stats(&self, finish: Finish) -> Result<Columns> {
        refuse_rounding(finish, self.x.dtype)?;
        if let Some(plan) = self.plan_of_stats()? {
            return self.stats_at_once(&plan, finish);
        }
        let exact = Policy { accuracy: Accuracy::Exact, ..self.policy };
        let of = |policy| BatchedRequest { policy, ..*self };
        // What fails fails before anything else is folded.
        let sums = of(exact).column(Op::Sum, finish)?;
        let (counts, nan_counts) = (self.lengths()?, self.nan_counts()?);
        let nan_counts = nan_counts.unwrap_or_else(|| vec![0; counts.len()]);
        let kept = self.kept(&counts, Some(&nan_counts));
        let mut sums = Some(sums);
        let mut columns =
            vec![("count", Column::of(counts)), ("nan_count", Column::of(nan_counts))];
        for op in Op::of_stats(self.x.dtype) {
            let least = op.too_few(finish.ddof).filter(|_| !op.is_ordered());
            let column = match (sums.take(), least) {
                (Some(sums), _) => sums,
                (None, None) => of(exact).column(op, finish)?,
                (None, Some(least)) => {
                    let requested = BatchedRequest { undefined: Undefined::IsKept, ..of(exact) };
                    let mut column = requested.column(op, finish)?;
                    for (at, _) in kept.iter().enumerate().filter(|(_, kept)| **kept <= least) {
                        forget(&mut column, at);
                    }
                    column
                }
            };
            columns.push((op.name(), column));
        }
        Ok(columns)
    }

    /// The plan of stats in one pass, if there are kernels for it: they read vectors of whole elements, and complex numbers may begin at any of their parts.
    pub(super) fn plan_of_stats(&self) -> Result<Option<CudaBatchPlan>> {
        if !self.start().is_multiple_of(self.x.dtype.size() as u64) {
            return Ok(None);
        }
        let requested = BatchedRequest { round_to: None, ..*self };
        match requested.plan(Op::Stats) {
            Ok(plan) => Ok(Some(plan)),
            Err(Error::Unsupported { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The columns of stats that one kernel leaves.
    fn stats_at_once(&self, plan: &CudaBatchPlan, finish: Finish) -> Result<Columns> {
        // Of stats, extremes alone may be without a value, and sums of integers too large.
        let found = self.run(plan, finish.ddof).map_err(|error| renamed_to(Op::Min, error))?;
        let mut bytes = vec![0; plan.result_bytes() as usize];
        if !bytes.is_empty() {
            found.read(&mut bytes)?;
        }
        let layout = plan.stats_columns();
        let column = |op: Option<Op>| {
            let column =
                layout.iter().find(|column| column.op == op).expect("every column is left");
            let from = &bytes[column.offset as usize..];
            let size = plan.outputs() as usize * column.dtype.size();
            with_element!(column.dtype, T => Ok(Column::of(elements::<T>(&from[..size])?)))
        };
        let counts = Column::of(self.lengths()?);
        let nan_counts = match self.x.dtype.is_float() {
            true => column(None)?,
            false => Column::of(vec![0u64; plan.outputs() as usize]),
        };
        let mut columns = vec![("count", counts), ("nan_count", nan_counts)];
        for op in Op::of_stats(self.x.dtype) {
            columns.push((op.name(), column(Some(op))?));
        }
        Ok(columns)
    }

    /// How many NaNs each input has; none of a type without.
    pub(super) fn nan_counts(&self) -> Result<Option<Vec<u64>>> {
        if !self.x.dtype.is_float() {
            return Ok(None);
        }
        // They count as nonzero, unless they are ignored.
        let count = |nan| {
            let policy = Policy { nan, accuracy: Accuracy::Exact, ..self.policy };
            BatchedRequest { policy, ..*self }.result_buffer(Op::Count, 0)?.elements::<u64>()
        };
        let (all, kept) = (count(Nan::Propagate)?, count(Nan::Ignore)?);
        Ok(Some(all.iter().zip(kept).map(|(all, kept)| all - kept).collect()))
    }

    /// How many elements of each input are reduced.
    pub(super) fn kept(&self, counts: &[u64], nan_counts: Option<&[u64]>) -> Vec<u64> {
        match nan_counts {
            Some(nans) if self.policy.nan == Nan::Ignore => {
                counts.iter().zip(nans).map(|(count, nans)| count - nans).collect()
            }
            _ => counts.to_vec(),
        }
    }

    /// How many elements each input has.
    pub(super) fn lengths(&self) -> Result<Vec<u64>> {
        let parts = match self.parts {
            Parts::Axes { form, .. } => return Ok(vec![form.inputs; form.outputs as usize]),
            Parts::Segments(parts) => parts,
        };
        let n = self.x.len as u64;
        let (segments, _, offsets) = parts.known(n)?;
        let (bytes, ready) = match parts {
            AnySegments::Every(length) => return Ok(vec![*length; segments as usize]),
            AnySegments::Offsets(view) => (view.dtype.size() as u64, view.ready),
        };
        let mut lengths = vec![0u64; segments as usize];
        if segments == 0 {
            return Ok(lengths);
        }
        const THREADS: u32 = 256;
        let out = self.machine.unwritten(8 * lengths.len())?;
        // Offsets were looked at by the sums; nothing new can be wrong with them.
        let faults = self.machine.copy_of(&[0xff; super::Faults::BYTES])?;
        let arguments = LengthArguments {
            offsets,
            bounds: bytes,
            segments,
            n,
            out: out.address(),
            faults: faults.address(),
        };
        let launch = BatchedLaunch {
            code: super::Code::Shipped("segment_lengths".into()),
            entry: "segment_lengths".into(),
            grid: segments.div_ceil(THREADS.into()).min(1 << 16) as u32,
            block: THREADS,
            shared_bytes: 0,
            words: arguments.words().into(),
        };
        self.machine.run_batched(&[launch], &[ready])?;
        out.read(bytemuck::cast_slice_mut(&mut lengths))?;
        Ok(lengths)
    }
}

/// Puts NaN where there is no result.
fn forget(column: &mut Column, at: usize) {
    match column {
        Column::F32(values) => values[at] = f32::NAN,
        Column::F64(values) => values[at] = f64::NAN,
        Column::Complex64(values) => values[at] = Complex::new(f32::NAN, f32::NAN),
        Column::Complex128(values) => values[at] = Complex::new(f64::NAN, f64::NAN),
        other => unreachable!("means and variances are floats, not {other:?}"),
    }
}
