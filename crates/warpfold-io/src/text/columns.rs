//! The columns of a text: how many its first row has, and what they are called.

use std::io::Read;

use super::column::{Chosen, is_header};
use super::record::{Record, Records};
use super::{Dialect, Header, Layout, TextError};

/// Names of columns, by number where the first row has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    /// A name for each column.
    pub names: Vec<String>,
    /// Whether the first row holds the names.
    pub header: Header,
}

impl Columns {
    /// Reads the first row.
    ///
    /// # Errors
    /// [`TextError::FirstRow`] where the row is neither names nor numbers, and what reading may meet.
    pub fn read(
        source: Box<dyn Read + Send>,
        layout: Layout,
        dialect: Dialect,
    ) -> Result<Columns, TextError> {
        let mut record = Record::default();
        if !Records::new(source, layout, true, dialect)?.next(&mut record)? {
            return Ok(Columns { names: Vec::new(), header: Header::No });
        }
        let (names, header) = match is_header(&dialect, false, &Chosen::All, &record)? {
            true => {
                let name = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
                (record.fields().map(name).collect(), Header::Yes)
            }
            false => ((1..=record.len()).map(|number| number.to_string()).collect(), Header::No),
        };
        Ok(Columns { names, header })
    }
}
