//! What the float folds leave: registers, and how many parts counted.

use warpfold_exact::exact::{Limbs, Register};

/// Registers of each part of a sum or dot product, and how many values of all parts counted.
pub(crate) struct Summed<L, const PARTS: usize> {
    pub(crate) parts: [Register<L>; PARTS],
    pub(crate) counted: u64,
}

impl<L: Limbs, const PARTS: usize> Summed<L, PARTS> {
    /// Adds what another thread left.
    pub(crate) fn merge(&mut self, other: Self) {
        for (mine, theirs) in self.parts.iter_mut().zip(&other.parts) {
            mine.merge(theirs);
        }
        self.counted += other.counted;
    }
}

/// Registers of the sum's parts, of the squares and of the magnitudes where they were asked for, and how many values of all parts counted.
pub(crate) struct Squared<L, M, const PARTS: usize, const NORMS: usize> {
    pub(crate) sum: [Register<L>; PARTS],
    pub(crate) squares: Register<M>,
    pub(crate) norms: [Register<L>; NORMS],
    pub(crate) counted: u64,
}

impl<L: Limbs, M: Limbs, const PARTS: usize, const NORMS: usize> Squared<L, M, PARTS, NORMS> {
    /// Adds what another thread left.
    pub(crate) fn merge(&mut self, other: Self) {
        let mine = self.sum.iter_mut().chain(&mut self.norms);
        for (mine, theirs) in mine.zip(other.sum.iter().chain(&other.norms)) {
            mine.merge(theirs);
        }
        self.squares.merge(&other.squares);
        self.counted += other.counted;
    }
}
