//! What is measured: every kernel of every type on large arrays, and one at many sizes.

use warpfold::{Accuracy, DType, Op};

use super::report::{self, Temperature};
use super::table::{LARGE, rounds};

/// One row to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Case {
    /// The reduction.
    pub op: Op,
    /// The element type.
    pub dtype: DType,
    /// Whether float sums are exact.
    pub accuracy: Accuracy,
    /// Elements (pairs, for dot).
    pub n: u64,
    /// Where the arrays are.
    pub temperature: Temperature,
}

impl Case {
    /// Bytes read.
    pub fn bytes(self) -> u64 {
        self.n * self.dtype.size() as u64 * if self.op == Op::Dot { 2 } else { 1 }
    }

    /// The row's name, by which it is filtered.
    pub fn name(self) -> String {
        report::name(self.op, self.dtype, self.accuracy, self.bytes(), self.temperature)
    }
}

/// One reduction for each kernel: mean folds as sum, std as var, any and all as count.
const OPS: &[Op] = &[
    Op::Sum,
    Op::Min,
    Op::Max,
    Op::MinMax,
    Op::ArgMin,
    Op::ArgMax,
    Op::Count,
    Op::Var,
    Op::L1,
    Op::L2,
    Op::Linf,
    Op::Dot,
    Op::Prod,
];

/// The types, those that share an array's bytes side by side.
const TYPES: &[DType] = &[
    DType::F32,
    DType::Complex64,
    DType::F64,
    DType::Complex128,
    DType::F16,
    DType::BF16,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::Bool,
];

/// Powers of two: elements of the sums of f32.
const SIZES: &[u32] = &[10, 12, 14, 16, 18, 20, 22, 24, 25, 26, 28, 30];

/// Bytes up to which arrays are measured in the cache too: well within every L2 of 40 MiB or more.
const CACHED: u64 = 16 << 20;

/// All rows: sums at every size, then every kernel and type on large arrays.
pub fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for temperature in [Temperature::Cold, Temperature::Hot] {
        for &power in SIZES {
            for accuracy in [Accuracy::Fast, Accuracy::Exact] {
                let case =
                    Case { op: Op::Sum, dtype: DType::F32, accuracy, n: 1 << power, temperature };
                if temperature == Temperature::Cold || case.bytes() <= CACHED {
                    all.push(case);
                }
            }
        }
    }
    for &dtype in TYPES {
        for &op in OPS {
            let accuracies: &[Accuracy] = match rounds(op, dtype) {
                true => &[Accuracy::Fast, Accuracy::Exact],
                false => &[Accuracy::Exact],
            };
            for &accuracy in accuracies {
                for (bytes, temperature) in [(LARGE, Temperature::Cold), (CACHED, Temperature::Hot)]
                {
                    let n = bytes / dtype.size() as u64;
                    let case = Case { op, dtype, accuracy, n, temperature };
                    // One of the sizes above is that of the cache.
                    if !all.contains(&case) {
                        all.push(case);
                    }
                }
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_names_of_their_own_and_every_type_is_there() {
        let mut names: Vec<_> = cases().into_iter().map(Case::name).collect();
        let rows = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), rows);
        for dtype in DType::ALL {
            assert!(TYPES.contains(dtype), "{dtype}");
        }
    }
}
