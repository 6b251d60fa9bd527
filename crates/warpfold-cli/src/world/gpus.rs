//! [`Gpus`]: exchanges by NCCL, and reports as the ranks met.

use warpfold_dist::{Comm, Meanwhile, Nccl, Result};

/// A world of GPUs, and how its ranks met.
pub(super) struct Gpus {
    pub(super) nccl: Nccl,
    pub(super) met: Box<dyn Comm>,
}

impl Comm for Gpus {
    fn rank(&self) -> usize {
        self.nccl.rank()
    }

    fn size(&self) -> usize {
        self.nccl.size()
    }

    fn all_gather(&self, mine: &[u8], all: &mut [u8]) -> Result<()> {
        self.nccl.all_gather(mine, all)
    }

    fn sum_u64(&self, numbers: &mut [u64]) -> Result<()> {
        self.nccl.sum_u64(numbers)
    }

    fn all_to_all(&self, mine: &[u8], theirs: &mut [u8]) -> Result<()> {
        self.nccl.all_to_all(mine, theirs)
    }

    fn while_waiting(&self, meanwhile: Meanwhile) {
        self.met.while_waiting(meanwhile);
    }

    fn report(&self, done: u64) {
        self.met.report(done);
    }

    fn reported(&self) -> u64 {
        self.met.reported()
    }
}
