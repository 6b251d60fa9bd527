//! What kernels leave of stats in one pass: columns one after another, as `op/part_stats.cuh` and `op/part_pair_stats.cuh` have them.

use super::{Batch, BatchedFold, CudaBatchPlan};
use crate::{DType, Op};

/// A column of stats that were folded in one pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatsColumn {
    /// The reduction whose results it holds; `None` for how many NaNs there are.
    pub op: Option<Op>,
    /// The type of the results.
    pub dtype: DType,
    /// Bytes from the first column's first result to its own.
    pub offset: u64,
}

impl StatsColumn {
    /// The reduction, if its results of floats may be missed and folded again.
    pub fn rounded(&self) -> Option<Op> {
        self.op.filter(|op| op.is_rounded())
    }
}

/// The columns in their order, `StatsColumn` of the kernels; integers have none of NaNs, and complex numbers none of extremes.
const COLUMNS: [Option<Op>; 11] = [
    Some(Op::ArgMin),
    Some(Op::ArgMax),
    None,
    Some(Op::Sum),
    Some(Op::Mean),
    Some(Op::Var),
    Some(Op::Std),
    Some(Op::L1),
    Some(Op::L2),
    Some(Op::Min),
    Some(Op::Max),
];

impl CudaBatchPlan {
    /// The columns of stats in one pass; none of any other reduction, which leaves a result an output.
    pub fn stats_columns(&self) -> Vec<StatsColumn> {
        if self.fold != BatchedFold::Stats {
            return Vec::new();
        }
        let mut offset = 0;
        let of = |op: Option<Op>| {
            let dtype = op.map_or(DType::U64, |op| self.of_column(op).output());
            let column = StatsColumn { op, dtype, offset };
            offset += self.outputs() * dtype.size() as u64;
            column
        };
        let dtype = self.batch.dtype;
        let is_there = |op: &Option<Op>| match op {
            None => dtype.is_float(),
            Some(op) => !(dtype.is_complex() && op.is_ordered()),
        };
        COLUMNS.into_iter().filter(is_there).map(of).collect()
    }

    /// Bytes of all results.
    pub fn result_bytes(&self) -> u64 {
        match self.stats_columns().last() {
            Some(last) => last.offset + self.outputs() * last.dtype.size() as u64,
            None => self.outputs() * self.output().size() as u64,
        }
    }

    /// The same plan as that of one column alone, which folds again what was missed there.
    #[must_use]
    pub fn of_column(&self, op: Op) -> CudaBatchPlan {
        CudaBatchPlan { batch: Batch { op, ..self.batch.clone() }, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policy;
    use crate::plan::{BoundsKind, CudaFacts, Partition, choose_cuda_batch};

    #[test]
    fn columns_begin_where_kernels_write_them() {
        let bounds = BoundsKind::Every(64);
        let partition = Partition::Segments { elements: 64 * 1000, segments: 1000, bounds };
        let batch =
            Batch { op: Op::Stats, dtype: DType::BF16, partition, policy: Policy::default() };
        let gpu = CudaFacts { compute: 90, multiprocessors: 132 };
        let plan = choose_cuda_batch(batch, gpu).unwrap();
        let columns = plan.stats_columns();
        let of = |op| *columns.iter().find(|column| column.op == op).unwrap();
        assert_eq!((of(None).offset, of(None).dtype), (16_000, DType::U64));
        assert_eq!((of(Some(Op::L2)).offset, of(Some(Op::L2)).dtype), (44_000, DType::F32));
        assert_eq!((of(Some(Op::Max)).offset, of(Some(Op::Max)).dtype), (50_000, DType::BF16));
        assert_eq!(plan.result_bytes(), 52_000);
        assert_eq!(columns.iter().filter_map(StatsColumn::rounded).count(), 6);
    }

    #[test]
    fn complex_numbers_have_no_columns_of_extremes() {
        let bounds = BoundsKind::Every(16);
        let partition = Partition::Segments { elements: 16 * 1000, segments: 1000, bounds };
        let dtype = DType::Complex64;
        let batch = Batch { op: Op::Stats, dtype, partition, policy: Policy::default() };
        let gpu = CudaFacts { compute: 90, multiprocessors: 132 };
        let plan = choose_cuda_batch(batch, gpu).unwrap();
        let columns: Vec<(Option<Op>, DType, u64)> = plan
            .stats_columns()
            .iter()
            .map(|column| (column.op, column.dtype, column.offset))
            .collect();
        let expected = [
            (None, DType::U64, 0),
            (Some(Op::Sum), dtype, 8_000),
            (Some(Op::Mean), dtype, 16_000),
            (Some(Op::Var), DType::F32, 24_000),
            (Some(Op::Std), DType::F32, 28_000),
            (Some(Op::L1), DType::F32, 32_000),
            (Some(Op::L2), DType::F32, 36_000),
        ];
        assert_eq!(columns, expected);
        assert_eq!(plan.result_bytes(), 40_000);
        assert_eq!(plan.entry(), "row_stats_complex64");
    }

    #[test]
    fn integers_have_no_column_of_nans() {
        let bounds = BoundsKind::Every(64);
        let partition = Partition::Segments { elements: 64 * 1000, segments: 1000, bounds };
        let batch =
            Batch { op: Op::Stats, dtype: DType::U16, partition, policy: Policy::default() };
        let gpu = CudaFacts { compute: 90, multiprocessors: 132 };
        let plan = choose_cuda_batch(batch, gpu).unwrap();
        let columns = plan.stats_columns();
        let of = |op| *columns.iter().find(|column| column.op == Some(op)).unwrap();
        assert!(columns.iter().all(|column| column.op.is_some()));
        assert_eq!((of(Op::Sum).offset, of(Op::Sum).dtype), (16_000, DType::U64));
        assert_eq!((of(Op::Max).offset, of(Op::Max).dtype), (66_000, DType::U16));
        assert_eq!(plan.result_bytes(), 68_000);
        assert_eq!(plan.entry(), "row_stats_16");
    }
}
