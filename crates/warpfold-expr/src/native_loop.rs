//! [`Native`]: the loop that Rust's compiler made of an expression, as a value.

use std::ops::Range;

use warpfold_num::DType;

use crate::slice::Slice;

/// Inputs at most of such a loop.
pub(crate) const MOST_INPUTS: usize = 8;

/// What of a value is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The value.
    Value,
    /// The left factor of a product.
    Left,
    /// The right factor.
    Right,
}

/// The loop of a body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Native {
    pub(crate) names: &'static [&'static str],
    pub(crate) dtypes: &'static [DType],
    /// Writes what is wanted of the elements of a range as numbers of the result's type.
    pub(crate) run: fn(&[Slice<'_>], Range<usize>, Wanted, &mut [u8]),
}

impl Native {
    /// Runs it on inputs that are found at these places.
    pub(crate) fn run(
        &self,
        inputs: &[Slice<'_>],
        indices: &[u8],
        range: Range<usize>,
        wanted: Wanted,
        out: &mut [u8],
    ) {
        let mut given = [Slice::Bool(&[]); MOST_INPUTS];
        for (given, &index) in given.iter_mut().zip(indices) {
            *given = inputs[usize::from(index)];
        }
        (self.run)(&given[..indices.len()], range, wanted, out);
    }
}
