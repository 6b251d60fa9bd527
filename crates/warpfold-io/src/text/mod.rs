//! Numbers as text: CSV, TSV, and numbers separated by blanks.
//!
//! Fields may be quoted in CSV and TSV. A first line of names is a header; [`Dialect`] says what names and comments are, and what a cell
//! without a number does. Without a column chosen, all fields count, row after row.
//! Every number is rounded once to its element type, whatever the number of digits.

mod cells;
mod column;
mod columns;
mod delimited;
mod dialect;
mod gaps;
mod line_ends;
pub mod lines;
mod lines_at_hand;
mod notes;
mod picks;
mod quotes;
mod reader;
mod record;
mod start;
mod vocabulary;
mod words;

pub use column::Column;
pub use columns::Columns;
pub use dialect::{Dialect, Header, Missing};
pub use gaps::{Indices, LeftOut, MissingRuns};
pub use notes::{Dropped, NoNumbers, Notes, RoundedAway, SharedNotes};
pub use reader::TextReader;
pub use record::Layout;
pub use vocabulary::{Cells, SharedWords};

pub use crate::number::{Number, NumberError, is_missing};
pub use crate::problem::{TextError, delimiter_hint, near_hint};
