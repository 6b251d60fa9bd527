//! Products of integers. A zero ends them; once the magnitude has passed 2^64 and the low bits are gone, only a zero can matter.

use std::marker::PhantomData;

use super::Survey;
use crate::executor::ArrayFold;
use crate::isa::{Avx512, Target};
use crate::memory::{prefetch, streamed};
use crate::order::BLOCK_BYTES;
use warpfold_exact::partial::IntegerProduct;
use warpfold_num::element::Ordered;
use warpfold_plan::plan::Isa;

/// An integer product in progress.
pub(crate) struct IntegerFactors<R> {
    product: IntegerProduct,
    avx512: Option<Avx512>,
    element: PhantomData<R>,
}

impl<R: Ordered> IntegerFactors<R> {
    pub(crate) fn new(isa: Isa) -> Self {
        let avx512 = Avx512::found(isa);
        IntegerFactors { product: IntegerProduct::ONE, avx512, element: PhantomData }
    }

    #[inline(always)]
    fn block(&mut self, x: &[R]) {
        let survey = Survey::of(x, self.avx512);
        if survey.has_zero() {
            self.product = IntegerProduct::ZERO;
            return;
        }
        self.product.negative ^= survey.odd;
        if survey.most.into() == 1 {
            return;
        }
        if !self.product.is_capped() {
            self.magnitude(x);
        }
        if self.product.low != 0 {
            self.product.low = self.product.low.wrapping_mul(low_bits(x));
        }
    }

    /// At most 64 factors above one are multiplied in all, before this is never called again.
    #[inline(never)]
    fn magnitude(&mut self, x: &[R]) {
        for x in x {
            let factor: u64 = x.magnitude().into();
            let product = self.product.magnitude.saturating_mul(u128::from(factor));
            self.product.magnitude = product.min(IntegerProduct::CAP);
            if self.product.is_capped() {
                return;
            }
        }
    }
}

/// The product of the magnitudes modulo 2^64.
#[inline(always)]
fn low_bits<R: Ordered>(x: &[R]) -> u64 {
    const LANES: usize = 32;
    let mut lanes = [1u64; LANES];
    let (groups, rest) = x.as_chunks::<LANES>();
    for at in streamed(groups.len()) {
        let group = &groups[at];
        prefetch(group);
        for l in 0..LANES {
            let factor: u64 = group[l].magnitude().into();
            lanes[l] = lanes[l].wrapping_mul(factor);
        }
    }
    let lanes = lanes.into_iter().fold(1, u64::wrapping_mul);
    rest.iter().fold(lanes, |product, x| product.wrapping_mul(x.magnitude().into()))
}

impl<R: Ordered> ArrayFold<&[R]> for IntegerFactors<R> {
    type Partial = IntegerProduct;

    #[inline(always)]
    fn take<C: Target>(&mut self, piece: &[R], _first: u64) {
        for block in piece.chunks(BLOCK_BYTES / size_of::<R>()) {
            if self.product.is_zero() {
                return;
            }
            self.block(block);
        }
    }

    #[inline(always)]
    fn is_settled(&self) -> bool {
        self.product.is_zero()
    }

    fn finish(self) -> IntegerProduct {
        self.product
    }
}
