//! The accumulators of a stripe of columns, and its overflow store.
//!
//! Rows are taken a few at a time, a block of accumulators in registers (`band`). The first are surveyed for an exponent range; later ones are
//! monitored, and elements outside the range go to their columns' partials instead. Where these are many, or the range allows no more additions, the stripe is
//! flushed into the partials and begins anew.
//!
//! On two cores of an EPYC whose flat sum read 34 GB/s, columns of 2^26 f32 were read at 25 where each chunk of 32 KiB was surveyed and then added, at 23, 26
//! and 29 where 4, 8 and 16 rows were monitored at a time and lanes lay on no lines of the cache, and at 30 to 33 by 8 or 16 rows since they do; by 32 rows at
//! 28, as what is asked for ahead leaves the caches again before its turn.

use std::ops::Range;
use std::sync::Mutex;

use super::band::{ABREAST, Band, MISSED};
use super::lanes::{LaneOperation, N};
use super::outputs::{Counts, Sink};
use super::overflow_store::OverflowStore;
use super::stripes::{At, Columns};

/// Rows that are taken at a time, as accumulators come from memory for so many, if these and the next are no more than so many bytes.
const ROWS: usize = 16;
const CHUNK: usize = 512 << 10;
/// The same rows of what is not monitored, or hardly: it is no work beside the reading, which goes best in smaller steps.
const UNMONITORED: usize = 8;
/// Of narrow rows as many as make so many bytes, whatever the kind: what is asked for ahead would come too late otherwise.
const NARROW: usize = 32 << 10;

/// Columns of one overflow store where threads share them, so that these are not in each other's way.
const TOGETHER: usize = 512;

/// The accumulators of a stripe.
pub(super) struct Stripe<'s, 'k, K: LaneOperation> {
    pub(super) kind: K,
    pub(super) x: &'s [K::Element],
    pub(super) at: At,
    /// From a row to the next of those that are taken as one.
    position: i64,
    inputs: u64,
    lanes: Vec<K::Lanes>,
    /// The lanes after the next additions, until the monitor shows that these are in range.
    next: Vec<K::Lanes>,
    exponents: Option<K::ExponentRange>,
    /// Rows added in the exponent range, and how many rows the range was chosen for.
    added: u64,
    capacity: u64,
    /// Rows that there are in all turns.
    pub(super) expected: u64,
    /// The last exponent range, and for how many rows: other stripes are much the same.
    pub(super) guess: Option<(K::ExponentRange, u64)>,
    /// Rows of groups that are not in their lanes, if any, but went to the overflow store.
    missing: Vec<u64>,
    sink: &'k dyn Sink<K::Small>,
    pub(super) shared: Option<&'s [Mutex<OverflowStore<'k, K>>]>,
    /// What it holds by itself, once lanes are not enough.
    own: Option<OverflowStore<'k, K>>,
}

