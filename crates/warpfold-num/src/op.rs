//! The reductions, listed once: names, meaning and properties derive from this table.

use std::{fmt, str::FromStr};

use crate::dtype::DType;
use crate::partial_kind::PartialKind;

macro_rules! ops {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal, $partial:ident -> $result:ident;)+) => {
        /// A reduction of the contract.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
        pub enum Op {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Op {
            /// Every reduction, in the order of the documentation.
            pub const ALL: &[Op] = &[$(Op::$variant,)+];

            /// The name used on the command line and in results.
            pub const fn name(self) -> &'static str {
                match self { $(Op::$variant => $name,)+ }
            }

            /// One line that says what the reduction is.
            pub const fn about(self) -> &'static str {
                match self { $(Op::$variant => concat!($($doc),+).trim_ascii(),)+ }
            }

            /// What elements are folded to. Reductions with the same partial are read from one fold.
            pub const fn partial(self) -> PartialKind {
                match self { $(Op::$variant => PartialKind::$partial,)+ }
            }

            /// What the type of a result depends on.
            pub const fn result(self) -> ResultKind {
                match self { $(Op::$variant => ResultKind::$result,)+ }
            }
        }
    };
}

// Each with its partial and its result.
ops! {
    /// The sum, correctly rounded for floats, checked for integers
    Sum = "sum", Sum -> Total;
    /// The arithmetic mean, rounded once
    Mean = "mean", Sum -> Average;
    /// The variance over n - ddof, rounded once
    Var = "var", Moments -> Real;
    /// The standard deviation: the correctly rounded root of the exact variance
    Std = "std", Moments -> Real;
    /// The sum of magnitudes, rounded once (complex: within one ulp)
    L1 = "l1", Norm1 -> Real;
    /// The Euclidean norm, rounded once
    L2 = "l2", Moments -> Real;
    /// The sum of squared magnitudes, correctly rounded for floats, checked for integers
    Sumsq = "sumsq", Moments -> RealTotal;
    /// The largest magnitude
    Linf = "linf", Magnitude -> Magnitude;
    /// The product, without spurious overflow or underflow on the way
    Prod = "prod", Product -> Total;
    /// The smallest element (NaN propagates, -0 < +0)
    Min = "min", Extremes -> Element;
    /// The largest element (NaN propagates, -0 < +0)
    Max = "max", Extremes -> Element;
    /// The smallest and the largest element in one pass
    MinMax = "minmax", Extremes -> Pair;
    /// The first index of the smallest element
    ArgMin = "argmin", Extremes -> Index;
    /// The first index of the largest element
    ArgMax = "argmax", Extremes -> Index;
    /// Whether any element is nonzero
    Any = "any", Count -> Truth;
    /// Whether all elements are nonzero
    All = "all", Count -> Truth;
    /// The number of nonzero elements
    Count = "count", Count -> Index;
    /// The dot product of two arrays, without conjugation, rounded once
    Dot = "dot", Dot -> Total;
    /// Count, NaN count, sum, mean, var, std, min, max, argmin, argmax, l1 and l2 in one pass
    Stats = "stats", Stats -> Several;
}

/// What the type of a result depends on. Floats are of the type that [`DType::round`] tells, or of one that the caller asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ResultKind {
    /// Of integers 64 bits with their sign, checked; of floats a float, of complex numbers a complex one.
    Total,
    /// The same, but of complex numbers a float.
    RealTotal,
    /// A float; of complex numbers a complex one.
    Average,
    /// A float.
    Real,
    /// Of integers 64 bits without a sign; else a float.
    Magnitude,
    /// An element.
    Element,
    /// Two elements.
    Pair,
    /// An index or a count of elements.
    Index,
    /// Yes or no.
    Truth,
    /// Several results with types of their own.
    Several,
}

