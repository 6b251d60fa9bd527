//! [`NullRows`]: rows without a value that keep their place among those of their key, as elements that a mask leaves out do: floats are multiplied along a tree
//! whose leaves are counted from the first row of the key.

use arrow_buffer::NullBuffer;
use warpfold_num::{DType, Op, f16};

use crate::form::Form;

/// Rows without a value, for which ones stand.
#[derive(Debug, Clone)]
pub(super) struct NullRows {
    /// A one, as it lies in memory.
    one: Vec<u8>,
    /// Which of the values are none.
    none: Vec<u64>,
}

impl NullRows {
    /// None yet; `None` where the result depends on no places.
    pub(super) fn of(op: Op, form: &Form) -> Option<NullRows> {
        let Form::Numbers(dtype) = form else { return None };
        let one = match dtype {
            DType::F16 => f16::ONE.to_ne_bytes().to_vec(),
            DType::F32 => 1f32.to_ne_bytes().to_vec(),
            DType::F64 => 1f64.to_ne_bytes().to_vec(),
            _ => return None,
        };
        (op == Op::Prod).then(|| NullRows { one, none: Vec::new() })
    }

    /// How many rows there are.
    pub(super) fn rows(&self) -> u64 {
        self.none.len() as u64
    }

    /// Puts ones in the place of nulls among values that come behind so many others.
    pub(super) fn fill(&mut self, values: &mut [u8], nulls: &NullBuffer, before: usize) {
        for (row, value) in values.chunks_exact_mut(self.one.len()).enumerate() {
            if nulls.is_null(row) {
                value.copy_from_slice(&self.one);
                self.none.push((before + row) as u64);
            }
        }
    }

    /// Takes in those of values that come behind so many others.
    pub(super) fn merge(&mut self, other: NullRows, before: usize) {
        self.none.extend(other.none.into_iter().map(|row| before as u64 + row));
    }

    /// Moves out which of the values are none, ascending.
    pub(super) fn take(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.none)
    }
}
