//! [`ManyFold`]: what kernels for many reductions fold, by their names and numbers.

use crate::DType;

/// The folds that kernels for many reductions exist for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[allow(missing_docs, reason = "the variants are the kernels' own names")]
pub enum ManyFold {
    Sum,
    Mean,
    Min,
    Max,
    ArgMin,
    ArgMax,
    Linf,
    Any,
    All,
    Count,
    L1,
    L2,
    Sumsq,
    Prod,
    ExactSum,
    ExactMean,
    ExactL1,
    ExactL2,
    ExactSumsq,
    ExactVar,
    ExactStd,
    IntegerL2,
    IntegerVar,
    IntegerStd,
    IntegerSumsq,
    Moments,
}

impl ManyFold {
    /// Every fold.
    pub const ALL: &[ManyFold] = &[
        ManyFold::Sum,
        ManyFold::Mean,
        ManyFold::Min,
        ManyFold::Max,
        ManyFold::ArgMin,
        ManyFold::ArgMax,
        ManyFold::Linf,
        ManyFold::Any,
        ManyFold::All,
        ManyFold::Count,
        ManyFold::L1,
        ManyFold::L2,
        ManyFold::Sumsq,
        ManyFold::Prod,
        ManyFold::ExactSum,
        ManyFold::ExactMean,
        ManyFold::ExactL1,
        ManyFold::ExactL2,
        ManyFold::ExactSumsq,
        ManyFold::ExactVar,
        ManyFold::ExactStd,
        ManyFold::IntegerL2,
        ManyFold::IntegerVar,
        ManyFold::IntegerStd,
        ManyFold::IntegerSumsq,
        ManyFold::Moments,
    ];

