//! Decimals: integers of up to 128 bits, summed in 256.

use arrow_buffer::{NullBuffer, i256};
use num_bigint::{BigInt, BigUint};
use warpfold_exact::partial::Finish;
use warpfold_num::limbs::round_ratio;
use warpfold_num::{Error as Reduction, Float, Op, Overflow, Value};

use crate::cell::{Cell, Fields};
use crate::saved::{Reader, Saved, refused};
use crate::{Error, Result};

/// Digits that a decimal of 128 bits holds.
const DIGITS: u32 = 38;

/// Everything that decimals are asked for, in one pass.
#[derive(Debug, Clone, Default)]
pub(crate) struct Decimals {
    /// Fewer than 2^64 values of 128 bits: no sum is wider than 192.
    sum: i256,
    count: u64,
    nonzero: u64,
    min: Option<(i128, u64)>,
    max: Option<(i128, u64)>,
}

impl Decimals {
    /// Takes in an array whose first row has a number.
    pub(crate) fn push<T: Copy + Into<i128>>(
        &mut self,
        first: u64,
        values: &[T],
        nulls: Option<&NullBuffer>,
    ) {
        match nulls {
            None => self.run(first, values),
            Some(nulls) => {
                for (start, end) in nulls.valid_slices() {
                    self.run(first + start as u64, &values[start..end]);
                }
            }
        }
    }

    fn run<T: Copy + Into<i128>>(&mut self, first: u64, values: &[T]) {
        for (row, value) in (first..).zip(values.iter().map(|&value| value.into())) {
            self.sum = self.sum.wrapping_add(i256::from_i128(value));
            self.nonzero += u64::from(value != 0);
            // Rows need not come in their order.
            if self.min.is_none_or(|min| (value, row) < min) {
                self.min = Some((value, row));
            }
            if self.max.is_none_or(|(most, at)| value > most || value == most && row < at) {
                self.max = Some((value, row));
            }
        }
        self.count += values.len() as u64;
    }

    pub(crate) fn merge(&mut self, other: &Decimals) {
        self.sum = self.sum.wrapping_add(other.sum);
        self.count = self.count.saturating_add(other.count);
        self.nonzero = self.nonzero.saturating_add(other.nonzero);
        let both = |a: Option<(i128, u64)>, b: Option<(i128, u64)>| a.into_iter().chain(b);
        self.min = both(self.min, other.min).min();
        self.max = both(self.max, other.max).max_by_key(|&(value, row)| (value, u64::MAX - row));
    }

    pub(crate) fn save(&self, saved: &mut Saved) {
        saved.sum(self.sum);
        saved.number(self.count);
        saved.number(self.nonzero);
        saved.extreme(self.min);
        saved.extreme(self.max);
    }

    pub(crate) fn read(saved: &mut Reader<'_>) -> Result<Decimals> {
        let (sum, count, nonzero) = (saved.sum()?, saved.number()?, saved.number()?);
        let (min, max) = (saved.extreme()?, saved.extreme()?);
        let are_there = [min, max].iter().all(|extreme| extreme.is_some() == (count > 0));
        let is_least = min.zip(max).is_none_or(|((min, _), (max, _))| min <= max);
        match nonzero <= count && are_there && is_least {
            true => Ok(Decimals { sum, count, nonzero, min, max }),
            false => Err(refused("what they tell of decimals contradicts itself")),
        }
    }

