//! Options that say how a text is written.

use clap::Args;

use crate::input::text::{Dialect, Header, Missing};

/// How text is written.
#[derive(Debug, Args)]
#[command(next_help_heading = "Text")]
pub(crate) struct Written {
    /// Whether the first row holds names [default: auto]
    #[arg(long, value_name = "WHEN", conflicts_with = "random")]
    header: Option<Header>,

    /// What an empty cell does, or NA, N/A, null and none [default: error]
    #[arg(long, value_name = "HOW", conflicts_with = "random")]
    missing: Option<Missing>,

    /// Leave out rows that begin with this character; without it all rows are data
    #[arg(long, value_name = "CHAR", value_parser = mark, conflicts_with = "random")]
    comment: Option<u8>,

    /// What separates the fields: a character, tab or space [default: a comma for .csv, a tab for .tsv, else what the first row has]
    #[arg(long, value_name = "CHAR", value_parser = mark, conflicts_with = "random")]
    delimiter: Option<u8>,

    /// What stands before the fraction of a number, a point or a comma [default: .]
    #[arg(long, value_name = "CHAR", value_parser = decimal, conflicts_with = "random")]
    decimal: Option<u8>,
}

impl Written {
    /// Whether any of it was given.
    pub(crate) fn any(&self) -> bool {
        let Written { header, missing, comment, delimiter, decimal } = self;
        header.is_some()
            || missing.is_some()
            || [comment, delimiter, decimal].into_iter().any(Option::is_some)
    }

    /// Whether it was said what missing cells do.
    pub(crate) fn says_missing(&self) -> bool {
        self.missing.is_some()
    }

    /// The dialect.
    pub(crate) fn dialect(&self, verbose: bool) -> Dialect {
        Dialect {
            delimiter: self.delimiter,
            comment: self.comment,
            decimal: self.decimal.unwrap_or(b'.'),
            header: self.header.unwrap_or_default(),
            missing: self.missing.unwrap_or_default(),
            verbose,
        }
    }
}

/// One character that is part of no number, by itself or by name.
fn mark(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        _ if text == "tab" || text == "\\t" => Ok(b'\t'),
        _ if text == "space" => Ok(b' '),
        &[byte @ (b'\t' | b' '..=b'~')]
            if !byte.is_ascii_alphanumeric() && !b"\"+-.()".contains(&byte) =>
        {
            Ok(byte)
        }
        _ => Err(
            "it is one ASCII character that is no part of a number and no quote, or tab or space"
                .into(),
        ),
    }
}

fn decimal(text: &str) -> Result<u8, String> {
    match text {
        "." | "," => Ok(text.as_bytes()[0]),
        _ => Err("it is a point (.) or a comma (,)".into()),
    }
}
