//! [`Given`]: an array of a map on a machine, what it has a value for, and where its elements lie.

use std::ops::Range;

use warpfold_engine::map::Each;

use super::shape::Reads;
use super::splice::{Input, Lies};
use crate::kernel::array::AnyView;
use crate::kernel::executor::Executor;
use crate::{DType, Result};

/// An input of a map. Of whole arrays, one that has a value for each row has one for all elements.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub(super) view: AnyView<'a>,
    pub(super) each: Each,
    pub(super) lie: Lie<'a>,
}

/// Where the elements of an input lie.
#[derive(Clone, Copy)]
pub(super) enum Lie<'a> {
    /// One behind the other.
    Behind,
    /// So many elements from one to the next; the view begins at the first and counts those of the input alone.
    Apart(u64),
    /// At the places in the view that a list of `u32` or `u64` has.
    Listed(AnyView<'a>),
}

impl Lie<'_> {
    /// As code knows it.
    pub(super) fn lies(&self) -> Lies {
        match self {
            Lie::Behind => Lies::Behind,
            Lie::Apart(_) => Lies::Apart,
            Lie::Listed(list) if list.dtype == DType::U32 => Lies::Listed32,
            Lie::Listed(_) => Lies::Listed64,
        }
    }

    /// What code looks for in the word of the last input: how far elements are apart, or the list's address.
    pub(super) fn word(&self) -> Option<u64> {
        match self {
            Lie::Behind => None,
            Lie::Apart(apart) => Some(*apart),
            Lie::Listed(list) => Some(list.address),
        }
    }
}

impl<'a> From<AnyView<'a>> for Given<'a> {
    fn from(view: AnyView<'a>) -> Self {
        Given { view, each: Each::Element, lie: Lie::Behind }
    }
}

impl<'a> Given<'a> {
    /// How many elements, or values, it has.
    pub(super) fn len(&self) -> usize {
        match self.lie {
            Lie::Listed(list) => list.len,
            _ => self.view.len,
        }
    }

    /// As a kernel reads it, which of the map's it is.
    pub(super) fn input(&self, place: usize) -> Input {
        let lies = self.lie.lies();
        let reads = match (lies, self.view.address % 16) {
            (Lies::Behind, 0) => Reads::Vectors,
            _ => Reads::Elements,
        };
        Input { place, reads, each: self.each, lies }
    }

    /// That of some elements.
    pub(super) fn slice(&self, range: Range<usize>) -> Given<'a> {
        match (self.each, self.lie) {
            (Each::Row, _) => *self,
            (_, Lie::Behind) => Given { view: self.view.slice(range), ..*self },
            (_, Lie::Apart(apart)) => {
                let first = range.start as u64 * apart * self.view.dtype.size() as u64;
                let address = self.view.address + first;
                Given { view: AnyView { address, len: range.len(), ..self.view }, ..*self }
            }
            (_, Lie::Listed(list)) => Given { lie: Lie::Listed(list.slice(range)), ..*self },
        }
    }

    /// The bytes of some elements, copied to the host.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub(super) fn bytes(&self, machine: &dyn Executor, range: Range<usize>) -> Result<Vec<u8>> {
        let (size, part) = (self.view.dtype.size(), self.slice(range.clone()));
        let picked = |span: &[u8], places: &mut dyn Iterator<Item = usize>| {
            places.flat_map(|at| &span[at * size..(at + 1) * size]).copied().collect()
        };
        Ok(match (part.each, part.lie) {
            (Each::Row, _) => machine.bytes_of(part.view.slice(..1))?.repeat(range.len()),
            (_, Lie::Behind) => machine.bytes_of(part.view)?,
            (_, _) if range.is_empty() => Vec::new(),
            (_, Lie::Apart(apart)) => {
                let apart = apart as usize;
                let span = AnyView { len: (range.len() - 1) * apart + 1, ..part.view };
                picked(&machine.bytes_of(span)?, &mut (0..range.len()).map(|k| k * apart))
            }
            (_, Lie::Listed(list)) => {
                let places = numbers(machine, list)?;
                let first = places.iter().copied().min().unwrap_or(0) as usize;
                let last = places.iter().copied().max().unwrap_or(0) as usize;
                let span = machine.bytes_of(part.view.slice(first..=last))?;
                picked(&span, &mut places.iter().map(|&at| at as usize - first))
            }
        })
    }
}

/// Numbers of 32 or 64 bits, copied to the host.
///
/// # Errors
/// [`Error::Device`](crate::Error::Device).
pub(super) fn numbers(machine: &dyn Executor, view: AnyView<'_>) -> Result<Vec<u64>> {
    let bytes = machine.bytes_of(view)?;
    let number =
        |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    Ok(bytes.chunks_exact(view.dtype.size()).map(number).collect())
}
