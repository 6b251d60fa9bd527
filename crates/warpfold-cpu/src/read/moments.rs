//! Variances, deviations, Euclidean norms and sums of squares, from sums and sums of squares that are nearly known; and norms of complex numbers.
//!
//! An approximation `high + low` of a result and a bound on its error leave no doubt where both ends of what it may be round to the same
//! float. Bounds are multiples of 2^-106, the square of half a unit in the last place of 1: see `batch/moments`.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use warpfold_exact::exact::round_moments;
use warpfold_exact::partial::Output;
use warpfold_num::double_double::DoubleDouble;
use warpfold_num::element::Float;
use warpfold_num::{DType, Scalar, Value, with_element};
use warpfold_plan::HostArray;
use warpfold_plan::plan::Way;

use super::nearly::{Certain, Known, MOST, Nearly};
use super::{alone, one, ties, with_real};
use crate::batch::{AT_ONCE, Approximate, Lone, MOST_PLAIN, NearNorm, Read};
use crate::{Op, elements};

/// Which moment is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(super) op: Op,
    pub(super) ddof: u64,
    /// Where many results are ties, sums of squares below this are exact by f64 additions; zero elsewhere.
    pub(super) exact_below: f64,
    /// Whether one accumulator adds no more than [`MOST_PLAIN`] elements, and what several made is joined.
    in_lanes: bool,
}

impl Moment {
    /// A moment of any numbers, added one after another.
    pub(crate) fn new(op: Op, ddof: u64) -> Self {
        Moment { op, ddof, exact_below: 0.0, in_lanes: false }
    }

    /// A moment of elements of a type, folded in some way.
    pub(crate) fn of(op: Op, ddof: u64, dtype: DType, way: Way) -> Self {
        // All f16 are multiples of 2^-24, their squares of 2^-48, and f64 have 53 bits.
        let has_ties = dtype == DType::F16 && matches!(op, Op::Var | Op::Sumsq);
        let exact_below = if has_ties { 32.0 } else { 0.0 };
        // Each group's elements are put into its cell one by one.
        let in_lanes = !matches!(way, Way::Cells);
        Moment { exact_below, in_lanes, ..Self::new(op, ddof) }
    }

    /// How many additions f64 sums go through one after another at most.
    #[inline(always)]
    fn additions(&self) -> Additions {
        match self.in_lanes {
            true => Additions { each: 1.0 / 128.0, most: (MOST_PLAIN + 1024) as f64 },
            false => Additions { each: 1.0, most: 0.0 },
        }
    }

    /// Norms are there whatever is taken off their number.
    fn of_any_number(self) -> Self {
        let ddof = if self.op.is_spread() { self.ddof } else { 0 };
        Moment { ddof, ..self }
    }
}

/// A bound on the additions that f64 sums go through one after another: those in a lane, and of what lanes of columns hold as many as there are side by side, and as there are
/// parts of the rows, each of 256 rows or more (`batch/stripes`).
#[derive(Clone, Copy)]
struct Additions {
    each: f64,
    most: f64,
}

impl Additions {
    /// Of so many elements, which need no more.
    #[inline(always)]
    fn of(self, n: f64) -> f64 {
        let most = n.mul_add(self.each, self.most);
        if most < n { most } else { n }
    }
}

/// A moment rounded to a float type. Where many are ties, a type of its own: a condition among the steps of all others would leave these no whole vectors.
pub(crate) struct MomentAs<F, const HAS_TIES: bool = false> {
    what: Moment,
    float: PhantomData<F>,
}

impl<F: Certain, const HAS_TIES: bool> MomentAs<F, HAS_TIES> {
    /// The reader of a moment.
    pub(super) fn of(what: Moment) -> Self {
        MomentAs { what, float: PhantomData }
    }

