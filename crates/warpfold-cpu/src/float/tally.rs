//! Counting before adding: the fractions of short floats of one sign and exponent, and how many there were, in one word.
//!
//! A float's upper bits, sign and exponent field, are the number of its counter as they stand; what is added needs no sign, no
//! implicit bit and no test. All that is made up for when the counters are emptied.

use super::Lane;
use warpfold_exact::exact::Bin;

/// A counter for every sign and exponent field.
pub(super) struct Tally {
    /// How many, above the sum of their fractions.
    counters: [u64; Self::LEN],
}

impl Tally {
    /// Signs and exponent fields of 8 bits.
    const LEN: usize = 1 << 9;
    const COUNT: u32 = 40;
    /// The longest mantissas, and the most of them, whose fractions stay below a count.
    pub(super) const MOST_BITS: u32 = 24;
    pub(super) const MOST: usize = 1 << (Self::COUNT - Self::MOST_BITS + 1);

    /// Counts one part of at most [`MOST`](Self::MOST) numbers.
    #[inline(always)]
    pub(super) fn of<F: Lane, const PARTS: usize>(numbers: &[[F; PARTS]], part: usize) -> Self {
        let fraction = F::MANTISSA_BITS - 1;
        let mut counters = [0; Self::LEN];
        for number in numbers {
            let word: u64 = number[part].word().into();
            let counter = &mut counters[(word >> fraction) as usize % Self::LEN];
            *counter += 1 << Self::COUNT | word & ((1 << fraction) - 1);
        }
        Tally { counters }
    }

    /// Adds the finite values to the bins of their shifts; returns whether all were finite.
    #[inline(always)]
    pub(super) fn empty_into<F: Lane, B: Bin>(
        &self,
        bins: &mut [B],
        sign: impl Fn(bool) -> bool,
    ) -> bool {
        let (fields, fraction) = (F::FIELD_MAX as usize + 1, F::MANTISSA_BITS - 1);
        let mut finite = true;
        for (k, &counter) in self.counters[..2 * fields].iter().enumerate() {
            let (count, fractions) = (counter >> Self::COUNT, counter & ((1 << Self::COUNT) - 1));
            if count == 0 {
                continue;
            }
            let (negative, field) = (k >= fields, k % fields);
            if field == fields - 1 {
                finite = false;
                continue;
            }
            let implicit = if field == 0 { 0 } else { count << fraction };
            bins[field.saturating_sub(1)].add(u128::from(fractions + implicit), sign(negative));
        }
        finite
    }
}
