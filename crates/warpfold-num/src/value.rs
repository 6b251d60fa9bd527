//! A result whose type is known only at run time.

use std::any::Any;
use std::fmt;

use half::{bf16, f16};
use num_complex::Complex;

use crate::dtype::DType;

macro_rules! complex_column {
    ($variant:ident, $values:ident, $one:ident) => {
        Column::$variant(
            $values
                .into_iter()
                .map(|value| match value {
                    Value::$variant(value) => value,
                    other => panic!("{}: {other:?}", $one),
                })
                .collect(),
        )
    };
}

macro_rules! columns {
    ($any:ident, $($variant:ident $ty:ty),+) => {
        $(if let Some(values) = $any.downcast_mut::<Option<Vec<$ty>>>() {
            return Column::$variant(values.take().unwrap_or_default());
        })+
    };
}

macro_rules! with_column {
    ($column:expr, $values:ident => $body:expr, $($variant:ident)+) => {
        match $column {
            $(Column::$variant($values) => $body,)+
            Column::ComplexF16($values) => $body,
            Column::ComplexBF16($values) => $body,
            Column::Complex64($values) => $body,
            Column::Complex128($values) => $body,
        }
    };
}

macro_rules! values {
    ($($variant:ident($ty:ty),)+) => {
        /// One number of any type that a reduction can return.
        #[derive(Debug, Clone, Copy, PartialEq)]
        #[allow(missing_docs, reason = "the variants are the types' own names")]
        pub enum Value {
            $($variant($ty),)+
            ComplexF16(Complex<f16>),
            ComplexBF16(Complex<bf16>),
            Complex64(Complex<f32>),
            Complex128(Complex<f64>),
        }

        /// Many numbers of one type that a reduction can return.
        #[derive(Debug, Clone, PartialEq)]
        #[allow(missing_docs, reason = "the variants are the types' own names")]
        pub enum Column {
            $($variant(Vec<$ty>),)+
            ComplexF16(Vec<Complex<f16>>),
            ComplexBF16(Vec<Complex<bf16>>),
            Complex64(Vec<Complex<f32>>),
            Complex128(Vec<Complex<f64>>),
        }

        impl Column {
            /// Numbers whose type is known, as those of a type known at run time.
            pub fn of<R: Copy + 'static>(values: Vec<R>) -> Column {
                let mut values = Some(values);
                let any: &mut dyn Any = &mut values;
                $(if let Some(values) = any.downcast_mut::<Option<Vec<$ty>>>() {
                    return Column::$variant(values.take().unwrap_or_default());
                })+
                columns!(any, ComplexF16 Complex<f16>, ComplexBF16 Complex<bf16>,
                    Complex64 Complex<f32>, Complex128 Complex<f64>);
                unreachable!("a reduction returns no other type")
            }

            /// Numbers of one type that is known only at run time.
            ///
            /// # Panics
            /// If they have several types.
            pub fn of_values(values: Vec<Value>) -> Column {
                const ONE: &str = "a reduction returns numbers of one type";
                match values.first() {
                    $(Some(Value::$variant(_)) => Column::$variant(values.into_iter().map(|value| match value {
                        Value::$variant(value) => value,
                        other => panic!("{ONE}: {other:?}"),
                    }).collect()),)+
                    Some(Value::ComplexF16(_)) => complex_column!(ComplexF16, values, ONE),
                    Some(Value::ComplexBF16(_)) => complex_column!(ComplexBF16, values, ONE),
                    Some(Value::Complex64(_)) => complex_column!(Complex64, values, ONE),
                    Some(Value::Complex128(_)) => complex_column!(Complex128, values, ONE),
                    None => Column::F64(Vec::new()),
                }
            }

            /// How many.
            pub fn len(&self) -> usize {
                with_column!(self, values => values.len(), $($variant)+)
            }

            /// The element type of the numbers, where it is one (128-bit integers and narrow complex numbers are not).
            pub fn dtype(&self) -> Option<DType> {
                Some(match self {
                    Column::I128(_) | Column::U128(_) | Column::ComplexF16(_) | Column::ComplexBF16(_) => return None,
                    Column::Bool(_) => DType::Bool,
                    Column::I8(_) => DType::I8,
                    Column::I16(_) => DType::I16,
                    Column::I32(_) => DType::I32,
                    Column::I64(_) => DType::I64,
                    Column::U8(_) => DType::U8,
                    Column::U16(_) => DType::U16,
                    Column::U32(_) => DType::U32,
                    Column::U64(_) => DType::U64,
                    Column::F16(_) => DType::F16,
                    Column::BF16(_) => DType::BF16,
                    Column::F32(_) => DType::F32,
                    Column::F64(_) => DType::F64,
                    Column::Complex64(_) => DType::Complex64,
                    Column::Complex128(_) => DType::Complex128,
                })
            }

            /// Whether there are none.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// One of them.
            ///
            /// # Panics
            /// If there are not so many.
            pub fn get(&self, at: usize) -> Value {
                with_column!(self, values => values[at].into(), $($variant)+)
            }
        }

        impl fmt::Display for Value {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Value::$variant(value) => value.fmt(f),)+
                    Value::ComplexF16(value) => value.fmt(f),
                    Value::ComplexBF16(value) => value.fmt(f),
                    Value::Complex64(value) => value.fmt(f),
                    Value::Complex128(value) => value.fmt(f),
                }
            }
        }

        impl Value {
            /// The value as the type that it has; `None` if that is another one.
            pub fn typed<R: Copy + 'static>(self) -> Option<R> {
                let any: &dyn Any = match &self {
                    $(Value::$variant(value) => value,)+
                    Value::ComplexF16(value) => value,
                    Value::ComplexBF16(value) => value,
                    Value::Complex64(value) => value,
                    Value::Complex128(value) => value,
                };
                any.downcast_ref().copied()
            }
        }

        impl Column {
            /// The numbers as a slice of what they are; `None` if they are of another type.
            pub fn slice<R: Copy + 'static>(&self) -> Option<&[R]> {
                let any: &dyn Any = match self {
                    $(Column::$variant(values) => values,)+
                    Column::ComplexF16(values) => values,
                    Column::ComplexBF16(values) => values,
                    Column::Complex64(values) => values,
                    Column::Complex128(values) => values,
                };
                any.downcast_ref::<Vec<R>>().map(Vec::as_slice)
            }

            /// The same, to be changed.
            pub fn slice_mut<R: Copy + 'static>(&mut self) -> Option<&mut [R]> {
                let any: &mut dyn Any = match self {
                    $(Column::$variant(values) => values,)+
                    Column::ComplexF16(values) => values,
                    Column::ComplexBF16(values) => values,
                    Column::Complex64(values) => values,
                    Column::Complex128(values) => values,
                };
                any.downcast_mut::<Vec<R>>().map(Vec::as_mut_slice)
            }

            /// The numbers as what they are; `None` if they are of another type. An empty column is of any type.
            pub fn typed<R: Copy + 'static>(mut self) -> Option<Vec<R>> {
                if self.is_empty() {
                    return Some(Vec::new());
                }
                let any: &mut dyn Any = match &mut self {
                    $(Column::$variant(values) => values,)+
                    Column::ComplexF16(values) => values,
                    Column::ComplexBF16(values) => values,
                    Column::Complex64(values) => values,
                    Column::Complex128(values) => values,
                };
                any.downcast_mut().map(std::mem::take)
            }
        }

        $(impl From<$ty> for Value {
            fn from(value: $ty) -> Value {
                Value::$variant(value)
            }
        })+
    };
}
values! {
    Bool(bool),
    I8(i8),
    I16(i16),
    I32(i32),
    I64(i64),
    I128(i128),
    U8(u8),
    U16(u16),
    U32(u32),
    U64(u64),
    U128(u128),
    F16(f16),
    BF16(bf16),
    F32(f32),
    F64(f64),
}

