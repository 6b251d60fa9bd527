//! Element types as data: names, sizes, and the one list that everything else derives from.

use std::{fmt, str::FromStr};

use half::{bf16, f16};
use num_complex::Complex;

/// Calls a macro with the list of every element type: `variant, type, name, [aliases]`.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_element {
    ($callback:ident) => {
        $callback! {
            Bool, bool, "bool", ["b1", "?"];
            I8, i8, "i8", ["int8"];
            I16, i16, "i16", ["int16"];
            I32, i32, "i32", ["int32"];
            I64, i64, "i64", ["int64"];
            U8, u8, "u8", ["uint8"];
            U16, u16, "u16", ["uint16"];
            U32, u32, "u32", ["uint32"];
            U64, u64, "u64", ["uint64"];
            F16, f16, "f16", ["float16", "half"];
            BF16, bf16, "bf16", ["bfloat16"];
            F32, f32, "f32", ["float32", "float"];
            F64, f64, "f64", ["float64", "double"];
            Complex64, Complex<f32>, "complex64", ["c64", "complex<f32>"];
            Complex128, Complex<f64>, "complex128", ["c128", "complex<f64>"];
        }
    };
}

macro_rules! define_dtype {
    ($($variant:ident, $ty:ty, $name:literal, [$($alias:literal),*];)+) => {
        /// The type of the elements of an array.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
        #[allow(missing_docs, reason = "the variants are the types' own names")]
        pub enum DType { $($variant,)+ }

        impl DType {
            /// Every element type, narrow to wide within each class.
            pub const ALL: &[DType] = &[$(DType::$variant,)+];

            /// The canonical name, as printed and as accepted on the command line.
            pub const fn name(self) -> &'static str {
                match self { $(DType::$variant => $name,)+ }
            }

            /// Bytes of one element.
            pub const fn size(self) -> usize {
                match self { $(DType::$variant => size_of::<$ty>(),)+ }
            }

            /// Other names that are understood.
            pub const fn aliases(self) -> &'static [&'static str] {
                match self { $(DType::$variant => &[$($alias),*],)+ }
            }
        }
    };
}
for_each_element!(define_dtype);

impl DType {
    /// Whether elements are floating-point numbers or pairs of them.
    pub const fn is_float(self) -> bool {
        use DType::*;
        matches!(self, F16 | BF16 | F32 | F64 | Complex64 | Complex128)
    }

    /// Whether elements are complex numbers.
    pub const fn is_complex(self) -> bool {
        matches!(self, DType::Complex64 | DType::Complex128)
    }

    /// Whether elements are integers with a sign.
    pub const fn is_signed(self) -> bool {
        matches!(self, DType::I8 | DType::I16 | DType::I32 | DType::I64)
    }

    /// The float type of means, variances and norms: `f32` of floats up to 32 bits and of pairs of these, else `f64`.
    pub const fn round(self) -> DType {
        match self {
            DType::F16 | DType::BF16 | DType::F32 | DType::Complex64 => DType::F32,
            _ => DType::F64,
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for DType {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let lower = s.to_ascii_lowercase();
        DType::ALL
            .iter()
            .copied()
            .find(|d| d.name() == lower || d.aliases().contains(&lower.as_str()))
            .ok_or_else(|| {
                let names: Vec<_> = DType::ALL.iter().map(|d| d.name()).collect();
                format!("no element type is called {s:?}; the types are {}", names.join(", "))
            })
    }
}

/// Runs an expression with a type alias bound to the element type that a [`DType`] names.
///
/// ```
/// use warpfold_num::{DType, with_element};
/// let bytes = with_element!(DType::F32, T => size_of::<T>());
/// assert_eq!(bytes, 4);
/// ```
#[macro_export]
macro_rules! with_element {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            $crate::DType::Bool => $crate::with_element!(@bool, $T => $body),
            $crate::DType::I8 => $crate::with_element!(@i8, $T => $body),
            $crate::DType::I16 => $crate::with_element!(@i16, $T => $body),
            $crate::DType::I32 => $crate::with_element!(@i32, $T => $body),
            $crate::DType::I64 => $crate::with_element!(@i64, $T => $body),
            $crate::DType::U8 => $crate::with_element!(@u8, $T => $body),
            $crate::DType::U16 => $crate::with_element!(@u16, $T => $body),
            $crate::DType::U32 => $crate::with_element!(@u32, $T => $body),
            $crate::DType::U64 => $crate::with_element!(@u64, $T => $body),
            $crate::DType::F16 => $crate::with_element!(@$crate::f16, $T => $body),
            $crate::DType::BF16 => $crate::with_element!(@$crate::bf16, $T => $body),
            $crate::DType::F32 => $crate::with_element!(@f32, $T => $body),
            $crate::DType::F64 => $crate::with_element!(@f64, $T => $body),
            $crate::DType::Complex64 => $crate::with_element!(@$crate::Complex<f32>, $T => $body),
            $crate::DType::Complex128 => $crate::with_element!(@$crate::Complex<f64>, $T => $body),
        }
    };
    (@$ty:ty, $T:ident => $body:expr) => {{
        #[allow(dead_code)]
        type $T = $ty;
        $body
    }};
}
