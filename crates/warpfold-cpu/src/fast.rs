//! Plain float sums, for [`Accuracy::Fast`](crate::Accuracy::Fast).
//!
//! A block is summed in lanes of the accumulator type and then lane by lane as a tree; what comes of it goes exactly into the
//! register that an exact sum uses. So the error is that of one block, the result does not depend on threads, and a
//! partial is of the usual kind. A block whose sum is not finite is added exactly, value by value: nothing overflows that should
//! not, and special values keep their rules.

use std::ops::{Add, Mul};

use super::executor::ArrayFold;
use super::float::{AbsoluteValues, Lane, Summed, Term, Values};
use super::isa::Target;
use super::memory::{prefetch, streamed, streamed_in_pairs};
use crate::{Nan, bf16, f16};
use warpfold_exact::exact::{Register, Special};
use warpfold_num::element::Decoded;
use warpfold_plan::plan::Isa;

/// Values of a block; grains are multiples of it.
const BLOCK: usize = 8192;
const LANES: usize = 32;

/// A float type with an accumulator type.
pub(super) trait Plain: Lane {
    /// f32 for types of up to 32 bits, else f64.
    type Accumulator: Copy
        + Default
        + Add<Output = Self::Accumulator>
        + Mul<Output = Self::Accumulator>
        + Into<f64>;

    /// The value; an infinity may become a NaN.
    fn plain(self) -> Self::Accumulator;
    /// Its magnitude.
    fn plain_magnitude(self) -> Self::Accumulator;
}

macro_rules! plain {
    ($($ty:ty: $accumulator:ty, $of:expr;)+) => {$(
        impl Plain for $ty {
            type Accumulator = $accumulator;

            #[inline(always)]
            fn plain(self) -> $accumulator {
                $of(self)
            }

            #[inline(always)]
            fn plain_magnitude(self) -> $accumulator {
                self.plain().abs()
            }
        }
    )+};
}
plain! {
    f16: f32, |x: f16| if x.shows() { x.wide() as f32 * 2f32.powi(-f16::SCALE) } else { f32::NAN };
    bf16: f32, |x: bf16| x.wide() as f32;
    f32: f32, |x| x;
    f64: f64, |x| x;
}

/// How a term reads a value.
pub(super) trait PlainTerm: Term {
    /// The value as it is added.
    fn plain<F: Plain>(x: F) -> F::Accumulator;
}

impl PlainTerm for Values {
    #[inline(always)]
    fn plain<F: Plain>(x: F) -> F::Accumulator {
        x.plain()
    }
}

impl PlainTerm for AbsoluteValues {
    #[inline(always)]
    fn plain<F: Plain>(x: F) -> F::Accumulator {
        x.plain_magnitude()
    }
}

/// A sum in progress over `PARTS` interleaved components.
pub(super) struct FastSum<F: Plain, T, const PARTS: usize> {
    nan: Nan,
    parts: [Register<F::SumLimbs>; PARTS],
    counted: u64,
    term: std::marker::PhantomData<T>,
}

impl<F: Plain, T: PlainTerm, const PARTS: usize> FastSum<F, T, PARTS> {
    pub(super) fn new(nan: Nan) -> Self {
        let parts = [Register::default(); PARTS];
        FastSum { nan, parts, counted: 0, term: std::marker::PhantomData }
    }

    /// The plain sums of a block's components.
    #[inline(always)]
    fn sums(x: &[F]) -> [F::Accumulator; PARTS] {
        let mut lanes = [F::Accumulator::default(); LANES];
        let (groups, rest) = x.as_chunks::<LANES>();
        for at in streamed(groups.len()) {
            let group = &groups[at];
            prefetch(group);
            for l in 0..LANES {
                lanes[l] = lanes[l] + T::plain(group[l]);
            }
        }
        let mut last = [F::default(); LANES];
        last[..rest.len()].copy_from_slice(rest);
        for l in 0..LANES {
            lanes[l] = lanes[l] + T::plain(last[l]);
        }
        tree::<F, PARTS>(lanes)
    }

