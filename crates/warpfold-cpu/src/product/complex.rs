//! Products of complex floats.
//!
//! Each factor is scaled by a power of two until its larger part lies between 1 and 2; a lane then multiplies it into
//! a pair of double-doubles, which the 512 steps of a block make no larger than 2^768. Numbers of narrow parts are first
//! multiplied in pairs, exactly: their four products fit f64, and the two sums are double-doubles.

use super::BLOCK_BYTES;
use super::real::Factor;
use crate::Nan;
use crate::executor::Fold;
use crate::isa::Target;
use crate::memory::{prefetch, streamed};
use warpfold_exact::partial::ComplexProduct;
use warpfold_num::double_double::{two_product, two_sum};

const LANES: usize = 8;
const _: () =
    assert!(BLOCK_BYTES / 16 / LANES <= 512, "the larger part grows by up to 2^1.5 a step");

/// A product in progress over interleaved real and imaginary parts; `JOIN` numbers make a factor.
pub(crate) struct ComplexFactors<F, const JOIN: usize> {
    product: ComplexProduct,
    nan: Nan,
    element: std::marker::PhantomData<F>,
}

impl<F: Factor, const JOIN: usize> ComplexFactors<F, JOIN> {
    pub(crate) fn new(nan: Nan) -> Self {
        ComplexFactors { product: ComplexProduct::ONE, nan, element: std::marker::PhantomData }
    }

    /// A block with elements that have no normal exponent: one by one.
    #[inline(never)]
    fn closely(&mut self, x: &[[F; 2]]) {
        for [re, im] in x {
            if self.nan == Nan::Propagate || !(re.is_nan() || im.is_nan()) {
                self.product.merge(&ComplexProduct::of(re.factor(), im.factor()));
            }
        }
    }
}

/// The product of a block, unless one of its factors has no normal exponent.
#[inline(always)]
fn normal<F: Factor, const JOIN: usize>(x: &[[F; 2]]) -> Option<ComplexProduct> {
    let mut lanes = Lanes::new();
    let (arrays, rest) = x.as_chunks::<LANES>();
    let (groups, arrays) = arrays.as_chunks::<JOIN>();
    for at in streamed(groups.len()) {
        let group: &[[[F; 2]; LANES]; JOIN] = &groups[at];
        prefetch(group);
        match JOIN {
            1 => lanes.multiply(&group[0]),
            _ => lanes.multiply_pairs(&group[0], &group[1]),
        }
    }
    for array in arrays {
        lanes.multiply(array);
    }
    if !rest.is_empty() {
        // Lanes without an element of their own multiply by one.
        let (mut re, mut im) = ([1.0; LANES], [0.0; LANES]);
        for (l, x) in rest.iter().enumerate() {
            (re[l], im[l]) = (x[0].factor(), x[1].factor());
        }
        lanes.step::<1>([&re, &[0.0; LANES]], [&im, &[0.0; LANES]]);
    }
    lanes.join()
}

struct Lanes {
    /// High and low parts.
    re: [[f64; LANES]; 2],
    im: [[f64; LANES]; 2],
    /// Sums of the fields of the larger parts; the least and the greatest of them.
    fields: [u64; LANES],
    least: [u64; LANES],
    most: [u64; LANES],
    steps: i64,
}

impl Lanes {
    #[inline(always)]
    fn new() -> Self {
        Lanes {
            re: [[1.0; LANES], [0.0; LANES]],
            im: [[0.0; LANES]; 2],
            fields: [0; LANES],
            least: [u64::MAX; LANES],
            most: [0; LANES],
            steps: 0,
        }
    }

    #[inline(always)]
    fn multiply<F: Factor>(&mut self, x: &[[F; 2]; LANES]) {
        let (mut re, mut im) = ([0.0; LANES], [0.0; LANES]);
        for l in 0..LANES {
            (re[l], im[l]) = (x[l][0].factor(), x[l][1].factor());
        }
        self.step::<1>([&re, &[0.0; LANES]], [&im, &[0.0; LANES]]);
    }