    /// The results of a reduction that decimals have.
    pub(crate) fn finish(&self, op: Op, scale: i8, finish: Finish) -> Result<Fields> {
        let one = |cell| Ok(Fields(vec![("value", Some(cell))]));
        let empty = || Error::Reduction(Reduction::Empty { op, ignored: false });
        let extreme =
            |found: Option<(i128, u64)>| found.map(|(value, _)| Cell::Decimal(value, scale));
        let index = |found: Option<(i128, u64)>| found.map(|(_, row)| Cell::Value(Value::U64(row)));
        match op {
            Op::Sum if finish.round_to.is_none() => one(self.sum(scale, finish)?),
            Op::Sum => one(rounded(&self.ratio(scale), 1, finish, op)?),
            Op::Mean if self.count == 0 => Err(empty()),
            Op::Mean => one(self.mean(scale, finish)?),
            Op::Min => one(extreme(self.min).ok_or_else(empty)?),
            Op::Max => one(extreme(self.max).ok_or_else(empty)?),
            Op::MinMax if self.count == 0 => Err(empty()),
            Op::MinMax => Ok(Fields(vec![("min", extreme(self.min)), ("max", extreme(self.max))])),
            Op::ArgMin => one(index(self.min).ok_or_else(empty)?),
            Op::ArgMax => one(index(self.max).ok_or_else(empty)?),
            Op::Any => one(Cell::Value(Value::Bool(self.nonzero > 0))),
            Op::All => one(Cell::Value(Value::Bool(self.nonzero == self.count))),
            Op::Count => one(Cell::Value(Value::U64(self.nonzero))),
            _ => Ok(Fields(vec![
                ("count", Some(Cell::Value(Value::U64(self.count)))),
                ("nan_count", Some(Cell::Value(Value::U64(0)))),
                ("sum", Some(self.sum(scale, finish)?)),
                ("mean", (self.count > 0).then(|| self.mean(scale, finish)).transpose()?),
                ("var", None),
                ("std", None),
                ("min", extreme(self.min)),
                ("max", extreme(self.max)),
                ("argmin", index(self.min)),
                ("argmax", index(self.max)),
                ("l1", None),
                ("l2", None),
            ])),
        }
    }

    fn sum(&self, scale: i8, finish: Finish) -> Result<Cell> {
        let fits = self.sum.to_i128().filter(|sum| sum.unsigned_abs() < 10u128.pow(DIGITS));
        match (fits, finish.overflow) {
            (Some(sum), _) => Ok(Cell::Decimal(sum, scale)),
            (None, Overflow::Error | Overflow::Wrap) => Err(Error::Overflow {
                op: Op::Sum,
                dtype: arrow_schema::DataType::Decimal128(DIGITS as u8, scale),
                value: format!("{} · 10^{}", self.sum, -i32::from(scale)),
                result: format!("a decimal of {DIGITS} digits"),
            }),
        }
    }

    /// The sum, scaled up where the scale is negative, as a ratio's numerator.
    fn ratio(&self, scale: i8) -> Scaled {
        let sum = BigInt::from_signed_bytes_le(&self.sum.to_le_bytes());
        let power = BigUint::from(10u8).pow(u32::from(scale.unsigned_abs()));
        match scale < 0 {
            true => {
                Scaled { numerator: sum * BigInt::from(power), denominator: BigUint::from(1u8) }
            }
            false => Scaled { numerator: sum, denominator: power },
        }
    }

    fn mean(&self, scale: i8, finish: Finish) -> Result<Cell> {
        rounded(&self.ratio(scale), self.count, finish, Op::Mean)
    }
}

struct Scaled {
    numerator: BigInt,
    denominator: BigUint,
}

/// The nearest value of the float type asked for, f64 unless one is.
fn rounded(ratio: &Scaled, by: u64, finish: Finish, op: Op) -> Result<Cell> {
    use warpfold_num::{DType, bf16, f16};
    let value = match finish.round_to {
        None | Some(DType::F64) => Value::F64(nearest(ratio, by)),
        Some(DType::F32) => Value::F32(nearest(ratio, by)),
        Some(DType::F16) => Value::F16(nearest::<f16>(ratio, by)),
        Some(DType::BF16) => Value::BF16(nearest::<bf16>(ratio, by)),
        Some(dtype) => {
            let (option, why) = ("rounding to it", "results are rounded to f16, bf16, f32 or f64");
            return Err(Reduction::Unsupported { option, op, dtype, why }.into());
        }
    };
    Ok(Cell::Value(value))
}

fn nearest<F: Float>(ratio: &Scaled, by: u64) -> F {
    round_ratio(&ratio.numerator, &(&ratio.denominator * by), 0)
}
