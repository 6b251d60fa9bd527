//! [`BatchedFold`]: what kernels for many reductions fold, by their names and numbers.

use crate::DType;

/// The folds that kernels for many reductions exist for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[allow(missing_docs, reason = "the variants are the kernels' own names")]
pub enum BatchedFold {
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
    Stats,
    ComplexSum,
    ComplexMean,
    ComplexVar,
    ComplexStd,
    ComplexL1,
    ComplexL2,
}

impl BatchedFold {
    /// Every fold.
    pub const ALL: &[BatchedFold] = &[
        BatchedFold::Sum,
        BatchedFold::Mean,
        BatchedFold::Min,
        BatchedFold::Max,
        BatchedFold::ArgMin,
        BatchedFold::ArgMax,
        BatchedFold::Linf,
        BatchedFold::Any,
        BatchedFold::All,
        BatchedFold::Count,
        BatchedFold::L1,
        BatchedFold::L2,
        BatchedFold::Sumsq,
        BatchedFold::Prod,
        BatchedFold::ExactSum,
        BatchedFold::ExactMean,
        BatchedFold::ExactL1,
        BatchedFold::ExactL2,
        BatchedFold::ExactSumsq,
        BatchedFold::ExactVar,
        BatchedFold::ExactStd,
        BatchedFold::IntegerL2,
        BatchedFold::IntegerVar,
        BatchedFold::IntegerStd,
        BatchedFold::IntegerSumsq,
        BatchedFold::Moments,
        BatchedFold::Stats,
        BatchedFold::ComplexSum,
        BatchedFold::ComplexMean,
        BatchedFold::ComplexVar,
        BatchedFold::ComplexStd,
        BatchedFold::ComplexL1,
        BatchedFold::ComplexL2,
    ];

