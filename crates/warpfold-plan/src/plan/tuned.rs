//! [`Tuning`]: shapes measured on the very GPU, as `warpfold tune` leaves them. Plain data; whoever plans reads the file.

use super::cuda::{CudaFacts, CudaPlan, DeviceFold, Shape, fold_of, shaped};
use super::{Problem, tuning};
use crate::{DType, Result};

/// The layout of the file; others are refused.
pub const TUNING_SCHEMA: u32 = 1;

/// What was measured on the GPUs of a machine.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Tuning {
    /// [`TUNING_SCHEMA`].
    pub schema: u32,
    /// The library's version that measured.
    pub warpfold: String,
    /// When, in UTC (RFC 3339).
    pub date: String,
    /// Each GPU that was measured.
    pub gpus: Vec<TunedGpu>,
}

/// What was measured on one GPU.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct TunedGpu {
    /// What NVIDIA calls it.
    pub name: String,
    /// What the planner knows of it.
    pub facts: CudaFacts,
    /// The version of CUDA that its driver knew: 13000 is 13.0.
    pub driver: i32,
    /// How fast host memory is on either side of the link.
    pub link: Option<Link>,
    /// Where another shape than the rule's was faster.
    pub rows: Vec<TunedRow>,
}

/// A shape, where it holds, and the evidence for it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct TunedRow {
    /// The kernel.
    pub fold: DeviceFold,
    /// The element type.
    pub dtype: DType,
    /// From so many bytes on.
    pub from: u64,
    /// Up to so many bytes, exclusive.
    pub below: u64,
    /// The shape of the launch.
    pub shape: Shape,
    /// Bytes that were measured.
    pub bytes: u64,
    /// Microseconds of the kernel in this shape.
    pub microseconds: f64,
    /// Microseconds in the rule's shape, in the same run.
    pub rule_microseconds: f64,
}

/// Rates at which an array in host memory is reduced, in bytes per second, large arrays, in the same run.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Link {
    /// Over the link and on the GPU.
    pub gpu: f64,
    /// On the processor.
    pub cpu: f64,
    /// Seconds to open the GPU, before the first byte.
    pub open: f64,
}

impl Tuning {
    /// Whether every number is one that a plan may use.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn check(&self) -> Result<(), String> {
        if self.schema != TUNING_SCHEMA {
            let found = self.schema;
            return Err(format!(
                "its layout is version {found}, and this program reads {TUNING_SCHEMA}"
            ));
        }
        for gpu in &self.gpus {
            for row in &gpu.rows {
                let of = format!("{}_{} of {}", row.fold.name(), row.dtype, gpu.name);
                row.shape.check().map_err(|why| format!("the shape of {of}: {why}"))?;
                if row.from >= row.below {
                    return Err(format!("{of} holds from {} to {} bytes", row.from, row.below));
                }
            }
            if let Some(Link { gpu: over, cpu, open }) = gpu.link
                && !(over > 0.0 && cpu > 0.0 && open >= 0.0 && (over + cpu + open).is_finite())
            {
                return Err(format!("the rates of {} are no rates", gpu.name));
            }
        }
        Ok(())
    }

    /// What was measured on a GPU of this name and these facts; a driver may have come since.
    pub fn of(&self, name: &str, facts: CudaFacts) -> Option<&TunedGpu> {
        self.gpus.iter().find(|gpu| gpu.name == name && gpu.facts == facts)
    }
}

impl Shape {
    /// Whether kernels can be launched so.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn check(&self) -> Result<(), String> {
        let Shape { block, per_multiprocessor, vectors, .. } = *self;
        if !(32..=512).contains(&block) || !block.is_multiple_of(32) {
            return Err(format!("a block has 32 to 512 threads in whole warps, not {block}"));
        }
        if !(1..=MAX_PER_MULTIPROCESSOR).contains(&per_multiprocessor) {
            return Err(format!(
                "a multiprocessor holds 1 to {MAX_PER_MULTIPROCESSOR} blocks, not {per_multiprocessor}"
            ));
        }
        if !(1..=64).contains(&vectors) {
            return Err(format!("a thread has 1 to 64 vectors of 16 bytes, not {vectors}"));
        }
        Ok(())
    }
}

