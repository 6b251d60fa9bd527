//! [`NullRows`]: rows without a value that keep their place among those of their key, as elements that a mask leaves out do: floats are multiplied along a tree
//! whose leaves are counted from the first row of the key.

use arrow_buffer::NullBuffer;
use warpfold_num::{DType, Op, f16};

use super::{Keys, Named};
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

    /// Leaves out the groups in which no row has a value, by the number of each row's group.
    pub(super) fn leave_out(&self, numbers: &[u32], keys: &mut [Keys], columns: &mut Named) {
        if self.none.is_empty() {
            return;
        }
        let mut values = vec![0u64; keys.first().map_or(0, Keys::len)];
        numbers.iter().for_each(|&group| values[group as usize] += 1);
        self.none.iter().for_each(|&row| values[numbers[row as usize] as usize] -= 1);
        let is_kept: Vec<bool> = values.into_iter().map(|values| values > 0).collect();
        keys.iter_mut().for_each(|keys| keys.retain(&is_kept));
        for (_, cells) in columns {
            let mut kept = is_kept.iter();
            cells.retain(|_| kept.next() == Some(&true));
        }
    }
}
