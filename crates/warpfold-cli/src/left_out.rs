//! Rows that `--missing skip` leaves out: what is said of them, indices that count them all the same, and pairs that lose both elements.

use std::collections::VecDeque;
use std::ops::Range;

use warpfold::partial::Output;
use warpfold::{Op, Value};

use crate::Failure;
use crate::input::text::{Indices, MissingRuns, Notes, RoundedAway, SharedNotes};
use crate::input::{Input, Name};

/// What was found in a text, for reports.
pub(crate) struct TextNotes {
    pub(crate) name: Name,
    pub(crate) notes: Notes,
}

/// Notes of inputs that are texts.
#[derive(Default)]
pub(crate) struct Texts(Vec<(Name, SharedNotes)>);

impl Texts {
    pub(crate) fn of<'a>(inputs: impl IntoIterator<Item = &'a Input>) -> Texts {
        let noted = |input: &'a Input| Some((input.name().clone(), input.notes()?));
        Texts(inputs.into_iter().filter_map(noted).collect())
    }

    pub(crate) fn add(&mut self, name: Name, notes: SharedNotes) {
        self.0.push((name, notes));
    }

    /// What was found, once all was read, and told: what a result lacks always, and how texts were read where it is to be said as well (`verbose`).
    pub(crate) fn found(&self, verbose: bool) -> Vec<TextNotes> {
        let found = self.described(verbose);
        tell_texts(&found);
        found
    }

    /// The same of a result that counts by itself what was left out of it.
    pub(crate) fn counted(&self, verbose: bool) -> Vec<TextNotes> {
        let found = self.described(verbose);
        tell_rounded(&found);
        found
    }

    fn described(&self, verbose: bool) -> Vec<TextNotes> {
        let of = |(name, notes): &(Name, SharedNotes)| TextNotes {
            name: name.clone(),
            notes: notes.counts(),
        };
        let found: Vec<_> = self.0.iter().map(of).collect();
        for TextNotes { name, notes } in found.iter().filter(|_| verbose) {
            let Notes { names, rows, nan_cells, .. } = notes;
            let names = names.map_or("no names".into(), |line| format!("names in line {line}"));
            let nans = match nan_cells {
                0 => String::new(),
                some => format!(", {some} missing cells taken for NaN"),
            };
            crate::say!("text: {name}: {names}, {rows} rows of data{nans}");
        }
        found
    }
}

/// Says what of texts is not in a result as it stands there: one rule for all results, whoever asked for it and however.
pub(crate) fn tell_texts(texts: &[TextNotes]) {
    tell_left_out(texts);
    tell_rounded(texts);
}

/// Says how many rows were left out, as a cell is missing in one of the columns that are used, and how many cells of columns that are reduced apart; of a text
/// that is read for several of them, once.
fn tell_left_out(texts: &[TextNotes]) {
    for (k, TextNotes { name, notes }) in texts.iter().enumerate() {
        if texts[..k].iter().any(|before| before.name == *name) {
            continue;
        }
        let Notes { rows, rows_left_out, cells_left_out, .. } = notes;
        if *rows_left_out > 0 {
            crate::say!(
                "note: {name}: {rows_left_out} of {rows} rows left out, as a cell is missing in one of the columns that are used"
            );
        }
        if *cells_left_out > 0 {
            crate::say!("note: {name}: missing cells left out: {cells_left_out}, in {rows} rows");
        }
    }
}

/// Says where the first number is that its type cannot hold, as an infinity stands for it, and the first that is too small for it, as a zero does.
fn tell_rounded(texts: &[TextNotes]) {
    let tell = |of: fn(&Notes) -> RoundedAway, what: &str| {
        let first = texts.iter().find_map(|text| Some((&text.name, of(&text.notes).first?)));
        let Some((name, (line, column))) = first else { return };
        let more = match texts.iter().map(|text| of(&text.notes).cells).sum() {
            0 | 1 => String::new(),
            all => format!(" ({all} such cells in all)"),
        };
        crate::say!("note: {name}: line {line}, column {column}: the number is {what}{more}");
    };
    tell(|notes| notes.infinite, "beyond the element type, and an infinity stands for it");
    tell(|notes| notes.zero, "too small for the element type, and a zero stands for it");
}

/// Texts as a JSON list.
pub(crate) fn as_json(texts: &[TextNotes]) -> serde_json::Value {
    let one = |text: &TextNotes| {
        let Notes { names, rows, rows_left_out, cells_left_out, nan_cells, infinite, zero, .. } =
            text.notes;
        serde_json::json!({
            "input": text.name.to_string(),
            "header": if names.is_some() { "names" } else { "none" },
            "header_line": names,
            "rows": rows,
            "rows_left_out": rows_left_out,
            "cells_left_out": cells_left_out,
            "cells_as_nan": nan_cells,
            "cells_as_infinity": infinite.cells,
            "cells_as_zero": zero.cells,
        })
    };
    texts.iter().map(one).collect()
}

/// Inputs one after another, by what was kept of them.
#[derive(Default)]
pub(crate) struct Joined {
    inputs: Vec<(u64, MissingRuns)>,
}

impl Joined {
    /// Adds the next input: how many of its elements were kept, and which were not.
    pub(crate) fn push(&mut self, kept: u64, gaps: MissingRuns) {
        self.inputs.push((kept, gaps));
    }

