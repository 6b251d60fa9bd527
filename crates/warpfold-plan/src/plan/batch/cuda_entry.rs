//! The kernels of a plan: their names, their options, and what is launched after them.

use super::batched_fold::BatchedFold;
use super::cuda::{CudaBatchPlan, CudaWay, Rounding};
use super::cuda_choose::dense_rows;
use super::rows::entry_of_rows;
use super::shares::{block_fold, block_type};
use super::{Batch, BoundsKind, Partition};
use crate::DType;
use crate::plan::DeviceFold;

/// Mean lengths of segments that have lanes of their own.
///
/// Measured on an H100, GB/s by a tile's lanes and by lanes of their own: sums of f16 in segments of 64 1177 and 1567, of 256 1098 and 1804, of 1024 1046 and 1834, of 16384 2124
/// and 2014, of random lengths up to 64 1151 and 754, up to 1024 1056 and 1090; variances of i32 1213 and 1816, 1171 and 2086, 1661 and 2104, 2299 and 2283, 1126 and 858,
/// 1335 and 1472.
const LONG_SEGMENTS: std::ops::RangeInclusive<u64> = 256..=4096;

/// What is launched after a fold's own kernel, or in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fallback {
    /// Nothing.
    No,
    /// The kernel of sums of what was missed, of so many threads.
    Sums(String, u32),
    /// The kernel of everything that is rounded once, of what was missed or of all.
    Blocks(String),
}

impl CudaBatchPlan {
    /// The name of its kernel: the fold's, and the kind of elements that it tells apart.
    pub fn entry(&self) -> String {
        let dtype = self.batch.dtype;
        if self.fold == BatchedFold::Moments {
            return self.blocks_entry();
        }
        let kind = match (dtype.is_float() && self.fold.computes(), dtype.size()) {
            _ if dtype.is_complex() => dtype.name(),
            (true, 2) => "half",
            (true, 4) => "f32",
            (true, _) => "f64",
            (false, 1) => "8",
            (false, 2) => "16",
            (false, 4) => "32",
            (false, _) => "64",
        };
        format!("{}_{}_{kind}", self.way.name(), self.fold.kernels(dtype).0)
    }

    /// What the kernel's entry ends with beside that: of the ways that have several kernels, rows and segments are named here.
    pub fn entry_suffix(&self) -> &'static str {
        match (&self.way, &self.batch.partition) {
            (
                CudaWay::Rows { .. },
                Partition::Segments { bounds: BoundsKind::Every(length), .. },
            ) => entry_of_rows(self.fold, self.batch.dtype, *length),
            (CudaWay::Rows { .. }, Partition::Axes(form)) => dense_rows(form)
                .map_or("", |length| entry_of_rows(self.fold, self.batch.dtype, length)),
            (CudaWay::Segments, Partition::Segments { segments, .. })
                if self.has_lanes_of_segments() =>
            {
                let mean = self.batch.elements() / (*segments).max(1);
                if LONG_SEGMENTS.contains(&mean) { "_lanes" } else { "" }
            }
            _ => "",
        }
    }

    /// Whether there is a second kernel of segments, whose lanes have segments of their own.
    fn has_lanes_of_segments(&self) -> bool {
        let dtype = self.batch.dtype;
        match self.fold.kernels(dtype).0 {
            "squares" => dtype.size() > 1,
            "exact" | "exact_norms" => !dtype.is_complex() && dtype.size() <= 4,
            _ => false,
        }
    }

    /// The kernel of everything that is rounded once.
    fn blocks_entry(&self) -> String {
        let Batch { op, dtype, .. } = self.batch;
        format!("segment_{}_{}", block_fold(op, dtype).0, block_type(dtype).name())
    }

    /// The kernel that folds again what an exact one has missed, or all there is.
    pub fn fallback(&self) -> Fallback {
        let dtype = self.batch.dtype;
        let strided = matches!(self.way, CudaWay::Strided(_));
        if self.fold == BatchedFold::ExactSum
            && matches!(dtype, DType::F32 | DType::F64)
            && !strided
        {
            let threads = DeviceFold::ExactSum.most_threads(dtype);
            Fallback::Sums(format!("segment_fallback_{}", dtype.name()), threads)
        } else if matches!(self.way, CudaWay::Trees(_)) {
            Fallback::Blocks(self.entry())
        } else if self.fold == BatchedFold::Moments || (self.fold.is_pair() && dtype.is_float()) {
            Fallback::Blocks(self.blocks_entry())
        } else {
            Fallback::No
        }
    }

    /// What the kernel is told beside sizes and addresses (`segments.cuh`).
    pub fn options(&self) -> u64 {
        let dtype = self.batch.dtype;
        let signed = dtype.is_signed();
        let narrow = self.rounding == Rounding::Element;
        let bits = [self.skips_nan(), signed, dtype.is_float(), dtype == DType::BF16, narrow];
        let bits = bits.iter().zip(0..).map(|(&bit, k)| u64::from(bit) << k).sum::<u64>();
        bits | u64::from(self.fold.kernels(dtype).1) << 8
    }
}
