//! What ranks found in texts, told by rank 0 as one process would tell it.

use warpfold_dist::{Comm, exchange};

use crate::Failure;
use crate::input::Name;
use crate::input::text::{Notes, RoundedAway};
use crate::left_out::TextNotes;

/// What all ranks found in their texts, in the order of the inputs: of one that was cut, all of it together.
pub(super) fn gather(
    comm: &dyn Comm,
    mine: &[(u64, Notes)],
    names: &[Name],
) -> Result<Vec<TextNotes>, Failure> {
    const NUMBERS: usize = 12;
    // Lines count from 1.
    let words = |away: RoundedAway| {
        let (line, column) = away.first.unwrap_or_default();
        [away.cells, line, column]
    };
    let mine = mine.iter().flat_map(|(which, notes)| {
        let Notes { names, rows, rows_left_out, cells_left_out, nan_cells, infinite, zero, .. } =
            *notes;
        let ([a, b, c], [d, e, f]) = (words(infinite), words(zero));
        let (names, gone) = (names.unwrap_or(0), cells_left_out);
        [*which, names, rows, rows_left_out, gone, nan_cells, a, b, c, d, e, f]
    });
    let mine: Vec<u8> = mine.flat_map(u64::to_le_bytes).collect();
    let all = exchange(comm, "what was found in texts", Ok(&mine))?.concat();
    let numbers: Vec<u64> =
        all.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
    let mut found: Vec<(u64, Notes)> = Vec::new();
    let mut parts: Vec<&[u64; NUMBERS]> = numbers.as_chunks().0.iter().collect();
    parts.sort_unstable();
    let away = |[cells, line, column]: [u64; 3]| RoundedAway {
        cells,
        first: (line > 0).then_some((line, column)),
    };
    for &[which, names, rows, rows_left_out, cells_left_out, nan_cells, a, b, c, d, e, f] in parts {
        let names = (names > 0).then_some(names);
        let (infinite, zero) = (away([a, b, c]), away([d, e, f]));
        match found.last_mut() {
            Some((last, notes)) if *last == which => {
                notes.names = notes.names.or(names);
                notes.rows += rows;
                notes.rows_left_out += rows_left_out;
                notes.cells_left_out += cells_left_out;
                notes.nan_cells += nan_cells;
                notes.infinite = notes.infinite.and(infinite);
                notes.zero = notes.zero.and(zero);
            }
            _ => {
                let counts = Notes {
                    names,
                    rows,
                    rows_left_out,
                    cells_left_out,
                    nan_cells,
                    ..Notes::default()
                };
                found.push((which, Notes { infinite, zero, ..counts }));
            }
        }
    }
    let of = |(which, notes): (u64, Notes)| {
        let name = names.get(usize::try_from(which).ok()?)?.clone();
        Some(TextNotes { name, notes })
    };
    Ok(found.into_iter().filter_map(of).collect())
}
