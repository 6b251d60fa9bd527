//! Products of real floats.
//!
//! Each lane multiplies mantissas between 1 and 2 into a double-double and adds up exponent fields; signs are exclusive ors.
//! Narrow types first multiply as many elements as f64 holds exactly. A field that is not that of a normal number spoils the
//! block, which is then looked at more closely; a block has at most 512 factors a lane, so that mantissas stay below 2^512.

use super::{BLOCK_BYTES, Survey};
use crate::Nan;
use crate::executor::Fold;
use crate::float::Lane;
use crate::isa::Target;
use crate::memory::{prefetch, streamed};
use crate::{bf16, f16};
use warpfold_exact::partial::{Met, RealProduct};
use warpfold_num::double_double::{DoubleDouble, power_of_two};
use warpfold_num::element::Ordered;

/// A float as a factor.
pub(crate) trait Factor: Lane + Ordered {
    /// The value in f64, times 2^[`SCALE`](Lane::SCALE); an infinity may become a NaN.
    fn factor(self) -> f64;
}

macro_rules! wide_factors {
    ($($ty:ty),+) => {$(
        impl Factor for $ty {
            #[inline(always)]
            fn factor(self) -> f64 {
                self.wide()
            }
        }
    )+};
}
wide_factors!(bf16, f32, f64);

impl Factor for f16 {
    #[inline(always)]
    fn factor(self) -> f64 {
        const INFINITE: u16 = f16::INFINITY.to_bits();
        if self.magnitude() >= INFINITE { f64::NAN } else { self.wide() }
    }
}

const LANES: usize = 16;
const FRACTION: u64 = (1 << 52) - 1;
const ONE: u64 = 1.0f64.to_bits();

/// A product in progress; `JOIN` elements have a product that f64 holds exactly.
pub(crate) struct RealFactors<F, const JOIN: usize> {
    product: RealProduct,
    nan: Nan,
    element: std::marker::PhantomData<F>,
}

impl<F: Factor, const JOIN: usize> RealFactors<F, JOIN> {
    pub(crate) fn new(nan: Nan) -> Self {
        RealFactors { product: RealProduct::ONE, nan, element: std::marker::PhantomData }
    }

    #[inline(always)]
    fn block(&mut self, x: &[F]) {
        let product = if self.product.met.any() { None } else { normal::<F, JOIN>(x) };
        match product {
            Some(product) => self.product.merge(&product),
            None => self.closely(x, Survey::of(x, None)),
        }
    }

    /// A block with zeros, subnormals or specials in it, or after one with zeros or specials.
    #[inline(never)]
    fn closely(&mut self, x: &[F], survey: Survey<F>) {
        if survey.has_nan() && self.nan == Nan::Ignore {
            let kept: Vec<F> = x.iter().copied().filter(|x| !x.is_nan()).collect();
            return self.block(&kept);
        }
        let met =
            Met { zero: survey.has_zero(), infinity: survey.has_infinity(), nan: survey.has_nan() };
        if met.any() || self.product.met.any() {
            let rest = RealProduct { met, negative: survey.odd, ..RealProduct::ONE };
            return self.product.merge(&rest);
        }
        for x in x {
            let factor = RealProduct::of(x.factor());
            let exponent = factor.exponent - i64::from(F::SCALE);
            self.product.merge(&RealProduct { exponent, ..factor });
        }
    }
}

/// The product of a block, unless one of its factors has no normal exponent.
#[inline(always)]
fn normal<F: Factor, const JOIN: usize>(x: &[F]) -> Option<RealProduct> {
    let mut lanes = Lanes::new();
    let (arrays, rest) = x.as_chunks::<LANES>();
    let (groups, arrays) = arrays.as_chunks::<JOIN>();
    for at in streamed(groups.len()) {
        let group: &[[F; LANES]; JOIN] = &groups[at];
        prefetch(group);
        let mut factors = [1.0; LANES];
        for array in group {
            for l in 0..LANES {
                factors[l] *= array[l].factor();
            }
        }
        lanes.multiply(&factors);
    }
    for array in arrays {
        lanes.multiply(&array.map(F::factor));
    }
    if !rest.is_empty() {
        let mut factors = [1.0; LANES];
        for (factor, x) in factors.iter_mut().zip(rest) {
            *factor = x.factor();
        }
        lanes.multiply(&factors);
    }
    lanes.join().map(|product| {
        let exponent = product.exponent - i64::from(F::SCALE) * x.len() as i64;
        RealProduct { exponent, ..product }
    })
}

/// Products of mantissas as unevaluated sums, sums of exponent fields, and what became of the signs.
struct Lanes {
    high: [f64; LANES],
    low: [f64; LANES],
    /// Sums of fields plus one.
    fields: [u64; LANES],
    /// The least field plus one: 0 for infinities and NaNs, 1 for zeros and subnormals.
    least: [u64; LANES],
    signs: [u64; LANES],
    steps: i64,
}

impl Lanes {
    #[inline(always)]
    fn new() -> Self {
        Lanes {
            high: [1.0; LANES],
            low: [0.0; LANES],
            fields: [0; LANES],
            least: [u64::MAX; LANES],
            signs: [0; LANES],
            steps: 0,
        }
    }

    #[inline(always)]
    fn multiply(&mut self, factors: &[f64; LANES]) {
        for l in 0..LANES {
            let bits = factors[l].to_bits();
            let field = ((bits >> 52) + 1) & 0x7ff;
            self.fields[l] += field;
            self.least[l] = if field < self.least[l] { field } else { self.least[l] };
            self.signs[l] ^= bits;
            let mantissa = f64::from_bits(bits & FRACTION | ONE);
            let product = self.high[l] * mantissa;
            let error = self.high[l].mul_add(mantissa, -product);
            self.low[l] = self.low[l].mul_add(mantissa, error);
            self.high[l] = product;
        }
        self.steps += 1;
    }

    /// The product of all lanes.
    #[inline(always)]
    fn join(self) -> Option<RealProduct> {
        if self.least.into_iter().fold(u64::MAX, u64::min) <= 1 {
            return None;
        }
        let fields: u64 = self.fields.into_iter().sum();
        let mut exponent = fields as i64 - self.steps * LANES as i64 * 1024;
        let mut mantissas = [DoubleDouble::ONE; LANES];
        for l in 0..LANES {
            let shift = warpfold_num::double_double::exponent(self.high[l]);
            let mantissa = DoubleDouble { high: self.high[l], low: self.low[l] };
            mantissas[l] = mantissa.scale(power_of_two(-shift));
            exponent += shift;
        }
        let mut half = LANES / 2;
        while half > 0 {
            for l in 0..half {
                mantissas[l] = mantissas[l].multiply(mantissas[l + half]);
            }
            half /= 2;
        }
        let negative = self.signs.into_iter().fold(0, |all, sign| all ^ sign) >> 63 == 1;
        let mut product =
            RealProduct { mantissa: mantissas[0], exponent, negative, met: Met::default() };
        product.normalise();
        Some(product)
    }
}

impl<F: Factor, const JOIN: usize> Fold<&[F]> for RealFactors<F, JOIN> {
    type Partial = RealProduct;

    #[inline(always)]
    fn take<C: Target>(&mut self, piece: &[F], _first: u64) {
        for block in piece.chunks(BLOCK_BYTES / size_of::<F>()) {
            self.block(block);
        }
    }

    fn finish(self) -> RealProduct {
        self.product
    }
}
