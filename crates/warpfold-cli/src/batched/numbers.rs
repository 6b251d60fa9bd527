//! Offsets and lengths from a file.

use std::path::Path;

use warpfold::segment::Numbers as Borrowed;
use warpfold::{DType, Element};

use crate::Failure;
use crate::input::text::{Dialect, Missing, SharedNotes};
use crate::input::{self, InputFormat, Name, Order, Problem, Wanted, Whole};

/// Integers that are not negative, as a file has them or widened.
pub(crate) enum Numbers {
    Whole(Whole),
    Widened(Vec<u64>),
}

impl Numbers {
    /// Reads a file of integers; text as i64, written as all text is.
    pub(super) fn read(
        path: &Path,
        what: &'static str,
        dialect: Dialect,
    ) -> Result<(Numbers, Option<SharedNotes>), Failure> {
        let kind = InputFormat::of_parts(&Name::of(path.to_path_buf()))?;
        let dtype = (kind == InputFormat::Text).then_some(DType::I64);
        // One that is missing would shift all that follow.
        let dialect = Dialect { missing: Missing::Error, ..dialect };
        let wanted = Wanted { dtype, kind: Some(kind), dialect, ..Wanted::default() };
        let inputs = input::open(&[path.to_path_buf()], &wanted)?;
        let input = inputs.into_iter().next().expect("one path is one input");
        let notes = input.notes();
        // A copy: numbers that were checked must not change after that.
        let (name, dtype) = (input.name().clone(), input.dtype());
        let whole = Whole::copied(name, dtype, None, input.pieces(Order::C)?)?;
        let found = whole.dtype();
        let numbers = match found {
            DType::I32 | DType::U32 | DType::I64 | DType::U64 => Ok(Numbers::Whole(whole)),
            DType::I8 => widened::<i8>(&whole).map(Numbers::Widened),
            DType::I16 => widened::<i16>(&whole).map(Numbers::Widened),
            DType::U8 => widened::<u8>(&whole).map(Numbers::Widened),
            DType::U16 => widened::<u16>(&whole).map(Numbers::Widened),
            _ => Err(Failure::input(whole.name(), Problem::NoIntegers { what, found })),
        };
        Ok((numbers?, notes))
    }

    /// The numbers as the library takes them.
    pub(super) fn as_numbers(&self) -> Borrowed<'_> {
        const TYPE: &str = "the type was looked up";
        match self {
            Numbers::Widened(numbers) => numbers.into(),
            Numbers::Whole(whole) => match whole.dtype() {
                DType::I32 => whole.elements::<i32>().expect(TYPE).into(),
                DType::U32 => whole.elements::<u32>().expect(TYPE).into(),
                DType::I64 => whole.elements::<i64>().expect(TYPE).into(),
                _ => whole.elements::<u64>().expect(TYPE).into(),
            },
        }
    }

    /// The first and the last of them.
    pub(super) fn ends(&self) -> Option<(u64, u64)> {
        match self.as_numbers() {
            Borrowed::U32(all) => Some((u64::from(*all.first()?), u64::from(*all.last()?))),
            Borrowed::U64(all) => Some((*all.first()?, *all.last()?)),
        }
    }
}

/// A negative number becomes more than any array has, and is refused for that.
fn widened<T: Element + Copy + Into<i64>>(whole: &Whole) -> Result<Vec<u64>, Failure> {
    Ok(whole.elements::<T>()?.iter().map(|&number| number.into() as u64).collect())
}
