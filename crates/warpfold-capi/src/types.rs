//! The enumerations of the interface, and what they are in Rust.

use warpfold_num::{Accuracy, DType, Nan, Op, Overflow};

use crate::failure::{Failure, Outcome};

/// The number of a [`wf_op`] as it arrives.
pub type op_code = i32;
/// The number of a [`wf_dtype`] as it arrives.
pub type dtype_code = i32;
/// The number of a [`wf_accuracy`] as it arrives.
pub type accuracy_code = i32;
/// The number of a [`wf_nan`] as it arrives.
pub type nan_code = i32;
/// The number of a [`wf_overflow`] as it arrives.
pub type overflow_code = i32;

/// An enumeration with its name in messages and its meaning in Rust.
macro_rules! codes {
    (
        $(#[$doc:meta])* $name:ident is $rust:ty, read by $read:ident;
        $($(#[$variant_doc:meta])* $variant:ident = $code:literal => $value:expr,)+
    ) => {
        impl $name {
            /// What a number stands for.
            pub(crate) fn $read(code: i32) -> Outcome<$rust> {
                match code {
                    $($code => Ok($value),)+
                    _ => Err(Failure::argument(format!(
                        "{code} is no {}; take one of its enumerators",
                        stringify!($name)
                    ))),
                }
            }
        }

        const _: () = {
            $(assert!($name::$variant as i32 == $code);)+
        };
    };
}

/// The types of elements and results. The numbers are those of saved partials.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum wf_dtype {
    /// One byte, 0 or 1: C's bool.
    WF_BOOL = 0,
    /// int8_t
    WF_I8 = 1,
    /// int16_t
    WF_I16 = 2,
    /// int32_t
    WF_I32 = 3,
    /// int64_t
    WF_I64 = 4,
    /// uint8_t
    WF_U8 = 5,
    /// uint16_t
    WF_U16 = 6,
    /// uint32_t
    WF_U32 = 7,
    /// uint64_t
    WF_U64 = 8,
    /// IEEE 754 binary16: _Float16 where there is one, else its bits in a uint16_t.
    WF_F16 = 9,
    /// bfloat16: the upper half of a float, in a uint16_t.
    WF_BF16 = 10,
    /// float
    WF_F32 = 11,
    /// double
    WF_F64 = 12,
    /// float complex: two floats, real part first.
    WF_COMPLEX64 = 13,
    /// double complex: two doubles, real part first.
    WF_COMPLEX128 = 14,
}

codes! {
    wf_dtype is DType, read by dtype;
    WF_BOOL = 0 => DType::Bool,
    WF_I8 = 1 => DType::I8,
    WF_I16 = 2 => DType::I16,
    WF_I32 = 3 => DType::I32,
    WF_I64 = 4 => DType::I64,
    WF_U8 = 5 => DType::U8,
    WF_U16 = 6 => DType::U16,
    WF_U32 = 7 => DType::U32,
    WF_U64 = 8 => DType::U64,
    WF_F16 = 9 => DType::F16,
    WF_BF16 = 10 => DType::BF16,
    WF_F32 = 11 => DType::F32,
    WF_F64 = 12 => DType::F64,
    WF_COMPLEX64 = 13 => DType::Complex64,
    WF_COMPLEX128 = 14 => DType::Complex128,
}

impl From<DType> for wf_dtype {
    fn from(dtype: DType) -> Self {
        match dtype {
            DType::Bool => wf_dtype::WF_BOOL,
            DType::I8 => wf_dtype::WF_I8,
            DType::I16 => wf_dtype::WF_I16,
            DType::I32 => wf_dtype::WF_I32,
            DType::I64 => wf_dtype::WF_I64,
            DType::U8 => wf_dtype::WF_U8,
            DType::U16 => wf_dtype::WF_U16,
            DType::U32 => wf_dtype::WF_U32,
            DType::U64 => wf_dtype::WF_U64,
            DType::F16 => wf_dtype::WF_F16,
            DType::BF16 => wf_dtype::WF_BF16,
            DType::F32 => wf_dtype::WF_F32,
            DType::F64 => wf_dtype::WF_F64,
            DType::Complex64 => wf_dtype::WF_COMPLEX64,
            DType::Complex128 => wf_dtype::WF_COMPLEX128,
        }
    }
}

/// The reductions. Results of integers: i64 or u64 for sum, prod and dot, u64 for linf, f64 for mean, var, std, l1 and l2.
/// Results of floats: f64 and complex128 keep their width, all others give f32 or complex64.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum wf_op {
    /// The sum: of floats correctly rounded, of integers checked.
    WF_SUM = 0,
    /// The arithmetic mean, rounded once.
    WF_MEAN = 1,
    /// The variance over n - ddof, rounded once.
    WF_VAR = 2,
    /// The standard deviation: the correctly rounded root of the exact variance.
    WF_STD = 3,
    /// The sum of magnitudes, rounded once (complex: within one ulp).
    WF_L1 = 4,
    /// The Euclidean norm, rounded once.
    WF_L2 = 5,
    /// The largest magnitude.
    WF_LINF = 6,
    /// The product, without spurious overflow or underflow on the way; of floats within 1 ulp, of integers checked.
    WF_PROD = 7,
    /// The smallest element: NaN propagates, -0 < +0. The element's type.
    WF_MIN = 8,
    /// The largest element: NaN propagates, -0 < +0. The element's type.
    WF_MAX = 9,
    /// The smallest and the largest element in one pass: two columns.
    WF_MINMAX = 10,
    /// The first index of the smallest element, or of the first NaN: u64.
    WF_ARGMIN = 11,
    /// The first index of the largest element, or of the first NaN: u64.
    WF_ARGMAX = 12,
    /// Whether any element is nonzero: bool.
    WF_ANY = 13,
    /// Whether all elements are nonzero: bool.
    WF_ALL = 14,
    /// The number of nonzero elements: u64.
    WF_COUNT = 15,
    /// The dot product of two arrays, without conjugation: of floats rounded once, of integers checked.
    WF_DOT = 16,
    /// count, nan_count, sum, mean, var, std, min, max, argmin, argmax, l1 and l2 in one pass, a column each
    /// (complex: without the extremes); see wf_request_result.
    WF_STATS = 17,
    /// The sum of squared magnitudes: of floats rounded once, of integers checked.
    WF_SUMSQ = 18,
}

codes! {
    wf_op is Op, read by op;
    WF_SUM = 0 => Op::Sum,
    WF_MEAN = 1 => Op::Mean,
    WF_VAR = 2 => Op::Var,
    WF_STD = 3 => Op::Std,
    WF_L1 = 4 => Op::L1,
    WF_L2 = 5 => Op::L2,
    WF_LINF = 6 => Op::Linf,
    WF_PROD = 7 => Op::Prod,
    WF_MIN = 8 => Op::Min,
    WF_MAX = 9 => Op::Max,
    WF_MINMAX = 10 => Op::MinMax,
    WF_ARGMIN = 11 => Op::ArgMin,
    WF_ARGMAX = 12 => Op::ArgMax,
    WF_ANY = 13 => Op::Any,
    WF_ALL = 14 => Op::All,
    WF_COUNT = 15 => Op::Count,
    WF_DOT = 16 => Op::Dot,
    WF_STATS = 17 => Op::Stats,
    WF_SUMSQ = 18 => Op::Sumsq,
}

/// How float sums, means, l1 and dot products are computed.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum wf_accuracy {
    /// The mathematical value, rounded once (the default): the same bits on every machine, in any order.
    WF_EXACT = 0,
    /// Blocks are summed as trees in the accumulator's type.
    WF_FAST = 1,
}

codes! {
    wf_accuracy is Accuracy, read by accuracy;
    WF_EXACT = 0 => Accuracy::Exact,
    WF_FAST = 1 => Accuracy::Fast,
}

/// What a NaN in the input does.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum wf_nan {
    /// The result is NaN (the default); argmin and argmax give the index of the first NaN.
    WF_NAN_PROPAGATE = 0,
    /// The element is skipped, as if it were not there.
    WF_NAN_IGNORE = 1,
}

codes! {
    wf_nan is Nan, read by nan;
    WF_NAN_PROPAGATE = 0 => Nan::Propagate,
    WF_NAN_IGNORE = 1 => Nan::Ignore,
}

/// What an integer result too large for its type does.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum wf_overflow {
    /// It is WF_ERROR_OVERFLOW (the default), judged on the mathematical result.
    WF_OVERFLOW_ERROR = 0,
    /// It wraps modulo 2^64.
    WF_OVERFLOW_WRAP = 1,
}

codes! {
    wf_overflow is Overflow, read by overflow;
    WF_OVERFLOW_ERROR = 0 => Overflow::Error,
    WF_OVERFLOW_WRAP = 1 => Overflow::Wrap,
}
