//! [`Error`]: what was asked for, what stood in the way, what to do.

use arrow_schema::DataType;
use warpfold_num::{DType, Op};

/// Everything that can go wrong in a reduction of a column.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The reduction itself has no result.
    #[error(transparent)]
    Reduction(#[from] warpfold_num::Error),
    /// Columns of this type are not reduced.
    #[error("{op} of {dtype} is not defined: {remedy}")]
    Type {
        /// The reduction asked for.
        op: Op,
        /// The column's type.
        dtype: DataType,
        /// What to do.
        remedy: &'static str,
    },
    /// Columns of this type are no keys.
    #[error("a column of {dtype} has no keys for groups: {remedy}")]
    Key {
        /// The column's type.
        dtype: DataType,
        /// What to do.
        remedy: &'static str,
    },
    /// An array of another type than those before it.
    #[error(
        "an array of {found} follows arrays of {before}; a column has one type: cast one of them"
    )]
    Mixed {
        /// The type of this array.
        found: DataType,
        /// That of the arrays before.
        before: DataType,
    },
    /// Keys and values do not stand side by side.
    #[error("there are {keys} keys for {values} values; give one key for each value")]
    Lengths {
        /// Keys.
        keys: usize,
        /// Values.
        values: usize,
    },
    /// The sum, or the mean, is beyond the type.
    #[error("{op} of {dtype} is {value}, which {result} cannot hold; cast the column to float64")]
    Overflow {
        /// The reduction asked for.
        op: Op,
        /// The column's type.
        dtype: DataType,
        /// The exact value.
        value: String,
        /// The type of the result.
        result: String,
    },
    /// A value that the type in which two columns are multiplied does not hold.
    #[error(
        "row {row}: {value} is no {dtype}, as which the two columns are multiplied; cast them to one type"
    )]
    Inexact {
        /// The row, from 0, in all files and arrays together.
        row: u64,
        /// The value.
        value: i128,
        /// The type.
        dtype: DType,
    },
    /// A file is not what it should be.
    #[error("{path}: {why}")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it, and what to do.
        why: String,
    },
    /// A column was asked for that is not there.
    #[error("{path}: there is no column {column}; it has {columns}")]
    NoColumn {
        /// The file.
        path: String,
        /// What was asked for.
        column: String,
        /// What there is.
        columns: String,
    },
}

/// The crate's result type.
pub type Result<T, E = Error> = std::result::Result<T, E>;
