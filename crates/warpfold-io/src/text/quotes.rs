//! [`Quotes`]: a look at the bytes of a row before it is taken apart: where it ends, and what would change a number in silence.
//!
//! What follows a closing quote belongs to no cell: `"1"2` would be one, two or twelve.

/// Where in a row the next byte stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// At the beginning of a field.
    Field,
    /// In a field that no quote began.
    Bare,
    /// In a quoted field.
    Quoted,
    /// After a quote in a quoted field, which ends it unless another follows.
    Closed,
    /// After blanks behind a closing quote.
    Blank,
}

/// What has been seen of a row so far.
#[derive(Debug, Clone)]
pub(super) struct Quotes {
    delimiter: u8,
    state: State,
    /// Line ends, which quotes protect.
    lines: u64,
    /// How many of them there were where the last quoted field began.
    opened: u64,
}

impl Quotes {
    /// Of a row that begins here.
    pub(super) fn new(delimiter: u8) -> Self {
        Quotes { delimiter, state: State::Field, lines: 0, opened: 0 }
    }

    /// Line ends within the row.
    pub(super) fn lines(&self) -> u64 {
        self.lines
    }

    /// Line ends before the last quoted field.
    pub(super) fn opened(&self) -> u64 {
        self.opened
    }

    /// Whether the end of a line ends the row.
    pub(super) fn ends_row(&self) -> bool {
        self.state != State::Quoted
    }

    /// How many of the row's next bytes are well-formed: all, or those before something that follows a closing quote.
    pub(super) fn well_formed(&mut self, bytes: &[u8]) -> usize {
        for (at, &byte) in bytes.iter().enumerate() {
            self.state = match (self.state, byte) {
                (State::Quoted, b'"') => State::Closed,
                (State::Quoted, _) | (State::Closed, b'"') => State::Quoted,
                (_, _) if byte == self.delimiter => State::Field,
                (State::Closed | State::Blank, b' ' | b'\t') => State::Blank,
                (State::Closed | State::Blank, _) => return at,
                // Blanks before a quote are none of the cell's.
                (State::Field, b' ' | b'\t') => State::Field,
                (State::Field, b'"') => {
                    self.opened = self.lines;
                    State::Quoted
                }
                _ => State::Bare,
            };
            self.lines += u64::from(byte == b'\n');
        }
        bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many bytes are well-formed, whatever the pieces in which they come, and the line ends before them and before the last quoted field.
    fn well_formed(row: &[u8]) -> (usize, u64, u64) {
        let of = |piece: usize| {
            let mut quotes = Quotes::new(b',');
            let mut all = 0;
            for bytes in row.chunks(piece) {
                let some = quotes.well_formed(bytes);
                all += some;
                if some < bytes.len() {
                    break;
                }
            }
            (all, quotes.lines(), quotes.opened())
        };
        let whole = of(row.len().max(1));
        for piece in 1..row.len().max(1) {
            assert_eq!(of(piece), whole, "{:?} by {piece}", String::from_utf8_lossy(row));
        }
        whole
    }

    #[test]
    fn only_delimiters_and_blanks_follow_a_closing_quote() {
        for (row, lines, opened) in [
            ("", 0, 0),
            ("1,2", 0, 0),
            ("\"a\"\"b\",1", 0, 0),
            ("\"a,\nb\",1", 1, 0),
            ("\"a\n\n\",\"b\n", 3, 2),
            ("a\"b\"c,1", 0, 0),
            ("1 \"1\"2", 0, 0),
            (" \"1,\n\" , \t\"\"", 1, 1),
            ("\"\"", 0, 0),
            ("\"1\" ,2", 0, 0),
            ("\"1\"\t", 0, 0),
        ] {
            assert_eq!(well_formed(row.as_bytes()), (row.len(), lines, opened), "{row:?}");
        }
        for (row, at) in
            [("\"1\"2", 3), (" \"1\"2", 4), ("1,\"2\" 3", 6), ("\"3\"#", 3), ("\"a\"\"\"b", 5)]
        {
            assert_eq!(well_formed(row.as_bytes()).0, at, "{row:?}");
        }
    }

    #[test]
    fn a_row_ends_outside_of_quotes() {
        for (row, ends) in
            [("1", true), ("\"1", false), ("\"1\"", true), ("\"\"\"", false), ("a\"", true)]
        {
            let mut quotes = Quotes::new(b',');
            quotes.well_formed(row.as_bytes());
            assert_eq!(quotes.ends_row(), ends, "{row:?}");
        }
    }
}