    #[inline(always)]
    fn multiply_pairs<F: Factor>(&mut self, x: &[[F; 2]; LANES], y: &[[F; 2]; LANES]) {
        let [mut re, mut re_low, mut im, mut im_low] = [[0.0; LANES]; 4];
        for l in 0..LANES {
            let [a, b, c, d] = [x[l][0], x[l][1], y[l][0], y[l][1]].map(F::factor);
            (re[l], re_low[l]) = two_sum(a * c, -(b * d)).into();
            (im[l], im_low[l]) = two_sum(a * d, b * c).into();
        }
        self.step::<2>([&re, &re_low], [&im, &im_low]);
    }

    /// Multiplies by a factor each; its low parts are zero where `JOIN` is one.
    #[inline(always)]
    fn step<const JOIN: usize>(&mut self, re: [&[f64; LANES]; 2], im: [&[f64; LANES]; 2]) {
        for l in 0..LANES {
            let field = |x: f64| x.to_bits() >> 52 & 0x7ff;
            let (f, g) = (field(re[0][l]), field(im[0][l]));
            let larger = if f > g { f } else { g };
            self.fields[l] += larger;
            self.least[l] = if larger < self.least[l] { larger } else { self.least[l] };
            self.most[l] = if larger > self.most[l] { larger } else { self.most[l] };
            // 2^(1023 - larger), a normal number for the fields that `join` lets pass.
            let scale = f64::from_bits(2046u64.wrapping_sub(larger) << 52);
            let (c, d) =
                ((re[0][l] * scale, re[1][l] * scale), (im[0][l] * scale, im[1][l] * scale));
            let (a, b) = ((self.re[0][l], self.re[1][l]), (self.im[0][l], self.im[1][l]));
            let minus_d = (-d.0, -d.1);
            (self.re[0][l], self.re[1][l]) = sum(times::<JOIN>(a, c), times::<JOIN>(b, minus_d));
            (self.im[0][l], self.im[1][l]) = sum(times::<JOIN>(a, d), times::<JOIN>(b, c));
        }
        self.steps += 1;
    }

    #[inline(always)]
    fn join(self) -> Option<ComplexProduct> {
        let least = self.least.into_iter().fold(u64::MAX, u64::min);
        let most = self.most.into_iter().fold(0, u64::max);
        if least < 1 || most > 2045 {
            return None;
        }
        let fields: u64 = self.fields.into_iter().sum();
        let exponent = fields as i64 - self.steps * LANES as i64 * 1023;
        let mut product = ComplexProduct { exponent, ..ComplexProduct::ONE };
        for l in 0..LANES {
            let mut lane = ComplexProduct {
                re: two_sum(self.re[0][l], self.re[1][l]),
                im: two_sum(self.im[0][l], self.im[1][l]),
                exponent: 0,
            };
            lane.normalise();
            product.merge(&lane);
        }
        Some(product)
    }
}

/// A product of double-doubles, not brought to order: the low part may grow with the steps of a block. With `JOIN` 1 the factor's
/// low part is not looked at.
#[inline(always)]
fn times<const JOIN: usize>((high, low): (f64, f64), (factor, rest): (f64, f64)) -> (f64, f64) {
    let product = two_product(high, factor);
    let mut error = low.mul_add(factor, product.low);
    if JOIN > 1 {
        error = high.mul_add(rest, error);
    }
    (product.high, error)
}

#[inline(always)]
fn sum((a, a_low): (f64, f64), (b, b_low): (f64, f64)) -> (f64, f64) {
    let sum = two_sum(a, b);
    (sum.high, sum.low + (a_low + b_low))
}

impl<F: Factor, const JOIN: usize> Fold<&[F]> for ComplexFactors<F, JOIN> {
    type Partial = ComplexProduct;

    #[inline(always)]
    fn take<C: Target>(&mut self, piece: &[F], _first: u64) {
        let (elements, _) = piece.as_chunks::<2>();
        for block in elements.chunks(BLOCK_BYTES / size_of::<[F; 2]>()) {
            match normal::<F, JOIN>(block) {
                Some(product) => self.product.merge(&product),
                None => self.closely(block),
            }
        }
    }

    fn finish(self) -> ComplexProduct {
        self.product
    }
}
