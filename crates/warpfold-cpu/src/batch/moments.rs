//! Sums and sums of squares, many at a time, with a known bound on their error.
//!
//! Variances, deviations and Euclidean norms are rounded once from an exact value. To round it, it need not be known exactly: an approximation whose error is
//! bounded leaves no doubt about the rounded result but in one case of many (A. Ziv, *Fast evaluation of elementary mathematical functions with correctly
//! rounded last bit*, 1991). Readers say whether there is doubt (`read/moments`); such outputs are folded exactly instead (`doubtful`), and so are those
//! with an infinity or NaN, which make every bound a NaN.
//!
//! Additions cost the same whatever the exponents, so that nothing has to be surveyed. Three kinds:
//! - [`Plain`], of narrow floats whose results are f32: f64 additions, off by 2^-53 each. A number near all elements is taken from them first, as a
//!   variance much smaller than the mean's square would be lost otherwise.
//! - [`Squares`], of all that is rounded to f64: double-doubles, off by 2^-105 each.
//! - [`Integers`], of integers of up to 32 bits: integers, exactly.
//!
//! An error is relative to sums of squares, or of magnitudes, and these are bounded by squares: (Σ|x|)² ≤ n·Σx² (Cauchy and Schwarz).

use std::marker::PhantomData;

use super::lanes::{Kind, N, Places, without_rules};
use warpfold_num::double_double::{DoubleDouble, fast_two_sum, two_product, two_sum};
use warpfold_num::{bf16, f16};

/// Sums of parts and the sum of all their squares, nearly.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Approximate<X, const PARTS: usize> {
    pub(crate) sum: [X; PARTS],
    pub(crate) squares: X,
}

/// A number whose square two f64 hold, or nearly.
pub(crate) trait Widen: Copy + Default + Send + Sync {
    /// Whether one f64 holds the value.
    const IS_SHORT: bool;
    /// Whether one f64 holds the square.
    const IS_NARROW: bool;

    /// The value in two f64, the second zero if it is short; what is not finite stays so.
    fn widen(self) -> (f64, f64);
}

macro_rules! widen {
    ($($ty:ty: $short:literal, $narrow:literal, |$x:ident| $value:expr;)+) => {$(
        impl Widen for $ty {
            const IS_SHORT: bool = $short;
            const IS_NARROW: bool = $narrow;

            #[inline(always)]
            fn widen(self) -> (f64, f64) {
                let $x = self;
                $value
            }
        }
    )+};
}
widen! {
    u64: false, false, |x| (low_half(x >> 32) * TWO_TO_32, low_half(x));
    i64: false, false, |x| (f64::from((x >> 32) as i32) * TWO_TO_32, low_half(x as u64));
    f16: true, true, |x| (f64::from(f16_to_f32(x)), 0.0);
    bf16: true, true, |x| (f64::from(f32::from_bits(u32::from(x.to_bits()) << 16)), 0.0);
    f32: true, true, |x| (f64::from(x), 0.0);
    f64: true, false, |x| (x, 0.0);
}

const TWO_TO_32: f64 = 4_294_967_296.0;

/// The low 32 bits as a number: below the implicit bit of 2^52, which is taken away again. (AVX2 converts no unsigned integers.)
#[inline(always)]
fn low_half(x: u64) -> f64 {
    const TWO_TO_52: f64 = 4_503_599_627_370_496.0;
    f64::from_bits(TWO_TO_52.to_bits() | (x & 0xffff_ffff)) - TWO_TO_52
}

/// By the bits, as the exponent's bias is all that differs; infinities and NaNs become NaNs.
#[inline(always)]
fn f16_to_f32(x: f16) -> f32 {
    const SCALE: f32 = f32::from_bits((127 + 112) << 23);
    let bits = ((i32::from(x.to_bits() as i16) << 13) as u32) & 0x8fff_e000;
    let value = f32::from_bits(bits) * SCALE;
    if value.abs() >= 65_536.0 { f32::NAN } else { value }
}

/// Sums and sums of squares of elements of `PARTS` words; `LANES` is `N · PARTS`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Squares<W, const PARTS: usize, const LANES: usize>(PhantomData<W>);

impl<W, const PARTS: usize, const LANES: usize> Squares<W, PARTS, LANES> {
    pub(crate) fn new() -> Self {
        Squares(PhantomData)
    }
}

/// Double-doubles in lanes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Doubles<const LANES: usize> {
    high: [f64; LANES],
    low: [f64; LANES],
}

