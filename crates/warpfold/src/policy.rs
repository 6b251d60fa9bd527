//! What the caller may choose: accuracy, NaN, overflow, threads.

use serde::{Deserialize, Serialize};

use crate::plan::Isa;

/// How float sums, means, moments, norms and dot products are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Accuracy {
    /// The mathematical value, rounded once: the same bits on every machine, in any order.
    #[default]
    Exact,
    /// For sum, mean, l1 and dot: blocks are summed as trees in the accumulator type (f32 for floats of up to 32 bits, else f64),
    /// and their sums exactly: the same bits for the same plan. Nothing else is made less exact, because nothing else
    /// would be faster by it.
    Fast,
}

/// What a NaN in the input does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Nan {
    /// The result is NaN (arg*: the index of the first NaN).
    #[default]
    Propagate,
    /// The element is skipped, as if it were not there; mean and var divide by the number kept.
    Ignore,
}

/// What an integer result too large for its type does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Overflow {
    /// It is [`Error::Overflow`](crate::Error::Overflow), judged on the mathematical result.
    #[default]
    Error,
    /// It wraps modulo 2^64.
    Wrap,
}

/// All choices together; the default is the contract's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Policy {
    /// Exact or fast float sums.
    pub accuracy: Accuracy,
    /// NaN propagates or is ignored.
    pub nan: Nan,
    /// Integer overflow is an error or wraps.
    pub overflow: Overflow,
    /// Threads at most; `None` takes what the machine offers.
    pub threads: Option<usize>,
    /// The widest CPU instruction set to use; `None` takes what the machine has. For comparisons: results do not depend on it.
    pub isa: Option<Isa>,
}
