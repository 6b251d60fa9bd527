//! Decimals: integers of up to 38 digits, summed in 256 bits.

use arrow::array::{ArrayRef, AsArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{Decimal128Type, i256};
use datafusion_common::{Result, exec_err, internal_err};
use num_bigint::{BigInt, BigUint};
use warpfold_exact::exact::{Special, round_ratio};

use crate::cell::Cell;
use crate::column::values;
use crate::function::Function;
use crate::slot::{Item, Slot, Wide};
use crate::task::{Input, Task};

/// The first byte of the saved form: its version.
const VERSION: u8 = 1;

/// The sum of fewer than 2^64 decimals, in units of their last digit. It is small enough to be a group's own state.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct DecimalSum {
    sum: i256,
    count: u64,
}

impl Wide for DecimalSum {
    fn merge(&mut self, other: &Self) {
        self.sum = self.sum.wrapping_add(other.sum);
        self.count += other.count;
    }

    fn subtract(&mut self, other: &Self) {
        self.sum = self.sum.wrapping_sub(other.sum);
        self.count -= other.count;
    }

    fn specials(&mut self) -> [Option<&mut Special>; 2] {
        [None, None]
    }

    fn count(&self) -> u64 {
        self.count
    }

    /// Version, count, and as many bytes of the integer, lowest first, as it needs.
    fn to_bytes(&self) -> Vec<u8> {
        let sum = self.sum.to_le_bytes();
        let sign = if self.sum.is_negative() { 0xff } else { 0 };
        let used = 1 + sum.iter().rposition(|&byte| byte != sign).map_or(0, |last| last + 1);
        let used = used.min(sum.len());
        [&[VERSION][..], &self.count.to_le_bytes(), &sum[..used]].concat()
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let Some((&[VERSION, ref count @ ..], used)) = bytes.split_first_chunk::<9>() else {
            return exec_err!("{} bytes are no saved sum of decimals", bytes.len());
        };
        let mut sum = [if used.last().is_some_and(|&last| last >> 7 == 1) { 0xff } else { 0 }; 32];
        match sum.get_mut(..used.len()) {
            Some(low) if !used.is_empty() => low.copy_from_slice(used),
            _ => return exec_err!("{} bytes are no integer of a sum of decimals", used.len()),
        }
        Ok(DecimalSum { sum: i256::from_le_bytes(sum), count: u64::from_le_bytes(*count) })
    }

    fn finish(&self, task: Task) -> Result<Option<Cell>> {
        let Input::Decimal(_, scale) = task.input else {
            return internal_err!("the sum of decimals of no decimals");
        };
        if self.count == 0 {
            return Ok(None);
        }
        if task.function == Function::Sum {
            let fits = self.sum.to_i128().filter(|sum| sum.unsigned_abs() < 10u128.pow(38));
            return match fits {
                Some(sum) => Ok(Some(Cell::Decimal(sum))),
                None => exec_err!(
                    "exact_sum: the exact result, {} units of 10^{}, is beyond {}; cast the column to fewer digits or to DOUBLE",
                    self.sum,
                    -i32::from(scale),
                    task.output()
                ),
            };
        }
        let mut sum = BigInt::from_signed_bytes_le(&self.sum.to_le_bytes());
        let power = BigUint::from(10u8).pow(scale.unsigned_abs().into());
        let mut divisor = BigUint::from(self.count);
        match scale < 0 {
            true => sum *= BigInt::from(power),
            false => divisor *= power,
        }
        Ok(Some(Cell::F64(round_ratio(&sum, &divisor, 0))))
    }
}

impl Item for i128 {
    #[inline(always)]
    fn each(columns: &[ArrayRef], mut each: impl FnMut(usize, i128)) -> Result<()> {
        let x = values::<i128>(&columns[0])?;
        x.iter().enumerate().for_each(|(row, &x)| each(row, x));
        Ok(())
    }

    fn key(self) -> [u8; 16] {
        self.to_be_bytes()
    }

    fn from_key(key: [u8; 16]) -> i128 {
        i128::from_be_bytes(key)
    }
}

impl Slot for DecimalSum {
    type Item = i128;
    type Wide = DecimalSum;

    fn fold(wide: &mut Self, columns: &[ArrayRef], valid: Option<&NullBuffer>) -> Result<()> {
        let values = columns[0].as_primitive::<Decimal128Type>().values();
        let runs = valid.map(|valid| valid.valid_slices());
        let runs = runs.map_or_else(|| vec![(0, values.len())], Iterator::collect);
        for (start, end) in runs {
            for &x in &values[start..end] {
                wide.add(x);
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn add(&mut self, x: i128) -> bool {
        self.sum = self.sum.wrapping_add(i256::from_i128(x));
        self.count += 1;
        true
    }

    fn add_wide(wide: &mut Self, x: i128) {
        wide.add(x);
    }

    fn absorb(&mut self, wide: &Self) -> bool {
        self.merge(wide);
        true
    }

    fn count(&self) -> u64 {
        self.count
    }

    fn widen(&self) -> Self {
        *self
    }
}
