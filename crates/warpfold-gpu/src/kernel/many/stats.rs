//! Stats of many inputs: each of its columns by the kernels of that reduction, joined on the host.

use super::asked::{Asked, Undefined};
use super::{AnySegments, ManyLaunch, Parts};
use crate::Columns;
use crate::partial::{Finish, refuse_rounding};
use crate::value::Column;
use crate::{Accuracy, Complex, DType, Nan, Op, Policy, Result};

/// What stats consists of beside counts, for a type.
pub(super) fn of_stats(dtype: DType) -> impl Iterator<Item = Op> {
    let ordered = |op| matches!(op, Op::Min | Op::Max | Op::ArgMin | Op::ArgMax);
    let all = [Op::Sum, Op::Mean, Op::Var, Op::Std, Op::Min, Op::Max, Op::ArgMin, Op::ArgMax];
    let all = all.into_iter().chain([Op::L1, Op::L2]);
    all.filter(move |&op| !(dtype.is_complex() && ordered(op)))
}

impl Asked<'_> {
    /// The columns of stats, as the CPU names and orders them: exact at any accuracy, and NaN where there is no mean, variance or deviation.
    pub(super) fn stats(&self, finish: Finish) -> Result<Columns> {
        refuse_rounding(finish, self.x.dtype)?;
        let exact = Policy { accuracy: Accuracy::Exact, ..self.policy };
        let of = |policy| Asked { policy, ..*self };
        // What fails fails before anything else is folded.
        let sums = of(exact).column(Op::Sum, finish)?;
        let counts = self.lengths()?;
        let nan_counts = match self.x.dtype.is_float() {
            true => {
                let count = |nan| of(Policy { nan, ..exact }).left(Op::Count, 0);
                let all = count(Nan::Propagate)?.elements::<u64>()?;
                let kept = count(Nan::Ignore)?.elements::<u64>()?;
                all.iter().zip(kept).map(|(all, kept)| all - kept).collect()
            }
            false => vec![0; counts.len()],
        };
        let skips = self.policy.nan == Nan::Ignore;
        let kept: Vec<u64> = counts
            .iter()
            .zip(&nan_counts)
            .map(|(&count, &nans)| if skips { count - nans } else { count })
            .collect();
        let mut sums = Some(sums);
        let mut columns =
            vec![("count", Column::of(counts)), ("nan_count", Column::of(nan_counts))];
        for op in of_stats(self.x.dtype) {
            let least = match op {
                Op::Mean => Some(0),
                Op::Var | Op::Std => Some(finish.ddof),
                _ => None,
            };
            let column = match (sums.take(), least) {
                (Some(sums), _) => sums,
                (None, None) => of(exact).column(op, finish)?,
                (None, Some(least)) => {
                    let asked = Asked { undefined: Undefined::IsLeft, ..of(exact) };
                    let mut column = asked.column(op, finish)?;
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

    /// How many elements each input has.
    fn lengths(&self) -> Result<Vec<u64>> {
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
        let launch = ManyLaunch {
            code: super::Code::Shipped("segment_lengths".into()),
            entry: "segment_lengths".into(),
            grid: segments.div_ceil(THREADS.into()).min(1 << 16) as u32,
            block: THREADS,
            shared_bytes: 0,
            words: vec![offsets, bytes, segments, n, out.address(), faults.address()],
        };
        self.machine.run_many(&[launch], &[ready])?;
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