    /// The moments of neighbours, each step of all together, as registers hold several.
    #[inline(always)]
    fn moments<X: Nearly, const PARTS: usize, const N: usize>(
        &self,
        smalls: &[Approximate<X, PARTS>; N],
        counts: [u64; N],
    ) -> ([F; N], [bool; N]) {
        let mut known = Known { high: [0.0; N], low: [0.0; N], error: [0.0; N] };
        let mut n = [0.0; N];
        for k in 0..N {
            known.set(k, smalls[k].squares);
            n[k] = counts[k] as f64;
        }
        let is_spread = self.what.op.is_spread();
        // What is no sum of squares is one of magnitudes, which are roots.
        let room = X::room(!matches!(self.what.op, Op::L2 | Op::Sumsq));
        let additions = self.what.additions();
        for k in 0..N {
            let square = known.high[k];
            // What has underflowed, and counts that are no exact f64, are not to be trusted.
            let is_sound = (square > X::LEAST) & (counts[k] < MOST) & (counts[k] > self.what.ddof);
            let error = X::bound(n[k], additions.of(n[k]), room) * square;
            // Nothing has a norm of zero: of many keys most may have no elements.
            let is_known = is_sound | (!is_spread & (counts[k] == 0));
            known.error[k] = if is_known { error } else { f64::NAN };
        }
        if is_spread {
            let ddof = self.what.ddof as f64;
            // Loops of few steps each: in one for all, the compiler keeps no whole vectors.
            let (mut high, mut low) = ([[0.0; N]; PARTS], [[0.0; N]; PARTS]);
            for part in 0..PARTS {
                for k in 0..N {
                    let sum = smalls[k].sum[part].double();
                    (high[part][k], low[part][k]) = sum.into();
                }
            }
            // Of inputs of one length there is one reciprocal for all. Of no more than 2^50 elements the difference is exact.
            let mut over = Known { high: [0.0; N], low: [0.0; N], error: [0.0; N] };
            for k in 0..N {
                over.set(k, X::reciprocal(n[k], n[k] - ddof));
                over.error[k] = 1.0 / (n[k] - ddof);
            }
            for k in 0..N {
                let mut sums = [X::of(DoubleDouble::ZERO); PARTS];
                for part in 0..PARTS {
                    sums[part] = X::of(DoubleDouble { high: high[part][k], low: low[part][k] });
                }
                let variance = known.value::<X>(k).spread(n[k], &sums).times(over.value(k));
                let rounding = variance.double().high.abs() * X::STEP;
                known.error[k] = known.error[k] * over.error[k] + rounding;
                known.set(k, variance);
            }
        }
        match self.what.op {
            Op::Std => {
                for k in 0..N {
                    let (root, reciprocal) = known.value::<X>(k).root();
                    let high = root.double().high;
                    // Half as much relative to the root, if the number is well above its bound; nothing may be where all is zero.
                    let error = known.error[k] * reciprocal + high * X::STEP;
                    let is_zero = (known.high[k] == 0.0) & (known.error[k] == 0.0);
                    let error = if error < high { error } else { f64::NAN };
                    known.error[k] = if is_zero { 0.0 } else { error };
                    known.set(k, root);
                }
            }
            Op::L2 | Op::Linf => {
                for k in 0..N {
                    let (root, _) = known.value::<X>(k).root();
                    let high = root.double().high;
                    // Half as much relative to the root as to the sum of squares, and no more than a step beside that, without a division.
                    let error =
                        X::bound(n[k], additions.of(n[k]), room).mul_add(0.5, X::STEP) * high;
                    known.error[k] = if known.error[k] >= 0.0 { error } else { f64::NAN };
                    known.set(k, root);
                }
            }
            _ => {}
        }
        known.round()
    }

    /// The same; of few elements those first that are known whatever the bound.
    #[inline(always)]
    fn all<X: Nearly, const PARTS: usize, const N: usize>(
        &self,
        smalls: &[Approximate<X, PARTS>; N],
        counts: [u64; N],
    ) -> ([F; N], [bool; N]) {
        if !(HAS_TIES && X::IS_ONE) || counts[0] > ties::MOST {
            return self.moments(smalls, counts);
        }
        let (exact, are_exact) = ties::moments::<F, X, PARTS, N>(self.what, smalls, counts);
        if are_exact == [true; N] {
            return (exact, are_exact);
        }
        let (mut results, mut are_certain) = self.moments(smalls, counts);
        for k in 0..N {
            results[k] = if are_exact[k] { exact[k] } else { results[k] };
            are_certain[k] |= are_exact[k];
        }
        (results, are_certain)
    }
}

