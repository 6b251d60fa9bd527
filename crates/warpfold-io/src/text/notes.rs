//! [`Notes`]: what was found in a text beside its numbers.

use std::sync::{Arc, Mutex, PoisonError};

use super::MissingRuns;

/// What was found in a text beside its numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notes {
    /// The line of the row that was taken for names, from 1.
    pub names: Option<u64>,
    /// Rows of data, those left out among them.
    pub rows: u64,
    /// Rows left out by [`Missing::Skip`](super::Missing::Skip), as a whole.
    pub rows_left_out: u64,
    /// Cells that [`Missing::Skip`](super::Missing::Skip) leaves out of one of several columns, while the others keep the row.
    pub cells_left_out: u64,
    /// Cells without a number that were taken for NaN.
    pub nan_cells: u64,
    /// Numbers beyond the type, for which infinities stand.
    pub infinite: RoundedAway,
    /// Numbers other than zero that are too small for the type, for which zeros stand.
    pub zero: RoundedAway,
    /// The elements of the rows left out; of several columns, those that are missing.
    pub gaps: MissingRuns,
    /// Columns that hold something else than numbers, where that is no error.
    pub dropped: Vec<Dropped>,
}

/// Cells whose numbers rounded to what they are not: an infinity, or a zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RoundedAway {
    /// How many there are.
    pub cells: u64,
    /// Line and column of the first, from 1.
    pub first: Option<(u64, u64)>,
}

impl RoundedAway {
    pub(super) fn note(&mut self, line: u64, column: u64) {
        self.cells += 1;
        self.first.get_or_insert((line, column));
    }

    /// The same of two parts of a text.
    #[must_use]
    pub fn and(self, other: RoundedAway) -> RoundedAway {
        let first = self.first.into_iter().chain(other.first).min();
        RoundedAway { cells: self.cells + other.cells, first }
    }
}

/// A column, of several, that holds something else than numbers; zeros stand for its elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// Which one of the columns asked for, from 0.
    pub column: usize,
    /// What stands where, in words.
    pub why: String,
}

/// What a cell does that is neither a number nor missing, in one of several columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NoNumbers {
    /// It is an error
    #[default]
    Fail,
    /// Its column is dropped, if no number came before it; else it is an error
    DropAtFirst,
    /// Its column is dropped
    Drop,
}

/// Notes that a reader on another thread keeps up to date, piece by piece.
#[derive(Debug, Clone, Default)]
pub struct SharedNotes(Arc<Mutex<Notes>>);

impl SharedNotes {
    /// Hands over what was found since the last time.
    pub(super) fn update(&self, found: &mut Notes) {
        let gaps = found.gaps.take();
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = std::mem::take(&mut notes.gaps);
        all.append(gaps);
        *notes = Notes { gaps: all, ..found.clone() };
    }

    /// All but the gaps; complete once the text has ended.
    pub fn counts(&self) -> Notes {
        let notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Notes { gaps: MissingRuns::default(), dropped: notes.dropped.clone(), ..*notes }
    }

    /// The gaps since they were last taken.
    pub fn take_gaps(&self) -> MissingRuns {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).gaps.take()
    }
}
