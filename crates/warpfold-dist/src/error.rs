//! [`Error`]: what can go wrong between ranks, always with the number of the rank that it went wrong with.

/// Why a call that all ranks take part in has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A rank ended, was silent for too long, or sent what is no message.
    #[error("rank {rank} of {size} is lost: {why}; there is no result, start all ranks anew")]
    Lost {
        /// Which.
        rank: usize,
        /// Of how many.
        size: usize,
        /// What was seen of it.
        why: String,
    },
    /// A rank takes part in another reduction, or as another version.
    #[error(
        "rank {rank} differs from rank 0: it computes {theirs:?}, and rank 0 {expected:?}; start all ranks with the same program and options"
    )]
    Differs {
        /// Which.
        rank: usize,
        /// What it said.
        theirs: String,
        /// What rank 0 said.
        expected: String,
    },
    /// A rank said that it has no result of its own.
    #[error("rank {rank} failed: {why}")]
    Failed {
        /// Which.
        rank: usize,
        /// Its own message.
        why: String,
    },
    /// A rank's contribution is not what was agreed on.
    #[error("rank {rank} handed over what cannot be merged: {why}")]
    Contribution {
        /// Which.
        rank: usize,
        /// What is wrong with it.
        why: String,
    },
    /// The world cannot be entered.
    #[error("{requested}: {obstacle}; {remedy}")]
    World {
        /// What was asked for.
        requested: String,
        /// What stood in the way.
        obstacle: String,
        /// What to do.
        remedy: String,
    },
}

/// The crate's result type.
pub type Result<T, E = Error> = std::result::Result<T, E>;