    /// Its part of the kernels' names.
    pub const fn name(self) -> &'static str {
        match self {
            ManyFold::Sum => "sum",
            ManyFold::Mean => "mean",
            ManyFold::Min => "min",
            ManyFold::Max => "max",
            ManyFold::ArgMin => "argmin",
            ManyFold::ArgMax => "argmax",
            ManyFold::Linf => "linf",
            ManyFold::Any => "any",
            ManyFold::All => "all",
            ManyFold::Count => "count",
            ManyFold::L1 => "l1",
            ManyFold::L2 => "l2",
            ManyFold::Sumsq => "sumsq",
            ManyFold::Prod => "prod",
            ManyFold::ExactSum => "exact sum",
            ManyFold::ExactMean => "exact mean",
            ManyFold::ExactL1 => "exact l1",
            ManyFold::ExactL2 => "exact l2",
            ManyFold::ExactSumsq => "exact sumsq",
            ManyFold::ExactVar => "exact var",
            ManyFold::ExactStd => "exact std",
            ManyFold::IntegerL2 => "l2 of integers",
            ManyFold::IntegerVar => "var of integers",
            ManyFold::IntegerStd => "std of integers",
            ManyFold::IntegerSumsq => "sumsq of integers",
            ManyFold::Moments => "exact moments",
        }
    }

    /// The kernels that know it for a type, and its number among their folds.
    pub(super) const fn kernels(self, dtype: DType) -> (&'static str, u32) {
        match self {
            // Of complex numbers all that is asked of zeros is counted.
            ManyFold::Any if dtype.is_complex() => ("totals", 4),
            ManyFold::All if dtype.is_complex() => ("totals", 5),
            ManyFold::Sum => ("totals", 0),
            ManyFold::Mean => ("totals", 1),
            ManyFold::L1 => ("totals", 2),
            ManyFold::Count => ("totals", 3),
            ManyFold::Min => ("extremes", 0),
            ManyFold::Max => ("extremes", 1),
            ManyFold::Linf => ("extremes", 2),
            ManyFold::Any => ("extremes", 3),
            ManyFold::All => ("extremes", 4),
            ManyFold::ArgMin => ("places", 0),
            ManyFold::ArgMax => ("places", 1),
            ManyFold::L2 => ("norms", 0),
            ManyFold::Sumsq => ("norms", 1),
            ManyFold::Prod => ("products", 0),
            ManyFold::ExactSum => ("exact", 0),
            ManyFold::ExactMean => ("exact", 1),
            ManyFold::ExactL1 => ("exact", 2),
            ManyFold::ExactL2 => ("roots", 0),
            ManyFold::ExactSumsq => ("roots", 1),
            ManyFold::ExactVar => ("spread", 0),
            ManyFold::ExactStd => ("spread", 1),
            ManyFold::IntegerL2 => ("squares", 0),
            ManyFold::IntegerVar => ("squares", 1),
            ManyFold::IntegerStd => ("squares", 2),
            ManyFold::IntegerSumsq => ("squares", 3),
            ManyFold::Moments => ("moments", 0),
        }
    }

    /// Whether its kernels take floats as floats, and not as their bits.
    pub(super) const fn computes(self) -> bool {
        !(self.is_place() || self.is_extreme() || matches!(self, ManyFold::Count))
    }

    /// Whether its state is the largest rank.
    pub(super) const fn is_extreme(self) -> bool {
        matches!(
            self,
            ManyFold::Min | ManyFold::Max | ManyFold::Linf | ManyFold::Any | ManyFold::All
        )
    }

    /// Whether its states are pairs, which may miss what they should hold.
    pub(super) const fn is_pair(self) -> bool {
        matches!(
            self,
            ManyFold::ExactSum
                | ManyFold::ExactMean
                | ManyFold::ExactL1
                | ManyFold::ExactL2
                | ManyFold::ExactSumsq
                | ManyFold::ExactVar
                | ManyFold::ExactStd
        )
    }

    /// Whether its state is an exact sum of squares of floats, alone or beside their sum.
    pub(super) const fn is_of_exact_squares(self) -> bool {
        matches!(
            self,
            ManyFold::ExactL2 | ManyFold::ExactSumsq | ManyFold::ExactVar | ManyFold::ExactStd
        )
    }

    /// Whether it is the sum and the sum of squares of integers.
    pub const fn is_of_squares(self) -> bool {
        matches!(
            self,
            ManyFold::IntegerL2
                | ManyFold::IntegerVar
                | ManyFold::IntegerStd
                | ManyFold::IntegerSumsq
        )
    }

    /// Whether its kernels take ddof among their options.
    pub const fn takes_ddof(self) -> bool {
        self.is_of_squares() || matches!(self, ManyFold::ExactVar | ManyFold::ExactStd)
    }

    /// Whether its results are asked of every input's order.
    pub(super) const fn is_place(self) -> bool {
        matches!(self, ManyFold::ArgMin | ManyFold::ArgMax)
    }

    /// Bytes of the state of one input, in the units of memory of a piece.
    pub(super) const fn state_bytes(self, dtype: DType) -> u64 {
        let wide = dtype.size() == 8;
        match self {
            _ if dtype.is_complex() => self.bytes_of_pairs(),
            ManyFold::IntegerL2
            | ManyFold::IntegerVar
            | ManyFold::IntegerStd
            | ManyFold::IntegerSumsq => {
                if wide {
                    40
                } else {
                    32
                }
            }
            ManyFold::Prod if dtype.is_float() => 0,
            ManyFold::Prod | ManyFold::ArgMin | ManyFold::ArgMax => 16,
            ManyFold::ExactVar | ManyFold::ExactStd => 32,
            ManyFold::ExactSum
            | ManyFold::ExactMean
            | ManyFold::ExactL1
            | ManyFold::ExactL2
            | ManyFold::ExactSumsq => 16,
            ManyFold::Moments => 0,
            ManyFold::Sum | ManyFold::Mean | ManyFold::L1 if dtype.is_float() || !wide => 8,
            ManyFold::Sum | ManyFold::Mean | ManyFold::L1 => 16,
            ManyFold::Count if wide => 16,
            ManyFold::Min | ManyFold::Max | ManyFold::Linf | ManyFold::Any | ManyFold::All => 8,
            ManyFold::Count | ManyFold::L2 | ManyFold::Sumsq => 8,
        }
    }

    /// The same of complex numbers.
    const fn bytes_of_pairs(self) -> u64 {
        match self {
            ManyFold::Prod => 0,
            ManyFold::ExactSum | ManyFold::ExactMean => 32,
            ManyFold::Linf => 24,
            ManyFold::ExactL2 | ManyFold::ExactSumsq => 16,
            ManyFold::Moments => 0,
            _ => 8,
        }
    }
}
