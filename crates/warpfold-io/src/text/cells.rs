//! [`Cell`]: how the cells of rows become elements.

use std::marker::PhantomData;

use warpfold_num::Element;

use super::picks::Picks;
use super::record::Records;
use super::vocabulary::Vocabulary;
use crate::number::{Decimal, Number, NumberError, is_missing};

/// How cells become elements, whose native bytes are written.
pub(super) trait Cell {
    /// Bytes of an element.
    fn size(&self) -> usize;
    /// An element whose text begins there, if that is quickly told, and how many bytes it takes.
    fn begin(&mut self, bytes: &[u8], element: &mut [u8]) -> Option<usize>;
    /// The element of a cell without blanks around it; false if it is none.
    fn cell(&mut self, text: &[u8], element: &mut [u8]) -> bool;
}

/// Numbers of a type.
struct Numbers<T>(PhantomData<T>);

impl<T: Element + Number> Cell for Numbers<T> {
    #[inline]
    fn size(&self) -> usize {
        size_of::<T>()
    }

    #[inline]
    fn begin(&mut self, bytes: &[u8], element: &mut [u8]) -> Option<usize> {
        let (decimal, length) = Decimal::read(bytes)?;
        element.copy_from_slice(bytemuck::bytes_of(&T::of_decimal(decimal)?));
        Some(length)
    }

    fn cell(&mut self, text: &[u8], element: &mut [u8]) -> bool {
        // What is to be told of a number is for the reader that knows its line.
        parse::<T>(text, element) == Ok(Fit::Within)
    }
}

/// Reads rows whose cells are numbers of a type.
pub(super) fn rows<T: Element + Number>(
    records: &mut Records,
    picks: &Picks,
    piece: &mut [u8],
) -> usize {
    records.rows(&mut Numbers::<T>(PhantomData), picks, piece)
}

impl Cell for Vocabulary {
    fn size(&self) -> usize {
        size_of::<u32>()
    }

    fn begin(&mut self, _: &[u8], _: &mut [u8]) -> Option<usize> {
        None
    }

    fn cell(&mut self, text: &[u8], element: &mut [u8]) -> bool {
        let number = if is_missing(text) { None } else { self.number(text) };
        number.is_some_and(|number| {
            element.copy_from_slice(&number.to_ne_bytes());
            true
        })
    }
}

/// Whether a number lies within the range of its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    Within,
    /// An infinity stands for it.
    Beyond,
    /// A zero stands for it, and it is none.
    Lost,
}

/// Parses a field and writes the number's native bytes.
pub(super) fn parse<T: Element + Number>(text: &[u8], out: &mut [u8]) -> Result<Fit, NumberError> {
    let number = T::parse(text)?;
    out.copy_from_slice(bytemuck::bytes_of(&number));
    Ok(match () {
        () if number.is_beyond(text) => Fit::Beyond,
        () if number.is_lost(text) => Fit::Lost,
        () => Fit::Within,
    })
}
