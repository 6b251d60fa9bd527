//! The largest magnitude of reals, infinities and NaNs included: they are the largest integers.

use crate::Nan;
use crate::executor::ArrayFold;
use crate::isa::Target;
use crate::memory::{prefetch, streamed};
use crate::order::BLOCK_BYTES;
use warpfold_exact::partial::Magnitude;
use warpfold_num::element::{Components, Ordered};

/// The largest so far.
pub(crate) struct LargestReal<R: Ordered> {
    largest: R::Magnitude,
    nan: Nan,
}

impl<R: Ordered> LargestReal<R> {
    pub(crate) fn new(nan: Nan) -> Self {
        LargestReal { largest: R::Magnitude::default(), nan }
    }
}

impl<R: Ordered> ArrayFold<&[R]> for LargestReal<R> {
    type Partial = Magnitude<R>;

    #[inline(always)]
    fn take<C: Target>(&mut self, piece: &[R], _first: u64) {
        for block in piece.chunks(BLOCK_BYTES / size_of::<R>()) {
            let mut largest = largest(block, R::magnitude);
            if self.nan == Nan::Ignore && is_nan::<R>(largest) {
                largest = self::largest(block, absolute);
            }
            self.largest = self.largest.max(largest);
        }
    }

    fn finish(self) -> Magnitude<R> {
        Magnitude::of(&Components::from_fn(|_| self.largest))
    }
}

/// Whether it is a NaN's magnitude.
#[inline(always)]
pub(super) fn is_nan<R: Ordered>(magnitude: R::Magnitude) -> bool {
    R::INFINITE.is_some_and(|infinite| magnitude > infinite)
}

/// The magnitude, zero for NaN.
#[inline(always)]
fn absolute<R: Ordered>(x: R) -> R::Magnitude {
    if x.is_nan() { R::Magnitude::default() } else { x.magnitude() }
}

/// The largest of a block.
#[inline(always)]
pub(super) fn largest<R: Ordered>(x: &[R], of: impl Fn(R) -> R::Magnitude) -> R::Magnitude {
    const LANES: usize = 64;
    let greater = |a: R::Magnitude, b: R::Magnitude| if b > a { b } else { a };
    let mut lanes = [R::Magnitude::default(); LANES];
    let (groups, rest) = x.as_chunks::<LANES>();
    for at in streamed(groups.len()) {
        let group = &groups[at];
        prefetch(group);
        for l in 0..LANES {
            lanes[l] = greater(lanes[l], of(group[l]));
        }
    }
    let all = lanes.into_iter().fold(R::Magnitude::default(), greater);
    rest.iter().fold(all, |all, &x| greater(all, of(x)))
}
