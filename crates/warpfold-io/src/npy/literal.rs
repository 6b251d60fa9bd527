//! The Python literals of a `.npy` header: one dictionary of strings, booleans, integers, tuples and lists.
//!
//! Hand-written because it is small: crates that read `.npy` either read the whole array with it or accept any Python literal,
//! and here every byte that is not expected must be an error.

/// A literal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Literal {
    Text(String),
    Bool(bool),
    Integer(u64),
    Tuple(Vec<Literal>),
    List(Vec<Literal>),
}

impl Literal {
    /// What it is, in words.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Literal::Text(_) => "a string",
            Literal::Bool(_) => "True or False",
            Literal::Integer(_) => "a number",
            Literal::Tuple(_) => "a tuple",
            Literal::List(_) => "a list",
        }
    }
}

/// How deep tuples and lists may nest; NumPy's own nest three deep.
const DEPTH: usize = 16;

/// Parses a whole header: a dictionary and nothing but blanks after it.
pub(super) fn dictionary(text: &str) -> Result<Vec<(String, Literal)>, String> {
    let mut parser = Parser { text, at: 0 };
    parser.expect('{').map_err(|_| "it is no dictionary".to_string())?;
    let mut entries = Vec::new();
    while !parser.accept('}') {
        let key = match parser.value(0)? {
            Literal::Text(key) => key,
            other => return Err(format!("a key is {}, not a string", other.kind())),
        };
        parser.expect(':')?;
        let value = parser.value(0)?;
        if entries.iter().any(|(known, _)| *known == key) {
            return Err(format!("the key {key:?} stands twice"));
        }
        entries.push((key, value));
        if !parser.accept(',') {
            parser.expect('}')?;
            break;
        }
    }
    parser.skip_blanks();
    match parser.rest() {
        "" => Ok(entries),
        _ => Err(format!("something follows the dictionary at byte {}", parser.at)),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
    }

    fn accept(&mut self, wanted: char) -> bool {
        self.skip_blanks();
        let found = self.rest().starts_with(wanted);
        self.at += if found { wanted.len_utf8() } else { 0 };
        found
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        if self.accept(wanted) {
            return Ok(());
        }
        Err(match self.rest().chars().next() {
            Some(found) => format!("{found:?} stands at byte {} in place of {wanted:?}", self.at),
            None => format!("it ends where {wanted:?} should stand"),
        })
    }

    fn word(&mut self, word: &str) -> bool {
        let found = self
            .rest()
            .strip_prefix(word)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'));
        self.at += if found { word.len() } else { 0 };
        found
    }

    fn value(&mut self, depth: usize) -> Result<Literal, String> {
        if depth > DEPTH {
            return Err("it nests too deep".into());
        }
        self.skip_blanks();
        match self.rest().chars().next() {
            Some(quote @ ('\'' | '"')) => self.string(quote).map(Literal::Text),
            Some('0'..='9') => self.integer().map(Literal::Integer),
            Some('(') => self.sequence('(', ')', depth),
            Some('[') => self.sequence('[', ']', depth),
            _ if self.word("True") => Ok(Literal::Bool(true)),
            _ if self.word("False") => Ok(Literal::Bool(false)),
            Some('-') => Err(format!(
                "a negative number stands at byte {}, and sizes are not negative",
                self.at
            )),
            Some(other) => Err(format!("{other:?} at byte {} starts no value", self.at)),
            None => Err("it ends where a value should stand".into()),
        }
    }

    fn string(&mut self, quote: char) -> Result<String, String> {
        let body = &self.rest()[1..];
        let end = body.find([quote, '\\', '\n']).ok_or("a string does not end")?;
        if !body[end..].starts_with(quote) {
            return Err("a string holds a backslash or a line break".into());
        }
        self.at += end + 2;
        Ok(body[..end].to_string())
    }

    fn integer(&mut self) -> Result<u64, String> {
        let rest = self.rest();
        let digits =
            &rest[..rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len()];
        if digits.len() > 1 && digits.starts_with('0') {
            return Err(format!("the number {digits} starts with a zero"));
        }
        self.at += digits.len();
        // Python 2 wrote long integers with an L.
        self.at += usize::from(self.rest().starts_with('L'));
        digits.parse().map_err(|_| format!("the number {digits} does not fit in 64 bits"))
    }

    fn sequence(&mut self, open: char, close: char, depth: usize) -> Result<Literal, String> {
        self.expect(open)?;
        let mut values = Vec::new();
        let mut comma = false;
        while !self.accept(close) {
            values.push(self.value(depth + 1)?);
            comma = self.accept(',');
            if !comma {
                self.expect(close)?;
                break;
            }
        }
        match (open, values.len(), comma) {
            ('(', 1, false) => Err("a tuple of one lacks its comma".into()),
            ('(', ..) => Ok(Literal::Tuple(values)),
            _ => Ok(Literal::List(values)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_numpy_writes() {
        let entries =
            dictionary("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4L), }   \n")
                .unwrap();
        assert_eq!(entries[0], ("descr".into(), Literal::Text("<f8".into())));
        assert_eq!(entries[1], ("fortran_order".into(), Literal::Bool(false)));
        let shape = Literal::Tuple(vec![Literal::Integer(3), Literal::Integer(4)]);
        assert_eq!(entries[2], ("shape".into(), shape));
    }

    #[test]
    fn refuses_everything_else() {
        for bad in [
            "",
            "[]",
            "{",
            "{'a'}",
            "{'a': }",
            "{'a': 1",
            "{'a': 1, 'a': 2}",
            "{1: 2}",
            "{'a': 1} x",
            "{'a': (1)}",
            "{'a': -1}",
            "{'a': Truey}",
            "{'a': '\\n'}",
            "{'a': 99999999999999999999}",
            "{'a': 01}",
            "{'a': 'b}",
            "{,}",
            "{'a': 1,, 'b': 2}",
            "{'a': (,)}",
        ] {
            assert!(dictionary(bad).is_err(), "{bad}");
        }
        assert!(dictionary(&format!("{{'a': {}", "[".repeat(1 << 16))).is_err());
    }
}
