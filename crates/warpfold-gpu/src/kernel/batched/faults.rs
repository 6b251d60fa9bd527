//! [`Faults`]: what a launch found wrong, read back from the machine.

use crate::error::At;
use crate::plan::{BoundsKind, CudaBatchPlan, Partition};
use crate::{Error, Op, Result};

/// The least index of each fault (`segments.cuh`), all ones where there was none. The word of what is done again is the kernels' own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Faults {
    offsets: u64,
    empty: u64,
    all_skipped: u64,
    too_large: u64,
    too_few: u64,
}

const NONE: u64 = u64::MAX;

/// Whether words in which launches say what was wrong ([`FAULT_BYTES`](super::AnyReduceBatched::FAULT_BYTES)) say something: then there may be outputs
/// without a value.
pub fn is_faulted(words: &[u64]) -> bool {
    const DONE_AGAIN: usize = 4;
    words.iter().enumerate().any(|(k, &word)| k != DONE_AGAIN && word != NONE)
}

impl Faults {
    pub(super) const BYTES: usize = 48;

    pub(super) fn read(bytes: &[u8; Self::BYTES]) -> Self {
        let word = |k: usize| u64::from_le_bytes(std::array::from_fn(|byte| bytes[8 * k + byte]));
        let [offsets, empty, all_skipped, too_large, _, too_few] = std::array::from_fn(word);
        Faults { offsets, empty, all_skipped, too_large, too_few }
    }

    /// Without those of inputs that are too few for a result.
    pub(super) fn of_defined(self) -> Self {
        Faults { empty: NONE, all_skipped: NONE, too_few: NONE, ..self }
    }

    /// The first output that has no value, as an error. Where it has too few elements, `counted` is asked how many.
    pub(super) fn check(
        self,
        plan: &CudaBatchPlan,
        ddof: u64,
        wraps: bool,
        at: impl Fn(u64) -> At,
        counted: impl Fn(u64) -> Result<u64>,
    ) -> Result<()> {
        let batch = &plan.batch;
        let given = matches!(
            batch.partition,
            Partition::Segments { bounds: BoundsKind::Offsets32 | BoundsKind::Offsets64, .. }
        );
        if self.offsets != NONE && !given {
            return Err(Error::Device {
                requested: plan.to_string(),
                obstacle: format!("its kernel lost its way at segment {}", self.offsets),
                remedy: "this is a mistake of warpfold's: please report it, and run it on the CPU meanwhile",
            });
        }
        if self.offsets != NONE {
            return Err(Error::Segments {
                requested: format!("{} segments of {} elements", batch.outputs(), batch.elements()),
                obstacle: format!(
                    "offsets from number {} on descend, or reach beyond the array",
                    self.offsets
                ),
                remedy: "offsets count elements from 0 and must not descend",
            });
        }
        let empty = self.empty.min(self.all_skipped);
        let too_large = if wraps { NONE } else { self.too_large };
        // Stats begin with their sums: what is wrong there comes first.
        let of_stats = batch.op == Op::Stats;
        let sums = if of_stats { &plan.of_column(Op::Sum) } else { plan };
        let first = match too_large {
            NONE => empty.min(self.too_few),
            too_large if of_stats => too_large,
            too_large => empty.min(too_large).min(self.too_few),
        };
        let error = match first {
            NONE => return Ok(()),
            first if first == self.too_few => {
                Error::TooFew { op: batch.op, n: counted(first)?, ddof }
            }
            first if first == too_large => Error::Overflow {
                op: sums.batch.op,
                dtype: batch.dtype,
                result: sums.output().name(),
                value: "more than 64 bits hold".into(),
                remedy: "Overflow::Wrap keeps the low 64 bits, and the CPU rounds the exact value to a float",
            },
            _ => Error::Empty { op: batch.op, ignored: self.all_skipped < self.empty },
        };
        Err(Error::Output { output: at(plan.output_of(first)), error: Box::new(error) })
    }
}
