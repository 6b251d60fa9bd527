//! Options that ask for many results: one for each row, segment or group.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use warpfold::partial::{Finish, Output};
use warpfold::{DType, Error, Op};
use warpfold_engine as engine;

use super::count;

/// How the input is parted.
#[derive(Debug, Args)]
#[command(next_help_heading = "Many results", group = ArgGroup::new("parts").args(["axis", "segments", "lengths", "every", "by"]))]
pub(crate) struct Parts {
    /// Fold this axis, counted from 0 or from the last as -1 (repeat for several); one result for each element of the others
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = axis)]
    pub(crate) axis: Vec<i64>,

    /// Folded axes stay in the result's shape, with length 1
    #[arg(long, requires = "axis")]
    pub(crate) keepdims: bool,

    /// One result for each segment, by a file of offsets: one more than segments, from where each begins to where the last ends
    #[arg(long, value_name = "OFFSETS")]
    pub(crate) segments: Option<PathBuf>,

    /// One result for each segment, by a file of their lengths
    #[arg(long, value_name = "LENGTHS")]
    pub(crate) lengths: Option<PathBuf>,

    /// One result for every N elements
    #[arg(long, value_name = "N", value_parser = count::length, allow_negative_numbers = true)]
    pub(crate) every: Option<u64>,

    /// One result for each key, by a file of one integer for each element, or as text of one word; of text input also a column of it, of an .npz
    /// file or records of a .npy file an array in it, and of Parquet and Arrow files a column of integers, words, dates or times. Repeat it for one result for each combination of keys
    #[arg(long, value_name = "KEYS")]
    pub(crate) by: Vec<PathBuf>,

    /// Keys come in runs, one result a run: nothing has to be looked up
    #[arg(long, requires = "by")]
    pub(crate) sorted: bool,

    /// Keys are the groups' numbers, from 0 to below K: one result for each number
    #[arg(long, value_name = "K", value_parser = count::parse, allow_negative_numbers = true, requires = "by", conflicts_with = "sorted")]
    pub(crate) groups: Option<u64>,

    /// Indices (argmin, argmax) count from the start of the whole array
    #[arg(long, requires = "parts")]
    pub(crate) flat: bool,

    /// What stands for one of many results, or of several columns, that does not exist, as the mean of no element or the variance of one
    #[arg(long, value_enum, default_value_t)]
    pub(crate) empty: Empty,
}

/// What stands for a result that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Empty {
    /// Nothing: the command fails and names the first
    #[default]
    Error,
    /// NaN, where the results are floats
    Nan,
    /// An empty cell: - in text, null in JSON, nothing between commas in CSV
    None,
}

impl Empty {
    /// As the engine has it.
    pub(crate) fn of_engine(self) -> warpfold::Empty {
        match self {
            Empty::Error => warpfold::Empty::Error,
            Empty::Nan => warpfold::Empty::Nan,
            Empty::None => warpfold::Empty::None,
        }
    }

    /// A result, or what stands for it where it does not exist; `None` is an empty cell.
    ///
    /// # Errors
    /// The result's own, where nothing stands for it.
    pub(crate) fn or_stand_in(
        self,
        (op, dtype, finish): (Op, DType, Finish),
        found: Result<Output, Error>,
    ) -> Result<Option<Output>, Error> {
        match found {
            Err(Error::Empty { .. } | Error::TooFew { .. }) if self == Empty::None => Ok(None),
            Err(error @ (Error::Empty { .. } | Error::TooFew { .. })) => {
                let stand_in = engine::stand_in(op, dtype, finish, self.of_engine());
                stand_in.map(Some).ok_or(error)
            }
            found => found.map(Some),
        }
    }
}

/// Parses an axis.
fn axis(text: &str) -> Result<i64, String> {
    let known = "an axis is an integer: 0 the first, -1 the last; for several, repeat --axis";
    text.parse().map_err(|_| known.into())
}

impl Parts {
    /// Whether there are to be many results.
    pub(crate) fn any(&self) -> bool {
        let Parts { axis, segments, lengths, every, by, .. } = self;
        !axis.is_empty()
            || segments.is_some()
            || lengths.is_some()
            || every.is_some()
            || !by.is_empty()
    }
}
