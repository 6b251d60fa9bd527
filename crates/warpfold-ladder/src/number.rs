//! [`Number`]: the element types of the ladder, and what its operations make of them on the host.

use std::fmt::Display;

use warpfold::{Complex, DType, Element, Op, Value};

use warpfold_lab::array::Draw;
use warpfold_lab::oracle::{Exact, Nearest, Split};

/// The operations of the ladder.
pub const OPS: [Op; 4] = [Op::Sum, Op::Min, Op::Max, Op::Prod];

/// The element types of the ladder.
pub const TYPES: [DType; 6] =
    [DType::I32, DType::I64, DType::F32, DType::F64, DType::Complex64, DType::Complex128];

/// Whether rungs have an operation of an element type.
///
/// # Errors
/// Why not, and what to ask for.
pub fn defined(op: Op, dtype: DType) -> Result<(), String> {
    let names = |names: &[&str]| names.join(", ");
    if !OPS.contains(&op) {
        let ops = names(&OPS.map(Op::name));
        return Err(format!("rungs do not compute {op}; they have {ops}"));
    }
    if !TYPES.contains(&dtype) {
        let types = names(&TYPES.map(DType::name));
        return Err(format!("rungs take no {dtype}; they have {types}"));
    }
    if dtype.is_complex() && matches!(op, Op::Min | Op::Max) {
        return Err(format!(
            "{op} is not defined for {dtype}: complex numbers have no order; take sum or prod"
        ));
    }
    Ok(())
}

/// An element type of the ladder.
pub trait Number: Element<Component: Component> + Display {
    /// The element that changes nothing.
    fn identity(op: Op) -> Self;

    /// What an operation makes of two elements, in the element type: integers wrap.
    fn fold(op: Op, a: Self, b: Self) -> Self;

    /// A result of the library as an element, an integer by its low bits.
    fn of_value(value: Value) -> Option<Self>;
}

/// What elements are made of.
pub trait Component: Draw + Split + PartialEq {
    /// The largest relative error of one operation, 2^-24 or 2^-53; none for integers.
    const ROUNDOFF: Option<f64>;

    /// Whether it is the number rounded to nearest; integers are no matter of rounding.
    fn is_nearest_to(self, exact: &Exact) -> bool;
}

macro_rules! integers {
    ($($ty:ident),+) => {$(
        impl Number for $ty {
            fn identity(op: Op) -> $ty {
                match op {
                    Op::Prod => 1,
                    Op::Min => $ty::MAX,
                    Op::Max => $ty::MIN,
                    _ => 0,
                }
            }

            fn fold(op: Op, a: $ty, b: $ty) -> $ty {
                match op {
                    Op::Prod => a.wrapping_mul(b),
                    Op::Min => a.min(b),
                    Op::Max => a.max(b),
                    _ => a.wrapping_add(b),
                }
            }

            fn of_value(value: Value) -> Option<$ty> {
                match value {
                    Value::I64(wide) => Some(wide as $ty),
                    Value::I32(narrow) => Some(narrow.into()),
                    _ => None,
                }
            }
        }

        impl Component for $ty {
            const ROUNDOFF: Option<f64> = None;

            fn is_nearest_to(self, exact: &Exact) -> bool {
                Exact::of(self) == *exact
            }
        }
    )+};
}
integers!(i32, i64);

macro_rules! floats {
    ($($ty:ident: $variant:ident, $roundoff:expr;)+) => {$(
        impl Number for $ty {
            fn identity(op: Op) -> $ty {
                match op {
                    Op::Prod => 1.0,
                    Op::Min => $ty::INFINITY,
                    Op::Max => $ty::NEG_INFINITY,
                    _ => 0.0,
                }
            }

            /// A NaN, once met, stays.
            fn fold(op: Op, a: $ty, b: $ty) -> $ty {
                match op {
                    Op::Prod => a * b,
                    Op::Min if b < a || b.is_nan() => b,
                    Op::Max if b > a || b.is_nan() => b,
                    Op::Min | Op::Max => a,
                    _ => a + b,
                }
            }

            fn of_value(value: Value) -> Option<$ty> {
                match value {
                    Value::$variant(value) => Some(value),
                    _ => None,
                }
            }
        }

        impl Component for $ty {
            const ROUNDOFF: Option<f64> = Some($roundoff);

            fn is_nearest_to(self, exact: &Exact) -> bool {
                Nearest::is_nearest(self, |midpoint| exact.cmp(midpoint))
            }
        }
    )+};
}
floats! { f32: F32, f32::EPSILON as f64 / 2.0; f64: F64, f64::EPSILON / 2.0; }

macro_rules! complex {
    ($($part:ident: $variant:ident;)+) => {$(
        impl Number for Complex<$part> {
            fn identity(op: Op) -> Self {
                Complex::new($part::identity(op), 0.0)
            }

            fn fold(op: Op, a: Self, b: Self) -> Self {
                if op == Op::Prod { a * b } else { a + b }
            }

            fn of_value(value: Value) -> Option<Self> {
                match value {
                    Value::$variant(value) => Some(value),
                    _ => None,
                }
            }
        }
    )+};
}
complex! { f32: Complex64; f64: Complex128; }

/// Runs an expression with a type alias bound to the ladder's element type that a [`DType`] names.
///
/// # Panics
/// If it is none of [`TYPES`].
#[macro_export]
macro_rules! with_number {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            warpfold::DType::I32 => $crate::with_number!(@i32, $T => $body),
            warpfold::DType::I64 => $crate::with_number!(@i64, $T => $body),
            warpfold::DType::F32 => $crate::with_number!(@f32, $T => $body),
            warpfold::DType::F64 => $crate::with_number!(@f64, $T => $body),
            warpfold::DType::Complex64 => $crate::with_number!(@warpfold::Complex<f32>, $T => $body),
            warpfold::DType::Complex128 => $crate::with_number!(@warpfold::Complex<f64>, $T => $body),
            other => panic!("rungs take no {other}: ladder::defined says so beforehand"),
        }
    };
    (@$ty:ty, $T:ident => $body:expr) => {{
        type $T = $ty;
        $body
    }};
}
