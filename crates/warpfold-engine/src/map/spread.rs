//! Weighted variances: what `Σw(x − mean)²` is read from, exactly.
//!
//! With `W = Σw`, `A = Σwx` and `B = Σwx²`, the variance over `W − c` is `(W·B − A²) / (W·(W − c))`. All three are kept as sums of products of
//! two f64: a square is two of them, by its rounding error. What no two f64 hold, far out squares and whole numbers from 2^53 on, is added as
//! integers of any length.

use num_bigint::{BigInt, BigUint, Sign};
use warpfold_exact::AnyPartial;
use warpfold_exact::partial::{Output, Partial};
use warpfold_num::limbs::{Special, round_ratio, round_root, to_bigint};
use warpfold_num::{DType, Element, Error, Float, Op, Policy, Result, Value, with_float};
use warpfold_plan::{HostArray, Request};

use crate::reduce;

/// The exponent of the least f64: weights are integers of this unit, `A` of its square, `B` of its cube.
const UNIT: i64 = -1074;

/// Between this and its inverse a square and its rounding error are f64.
const LARGEST: f64 = f64::from_bits((1023 + 480) << 52);

/// From here on not every whole number is an f64.
const WHOLE: u64 = 1 << 53;

/// `W`, `A` and `B` of some elements.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Spread {
    weights: AnyPartial,
    first: AnyPartial,
    second: AnyPartial,
    /// What no f64 hold.
    others: [BigInt; 3],
    /// Whether an element is infinite or NaN: then there is no variance.
    is_special: bool,
}

impl Default for Spread {
    fn default() -> Self {
        let dot = AnyPartial::empty(Op::Dot, DType::F64);
        Spread {
            weights: AnyPartial::empty(Op::Sum, DType::F64),
            first: dot.clone(),
            second: dot,
            others: Default::default(),
            is_special: false,
        }
    }
}

/// Elements on their way to the sums.
#[derive(Default)]
struct Columns {
    weights: Vec<f64>,
    values: Vec<f64>,
    /// Weights of squares, and the squares.
    scaled: Vec<f64>,
    squares: Vec<f64>,
}

impl Spread {
    /// Takes in elements; weights are finite and not negative.
    pub(super) fn add(
        &mut self,
        weights: &HostArray<'_>,
        values: &HostArray<'_>,
        policy: Policy,
    ) -> Result<()> {
        let mut columns = Columns::default();
        match weights.dtype() {
            DType::F32 => {
                self.floats(&mut columns, of::<f32>(weights), of::<f32>(values), f64::from);
            }
            DType::F64 => self.floats(&mut columns, of::<f64>(weights), of::<f64>(values), |x| x),
            DType::I64 => self.integers(&mut columns, of::<i64>(weights), of::<i64>(values)),
            DType::U64 => self.integers(&mut columns, of::<u64>(weights), of::<u64>(values)),
            other => unreachable!("weights are not computed in {other}"),
        }
        let sum = |x: &[f64]| reduce(&Request::new(Op::Sum, HostArray::of(x)).policy(policy));
        let dot = |x: &[f64], y: &[f64]| {
            let request = Request::new(Op::Dot, HostArray::of(x)).pair(HostArray::of(y));
            reduce(&request.policy(policy))
        };
        self.weights.merge(&sum(&columns.weights)?);
        self.first.merge(&dot(&columns.weights, &columns.values)?);
        self.second.merge(&dot(&columns.scaled, &columns.squares)?);
        Ok(())
    }

    fn floats<T: Copy>(
        &mut self,
        columns: &mut Columns,
        weights: &[T],
        values: &[T],
        widen: impl Fn(T) -> f64,
    ) {
        for (&weight, &value) in weights.iter().zip(values) {
            let (w, x) = (widen(weight), widen(value));
            if !x.is_finite() {
                self.is_special = true;
                continue;
            }
            columns.push(w, x);
            if x == 0.0 || (1.0 / LARGEST..=LARGEST).contains(&x.abs()) {
                columns.square(w, x);
            } else {
                let magnitude = integer(x).magnitude().pow(2);
                self.others[2] += integer(w) * BigInt::from(magnitude);
            }
        }
    }

