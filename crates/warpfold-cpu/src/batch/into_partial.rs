//! From what accumulators hold to partials.

use super::complex_norms::NearNorm;
use super::integer_products::Wrapped;
use super::moments::Approximate;
use super::near_complex_products::NearComplexProduct;
use super::near_products::NearProduct;
use super::nonzero::Tally;
use super::norms::Widest;
use super::ranks::{Extremum, Kept, Rank, Ranked};
use super::short_sums::ShortSum;
use crate::whole::FoldWhole;
use crate::{DType, Nan};
use warpfold_exact::exact::{Pair, Register, tally};
use warpfold_exact::partial::{Count, Extremes, Factors, Magnitude, Norm1, Partial};
use warpfold_num::element::{Components, Decode, Element, Ordered, Real};

/// What an accumulator leaves.
pub(crate) trait IntoPartial<T: FoldWhole>: Copy + Send + Sync {
    /// Whether it is exact. What is not is never added to a partial: where it does not tell the result, the elements are folded exactly.
    const IS_EXACT: bool = true;

    /// Adds it, of `count` elements, to a partial.
    fn flush(&self, nan: Nan, count: u64, partial: &mut Partial<T>);
}

/// Of what only the kernels for one array know.
impl<T: FoldWhole> IntoPartial<T> for () {
    fn flush(&self, _: Nan, _: u64, partial: &mut Partial<T>) {
        another(partial)
    }
}

fn another<T: FoldWhole>(partial: &Partial<T>) -> ! {
    unreachable!("this is no partial of another reduction: {partial:?}")
}

impl<T: FoldWhole, const PARTS: usize> IntoPartial<T> for [Pair; PARTS] {
    fn flush(&self, _: Nan, count: u64, partial: &mut Partial<T>) {
        match partial {
            Partial::Sum(exact) => {
                for (register, pair) in exact.parts.as_mut().iter_mut().zip(self) {
                    register.add_f64(pair.high, T::Component::UNIT);
                    register.add_f64(pair.low, T::Component::UNIT);
                }
                tally(&mut exact.count, count);
            }
            Partial::Norm1(norm) => {
                for pair in self {
                    norm.total.add_f64(pair.high, Norm1::<T>::UNIT);
                    norm.total.add_f64(pair.low, Norm1::<T>::UNIT);
                }
                tally(&mut norm.count, count);
            }
            other => another(other),
        }
    }
}

impl<T: FoldWhole> IntoPartial<T> for [i128; 1] {
    fn flush(&self, _: Nan, count: u64, partial: &mut Partial<T>) {
        match partial {
            Partial::Sum(exact) => {
                exact.parts.as_mut()[0].fixed.add_signed(self[0], 0);
                tally(&mut exact.count, count);
            }
            Partial::Norm1(norm) => {
                norm.total.fixed.add_signed(self[0], 0);
                tally(&mut norm.count, count);
            }
            other => another(other),
        }
    }
}

impl<T: FoldWhole> IntoPartial<T> for [i64; 1] {
    fn flush(&self, nan: Nan, count: u64, partial: &mut Partial<T>) {
        [i128::from(self[0])].flush(nan, count, partial);
    }
}

impl<T: FoldWhole, X: Copy + Send + Sync, const PARTS: usize> IntoPartial<T>
    for Approximate<X, PARTS>
{
    const IS_EXACT: bool = false;

    fn flush(&self, _: Nan, _: u64, partial: &mut Partial<T>) {
        another(partial)
    }
}

impl<T: FoldWhole> IntoPartial<T> for Tally {
    fn flush(&self, _: Nan, count: u64, partial: &mut Partial<T>) {
        match partial {
            Partial::Count(all) => all.merge(&Count { seen: count, nonzero: self.0 }),
            other => another(other),
        }
    }
}

impl<T: FoldWhole> IntoPartial<T> for Widest {
    fn flush(&self, _: Nan, _: u64, partial: &mut Partial<T>) {
        match partial {
            Partial::Magnitude(all) => {
                all.merge(&Magnitude::of(&Components::from_fn(|_| {
                    self.magnitude::<T::Component>()
                })));
            }
            other => another(other),
        }
    }
}

impl<T: FoldWhole, const LOWS: usize> IntoPartial<T> for NearProduct<LOWS> {
    const IS_EXACT: bool = false;

    fn flush(&self, _: Nan, _: u64, partial: &mut Partial<T>) {
        another(partial)
    }
}