/// What moments are read of: first what is known to 2^-53, if that is of use, then what is known to 2^-105.
pub(crate) trait Collect<S, U> {
    /// What that makes.
    type Of;

    /// Reads both in turn.
    fn in_turn<D>(self, reader: D) -> Self::Of
    where
        D: Read<S, Result: Scalar> + Read<U, Result = <D as Read<S>>::Result> + 'static;

    /// Reads the second.
    fn second<D: Read<U, Result: Scalar> + 'static>(self, reader: D) -> Self::Of;
}

/// What a moment of one array is read of, known to 2^-105.
pub(crate) trait CollectOne<U> {
    /// Reads it.
    fn one<D: Read<U>>(self, reader: &D) -> Option<D::Result>;
}

/// Sums and sums of squares that are known to 2^-105, and those to 2^-53.
pub(crate) trait MomentState<S>: Sized {
    /// The moment of one array rounded to the float type `to`; `None` where it is in doubt, or no reader knows the type.
    fn value(what: Moment, to: DType, collect: impl CollectOne<Self>) -> Option<Value>;

    /// A column of moments rounded to the float type `to`; both are of use where elements are `narrow`. `None` where no reader knows the type.
    fn column<C: Collect<S, Self>>(
        what: Moment,
        to: DType,
        narrow: bool,
        collect: C,
    ) -> Option<C::Of>;
}

impl<const PARTS: usize> MomentState<Approximate<f64, PARTS>> for Approximate<DoubleDouble, PARTS> {
    fn value(what: Moment, to: DType, collect: impl CollectOne<Self>) -> Option<Value> {
        let what = what.of_any_number();
        match to {
            DType::F32 => {
                collect.one(&MomentAs::<f32> { what, float: PhantomData }).map(Value::from)
            }
            DType::F64 => {
                collect.one(&MomentAs::<f64> { what, float: PhantomData }).map(Value::from)
            }
            _ => None,
        }
    }

    fn column<C: Collect<Approximate<f64, PARTS>, Self>>(
        what: Moment,
        to: DType,
        narrow: bool,
        collect: C,
    ) -> Option<C::Of> {
        let what = what.of_any_number();
        let single = MomentAs::<f32> { what, float: PhantomData };
        match to {
            DType::F32 if narrow && PARTS == 1 && what.exact_below > 0.0 => {
                Some(collect.in_turn(MomentAs::<f32, true>::of(what)))
            }
            DType::F32 if narrow => Some(collect.in_turn(single)),
            DType::F32 => Some(collect.second(single)),
            DType::F64 => Some(collect.second(MomentAs::<f64> { what, float: PhantomData })),
            DType::I64 => Some(collect.second(SquaresOf::<i64>(PhantomData))),
            DType::U64 => Some(collect.second(SquaresOf::<u64>(PhantomData))),
            _ => None,
        }
    }
}

impl<F: Certain, X: Nearly, const PARTS: usize, const HAS_TIES: bool> Read<Approximate<X, PARTS>>
    for MomentAs<F, HAS_TIES>
{
    type Result = F;
    const IS_LONG: bool = true;

    #[inline(always)]
    fn small(&self, small: &Approximate<X, PARTS>, count: u64) -> Option<F> {
        let ([result], [is_certain]) = self.all(&[*small], [count]);
        is_certain.then_some(result)
    }

    #[inline(always)]
    fn neighbours(
        &self,
        smalls: &[Approximate<X, PARTS>; AT_ONCE],
        counts: [u64; AT_ONCE],
    ) -> ([MaybeUninit<F>; AT_ONCE], [bool; AT_ONCE]) {
        let (results, are_certain) = self.all(smalls, counts);
        (results.map(MaybeUninit::new), are_certain)
    }

    fn short(&self, x: HostArray<'_>) -> Option<F> {
        with_element!(x.dtype(), T => round_moments::<T, F>(self.what.op, self.what.ddof, elements(&x)))
    }

    fn finished(&self, output: Output) -> F {
        one(output)
    }

    fn lone(&self, inputs: Lone<'_, F>) {
        alone::moments(self.what, inputs);
    }
}

/// The sum of the magnitudes of complex numbers, or the largest, rounded to the float type of the parts.
pub(crate) fn of_magnitudes<F: Float>(op: Op) -> MomentAs<F> {
    MomentAs { what: Moment::new(op, 0), float: PhantomData }
}

