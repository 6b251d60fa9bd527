//! How the exact accumulators are saved: sums, moments and dot products.

use super::saved::{Header, Saved};
use super::words::{Reader, Refused, Writer};
use crate::PartialKind;
use crate::element::{Components, Element, Real};
use crate::exact::{Dot, Exact, Limbs, Moments, Register, Special};

/// Bits of the magnitude of one value in units of the type's lowest bit.
pub(super) const fn bits<R: Real>() -> u32 {
    R::MANTISSA_BITS + R::SHIFTS - 1
}

/// Bits of the magnitude that `count` summands of so many bits can reach; a complex product has two summands a part.
pub(super) fn reach<T: Element>(summand: u32, count: u64) -> u32 {
    summand + (64 - count.leading_zeros()) + (T::PARTS as u32 - 1)
}

fn read_parts<T: Element, L: Limbs>(
    input: &mut Reader<'_>,
    bits: u32,
) -> Refused<T::Components<Register<L>>> {
    let mut parts = T::Components::from_fn(|_| Register::default());
    for part in parts.as_mut() {
        *part = input.register(bits)?;
    }
    Ok(parts)
}

/// Nothing can come of no elements.
pub(super) fn check_empty<L: Limbs>(count: u64, registers: &[Register<L>]) -> Refused<()> {
    let empty = |r: &Register<L>| r.fixed.is_zero() && r.special == Special::NONE;
    match count == 0 && !registers.iter().all(empty) {
        true => Err("they hold a sum of no elements that is not zero".into()),
        false => Ok(()),
    }
}

impl<T: Element> Saved for Exact<T> {
    const HEADER: Header = Header { kind: PartialKind::Sum, dtype: Some(T::DTYPE) };

    fn write(&self, out: &mut Writer) {
        out.word(self.count);
        self.parts.as_ref().iter().for_each(|part| out.register(part));
    }

    fn read(input: &mut Reader<'_>) -> Refused<Self> {
        let count = input.word()?;
        let parts = read_parts::<T, _>(input, reach::<T>(bits::<T::Component>(), count))?;
        check_empty(count, parts.as_ref())?;
        Ok(Exact { parts, count })
    }
}

impl<T: Element> Saved for Dot<T> {
    const HEADER: Header = Header { kind: PartialKind::Dot, dtype: Some(T::DTYPE) };

    fn write(&self, out: &mut Writer) {
        out.word(self.count);
        self.parts.as_ref().iter().for_each(|part| out.register(part));
    }

    fn read(input: &mut Reader<'_>) -> Refused<Self> {
        let count = input.word()?;
        let parts = read_parts::<T, _>(input, reach::<T>(2 * bits::<T::Component>(), count))?;
        check_empty(count, parts.as_ref())?;
        Ok(Dot { parts, count })
    }
}

impl<T: Element> Saved for Moments<T> {
    const HEADER: Header = Header { kind: PartialKind::Moments, dtype: Some(T::DTYPE) };

    fn write(&self, out: &mut Writer) {
        out.word(self.count);
        self.sum.as_ref().iter().for_each(|part| out.register(part));
        out.register(&self.squares);
    }

    fn read(input: &mut Reader<'_>) -> Refused<Self> {
        let count = input.word()?;
        let sum = read_parts::<T, _>(input, reach::<T>(bits::<T::Component>(), count))?;
        let squares = input.register(reach::<T>(2 * bits::<T::Component>(), count))?;
        check_empty(count, sum.as_ref())?;
        check_empty(count, std::slice::from_ref(&squares))?;
        let moments = Moments { sum, squares, count };
        if !moments.is_possible() {
            return Err("no elements have this sum and this sum of squares".into());
        }
        Ok(moments)
    }
}