impl<const LANES: usize> Doubles<LANES> {
    const ZERO: Self = Doubles { high: [0.0; LANES], low: [0.0; LANES] };

    #[inline(always)]
    fn get(&self, lane: usize) -> DoubleDouble {
        DoubleDouble { high: self.high[lane], low: self.low[lane] }
    }

    #[inline(always)]
    fn set(&mut self, lane: usize, x: DoubleDouble) {
        (self.high[lane], self.low[lane]) = (x.high, x.low);
    }

    /// What lanes `part, part + step, …` hold together, for each part: what the first additions leave is small, and so is its error.
    #[inline(always)]
    fn folded(mut self, step: usize) -> Self {
        let mut left = LANES;
        while left > step {
            left /= 2;
            for lane in 0..left {
                let sum = two_sum(self.high[lane], self.high[lane + left]);
                let low = sum.low + (self.low[lane] + self.low[lane + left]);
                (self.high[lane], self.low[lane]) = (sum.high, low);
            }
        }
        for lane in 0..step {
            let sum = fast_two_sum(self.high[lane], self.low[lane]);
            self.set(lane, sum);
        }
        self
    }
}

impl<W: Widen, const PARTS: usize, const LANES: usize> Kind for Squares<W, PARTS, LANES> {
    type Element = [W; PARTS];
    type Lanes = [Doubles<LANES>; 2];
    type Small = Approximate<DoubleDouble, PARTS>;
    const NOTHING: Approximate<DoubleDouble, PARTS> =
        Approximate { sum: [DoubleDouble::ZERO; PARTS], squares: DoubleDouble::ZERO };
    without_rules!([W; PARTS]);

    #[inline(always)]
    fn filler(self, _: [W; PARTS]) -> [W; PARTS] {
        [W::default(); PARTS]
    }

    #[inline(always)]
    fn lanes(self, (): ()) -> Self::Lanes {
        [Doubles::ZERO; 2]
    }

    #[inline(always)]
    fn add(self, [sums, squares]: &mut Self::Lanes, x: &[[W; PARTS]; N], _: Places) {
        let parts = x.as_flattened();
        for lane in 0..LANES {
            let (sum, square) = added(sums.get(lane), squares.get(lane), parts[lane]);
            sums.set(lane, sum);
            squares.set(lane, square);
        }
    }

    #[inline(always)]
    fn lane(self, [sums, squares]: &Self::Lanes, lane: usize) -> Approximate<DoubleDouble, PARTS> {
        let first = lane * PARTS;
        let mut all = squares.get(first);
        for part in 1..PARTS {
            all = all.add_same_sign(squares.get(first + part));
        }
        Approximate { sum: std::array::from_fn(|part| sums.get(first + part)), squares: all }
    }

    #[inline(always)]
    fn total(self, [sums, squares]: &Self::Lanes) -> Approximate<DoubleDouble, PARTS> {
        let (sums, squares) = (sums.folded(PARTS), squares.folded(1));
        Approximate { sum: std::array::from_fn(|part| sums.get(part)), squares: squares.get(0) }
    }

    #[inline(always)]
    fn put(self, small: &mut Approximate<DoubleDouble, PARTS>, x: [W; PARTS]) -> bool {
        for part in 0..PARTS {
            (small.sum[part], small.squares) = added(small.sum[part], small.squares, x[part]);
        }
        true
    }

    const MERGES: bool = true;

    #[inline(always)]
    fn merge(
        small: &mut Approximate<DoubleDouble, PARTS>,
        other: &Approximate<DoubleDouble, PARTS>,
    ) -> bool {
        for part in 0..PARTS {
            small.sum[part] = small.sum[part].add(other.sum[part]);
        }
        small.squares = small.squares.add_same_sign(other.squares);
        true
    }
}

/// A sum and a sum of squares with one more number.
#[inline(always)]
fn added<W: Widen>(sum: DoubleDouble, squares: DoubleDouble, x: W) -> (DoubleDouble, DoubleDouble) {
    let (high, low) = x.widen();
    if W::IS_NARROW {
        return (sum.plus(high), squares.plus(high * high));
    }
    if W::IS_SHORT {
        return (sum.plus(high), squares.add_same_sign(two_product(high, high)));
    }
    // The halves are exact but overlap; the square of the lower one's rest is below the bound.
    let value = fast_two_sum(high, low);
    let square = two_product(value.high, value.high);
    let square = fast_two_sum(square.high, (2.0 * value.high).mul_add(value.low, square.low));
    (sum.plus(value.high).plus(value.low), squares.add_same_sign(square))
}

