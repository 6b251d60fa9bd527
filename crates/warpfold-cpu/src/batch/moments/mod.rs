//! Sums and sums of squares, many at a time, with a known bound on their error.
//!
//! Variances, deviations and Euclidean norms are rounded once from an exact value. To round it, it need not be known exactly: an approximation whose error is
//! bounded leaves no doubt about the rounded result but in one case of many (A. Ziv, *Fast evaluation of elementary mathematical functions with correctly
//! rounded last bit*, 1991). Readers say whether there is doubt (`read/moments`); such outputs are folded exactly instead (`doubtful`), and so are those
//! with an infinity or NaN, which make every bound a NaN.
//!
//! Additions cost the same whatever the exponents, so that nothing has to be surveyed. Three kinds:
//! - [`Plain`], of narrow floats whose results are f32: f64 additions, off by 2^-53 each. A number near all elements is taken from them first, as a
//!   variance much smaller than the mean's square would be lost otherwise.
//! - [`Squares`], of all that is rounded to f64: double-doubles, off by 2^-105 each.
//! - [`Integers`], of integers of up to 32 bits: integers, exactly.
//!
//! An error is relative to sums of squares, or of magnitudes, and these are bounded by squares: (Σ|x|)² ≤ n·Σx² (Cauchy and Schwarz).

mod integers;
mod plain;
mod squares;
mod widen;

pub(crate) use integers::Integers;
pub(super) use integers::{NarrowInteger, squares_of_halves};
pub(crate) use plain::{MOST_PLAIN, Plain};
pub(super) use squares::Doubles;
pub(crate) use squares::{Squares, SquaresAlone};
pub(super) use widen::Widen;

/// Sums of parts and the sum of all their squares, nearly.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Approximate<X, const PARTS: usize> {
    pub(crate) sum: [X; PARTS],
    pub(crate) squares: X,
}
