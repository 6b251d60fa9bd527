//! Where values outside the window go: straight into the register while they are few, into exponent bins when many.

use super::{Lane, tally::Tally};
use warpfold_exact::exact::{Bin, Bins, Limbs, Register, Special};
use warpfold_num::element::{Decoded, Real};

/// A register and, once more than a handful of values came, bins before it.
#[derive(Debug, Clone)]
pub(super) struct Spill<L, B = i128> {
    pub(super) register: Register<L>,
    bins: Option<Bins<B>>,
    direct: u32,
    bits: u32,
    shifts: u32,
}

/// Values that a register takes by itself before bins, which have to be cleared and drained, pay.
const MOST_DIRECT: u32 = 512;

impl<L: Limbs, B: Bin> Spill<L, B> {
    /// For mantissas of at most `bits` bits at shifts below `shifts`.
    pub(super) fn new(bits: u32, shifts: u32) -> Self {
        Spill { register: Register::default(), bins: None, direct: 0, bits, shifts }
    }

    /// Reserves capacity for `n` additions.
    pub(super) fn reserve(&mut self, n: usize) {
        self.direct = self.direct.saturating_add(n as u32);
        if self.direct > MOST_DIRECT {
            let (bits, shifts) = (self.bits, self.shifts);
            let bins = self.bins.get_or_insert_with(|| Bins::new(bits, shifts));
            bins.reserve(n as u64, &mut self.register.fixed);
        }
    }

    /// Adds `±magnitude · 2^shift`, for which capacity is reserved.
    #[inline(always)]
    pub(super) fn add(&mut self, magnitude: u128, shift: u32, negative: bool) {
        match &mut self.bins {
            Some(bins) => bins.add(magnitude, shift, negative),
            None => self.register.fixed.add(magnitude, shift, negative),
        }
    }

    /// Adds a value of any kind.
    #[inline(always)]
    pub(super) fn add_value<F: Real>(&mut self, x: F, sign: impl Fn(bool) -> bool) {
        match x.decode() {
            Decoded::Finite { negative, mantissa, shift } => {
                self.add(u128::from(mantissa), shift, sign(negative));
            }
            Decoded::Infinite { negative } => self.register.note(Special::infinity(sign(negative))),
            Decoded::Nan => self.register.note(Special::NAN),
        }
    }

    /// Adds one part of many numbers. Once there are bins this is one read, addition and write for each, without a branch that data
    /// could mislead.
    #[inline(always)]
    pub(super) fn add_values<F: Lane, const PARTS: usize>(
        &mut self,
        numbers: &[[F; PARTS]],
        part: usize,
        sign: impl Fn(bool) -> bool,
    ) {
        self.reserve(numbers.len());
        let Some(bins) = &mut self.bins else {
            return numbers.iter().for_each(|number| self.add_value(number[part], &sign));
        };
        let slots = bins.slots();
        if F::MANTISSA_BITS <= Tally::MOST_BITS {
            for numbers in numbers.chunks(Tally::MOST) {
                let finite = Tally::of(numbers, part).empty_into::<F, B>(slots, &sign);
                if !finite {
                    for number in numbers {
                        match number[part].decode() {
                            Decoded::Finite { .. } => {}
                            Decoded::Infinite { negative } => {
                                self.register.note(Special::infinity(sign(negative)));
                            }
                            Decoded::Nan => self.register.note(Special::NAN),
                        }
                    }
                }
            }
            return;
        }
        for number in numbers {
            match number[part].decode() {
                Decoded::Finite { negative, mantissa, shift } => {
                    slots[shift as usize].add(u128::from(mantissa), sign(negative));
                }
                Decoded::Infinite { negative } => {
                    self.register.note(Special::infinity(sign(negative)))
                }
                Decoded::Nan => self.register.note(Special::NAN),
            }
        }
    }

    /// Adds the product `±x·y` of values of any kind.
    #[inline(always)]
    pub(super) fn add_product<F: Real>(&mut self, x: F, y: F, negate: bool) {
        match (x.decode(), y.decode()) {
            (
                Decoded::Finite { negative: n, mantissa: a, shift: s },
                Decoded::Finite { negative: m, mantissa: b, shift: t },
            ) => self.add(u128::from(a) * u128::from(b), s + t, n ^ m ^ negate),
            _ => self.register.add_product(x, y, negate),
        }
    }

    /// The register with everything in it.
    pub(super) fn finish(mut self) -> Register<L> {
        if let Some(bins) = &mut self.bins {
            bins.drain_into(&mut self.register.fixed);
        }
        self.register
    }
}
