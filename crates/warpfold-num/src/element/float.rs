//! Float element types: what exact values are rounded to.

use half::{bf16, f16};

use super::{Element, Scalar};
use crate::binary::Nearest;
use crate::value::ComplexValue;

/// A float type to which exact values are rounded.
pub trait Float:
    Element<Component = Self> + Nearest + ComplexValue + Scalar + Default + PartialOrd
{
}

impl Float for f16 {}
impl Float for bf16 {}
impl Float for f32 {}
impl Float for f64 {}

/// Runs an expression with a type alias bound to the float type that is to be rounded to.
#[doc(hidden)]
#[macro_export]
macro_rules! with_float {
    ($dtype:expr, $op:expr, $element:expr, $F:ident => $body:expr) => {
        match $dtype {
            $crate::DType::F16 => $crate::with_float!(@$crate::f16, $F => $body),
            $crate::DType::BF16 => $crate::with_float!(@$crate::bf16, $F => $body),
            $crate::DType::F32 | $crate::DType::Complex64 => $crate::with_float!(@f32, $F => $body),
            $crate::DType::F64 | $crate::DType::Complex128 => $crate::with_float!(@f64, $F => $body),
            _ => return Err($crate::Error::Unsupported {
                option: "rounding to an integer type",
                op: $op,
                dtype: $element,
                why: "results are rounded to f16, bf16, f32 or f64 only",
            }),
        }
    };
    (@$ty:ty, $F:ident => $body:expr) => {{
        type $F = $ty;
        $body
    }};
}
