//! [`Count`]: how many elements are nonzero, which answers any and all too.

use crate::element::{Decode, Decoded, Element};
use crate::exact::tally;

/// Elements seen and elements nonzero; NaN counts as nonzero. Either stops at 2^64 - 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Elements seen.
    pub seen: u64,
    /// Elements that are not zero.
    pub nonzero: u64,
}

impl Count {
    /// Counts one element.
    pub fn add<T: Element>(&mut self, x: T) {
        let is_zero =
            |part: &T::Component| matches!(part.decode(), Decoded::Finite { mantissa: 0, .. });
        let is_nonzero = !T::as_parts(&[x]).iter().all(is_zero);
        tally(&mut self.seen, 1);
        tally(&mut self.nonzero, u64::from(is_nonzero));
    }

    /// Adds another count.
    pub fn merge(&mut self, other: &Self) {
        tally(&mut self.seen, other.seen);
        tally(&mut self.nonzero, other.nonzero);
    }

    /// Whether any element is nonzero; false for none.
    pub fn any(&self) -> bool {
        self.nonzero > 0
    }

    /// Whether all elements are nonzero; true for none.
    pub fn all(&self) -> bool {
        self.nonzero == self.seen
    }
}
