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
    /// Each column of a row: the same values for all rows, as weights of features.
    Column,
    /// Each row: one value for all its elements, as the largest of them.
    Row,
}

impl Each {
    /// What an array of a shape has a value for beside arrays of a full one, of which some axes are folded: as NumPy broadcasts it, where it has length 1
    /// along all axes that are kept, or along all that are folded. `None` where it is neither, nor of the full shape.
    pub fn of_shape(shape: &[u64], full: &[u64], is_folded: &[bool]) -> Option<Each> {
        if shape == full {
            return Some(Each::Element);
        }
        let ones = std::iter::repeat_n(1, full.len().checked_sub(shape.len())?);
        let lengths: Vec<u64> = ones.chain(shape.iter().copied()).collect();
        let repeats = |along: bool| {
            lengths.iter().zip(full).zip(is_folded).all(|((&length, &all), &is_folded)| {
                length == if is_folded == along { 1 } else { all }
            })
        };
        match () {
            () if lengths == full => Some(Each::Element),
            () if repeats(false) => Some(Each::Column),
            () if repeats(true) => Some(Each::Row),
            () => None,
        }
    }
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

#[cfg(test)]
mod tests {
    use super::Each;

    #[test]
    fn shapes_broadcast_along_kept_axes_or_along_folded_ones() {
        let of = |shape: &[u64], is_folded: [bool; 2]| Each::of_shape(shape, &[4, 3], &is_folded);
        let (last, first) = ([false, true], [true, false]);
        assert_eq!(of(&[4, 3], last), Some(Each::Element));
        assert_eq!(of(&[3], last), Some(Each::Column));
        assert_eq!(of(&[1, 3], last), Some(Each::Column));
        assert_eq!(of(&[4, 1], last), Some(Each::Row));
        assert_eq!(of(&[3], first), Some(Each::Row));
        assert_eq!(of(&[4, 1], first), Some(Each::Column));
        for shape in [&[4][..], &[1], &[], &[2, 3], &[1, 4, 3, 1]] {
            assert_eq!(of(shape, last), None, "{shape:?}");
        }
        // Of one column each row is an element.
        assert_eq!(Each::of_shape(&[1, 3], &[1, 3], &last), Some(Each::Element));
        assert_eq!(Each::of_shape(&[3], &[1, 3], &last), Some(Each::Element));
    }
}
