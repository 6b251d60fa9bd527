//! What the options say of columns.

use std::path::{Path, PathBuf};

use warpfold::Op;

use super::Reduction;
use crate::Failure;
use crate::input::text::{Column, Dialect, Header};
use crate::input::{self, InputFormat, Name, is_columns};

/// What a name says of a file.
fn kind(path: &Path) -> InputFormat {
    InputFormat::of(&Name::of(path.to_path_buf()))
}

impl Reduction {
    /// The column of text.
    pub(crate) fn column_of_text(&self) -> Result<Option<Column>, Failure> {
        match &self.column[..] {
            [] => Ok(None),
            [column] => Ok(Some(column.clone())),
            _ => Err(Failure::Usage(
                "several --column options are for files of columns and texts without expressions; choose one column, or leave it out for all".into(),
            )),
        }
    }

    /// Whether it is the dot product of two columns of one text.
    pub(crate) fn is_dot_of_columns(&self) -> bool {
        let is_text =
            |path: &PathBuf| self.input.unwrap_or_else(|| kind(path)) == InputFormat::Text;
        self.op() == Op::Dot
            && matches!(&self.inputs[..], [one] if is_text(one))
            && self.column.len() == 2
            && !self.has_all_columns()
    }

    /// Whether all columns that hold numbers are asked for.
    pub(crate) fn has_all_columns(&self) -> bool {
        self.column.iter().any(|column| matches!(column, Column::Name(name) if name == "*"))
    }

    /// Whether the columns that were chosen are a table, however many there are: what is printed has one shape, whatever the files hold.
    pub(crate) fn is_table(&self) -> bool {
        self.column.len() > 1 || self.has_all_columns()
    }

    /// The first input that is a text and has a column of a name; what can be read once is looked at where it is kept.
    pub(crate) fn text_with(&self, name: &str) -> Option<&PathBuf> {
        let dialect = self.written.dialect(false);
        // A name that is looked for makes the first row one of names, whatever else is in it.
        let header = if dialect.header == Header::Auto { Header::Yes } else { dialect.header };
        let dialect = Dialect { header, ..dialect };
        let is_text = |path: &Path| self.input.unwrap_or_else(|| kind(path)) == InputFormat::Text;
        let may_look = |path: &Path| !input::is_read_once(&Name::of(path.to_path_buf()));
        let has_it = |path: &Path| {
            // What is wrong with the text is said where it is read.
            let columns = input::text_columns(&Name::of(path.to_path_buf()), dialect);
            columns.is_ok_and(|columns| columns.names.iter().any(|column| column == name))
        };
        self.inputs.iter().find(|path| is_text(path) && may_look(path) && has_it(path))
    }

    /// Whether standard input can be nothing but text: there are options of columns or of text, or nothing says a type, and no other input is an array.
    pub(crate) fn says_text(&self) -> bool {
        let is_standard = |path: &PathBuf| path.as_os_str() == "-";
        let is_text = |path: &PathBuf| is_standard(path) || kind(path) == InputFormat::Text;
        let names_column = |by: &PathBuf| kind(by) == InputFormat::Raw;
        let has_options = !self.column.is_empty()
            || (self.written.any() || self.maps.any()) && self.dtype.is_none()
            || self.parts.by.iter().any(names_column)
            || self.is_overview && self.dtype.is_none();
        has_options && self.inputs.iter().any(is_standard) && self.inputs.iter().all(is_text)
    }

    /// Whether an input is a Parquet or Arrow file, by its name.
    pub(crate) fn has_columns(&self) -> bool {
        self.input.is_none() && self.inputs.iter().any(|path| is_columns(path))
    }
}
