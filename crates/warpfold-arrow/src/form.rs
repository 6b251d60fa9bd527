//! [`Form`]: what a column's type means to a reduction.

use arrow_schema::DataType;
use warpfold_num::{DType, Op};

use crate::{Error, Result};

/// How the values of a column are folded, and what their results mean.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Form {
    /// Numbers of the engine.
    Numbers(DType),
    /// Ticks of a clock or calendar: no sum. Of 32 bits or 64.
    Instants(DType, DataType),
    /// Differences of instants.
    Durations(DataType),
    /// Integers of up to 128 bits, with a scale.
    Decimals(i8),
}

/// Whether the reduction is there for columns of a type; a dictionary is what it stands for.
///
/// # Errors
/// [`Error::Type`].
pub fn check(op: Op, dtype: &DataType) -> Result<()> {
    Form::of(op, dtype).map(drop)
}

/// The engine's type of the numbers in a column; `None` for decimals, times, and what has no reductions.
pub fn number_type(dtype: &DataType) -> Option<DType> {
    match Form::of(Op::Count, dtype) {
        Ok(Form::Numbers(dtype)) => Some(dtype),
        _ => None,
    }
}

impl Form {
    pub(crate) fn of(op: Op, dtype: &DataType) -> Result<Form> {
        use DataType as D;
        let refuse = |remedy| Err(Error::Type { op, dtype: dtype.clone(), remedy });
        let form = match dtype {
            D::Boolean => Form::Numbers(DType::Bool),
            D::Int8 => Form::Numbers(DType::I8),
            D::Int16 => Form::Numbers(DType::I16),
            D::Int32 => Form::Numbers(DType::I32),
            D::Int64 => Form::Numbers(DType::I64),
            D::UInt8 => Form::Numbers(DType::U8),
            D::UInt16 => Form::Numbers(DType::U16),
            D::UInt32 => Form::Numbers(DType::U32),
            D::UInt64 => Form::Numbers(DType::U64),
            D::Float16 => Form::Numbers(DType::F16),
            D::Float32 => Form::Numbers(DType::F32),
            D::Float64 => Form::Numbers(DType::F64),
            D::Date32 | D::Time32(_) => Form::Instants(DType::I32, dtype.clone()),
            D::Date64 | D::Time64(_) | D::Timestamp(..) => {
                Form::Instants(DType::I64, dtype.clone())
            }
            D::Duration(_) => Form::Durations(dtype.clone()),
            D::Decimal32(_, scale) | D::Decimal64(_, scale) | D::Decimal128(_, scale) => {
                Form::Decimals(*scale)
            }
            D::Dictionary(_, values) => return Form::of(op, values),
            D::Decimal256(..) => {
                return refuse("cast the column to decimal128(38, s) or to float64");
            }
            D::Utf8 | D::LargeUtf8 | D::Utf8View => {
                return refuse(
                    "strings have no arithmetic; take them as keys of groups, or cast them to numbers",
                );
            }
            D::Null => {
                return refuse("every value is null and has no type; cast the column to float64");
            }
            D::Struct(_)
            | D::List(_)
            | D::LargeList(_)
            | D::FixedSizeList(..)
            | D::ListView(_)
            | D::LargeListView(_)
            | D::Map(..)
            | D::Union(..) => {
                return refuse("the column is nested; flatten it, or choose another one");
            }
            _ => return refuse("cast the column to numbers, or choose another one"),
        };
        form.check(op, dtype)?;
        Ok(form)
    }

    fn check(&self, op: Op, dtype: &DataType) -> Result<()> {
        use Op::{ArgMax, ArgMin, Count, Max, Mean, Min, MinMax, Stats, Sum};
        let refuse = |remedy| Err(Error::Type { op, dtype: dtype.clone(), remedy });
        if op == Op::Dot {
            return refuse(
                "it takes two columns, whose values are multiplied row by row; name both",
            );
        }
        let always = matches!(op, Min | Max | MinMax | ArgMin | ArgMax | Count | Mean | Stats);
        match self {
            Form::Numbers(_) => Ok(()),
            Form::Instants(..) if always => Ok(()),
            Form::Instants(..) => refuse(
                "times have min, max, minmax, argmin, argmax, mean, count and stats; cast the column to int64 for others",
            ),
            Form::Durations(_) if always || op == Sum => Ok(()),
            Form::Durations(_) => refuse(
                "durations have sum, mean, min, max, minmax, argmin, argmax, count and stats; cast the column to int64 for others",
            ),
            Form::Decimals(_) if always || matches!(op, Sum | Op::Any | Op::All) => Ok(()),
            Form::Decimals(_) => refuse(
                "decimals have sum, mean, min, max, minmax, argmin, argmax, any, all, count and stats; cast the column to float64 for others",
            ),
        }
    }

    /// The engine's type of the values, unless they are wider than any.
    pub(crate) fn dtype(&self) -> Option<DType> {
        match self {
            Form::Numbers(dtype) | Form::Instants(dtype, _) => Some(*dtype),
            Form::Durations(_) => Some(DType::I64),
            Form::Decimals(_) => None,
        }
    }
}