impl<T: FoldWhole, const LOWS: usize> IntoPartial<T> for ShortSum<LOWS> {
    const IS_EXACT: bool = false;

    fn flush(&self, _: Nan, _: u64, partial: &mut Partial<T>) {
        another(partial)
    }
}

impl<T: FoldWhole> IntoPartial<T> for NearComplexProduct {
    const IS_EXACT: bool = false;

    fn flush(&self, _: Nan, _: u64, partial: &mut Partial<T>) {
        another(partial)
    }
}

impl<T: FoldWhole> IntoPartial<T> for NearNorm {
    const IS_EXACT: bool = false;

    fn flush(&self, _: Nan, _: u64, partial: &mut Partial<T>) {
        another(partial)
    }
}

impl<T: FoldWhole> IntoPartial<T> for Wrapped {
    fn flush(&self, _: Nan, _: u64, partial: &mut Partial<T>) {
        match partial {
            Partial::Product(all) => match &mut all.factors {
                Factors::Integer(product) => product.merge(&self.product()),
                _ => unreachable!("these are products of integers"),
            },
            other => another(other),
        }
    }
}

impl Widest {
    /// The magnitude of a type.
    #[inline(always)]
    pub(crate) fn magnitude<R: Ordered>(self) -> R::Magnitude {
        bytemuck::pod_read_unaligned(&self.0.to_le_bytes()[..size_of::<R::Magnitude>()])
    }
}

impl<T: FoldWhole, W: Rank> IntoPartial<T> for Extremum<W> {
    fn flush(&self, nan: Nan, count: u64, partial: &mut Partial<T>) {
        merge_extreme(*self, nan, count, partial);
    }
}

impl<T: FoldWhole, W: Rank> IntoPartial<T> for Ranked<W> {
    fn flush(&self, nan: Nan, count: u64, partial: &mut Partial<T>) {
        merge_extreme(*self, nan, count, partial);
    }
}

impl<T: FoldWhole, S: Kept + IntoPartial<T>> IntoPartial<T> for [S; 2] {
    fn flush(&self, nan: Nan, count: u64, partial: &mut Partial<T>) {
        self.iter().for_each(|end| IntoPartial::<T>::flush(end, nan, count, partial));
    }
}

/// Merges the extremes of a single element: whichever end it is of, that end is right.
fn merge_extreme<T: FoldWhole>(found: impl Kept, nan: Nan, count: u64, partial: &mut Partial<T>) {
    let Partial::Extremes(all) = partial else { another(partial) };
    let mut extremes = Extremes::new();
    if let Some(x) = extreme(found, nan, count) {
        extremes.add(x, found.arg_index());
    }
    all.merge(&extremes);
}

/// The element, if there is one; none where all were NaNs that are ignored.
#[inline(always)]
pub(crate) fn extreme<R: Ordered, S: Kept>(found: S, nan: Nan, count: u64) -> Option<R> {
    if count == 0 {
        return None;
    }
    let x: R = element(found);
    (nan == Nan::Propagate || !x.is_nan()).then_some(x)
}

/// The element that is kept.
#[inline(always)]
pub(crate) fn element<R: Ordered, S: Kept>(found: S) -> R {
    // What stands for an empty input, which nobody keeps, need not be the bits of a truth value.
    let mask = if R::DTYPE == DType::Bool { 1 } else { u64::MAX };
    let bytes = (found.bits() & mask).to_le_bytes();
    bytemuck::checked::pod_read_unaligned(&bytes[..size_of::<R>()])
}

/// Whether any part is NaN.
#[inline(always)]
pub(super) fn is_nan<T: Element>(x: T) -> bool {
    T::as_parts(&[x]).iter().any(|part| part.is_nan())
}

/// Adds one element to a sum or count: what [`adds_singly`](warpfold_plan::plan::adds_singly) says can be.
pub(crate) fn take<T: FoldWhole>(partial: &mut Partial<T>, x: T, nan: Nan) {
    let element = [x];
    let parts = T::as_parts(&element);
    if nan == Nan::Ignore && is_nan(x) {
        return;
    }
    match partial {
        Partial::Sum(exact) => exact.add(x),
        Partial::Count(count) => count.add(x),
        Partial::Norm1(norm) => {
            let mut sum = Register::<<T::Component as Real>::SumLimbs>::default();
            sum.take(T::Component::decode_magnitude(parts[0].magnitude()));
            norm.merge(&Norm1::from_sum(&sum, T::Component::UNIT, 1));
        }
        other => another(other),
    }
}
