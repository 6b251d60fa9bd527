//! [`Staged`]: numbers that go through memory between two ways of lying there.
//!
//! Accumulators have each field of their numbers side by side, what is handed on has those of a number together. Where the compiler sees both, it computes and
//! stores the numbers of each lane by themselves, or gathers them. Left in memory in between, they are computed, and turned, in whole vectors: of 16 numbers of
//! four f64 each on a Zen 4, read in two steps of two fields, in 10 ns in place of 27.

/// Numbers on lines of the cache, as whole vectors are read and written.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Staged<V>(pub(crate) V);

impl<V> Staged<V> {
    /// Leaves the numbers in memory; what they are is not known from where they came.
    #[inline(always)]
    pub(crate) fn leave(&mut self) {
        std::hint::black_box(&mut self.0);
    }
}