/// Sums and sums of squares by f64 additions, of what is left of parts of narrow floats when an element near them is taken away.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plain<W, const PARTS: usize, const LANES: usize> {
    near: [W; PARTS],
    pivots: [f64; LANES],
}

impl<W: Widen, const PARTS: usize, const LANES: usize> Plain<W, PARTS, LANES> {
    fn beside(near: [W; PARTS]) -> Self {
        Plain { near, pivots: std::array::from_fn(|lane| near[lane % PARTS].widen().0) }
    }

    /// For norms, whose elements are taken as they are.
    pub(crate) fn norms() -> Self {
        Self::beside([W::default(); PARTS])
    }

    /// For variances of the elements, some of which tell what is near them.
    pub(crate) fn variances(x: &[[W; PARTS]]) -> Self {
        const SOME: usize = 64;
        let some = || x.iter().step_by(x.len().div_ceil(SOME).max(1));
        let near = |part: usize| {
            let values = || some().map(|x| x[part].widen().0).filter(|x| x.is_finite());
            let n = values().count() as f64;
            let mean = values().sum::<f64>() / n;
            // Not far from zero, beside what they spread over, whole numbers are better left whole.
            let is_far = mean * mean > 0.98 * (values().map(|x| x * x).sum::<f64>() / n);
            let distance = |x: &[W; PARTS]| (x[part].widen().0 - mean).abs();
            let nearest = some().min_by(|a, b| distance(a).total_cmp(&distance(b)));
            nearest.filter(|_| is_far).map_or(W::default(), |x| x[part])
        };
        Self::beside(std::array::from_fn(near))
    }
}

impl<W: Widen, const PARTS: usize, const LANES: usize> Kind for Plain<W, PARTS, LANES> {
    type Element = [W; PARTS];
    type Lanes = [[f64; LANES]; 2];
    type Small = Approximate<f64, PARTS>;
    const NOTHING: Approximate<f64, PARTS> = Approximate { sum: [0.0; PARTS], squares: 0.0 };
    without_rules!([W; PARTS]);

    #[inline(always)]
    fn filler(self, _: [W; PARTS]) -> [W; PARTS] {
        self.near
    }

    #[inline(always)]
    fn lanes(self, (): ()) -> Self::Lanes {
        [[0.0; LANES]; 2]
    }

    #[inline(always)]
    fn add(self, [sums, squares]: &mut Self::Lanes, x: &[[W; PARTS]; N], _: Places) {
        let parts = x.as_flattened();
        for lane in 0..LANES {
            let x = parts[lane].widen().0 - self.pivots[lane];
            sums[lane] += x;
            squares[lane] = x.mul_add(x, squares[lane]);
        }
    }

    #[inline(always)]
    fn lane(self, [sums, squares]: &Self::Lanes, lane: usize) -> Approximate<f64, PARTS> {
        let first = lane * PARTS;
        Approximate {
            sum: std::array::from_fn(|part| sums[first + part]),
            squares: squares[first..first + PARTS].iter().sum(),
        }
    }

    #[inline(always)]
    fn total(self, [sums, squares]: &Self::Lanes) -> Approximate<f64, PARTS> {
        let (sums, squares) = (halved(*sums, PARTS), halved(*squares, 1));
        Approximate { sum: std::array::from_fn(|part| sums[part]), squares: squares[0] }
    }

    #[inline(always)]
    fn put(self, small: &mut Approximate<f64, PARTS>, x: [W; PARTS]) -> bool {
        for part in 0..PARTS {
            let x = x[part].widen().0 - self.pivots[part];
            small.sum[part] += x;
            small.squares = x.mul_add(x, small.squares);
        }
        true
    }

    const MERGES: bool = true;

    #[inline(always)]
    fn merge(small: &mut Approximate<f64, PARTS>, other: &Approximate<f64, PARTS>) -> bool {
        for part in 0..PARTS {
            small.sum[part] += other.sum[part];
        }
        small.squares += other.squares;
        true
    }
}

/// Lanes added by halves until `step` are left.
#[inline(always)]
fn halved<const LANES: usize>(mut lanes: [f64; LANES], step: usize) -> [f64; LANES] {
    let mut left = LANES;
    while left > step {
        left /= 2;
        for lane in 0..left {
            lanes[lane] += lanes[lane + left];
        }
    }
    lanes
}

