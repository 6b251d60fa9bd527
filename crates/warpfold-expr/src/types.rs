//! [`Type`] and [`Const`]: what operations compute in, and what stands in a text.

use std::fmt;

use warpfold_num::DType;

/// What operations compute in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are the types' own names")]
pub enum Type {
    Bool,
    I64,
    U64,
    F32,
    F64,
}

impl Type {
    /// What elements of a type compute in; `None` of complex ones, which maps do not take.
    pub const fn of(dtype: DType) -> Option<Type> {
        Some(match dtype {
            DType::Bool => Type::Bool,
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => Type::I64,
            DType::U8 | DType::U16 | DType::U32 | DType::U64 => Type::U64,
            DType::F16 | DType::BF16 | DType::F32 => Type::F32,
            DType::F64 => Type::F64,
            DType::Complex64 | DType::Complex128 => return None,
        })
    }

    /// The same as an element type.
    pub const fn dtype(self) -> DType {
        match self {
            Type::Bool => DType::Bool,
            Type::I64 => DType::I64,
            Type::U64 => DType::U64,
            Type::F32 => DType::F32,
            Type::F64 => DType::F64,
        }
    }

    /// Whether it is one of floats.
    pub const fn is_float(self) -> bool {
        matches!(self, Type::F32 | Type::F64)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.dtype().fmt(f)
    }
}

/// A constant; floats by their bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are the types' own names")]
pub enum Const {
    Bool(bool),
    I64(i64),
    U64(u64),
    F32(u32),
    F64(u64),
}

impl Const {
    /// Its type.
    pub const fn ty(self) -> Type {
        match self {
            Const::Bool(_) => Type::Bool,
            Const::I64(_) => Type::I64,
            Const::U64(_) => Type::U64,
            Const::F32(_) => Type::F32,
            Const::F64(_) => Type::F64,
        }
    }
}

impl fmt::Display for Const {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Const::Bool(value) => write!(f, "{value}"),
            Const::I64(value) => write!(f, "{value}"),
            Const::U64(value) => write!(f, "{value}"),
            Const::F32(bits) => write!(f, "{:?}", f32::from_bits(bits)),
            Const::F64(bits) => write!(f, "{:?}", f64::from_bits(bits)),
        }
    }
}
