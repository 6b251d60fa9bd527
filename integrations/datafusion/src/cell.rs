//! Results as scalars and columns.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, Decimal128Array, Float32Array, Float64Array, Int64Array, UInt64Array,
};
use arrow::datatypes::DataType;
use datafusion_common::{Result, ScalarValue, internal_err};
use warpfold_num::Value;

/// A result that is there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cell {
    F32(f32),
    F64(f64),
    I64(i64),
    U64(u64),
    Decimal(i128),
}

impl Cell {
    pub(crate) fn of(value: Value) -> Result<Cell> {
        Ok(match value {
            Value::F32(value) => Cell::F32(value),
            Value::F64(value) => Cell::F64(value),
            Value::I64(value) => Cell::I64(value),
            Value::U64(value) => Cell::U64(value),
            other => return internal_err!("{other:?} is the result of no function here"),
        })
    }

    pub(crate) fn scalar(cell: Option<Cell>, dtype: &DataType) -> Result<ScalarValue> {
        Ok(match (cell, dtype) {
            (None, dtype) => ScalarValue::try_from(dtype)?,
            (Some(Cell::F32(value)), _) => ScalarValue::Float32(Some(value)),
            (Some(Cell::F64(value)), _) => ScalarValue::Float64(Some(value)),
            (Some(Cell::I64(value)), _) => ScalarValue::Int64(Some(value)),
            (Some(Cell::U64(value)), _) => ScalarValue::UInt64(Some(value)),
            (Some(Cell::Decimal(value)), &DataType::Decimal128(digits, scale)) => {
                ScalarValue::Decimal128(Some(value), digits, scale)
            }
            (Some(cell), dtype) => return internal_err!("{cell:?} is no {dtype}"),
        })
    }

    pub(crate) fn column(cells: &[Option<Cell>], dtype: &DataType) -> Result<ArrayRef> {
        macro_rules! numbers {
            ($array:ty, $variant:ident) => {
                <$array>::from_iter(cells.iter().map(|cell| match cell {
                    Some(Cell::$variant(value)) => Some(*value),
                    _ => None,
                }))
            };
        }
        Ok(match *dtype {
            DataType::Float32 => Arc::new(numbers!(Float32Array, F32)),
            DataType::Float64 => Arc::new(numbers!(Float64Array, F64)),
            DataType::Int64 => Arc::new(numbers!(Int64Array, I64)),
            DataType::UInt64 => Arc::new(numbers!(UInt64Array, U64)),
            DataType::Decimal128(digits, scale) => {
                let numbers = numbers!(Decimal128Array, Decimal);
                Arc::new(numbers.with_precision_and_scale(digits, scale)?)
            }
            ref other => return internal_err!("no function here has a result of {other}"),
        })
    }
}
