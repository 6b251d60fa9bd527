//! [`Picks`]: which cells of a row are read, and how the others are passed over.

/// The cells of a row that are read, from left to right.
#[derive(Debug, Clone, Default)]
pub(super) struct Picks {
    pub(super) cells: Vec<Pick>,
    /// Cells behind the last of them.
    pub(super) rest: usize,
    /// Elements of a row, those of cells that are not read among them.
    pub(super) elements: usize,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Pick {
    /// Cells between the one before and this one.
    pub(super) skipped: usize,
    /// Which of the row's elements it is.
    pub(super) slot: usize,
    /// Whether no cell follows in the row.
    pub(super) is_last: bool,
}

impl Picks {
    /// Of rows with so many fields, by the places of the elements; `None` where one is read twice, or is not there.
    pub(super) fn new(indices: &[u64], fields: usize) -> Option<Picks> {
        let mut order: Vec<(usize, usize)> =
            indices.iter().enumerate().map(|(slot, &index)| (index as usize, slot)).collect();
        order.sort_unstable();
        let mut picks = Picks { elements: indices.len(), ..Picks::default() };
        let mut next = 0;
        for (index, slot) in order {
            let skipped = index.checked_sub(next)?;
            next = index + 1;
            picks.cells.push(Pick { skipped, slot, is_last: next == fields });
        }
        picks.rest = fields.checked_sub(next)?;
        Some(picks)
    }

    /// The same without some of the elements.
    pub(super) fn without(mut self, dropped: &[bool]) -> Picks {
        let mut behind = 0;
        let mut kept: Vec<Pick> = Vec::with_capacity(self.cells.len());
        for pick in self.cells {
            behind += pick.skipped;
            match dropped.get(pick.slot) {
                Some(true) => behind += 1,
                _ => {
                    kept.push(Pick { skipped: behind, ..pick });
                    behind = 0;
                }
            }
        }
        self.cells = kept;
        self.rest += behind;
        self
    }
}

/// The byte behind so many delimiters; `None` if the line, or what is there of it, ends before.
#[inline]
pub(super) fn past(bytes: &[u8], mut at: usize, mut cells: usize, delimiter: u8) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    while cells > 0 {
        let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) else {
            let byte = *bytes.get(at)?;
            if byte == b'\n' {
                return None;
            }
            cells -= usize::from(byte == delimiter);
            at += 1;
            continue;
        };
        let word = u64::from_le_bytes(*word);
        let ends = equal(word, ONES * u64::from(b'\n'));
        let mut found = equal(word, ONES * u64::from(delimiter));
        let here = found.count_ones() as usize;
        if here < cells && ends == 0 {
            (at, cells) = (at + 8, cells - here);
            continue;
        }
        for _ in 1..cells.min(here) {
            found &= found - 1;
        }
        let last = if here < cells { 8 } else { found.trailing_zeros() as usize / 8 };
        if ends.trailing_zeros() as usize / 8 < last {
            return None;
        }
        (at, cells) = (at + last + 1, 0);
    }
    Some(at)
}

/// The upper bit of each byte that is the same in both.
#[inline]
fn equal(word: u64, other: u64) -> u64 {
    let differs = word ^ other;
    !(((differs & 0x7f7f_7f7f_7f7f_7f7f) + 0x7f7f_7f7f_7f7f_7f7f) | differs) & 0x8080_8080_8080_8080
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_passed_as_one_by_one() {
        let mut state = 7u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        for _ in 0..20_000 {
            let length = next(40);
            let bytes: Vec<u8> =
                (0..length).map(|_| b",\nx\x2d\xac1"[next(6).min(5) as usize]).collect();
            let (from, cells) = (next(length + 1) as usize, next(6) as usize);
            let mut left = cells;
            let mut expected = (cells == 0).then_some(from);
            for (at, &byte) in bytes.iter().enumerate().skip(from) {
                if left == 0 || byte == b'\n' {
                    break;
                }
                left -= usize::from(byte == b',');
                expected = (left == 0).then_some(at + 1);
            }
            assert_eq!(past(&bytes, from, cells, b','), expected, "{bytes:?} {from} {cells}");
        }
    }
}
