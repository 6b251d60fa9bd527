//! Input and output: files, streams and random numbers, turned into pieces of native-endian elements, and files written whole or not at all.
//!
//! Whatever an array comes from, it arrives as [`Pieces`]: byte slices in this machine's order, aligned for every element type,
//! each of [`PIECE_BYTES`] but the last. Nothing here is generic over the element type; [`array()`] views a piece as an array of one.
//!
//! ```
//! use warpfold_io::{Order, Wanted, open};
//!
//! # fn main() -> Result<(), warpfold_io::Error> {
//! # let file = std::env::temp_dir().join("warpfold-io.csv");
//! # warpfold_io::outfile::replace(&file, b"1.5\n2.5\n")?;
//! let mut sum = 0.0;
//! for input in open(&[file], &Wanted::default())? {
//!     let name = input.name().clone();
//!     let mut pieces = input.pieces(Order::Memory)?;
//!     while let Some(piece) = pieces.next_piece()? {
//!         let numbers = warpfold_io::elements::<f64>(piece, 0);
//!         sum += numbers.map_err(|problem| warpfold_io::Error::input(&name, problem))?.iter().sum::<f64>();
//!     }
//! }
//! assert_eq!(sum, 4.0);
//! # Ok(())
//! # }
//! ```

mod ahead;
mod apart;
mod buffer;
mod endian;
pub mod ending;
mod error;
mod kept;
mod kind;
mod mapped;
pub mod memory;
mod name;
mod narrow;
mod nearest;
pub mod npy;
mod npz;
mod number;
mod once;
mod open;
pub mod outfile;
mod packed;
mod pieces;
mod problem;
mod random;
mod raw;
mod stamp;
pub mod standard;
pub mod text;
pub mod threads;
mod whole;

pub use buffer::{Buffer, PIECE_BYTES};
pub use endian::Endian;
pub use error::Error;
pub use kind::{InputFormat, extension, is_columns};
pub use mapped::Mapped;
pub use name::Name;
pub use narrow::narrow;
pub use nearest::{near, nearest};
pub use once::{is_read_once, keep};
pub use open::{Input, Wanted, array_names, open, text_columns};
pub use packed::Packing;
pub use pieces::{Order, PIECES_IN_FLIGHT, Pieces, Produce};
pub use problem::{Problem, system_message};
pub use random::{Distribution, Random};
pub use stamp::ChangeMonitor;
pub use whole::Whole;

pub use warpfold_num::DType;
use warpfold_num::{Element, with_element};
use warpfold_plan::HostArray;

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
