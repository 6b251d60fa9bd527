//! How norms and stats are saved.

use super::exact::{bits, check_empty, reach};
use super::saved::{Header, Saved};
use super::words::{Reader, Refused, Writer};
use crate::PartialKind;
use crate::element::{Decode, Element};
use crate::exact::{Moments, Special};
use crate::partial::{Extremes, Magnitude, Norm1, Stats};

impl<T: Element> Saved for Norm1<T> {
    const HEADER: Header = Header { kind: PartialKind::Norm1, dtype: Some(T::DTYPE) };

    fn write(&self, out: &mut Writer) {
        out.word(self.count);
        out.register(&self.total);
    }

    fn read(input: &mut Reader<'_>) -> Refused<Self> {
        let count = input.word()?;
        // A magnitude in units of the square: the type's unit lies so many bits above.
        let magnitude = bits::<T::Component>() + T::Component::UNIT.unsigned_abs();
        let total = input.register(reach::<T>(magnitude, count))?;
        check_empty(count, std::slice::from_ref(&total))?;
        match total.fixed.is_negative() {
            true => Err("a sum of magnitudes is below zero".into()),
            false => Ok(Norm1 { total, count }),
        }
    }
}

impl<T: Element> Saved for Magnitude<T> {
    const HEADER: Header = Header { kind: PartialKind::Magnitude, dtype: Some(T::DTYPE) };

    fn write(&self, out: &mut Writer) {
        out.word(0);
        out.register(&self.square);
    }

    fn read(input: &mut Reader<'_>) -> Refused<Self> {
        if input.word()? != 0 {
            return Err("linf counts no elements".into());
        }
        let square = input.register(reach::<T>(2 * bits::<T::Component>(), 1))?;
        if square.fixed.is_negative() {
            return Err("a square is below zero".into());
        }
        match square.special != Special::NONE && !square.fixed.is_zero() {
            true => Err("a magnitude is both special and finite".into()),
            false => Ok(Magnitude { square }),
        }
    }
}

impl<T: Element> Saved for Stats<T> {
    const HEADER: Header = Header { kind: PartialKind::Stats, dtype: Some(T::DTYPE) };

    fn write(&self, out: &mut Writer) {
        out.word(self.seen);
        out.word(self.nans);
        self.moments.write(out);
        self.norm1.write(out);
        if T::PARTS == 1 {
            self.extremes.write(out);
        }
    }

    fn read(input: &mut Reader<'_>) -> Refused<Self> {
        let (seen, nans) = (input.word()?, input.word()?);
        let moments = Moments::<T>::read(input)?;
        let norm1 = Norm1::<T>::read(input)?;
        let extremes = match T::PARTS {
            1 => Extremes::<T::Component>::read(input)?,
            _ => Extremes::new(),
        };
        let kept = moments.count;
        let agree = norm1.count == kept && (T::PARTS > 1 || extremes.count == kept);
        // NaNs are either all counted or all left out; a counter that stopped at the top no longer tells which.
        let left = seen.checked_sub(nans);
        let counted = seen == u64::MAX || kept == seen || left == Some(kept);
        match agree && left.is_some() && kept <= seen && counted {
            true => Ok(Stats { moments, norm1, extremes, nans, seen }),
            false => Err("their parts do not count the same elements".into()),
        }
    }
}