impl Op {
    /// What stats consist of beside counts, for a type, in the order of their columns.
    pub fn of_stats(dtype: DType) -> impl Iterator<Item = Op> {
        use Op::{ArgMax, ArgMin, L1, L2, Max, Mean, Min, Std, Sum, Var};
        let all = [Sum, Mean, Var, Std, Min, Max, ArgMin, ArgMax, L1, L2];
        let is_there = move |op: &Op| !(dtype.is_complex() && op.is_ordered());
        all.into_iter().filter(is_there)
    }

    /// Whether it finds elements by their order, which complex numbers do not have.
    pub const fn is_ordered(self) -> bool {
        matches!(self.partial(), PartialKind::Extremes)
    }

    /// Whether it is of deviations from the mean, over `n - ddof`.
    pub const fn is_spread(self) -> bool {
        matches!(self, Op::Var | Op::Std)
    }

    /// Whether it is read from sums of squares.
    pub const fn is_of_squares(self) -> bool {
        matches!(self.partial(), PartialKind::Moments)
    }

    /// Whether it divides by a number of elements, so that NaN can stand for the result of too few.
    pub const fn divides(self) -> bool {
        matches!(self, Op::Mean) || self.is_spread()
    }

    /// So many elements have no result yet; `None` where nothing has one. Elements that are ignored are none.
    pub const fn too_few(self, ddof: u64) -> Option<u64> {
        match self {
            Op::Mean => Some(0),
            op if op.is_spread() => Some(ddof),
            op if op.is_ordered() => Some(0),
            _ => None,
        }
    }

    /// Whether its result of floats is rounded, once, and so may be of any float type (of integers it can be).
    pub const fn is_rounded(self) -> bool {
        use ResultKind::{Average, Magnitude, Real, RealTotal, Total};
        matches!(self.result(), Total | RealTotal | Average | Real | Magnitude)
    }

    /// The type of a result (of each of a pair) of elements, rounded to a float type if one is asked for, or to the complex type of its parts; `None` of stats, which have several, and of
    /// complex results of 16 bits, which are no element type.
    pub const fn result_dtype(self, dtype: DType, round_to: Option<DType>) -> Option<DType> {
        let real = match round_to {
            Some(DType::Complex64) => DType::F32,
            Some(DType::Complex128) => DType::F64,
            Some(to) => to,
            None => dtype.round(),
        };
        let joined = match (dtype.is_complex(), real) {
            (false, real) => Some(real),
            (true, DType::F32) => Some(DType::Complex64),
            (true, DType::F64) => Some(DType::Complex128),
            (true, _) => None,
        };
        let is_whole = round_to.is_none() && !dtype.is_float();
        Some(match self.result() {
            ResultKind::Total | ResultKind::RealTotal if is_whole && dtype.is_signed() => {
                DType::I64
            }
            ResultKind::Total | ResultKind::RealTotal | ResultKind::Magnitude if is_whole => {
                DType::U64
            }
            ResultKind::Total | ResultKind::Average => return joined,
            ResultKind::RealTotal | ResultKind::Real | ResultKind::Magnitude => real,
            ResultKind::Element | ResultKind::Pair => dtype,
            ResultKind::Index => DType::U64,
            ResultKind::Truth => DType::Bool,
            ResultKind::Several => return None,
        })
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Op {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        Op::ALL
            .iter()
            .copied()
            .find(|op| op.name() == s)
            .ok_or_else(|| format!("no reduction is called {s:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complex_type_is_asked_for_by_its_own_name_or_by_that_of_its_parts() {
        use DType::{Complex64, Complex128, F16, F32, F64};
        for (to, sum, norm) in [
            (F32, Some(Complex64), F32),
            (Complex64, Some(Complex64), F32),
            (Complex128, Some(Complex128), F64),
            (F16, None, F16),
        ] {
            for dtype in [Complex64, Complex128] {
                assert_eq!(Op::Sum.result_dtype(dtype, Some(to)), sum, "{to}");
                assert_eq!(Op::L2.result_dtype(dtype, Some(to)), Some(norm), "{to}");
            }
        }
    }
}
