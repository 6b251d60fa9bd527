//! [`Given`]: an array of a map on a machine, and what it has a value for.

use warpfold_engine::map::Each;

use super::shape::Reads;
use super::splice::Input;
use crate::kernel::array::AnyView;

/// An input of a map. Of whole arrays, one that has a value for each row has one for all elements.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub(super) view: AnyView<'a>,
    pub(super) each: Each,
}

impl<'a> From<AnyView<'a>> for Given<'a> {
    fn from(view: AnyView<'a>) -> Self {
        Given { view, each: Each::Element }
    }
}

impl<'a> Given<'a> {
    /// As a kernel reads it, which of the map's it is.
    pub(super) fn input(&self, place: usize) -> Input {
        let reads = match self.view.address % 16 {
            0 => Reads::Vectors,
            _ => Reads::Elements,
        };
        Input { place, reads, each: self.each }
    }

    /// That of some elements.
    pub(super) fn slice(&self, range: std::ops::Range<usize>) -> Given<'a> {
        match self.each {
            Each::Row => *self,
            _ => Given { view: self.view.slice(range), ..*self },
        }
    }

    /// That of a row of so many elements, as an array of its own.
    pub(super) fn of_row(&self, row: usize, length: usize) -> Given<'a> {
        match self.each {
            Each::Element => self.slice(row * length..(row + 1) * length),
            Each::Column => Given { view: self.view, each: Each::Element },
            Each::Row => Given { view: self.view.slice(row..row + 1), each: Each::Row },
        }
    }
}
