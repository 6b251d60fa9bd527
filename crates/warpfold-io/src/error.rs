//! [`Error`]: every way in which an input gives no elements or a file is not written.

use crate::{Name, Problem, nearest};

/// Why there are no elements, or no file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What was asked makes no sense, whatever the data are.
    #[error("{0}")]
    Usage(String),
    /// An input is not what it should be.
    #[error("{name}: {problem}")]
    Input {
        /// Which one.
        name: Name,
        /// What is wrong with it.
        problem: Box<Problem>,
    },
    /// There is no memory for the buffer that an input is read into.
    #[error(
        "there is no memory for a buffer of {} MiB; raise the limit (ulimit -v), or take fewer --threads",
        bytes >> 20
    )]
    NoBuffer {
        /// Bytes of the buffer.
        bytes: u64,
    },
    /// A file could not be written.
    #[error("cannot write {what}: {reason}")]
    Output {
        /// The file.
        what: String,
        /// The system's word for it.
        reason: String,
    },
    /// An array of no layout that can be addressed.
    #[error(transparent)]
    Layout(#[from] warpfold_num::Error),
}

impl Error {
    /// An input that is not what it should be.
    pub fn input(name: &Name, problem: impl Into<Problem>) -> Error {
        let problem = match (problem.into(), name) {
            (Problem::Missing, Name::File(path)) => match nearest(path) {
                Some(near) => Problem::Misspelt { near: near.escape_debug().to_string() },
                None => Problem::Missing,
            },
            (problem, _) => problem,
        };
        Error::Input { name: name.clone(), problem: Box::new(problem) }
    }

    /// What is wrong with an input, if it is that.
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Error::Input { problem, .. } => Some(problem),
            _ => None,
        }
    }
}
