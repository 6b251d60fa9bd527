//! How extremes and counts are saved.

use super::saved::{Header, Saved};
use super::words::{Reader, Refused, Writer};
use crate::PartialKind;
use crate::element::Ordered;
use crate::partial::{ArgIndex, Count, Extremes};

const HAS_PLACES: u64 = 1;
const HAS_NAN: u64 = 2;

impl<T: Ordered> Saved for Extremes<T> {
    const HEADER: Header = Header { kind: PartialKind::Extremes, dtype: Some(T::DTYPE) };

    fn write(&self, out: &mut Writer) {
        out.word(self.count);
        let has_places = if self.min.is_some() { HAS_PLACES } else { 0 };
        let has_nan = if self.first_nan.is_some() { HAS_NAN } else { 0 };
        out.word(has_places | has_nan);
        for arg_index in [self.min, self.max] {
            match arg_index {
                Some(arg_index) => {
                    out.element(T::from_key(arg_index.key));
                    out.word(arg_index.index);
                }
                None => [0, 0].into_iter().for_each(|word| out.word(word)),
            }
        }
        out.word(self.first_nan.unwrap_or(0));
    }

    fn read(input: &mut Reader<'_>) -> Refused<Self> {
        let count = input.word()?;
        let present = input.word()?;
        if present > (HAS_PLACES | HAS_NAN) {
            return Err("a bit that marks no value is set".into());
        }
        let arg_index = |input: &mut Reader<'_>| match present & HAS_PLACES {
            0 => absent(input, 2),
            _ => {
                let (value, index) = (input.element::<T>()?, input.word()?);
                match value.is_nan() {
                    true => Err("an extreme is NaN".into()),
                    false => Ok(Some(ArgIndex { key: value.key(), index })),
                }
            }
        };
        let (min, max) = (arg_index(input)?, arg_index(input)?);
        let first_nan = match present & HAS_NAN {
            0 => absent(input, 1),
            _ => input.word().map(Some),
        }?;
        if let (Some(min), Some(max)) = (min, max)
            && (min.key > max.key || (min.key == max.key && min.index != max.index))
        {
            return Err("the minimum and the maximum contradict each other".into());
        }
        // A minimum and a maximum that differ are two elements, and a NaN is another.
        let distinct = if min == max { u64::from(min.is_some()) } else { 2 };
        let least = distinct + u64::from(first_nan.is_some());
        if count < least || (count > 0 && least == 0) {
            return Err(format!("they hold {least} values of {count} elements"));
        }
        Ok(Extremes { min, max, first_nan, count })
    }
}

/// So many words of a value that is not there.
fn absent<X>(input: &mut Reader<'_>, words: usize) -> Refused<Option<X>> {
    for _ in 0..words {
        if input.word()? != 0 {
            return Err("a value that is absent is not zero".into());
        }
    }
    Ok(None)
}

impl Saved for Count {
    const HEADER: Header = Header { kind: PartialKind::Count, dtype: None };

    fn write(&self, out: &mut Writer) {
        out.word(self.seen);
        out.word(self.nonzero);
    }

    fn read(input: &mut Reader<'_>) -> Refused<Self> {
        let (seen, nonzero) = (input.word()?, input.word()?);
        match nonzero <= seen {
            true => Ok(Count { seen, nonzero }),
            false => Err(format!("{nonzero} of {seen} elements cannot be nonzero")),
        }
    }
}