    /// A result whose indices count what was left out.
    pub(crate) fn in_data(&self, op: Op, output: Output) -> Output {
        let gives_indices = matches!(op, Op::ArgMin | Op::ArgMax | Op::Stats);
        if !gives_indices || self.inputs.iter().all(|(_, gaps)| gaps.elements() == 0) {
            return output;
        }
        match output {
            Output::One(Value::U64(index)) => Output::One(Value::U64(self.index(index))),
            Output::Summary(mut summary) => {
                summary.argmin = summary.argmin.map(|index| self.index(index));
                summary.argmax = summary.argmax.map(|index| self.index(index));
                Output::Summary(summary)
            }
            other => other,
        }
    }

    fn index(&self, kept: u64) -> u64 {
        let (mut rest, mut before) = (kept, 0);
        for (length, gaps) in &self.inputs {
            if rest < *length {
                return before + Indices::new(gaps).in_data(rest);
            }
            rest -= length;
            before += length + gaps.elements();
        }
        before + rest
    }
}

/// The gaps of one of two inputs side by side, which keeps its rows.
struct Side {
    notes: Option<SharedNotes>,
    runs: VecDeque<Range<u64>>,
}

impl Side {
    /// Marks what is left out of a piece.
    fn mark(&mut self, first: u64, is_left_out: &mut [bool]) {
        if let Some(notes) = &self.notes {
            self.runs.extend(notes.take_gaps().runs());
        }
        let end = first + is_left_out.len() as u64;
        // Of a text's head, which is read before a part of it, nothing is handed on.
        while self.runs.front().is_some_and(|run| run.end <= first) {
            self.runs.pop_front();
        }
        while let Some(run) = self.runs.front_mut().filter(|run| run.start < end) {
            let inside = run.start.max(first)..run.end.min(end);
            is_left_out[(inside.start - first) as usize..(inside.end - first) as usize].fill(true);
            if run.end > end {
                run.start = end;
                return;
            }
            self.runs.pop_front();
        }
    }
}

/// Two inputs side by side, of which both lose an element where either has none.
pub(crate) struct Pairs {
    sides: [Side; 2],
    is_left_out: Vec<bool>,
    /// Bytes of an element.
    size: usize,
    kept: [Kept; 2],
}

/// Elements that are kept, in words, so that they are aligned.
#[derive(Default)]
struct Kept {
    words: Vec<u64>,
    bytes: usize,
}

impl Kept {
    fn clear(&mut self, most: usize) {
        self.words.resize(most.div_ceil(8), 0);
        self.bytes = 0;
    }

    fn push(&mut self, element: &[u8]) {
        let all: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
        all[self.bytes..self.bytes + element.len()].copy_from_slice(element);
        self.bytes += element.len();
    }

    fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.bytes]
    }
}

/// Pairs handed on at once where some are left out.
const BATCH: usize = 1 << 16;

impl Pairs {
    /// Of elements of so many bytes.
    pub(crate) fn new(size: usize, notes: [Option<SharedNotes>; 2]) -> Pairs {
        let side = |notes| Side { notes, runs: VecDeque::new() };
        let (sides, kept) = (notes.map(side), [Kept::default(), Kept::default()]);
        Pairs { sides, is_left_out: Vec::new(), size, kept }
    }

    /// Hands on the pairs of a piece, the first of which has an index, but for those that are left out.
    pub(crate) fn each(
        &mut self,
        first: u64,
        [x, y]: [&[u8]; 2],
        mut push: impl FnMut(&[u8], &[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let size = self.size;
        self.is_left_out.clear();
        self.is_left_out.resize(x.len() / size, false);
        self.sides.iter_mut().for_each(|side| side.mark(first, &mut self.is_left_out));
        if !self.is_left_out.contains(&true) {
            return push(x, y);
        }
        let [kept_x, kept_y] = &mut self.kept;
        let batches = self.is_left_out.chunks(BATCH);
        for (is_left_out, (x, y)) in batches.zip(x.chunks(BATCH * size).zip(y.chunks(BATCH * size)))
        {
            for (from, to) in [(x, &mut *kept_x), (y, &mut *kept_y)] {
                to.clear(from.len());
                let elements = from.chunks_exact(size).zip(is_left_out);
                elements.filter(|(_, gone)| !**gone).for_each(|(element, _)| to.push(element));
            }
            push(kept_x.bytes(), kept_y.bytes())?;
        }
        Ok(())
    }

    /// The same of rows of two elements, the first of which has an index, of the first side alone.
    pub(crate) fn each_row(
        &mut self,
        first: u64,
        rows: &[u8],
        mut push: impl FnMut(&[u8], &[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let size = self.size;
        self.is_left_out.clear();
        self.is_left_out.resize(rows.len() / size, false);
        self.sides[0].mark(first, &mut self.is_left_out);
        let [kept_x, kept_y] = &mut self.kept;
        let batches = self.is_left_out.chunks(2 * BATCH).zip(rows.chunks(2 * BATCH * size));
        for (is_left_out, rows) in batches {
            kept_x.clear(rows.len() / 2);
            kept_y.clear(rows.len() / 2);
            let rows = rows.chunks_exact(2 * size).zip(is_left_out.chunks_exact(2));
            for (row, _) in rows.filter(|(_, gone)| !gone.contains(&true)) {
                let (x, y) = row.split_at(size);
                kept_x.push(x);
                kept_y.push(y);
            }
            push(kept_x.bytes(), kept_y.bytes())?;
        }
        Ok(())
    }
}
