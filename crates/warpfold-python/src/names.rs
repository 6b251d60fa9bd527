//! Names of element types, as NumPy and the array API have them.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use warpfold_num::DType;

/// The name of an element type.
pub(crate) const fn name(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::I8 => "int8",
        DType::I16 => "int16",
        DType::I32 => "int32",
        DType::I64 => "int64",
        DType::U8 => "uint8",
        DType::U16 => "uint16",
        DType::U32 => "uint32",
        DType::U64 => "uint64",
        DType::F16 => "float16",
        DType::BF16 => "bfloat16",
        DType::F32 => "float32",
        DType::F64 => "float64",
        DType::Complex64 => "complex64",
        DType::Complex128 => "complex128",
    }
}

/// The element type of a name: those above, Python's types, and NumPy's short codes.
fn named(text: &str) -> Option<DType> {
    let text = text.rsplit('.').next().unwrap_or(text);
    let native = if cfg!(target_endian = "little") { '<' } else { '>' };
    let code = text.trim_start_matches(['=', '|', native]);
    if let Some(&dtype) = DType::ALL.iter().find(|&&dtype| name(dtype) == text) {
        return Some(dtype);
    }
    Some(match code {
        "?" | "b1" | "bool_" => DType::Bool,
        "i1" | "b" => DType::I8,
        "i2" | "h" => DType::I16,
        "i4" | "i" => DType::I32,
        "i8" | "q" | "int" => DType::I64,
        "u1" | "B" => DType::U8,
        "u2" | "H" => DType::U16,
        "u4" | "I" => DType::U32,
        "u8" | "Q" => DType::U64,
        "f2" | "e" | "half" => DType::F16,
        "bf16" => DType::BF16,
        "f4" | "f" => DType::F32,
        "f8" | "d" | "float" | "double" => DType::F64,
        "c8" | "F" => DType::Complex64,
        "c16" | "D" | "complex" => DType::Complex128,
        _ => return None,
    })
}

/// The element type that an object names: a name, a `numpy.dtype`, a scalar type, a `torch.dtype`.
pub(crate) fn dtype(object: &Bound<'_, PyAny>) -> PyResult<DType> {
    let text = match object.cast::<PyString>() {
        Ok(text) => text.to_string(),
        Err(_) => {
            let of = |name| object.getattr(name).ok()?.extract::<String>().ok();
            of("name")
                .or_else(|| of("__name__"))
                .map_or_else(|| Ok(object.str()?.to_string()), Ok::<_, PyErr>)?
        }
    };
    of_name(&text)
}

/// The element type of a name.
pub(crate) fn of_name(text: &str) -> PyResult<DType> {
    named(text).ok_or_else(|| {
        let names: Vec<_> = DType::ALL.iter().map(|&dtype| name(dtype)).collect();
        PyTypeError::new_err(format!(
            "no element type is called {text:?}; the types are {}",
            names.join(", ")
        ))
    })
}