    /// A block with infinities, NaNs or an overflow in it.
    #[inline(never)]
    fn exactly(&mut self, x: &[F]) {
        for number in x.as_chunks::<PARTS>().0 {
            if self.nan == Nan::Ignore && number.iter().any(|x| x.is_nan()) {
                self.counted -= PARTS as u64;
                continue;
            }
            for (register, x) in self.parts.iter_mut().zip(number) {
                match x.decode() {
                    Decoded::Finite { negative, mantissa, shift } => {
                        register.fixed.add(u128::from(mantissa), shift, T::sign(negative));
                    }
                    Decoded::Infinite { negative } => {
                        register.note(Special::infinity(T::sign(negative)));
                    }
                    Decoded::Nan => register.note(Special::NAN),
                }
            }
        }
    }
}

impl<F: Plain, T: PlainTerm, const PARTS: usize> ArrayFold<&[F]> for FastSum<F, T, PARTS> {
    type Partial = Summed<F::SumLimbs, PARTS>;

    #[inline(always)]
    fn take<C: Target>(&mut self, piece: &[F], _first: u64) {
        self.counted += piece.len() as u64;
        for block in piece.chunks(BLOCK) {
            let sums = Self::sums(block).map(F::Accumulator::into);
            if sums.iter().all(|sum| sum.is_finite()) {
                for (register, sum) in self.parts.iter_mut().zip(sums) {
                    register.add_f64(sum, F::UNIT);
                }
            } else {
                self.exactly(block);
            }
        }
    }

    fn finish(self) -> Self::Partial {
        Summed { parts: self.parts, counted: self.counted }
    }
}

/// A dot product of reals in progress.
pub(super) struct FastDot<F: Plain> {
    nan: Nan,
    sum: Register<F::ProductLimbs>,
    counted: u64,
}

impl<F: Plain> FastDot<F> {
    /// Takes what the exact dot product takes; the compiler's vectors serve every instruction set.
    pub(super) fn new(_: Isa, nan: Nan) -> Self {
        FastDot { nan, sum: Register::default(), counted: 0 }
    }

    #[inline(always)]
    fn sum(x: &[F], y: &[F]) -> f64 {
        let mut lanes = [F::Accumulator::default(); LANES];
        let ((xs, x_rest), (ys, y_rest)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
        for at in streamed_in_pairs(xs.len().min(ys.len())) {
            let (x, y) = (&xs[at], &ys[at]);
            prefetch(x);
            prefetch(y);
            for l in 0..LANES {
                lanes[l] = lanes[l] + x[l].plain() * y[l].plain();
            }
        }
        let [mut x, mut y] = [[F::default(); LANES]; 2];
        x[..x_rest.len()].copy_from_slice(x_rest);
        y[..y_rest.len()].copy_from_slice(y_rest);
        for l in 0..LANES {
            lanes[l] = lanes[l] + x[l].plain() * y[l].plain();
        }
        let [sum] = tree::<F, 1>(lanes);
        sum.into()
    }

    #[inline(never)]
    fn exactly(&mut self, x: &[F], y: &[F]) {
        for (&x, &y) in x.iter().zip(y) {
            match self.nan == Nan::Ignore && (x.is_nan() || y.is_nan()) {
                true => self.counted -= 1,
                false => self.sum.add_product(x, y, false),
            }
        }
    }
}

impl<F: Plain> ArrayFold<(&[F], &[F])> for FastDot<F> {
    type Partial = Summed<F::ProductLimbs, 1>;

    #[inline(always)]
    fn take<C: Target>(&mut self, (x, y): (&[F], &[F]), _first: u64) {
        self.counted += x.len() as u64;
        for (x, y) in x.chunks(BLOCK).zip(y.chunks(BLOCK)) {
            let sum = Self::sum(x, y);
            match sum.is_finite() {
                true => self.sum.add_f64(sum, 2 * F::UNIT),
                false => self.exactly(x, y),
            }
        }
    }

    fn finish(self) -> Self::Partial {
        Summed { parts: [self.sum], counted: self.counted }
    }
}

/// Adds lanes up pairwise, components apart.
#[inline(always)]
fn tree<F: Plain, const PARTS: usize>(
    mut lanes: [F::Accumulator; LANES],
) -> [F::Accumulator; PARTS] {
    let mut half = LANES / 2;
    while half >= PARTS {
        for l in 0..half {
            lanes[l] = lanes[l] + lanes[l + half];
        }
        half /= 2;
    }
    std::array::from_fn(|k| lanes[k])
}
