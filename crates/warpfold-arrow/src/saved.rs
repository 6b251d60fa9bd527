//! What reducers have taken in as bytes, for another process that reduces other rows of the same columns.
//!
//! Numbers are of 8 bytes, little-endian, if nothing else is said.
//!
//! | what | of |
//! |---|---|
//! | the version, 1; the number of the row after the last; values that were taken in | every column |
//! | a partial: its length, and so many bytes of its compact form; none is of length 0 | numbers and times; products of two columns |
//! | the same of where the extremes stand | numbers and times |
//! | the sum (32 bytes), the number of values and of those that are not zero | decimals |
//! | of the least and the greatest: 1 or 0, whether there is one; the value (16 bytes); its row | decimals |

use arrow_buffer::i256;
use warpfold_exact::AnyPartial;
use warpfold_num::{DType, Error as Reduction, Op};

use crate::Result;

const VERSION: u64 = 1;

/// Writes numbers one after another.
#[derive(Default)]
pub(crate) struct Saved(Vec<u8>);

impl Saved {
    /// What every column begins with.
    pub(crate) fn of(row: u64, values: u64) -> Saved {
        let mut saved = Saved::default();
        [VERSION, row, values].into_iter().for_each(|number| saved.number(number));
        saved
    }

    pub(crate) fn number(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    pub(crate) fn sum(&mut self, sum: i256) {
        self.0.extend(sum.to_le_bytes());
    }

    pub(crate) fn extreme(&mut self, extreme: Option<(i128, u64)>) {
        let (value, row) = extreme.unwrap_or_default();
        self.number(extreme.is_some().into());
        self.0.extend(value.to_le_bytes());
        self.number(row);
    }

    pub(crate) fn partial(&mut self, partial: Option<&AnyPartial>) {
        let bytes = partial.map(AnyPartial::to_compact).unwrap_or_default();
        self.number(bytes.len() as u64);
        self.0.extend(bytes);
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Reads the same from bytes that may be anything.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// What stands behind the version.
    pub(crate) fn of(bytes: &'a [u8]) -> Result<Reader<'a>> {
        let mut reader = Reader(bytes);
        match reader.number()? {
            VERSION => Ok(reader),
            other => Err(refused(format!("they are of version {other}"))),
        }
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or_else(|| refused("they end early"))?;
        self.0 = rest;
        Ok(*bytes)
    }

    pub(crate) fn number(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.bytes()?))
    }

    pub(crate) fn sum(&mut self) -> Result<i256> {
        Ok(i256::from_le_bytes(self.bytes()?))
    }

    pub(crate) fn extreme(&mut self) -> Result<Option<(i128, u64)>> {
        let is_there = self.number()?;
        let found = (i128::from_le_bytes(self.bytes()?), self.number()?);
        match is_there {
            0 => Ok(None),
            1 => Ok(Some(found)),
            _ => Err(refused("an extreme is there or not")),
        }
    }

    /// A partial of a reduction of elements of a type.
    pub(crate) fn partial(&mut self, op: Op, dtype: DType) -> Result<Option<AnyPartial>> {
        let length = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        let (bytes, rest) =
            self.0.split_at_checked(length).ok_or_else(|| refused("they end early"))?;
        self.0 = rest;
        if bytes.is_empty() {
            return Ok(None);
        }
        let partial = AnyPartial::from_bytes_of(dtype, bytes)?;
        match partial.serves(op) {
            true => Ok(Some(partial)),
            false => Err(refused(format!("a partial is none of {op}"))),
        }
    }

    /// Fails if there is more.
    pub(crate) fn end(self) -> Result<()> {
        match self.0.is_empty() {
            true => Ok(()),
            false => Err(refused("there are more of them")),
        }
    }
}

pub(crate) fn refused(why: impl Into<String>) -> crate::Error {
    Reduction::BadPartial { expected: "a column", why: why.into() }.into()
}

/// Whether so many values can be among so many rows: not where two have folded the same rows.
pub(crate) fn check_counts(values: u64, rows: u64) -> Result<()> {
    match values > rows {
        true => Err(refused("it counts more values than there are rows")),
        false => Ok(()),
    }
}
