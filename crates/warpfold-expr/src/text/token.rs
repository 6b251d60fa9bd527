//! From text to words, numbers and signs.

use warpfold_num::Result;

use super::at;

/// A piece of the text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Token<'a> {
    /// A number, as it is written.
    Number(&'a str),
    /// A name.
    Name(&'a str),
    /// A sign or a word with a fixed meaning.
    Sign(&'static str),
    /// The end of the text.
    End,
}

/// A token and where it stands, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spanned<'a> {
    pub(super) token: Token<'a>,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Longer ones first.
const SIGNS: &[(&str, &str)] = &[
    ("**", "**"),
    ("//", "//"),
    ("<=", "<="),
    (">=", ">="),
    ("==", "=="),
    ("!=", "!="),
    ("&&", "and"),
    ("||", "or"),
    ("+", "+"),
    ("-", "-"),
    ("*", "*"),
    ("/", "/"),
    ("%", "%"),
    ("<", "<"),
    (">", ">"),
    ("(", "("),
    (")", ")"),
    (",", ","),
    ("&", "&"),
    ("|", "|"),
    ("^", "^"),
    ("~", "~"),
    ("!", "not"),
];

const WORDS: &[&str] = &["and", "or", "not"];

/// Whether a point joins two words to one name, as in `a.mean`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Points {
    Join,
    /// So that `w.npy` can be a file alone.
    Refused,
}

/// The tokens of a text, the end last.
pub(super) fn tokens(text: &str, points: Points) -> Result<Vec<Spanned<'_>>> {
    let mut all = Vec::new();
    let mut start = 0;
    while let Some(first) = text[start..].chars().next() {
        if first.is_whitespace() {
            start += first.len_utf8();
            continue;
        }
        let (token, length) = token(text, start, first, points)?;
        all.push(Spanned { token, start, end: start + length });
        start += length;
    }
    all.push(Spanned { token: Token::End, start: text.len(), end: text.len() });
    Ok(all)
}

fn token(text: &str, start: usize, first: char, points: Points) -> Result<(Token<'_>, usize)> {
    let rest = &text[start..];
    let column = || column(text, start);
    if first.is_ascii_digit() || first == '.' {
        let length = number(rest);
        let written = &rest[..length];
        let ends_badly =
            rest[length..].starts_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.');
        if ends_badly || written.parse::<f64>().is_err() {
            let end = length
                + rest[length..]
                    .find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.')
                    .unwrap_or(rest.len() - length);
            let shown: String = rest[..end].chars().take(40).collect();
            return Err(at(
                column(),
                format!("`{shown}` is no number"),
                "write it as 12, 1.5 or 1e-3",
            ));
        }
        return Ok((Token::Number(written), length));
    }
    if first == '"' || first == '`' {
        // A name with blanks or signs in it, such as a column of a table.
        let Some(length) = rest[1..].find(first) else {
            return Err(at(column(), "a quote opens here and is never closed", "close it"));
        };
        if length == 0 {
            return Err(at(
                column(),
                "a name of no characters",
                "name an input between the quotes",
            ));
        }
        return Ok((Token::Name(&rest[1..=length]), length + 2));
    }
    if first.is_alphabetic() || first == '_' {
        let length = word_length(rest, points);
        let word = &rest[..length];
        let token = match WORDS.iter().find(|known| **known == word) {
            Some(word) => Token::Sign(word),
            None => Token::Name(word),
        };
        return Ok((token, length));
    }
    if rest.starts_with("<>") {
        return Err(at(column(), "`<>` has no meaning here", "say != for what is unequal"));
    }
    if let Some((sign, means)) = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)) {
        return Ok((Token::Sign(means), sign.len()));
    }
    let remedy = match first {
        '=' => "say == to compare",
        '\u{2212}' | '\u{2013}' => "write the minus sign as -",
        '\u{d7}' => "write * for a product",
        '[' | ']' | '{' | '}' => "group by ( and )",
        '\'' => {
            "numbers are compared, and no words; a name with blanks in it stands in double quotes"
        }
        _ => "write numbers, names of inputs, functions and + - * / < > == and or not",
    };
    Err(at(column(), format!("`{}` has no meaning here", first.escape_debug()), remedy))
}

/// Bytes of the word that a text begins with.
fn word_length(text: &str, points: Points) -> usize {
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut length = 0;
    loop {
        length += text[length..].find(|c| !of_word(c)).unwrap_or(text.len() - length);
        let next = text[length..].strip_prefix('.');
        let begins = |c: char| c.is_alphabetic() || c == '_';
        if points == Points::Refused || !next.is_some_and(|next| next.starts_with(begins)) {
            return length;
        }
        length += 1;
    }
}

/// Bytes of the number that a text begins with.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        bytes[from..].iter().take_while(|b| b.is_ascii_digit() || **b == b'_').count()
    };
    let mut length = digits(0);
    if bytes.get(length) == Some(&b'.') {
        length += 1;
        length += digits(length);
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let exponent = digits(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}

/// The column, from 1, of a byte of the text.
pub(super) fn column(text: &str, byte: usize) -> usize {
    text[..byte].chars().count() + 1
}
