//! [`Quotes`]: a look at the bytes of delimited text before they are taken apart, for what would change a number in silence.
//!
//! The reader of fields joins what follows a closing quote to what stood in it, so that `"1"2` would be twelve.

use std::fmt;

/// Where in a record the next byte stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// At the beginning of a line.
    Line,
    /// At the beginning of another field.
    Field,
    /// In a field that no quote began.
    Bare,
    /// In a quoted field.
    Quoted,
    /// After a quote in a quoted field, which ends it unless another follows.
    Closed,
    /// After blanks behind a closing quote.
    Blank,
    /// In a line that is left out.
    Comment,
}

/// What has been seen of a text so far.
#[derive(Debug, Clone)]
pub(super) struct Quotes {
    delimiter: u8,
    comment: Option<u8>,
    state: State,
    /// What has been seen of a row that has not ended.
    open: Open,
}

/// Part of a row whose end has not come; comments and empty lines are none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Open {
    /// Bytes.
    pub(super) bytes: u64,
    /// Line ends among them, which quotes protect.
    pub(super) lines: u64,
}

/// Something other than blanks, a delimiter or the end of a line after a closing quote.
#[derive(Debug)]
pub(super) struct AfterQuote;

impl fmt::Display for AfterQuote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text follows a closing quote")
    }
}

impl std::error::Error for AfterQuote {}

impl Quotes {
    /// Of a text that begins here.
    pub(super) fn new(delimiter: u8, comment: Option<u8>) -> Self {
        Quotes { delimiter, comment, state: State::Line, open: Open::default() }
    }

    /// What has been seen of a row that has not ended.
    pub(super) fn open(&self) -> Open {
        self.open
    }

    /// Whether the end of a line ends the row.
    pub(super) fn ends_row(&self) -> bool {
        self.state != State::Quoted
    }

    /// How many of the next bytes are well-formed: all, or those before something that follows a closing quote.
    pub(super) fn well_formed(&mut self, bytes: &[u8]) -> usize {
        let is_quoted = matches!(self.state, State::Quoted | State::Closed | State::Blank);
        if !is_quoted && !bytes.contains(&b'"') {
            self.skip(bytes);
            return bytes.len();
        }
        for (at, &byte) in bytes.iter().enumerate() {
            self.state = match (self.state, byte) {
                (State::Quoted, b'"') => State::Closed,
                (State::Quoted, _) | (State::Closed, b'"') => State::Quoted,
                (_, b'\n' | b'\r') => State::Line,
                (State::Comment, _) => State::Comment,
                (State::Line, _) if Some(byte) == self.comment => State::Comment,
                (_, _) if byte == self.delimiter => State::Field,
                (State::Closed | State::Blank, b' ' | b'\t') => State::Blank,
                (State::Closed | State::Blank, _) => return at,
                (State::Line | State::Field, b'"') => State::Quoted,
                _ => State::Bare,
            };
            match self.state {
                State::Line | State::Comment => self.open = Open::default(),
                _ => {
                    self.open.bytes += 1;
                    self.open.lines += u64::from(byte == b'\n');
                }
            }
        }
        bytes.len()
    }

    /// The same of bytes among which there is no quote, outside of quotes.
    fn skip(&mut self, bytes: &[u8]) {
        let Some(&last) = bytes.last() else { return };
        let line = match bytes.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')) {
            Some(end) => {
                (self.state, self.open) = (State::Line, Open::default());
                &bytes[end + 1..]
            }
            None => bytes,
        };
        let begins_comment = self.state == State::Line
            && self.comment.is_some()
            && line.first().copied() == self.comment;
        self.state = match self.state {
            _ if line.is_empty() => State::Line,
            _ if begins_comment => State::Comment,
            State::Comment => State::Comment,
            _ if last == self.delimiter => State::Field,
            _ => State::Bare,
        };
        if self.state != State::Comment {
            self.open.bytes += line.len() as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many bytes are well-formed, whatever the pieces in which they come.
    fn well_formed(text: &[u8]) -> usize {
        let of = |piece: usize| {
            let mut quotes = Quotes::new(b',', Some(b'#'));
            let mut all = 0;
            for bytes in text.chunks(piece) {
                let some = quotes.well_formed(bytes);
                all += some;
                if some < bytes.len() {
                    break;
                }
            }
            all
        };
        let whole = of(text.len().max(1));
        for piece in 1..text.len().max(1) {
            assert_eq!(of(piece), whole, "{:?} by {piece}", String::from_utf8_lossy(text));
        }
        whole
    }

    #[test]
    fn what_is_open_is_of_the_last_row_alone() {
        for (text, bytes, lines) in [
            ("", 0, 0),
            ("1,2\n", 0, 0),
            ("1,2\n3,", 2, 0),
            ("#1,2", 0, 0),
            ("1\n#\"a\n2", 1, 0),
            ("1,\"2\n3\n", 7, 2),
            ("\"1\n\",2\n#", 0, 0),
        ] {
            for piece in 1..=text.len().max(1) {
                let mut quotes = Quotes::new(b',', Some(b'#'));
                for bytes in text.as_bytes().chunks(piece) {
                    assert_eq!(quotes.well_formed(bytes), bytes.len());
                }
                assert_eq!(quotes.open(), Open { bytes, lines }, "{text:?} by {piece}");
            }
        }
    }

    #[test]
    fn only_delimiters_and_line_ends_follow_a_closing_quote() {
        for text in [
            "",
            "1,2\n",
            "\"1\",\"2\"\r\n\"3\"",
            "\"a\"\"b\",1",
            "\"a,\nb\",1",
            "a\"b\"c,1",
            " \"1\"2",
            "#\"1\"2\n3",
            "1,#\n\"4\"",
            "\"\"",
            "\"1\" ,2",
            "1\n#a,b\n\"5\"\n",
        ] {
            assert_eq!(well_formed(text.as_bytes()), text.len(), "{text:?}");
        }
        for (text, at) in
            [("\"1\"2", 3), ("1,\"2\" 3", 6), ("1\n#\"\n\"3\"#", 8), ("\"a\"\"\"b", 5)]
        {
            assert_eq!(well_formed(text.as_bytes()), at, "{text:?}");
        }
    }
}
