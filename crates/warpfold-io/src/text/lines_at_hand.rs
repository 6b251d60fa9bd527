//! [`Lines`]: rows whose cells are numbers, read where they lie.

use memchr::memchr2;

use super::cells::Cell;
use super::picks::{Pick, Picks, past};

/// Lines that are in memory, the last of them perhaps not as a whole.
pub(super) struct Lines<'l> {
    pub(super) bytes: &'l [u8],
    /// A blank where blanks separate words, of which rows with one between two are read here.
    pub(super) delimiter: u8,
    pub(super) comment: Option<u8>,
    /// Where the first quote stands, whose line is not read.
    pub(super) quote: usize,
}

/// What was read.
pub(super) struct RowsRead {
    pub(super) rows: usize,
    pub(super) bytes: usize,
}

impl Lines<'_> {
    /// Reads rows as long as all their cells that count are elements and there is room for whole rows.
    pub(super) fn rows(&self, read: &mut impl Cell, picks: &Picks, piece: &mut [u8]) -> RowsRead {
        let (all, delimiter) = (self.bytes, self.delimiter);
        let mut found = RowsRead { rows: 0, bytes: 0 };
        if picks.cells.is_empty() {
            return found;
        }
        'rows: for piece in piece.chunks_exact_mut(read.size() * picks.elements) {
            let first = all.get(found.bytes).copied();
            if first == self.comment || first == Some(b'\n') {
                break;
            }
            let mut from = found.bytes;
            for &Pick { skipped, slot, is_last } in &picks.cells {
                let Some(start) = past(all, from, skipped, delimiter) else { break 'rows };
                let cell = &mut piece[slot * read.size()..(slot + 1) * read.size()];
                let after = if is_last { b'\n' } else { delimiter };
                let end = match read.begin(&all[start..], cell) {
                    Some(length) if all.get(start + length) == Some(&after) => start + length,
                    _ => {
                        let Some(length) = memchr2(delimiter, b'\n', &all[start..]) else {
                            break 'rows;
                        };
                        let end = start + length;
                        let text = all[start..end].trim_ascii();
                        // Other blanks separate words, too.
                        let is_one = delimiter != b' ' || !text.iter().any(u8::is_ascii_whitespace);
                        if all[end] != after || !is_one || !read.cell(text, cell) {
                            break 'rows;
                        }
                        end
                    }
                };
                from = end + 1;
            }
            if picks.rest > 0 {
                let Some(last) = past(all, from, picks.rest - 1, delimiter) else { break };
                match memchr2(delimiter, b'\n', &all[last..]) {
                    Some(length) if all[last + length] == b'\n' => from = last + length + 1,
                    _ => break,
                }
            }
            if from > self.quote {
                break;
            }
            found.bytes = from;
            found.rows += 1;
        }
        found
    }
}
