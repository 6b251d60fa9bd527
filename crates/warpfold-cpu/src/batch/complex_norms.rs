//! Sums of the magnitudes of complex numbers, and the largest of them, many at a time.
//!
//! Magnitudes are those that the kernels for one array add exactly (`norm1`); here they are added as the moments are, with a bound on the error. The largest is that of
//! the squares, which are as near. What is too large, too small or no number leaves no sum and an infinite square, and so doubt.

use std::hint::select_unpredictable;
use std::marker::PhantomData;

use super::lanes::{LaneOperation, MOST_TURNED, N, Positions, without_exponent_range};
use super::moments::Doubles;
use crate::Nan;
use crate::float::Factor;
use crate::norm1::NormSum;
use warpfold_num::double_double::{DoubleDouble, two_product};
use warpfold_num::element::Element;

/// A sum of magnitudes, or the square of the largest, nearly: of narrow floats the high part alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NearNorm(pub(crate) DoubleDouble);

/// Sums of magnitudes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NormSums<T>(Kept, PhantomData<T>);

/// The largest square of a magnitude.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LargestSquare<T>(Kept, PhantomData<T>);

/// Whether numbers of which a part is NaN are ignored; zeros stand for them, which neither norm tells from nothing.
#[derive(Debug, Clone, Copy)]
struct Kept {
    ignores: bool,
}

impl Kept {
    fn by(nan: Nan) -> Self {
        Kept { ignores: nan == Nan::Ignore }
    }

    /// The parts of a number.
    #[inline(always)]
    fn parts<F: Factor>(self, [re, im]: [F; 2]) -> (f64, f64) {
        let (re, im) = (re.factor(), im.factor());
        let is_dropped = self.ignores & (re.is_nan() | im.is_nan());
        (select_unpredictable(is_dropped, 0.0, re), select_unpredictable(is_dropped, 0.0, im))
    }
}

impl<T> NormSums<T> {
    pub(crate) fn new(nan: Nan) -> Self {
        NormSums(Kept::by(nan), PhantomData)
    }
}

impl<T> LargestSquare<T> {
    pub(crate) fn new(nan: Nan) -> Self {
        LargestSquare(Kept::by(nan), PhantomData)
    }
}

impl<T: Element<Component: Factor>> LaneOperation for NormSums<T> {
    type Element = [T::Component; 2];
    type Lanes = Doubles<N>;
    type Small = NearNorm;
    const NOTHING: NearNorm = NearNorm(DoubleDouble::ZERO);
    without_exponent_range!([T::Component; 2]);
    const BESIDE: usize = MOST_TURNED;

    #[inline(always)]
    fn filler(self, _: [T::Component; 2]) -> [T::Component; 2] {
        [T::Component::default(); 2]
    }

    #[inline(always)]
    fn lanes(self, (): ()) -> Doubles<N> {
        Doubles::ZERO
    }

    #[inline(always)]
    fn add(self, sums: &mut Doubles<N>, x: &[[T::Component; 2]; N], _: Positions) {
        for l in 0..N {
            let (re, im) = self.0.parts(x[l]);
            let norm = NormSum::<T>::norm(re, im);
            if NormSum::<T>::NARROW {
                // What is not finite leaves no finite sum.
                sums.set(l, DoubleDouble { high: sums.get(l).high + norm.high, low: 0.0 });
            } else {
                let sum = sums.get(l).add_same_sign(norm);
                let is_plain = NormSum::<T>::is_plain(norm.high, re, im);
                let high = select_unpredictable(is_plain, sum.high, f64::NAN);
                sums.set(l, DoubleDouble { high, low: sum.low });
            }
        }
    }

    #[inline(always)]
    fn lane(self, sums: &Doubles<N>, lane: usize) -> NearNorm {
        NearNorm(sums.get(lane))
    }

    #[inline(always)]
    fn total(self, sums: &Doubles<N>) -> NearNorm {
        NearNorm(sums.folded(1).get(0))
    }

    const MERGES: bool = true;

    #[inline(always)]
    fn merge(self, NearNorm(small): &mut NearNorm, NearNorm(other): &NearNorm) -> bool {
        *small = small.add_same_sign(*other);
        true
    }
}

/// The larger of two numbers.
#[inline(always)]
fn larger(a: DoubleDouble, b: DoubleDouble) -> DoubleDouble {
    let is_b = (b.high > a.high) | ((b.high == a.high) & (b.low > a.low));
    DoubleDouble {
        high: select_unpredictable(is_b, b.high, a.high),
        low: select_unpredictable(is_b, b.low, a.low),
    }
}

impl<T: Element<Component: Factor>> LaneOperation for LargestSquare<T> {
    type Element = [T::Component; 2];
    type Lanes = Doubles<N>;
    type Small = NearNorm;
    const NOTHING: NearNorm = NearNorm(DoubleDouble::ZERO);
    without_exponent_range!([T::Component; 2]);
    const BESIDE: usize = MOST_TURNED;
    const TURNS_FULL: bool = true;

    #[inline(always)]
    fn filler(self, first: [T::Component; 2]) -> [T::Component; 2] {
        first
    }

    #[inline(always)]
    fn lanes(self, (): ()) -> Doubles<N> {
        Doubles::ZERO
    }

    #[inline(always)]
    fn add(self, best: &mut Doubles<N>, x: &[[T::Component; 2]; N], _: Positions) {
        // Beyond this errors of squares are no numbers.
        const MOST: f64 = f64::from_bits((1023 + 1000) << 52);
        for l in 0..N {
            let (re, im) = self.0.parts(x[l]);
            let square = match NormSum::<T>::NARROW {
                true => DoubleDouble { high: re * re + im * im, low: 0.0 },
                false => two_product(re, re).add(two_product(im, im)),
            };
            let is_plain = square.high <= MOST;
            let square = DoubleDouble {
                high: select_unpredictable(is_plain, square.high, f64::INFINITY),
                low: select_unpredictable(is_plain, square.low, 0.0),
            };
            best.set(l, larger(best.get(l), square));
        }
    }

    #[inline(always)]
    fn lane(self, best: &Doubles<N>, lane: usize) -> NearNorm {
        NearNorm(best.get(lane))
    }

    #[inline(always)]
    fn total(self, best: &Doubles<N>) -> NearNorm {
        let mut all = best.get(0);
        for l in 1..N {
            all = larger(all, best.get(l));
        }
        NearNorm(all)
    }

    const MERGES: bool = true;

    #[inline(always)]
    fn merge(self, NearNorm(small): &mut NearNorm, NearNorm(other): &NearNorm) -> bool {
        *small = larger(*small, *other);
        true
    }
}
