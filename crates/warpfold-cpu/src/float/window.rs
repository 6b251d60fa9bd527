//! The window of exponents inside which f64 arithmetic is exact.

use super::lane::Lane;

/// Magnitudes from `2^low` to below `2^high`, as exponent fields and as bits to compare with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window<F: Lane> {
    low: F::Word,
    span: F::Word,
    /// The exponent field of the least magnitude inside (0 and 1 both mean subnormals and zero, too).
    pub(super) low_field: u32,
    /// The exponent field above the greatest.
    pub(super) high_field: u32,
}

/// Which windows a kernel can take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Binades of a window.
    pub(super) width: u32,
    /// The lowest exponent field at which the kernel's arithmetic does not underflow.
    pub(super) low: u32,
    /// The highest exponent field at which it does not overflow.
    pub(super) high: u32,
}

/// Four values of p bits within W binades add up in f32's 24 bits if `W <= 23 - p`; that they stay below f32's end, where bf16 ends
/// too, costs two binades. Of types that [`ADD_SHORT`](Lane::ADD_SHORT).
pub(super) const fn short_bounds<F: Lane>() -> Bounds {
    let width = if F::ADD_SHORT { 23 - F::MANTISSA_BITS } else { 0 };
    Bounds { width, low: 0, high: F::FIELD_MAX - 2 }
}

impl<F: Lane> Window<F> {
    /// The window that holds magnitudes up to exponent field `top` with two binades to spare, as far as the bounds let it.
    pub(super) fn below(top: u32, bounds: Bounds) -> Self {
        let most = bounds.high.min(F::FIELD_MAX);
        let low_field = (top + 3).min(most).saturating_sub(bounds.width).max(bounds.low);
        let high_field = (low_field + bounds.width).min(most);
        // Field 0 holds the subnormals on the grid of field 1.
        let low = if low_field <= 1 { F::Word::default() } else { F::field_bits(low_field) };
        let span = F::span(low, F::field_bits(high_field));
        Window { low, span, low_field, high_field }
    }

    /// The bits of the least magnitude inside, and how far above them the others lie.
    pub(super) fn words(&self) -> (F::Word, F::Word) {
        (self.low, self.span)
    }

    /// Whether the value lies inside. Zero does only if subnormals do, although every window could take it: see [`takes`](Self::takes).
    #[inline(always)]
    pub(super) fn contains(&self, x: F) -> bool {
        x.within(self.low, self.span)
    }

    /// Whether the value may be added inside: it lies there or is zero.
    #[inline(always)]
    pub(super) fn takes(&self, x: F) -> bool {
        self.contains(x) | (x == F::default())
    }

    /// The exponent of the last bit of the least magnitude inside: all values inside are multiples of it.
    pub(super) fn grid(&self) -> i32 {
        self.low_field.max(1) as i32 - 1 + F::UNIT
    }

    /// The exponent of the magnitude that ends the window.
    pub(super) fn end(&self) -> i32 {
        self.high_field as i32 - F::FIELD_ONE as i32
    }
}

/// Values that stand for a block.
const SAMPLE: usize = 64;

/// The greatest exponent field among a sample of the values; that of 1.0 if none is finite and normal.
pub(super) fn top_field<F: Lane>(values: impl ExactSizeIterator<Item = F>) -> u32 {
    let step = (values.len() / SAMPLE).max(1);
    values
        .step_by(step)
        .map(F::field)
        .filter(|&field| field < F::FIELD_MAX)
        .max()
        .filter(|&field| field > 0)
        .unwrap_or(F::FIELD_ONE)
}

/// Whether so much of a sample misses the window that trying it on the whole block would be lost time.
pub(super) fn is_hopeless<F: Lane>(window: &Window<F>, values: &[F]) -> bool {
    let step = (values.len() / SAMPLE).max(1);
    let sample = values.iter().step_by(step);
    let (most, missed) = (sample.len() / 4, sample.filter(|&&x| !window.takes(x)).count());
    missed > most
}
