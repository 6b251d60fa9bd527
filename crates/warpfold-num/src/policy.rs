//! What the caller may choose: accuracy, NaN, overflow, threads.

use std::fmt;

use crate::Isa;

/// How float sums, means, moments, norms and dot products are computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Nan {
    /// The result is NaN (arg*: the index of the first NaN).
    #[default]
    Propagate,
    /// The element is skipped, as if it were not there; mean and var divide by the number kept.
    Ignore,
}

/// What an integer result too large for its type does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Overflow {
    /// It is [`Error::Overflow`](crate::Error::Overflow), judged on the mathematical result.
    #[default]
    Error,
    /// It wraps modulo 2^64.
    Wrap,
}

/// What an output of many does that has no value, such as the minimum of an empty segment or the variance of one element with `ddof` 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Empty {
    /// The whole call is an [`Error::Output`](crate::Error::Output) that names the first such output.
    #[default]
    Error,
    /// It is NaN where the result's type has one, else an error.
    Nan,
    /// It is left out, and told: `None`, a null, a gap.
    None,
}

/// All choices together; the default is the contract's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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

/// Every choice that is not the contract's default, as a plan names it.
impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.accuracy == Accuracy::Fast {
            write!(f, ", fast")?;
        }
        if self.nan == Nan::Ignore {
            write!(f, ", NaN ignored")?;
        }
        if self.overflow == Overflow::Wrap {
            write!(f, ", wrapping")?;
        }
        Ok(())
    }
}

/// The methods of a builder that set its policy.
#[doc(hidden)]
#[macro_export]
macro_rules! policy_methods {
    ($nan:literal) => {
        /// Exact (the default) or fast float sums.
        pub fn accuracy(mut self, accuracy: $crate::Accuracy) -> Self {
            self.policy.accuracy = accuracy;
            self
        }

        #[doc = $nan]
        pub fn nan(mut self, nan: $crate::Nan) -> Self {
            self.policy.nan = nan;
            self
        }

        /// Integer overflow is an error (the default) or wraps.
        pub fn overflow(mut self, overflow: $crate::Overflow) -> Self {
            self.policy.overflow = overflow;
            self
        }

        /// At most so many threads; the default takes what the machine offers.
        pub fn threads(mut self, threads: usize) -> Self {
            self.policy.threads = Some(threads);
            self
        }

        /// All choices at once.
        pub fn policy(mut self, policy: $crate::Policy) -> Self {
            self.policy = policy;
            self
        }
    };
}
