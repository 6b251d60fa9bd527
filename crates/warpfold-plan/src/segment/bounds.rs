//! [`Bounds`]: checked segments, ascending and inside the array.

use std::borrow::Cow;
use std::ops::Range;

/// Segments of an array that they are known to lie in; segment `i` begins where segment `i - 1` ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bounds<'a> {
    /// Segments of one length.
    Every {
        /// Elements of each.
        length: u64,
        /// How many.
        segments: u64,
    },
    /// One more offset than segments, in 32 bits.
    Offsets32(&'a [u32]),
    /// One more offset than segments, in 64 bits.
    Offsets64(Cow<'a, [u64]>),
}

impl Bounds<'_> {
    /// How many segments.
    pub fn count(&self) -> u64 {
        match self {
            Bounds::Every { segments, .. } => *segments,
            Bounds::Offsets32(offsets) => offsets.len() as u64 - 1,
            Bounds::Offsets64(offsets) => offsets.len() as u64 - 1,
        }
    }

    /// Where a segment lies.
    #[inline]
    pub fn range(&self, segment: usize) -> Range<usize> {
        match self {
            Bounds::Every { length, .. } => {
                let length = *length as usize;
                segment * length..(segment + 1) * length
            }
            Bounds::Offsets32(offsets) => offsets[segment] as usize..offsets[segment + 1] as usize,
            Bounds::Offsets64(offsets) => offsets[segment] as usize..offsets[segment + 1] as usize,
        }
    }

    /// Elements of all segments together.
    pub fn elements(&self) -> u64 {
        match self.count() as usize {
            0 => 0,
            n => (self.range(n - 1).end - self.range(0).start) as u64,
        }
    }

    /// Bytes of what says where the segments lie.
    pub fn bytes(&self) -> u64 {
        match self {
            Bounds::Every { .. } => 0,
            Bounds::Offsets32(offsets) => 4 * offsets.len() as u64,
            Bounds::Offsets64(offsets) => 8 * offsets.len() as u64,
        }
    }
}
