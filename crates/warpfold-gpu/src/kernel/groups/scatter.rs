//! [`Scatter`]: which kernel scatters elements in a pass of the sort, by the shared memory that a GPU has.

use crate::plan::{CudaFacts, CudaGroupPlan, DIGITS};

/// The kernel of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scatter {
    /// Its module.
    pub(super) module: &'static str,
    /// Its entry point.
    pub(super) entry: &'static str,
    /// Threads of a block.
    pub(super) block: u32,
    /// Bytes of shared memory of a block.
    pub(super) shared_bytes: u32,
}

impl Scatter {
    /// The kernel of a plan's passes: pairs of 4 bytes each together, or values after ordinals; in 64 KB of shared memory where a block has no more, pairs in 124 where it may.
    pub(super) fn new(plan: &CudaGroupPlan, gpu: CudaFacts) -> Self {
        let pairs = plan.ordinal_bytes() == 4 && plan.values.size() == 4;
        let (entry, small) = match plan.ordinal_bytes() {
            _ if pairs => ("sort_pairs", "sort_pairs_small"),
            4 => ("sort_scatter_32", "sort_scatter_32_small"),
            _ => ("sort_scatter_64", "sort_scatter_64_small"),
        };
        let (module, entry, block, each) = match gpu.shared_bytes() >> 10 {
            ..96 => ("sort_small", small, 256, 4),
            124.. if pairs => ("sort_wide", "sort_pairs_wide", 512, 16),
            _ => ("sort", entry, 512, 8),
        };
        // The members of `Shared` (`scatter.cuh`), in their order.
        let (group, words, word) = if pairs { (8, 1, 4) } else { (4, 2, 8) };
        let stage = u64::from(block * each) + DIGITS * 2 * (group - 1);
        let after_scatter = DIGITS * group * (plan.ordinal_bytes() + words * word);
        let digits = (8 + 8 + 4) * DIGITS + (8 + 4) * 8;
        let counts = 2 * DIGITS * u64::from(block / 32);
        let of_groups = if pairs { 16 } else { stage / group };
        let shared_bytes = (8 * stage + after_scatter + digits + counts + of_groups) as u32;
        Scatter { module, entry, block, shared_bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;
    use crate::plan::GroupWay;

    #[test]
    fn blocks_fit_into_the_shared_memory_that_every_gpu_has() {
        let gpu = |compute| CudaFacts { compute, multiprocessors: 132 };
        let types = [DType::U8, DType::F32, DType::Complex128];
        for (values, greatest) in types.into_iter().flat_map(|t| [(t, 99), (t, u64::MAX)]) {
            let types = [DType::U64, values];
            let plan = CudaGroupPlan::new(1000, types, GroupWay::Ranks, greatest, gpu(90));
            for compute in [70, 75, 80, 86, 89, 90, 100, 120] {
                let Scatter { shared_bytes, .. } = Scatter::new(&plan, gpu(compute));
                assert_eq!(shared_bytes % 16, 0);
                let room = gpu(compute).shared_bytes();
                assert!(u64::from(shared_bytes) <= room, "{compute}: {plan}");
            }
        }
    }
}