/// An integer of up to 32 bits, as these lanes take it.
pub(crate) trait Whole: Copy + Default + Into<i64> + Send + Sync {
    /// Whether sums of squares need lanes of upper halves.
    const IS_WIDE: bool;
}
impl Whole for u8 {
    const IS_WIDE: bool = false;
}
impl Whole for i8 {
    const IS_WIDE: bool = false;
}
impl Whole for u16 {
    const IS_WIDE: bool = false;
}
impl Whole for i16 {
    const IS_WIDE: bool = false;
}
impl Whole for u32 {
    const IS_WIDE: bool = true;
}
impl Whole for i32 {
    const IS_WIDE: bool = true;
}

/// Sums and sums of squares of integers, exactly: drivers make fewer than 2^31 additions in a lane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Integers<W>(PhantomData<W>);

impl<W> Integers<W> {
    pub(crate) fn new() -> Self {
        Integers(PhantomData)
    }
}

/// Sums, sums of squares or of their lower halves, and sums of upper halves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wholes {
    sums: [i64; N],
    lower: [u64; N],
    upper: [u64; N],
}

impl<W: Whole> Kind for Integers<W> {
    type Element = W;
    type Lanes = Wholes;
    type Small = Approximate<DoubleDouble, 1>;
    const NOTHING: Self::Small =
        Approximate { sum: [DoubleDouble::ZERO], squares: DoubleDouble::ZERO };
    without_rules!(W);

    #[inline(always)]
    fn filler(self, _: W) -> W {
        W::default()
    }

    #[inline(always)]
    fn lanes(self, (): ()) -> Wholes {
        Wholes { sums: [0; N], lower: [0; N], upper: [0; N] }
    }

    #[inline(always)]
    fn add(self, lanes: &mut Wholes, x: &[W; N], _: Places) {
        for l in 0..N {
            let x: i64 = x[l].into();
            let square = x.wrapping_mul(x) as u64;
            lanes.sums[l] += x;
            if W::IS_WIDE {
                lanes.lower[l] += square & u64::from(u32::MAX);
                lanes.upper[l] += square >> 32;
            } else {
                lanes.lower[l] += square;
            }
        }
    }

    #[inline(always)]
    fn lane(self, lanes: &Wholes, lane: usize) -> Self::Small {
        approximate::<W>(lanes.sums[lane], lanes.lower[lane], lanes.upper[lane])
    }

    #[inline(always)]
    fn total(self, lanes: &Wholes) -> Self::Small {
        // Runs that are joined have no more elements than a few tiles.
        approximate::<W>(
            lanes.sums.iter().sum(),
            lanes.lower.iter().sum(),
            lanes.upper.iter().sum(),
        )
    }

    #[inline(always)]
    fn put(self, small: &mut Self::Small, x: W) -> bool {
        let x: i64 = x.into();
        let one = approximate::<W>(x, x.wrapping_mul(x) as u64, 0);
        small.sum[0] = small.sum[0].plus(one.sum[0].high);
        small.squares = small.squares.add_same_sign(one.squares);
        true
    }

    const MERGES: bool = true;

    #[inline(always)]
    fn merge(small: &mut Self::Small, other: &Self::Small) -> bool {
        small.sum[0] = small.sum[0].add(other.sum[0]);
        small.squares = small.squares.add_same_sign(other.squares);
        true
    }
}

#[inline(always)]
fn approximate<W: Whole>(sum: i64, lower: u64, upper: u64) -> Approximate<DoubleDouble, 1> {
    let (high, low) = sum.widen();
    let mut squares = double(lower);
    if W::IS_WIDE {
        squares = double(upper).scale(TWO_TO_32).add_same_sign(squares);
    }
    Approximate { sum: [fast_two_sum(high, low)], squares }
}

#[inline(always)]
fn double(x: u64) -> DoubleDouble {
    let (high, low) = x.widen();
    fast_two_sum(high, low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_widened_exactly() {
        for bits in 0..=u16::MAX {
            let (wide, exact) = (f16::from_bits(bits).widen().0, f16::from_bits(bits).to_f64());
            assert!(wide == exact || !wide.is_finite() && !exact.is_finite(), "{bits:#x}");
            let (wide, exact) = (bf16::from_bits(bits).widen().0, bf16::from_bits(bits).to_f64());
            assert!(wide == exact || wide.is_nan() && exact.is_nan(), "{bits:#x}");
        }
        for x in [0, 1, -1, i64::MAX, i64::MIN, 1 << 32, -(1 << 32) - 1, 0x1234_5678_9abc_def0] {
            let (high, low) = x.widen();
            assert_eq!(high as i128 + low as i128, i128::from(x));
            let (high, low) = (x as u64).widen();
            assert_eq!(high as i128 + low as i128, i128::from(x as u64));
        }
    }
}
