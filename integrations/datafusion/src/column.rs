//! What functions read columns as: items, one a row, and which of them are there.

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{
    ArrowNativeType, Decimal128Type, Float32Type, Float64Type, Int64Type, UInt64Type,
};
use datafusion_common::{Result, internal_err};

/// A type that columns have here.
pub(crate) trait Native: ArrowNativeType {
    type Arrow: ArrowPrimitiveType<Native = Self>;
}

impl Native for f32 {
    type Arrow = Float32Type;
}

impl Native for f64 {
    type Arrow = Float64Type;
}

impl Native for i64 {
    type Arrow = Int64Type;
}

impl Native for u64 {
    type Arrow = UInt64Type;
}

impl Native for i128 {
    type Arrow = Decimal128Type;
}

/// The values of a column.
pub(crate) fn values<T: Native>(array: &ArrayRef) -> Result<&[T]> {
    match array.as_primitive_opt::<T::Arrow>() {
        Some(array) => Ok(array.values()),
        None => internal_err!("a column of {} where another type was planned", array.data_type()),
    }
}

/// Which rows count: those without a null in any column, and that the filter lets pass.
pub(crate) fn validity(columns: &[ArrayRef], filter: Option<&BooleanArray>) -> Option<NullBuffer> {
    let passing = filter.map(|filter| {
        let (bits, nulls) = filter.clone().into_parts();
        NullBuffer::new(match nulls {
            Some(nulls) => &bits & nulls.inner(),
            None => bits,
        })
    });
    let nulls = columns.iter().map(|column| column.nulls()).chain([passing.as_ref()]);
    let all = nulls.fold(None, |all: Option<NullBuffer>, one| NullBuffer::union(all.as_ref(), one));
    all.filter(|all| all.null_count() > 0)
}

/// The items that count, closed up.
pub(crate) fn kept<T: Copy>(values: &[T], valid: &NullBuffer) -> Vec<T> {
    let mut kept = Vec::with_capacity(valid.len() - valid.null_count());
    for (start, end) in valid.valid_slices() {
        kept.extend_from_slice(&values[start..end]);
    }
    kept
}
