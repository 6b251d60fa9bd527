//! What is measured: every kernel of every type on large arrays, and one at many sizes.

use warpfold::{Accuracy, DType, Op};

use super::data::Data;
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
    /// What they hold.
    pub data: Data,
}

impl Case {
    /// Bytes read.
    pub fn bytes(self) -> u64 {
        self.n * self.dtype.size() as u64 * if self.op == Op::Dot { 2 } else { 1 }
    }

    /// The row's name, by which it is filtered.
    pub fn name(self) -> String {
        report::name(self.op, self.dtype, self.accuracy, self.bytes(), self.temperature, self.data)
    }
}

/// One reduction for each kernel: mean folds as sum, std as var, any and all as count.
fn ops() -> impl Iterator<Item = Op> {
    let again = |op: &Op| matches!(op, Op::Mean | Op::Std | Op::Any | Op::All);
    Op::ALL.iter().copied().filter(move |op| !again(op))
}

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

/// Bytes from which on arrays are long: exact sums are to cost no more than fast ones.
const LONG: u64 = 256 << 20;

/// All rows: sums at every size, every kernel and type on large arrays, then floats on data of other kinds.
pub fn cases() -> Vec<Case> {
    let mut all = sizes();
    for &dtype in TYPES {
        for op in ops() {
            for &accuracy in accuracies(op, dtype) {
                for (bytes, temperature) in [(LARGE, Temperature::Cold), (CACHED, Temperature::Hot)]
                {
                    let n = bytes / dtype.size() as u64;
                    let data = Data::Uniform;
                    let case = Case { op, dtype, accuracy, n, temperature, data };
                    // One of the sizes above is that of the cache.
                    if !all.contains(&case) {
                        all.push(case);
                    }
                }
            }
        }
    }
    // Again, some of the sizes are among them.
    let more: Vec<Case> = floats().into_iter().filter(|case| !all.contains(case)).collect();
    all.extend(more);
    all
}

fn accuracies(op: Op, dtype: DType) -> &'static [Accuracy] {
    match rounds(op, dtype) {
        true => &[Accuracy::Fast, Accuracy::Exact],
        false => &[Accuracy::Exact],
    }
}

/// Sums of f32 at every size, from memory and from the cache.
fn sizes() -> Vec<Case> {
    let mut all = Vec::new();
    for temperature in [Temperature::Cold, Temperature::Hot] {
        for &power in SIZES {
            for &accuracy in accuracies(Op::Sum, DType::F32) {
                let (op, dtype, data) = (Op::Sum, DType::F32, Data::Uniform);
                let case = Case { op, dtype, accuracy, n: 1 << power, temperature, data };
                if temperature == Temperature::Cold || case.bytes() <= CACHED {
                    all.push(case);
                }
            }
        }
    }
    all
}

/// What exact sums cost beside fast ones, and on what is hard for them.
fn floats() -> Vec<Case> {
    let temperature = Temperature::Cold;
    let row = |op, dtype: DType, accuracy, bytes, data| {
        let n = bytes / dtype.size() as u64;
        Case { op, dtype, accuracy, n, temperature, data }
    };
    let mut all = Vec::new();
    // Kinds of data change seldom: each takes seconds to fill.
    for dtype in [DType::F32, DType::F16, DType::BF16, DType::F64] {
        for (data, bytes) in [(Data::Uniform, LONG), (Data::Normal, LARGE), (Data::Positive, LARGE)]
        {
            let rows = accuracies(Op::Sum, dtype).iter();
            all.extend(rows.map(|&accuracy| row(Op::Sum, dtype, accuracy, bytes, data)));
        }
    }
    for dtype in [DType::F32, DType::F64] {
        for data in Data::ADVERSARIAL {
            let rows = [Op::Sum, Op::Dot, Op::Var, Op::Stats].into_iter();
            all.extend(rows.map(|op| row(op, dtype, Accuracy::Exact, LARGE, data)));
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
