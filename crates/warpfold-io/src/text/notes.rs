//! [`Notes`]: what was found in a text beside its numbers.

use std::sync::{Arc, Mutex, PoisonError};

use super::Gaps;

/// What was found in a text beside its numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notes {
    /// The line of the row that was taken for names, from 1.
    pub names: Option<u64>,
    /// Rows of data, those left out among them.
    pub rows: u64,
    /// Rows left out by [`Missing::Skip`](super::Missing::Skip).
    pub rows_left_out: u64,
    /// Cells without a number that were taken for NaN.
    pub nan_cells: u64,
    /// The elements of the rows left out.
    pub gaps: Gaps,
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
        let Notes { names, rows, rows_left_out, nan_cells, gaps: _ } = *notes;
        Notes { names, rows, rows_left_out, nan_cells, gaps: Gaps::default() }
    }

    /// The gaps since they were last taken.
    pub fn take_gaps(&self) -> Gaps {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).gaps.take()
    }
}
