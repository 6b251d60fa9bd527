//! [`Count`]: how many elements are nonzero, which answers any and all too.

use crate::element::{Decoded, Element, Real};

/// Elements seen and elements nonzero; NaN counts as nonzero.
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
        let is_zero = |part: &T::Part| matches!(part.decode(), Decoded::Finite { mantissa: 0, .. });
        self.seen += 1;
        self.nonzero += u64::from(!T::as_parts(&[x]).iter().all(is_zero));
    }

    /// Adds another count.
    pub fn merge(&mut self, other: &Self) {
        self.seen = self.seen.saturating_add(other.seen);
        self.nonzero = self.nonzero.saturating_add(other.nonzero);
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
