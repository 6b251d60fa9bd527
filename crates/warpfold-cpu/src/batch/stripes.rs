//! How the columns of a form are cut up: into stripes, and the rows of a stripe into parts.

use std::ops::Range;

use super::lanes::N;
use warpfold_plan::shape::{Form, Loop};

/// Columns of a stripe, and the most where there are more stripes than threads need: a long piece of each row is read faster.
const WIDTH: usize = 1024;
const WIDEST: usize = 4096;

/// Stripes that a thread should have at least.
const STRIPES: usize = 2;

/// Rows of a stripe that a thread takes where threads share them, in elements.
const PART: usize = 256 << 10;

/// Parts of a stripe's rows that a thread takes at most, one after another.
const PARTS: usize = 4;

/// Columns up to which a stripe has all of them where they are long, which is where each part has so many rows: memory is read from one end to the other. (Two
/// cores of an EPYC read 2^13 columns in stripes of 2^11 a tenth slower.)
const MOST_COLUMNS: usize = 16 << 10;
const LONG: usize = 512;

/// Rows of the short-input path at most.
const SHORT: usize = 16;

/// How the columns of a form are cut up.
pub(super) struct Columns<'a> {
    pub(super) form: &'a Form,
    /// Columns of memory side by side.
    length: usize,
    /// Those of a stripe.
    width: usize,
    /// Rows that are taken as one.
    pub(super) wide: usize,
    /// Threads' parts of each stripe's rows.
    pub(super) parts: usize,
    /// Loops over rows outside the innermost, and their turns in all.
    outer: &'a [Loop],
    turns: usize,
    /// Rows of the innermost loop over rows that are taken in each turn, and from one to the next.
    first_row: usize,
    rows: usize,
    pub(super) stride: usize,
    pub(super) position: i64,
}

/// A stripe: where its first element lies, how many columns it has, and their outputs.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub(super) start: usize,
    pub(super) width: usize,
    /// Columns that are outputs; the others are those of the next rows, taken as one with this.
    pub(super) real: usize,
    pub(super) first: u64,
    pub(super) step: i64,
}

impl<'a> Columns<'a> {
    /// Cuts the columns of a form; `merges` says whether what was found of parts is joined cheaply.
    pub(super) fn new(form: &'a Form, threads: usize, merges: bool) -> Self {
        let length = form.kept.last().map_or(1, |l| l.length as usize);
        let (inner, outer) = match form.folded.split_last() {
            Some((inner, outer)) => (*inner, outer),
            None => (Loop { length: 1, stride: 0, position: 1 }, &[][..]),
        };
        let (rows, stride) = (inner.length as usize, inner.stride as usize);
        let (position, first_row) = (inner.position, 0);
        let turns: usize = outer.iter().map(|l| l.length as usize).product();
        let (wide, parts) = (1, 1);
        let long = (turns * rows / LONG).min(PARTS * threads);
        let has_all_columns =
            merges && threads > 1 && length <= MOST_COLUMNS && long >= STRIPES * threads;
        let widest = match has_all_columns {
            true => MOST_COLUMNS,
            false => (form.outputs as usize / (STRIPES * threads)).clamp(WIDTH, WIDEST),
        };
        let width = length.div_ceil(length.div_ceil(widest)).next_multiple_of(N);
        let mut columns = Columns {
            form,
            length,
            width,
            wide,
            parts,
            outer,
            turns,
            first_row,
            rows,
            stride,
            position,
        };
        let few_stripes = columns.stripes() < STRIPES * threads;
        if few_stripes && stride == length && length <= WIDTH / 4 {
            columns.wide = (WIDTH / length).min(rows);
        }
        let elements = (turns * rows).saturating_mul(length.min(width));
        if few_stripes && threads > 1 {
            let most = if has_all_columns { long } else { PARTS * threads };
            columns.parts = (elements / PART).clamp(1, most);
        }
        columns
    }

    /// The rows of each turn that are too few to be taken as one.
    pub(super) fn rest(&self) -> Option<Self> {
        let rest = self.rows % self.wide;
        let first_row = self.rows - rest;
        (rest > 0).then_some(Columns { wide: 1, first_row, rows: rest, ..*self })
    }

    /// Where a part's rows lie: taken as one, and numbered through all turns.
    pub(super) fn part(&self, part: usize) -> Range<usize> {
        let all = self.turns * (self.rows / self.wide);
        let each = all.div_ceil(self.parts);
        (part * each).min(all)..((part + 1) * each).min(all)
    }

