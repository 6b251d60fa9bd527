//! [`Reading`]: several columns of one reading, whose elements come row after row.

use std::collections::VecDeque;
use std::ops::Range;

use warpfold_engine::HostArray;

use crate::Failure;
use crate::input::text::{Dropped, MissingRuns, SharedNotes};
use crate::input::{self, Input, Order};

/// Bytes of rows that are taken apart at once: they stay in a core's cache, however many columns there are.
const TILE: usize = 1 << 18;

/// What was found of several columns.
pub(crate) struct Reading {
    /// Rows of data.
    pub(crate) rows: u64,
    /// The rows in which each column has no element.
    pub(crate) gaps: Vec<MissingRuns>,
    /// Why columns that hold something else than numbers are dropped.
    pub(crate) dropped: Vec<Option<String>>,
    /// Columns that have numbers in an input that was read.
    have_numbers: Vec<bool>,
}

impl Reading {
    pub(crate) fn new(columns: usize) -> Reading {
        Reading {
            rows: 0,
            gaps: vec![MissingRuns::default(); columns],
            dropped: vec![None; columns],
            have_numbers: vec![false; columns],
        }
    }

    /// Fails where a column holds numbers in one of the inputs that were read, and none in another.
    pub(crate) fn check_alike(&self, names: &[String]) -> Result<(), Failure> {
        let mut all = self.dropped.iter().zip(&self.have_numbers).zip(names);
        let both =
            all.find_map(|((why, have), name)| why.as_ref().filter(|_| *have).zip(Some(name)));
        both.map_or(Ok(()), |(why, name)| Err(unlike(name, why)))
    }

    /// Reads an input behind those before, and hands on the elements of each column that are there.
    pub(crate) fn read(
        &mut self,
        input: Input,
        mut take: impl FnMut(usize, HostArray<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if self.gaps.is_empty() {
            return Ok(());
        }
        let (name, notes, dtype) = (input.name().clone(), input.notes(), input.dtype());
        let columns = self.gaps.len() as u64;
        let (rows_before, gaps_before) =
            (self.rows, self.gaps.iter().map(MissingRuns::elements).collect::<Vec<_>>());
        let mut kept = vec![Kept::default(); self.gaps.len()];
        let mut gone: VecDeque<Range<u64>> = VecDeque::new();
        let before = self.rows * columns;
        let mut at = before;
        let mut pieces = input.pieces(Order::C)?;
        while let Some(piece) = pieces.next_piece()? {
            let new = notes.as_ref().map(|notes| notes.take_gaps()).unwrap_or_default();
            self.drop_columns(&notes);
            gone.extend(new.runs().map(|run| before + run.start..before + run.end));
            let rows = (TILE / (self.gaps.len() * dtype.size())).max(1);
            for tile in piece.chunks(rows * self.gaps.len() * dtype.size()) {
                match dtype.size() {
                    1 => self.part(tile.as_chunks::<1>().0, at, &mut gone, &mut kept),
                    2 => self.part(tile.as_chunks::<2>().0, at, &mut gone, &mut kept),
                    4 => self.part(tile.as_chunks::<4>().0, at, &mut gone, &mut kept),
                    8 => self.part(tile.as_chunks::<8>().0, at, &mut gone, &mut kept),
                    _ => self.part(tile.as_chunks::<16>().0, at, &mut gone, &mut kept),
                }
                at += (tile.len() / dtype.size()) as u64;
            }
            for (column, kept) in kept.iter_mut().enumerate() {
                let elements = input::array(dtype, kept.bytes(), 0)
                    .map_err(|problem| Failure::input(&name, problem))?;
                if !elements.is_empty() {
                    take(column, elements)?;
                }
                kept.bytes = 0;
            }
        }
        self.rows = at / columns;
        self.drop_columns(&notes);
        let here = notes.as_ref().map_or_else(Vec::new, |notes| notes.counts().dropped);
        for (column, have) in self.have_numbers.iter_mut().enumerate() {
            let is_dropped = here.iter().any(|dropped| dropped.column == column);
            // Gaps alone are no numbers.
            let gaps = self.gaps[column].elements() - gaps_before[column];
            *have |= !is_dropped && gaps < self.rows - rows_before;
        }
        Ok(())
    }

    /// Learns which columns are dropped: nothing of them is kept from then on.
    fn drop_columns(&mut self, notes: &Option<SharedNotes>) {
        for Dropped { column, why } in
            notes.as_ref().map_or_else(Vec::new, |notes| notes.counts().dropped)
        {
            self.dropped[column].get_or_insert(why);
        }
    }

    /// Takes elements apart, the first of which has an index among all.
    fn part<const N: usize>(
        &mut self,
        elements: &[[u8; N]],
        at: u64,
        gone: &mut VecDeque<Range<u64>>,
        kept: &mut [Kept],
    ) {
        let columns = self.gaps.len();
        let end = at + elements.len() as u64;
        if gone.front().is_none_or(|run| run.start >= end) {
            let taken = kept.iter_mut().enumerate().zip(&self.dropped);
            for ((column, kept), _) in taken.filter(|(_, dropped)| dropped.is_none()) {
                let first = (column + columns - (at % columns as u64) as usize) % columns;
                kept.extend(elements.iter().skip(first).step_by(columns));
            }
            return;
        }
        for (element, index) in elements.iter().zip(at..) {
            let column = (index % columns as u64) as usize;
            while gone.front().is_some_and(|run| run.end <= index) {
                gone.pop_front();
            }
            if gone.front().is_some_and(|run| run.contains(&index)) {
                let row = index / columns as u64;
                self.gaps[column].push(row..row + 1);
            } else if self.dropped[column].is_none() {
                kept[column].extend([element].into_iter());
            }
        }
    }
}

/// A column that cannot be dropped, as another input has numbers there.
pub(crate) fn unlike(name: &str, why: &str) -> Failure {
    Failure::Data(format!(
        "column {} holds numbers in one input and none in another: {why}; name the columns with --column",
        name.escape_debug()
    ))
}

/// Elements that are kept, in words, so that they are aligned.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kept {
    words: Vec<u64>,
    bytes: usize,
}

impl Kept {
    fn extend<'a, const N: usize>(&mut self, elements: impl ExactSizeIterator<Item = &'a [u8; N]>) {
        let end = self.bytes + elements.len() * N;
        if self.words.len() * 8 < end {
            self.words.resize(end.div_ceil(8).max(2 * self.words.len()), 0);
        }
        let target = &mut bytemuck::cast_slice_mut(&mut self.words)[self.bytes..end];
        target.as_chunks_mut::<N>().0.iter_mut().zip(elements).for_each(|(to, from)| *to = *from);
        self.bytes = end;
    }

    /// Adds elements of any type.
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        self.extend(bytes.as_chunks::<1>().0.iter());
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.bytes]
    }
}
