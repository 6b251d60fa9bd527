//! [`Faults`]: what a launch found wrong, read back from the machine.

use crate::error::At;
use crate::plan::CudaBatchPlan;
use crate::{Error, Result};

/// The least index of each fault (`segments.cuh`), all ones where there was none. The last word there, of what is done again, is the kernels' own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Faults {
    offsets: u64,
    empty: u64,
    all_skipped: u64,
    too_large: u64,
}

const NONE: u64 = u64::MAX;

impl Faults {
    pub(super) const BYTES: usize = 40;

    pub(super) fn read(bytes: &[u8; Self::BYTES]) -> Self {
        let word = |k: usize| u64::from_le_bytes(std::array::from_fn(|byte| bytes[8 * k + byte]));
        Faults { offsets: word(0), empty: word(1), all_skipped: word(2), too_large: word(3) }
    }

    /// The first output that has no value, as an error.
    pub(super) fn check(
        self,
        plan: &CudaBatchPlan,
        wraps: bool,
        at: impl Fn(u64) -> At,
    ) -> Result<()> {
        let batch = &plan.batch;
        if self.offsets != NONE {
            return Err(Error::Segments {
                asked: format!("{} segments of {} elements", batch.outputs(), batch.elements()),
                obstacle: format!(
                    "offsets from number {} on descend, or reach beyond the array",
                    self.offsets
                ),
                remedy: "offsets count elements from 0 and must not descend",
            });
        }
        let empty = self.empty.min(self.all_skipped);
        let too_large = if wraps { NONE } else { self.too_large };
        let error = match empty.min(too_large) {
            NONE => return Ok(()),
            first if first == too_large => Error::Overflow {
                op: batch.op,
                dtype: batch.dtype,
                result: plan.output().name(),
                value: "more than 64 bits hold".into(),
                remedy: "Overflow::Wrap keeps the low 64 bits, and the CPU rounds the exact value to a float",
            },
            _ => Error::Empty { op: batch.op, ignored: self.all_skipped < self.empty },
        };
        Err(Error::Output { output: at(empty.min(too_large)), error: Box::new(error) })
    }
}
