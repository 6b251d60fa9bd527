//! Values with a validity: long runs are folded where they lie, short ones through a tile that holds values alone.

use arrow_buffer::NullBuffer;

/// Runs of this length are folded where they lie.
const LONG: usize = 4096;

/// Elements of a tile.
const TILE: usize = 1 << 15;

/// Rows that a copy of the value before stands for at most.
const GAP: usize = 64;

/// What becomes of rows without a value in a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nulls {
    /// They are left out.
    Closed,
    /// The value before them stands in: it changes no extreme, nor where that stands first, and indices count every row.
    Filled,
}

/// Calls `fold` with slices of valid values, each with the row of its first; what lies in the slots of nulls is not read.
pub(crate) fn each_run<T: Copy, E>(
    values: &[T],
    nulls: Option<&NullBuffer>,
    gaps: Nulls,
    mut fold: impl FnMut(usize, &[T]) -> Result<(), E>,
) -> Result<(), E> {
    let Some(nulls) = nulls.filter(|nulls| nulls.null_count() > 0) else {
        return if values.is_empty() { Ok(()) } else { fold(0, values) };
    };
    let mut tile: Vec<T> = Vec::new();
    let mut first = 0;
    for (start, end) in nulls.valid_slices() {
        let run = &values[start..end];
        let gap = if gaps == Nulls::Filled { start - (first + tile.len()).min(start) } else { 0 };
        let is_full = tile.len() + gap + run.len() > TILE;
        let is_apart = gap > GAP;
        if !tile.is_empty() && (is_full || is_apart || run.len() >= LONG) {
            fold(first, &tile)?;
            tile.clear();
        }
        if run.len() >= LONG {
            fold(start, run)?;
            continue;
        }
        match (tile.last(), gaps) {
            (None, _) => first = start,
            (Some(&last), Nulls::Filled) => tile.resize(tile.len() + gap, last),
            (Some(_), Nulls::Closed) => {}
        }
        tile.extend_from_slice(run);
    }
    if tile.is_empty() { Ok(()) } else { fold(first, &tile) }
}
