//! A result whose type is known only at run time.

use std::any::Any;

use half::{bf16, f16};
use num_complex::Complex;

use crate::{DType, Float, Scalar};

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
            pub fn of<R: Scalar>(values: Vec<R>) -> Column {
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
            pub(crate) fn of_values(values: Vec<Value>) -> Column {
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

impl<F: Float> From<Complex<F>> for Value {
    fn from(value: Complex<F>) -> Value {
        F::complex_value(value)
    }
}

impl Value {
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
