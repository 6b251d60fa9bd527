//! PTX text to tokens, each with the line it stands on.

use super::{Line, SyntaxError};

/// One token. Names keep their sigil (`%r1`, `$L__BB0_2`); a dotted word loses its dot.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// An opcode, register, label or variable name.
    Name(String),
    /// A word after a dot: a directive, a type or a modifier, with any `::` parts.
    Dotted(String),
    /// An integer literal, as the 64 bits it stands for.
    Integer(u64),
    /// `0f` and eight hexadecimal digits.
    Single(u32),
    /// `0d` and sixteen hexadecimal digits, or a decimal literal.
    Double(u64),
    /// A quoted string, escapes kept as written.
    Text(String),
    /// A single punctuation character.
    Mark(char),
    /// The end of the text.
    End,
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Token::Name(name) => write!(f, "`{name}`"),
            Token::Dotted(name) => write!(f, "`.{name}`"),
            Token::Integer(value) => write!(f, "the number {value}"),
            Token::Single(bits) => write!(f, "`0f{bits:08X}`"),
            Token::Double(bits) => write!(f, "`0d{bits:016X}`"),
            Token::Text(text) => write!(f, "the string \"{text}\""),
            Token::Mark(mark) => write!(f, "`{mark}`"),
            Token::End => write!(f, "the end of the file"),
        }
    }
}

/// Splits `text` into tokens; the last one is always [`Token::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, Line)>, SyntaxError> {
    let mut lexer = Lexer { text: text.as_bytes(), at: 0, line: 1 };
    let mut all = Vec::with_capacity(text.len() / 4);
    loop {
        lexer.skip_blank()?;
        let line = Line(lexer.line);
        let token = lexer.token()?;
        let end = token == Token::End;
        all.push((token, line));
        if end {
            return Ok(all);
        }
    }
}

struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    line: u32,
}

fn starts_name(c: u8) -> bool {
    c.is_ascii_alphabetic() || matches!(c, b'_' | b'$' | b'%')
}

fn continues_name(c: u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'_' | b'$')
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn error(&self, message: impl Into<String>) -> SyntaxError {
        SyntaxError { line: Line(self.line), message: message.into() }
    }

    fn taken_while(&mut self, keep: impl Fn(u8) -> bool) -> String {
        let start = self.at;
        while self.at < self.text.len() && keep(self.text[self.at]) {
            self.at += 1;
        }
        String::from_utf8_lossy(&self.text[start..self.at]).into_owned()
    }

    fn skip_blank(&mut self) -> Result<(), SyntaxError> {
        loop {
            match (self.peek(0), self.peek(1)) {
                (b'\n', _) => {
                    self.line += 1;
                    self.at += 1;
                }
                (b' ' | b'\t' | b'\r', _) => self.at += 1,
                (b'/', b'/') => {
                    self.taken_while(|c| c != b'\n');
                }
                (b'/', b'*') => {
                    self.at += 2;
                    while (self.peek(0), self.peek(1)) != (b'*', b'/') {
                        if self.at >= self.text.len() {
                            return Err(
                                self.error("a comment is opened here or above, never closed")
                            );
                        }
                        self.line += u32::from(self.peek(0) == b'\n');
                        self.at += 1;
                    }
                    self.at += 2;
                }
                // NUL: NVRTC hands its PTX over with a closing NUL, which may be kept by the caller.
                (0, _) if self.at < self.text.len() && self.at + 1 == self.text.len() => {
                    self.at += 1
                }
                _ => return Ok(()),
            }
        }
    }

    fn token(&mut self) -> Result<Token, SyntaxError> {
        if self.at >= self.text.len() {
            return Ok(Token::End);
        }
        let c = self.peek(0);
        if starts_name(c) {
            self.at += 1;
            let rest = self.taken_while(continues_name);
            return Ok(Token::Name(format!("{}{rest}", c as char)));
        }
        if c.is_ascii_digit() {
            return self.number();
        }
        match c {
            b'.' if continues_name(self.peek(1)) => {
                self.at += 1;
                let mut word = self.taken_while(continues_name);
                while self.peek(0) == b':' && self.peek(1) == b':' && continues_name(self.peek(2)) {
                    self.at += 2;
                    word.push_str("::");
                    word.push_str(&self.taken_while(continues_name));
                }
                Ok(Token::Dotted(word))
            }
            b'"' => {
                self.at += 1;
                let text = self.taken_while(|c| c != b'"' && c != b'\n');
                if self.peek(0) != b'"' {
                    return Err(self.error("a string is opened here, never closed"));
                }
                self.at += 1;
                Ok(Token::Text(text))
            }
            b'[' | b']' | b'{' | b'}' | b'(' | b')' | b'<' | b'>' | b',' | b';' | b':' | b'+'
            | b'-' | b'!' | b'|' | b'=' | b'@' => {
                self.at += 1;
                Ok(Token::Mark(c as char))
            }
            _ => Err(self.error(format!("the byte {c:#04x} begins no PTX token"))),
        }
    }

    fn number(&mut self) -> Result<Token, SyntaxError> {
        let start = self.at;
        let word = self.taken_while(|c| c.is_ascii_alphanumeric());
        // A decimal fraction or exponent: `1.5`, `2.0e-3`.
        if self.peek(0) == b'.'
            && self.peek(1).is_ascii_digit()
            && word.bytes().all(|c| c.is_ascii_digit())
        {
            self.at += 1;
            let fraction = self.taken_while(|c| c.is_ascii_alphanumeric());
            let mut text = format!("{word}.{fraction}");
            if fraction.ends_with(['e', 'E']) && matches!(self.peek(0), b'+' | b'-') {
                text.push(self.peek(0) as char);
                self.at += 1;
                text.push_str(&self.taken_while(|c| c.is_ascii_digit()));
            }
            let value: f64 =
                text.parse().map_err(|_| self.error(format!("`{text}` is not a number")))?;
            return Ok(Token::Double(value.to_bits()));
        }
        let digits = word.strip_suffix(['U', 'u']).unwrap_or(&word);
        let lower = digits.to_ascii_lowercase();
        let bad = |_| SyntaxError {
            line: Line(self.line),
            message: format!(
                "`{}` is not a number",
                String::from_utf8_lossy(&self.text[start..self.at])
            ),
        };
        if let Some(hex) = lower.strip_prefix("0f").filter(|h| h.len() == 8) {
            return u32::from_str_radix(hex, 16).map(Token::Single).map_err(bad);
        }
        if let Some(hex) = lower.strip_prefix("0d").filter(|h| h.len() == 16) {
            return u64::from_str_radix(hex, 16).map(Token::Double).map_err(bad);
        }
        let value = if let Some(hex) = lower.strip_prefix("0x") {
            u64::from_str_radix(hex, 16)
        } else if let Some(binary) = lower.strip_prefix("0b") {
            u64::from_str_radix(binary, 2)
        } else if lower.len() > 1 && lower.starts_with('0') {
            u64::from_str_radix(&lower, 8)
        } else {
            lower.parse()
        };
        value.map(Token::Integer).map_err(bad)
    }
}
