//! How a text begins: what kind of file that shows, and where its first row lies.

use std::io::{self, Read};
use std::ops::Range;

use super::line_ends::LineEnds;
use super::record::{LINE_LIMIT, uninterrupted};
use super::{Dialect, TextError};

/// A text behind its start, which was read and put back.
pub(super) type Source = io::Chain<io::Cursor<Vec<u8>>, LineEnds<Box<dyn Read + Send>>>;

/// Whether a text begins as UTF-16 does: with its mark, or with characters of which every other byte is 0.
pub(super) fn is_utf16(start: &[u8]) -> bool {
    let is_zero = |at: usize| start.get(at).map(|&byte| byte == 0);
    let zeros = [0, 1, 2, 3].map(is_zero);
    start.starts_with(b"\xff\xfe")
        || start.starts_with(b"\xfe\xff")
        || zeros == [false, true, false, true].map(Some)
        || zeros == [true, false, true, false].map(Some)
}

/// What begins as a file of another kind does: of standard input, and by `--input text`, no name has said it.
pub(super) fn no_text(start: &[u8]) -> Option<TextError> {
    let known: [(&[u8], _, _); 3] = [
        (b"\x93NUMPY", "a .npy array", "say --input npy"),
        (
            b"PK\x03\x04",
            "an archive (.npz, or a spreadsheet)",
            "save it under its own name: .npz is read, and a spreadsheet is to be exported as CSV",
        ),
        (b"PAR1", "a Parquet file", "save it under a name that ends in .parquet"),
    ];
    // A header may begin with the same letters; what soon follows them in other files is in no text.
    const NEAR: usize = 64;
    let is_of_text = |&byte: &u8| byte >= b' ' || byte.is_ascii_whitespace();
    let is_binary = !start.iter().take(NEAR).all(is_of_text);
    let found = known.into_iter().find(|(magic, ..)| is_binary && start.starts_with(magic));
    found.map(|(_, what, remedy)| TextError::NoText { what, remedy })
}

/// Bytes of the first row that tell the layout, if it does not end before.
const SHOWN: usize = 4096;

/// Reads the start of a text, without the byte order mark, and puts it back; and where in it the first row lies that is neither empty nor a comment,
/// or what begins it. However the bytes arrive, that is the same.
pub(super) fn peek(
    mut source: LineEnds<Box<dyn Read + Send>>,
    dialect: &Dialect,
) -> io::Result<(Vec<u8>, Range<usize>, Source)> {
    let (mut start, mut some) = (Vec::new(), [0; SHOWN]);
    let mut may_have_mark = true;
    let mut rows = FirstRow { line: 0, seen: 0 };
    let mut first = None;
    // A terminal or a slow pipe gives a line at a time: what is there is enough, if it holds a row, and the bytes that show UTF-16.
    while start.len() < 4 || first.is_none() && start.len() < LINE_LIMIT {
        let before = start.len();
        let n = uninterrupted(&mut source, &mut some)?;
        start.extend_from_slice(&some[..n]);
        if start.len() == before {
            break;
        }
        // At once, as a mark is no character of the first line.
        if may_have_mark && start.len() >= 3 {
            may_have_mark = false;
            if start.starts_with(b"\xef\xbb\xbf") {
                start.drain(..3);
            }
        }
        if !may_have_mark {
            first = rows.find(&start, dialect);
        }
    }
    let first = first.unwrap_or_else(|| {
        rows.find(&start, dialect).unwrap_or(rows.line..start.len().min(rows.line + SHOWN))
    });
    Ok((start.clone(), first, io::Cursor::new(start).chain(source)))
}

/// The search for the first row that is neither empty nor a comment.
struct FirstRow {
    /// Where the line begins that is looked at.
    line: usize,
    /// Up to where no line end was found in it.
    seen: usize,
}

impl FirstRow {
    /// The row, cut after [`SHOWN`] bytes; `None` if more bytes may tell.
    fn find(&mut self, start: &[u8], dialect: &Dialect) -> Option<Range<usize>> {
        let tells = |line: &[u8]| !line.trim_ascii().is_empty() && !dialect.is_comment(line);
        loop {
            let from = self.line.max(self.seen);
            let Some(end) = start[from..].iter().position(|&byte| byte == b'\n') else {
                self.seen = start.len();
                let rest = &start[self.line..];
                let shown = &rest[..rest.len().min(SHOWN)];
                return (shown.len() == SHOWN && tells(shown))
                    .then(|| self.line..self.line + SHOWN);
            };
            let line = self.line..from + end;
            if tells(&start[line.clone()]) {
                return Some(line.start..line.end.min(line.start + SHOWN));
            }
            (self.line, self.seen) = (line.end + 1, 0);
        }
    }
}