macro_rules! of_magnitudes {
    ($($float:ty: $known:expr;)+) => {$(
        impl MomentAs<$float> {
            #[inline(always)]
            fn norms<const N: usize>(&self, norms: &[NearNorm; N], counts: [u64; N]) -> ([$float; N], [bool; N]) {
                let counts = match self.what.op {
                    // None was added to another.
                    Op::Linf => counts.map(|count| count.min(1)),
                    _ => counts,
                };
                self.moments(&norms.map(|NearNorm(norm)| Approximate { sum: [], squares: $known(norm) }), counts)
            }
        }

        impl Read<NearNorm> for MomentAs<$float> {
            type Result = $float;
            const IS_LONG: bool = true;

            #[inline(always)]
            fn small(&self, norm: &NearNorm, count: u64) -> Option<$float> {
                let ([result], [is_certain]) = self.norms(&[*norm], [count]);
                is_certain.then_some(result)
            }

            #[inline(always)]
            fn neighbours(
                &self,
                norms: &[NearNorm; AT_ONCE],
                counts: [u64; AT_ONCE],
            ) -> ([MaybeUninit<$float>; AT_ONCE], [bool; AT_ONCE]) {
                let (results, are_certain) = self.norms(norms, counts);
                (results.map(MaybeUninit::new), are_certain)
            }

            fn finished(&self, output: Output) -> $float {
                one(output)
            }

            fn lone(&self, inputs: Lone<'_, $float>) {
                alone::complex_norms(Moment::new(Op::L2, 0), inputs);
            }
        }
    )+};
}
of_magnitudes! {
    f32: |norm: DoubleDouble| norm.high;
    f64: std::convert::identity::<DoubleDouble>;
}

/// The sum of squares of integers in an integer type.
struct SquaresOf<I>(PhantomData<I>);

impl<I: Scalar + Default + TryFrom<i128>, const PARTS: usize> Read<Approximate<DoubleDouble, PARTS>>
    for SquaresOf<I>
{
    type Result = I;

    /// The only integer that is as near as the bound says.
    #[inline(always)]
    fn small(&self, small: &Approximate<DoubleDouble, PARTS>, count: u64) -> Option<I> {
        let DoubleDouble { high, low } = small.squares;
        let error = <DoubleDouble as Nearly>::bound(count as f64, count as f64, [0.0; 2]) * high;
        let nearest = low.round();
        let is_certain = high < 2f64.powi(64) && (low - nearest).abs() + error < 0.5;
        // From 2^53 on `high` is an integer; below, what is not is too far from one.
        let is_whole = high == high.trunc();
        if !(is_certain && is_whole) {
            return None;
        }
        I::try_from(high as i128 + nearest as i128).ok()
    }

    fn finished(&self, output: Output) -> I {
        one(output)
    }

    fn lone(&self, inputs: Lone<'_, I>) {
        with_real!(inputs.dtype(), [Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64],
            T => inputs.each_known(|x: T| {
                let square = i128::from(x).checked_mul(x.into()).and_then(|square| I::try_from(square).ok());
                (square.unwrap_or_default(), square.is_some())
            }), else inputs.defer());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_elements_is_read_without_its_partial() {
        let nothing = [Approximate { sum: [DoubleDouble::ZERO], squares: DoubleDouble::ZERO }; 2];
        for (op, expected) in
            [(Op::L2, true), (Op::Sumsq, true), (Op::Var, false), (Op::Std, false)]
        {
            let what = Moment::new(op, 0);
            let wide = MomentAs::<f64> { what, float: PhantomData }.moments(&nothing, [0; 2]);
            assert_eq!(wide.1, [expected; 2], "{op}");
            let plain = nothing.map(|_| Approximate { sum: [0.0; 1], squares: 0.0 });
            let narrow = MomentAs::<f32> { what, float: PhantomData }.moments(&plain, [0; 2]);
            assert_eq!(narrow.1, [expected; 2], "{op}");
            if expected {
                let zeros = (wide.0.map(f64::to_bits), narrow.0.map(f32::to_bits));
                assert_eq!(zeros, ([0; 2], [0; 2]), "{op}");
            }
        }
    }
}
