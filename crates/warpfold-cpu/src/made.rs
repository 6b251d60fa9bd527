//! Values that are made while they are folded, a few at a time, so that they stay in the nearest cache and the loop that makes them and the fold overlap.

use std::ops::Range;

use super::executor::Split;

/// What writes the values at some positions.
pub(crate) type Make<'m, T> = dyn Fn(Range<usize>, &mut [T]) + Sync + 'm;

/// So many values that something makes.
pub(crate) struct Made<'m, T> {
    range: (usize, usize),
    make: &'m Make<'m, T>,
}

impl<T> Clone for Made<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Made<'_, T> {}

impl<'m, T> Made<'m, T> {
    /// The first so many.
    pub(crate) fn new(len: usize, make: &'m Make<'m, T>) -> Self {
        Made { range: (0, len), make }
    }

    /// Writes the values from a position on.
    #[inline(always)]
    pub(crate) fn fill(&self, at: usize, values: &mut [T]) {
        let start = self.range.0 + at;
        (self.make)(start..start + values.len(), values);
    }
}

impl<T: bytemuck::Zeroable + Clone> Made<'_, T> {
    /// All of them.
    pub(crate) fn to_vec(self) -> Vec<T> {
        let mut values = vec![T::zeroed(); self.len()];
        self.fill(0, &mut values);
        values
    }
}

impl<T> Split for Made<'_, T> {
    const BYTES: usize = size_of::<T>();

    fn len(self) -> usize {
        self.range.1 - self.range.0
    }

    fn piece(self, range: Range<usize>) -> Self {
        Made { range: (self.range.0 + range.start, self.range.0 + range.end), ..self }
    }
}
