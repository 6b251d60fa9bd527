//! The overflow store: additions to a few outputs that no longer fit their accumulators, as small values while these hold them, then as partials.

use super::lanes::LaneOperation;
use super::outputs::{Counts, Sink, Store};

/// Additions to a few outputs that no longer fit their accumulators.
pub(super) struct OverflowStore<'k, K: LaneOperation> {
    kind: K,
    sink: &'k dyn Sink<K::Small>,
    smalls: Vec<K::Small>,
    /// Elements in each.
    counts: Vec<u64>,
    /// Partials of all, once something fits nowhere else, and how many elements went into each.
    store: Option<Box<dyn Store<K::Small> + 'k>>,
    stored: Vec<u64>,
}

impl<'k, K: LaneOperation> OverflowStore<'k, K> {
    /// An empty store for so many outputs.
    pub(super) fn new(kind: K, sink: &'k dyn Sink<K::Small>, outputs: usize) -> Self {
        let (smalls, counts) = (vec![K::NOTHING; outputs], vec![0; outputs]);
        OverflowStore { kind, sink, smalls, counts, store: None, stored: Vec::new() }
    }

    /// Adds what an accumulator holds of `count` elements of an output.
    #[inline(always)]
    pub(super) fn join(&mut self, at: usize, small: &K::Small, count: u64) {
        if self.counts[at] == 0 {
            self.smalls[at] = *small;
        } else if !self.kind.merge(&mut self.smalls[at], small) {
            self.empty(at);
            self.smalls[at] = *small;
        }
        self.counts[at] += count;
    }

    /// Adds an element, by its index in memory.
    pub(super) fn single(&mut self, at: usize, element: usize) {
        self.singles(at, element, 1, 1);
    }

    /// Adds `count` elements, the first by its index in memory and the others `stride` apart.
    pub(super) fn singles(&mut self, at: usize, first: usize, stride: usize, count: usize) {
        self.stored(at, count as u64).singles(at, first, stride, count);
    }

    /// Moves the small value of an output to its partial.
    #[inline(never)]
    fn empty(&mut self, at: usize) {
        let count = std::mem::take(&mut self.counts[at]);
        if count > 0 {
            let small = self.smalls[at];
            self.stored(at, count).flush(at, &small, count);
        }
    }

    /// The partials, into one of which so many elements will go.
    fn stored(&mut self, at: usize, count: u64) -> &mut (dyn Store<K::Small> + 'k) {
        let outputs = self.smalls.len();
        self.stored.resize(outputs, 0);
        self.stored[at] += count;
        &mut **self.store.get_or_insert_with(|| self.sink.store(outputs))
    }

    /// Finishes the outputs `first`, `first + step`, …
    pub(super) fn finish(mut self, first: u64, step: i64) {
        let outputs = self.smalls.len();
        let output = |at: usize| first.wrapping_add_signed(step.wrapping_mul(at as i64));
        let mut at = 0;
        while at < outputs {
            if self.is_stored(at) {
                self.empty(at);
                let count = self.stored[at];
                self.stored(at, 0).finish(at, output(at), count);
                at += 1;
                continue;
            }
            let end = (at..outputs).find(|&at| self.is_stored(at)).unwrap_or(outputs);
            let counts = Counts::Each(&self.counts[at..end]);
            self.sink.smalls(output(at), step, counts, &self.smalls[at..end]);
            at = end;
        }
    }

    fn is_stored(&self, at: usize) -> bool {
        self.stored.get(at).is_some_and(|&count| count > 0)
    }
}
