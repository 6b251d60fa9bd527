//! What the float folds leave: registers, and how many parts counted.

use crate::exact::{Limbs, Register};

/// Registers of each part of a sum or dot product, and how many values of all parts counted.
pub(in crate::cpu) struct Summed<L, const PARTS: usize> {
    pub(in crate::cpu) parts: [Register<L>; PARTS],
    pub(in crate::cpu) counted: u64,
}

impl<L: Limbs, const PARTS: usize> Summed<L, PARTS> {
    /// Adds what another thread left.
    pub(in crate::cpu) fn merge(&mut self, other: Self) {
        for (mine, theirs) in self.parts.iter_mut().zip(&other.parts) {
            mine.merge(theirs);
        }
        self.counted += other.counted;
    }
}

/// Registers of the sum's parts and of the squares, and how many values of all parts counted.
pub(in crate::cpu) struct Squared<L, M, const PARTS: usize> {
    pub(in crate::cpu) sum: [Register<L>; PARTS],
    pub(in crate::cpu) squares: Register<M>,
    pub(in crate::cpu) counted: u64,
}

impl<L: Limbs, M: Limbs, const PARTS: usize> Squared<L, M, PARTS> {
    /// Adds what another thread left.
    pub(in crate::cpu) fn merge(&mut self, other: Self) {
        for (mine, theirs) in self.sum.iter_mut().zip(&other.sum) {
            mine.merge(theirs);
        }
        self.squares.merge(&other.squares);
        self.counted += other.counted;
    }
}