    /// Its part of the kernels' names.
    pub const fn name(self) -> &'static str {
        match self {
            BatchedFold::Sum => "sum",
            BatchedFold::Mean => "mean",
            BatchedFold::Min => "min",
            BatchedFold::Max => "max",
            BatchedFold::ArgMin => "argmin",
            BatchedFold::ArgMax => "argmax",
            BatchedFold::Linf => "linf",
            BatchedFold::Any => "any",
            BatchedFold::All => "all",
            BatchedFold::Count => "count",
            BatchedFold::L1 => "l1",
            BatchedFold::L2 => "l2",
            BatchedFold::Sumsq => "sumsq",
            BatchedFold::Prod => "prod",
            BatchedFold::ExactSum => "exact sum",
            BatchedFold::ExactMean => "exact mean",
            BatchedFold::ExactL1 => "exact l1",
            BatchedFold::ExactL2 => "exact l2",
            BatchedFold::ExactSumsq => "exact sumsq",
            BatchedFold::ExactVar => "exact var",
            BatchedFold::ExactStd => "exact std",
            BatchedFold::IntegerL2 => "l2 of integers",
            BatchedFold::IntegerVar => "var of integers",
            BatchedFold::IntegerStd => "std of integers",
            BatchedFold::IntegerSumsq => "sumsq of integers",
            BatchedFold::Moments => "exact moments",
            BatchedFold::Stats => "exact stats",
            BatchedFold::ComplexSum => "sum of stats",
            BatchedFold::ComplexMean => "mean of stats",
            BatchedFold::ComplexVar => "var of stats",
            BatchedFold::ComplexStd => "std of stats",
            BatchedFold::ComplexL1 => "l1 of stats",
            BatchedFold::ComplexL2 => "l2 of stats",
        }
    }

    /// The kernels that know it for a type, and its number among their folds.
    pub(super) const fn kernels(self, dtype: DType) -> (&'static str, u32) {
        match self {
            // Of complex numbers all that is asked of zeros is counted.
            BatchedFold::Any if dtype.is_complex() => ("totals", 4),
            BatchedFold::All if dtype.is_complex() => ("totals", 5),
            BatchedFold::Sum => ("totals", 0),
            BatchedFold::Mean => ("totals", 1),
            BatchedFold::L1 => ("totals", 2),
            BatchedFold::Count => ("totals", 3),
            BatchedFold::Min => ("extremes", 0),
            BatchedFold::Max => ("extremes", 1),
            BatchedFold::Linf => ("extremes", 2),
            BatchedFold::Any => ("extremes", 3),
            BatchedFold::All => ("extremes", 4),
            BatchedFold::ArgMin => ("arg_extremes", 0),
            BatchedFold::ArgMax => ("arg_extremes", 1),
            BatchedFold::L2 => ("norms", 0),
            BatchedFold::Sumsq => ("norms", 1),
            BatchedFold::Prod => ("products", 0),
            BatchedFold::ExactSum => ("exact", 0),
            BatchedFold::ExactMean => ("exact", 1),
            BatchedFold::ExactL1 => ("exact", 2),
            BatchedFold::ExactL2 => ("exact_norms", 0),
            BatchedFold::ExactSumsq => ("exact_norms", 1),
            BatchedFold::ExactVar => ("spread", 0),
            BatchedFold::ExactStd => ("spread", 1),
            BatchedFold::IntegerL2 => ("squares", 0),
            BatchedFold::IntegerVar => ("squares", 1),
            BatchedFold::IntegerStd => ("squares", 2),
            BatchedFold::IntegerSumsq => ("squares", 3),
            BatchedFold::Moments => ("moments", 0),
            // One of its columns, `StatsColumn` of the kernels, from 1.
            BatchedFold::Stats => ("stats", 0),
            BatchedFold::ComplexSum => ("stats", 4),
            BatchedFold::ComplexMean => ("stats", 5),
            BatchedFold::ComplexVar => ("stats", 6),
            BatchedFold::ComplexStd => ("stats", 7),
            BatchedFold::ComplexL1 => ("stats", 8),
            BatchedFold::ComplexL2 => ("stats", 9),
        }
    }

    /// Whether its kernels take floats as floats, and not as their bits.
    pub(super) const fn computes(self) -> bool {
        !(self.is_index() || self.is_extreme() || matches!(self, BatchedFold::Count))
    }

    /// Whether its state is the largest rank.
    pub(super) const fn is_extreme(self) -> bool {
        matches!(
            self,
            BatchedFold::Min
                | BatchedFold::Max
                | BatchedFold::Linf
                | BatchedFold::Any
                | BatchedFold::All
        )
    }

    /// Whether its states of floats are pairs, which may miss what they should hold.
    pub(super) const fn is_pair(self) -> bool {
        matches!(
            self,
            BatchedFold::ExactSum
                | BatchedFold::ExactMean
                | BatchedFold::ExactL1
                | BatchedFold::ExactL2
                | BatchedFold::ExactSumsq
                | BatchedFold::ExactVar
                | BatchedFold::ExactStd
        ) || self.is_of_stats()
    }

    /// Whether it is stats, or what complex numbers have of them alone.
    pub(super) const fn is_of_stats(self) -> bool {
        matches!(self, BatchedFold::Stats) || self.is_alone_of_stats()
    }

    /// Whether it is one column of stats of complex numbers.
    pub const fn is_alone_of_stats(self) -> bool {
        matches!(
            self,
            BatchedFold::ComplexSum
                | BatchedFold::ComplexMean
                | BatchedFold::ComplexVar
                | BatchedFold::ComplexStd
                | BatchedFold::ComplexL1
                | BatchedFold::ComplexL2
        )
    }

    /// Whether its state is an exact sum of squares of floats, alone or beside their sum.
    pub(super) const fn is_of_exact_squares(self) -> bool {
        matches!(
            self,
            BatchedFold::ExactL2
                | BatchedFold::ExactSumsq
                | BatchedFold::ExactVar
                | BatchedFold::ExactStd
        )
    }

    /// Whether it is the sum and the sum of squares of integers.
    pub const fn is_of_squares(self) -> bool {
        matches!(
            self,
            BatchedFold::IntegerL2
                | BatchedFold::IntegerVar
                | BatchedFold::IntegerStd
                | BatchedFold::IntegerSumsq
        )
    }

    /// Whether its kernels take ddof among their options.
    pub const fn takes_ddof(self) -> bool {
        self.is_of_squares()
            || matches!(self, BatchedFold::ExactVar | BatchedFold::ExactStd)
            || self.is_of_stats()
    }

    /// Whether its results are asked of every input's order.
    pub(super) const fn is_index(self) -> bool {
        matches!(self, BatchedFold::ArgMin | BatchedFold::ArgMax)
    }

    /// Bytes of the state of one input, in the units of memory of a piece.
    pub(super) const fn state_bytes(self, dtype: DType) -> u64 {
        let wide = dtype.size() == 8;
        match self {
            _ if dtype.is_complex() => self.bytes_of_pairs(),
            BatchedFold::IntegerL2
            | BatchedFold::IntegerVar
            | BatchedFold::IntegerStd
            | BatchedFold::IntegerSumsq => match dtype.size() {
                8 => 40,
                4 => 24,
                _ => 16,
            },
            BatchedFold::Prod if dtype.is_float() => 0,
            BatchedFold::Prod | BatchedFold::ArgMin | BatchedFold::ArgMax => 16,
            BatchedFold::ExactVar | BatchedFold::ExactStd => 32,
            BatchedFold::ExactSum
            | BatchedFold::ExactMean
            | BatchedFold::ExactL1
            | BatchedFold::ExactL2
            | BatchedFold::ExactSumsq => 16,
            BatchedFold::Moments
            | BatchedFold::ComplexSum
            | BatchedFold::ComplexMean
            | BatchedFold::ComplexVar
            | BatchedFold::ComplexStd
            | BatchedFold::ComplexL1
            | BatchedFold::ComplexL2 => 0,
            BatchedFold::Stats if wide => 96,
            BatchedFold::Stats if dtype.is_float() => 80,
            BatchedFold::Stats if dtype.size() == 4 => 64,
            BatchedFold::Stats => 48,
            BatchedFold::Sum | BatchedFold::Mean | BatchedFold::L1 if dtype.is_float() || !wide => {
                8
            }
            BatchedFold::Sum | BatchedFold::Mean | BatchedFold::L1 => 16,
            BatchedFold::Count if wide => 16,
            BatchedFold::Min
            | BatchedFold::Max
            | BatchedFold::Linf
            | BatchedFold::Any
            | BatchedFold::All => 8,
            BatchedFold::Count | BatchedFold::L2 | BatchedFold::Sumsq => 8,
        }
    }

    /// The same of complex numbers.
    const fn bytes_of_pairs(self) -> u64 {
        match self {
            BatchedFold::Prod => 0,
            BatchedFold::ExactSum | BatchedFold::ExactMean => 32,
            BatchedFold::Linf => 24,
            BatchedFold::ExactL2 | BatchedFold::ExactSumsq => 16,
            BatchedFold::Moments => 0,
            _ if self.is_of_stats() => 80,
            _ => 8,
        }
    }
}