    fn integers<T: Copy + Into<i128>>(
        &mut self,
        columns: &mut Columns,
        weights: &[T],
        values: &[T],
    ) {
        for (&weight, &value) in weights.iter().zip(values) {
            let (w, x): (i128, i128) = (weight.into(), value.into());
            if w.unsigned_abs() <= WHOLE.into() && x.unsigned_abs() <= WHOLE.into() {
                let (w, x) = (w as f64, x as f64);
                columns.push(w, x);
                columns.square(w, x);
                continue;
            }
            let (w, x) = (BigInt::from(w), BigInt::from(x));
            for (power, other) in (0..).zip(&mut self.others) {
                *other += (&w * x.pow(power)) << ((i64::from(power) + 1) * -UNIT);
            }
        }
    }

    /// Takes in what is left of other elements.
    pub(super) fn merge(&mut self, other: &Self) {
        self.weights.merge(&other.weights);
        self.first.merge(&other.first);
        self.second.merge(&other.second);
        for (mine, theirs) in self.others.iter_mut().zip(&other.others) {
            *mine += theirs;
        }
        self.is_special |= other.is_special;
    }

    /// The variance, or its root, over the sum of the weights less a correction.
    ///
    /// # Errors
    /// [`Error::Empty`] where the weights sum to zero, [`Error::TooFew`] where the correction leaves nothing to divide by.
    pub(super) fn finish(
        &self,
        op: Op,
        correction: f64,
        dtype: DType,
        to: DType,
    ) -> Result<Output> {
        let weights = fixed(&self.weights) + &self.others[0];
        if weights.sign() != Sign::Plus {
            return Err(Error::Empty { op, ignored: false });
        }
        let left = &weights - integer(correction);
        if left.sign() != Sign::Plus {
            let n = (&weights >> -UNIT).iter_u64_digits().next().unwrap_or(0);
            return Err(Error::TooFew { op, n, ddof: correction.ceil() as u64 });
        }
        let first = fixed(&self.first) + &self.others[1];
        let second = (fixed(&self.second) << -UNIT) + &self.others[2];
        let numerator = (&weights * second - &first * &first).to_biguint().unwrap_or_default();
        let denominator = (weights * left).to_biguint().unwrap_or_default();
        fn rounded<F: Float + Into<Value>>(
            op: Op,
            is_special: bool,
            numerator: BigUint,
            denominator: &BigUint,
        ) -> Value {
            let value: F = match op {
                _ if is_special => F::NAN,
                Op::Std => round_root(&numerator, denominator, 2 * UNIT),
                _ => round_ratio(&BigInt::from(numerator), denominator, 2 * UNIT),
            };
            value.into()
        }
        let value: Value = with_float!(to, op, dtype, F => {
            rounded::<F>(op, self.is_special, numerator, &denominator)
        });
        Ok(Output::One(value))
    }
}

impl Columns {
    fn push(&mut self, weight: f64, value: f64) {
        self.weights.push(weight);
        self.values.push(value);
    }

    /// The square as its rounded value and what that leaves out.
    fn square(&mut self, weight: f64, value: f64) {
        let square = value * value;
        let error = value.mul_add(value, -square);
        self.scaled.push(weight);
        self.squares.push(square);
        if error != 0.0 {
            self.scaled.push(weight);
            self.squares.push(error);
        }
    }
}

fn of<'a, T: Element + bytemuck::CheckedBitPattern>(array: &HostArray<'a>) -> &'a [T] {
    array.slice().unwrap_or_else(|| unreachable!("an array has its type"))
}

/// A finite number in units of the least f64.
fn integer(x: f64) -> BigInt {
    let bits = x.abs().to_bits();
    let (exponent, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
    let significand = if exponent == 0 { fraction } else { fraction | 1 << 52 };
    let magnitude = BigInt::from(significand) << exponent.max(1) - 1;
    if x < 0.0 { -magnitude } else { magnitude }
}

/// An exact sum of numbers, in units of the least f64, or of products, in units of its square.
fn fixed(sum: &AnyPartial) -> BigInt {
    let (register, special) = match sum {
        AnyPartial::F64(Partial::Sum(sum)) => {
            (to_bigint(&sum.parts[0].fixed), sum.parts[0].special)
        }
        AnyPartial::F64(Partial::Dot(dot)) => {
            (to_bigint(&dot.parts[0].fixed), dot.parts[0].special)
        }
        other => unreachable!("sums are of f64, not {}", other.dtype()),
    };
    debug_assert_eq!(special, Special::NONE, "only finite numbers went in");
    register
}
