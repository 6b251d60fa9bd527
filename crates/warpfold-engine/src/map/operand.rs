//! [`Operand`]: an array of a map of parts, with one value for each element, for each column or for each row.

use warpfold_num::Result;
use warpfold_plan::HostArray;

use super::refused;

/// What an input of a map has a value for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Each {
    /// Each element.
    #[default]
    Element,
    /// Each place of a row: the same values for all rows, as weights of features.
    Column,
    /// Each row: one value for all its elements, as the largest of them.
    Row,
}

/// An input of a map of rows, which all other parts take by elements.
#[derive(Debug, Clone, Copy)]
pub struct Operand<'a> {
    /// The array.
    pub array: HostArray<'a>,
    /// What it has a value for.
    pub each: Each,
}

impl<'a> Operand<'a> {
    /// One value for each column.
    pub fn of_columns(array: impl Into<HostArray<'a>>) -> Self {
        Operand { array: array.into(), each: Each::Column }
    }

    /// One value for each row.
    pub fn of_rows(array: impl Into<HostArray<'a>>) -> Self {
        Operand { array: array.into(), each: Each::Row }
    }
}

impl<'a> From<HostArray<'a>> for Operand<'a> {
    fn from(array: HostArray<'a>) -> Self {
        Operand { array, each: Each::Element }
    }
}

/// Fails unless arrays that are no elements' have a value for each column, or row.
///
/// # Errors
/// [`Error::Map`](warpfold_num::Error::Map), with the name of one that has more or fewer.
pub fn fits(name: &str, each: Each, len: usize, rows: usize, length: usize) -> Result<()> {
    let (wanted, what) = match each {
        Each::Element => return Ok(()),
        Each::Column => (length, "columns"),
        Each::Row => (rows, "rows"),
    };
    if len == wanted {
        return Ok(());
    }
    let obstacle = format!("{name} has {len} elements, and there are {wanted} {what}");
    Err(refused("map", obstacle, format!("give one value for each of the {what}")))
}
