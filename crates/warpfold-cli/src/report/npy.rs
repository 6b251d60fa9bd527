//! `.npy`: the bits themselves, as NumPy reads them.
//!
//! One number is an array without axes, minmax an array of two, stats a record whose fields are named (those without a value are
//! left out). bfloat16 is `<V2`, as `ml_dtypes` writes it.

use warpfold::{DType, Value};

use super::number::type_name;
use super::{Render, Report, Shape};
use crate::Failure;

/// A NumPy array.
pub(super) struct Npy;

impl Render for Npy {
    fn render(report: &Report, out: &mut Vec<u8>) -> Result<(), Failure> {
        let fields = report.fields();
        let mut data = Vec::new();
        let mut types = Vec::new();
        for (name, value) in fields.iter().filter_map(|(name, value)| Some((name, (*value)?))) {
            types.push((name, element(value, &mut data)?));
        }
        let one = |index: usize| format!("'{}'", types[index].1);
        let (descr, shape) = match report.shape() {
            Shape::One => (one(0), "()"),
            Shape::Pair => (one(0), "(2,)"),
            Shape::Named => {
                let quoted = |name: &str| name.replace('\\', "\\\\").replace('\'', "\\'");
                let fields: Vec<_> = types
                    .iter()
                    .map(|(name, ty)| format!("('{}', '{ty}')", quoted(name)))
                    .collect();
                (format!("[{}]", fields.join(", ")), "()")
            }
        };
        out.extend_from_slice(&header(&descr, shape));
        out.extend_from_slice(&data);
        Ok(())
    }
}

/// What stands before the elements of an array.
pub(super) fn header(descr: &str, shape: &str) -> Vec<u8> {
    let mut text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}");
    // Magic, version and length take 10 bytes; the data start at a multiple of 64, after a line feed.
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    text.push_str(&" ".repeat(length - 1 - text.len()));
    text.push('\n');
    [b"\x93NUMPY\x01\x00", &(length as u16).to_le_bytes()[..], text.as_bytes()].concat()
}

/// Appends a value in little-endian order and tells NumPy's name for its type.
fn element(value: Value, data: &mut Vec<u8>) -> Result<&'static str, Failure> {
    macro_rules! parts {
        ($($part:expr),+) => {{ $(data.extend_from_slice(&$part.to_le_bytes());)+ }};
    }
    match value {
        Value::Bool(v) => data.push(u8::from(v)),
        Value::I8(v) => parts!(v),
        Value::I16(v) => parts!(v),
        Value::I32(v) => parts!(v),
        Value::I64(v) => parts!(v),
        Value::U8(v) => parts!(v),
        Value::U16(v) => parts!(v),
        Value::U32(v) => parts!(v),
        Value::U64(v) => parts!(v),
        Value::F16(v) => parts!(v),
        Value::BF16(v) => parts!(v),
        Value::F32(v) => parts!(v),
        Value::F64(v) => parts!(v),
        Value::Complex64(v) => parts!(v.re, v.im),
        Value::Complex128(v) => parts!(v.re, v.im),
        Value::I128(_) | Value::U128(_) | Value::ComplexF16(_) | Value::ComplexBF16(_) => {
            let reason = format!("NumPy has no {} type; write .json or .csv", type_name(value));
            return Err(Failure::Output { what: "the .npy file".into(), reason });
        }
    }
    Ok(value.dtype().map_or("", type_of))
}

/// NumPy's name for an element type.
pub(super) fn type_of(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "|b1",
        DType::I8 => "|i1",
        DType::I16 => "<i2",
        DType::I32 => "<i4",
        DType::I64 => "<i8",
        DType::U8 => "|u1",
        DType::U16 => "<u2",
        DType::U32 => "<u4",
        DType::U64 => "<u8",
        DType::F16 => "<f2",
        DType::BF16 => "<V2",
        DType::F32 => "<f4",
        DType::F64 => "<f8",
        DType::Complex64 => "<c8",
        DType::Complex128 => "<c16",
    }
}
