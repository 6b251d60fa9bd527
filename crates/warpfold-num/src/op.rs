//! The reductions, listed once: names, meaning and properties derive from this table.

use std::{fmt, str::FromStr};

use crate::DType;

macro_rules! ops {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
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
        }
    };
}

ops! {
    /// The sum, correctly rounded for floats, checked for integers
    Sum = "sum",
    /// The arithmetic mean, rounded once
    Mean = "mean",
    /// The variance over n - ddof, rounded once
    Var = "var",
    /// The standard deviation: the correctly rounded root of the exact variance
    Std = "std",
    /// The sum of magnitudes, rounded once
    L1 = "l1",
    /// The Euclidean norm, rounded once
    L2 = "l2",
    /// The sum of squared magnitudes, correctly rounded for floats, checked for integers
    Sumsq = "sumsq",
    /// The largest magnitude
    Linf = "linf",
    /// The product, without spurious overflow or underflow on the way
    Prod = "prod",
    /// The smallest element (NaN propagates, -0 < +0)
    Min = "min",
    /// The largest element (NaN propagates, -0 < +0)
    Max = "max",
    /// The smallest and the largest element in one pass
    MinMax = "minmax",
    /// The first index of the smallest element
    ArgMin = "argmin",
    /// The first index of the largest element
    ArgMax = "argmax",
    /// Whether any element is nonzero
    Any = "any",
    /// Whether all elements are nonzero
    All = "all",
    /// The number of nonzero elements
    Count = "count",
    /// The dot product of two arrays, without conjugation, rounded once
    Dot = "dot",
    /// Count, NaN count, sum, mean, var, std, min, max, argmin, argmax, l1 and l2 in one pass
    Stats = "stats",
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
        use Op::{ArgMax, ArgMin, Max, Min, MinMax};
        matches!(self, Min | Max | MinMax | ArgMin | ArgMax)
    }

    /// So many elements have no result yet; `None` where nothing has one. Elements that are ignored are none.
    pub const fn too_few(self, ddof: u64) -> Option<u64> {
        match self {
            Op::Mean => Some(0),
            Op::Var | Op::Std => Some(ddof),
            op if op.is_ordered() => Some(0),
            _ => None,
        }
    }

    /// Whether its result of floats is rounded, once, and so may be of any float type (of integers it can be).
    pub const fn is_rounded(self) -> bool {
        use Op::{Dot, L1, L2, Linf, Mean, Prod, Std, Sum, Sumsq, Var};
        matches!(self, Sum | Mean | Var | Std | L1 | L2 | Sumsq | Linf | Prod | Dot)
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
