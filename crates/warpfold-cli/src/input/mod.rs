//! Inputs: files, streams and random numbers, turned into pieces of native-endian elements.
//!
//! Whatever an array comes from, it arrives as [`Pieces`]: byte slices in this machine's order, aligned for every element type,
//! each of [`PIECE_BYTES`] but the last. Nothing here is generic over the element type; [`array()`] views a piece as an array of one.

mod buffer;
mod endian;
mod kind;
mod name;
pub mod npy;
mod npz;
mod open;
mod packed;
mod pieces;
mod problem;
mod random;
mod raw;
pub(crate) mod stamp;
pub mod text;
mod whole;

pub use buffer::Buffer;
pub use endian::Endian;
pub use kind::Kind;
pub(crate) use kind::{extension, is_columns};
pub use name::Name;
pub(crate) use open::text_columns;
pub use open::{Input, Order, Wanted, open};
pub use pieces::{PIECE_BYTES, PIECES_IN_FLIGHT, Pieces, Produce};
pub use problem::Problem;
pub use random::{Distribution, Random};
pub use whole::Whole;

use warpfold::{DType, Element, with_element};
use warpfold_engine::HostArray;

/// Views a piece of native bytes as an array with its element type inside.
///
/// # Errors
/// As [`elements`].
///
/// # Panics
/// As [`elements`].
pub fn array(dtype: DType, bytes: &[u8], first: u64) -> Result<HostArray<'_>, Problem> {
    with_element!(dtype, T => elements::<T>(bytes, first).map(HostArray::of))
}

/// Views a piece of native bytes as elements.
///
/// # Errors
/// [`Problem::NotABool`] where a byte of a bool array is neither 0 nor 1; `first` is the index of the piece's first element.
///
/// # Panics
/// If the bytes are misaligned or no whole number of elements, which [`Pieces`] never are.
pub fn elements<T: Element>(bytes: &[u8], first: u64) -> Result<&[T], Problem> {
    use bytemuck::checked::{CheckedCastError, try_cast_slice};
    // The end of an array is an empty slice, which has no alignment to speak of.
    if bytes.is_empty() {
        return Ok(&[]);
    }
    match try_cast_slice(bytes) {
        Ok(elements) => Ok(elements),
        Err(CheckedCastError::InvalidBitPattern) => {
            let at = bytes.iter().position(|&byte| byte > 1).unwrap_or(0);
            Err(Problem::NotABool { index: first + at as u64, byte: bytes[at] })
        }
        Err(CheckedCastError::PodCastError(error)) => panic!("pieces hold whole elements: {error}"),
    }
}