/// Blocks of the largest grid, a multiprocessor: what a stream's workspace holds.
pub const MAX_PER_MULTIPROCESSOR: u32 = 32;

/// As [`choose_cuda`](super::choose_cuda), with the shapes that were measured on the GPU; the rule's where there is none.
///
/// # Errors
/// As [`choose_cuda`](super::choose_cuda).
pub fn choose_tuned(problem: Problem, gpu: CudaFacts, rows: &[TunedRow]) -> Result<CudaPlan> {
    let fold = fold_of(problem)?;
    let bytes = problem.bytes();
    let holds = |row: &&TunedRow| {
        (row.fold, row.dtype) == (fold, problem.dtype) && (row.from..row.below).contains(&bytes)
    };
    let measured = rows.iter().find(holds).map(|row| row.shape);
    let shape = measured.unwrap_or_else(|| tuning::cuda_shape(fold, problem.dtype, bytes));
    Ok(shaped(problem, fold, gpu, shape))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::choose_cuda;
    use crate::{Op, Policy};

    const H200: CudaFacts = CudaFacts { compute: 90, multiprocessors: 132 };
    const SHAPE: Shape = Shape { block: 256, per_multiprocessor: 6, vectors: 4, alone: 0 };

    fn tuning() -> Tuning {
        let row = TunedRow {
            fold: DeviceFold::Max,
            dtype: DType::I32,
            from: 1 << 20,
            below: 1 << 24,
            shape: SHAPE,
            bytes: 4 << 20,
            microseconds: 4.0,
            rule_microseconds: 5.0,
        };
        let gpu = TunedGpu {
            name: "NVIDIA H200".into(),
            facts: H200,
            driver: 13000,
            link: Some(Link { gpu: 4e10, cpu: 2e10, open: 0.2 }),
            rows: vec![row],
        };
        Tuning { schema: 1, warpfold: "0.1.0".into(), date: String::new(), gpus: vec![gpu] }
    }

    #[test]
    fn a_row_holds_for_its_kernel_and_bytes_and_the_rule_elsewhere() {
        let rows = tuning().gpus.remove(0).rows;
        let plan = |op, dtype, n| {
            let problem = Problem { op, dtype, n, policy: Policy::default() };
            let tuned = choose_tuned(problem, H200, &rows).unwrap();
            (tuned, choose_cuda(problem, H200).unwrap())
        };
        let (tuned, _) = plan(Op::Max, DType::I32, 1 << 20);
        assert_eq!((tuned.block, tuned.grid), (256, 256));
        for (op, dtype, n) in [
            (Op::Min, DType::I32, 1 << 20),
            (Op::Max, DType::U32, 1 << 20),
            (Op::Max, DType::I32, 1 << 17),
            (Op::Max, DType::I32, 1 << 22),
        ] {
            let (tuned, rule) = plan(op, dtype, n);
            assert_eq!(tuned, rule);
        }
    }

    #[test]
    fn what_no_plan_may_use_is_refused_in_words() {
        assert_eq!(tuning().check(), Ok(()));
        assert!(tuning().of("NVIDIA H200", H200).is_some());
        assert!(tuning().of("NVIDIA H100", H200).is_none());
        let wrong = |change: fn(&mut Tuning)| {
            let mut tuning = tuning();
            change(&mut tuning);
            tuning.check().unwrap_err()
        };
        assert!(wrong(|t| t.schema = 9).contains("version 9"));
        assert!(wrong(|t| t.gpus[0].rows[0].shape.block = 1024).contains("not 1024"));
        assert!(wrong(|t| t.gpus[0].rows[0].shape.block = 100).contains("whole warps"));
        assert!(wrong(|t| t.gpus[0].rows[0].shape.vectors = 0).contains("vectors"));
        let huge = wrong(|t| t.gpus[0].rows[0].shape.per_multiprocessor = 4_000_000);
        assert!(huge.contains("32 blocks"), "{huge}");
        assert!(wrong(|t| t.gpus[0].rows[0].below = 0).contains("bytes"));
        assert!(wrong(|t| t.gpus[0].link.as_mut().unwrap().cpu = f64::NAN).contains("rates"));
    }
}
