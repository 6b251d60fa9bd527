//! [`Problem`]: what can be wrong with an input.

mod changed;
mod npy;
mod packed;
mod text;

use std::io;

use warpfold_num::DType;

pub(crate) use changed::Changed;
pub use npy::NpyError;
pub(crate) use packed::Damaged;
pub use text::{TextError, delimiter_hint, near_hint};

use crate::Name;

/// What is wrong with an input; the message follows the input's name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The path names nothing.
    #[error("no such file; check the name")]
    Missing,
    /// The path names nothing, and is nearly that of a file.
    #[error("no such file; is it {near}?")]
    Misspelt {
        /// That file.
        near: String,
    },
    /// The path names a directory.
    #[error("is a directory; name the files in it")]
    Directory,
    /// The system would not read it.
    #[error("cannot be read: {}", system_message(.0))]
    Io(io::Error),
    /// The bytes are not a whole number of elements.
    #[error(
        "{bytes} bytes are no whole number of {dtype} elements ({} bytes each); check --dtype, or the file is truncated",
        dtype.size()
    )]
    NotWhole {
        /// Bytes found.
        bytes: u64,
        /// The element type asked for.
        dtype: DType,
    },
    /// A bool array holds another byte than 0 and 1.
    #[error(
        "element {index} is the byte {byte:#04x}, and a bool is 0 or 1; read it as --dtype u8, if it is raw"
    )]
    NotABool {
        /// The element's index in the input.
        index: u64,
        /// What stands there.
        byte: u8,
    },
    /// The file says its type, and `--dtype` says another.
    #[error(
        "holds {found}, not {requested} as --dtype says; leave --dtype out or convert the file"
    )]
    OtherType {
        /// The file's own type.
        found: DType,
        /// The type asked for.
        requested: DType,
    },
    /// Texts whose columns are taken together, and this one has others.
    #[error(
        "has other columns than the files before it; name them apart, or choose one with --column"
    )]
    OtherColumns,
    /// The inputs do not hold the same type.
    #[error("holds {found}, and {other} before it; one reduction takes one element type")]
    MixedTypes {
        /// This input's type.
        found: DType,
        /// The type of the inputs before it.
        other: DType,
    },
    /// One of the two inputs of dot has ended and the other has not.
    #[error(
        "ends after {elements} elements, and {other} goes on; dot needs two inputs of one length"
    )]
    Shorter {
        /// Elements of the shorter input.
        elements: u64,
        /// The longer one.
        other: Name,
    },
    /// Fortran order from a pipe, for a reduction that needs indices in C order.
    #[error(
        "is in Fortran order and cannot be mapped, and this reduction takes elements in C order; save it to a regular file"
    )]
    NeedsMapping,
    /// A rank of several cannot take its share of a stream.
    #[error(
        "is a stream, of which no rank can take a share; save it to a regular file, or leave out --world"
    )]
    NoRange,
    /// The input is wanted as a whole and there is no memory for a copy.
    #[error(
        "does not fit into memory: {} MiB of it were read, and there is no room for more; results by axis, segment or key take it as a whole; save it to a regular .npy file, which is mapped, or raise the limit (ulimit -v)",
        read >> 20
    )]
    NoMemory {
        /// Bytes read so far.
        read: u64,
    },
    /// Offsets, lengths or keys that are no integers.
    #[error("holds {found}, and {what} are integers; convert it, or read text with --dtype i64")]
    NoIntegers {
        /// What it is for.
        what: &'static str,
        /// Its type.
        found: DType,
    },
    /// Keys below 0 and above what signed ones hold.
    #[error(
        "has keys that fit in neither i64 nor u64; 64 bits hold keys from -9223372036854775808 to 9223372036854775807, or from 0 to 18446744073709551615: number them anew"
    )]
    WideKeys,
    /// A file that is not what it was when it was opened.
    #[error(
        "changed while it was read ({0}); there is no result; run again when nothing writes to it"
    )]
    Changed(String),
    /// Compressed data that are not whole.
    #[error("cannot be read: {0}")]
    Packed(String),
    /// No archive of arrays, or not the array asked for.
    #[error("cannot be read as an archive of arrays (.npz): {why}")]
    Archive {
        /// What is wrong.
        why: String,
    },
    /// No `.npy` file, or a wrong one.
    #[error(transparent)]
    Npy(#[from] NpyError),
    /// No numbers, or a wrong one.
    #[error(transparent)]
    Text(#[from] TextError),
}

impl Problem {
    /// Whether elements are of a type that has no reductions, such as words and times.
    pub fn is_of_type(&self) -> bool {
        matches!(self, Problem::Npy(NpyError::Type { .. } | NpyError::Objects))
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Problem {
        if let Some(changed) = Changed::of(&error) {
            return Problem::Changed(changed.to_string());
        }
        if let Some(damaged) = error.get_ref().and_then(|error| error.downcast_ref::<Damaged>()) {
            return Problem::Packed(damaged.to_string());
        }
        match error.kind() {
            io::ErrorKind::NotFound => Problem::Missing,
            io::ErrorKind::IsADirectory => Problem::Directory,
            _ => Problem::Io(error),
        }
    }
}

/// The system's message without Rust's error number.
pub fn system_message(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_string(),
        None => text,
    }
}
