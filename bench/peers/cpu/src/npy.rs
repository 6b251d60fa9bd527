//! Writes an array as a .npy file, so that Python reads the very same bytes.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use warpfold::DType;

/// NumPy's name of an element type in files; it has none for bf16.
fn descr(dtype: DType) -> Option<&'static str> {
    Some(match dtype {
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
        DType::F32 => "<f4",
        DType::F64 => "<f8",
        DType::Complex64 => "<c8",
        DType::Complex128 => "<c16",
        DType::BF16 => return None,
    })
}

/// Writes version 1.0 of the format: magic, header length, header padded to 64 bytes, data.
pub fn write(path: &Path, dtype: DType, bytes: &[u8]) -> io::Result<()> {
    let descr = descr(dtype).ok_or_else(|| io::Error::other(format!("NumPy has no {dtype}")))?;
    let n = bytes.len() / dtype.size();
    let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({n},), }}");
    const PREFIX: usize = 10;
    let length = (PREFIX + dict.len() + 1).next_multiple_of(64) - PREFIX;
    let mut file = File::create(path)?;
    file.write_all(b"\x93NUMPY\x01\x00")?;
    file.write_all(&(length as u16).to_le_bytes())?;
    writeln!(file, "{dict:<width$}", width = length - 1)?;
    file.write_all(&bytes[..n * dtype.size()])
}