impl From<usize> for Value {
    fn from(value: usize) -> Value {
        Value::U64(value as u64)
    }
}

impl From<isize> for Value {
    fn from(value: isize) -> Value {
        Value::I64(value as i64)
    }
}

/// The part of a complex number that is a value.
pub trait ComplexValue: Sized {
    /// A complex number of such parts, as a value.
    #[doc(hidden)]
    fn complex_value(value: Complex<Self>) -> Value;
}

macro_rules! complex_values {
    ($($variant:ident($part:ty),)+) => {$(
        impl ComplexValue for $part {
            fn complex_value(value: Complex<Self>) -> Value {
                Value::$variant(value)
            }
        }
    )+};
}
complex_values! {
    ComplexF16(f16),
    ComplexBF16(bf16),
    Complex64(f32),
    Complex128(f64),
}

impl<F: ComplexValue> From<Complex<F>> for Value {
    fn from(value: Complex<F>) -> Value {
        F::complex_value(value)
    }
}

impl Value {
    /// The nearest f64 to a real number; `None` of a complex one.
    pub fn as_f64(&self) -> Option<f64> {
        Some(match *self {
            Value::Bool(value) => f64::from(u8::from(value)),
            Value::I8(value) => value.into(),
            Value::I16(value) => value.into(),
            Value::I32(value) => value.into(),
            Value::I64(value) => value as f64,
            Value::I128(value) => value as f64,
            Value::U8(value) => value.into(),
            Value::U16(value) => value.into(),
            Value::U32(value) => value.into(),
            Value::U64(value) => value as f64,
            Value::U128(value) => value as f64,
            Value::F16(value) => value.into(),
            Value::BF16(value) => value.into(),
            Value::F32(value) => value.into(),
            Value::F64(value) => value,
            Value::ComplexF16(_) | Value::ComplexBF16(_) => return None,
            Value::Complex64(_) | Value::Complex128(_) => return None,
        })
    }

    /// The element type of the value, where it is one (128-bit integers and narrow complex numbers are not).
    pub const fn dtype(&self) -> Option<DType> {
        Some(match self {
            Value::Bool(_) => DType::Bool,
            Value::I8(_) => DType::I8,
            Value::I16(_) => DType::I16,
            Value::I32(_) => DType::I32,
            Value::I64(_) => DType::I64,
            Value::U8(_) => DType::U8,
            Value::U16(_) => DType::U16,
            Value::U32(_) => DType::U32,
            Value::U64(_) => DType::U64,
            Value::F16(_) => DType::F16,
            Value::BF16(_) => DType::BF16,
            Value::F32(_) => DType::F32,
            Value::F64(_) => DType::F64,
            Value::Complex64(_) => DType::Complex64,
            Value::Complex128(_) => DType::Complex128,
            Value::I128(_) | Value::U128(_) | Value::ComplexF16(_) | Value::ComplexBF16(_) => {
                return None;
            }
        })
    }
}
