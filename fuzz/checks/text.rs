//! What must hold of any bytes given to the text reader.

use std::io::{Cursor, Read};

use warpfold_io::text::{
    Column, Dialect, Header, Layout, LeftOut, Missing, MissingRuns, Notes, SharedNotes, TextError,
    TextReader,
};
use warpfold_io::{DType, Name};

/// Reads numbers from the bytes after the first, which chooses element type, layout and column; a high one says that three more choose the
/// dialect. No panic, no more numbers than the text has room for, and the same however the bytes arrive. Returns whether all of it was accepted.
pub fn check(bytes: &[u8]) -> bool {
    let Some((&choice, text)) = bytes.split_first() else { return false };
    let choice = usize::from(choice);
    let plain = 12 * DType::ALL.len();
    match (choice < plain, text) {
        (true, _) => {
            let whole = Reading { choice, ..Reading::default() }.read(text);
            let most = text.len().div_ceil(2) * whole.size;
            // A number takes a byte, and a separator but after the last.
            assert!(whole.numbers.len() <= most, "{} bytes of {most}", whole.numbers.len());
            whole.error.is_none()
        }
        (false, &[first, second, third, ref text @ ..]) => {
            let [first, second, third] = [first, second, third].map(usize::from);
            let step = [1, 2, 3, 7, 4096][third % 5];
            let missing = [Missing::Error, Missing::Nan, Missing::Skip][first / 3 % 3];
            let dialect = Dialect {
                header: [Header::Auto, Header::Yes, Header::No][first % 3],
                missing,
                comment: [None, Some(b'#')][first / 9 % 2],
                decimal: [b'.', b','][first / 18 % 2],
                delimiter: [None, Some(b';'), Some(b'\t'), Some(b' ')][first / 36 % 4],
                verbose: false,
            };
            let beside = [None, Some(Column::Index(1)), Some(Column::Name("k".into()))];
            let beside = beside[third / 5 % 3].clone();
            let (choice, left_out) = (second, LeftOut::Listed);
            let reading = Reading { choice, dialect, beside, step: 0, left_out };
            let whole = reading.read(text);
            let left_out = if missing == Missing::Skip { LeftOut::Kept } else { LeftOut::Listed };
            let slow = Reading { step, left_out, ..reading }.read(text);
            slow.compare(&whole);
            whole.error.is_none()
        }
        (false, _) => false,
    }
}

/// How a text is read.
#[derive(Default)]
struct Reading {
    choice: usize,
    dialect: Dialect,
    beside: Option<Column>,
    /// Bytes at a time; 0 for as many as are wanted.
    step: usize,
    left_out: LeftOut,
}

/// What came of it.
struct Outcome {
    size: usize,
    numbers: Vec<u8>,
    notes: Notes,
    error: Option<TextError>,
}

impl Reading {
    fn read(&self, text: &[u8]) -> Outcome {
        let dtype = DType::ALL[self.choice % DType::ALL.len()];
        let choice = self.choice / DType::ALL.len();
        let layouts =
            [Layout::Sniff, Layout::Words, Layout::Delimited(b','), Layout::Delimited(b'\t')];
        let columns = [None, Some(Column::Index(2)), Some(Column::Name("x".into()))];
        let (layout, column) = (layouts[choice % 4], columns[choice / 4 % 3].clone());
        let source = Steps { source: Cursor::new(text.to_vec()), step: self.step };
        let reader = TextReader::new(Name::Stdin, Box::new(source), layout, column, dtype);
        let mut reader = reader
            .dialect(self.dialect, self.beside.clone())
            .notes(SharedNotes::default(), self.left_out);
        let mut number = vec![0; dtype.size()];
        let mut numbers = Vec::new();
        let error = loop {
            match reader.next_number(&mut number) {
                Ok(true) => numbers.extend_from_slice(&number),
                Ok(false) => break None,
                Err(error) => {
                    assert!(!error.to_string().contains('\n'), "{error}");
                    break Some(error);
                }
            }
        };
        Outcome { size: dtype.size(), numbers, notes: reader.found().clone(), error }
    }
}

impl Outcome {
    /// Compares a reading that keeps the rows it leaves out, and came in other pieces, with one that does neither.
    fn compare(self, other: &Outcome) {
        assert_eq!(self.error, other.error);
        assert_eq!(self.notes, other.notes);
        let kept = match self.numbers.len() == other.numbers.len() {
            true => self.numbers,
            false => without(&self.numbers, &self.notes.gaps, self.size),
        };
        assert!(kept == other.numbers, "{} numbers are not the same", kept.len() / self.size);
    }
}

/// Numbers but for those in gaps, which are zeros.
fn without(numbers: &[u8], gaps: &MissingRuns, size: usize) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut from = 0;
    for run in gaps.runs() {
        let (start, end) = (run.start as usize * size, run.end as usize * size);
        // A text that ends in an error may have lost the last row before its elements came.
        kept.extend_from_slice(&numbers[from..start.min(numbers.len())]);
        assert!(numbers[start.min(numbers.len())..end.min(numbers.len())].iter().all(|&b| b == 0));
        from = end.min(numbers.len());
    }
    kept.extend_from_slice(&numbers[from..]);
    kept
}

/// Gives a few bytes at a time.
struct Steps {
    source: Cursor<Vec<u8>>,
    step: usize,
}

impl Read for Steps {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let most = if self.step == 0 { buffer.len() } else { self.step.min(buffer.len()) };
        self.source.read(&mut buffer[..most])
    }
}
