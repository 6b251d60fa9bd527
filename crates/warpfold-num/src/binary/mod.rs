//! Binary numbers one at a time: a number taken apart without loss, and an exact number rounded to a format once.

mod decode;
mod nearest;

pub use decode::{Decode, Decoded};
pub use nearest::{Nearest, Rounding};
