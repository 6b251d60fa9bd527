//! The one error type: what was asked, what stood in the way, what to do.

use std::fmt;

use crate::dtype::DType;
use crate::op::Op;

/// Everything that can go wrong in a reduction.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The reduction has no value for an empty input.
    #[error(
        "{op} of an empty input has no value; give at least one element{}",
        if *ignored { " that counts (all were ignored: NaN, null, masked out)" } else { "" }
    )]
    Empty {
        /// The reduction asked for.
        op: Op,
        /// Whether elements were there but all of them NaN and ignored.
        ignored: bool,
    },
    /// `ddof` leaves no degree of freedom.
    #[error(
        "{op} with ddof = {ddof} needs more than {ddof} elements, and there are {n}; lower ddof or give more data"
    )]
    TooFew {
        /// The reduction asked for.
        op: Op,
        /// Elements that counted.
        n: u64,
        /// The delta degrees of freedom asked for.
        ddof: u64,
    },
    /// The mathematical result does not fit the result type.
    #[error("{op} of {dtype} is {value}, which {result} cannot hold; {remedy}")]
    Overflow {
        /// The reduction asked for.
        op: Op,
        /// The type of the elements.
        dtype: DType,
        /// The name of the result's type: one of [`DType`]'s, or `i128` or `u128`.
        result: &'static str,
        /// The exact value in decimal, or a bound on it.
        value: String,
        /// Which call or option would hold the value.
        remedy: &'static str,
    },
    /// The two inputs of a dot product differ in length.
    #[error(
        "dot needs two inputs of one length, and they have {left} and {right} elements; cut the longer one"
    )]
    LengthMismatch {
        /// Elements of the first input.
        left: u64,
        /// Elements of the second input.
        right: u64,
    },
    /// The reduction is not defined for the element type.
    #[error("{op} is not defined for {dtype}: {why}")]
    Undefined {
        /// The reduction asked for.
        op: Op,
        /// The type of the elements.
        dtype: DType,
        /// Why, and what to use in its place.
        why: &'static str,
    },
    /// The option is not one that the reduction and element type know.
    #[error("{option} does not apply to {op} of {dtype}: {why}")]
    Unsupported {
        /// The option as the caller knows it.
        option: &'static str,
        /// The reduction asked for.
        op: Op,
        /// The type of the elements.
        dtype: DType,
        /// Why, and what to use in its place.
        why: &'static str,
    },
    /// A shape, strides or axes that are none of the array.
    #[error("{requested}: {obstacle}; {remedy}")]
    Shape {
        /// What was asked, with sizes.
        requested: String,
        /// What stood in the way.
        obstacle: String,
        /// What to do.
        remedy: &'static str,
    },
    /// Offsets or lengths that are no segments of the array.
    #[error("{requested}: {obstacle}; {remedy}")]
    Segments {
        /// What was asked, with sizes.
        requested: String,
        /// What stood in the way, with the first offset that does.
        obstacle: String,
        /// What to do.
        remedy: &'static str,
    },
    /// Keys that are none of the array's elements, or no numbers of groups.
    #[error("{requested}: {obstacle}; {remedy}")]
    Keys {
        /// What was asked, with sizes.
        requested: String,
        /// What stood in the way, with the first key that does.
        obstacle: String,
        /// What to do.
        remedy: &'static str,
    },
    /// One of many outputs has no value; the first such.
    #[error("{output}: {error}")]
    Output {
        /// Which.
        output: At,
        /// Why.
        error: Box<Error>,
    },
    /// A map that cannot be read, that does not suit its inputs, or that has no value for some element.
    #[error("{requested}: {obstacle}; {remedy}")]
    Map {
        /// The place in the text, or the operation and the index of the element.
        requested: String,
        /// What stood in the way.
        obstacle: String,
        /// What to do.
        remedy: String,
    },
    /// A device could not do what was asked.
    #[error("{requested}: {obstacle}; {remedy}")]
    Device {
        /// What was asked, with sizes.
        requested: String,
        /// What stood in the way, with versions where they matter.
        obstacle: String,
        /// What to do.
        remedy: &'static str,
    },
    /// Pieces of a reduction whose result depends on the order of elements, of which some are missing or were merged twice.
    #[error("{op} of {dtype}: {obstacle}; {remedy}")]
    Pieces {
        /// The reduction asked for.
        op: Op,
        /// The type of the elements.
        dtype: DType,
        /// Which elements are missing, or were there twice.
        obstacle: String,
        /// What to do.
        remedy: &'static str,
    },
    /// Bytes that are no saved partial result, or one of another kind.
    #[error(
        "these bytes are not a saved partial of {expected}: {why}; save it again with to_bytes of this version"
    )]
    BadPartial {
        /// The partial that was expected.
        expected: &'static str,
        /// What was wrong with them.
        why: String,
    },
}

/// One of many outputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum At {
    /// Of a segment, by its number.
    Segment(u64),
    /// Of a reduction over axes, by its indices in the result without the folded axes.
    Indices(Vec<u64>),
    /// Of a group, by its key in decimal.
    Group(String),
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            At::Segment(number) => write!(f, "segment {number}"),
            At::Indices(indices) => write!(f, "output {indices:?}"),
            At::Group(key) => write!(f, "group {key}"),
        }
    }
}

/// The library's result type.
pub type Result<T, E = Error> = std::result::Result<T, E>;
