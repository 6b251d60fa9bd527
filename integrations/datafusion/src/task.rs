//! [`Task`]: which function of which type; what types become.

use arrow::datatypes::DataType;
use datafusion_common::{Result, plan_err};
use warpfold_exact::partial::Finish;

use crate::function::Function;

/// What a column is folded as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Input {
    F32,
    F64,
    I64,
    U64,
    /// Digits and scale.
    Decimal(u8, i8),
}

impl Input {
    /// What columns of a type are folded as, without loss.
    pub(crate) fn of(function: Function, dtype: &DataType) -> Result<Input> {
        use DataType::*;
        let has_decimals = matches!(function, Function::Sum | Function::Avg);
        Ok(match dtype {
            Int8 | Int16 | Int32 | Int64 | Boolean => Input::I64,
            UInt8 | UInt16 | UInt32 | UInt64 => Input::U64,
            Float16 | Float32 => Input::F32,
            Float64 | Null => Input::F64,
            Decimal32(digits, scale) | Decimal64(digits, scale) | Decimal128(digits, scale)
                if has_decimals =>
            {
                Input::Decimal(*digits, *scale)
            }
            Dictionary(_, values) => Input::of(function, values)?,
            RunEndEncoded(_, values) => Input::of(function, values.data_type())?,
            other => {
                let name = function.name();
                return plan_err!(
                    "{name} of {other} is not defined; cast the column to a number, as in {name}(CAST(x AS DOUBLE))"
                );
            }
        })
    }

    /// What two columns are folded as, where one type holds both without loss.
    pub(crate) fn of_pair(x: &DataType, y: &DataType) -> Result<Input> {
        let both = (Input::of(Function::Dot, x)?, Input::of(Function::Dot, y)?);
        let is_narrow = |dtype: &DataType| {
            use DataType::*;
            matches!(dtype, Int8 | Int16 | Int32 | UInt8 | UInt16 | UInt32 | Boolean | Null)
        };
        Ok(match both {
            (a, b) if a == b => a,
            (Input::F32 | Input::F64, Input::F32 | Input::F64) => Input::F64,
            (Input::F32 | Input::F64, _) if is_narrow(y) => Input::F64,
            (_, Input::F32 | Input::F64) if is_narrow(x) => Input::F64,
            (Input::I64, Input::U64) if is_narrow(y) => Input::I64,
            (Input::U64, Input::I64) if is_narrow(x) => Input::I64,
            _ => {
                return plan_err!(
                    "exact_dot of {x} and {y}: no type holds both without loss; cast one of the columns"
                );
            }
        })
    }

    pub(crate) fn data_type(self) -> DataType {
        match self {
            Input::F32 => DataType::Float32,
            Input::F64 => DataType::Float64,
            Input::I64 => DataType::Int64,
            Input::U64 => DataType::UInt64,
            Input::Decimal(digits, scale) => DataType::Decimal128(digits, scale),
        }
    }
}

/// One aggregate of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) function: Function,
    pub(crate) input: Input,
}

impl Task {
    pub(crate) fn new(function: Function, dtype: &DataType) -> Result<Task> {
        Ok(Task { function, input: Input::of(function, dtype)? })
    }

    /// The type of the result.
    pub(crate) fn output(self) -> DataType {
        let is_sum = matches!(self.function, Function::Sum | Function::Dot);
        match self.input {
            Input::F32 => DataType::Float32,
            Input::I64 if is_sum => DataType::Int64,
            Input::U64 if is_sum => DataType::UInt64,
            Input::Decimal(_, scale) if is_sum => DataType::Decimal128(38, scale),
            _ => DataType::Float64,
        }
    }

    pub(crate) fn finish(self) -> Finish {
        Finish { ddof: self.function.ddof(), ..Finish::default() }
    }
}
