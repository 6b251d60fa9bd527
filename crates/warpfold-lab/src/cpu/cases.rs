//! What is measured: every reduction of every type, each on data that makes it read everything.

use warpfold::{DType, Op};

use super::target::SMALL;
use crate::array::Data;
use crate::report;

/// One row to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Case {
    /// The reduction.
    pub op: Op,
    /// The element type.
    pub dtype: DType,
    /// What the array holds.
    pub data: Data,
    /// Bytes of the working set.
    pub bytes: u64,
}

impl Case {
    /// The row's name, by which it is filtered.
    pub fn name(self) -> String {
        report::name(self.op, self.dtype, self.data, self.bytes)
    }
}

/// All rows over working sets of these sizes, those on the same array side by side; then the small array.
pub fn cases(sizes: &[u64]) -> Vec<Case> {
    let mut cases = Vec::new();
    for &bytes in sizes {
        for &dtype in DType::ALL {
            let defined = |op: &&Op| !(dtype.is_complex() && op.is_ordered());
            let mut group: Vec<Case> = Op::ALL
                .iter()
                .filter(defined)
                .map(|&op| Case { op, dtype, data: data(op, dtype), bytes })
                .collect();
            if dtype.is_float() {
                group.push(Case { op: Op::Sum, dtype, data: Data::LogUniform, bytes });
            }
            group.sort_by_key(|case| case.data.name());
            cases.extend(group);
        }
    }
    cases.push(SMALL);
    cases
}

/// Data on which a reduction of a type has to read everything.
pub(crate) fn data(op: Op, dtype: DType) -> Data {
    match op {
        Op::Prod => Data::Reciprocal,
        Op::Any => Data::Zeros,
        Op::All => Data::Ones,
        Op::Dot | Op::Sumsq if !dtype.is_float() => Data::Small,
        _ => Data::Natural,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpfold::{Policy, Stream, with_element};

    #[test]
    fn rows_have_names_of_their_own_and_arrays_are_made_once() {
        let cases = cases(&[256 << 20, 1 << 20]);
        let mut names: Vec<_> = cases.iter().map(|case| case.name()).collect();
        let mut arrays: Vec<_> = cases.iter().map(|c| (c.dtype, c.data, c.bytes)).collect();
        arrays.dedup();
        let groups = arrays.len();
        arrays.sort_by_key(|array| format!("{array:?}"));
        arrays.dedup();
        assert_eq!(arrays.len(), groups, "no array is filled twice");
        let rows = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), rows);
    }

    #[test]
    fn every_reduction_that_the_library_defines_is_measured() {
        let cases = cases(&[64 << 10]);
        for &dtype in DType::ALL {
            for &op in Op::ALL {
                let defined =
                    with_element!(dtype, T => Stream::<T>::new(op, Policy::default()).is_ok());
                let listed = cases.iter().any(|case| case.op == op && case.dtype == dtype);
                assert_eq!(listed, defined, "{op} of {dtype}");
            }
        }
    }
}
