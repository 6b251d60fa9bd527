//! [`Dialect`]: what the options say of a text, and which cells of a first row are names.

use warpfold_num::Complex;

use crate::number::{Number, is_missing};

/// Whether the first row holds names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Header {
    /// Names if every cell is a plausible name and numbers follow; a row that is neither names nor numbers is an error
    #[default]
    Auto,
    /// Names, whatever they look like
    Yes,
    /// Data
    No,
}

/// What a cell without a number does: an empty one, or `NA`, `N/A`, `null`, `none` in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Missing {
    /// It is an error
    #[default]
    Error,
    /// It is a NaN; float and complex types only
    Nan,
    /// Its whole row is left out, of keys as well
    Skip,
}

/// How a text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    /// What separates fields, where it is not the extension or the first line that says it.
    pub delimiter: Option<u8>,
    /// What a row begins with that is not read.
    pub comment: Option<u8>,
    /// What stands before the fraction of a number.
    pub decimal: u8,
    /// Whether the first row holds names.
    pub header: Header,
    /// What a cell without a number does.
    pub missing: Missing,
    /// Whether the choice of `--header auto` is printed.
    pub verbose: bool,
}

impl Default for Dialect {
    fn default() -> Dialect {
        let (header, missing) = (Header::Auto, Missing::Error);
        Dialect { delimiter: None, comment: None, decimal: b'.', header, missing, verbose: false }
    }
}

/// What a cell of the first row is, whatever the element type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cell {
    Number,
    Name,
    /// Neither, such as `NA`, `+ 5` or an empty cell.
    Unclear,
}

impl Dialect {
    /// Whether a line is left out as a comment.
    pub(super) fn is_comment(&self, line: &[u8]) -> bool {
        self.comment.is_some_and(|comment| line.first() == Some(&comment))
    }

    /// A number with a point before its fraction; `None` where the point is there already and means something else.
    pub(super) fn with_point<'a>(
        &self,
        text: &'a [u8],
        scratch: &'a mut Vec<u8>,
    ) -> Option<&'a [u8]> {
        if self.decimal == b'.' {
            return Some(text);
        }
        if text.contains(&b'.') {
            return None;
        }
        scratch.clear();
        scratch.extend(text.iter().map(|&byte| if byte == self.decimal { b'.' } else { byte }));
        Some(scratch)
    }

    pub(super) fn cell(&self, text: &[u8]) -> Cell {
        if is_missing(text) {
            // With --missing nan or skip it is a cell of data.
            return if self.missing == Missing::Error { Cell::Unclear } else { Cell::Number };
        }
        let mut scratch = Vec::new();
        let is_number = self.with_point(text, &mut scratch).is_some_and(is_number);
        match (is_number, is_name(text)) {
            (true, _) => Cell::Number,
            (false, true) => Cell::Name,
            (false, false) => Cell::Unclear,
        }
    }
}

/// Whether it is a number of any type; the names `i` and `j`, which are numbers of complex types, are left unclear.
fn is_number(text: &[u8]) -> bool {
    f64::parse(text).is_ok()
        || bool::parse(text).is_ok()
        || text.len() > 1 && Complex::<f64>::parse(text).is_ok()
}

/// A name begins with a letter or `_`, and looks like no number: `nan(1)`, `inf.` and `j` do.
fn is_name(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let starts = text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let lower = text.to_lowercase();
    let near = ["nan", "inf", "infinity"].iter().any(|word| {
        let rest = lower.strip_prefix(word);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphabetic() || c == '_'))
    });
    starts && !near && lower != "i" && lower != "j" && !text.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_names_numbers_or_unclear() {
        let dialect = Dialect::default();
        for name in ["a", "price", "_x", "temp (°C)", "größe", "info", "nancy", "x1", "e5"] {
            assert_eq!(dialect.cell(name.as_bytes()), Cell::Name, "{name}");
        }
        for number in ["1", "-1.5e3", "nan", "-inf", "1+2j", "true"] {
            assert_eq!(dialect.cell(number.as_bytes()), Cell::Number, "{number}");
        }
        for unclear in
            ["", "NA", "null", "−1", "+ 5", "nan(1)", "inf.", "j", "a\0", "#1", "1 2", "12:00", "$"]
        {
            assert_eq!(dialect.cell(unclear.as_bytes()), Cell::Unclear, "{unclear}");
        }
        let comma = Dialect { decimal: b',', ..dialect };
        assert_eq!(comma.cell(b"1,5"), Cell::Number);
        assert_eq!(comma.cell(b"1.5"), Cell::Unclear);
    }
}
