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
    /// At the indices in the view that a list of `u32` or `u64` has.
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
    pub(super) fn input(&self, index: usize) -> Input {
        let lies = self.lie.lies();
        let reads = match (lies, self.view.address % 16) {
            (Lies::Behind, 0) => Reads::Vectors,
            _ => Reads::Elements,
        };
        Input { index, reads, each: self.each, lies }
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
        let part = self.slice(range.clone());
        match (part.each, part.lie) {
            (Each::Row, _) => Ok(machine.bytes_of(part.view.slice(..1))?.repeat(range.len())),
            (_, Lie::Behind) => machine.bytes_of(part.view),
            (_, Lie::Apart(apart)) => {
                let indices: Vec<u64> = (0..range.len() as u64).map(|k| k * apart).collect();
                let len = indices.last().map_or(0, |&last| last as usize + 1);
                picked(machine, AnyView { len, ..part.view }, &indices)
            }
            (_, Lie::Listed(list)) => picked(machine, part.view, &numbers(machine, list)?),
        }
    }
}

/// Elements between the first and the last that are copied at a time where some are picked.
const SPAN: u64 = 1 << 22;

/// The bytes of the elements at some indices, copied to the host with what lies between them, a span at a time.
///
/// # Errors
/// [`Error::Device`](crate::Error::Device).
fn picked(machine: &dyn Executor, view: AnyView<'_>, indices: &[u64]) -> Result<Vec<u8>> {
    let size = view.dtype.size();
    let mut bytes = Vec::with_capacity(indices.len() * size);
    for together in indices.chunk_by(|&one, &next| one / SPAN == next / SPAN) {
        let ends = (together.iter().min(), together.iter().max());
        let (Some(&first), Some(&last)) = ends else { continue };
        let (first, last) = (first as usize, last as usize);
        let span = machine.bytes_of(view.slice(first..=last))?;
        let starts = together.iter().map(|&index| (index as usize - first) * size);
        starts.for_each(|start| bytes.extend_from_slice(&span[start..start + size]));
    }
    Ok(bytes)
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
