//! Rows of a stripe that are added at once: a few groups of lanes stay in registers from the first row to the last.
//!
//! Elements are monitored while they are added, so that they are read once. (Surveyed first and added afterwards, out of the nearest cache, they took half as
//! long again: on two cores of an EPYC columns of 2^26 f32 went from 24 to 33 GB/s in a loop that does nothing else. Short runs of one length gained nothing by
//! it, as their lanes are gathered anyway.)

use std::ops::Range;

use super::lanes::{LaneOperation, N, Positions};
use crate::memory::prefetch_at;

/// Groups of lanes side by side: as many as leave registers for what is monitored.
pub(super) const ABREAST: usize = 2;

/// Of how many groups one may be outside the exponent range before that is chosen anew.
pub(super) const MISSED: usize = 16;

/// Rows of a stripe.
pub(crate) struct Band<'x, K: LaneOperation> {
    pub(super) kind: K,
    pub(super) x: &'x [K::Element],
    /// Where the first row begins, how many columns each has, and how far it is to the next.
    pub(super) start: usize,
    pub(super) width: usize,
    pub(super) stride: usize,
    pub(super) rows: usize,
    /// The index of the first row, and the step to the next.
    pub(super) first: u64,
    pub(super) position: i64,
    /// Bytes from what is added to what is asked for meanwhile: all at once would keep the core from anything else.
    pub(super) ahead: usize,
}

impl<K: LaneOperation> Band<'_, K> {
    /// Adds all rows of some neighbouring groups of columns to lanes; what they make then is as it should be where the monitors say so. (It is written in
    /// any case: what is written now and then the compiler does not keep in whole registers.)
    #[inline(always)]
    pub(super) fn add<const GROUPS: usize>(
        &self,
        column: usize,
        lanes: [K::Lanes; GROUPS],
        made: &mut [K::Lanes; GROUPS],
    ) -> [K::Monitor; GROUPS] {
        let (mut sums, mut monitors) = (lanes, [self.kind.monitor(); GROUPS]);
        let mut first = self.first;
        for k in 0..self.rows {
            let row = &self.row(k)[column..column + GROUPS * N];
            for (k, group) in row.as_chunks().0.iter().enumerate() {
                prefetch_at(group, self.ahead);
                self.kind.observe(&mut monitors[k], group);
                self.kind.add(&mut sums[k], group, Positions { first, step: 0 });
            }
            first = first.wrapping_add_signed(self.position);
        }
        *made = sums;
        monitors
    }

    /// All rows of a group of columns, which may have fewer than lanes, in lanes that begin with the first row.
    #[inline(always)]
    pub(super) fn begun(&self, column: usize, exponents: K::ExponentRange) -> K::Lanes {
        let mut first = self.first;
        let here = Positions { first, step: 0 };
        if column + N > self.width {
            let mut lanes = self.kind.lanes(exponents);
            self.add_unmonitored(column, &mut lanes);
            return lanes;
        }
        let row = self.row(0)[column..].first_chunk().expect("as many columns");
        prefetch_at(row, self.ahead);
        let mut lanes = self.kind.begin(exponents, row, here);
        for k in 1..self.rows {
            let row = self.row(k)[column..].first_chunk().expect("as many columns");
            first = first.wrapping_add_signed(self.position);
            prefetch_at(row, self.ahead);
            self.kind.add(&mut lanes, row, Positions { first, step: 0 });
        }
        lanes
    }

    /// Adds rows to lanes of a kind that need not monitor, in place: what additions leave as it is stays where it is.
    #[inline(always)]
    pub(super) fn add_unmonitored(&self, column: usize, lanes: &mut K::Lanes) {
        let (mut sum, mut first) = (*lanes, self.first);
        let is_whole = column + N <= self.width;
        for k in 0..self.rows {
            let arg_indices = Positions { first, step: 0 };
            let row = &self.row(k)[column..];
            match row.first_chunk() {
                Some(group) if is_whole => {
                    prefetch_at(group, self.ahead);
                    self.kind.add(&mut sum, group, arg_indices);
                }
                _ => self.kind.add(&mut sum, &self.kind.group(row), arg_indices),
            }
            first = first.wrapping_add_signed(self.position);
        }
        *lanes = sum;
    }

    /// The same of a group that may have fewer columns than lanes; what the others hold is never read.
    #[inline(always)]
    pub(super) fn add_one(
        &self,
        column: usize,
        lanes: K::Lanes,
        made: &mut K::Lanes,
    ) -> K::Monitor {
        if column + N <= self.width {
            let [monitor] = self.add(column, [lanes], std::array::from_mut(made));
            return monitor;
        }
        let (mut sum, mut monitor, mut first) = (lanes, self.kind.monitor(), self.first);
        for k in 0..self.rows {
            let group = self.kind.group(&self.row(k)[column..]);
            self.kind.observe(&mut monitor, &group);
            self.kind.add(&mut sum, &group, Positions { first, step: 0 });
            first = first.wrapping_add_signed(self.position);
        }
        *made = sum;
        monitor
    }

    /// What a survey of the columns finds.
    #[inline(always)]
    pub(super) fn survey(&self, columns: Range<usize>) -> K::Range {
        // No closure: it would be compiled as a call, without the instruction set.
        let mut range = self.kind.survey(&self.row(0)[columns.clone()]);
        for k in 1..self.rows {
            range = K::join(range, self.kind.survey(&self.row(k)[columns.clone()]));
        }
        range
    }

    /// The exponent range of a group of columns.
    #[inline(always)]
    pub(super) fn exponents(&self, group: usize) -> Option<K::ExponentRange> {
        let columns = group * N..self.width.min((group + 1) * N);
        self.kind.exponents(self.survey(columns), self.rows as u64)
    }

    #[inline(always)]
    pub(super) fn row(&self, k: usize) -> &[K::Element] {
        &self.x[self.start + k * self.stride..][..self.width]
    }

    /// The same elements for another kind.
    #[inline(always)]
    pub(super) fn of<'y, L: LaneOperation>(&self, kind: L, x: &'y [L::Element]) -> Band<'y, L> {
        let Band { start, width, stride, rows, first, position, ahead, .. } = *self;
        Band { kind, x, start, width, stride, rows, first, position, ahead }
    }

    /// Some of the rows.
    #[inline(always)]
    pub(super) fn rows(&self, rows: Range<usize>) -> Self {
        let first = self.first.wrapping_add_signed(self.position.wrapping_mul(rows.start as i64));
        let start = self.start + rows.start * self.stride;
        Band { start, rows: rows.len(), first, ..*self }
    }
}
