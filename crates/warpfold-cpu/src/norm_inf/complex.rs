//! The largest magnitude of complex numbers.
//!
//! The squares of a block are computed in f64, scaled by its largest part, and only those within their rounding error of the largest
//! are compared exactly: first as double-doubles, then, if need be, as integers.

use super::real::{is_nan, largest};
use crate::Nan;
use crate::executor::ArrayFold;
use crate::float::Factor;
use crate::isa::Target;
use warpfold_exact::partial::{Magnitude, Magnitudes};
use warpfold_num::double_double::{DoubleDouble, power_of_two, two_product};
use warpfold_num::element::{Components, Decode, Decoded, Element, Ordered};

/// Numbers of a block.
const BLOCK: usize = 1024;
const LANES: usize = 8;

/// The largest so far, over interleaved real and imaginary parts.
pub(crate) struct LargestComplex<T: Element> {
    best: [T::Component; 2],
    /// The infinities and NaNs met.
    special: Magnitude<T>,
    nan: Nan,
}

impl<T: Element<Component: Factor>> LargestComplex<T> {
    pub(crate) fn new(nan: Nan) -> Self {
        LargestComplex { best: [T::Component::default(); 2], special: Magnitude::new(), nan }
    }

    #[inline(always)]
    fn block(&mut self, x: &[[T::Component; 2]]) {
        let part = largest(x.as_flattened(), T::Component::magnitude);
        let Decoded::Finite { mantissa, shift, .. } = T::Component::decode_magnitude(part) else {
            return self.specials(x, is_nan::<T::Component>(part));
        };
        if mantissa == 0 {
            return;
        }
        let exponent = i64::from(mantissa.ilog2() + shift) + i64::from(T::Component::UNIT);
        // Close to 1 is enough: squares from 2^-104 to 8.
        let scale = power_of_two((-exponent).clamp(-1022, 1022));
        let (groups, rest) = x.as_chunks::<LANES>();
        let mut lanes = [0.0f64; LANES];
        for group in groups {
            for l in 0..LANES {
                let square = square(group[l], scale);
                lanes[l] = if square > lanes[l] { square } else { lanes[l] };
            }
        }
        let most = lanes.into_iter().fold(0.0, f64::max);
        let most = rest.iter().fold(most, |most, &z| square(z, scale).max(most));
        // Two squares and a sum, each within 2^-53 of itself, on either side of the comparison.
        let candidate = most.max(square(self.best, scale)) * (1.0 - 2f64.powi(-50));
        if most >= candidate {
            self.compare(x, candidate, scale);
        }
    }

    /// Compares the candidates of a block with the best.
    #[inline(never)]
    fn compare(&mut self, x: &[[T::Component; 2]], candidate: f64, scale: f64) {
        let mut best = wide_square(self.best, scale);
        for &z in x.iter().filter(|&&z| square(z, scale) >= candidate) {
            let square = wide_square(z, scale);
            let above = (square.high - best.high) + (square.low - best.low);
            let unsure = square.high * 2f64.powi(-98);
            if above > unsure || above >= -unsure && self.is_below(z) {
                (self.best, best) = (z, square);
            }
        }
    }

    fn is_below(&self, z: [T::Component; 2]) -> bool {
        self.best != z && Self::exact(self.best).is_below(&Self::exact(z))
    }

    fn exact(z: [T::Component; 2]) -> Magnitude<T> {
        let magnitudes: Magnitudes<T> = Components::from_fn(|k| z[k].magnitude());
        Magnitude::of(&magnitudes)
    }

    #[inline(never)]
    fn specials(&mut self, x: &[[T::Component; 2]], any_nan: bool) {
        if any_nan && self.nan == Nan::Ignore {
            let kept = x.iter().copied().filter(|z| !(z[0].is_nan() || z[1].is_nan()));
            return self.block(&kept.collect::<Vec<_>>());
        }
        x.iter().for_each(|&z| self.special.merge(&Self::exact(z)));
    }
}

#[inline(always)]
fn square<F: Factor>([re, im]: [F; 2], scale: f64) -> f64 {
    let (re, im) = (re.factor() * scale, im.factor() * scale);
    re * re + im * im
}

fn wide_square<F: Factor>(z: [F; 2], scale: f64) -> DoubleDouble {
    let [re, im] = z.map(|part| two_product(part.factor() * scale, part.factor() * scale));
    re.add(im)
}

impl<T: Element<Component: Factor>> ArrayFold<&[T::Component]> for LargestComplex<T> {
    type Partial = Magnitude<T>;

    #[inline(always)]
    fn take<C: Target>(&mut self, piece: &[T::Component], _first: u64) {
        let (pairs, _) = piece.as_chunks::<2>();
        for block in pairs.chunks(BLOCK) {
            self.block(block);
        }
    }

    fn finish(self) -> Magnitude<T> {
        let mut all = Self::exact(self.best);
        all.merge(&self.special);
        all
    }
}
