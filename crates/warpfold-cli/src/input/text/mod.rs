//! Numbers as text: CSV, TSV, and numbers separated by blanks.
//!
//! Lines that start with `#` are comments. Fields may be quoted in CSV and TSV. A first line without a single number in it is a
//! header (of CSV and TSV; with a column chosen, of all three). Without a column chosen, all fields count, row after row.
//! Every number is rounded once to its element type, whatever the number of digits.

mod column;
mod number;
mod problem;
mod reader;
mod record;
mod words;

pub use column::Column;
pub use number::{Number, NumberError};
pub use problem::TextError;
pub use reader::TextReader;
pub use record::Layout;