impl<'s, 'k, K: LaneOperation> Stripe<'s, 'k, K> {
    pub(super) fn new(
        kind: K,
        x: &'s [K::Element],
        columns: &Columns<'_>,
        stripe: usize,
        sink: &'k dyn Sink<K::Small>,
        shared: Option<&'s [Mutex<OverflowStore<'k, K>>]>,
    ) -> Self {
        let (at, position, inputs) =
            (columns.stripe(stripe), columns.position, columns.form.inputs);
        let (lanes, next, missing) = (Vec::new(), Vec::new(), Vec::new());
        let (exponents, own, guess, added, capacity, expected) = (None, None, None, 0, 0, 0);
        Stripe {
            kind,
            x,
            at,
            position,
            inputs,
            lanes,
            next,
            exponents,
            added,
            capacity,
            expected,
            guess,
            missing,
            sink,
            shared,
            own,
        }
    }

    /// Empty overflow stores that threads share for the columns of a stripe.
    pub(super) fn overflow(
        kind: K,
        at: At,
        sink: &'k dyn Sink<K::Small>,
    ) -> Vec<Mutex<OverflowStore<'k, K>>> {
        let outputs = |first| TOGETHER.min(at.real - first);
        let overflow = |first| Mutex::new(OverflowStore::new(kind, sink, outputs(first)));
        (0..at.real).step_by(TOGETHER).map(overflow).collect()
    }

    /// Finishes the outputs of the overflow stores that threads shared.
    pub(super) fn flush_shared(at: At, overflow: Vec<Mutex<OverflowStore<'k, K>>>) {
        for (overflow, column) in overflow.into_iter().zip((0..).step_by(TOGETHER)) {
            let first = at.first.wrapping_add_signed(at.step.wrapping_mul(column));
            overflow
                .into_inner()
                .unwrap_or_else(|poison| poison.into_inner())
                .finish(first, at.step);
        }
    }

    /// The index of the overflow store of a group of columns.
    fn overflow_of(&self, group: usize) -> usize {
        match self.shared {
            Some([_, _, ..]) => group * N / TOGETHER,
            _ => 0,
        }
    }

    /// Does something with the overflow store of some columns, its own unless it is shared; it is given the first of these.
    fn with_overflow(
        &mut self,
        k: usize,
        work: impl FnOnce(&Self, &mut OverflowStore<'k, K>, usize),
    ) {
        match self.shared {
            Some(all) => {
                let mut overflow = all[k].lock().unwrap_or_else(|poison| poison.into_inner());
                work(self, &mut overflow, k * TOGETHER);
            }
            None => {
                let own = self.own.take();
                let mut own =
                    own.unwrap_or_else(|| OverflowStore::new(self.kind, self.sink, self.at.real));
                work(self, &mut own, 0);
                self.own = Some(own);
            }
        }
    }

    /// Empties the lanes into the overflow store.
    #[inline(never)]
    fn flush(&mut self) {
        let all = if self.added > 0 { self.shared.map_or(1, <[_]>::len) } else { 0 };
        for k in 0..all {
            self.with_overflow(k, |fold, overflow, before| {
                let (mut column, mut moved) = (0, 0);
                let end = if k + 1 < all { before + TOGETHER } else { fold.at.width };
                let lanes = fold.lanes[before / N..].iter();
                let smalls = lanes.flat_map(|lanes| fold.kind.all(lanes));
                for (k, small) in (before..end).zip(smalls) {
                    let count = fold.added - fold.missing.get(k / N).copied().unwrap_or(0);
                    if count > 0 {
                        overflow.join(column, &K::moved(small, moved), count);
                    }
                    column += 1;
                    // The columns of the next row, where several are taken as one.
                    if column == fold.at.real {
                        (column, moved) = (0, moved.wrapping_add(fold.position));
                    }
                }
            });
        }
        (self.added, self.exponents) = (0, None);
        self.missing.clear();
    }

    /// What the lanes of each column hold; nothing if more belongs to columns than that.
    #[inline(always)]
    pub(super) fn read(&self, smalls: &mut Vec<K::Small>) {
        if self.shared.is_some() || self.own.is_some() || self.added == 0 {
            return;
        }
        self.kind.append(&self.lanes, smalls);
        smalls.truncate(self.at.width);
    }

    /// Finishes each column: from what was read of lanes, or from the overflow store.
    pub(super) fn finish(mut self, smalls: &[K::Small]) {
        if !smalls.is_empty() {
            let count = Counts::Same(self.inputs);
            return self.sink.smalls(self.at.first, self.at.step, count, smalls);
        }
        self.flush();
        if let Some(own) = self.own {
            own.finish(self.at.first, self.at.step);
        }
    }

    /// Adds `rows` rows that begin at `start` and `stride` apart; `first` is the index of the first.
    #[inline(always)]
    pub(super) fn rows(
        &mut self,
        start: usize,
        stride: usize,
        rows: usize,
        first: u64,
        position: i64,
    ) {
        let (kind, x, width) = (self.kind, self.x, self.at.width);
        let most = if size_of::<K::Monitor>() > N { ROWS } else { UNMONITORED };
        let bytes = width * size_of::<K::Element>();
        let at_a_time = (CHUNK / (2 * bytes)).clamp(1, most.max(NARROW / bytes));
        // The next rows, while these are added.
        let ahead = at_a_time * stride * size_of::<K::Element>();
        let all = Band { kind, x, start, width, stride, rows, first, position, ahead };
        for row in (0..rows).step_by(at_a_time) {
            let band = all.rows(row..rows.min(row + at_a_time));
            let some = band.rows as u64;
            let in_range = self.exponents.is_some() && self.added + some <= self.capacity;
            if in_range || self.choose_exponents(band.survey(0..width), some) {
                let missed = self.add(&band);
                self.added += some;
                if missed * MISSED > self.at.width.div_ceil(N) {
                    self.flush();
                }
            } else if K::MAY_MISS {
                self.apart(&band, &Vec::from_iter(0..self.at.width.div_ceil(N)));
            }
        }
    }

    /// Flushes, and chooses an exponent range in which more rows may be added; `false` where there is none.
    #[inline(always)]
    fn choose_exponents(&mut self, range: K::Range, more: u64) -> bool {
        self.flush();
        // As many additions as there may be, or fewer if the range does not allow them.
        let most = self.expected.min(K::MOST_ADDED);
        for capacity in [most, (more * 128).min(most), more] {
            if capacity >= more
                && let Some(exponents) = self.kind.exponents(range, capacity)
            {
                self.guess = Some((exponents, capacity));
                self.begin(exponents, capacity);
                return true;
            }
        }
        false
    }

    #[inline(always)]
    pub(super) fn begin(&mut self, exponents: K::ExponentRange, capacity: u64) {
        (self.exponents, self.capacity) = (Some(exponents), capacity);
        self.lanes.clear();
        self.lanes.resize(self.at.width.div_ceil(N), self.kind.lanes(exponents));
        if self.kind.is_monitoring() {
            self.next.resize(self.at.width.div_ceil(N), self.kind.lanes(exponents));
        }
    }

    /// Adds rows to lanes. Groups of columns outside the exponent range go to the overflow store; returns how many these are.
    #[inline(always)]
    fn add(&mut self, band: &Band<'_, K>) -> usize {
        let Some(exponents) = self.exponents else { return 0 };
        let Stripe { kind, lanes, next, .. } = self;
        // What is known of the type leaves the rest out of the code of most kinds.
        if size_of::<K::Monitor>() == 0 || !kind.is_monitoring() {
            for (group, lanes) in lanes.iter_mut().enumerate() {
                K::add_rows_unmonitored(band, group * N, lanes);
            }
            return 0;
        }
        let mut missed = Vec::new();
        let full = if K::IS_LARGE { 0 } else { self.at.width / N / ABREAST * ABREAST };
        let (blocks, _) = lanes[..full].as_chunks::<ABREAST>();
        let (made, _) = next[..full].as_chunks_mut::<ABREAST>();
        for (first, (lanes, made)) in (0..).step_by(ABREAST).zip(blocks.iter().zip(made)) {
            let monitors = band.add(first * N, *lanes, made);
            for k in 0..ABREAST {
                if !kind.keeps(exponents, &monitors[k]) {
                    made[k] = lanes[k];
                    missed.push(first + k);
                }
            }
        }
        for (group, (lanes, made)) in lanes.iter().zip(next.iter_mut()).enumerate().skip(full) {
            let monitor = K::add_rows(band, group * N, *lanes, made);
            if !kind.keeps(exponents, &monitor) {
                *made = *lanes;
                missed.push(group);
            }
        }
        std::mem::swap(lanes, next);
        if !missed.is_empty() {
            self.missing.resize(self.lanes.len(), 0);
            missed.iter().for_each(|group| self.missing[*group] += band.rows as u64);
            self.apart(band, &missed);
        }
        missed.len()
    }

    /// Adds some groups of columns to the overflow store, each in an exponent range of its own; what no range covers is added by rows, then by elements.
    #[inline(never)]
    fn apart(&mut self, band: &Band<'_, K>, groups: &[usize]) {
        let mut rest = groups;
        while let Some(k) = rest.first().map(|&group| self.overflow_of(group)) {
            let groups;
            (groups, rest) =
                rest.split_at(rest.partition_point(|&group| self.overflow_of(group) == k));
            self.with_overflow(k, |fold, overflow, before| {
                let at = |column| (column - before) % fold.at.real;
                // From the first of rows that are taken as one.
                let moved = |column| ((column - before) / fold.at.real) as i64 * fold.position;
                let join = |overflow: &mut OverflowStore<'k, K>,
                            band: &Band<'_, K>,
                            columns: Range<usize>| {
                    let exponents =
                        band.kind.exponents(band.survey(columns.clone()), band.rows as u64)?;
                    let mut lanes = band.kind.lanes(exponents);
                    K::add_rows(band, columns.start, lanes, &mut lanes);
                    for (lane, column) in columns.enumerate() {
                        let small = K::moved(band.kind.lane(&lanes, lane), moved(column));
                        overflow.join(at(column), &small, band.rows as u64);
                    }
                    Some(())
                };
                for group in groups {
                    let columns = group * N..band.width.min((group + 1) * N);
                    if join(overflow, band, columns.clone()).is_some() {
                        continue;
                    }
                    let mut first = 0;
                    while first < band.rows {
                        // Rows without an exponent range, up to one that has joined.
                        let has_none = |&k: &usize| {
                            join(overflow, &band.rows(k..k + 1), columns.clone()).is_none()
                        };
                        let rows = (first..band.rows).take_while(has_none).count();
                        if rows > 0 {
                            let start = band.start + first * band.stride;
                            for column in columns.clone() {
                                overflow.singles(at(column), start + column, band.stride, rows);
                            }
                        }
                        first += rows + 1;
                    }
                }
            });
        }
    }
}