    /// What a part's rows are in each turn: the turn, and which rows of the innermost loop.
    pub(super) fn stretches(&self, part: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
        let (each, wide) = (self.rows / self.wide, self.wide);
        let Range { start: mut next, end } = self.part(part);
        std::iter::from_fn(move || {
            let (turn, row) = (next / each, next % each);
            let some = (each - row).min(end - next);
            next += some;
            let first = self.first_row + row * wide;
            (some > 0).then_some((turn, first..first + some * wide))
        })
    }

    /// Where a turn's first row begins, after that of the first turn, and its index.
    pub(super) fn turn(&self, turn: usize) -> (usize, u64) {
        let (mut rest, mut start, mut first) = (turn as u64, 0, self.form.first_index);
        for l in self.outer.iter().rev() {
            let step = rest % l.length;
            rest /= l.length;
            start += (step * l.stride) as usize;
            first = first.wrapping_add_signed(l.position.wrapping_mul(step as i64));
        }
        (start, first)
    }

    /// Whether a stripe's columns are found in more than one fold or lane.
    pub(super) fn is_shared(&self) -> bool {
        self.parts > 1 || self.wide > 1
    }

    /// The rows, if they are those of one turn and take the short-input path.
    pub(super) fn short_rows(&self) -> Option<usize> {
        (self.turns == 1 && self.rows <= SHORT).then_some(self.rows)
    }

    fn per_turn(&self) -> usize {
        self.length.div_ceil(self.width)
    }

    pub(super) fn stripes(&self) -> usize {
        (self.form.outputs as usize / self.length) * self.per_turn()
    }

    pub(super) fn stripe(&self, number: usize) -> At {
        let (turn, k) = (number / self.per_turn(), number % self.per_turn());
        let (start, first) = self.form.turn(turn as u64);
        let step = self.form.kept.last().map_or(1, |l| l.position);
        let column = k * self.width;
        let real = self.width.min(self.length - column);
        At {
            start: start as usize + column,
            width: real * self.wide,
            real,
            first: first.wrapping_add_signed(step.wrapping_mul(column as i64)),
            step,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpfold_plan::shape::{Folding, Layout};

    /// The form of an array in C order, some of whose axes are folded.
    fn form(shape: &[u64], axes: &[i64]) -> Form {
        Folding::of(Layout::c(shape).unwrap(), axes).unwrap().form().unwrap()
    }

    /// Checks that each row of each turn belongs to one part, however many there are.
    fn each_row_is_in_one_part(form: &Form) {
        let of_threads = Columns::new(form, 64, true);
        assert!(of_threads.parts > 1, "{form:?}");
        for parts in [1, 2, 3, 7, 64, 100, 255, 256, 257, of_threads.parts, 511, 512] {
            let columns = Columns { parts, ..of_threads };
            let mut uncovered = vec![0..columns.rows; columns.turns];
            // Stretches of a turn ascend with their parts, those of rows that are not taken as one after the others.
            for columns in [Some(&columns), columns.rest().as_ref()].into_iter().flatten() {
                for (turn, rows) in (0..parts).flat_map(|part| columns.stretches(part)) {
                    assert_eq!(
                        rows.start, uncovered[turn].start,
                        "turn {turn} of {form:?}, {parts}"
                    );
                    assert!(rows.end > rows.start && rows.end <= uncovered[turn].end);
                    uncovered[turn].start = rows.end;
                }
            }
            assert!(uncovered.iter().all(Range::is_empty), "{parts} parts of {form:?}");
        }
    }

    #[test]
    fn each_row_belongs_to_one_part() {
        for (rows, columns) in [(1 << 18, 4), (1 << 18, 255), (1 << 18 | 77, 3), (1 << 20, 1000)] {
            each_row_is_in_one_part(&form(&[rows, columns], &[0]));
        }
        // Loops about the innermost: many turns of few rows, some of which are no wide one.
        for shape in [[1 << 18, 2, 5, 3], [4099, 3, 300, 4], [700, 2, 1, 800], [2, 2, 70_001, 5]] {
            each_row_is_in_one_part(&form(&shape, &[0, 2]));
        }
    }

    #[test]
    fn threads_share_all_folded_loops() {
        // As many elements of each column, whether their loops are joined or not.
        let joined = form(&[1 << 16, 128], &[0]);
        let apart = form(&[1 << 12, 2, 16, 128], &[0, 2]);
        assert_eq!((joined.folded.len(), apart.folded.len()), (1, 2));
        assert_eq!(Columns::new(&joined, 8, true).parts, Columns::new(&apart, 8, true).parts);
        assert!(Columns::new(&apart, 8, true).parts >= 8);
    }
}
