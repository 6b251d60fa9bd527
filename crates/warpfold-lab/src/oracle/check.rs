//! Is a result right? Judged from the [`Truth`] by the contract, reduction by reduction.

use num_bigint::BigInt;
use warpfold::partial::{Output, Summary};
use warpfold::{DType, Element, Op, Value};

use super::exact::Exact;
use super::product::times_power;
use super::{Double, Product, Split, Truth};

/// A result that breaks the contract.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "{op} of {n} {dtype} gave {got}, and {expected} is right; this is a bug: no time is reported for it"
)]
pub struct Wrong {
    /// The reduction.
    pub op: Op,
    /// The element type.
    pub dtype: DType,
    /// Elements.
    pub n: u64,
    /// The result.
    pub got: String,
    /// What is right, to about 16 digits.
    pub expected: String,
}

/// Whether something holds, and what would have been right if not.
type Verdict = Result<(), String>;

impl<T: Element<Component: Split>> Truth<T> {
    /// Checks the result of a reduction of this array (`ddof` 0).
    ///
    /// # Errors
    /// [`Wrong`] if the contract is broken.
    pub fn check(&self, op: Op, got: &Output) -> Result<(), Wrong> {
        let verdict = match (op, got) {
            (Op::Stats, Output::Summary(summary)) => self.summary(summary),
            (Op::MinMax, Output::Pair(min, max)) => {
                equal(*min, self.value(self.min)).and_then(|()| equal(*max, self.value(self.max)))
            }
            (_, Output::One(value)) => self.one(op, *value),
            _ => Err(format!("another kind of result for {op}")),
        };
        verdict.map_err(|expected| self.wrong(op, format!("{got:?}"), expected))
    }

    /// Checks a dot product against its exact parts, from [`dot`](super::dot).
    ///
    /// # Errors
    /// [`Wrong`] if the contract is broken.
    pub fn check_dot(parts: &[Exact], n: u64, got: &Output) -> Result<(), Wrong> {
        let verdict = match got {
            Output::One(value) => nearest(*value, parts),
            _ => Err("one number".into()),
        };
        verdict.map_err(|expected| Wrong {
            op: Op::Dot,
            dtype: T::DTYPE,
            n,
            got: format!("{got:?}"),
            expected,
        })
    }

    fn wrong(&self, op: Op, got: String, expected: String) -> Wrong {
        Wrong { op, dtype: T::DTYPE, n: self.n, got, expected }
    }

    fn one(&self, op: Op, got: Value) -> Verdict {
        let n = self.n;
        match op {
            Op::Sum => nearest(got, &self.sum),
            Op::Mean => {
                let mean: Vec<_> = self.sum.iter().map(|sum| sum.clone().over(n)).collect();
                nearest(got, &mean)
            }
            Op::Var => nearest(got, &[self.variance()]),
            Op::Std => root(got, &self.variance()),
            Op::L1 if T::PARTS == 2 => {
                let slack = 1.0 + 1.0 / 8.0;
                within(got, Product::of([Double::new(self.moduli), Double::ZERO]), slack)
            }
            Op::L1 => nearest(got, std::slice::from_ref(&self.magnitudes)),
            Op::L2 => root(got, &self.squares),
            Op::Sumsq => nearest(got, std::slice::from_ref(&self.squares)),
            Op::Linf => match got {
                Value::U64(got) => {
                    let right = Exact::of(got).squared() == self.largest;
                    right
                        .then_some(())
                        .ok_or_else(|| format!("{:e}", self.largest.approximate().sqrt()))
                }
                _ => root(got, &self.largest),
            },
            Op::Prod => match self.product {
                Some(product) => within(got, product, 1.0),
                None => Err("no product: this data has no bounded one".into()),
            },
            Op::Min => equal(got, self.value(self.min)),
            Op::Max => equal(got, self.value(self.max)),
            Op::ArgMin => equal(got, self.min.map(|(_, index)| index.into())),
            Op::ArgMax => equal(got, self.max.map(|(_, index)| index.into())),
            Op::Any => equal(got, Some((self.nonzero > 0).into())),
            Op::All => equal(got, Some((self.nonzero == n).into())),
            Op::Count => equal(got, Some(self.nonzero.into())),
            Op::MinMax | Op::Dot | Op::Stats => Err(format!("another kind of result for {op}")),
        }
    }

    fn summary(&self, got: &Summary) -> Verdict {
        let some = |value: Option<Value>, name: &str| value.ok_or_else(|| format!("a {name}"));
        let named =
            |name: &str, verdict: Verdict| verdict.map_err(|right| format!("{name} {right}"));
        let count = |name: &str, got: Option<u64>, right: Option<u64>| {
            (got == right).then_some(()).ok_or_else(|| format!("{name} {right:?}"))
        };
        count("count", Some(got.count), Some(self.n))?;
        count("nan_count", Some(got.nan_count), Some(0))?;
        named("sum", self.one(Op::Sum, got.sum))?;
        named("mean", self.one(Op::Mean, some(got.mean, "mean")?))?;
        named("var", self.one(Op::Var, some(got.var, "var")?))?;
        named("std", self.one(Op::Std, some(got.std, "std")?))?;
        named("l1", self.one(Op::L1, got.l1))?;
        named("l2", self.one(Op::L2, got.l2))?;
        if T::PARTS == 1 {
            named("min", self.one(Op::Min, some(got.min, "min")?))?;
            named("max", self.one(Op::Max, some(got.max, "max")?))?;
        }
        count("argmin", got.argmin, self.min.map(|(_, index)| index))?;
        count("argmax", got.argmax, self.max.map(|(_, index)| index))
    }

    /// Over n, of the moduli's distances from the mean: `(n Σ|x|² - |Σx|²) / n²`.
    pub fn variance(&self) -> Exact {
        let scaled = self.squares.clone().times(self.n);
        let squared = self.sum.iter().fold(scaled, |rest, sum| rest - sum.squared());
        squared.over(BigInt::from(self.n) * self.n)
    }

    fn value(&self, place: Option<(T::Component, u64)>) -> Option<Value> {
        place.map(|(value, _)| value.into())
    }
}

fn equal(got: Value, right: Option<Value>) -> Verdict {
    match right {
        Some(right) if got == right => Ok(()),
        right => Err(format!("{right:?}")),
    }
}

/// Integers equal, floats correctly rounded, complex numbers part by part.
fn nearest(got: Value, exact: &[Exact]) -> Verdict {
    let right = match (got, exact) {
        (Value::F32(got), [exact]) => exact.rounds_to(got),
        (Value::F64(got), [exact]) => exact.rounds_to(got),
        (Value::Complex64(got), [re, im]) => re.rounds_to(got.re) && im.rounds_to(got.im),
        (Value::Complex128(got), [re, im]) => re.rounds_to(got.re) && im.rounds_to(got.im),
        (Value::I64(got), [exact]) => *exact == Exact::of(got),
        (Value::U64(got), [exact]) => *exact == Exact::of(got),
        _ => false,
    };
    right.then_some(()).ok_or_else(|| {
        let parts: Vec<_> = exact.iter().map(|part| format!("{:e}", part.approximate())).collect();
        parts.join(" and ")
    })
}

fn root(got: Value, exact: &Exact) -> Verdict {
    let right = match got {
        Value::F32(got) => exact.root_rounds_to(got),
        Value::F64(got) => exact.root_rounds_to(got),
        _ => false,
    };
    right.then_some(()).ok_or_else(|| format!("{:e}", exact.approximate().sqrt()))
}

/// Bits of a significand, and the exponents of the least normal number and of the largest one.
const OF_F32: (i64, i64, i64) = (24, -126, 127);
const OF_F64: (i64, i64, i64) = (53, -1022, 1023);

/// Within `slack` units in the last place, of the whole for complex numbers; integers equal. A part that is beyond its type's range is infinite.
fn within(got: Value, exact: Product, slack: f64) -> Verdict {
    let Product { parts, exponent } = exact;
    let size = parts[0].high.hypot(parts[1].high);
    let scaled = |x: f64| times_power(x, -exponent);
    // A real number's unit is that of its binade; a complex one's is the format's relative step times the modulus.
    let unit = |(bits, least, _): (i64, i64, i64), is_complex: bool| match is_complex {
        true => {
            (size * times_power(1.0, 1 - bits)).max(times_power(1.0, least + 1 - bits - exponent))
        }
        false => times_power(1.0, exponent.max(least) + 1 - bits - exponent),
    };
    let judge = |got: [f64; 2], format: (i64, i64, i64), is_complex: bool| {
        let allowed = unit(format, is_complex) * slack;
        let mut off = 0f64;
        for (got, exact) in got.into_iter().zip(parts) {
            if got.is_infinite() {
                // What rounds to infinity lies in the last unit before the next power of two, or beyond.
                let end = times_power(1.0, format.2 + 1 - exponent);
                if exact.high * got.signum() + allowed < end {
                    return false;
                }
            } else {
                let left = Double::new(scaled(got)) + -exact;
                off = off.hypot(left.high + left.low);
            }
        }
        off <= allowed
    };
    let equal = |got: f64| Double::new(scaled(got)) == parts[0];
    let is_right = match got {
        Value::F32(got) => judge([got.into(), 0.0], OF_F32, false),
        Value::F64(got) => judge([got, 0.0], OF_F64, false),
        Value::Complex64(got) => judge([got.re.into(), got.im.into()], OF_F32, true),
        Value::Complex128(got) => judge([got.re, got.im], OF_F64, true),
        Value::I64(got) => equal(got as f64),
        Value::U64(got) => equal(got as f64),
        _ => false,
    };
    let [re, im] = exact.value();
    is_right.then_some(()).ok_or_else(|| format!("{:e} and {:e}", re.high, im.high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::Data;

    fn one(value: impl Into<Value>) -> Output {
        Output::One(value.into())
    }

    #[test]
    fn right_results_pass_and_neighbours_fail() {
        let x = [0.1f64, 0.2, 0.7];
        let truth = Truth::of(&x, Data::Natural);
        let sum = 0.1 + 0.2 + 0.7f64;
        let right =
            [sum.next_down(), sum, sum.next_up()].map(|v| truth.check(Op::Sum, &one(v)).is_ok());
        assert_eq!(right.iter().filter(|right| **right).count(), 1, "{right:?}");
        assert!(
            truth.check(Op::Max, &one(0.7)).is_ok() && truth.check(Op::Max, &one(0.2)).is_err()
        );
        assert!(
            truth.check(Op::ArgMin, &one(0u64)).is_ok()
                && truth.check(Op::ArgMin, &one(1u64)).is_err()
        );
        assert!(
            truth.check(Op::Count, &one(3u64)).is_ok()
                && truth.check(Op::Count, &one(2u64)).is_err()
        );
        assert!(truth.check(Op::Sum, &one(f64::NAN)).is_err());
    }

    #[test]
    fn moments_of_small_integers_are_known() {
        let x = [1i32, 2, 3, 4, 10];
        let truth = Truth::of(&x, Data::Natural);
        for (op, right) in
            [(Op::Mean, 4.0), (Op::Var, 10.0), (Op::Std, 10f64.sqrt()), (Op::L2, 130f64.sqrt())]
        {
            assert_eq!(truth.check(op, &one(right)), Ok(()));
            assert!(truth.check(op, &one(right.next_up())).is_err(), "{op}");
        }
        assert_eq!(truth.check(Op::Linf, &one(10u64)), Ok(()));
        assert!(truth.check(Op::Linf, &one(9u64)).is_err());
    }

    #[test]
    fn complex_numbers_are_checked_part_by_part() {
        use warpfold::Complex;
        let x = [Complex::new(3.0f32, 4.0), Complex::new(-3.0, 0.5)];
        let truth = Truth::of(&x, Data::Reciprocal);
        assert_eq!(truth.check(Op::Sum, &one(Complex::new(0.0f32, 4.5))), Ok(()));
        assert!(truth.check(Op::Sum, &one(Complex::new(0.0f32, 4.0))).is_err());
        assert_eq!(truth.check(Op::Linf, &one(5.0f32)), Ok(()));
        assert_eq!(truth.check(Op::Prod, &one(x[0] * x[1])), Ok(()));
        let parts = crate::oracle::dot(&x, &x);
        assert_eq!(
            Truth::<Complex<f32>>::check_dot(&parts, 2, &one(x[0] * x[0] + x[1] * x[1])),
            Ok(())
        );
    }

    #[test]
    fn products_beyond_the_range_are_infinite() {
        let truth = Truth::of(&[-3e38f32, 2.0, 1.5], Data::Reciprocal);
        assert_eq!(truth.check(Op::Prod, &one(f32::NEG_INFINITY)), Ok(()));
        assert!(truth.check(Op::Prod, &one(f32::INFINITY)).is_err());
        assert!(truth.check(Op::Prod, &one(f32::MIN)).is_err());
        let truth = Truth::of(&[1.5f32, 2.0], Data::Reciprocal);
        assert!(truth.check(Op::Prod, &one(f32::INFINITY)).is_err());

        let truth = Truth::of(&[-1e308f64, 2e300, 1.5], Data::Reciprocal);
        assert_eq!(truth.check(Op::Prod, &one(f64::NEG_INFINITY)), Ok(()));
        for wrong in [f64::INFINITY, f64::MIN, f64::NAN, 0.0] {
            assert!(truth.check(Op::Prod, &one(wrong)).is_err(), "{wrong}");
        }
        // On the way only, in both directions.
        let x = [1000, 1000, -1000, -1000, -1000, 1000].map(|exponent| 2f64.powi(exponent));
        let truth = Truth::of(&x, Data::Reciprocal);
        assert_eq!(truth.check(Op::Prod, &one(1.0f64)), Ok(()));
        assert!(truth.check(Op::Prod, &one(f64::INFINITY)).is_err());
        assert!(truth.check(Op::Prod, &one(1.0 + 4.0 * f64::EPSILON)).is_err());
        let truth = Truth::of(&[1e-200f64, 1e-120], Data::Reciprocal);
        assert_eq!(truth.check(Op::Prod, &one(1e-320f64)), Ok(()));
        assert!(truth.check(Op::Prod, &one(1e-320f64.next_up().next_up())).is_err());
        assert!(truth.check(Op::Prod, &one(0.0f64)).is_err());
    }

    #[test]
    fn parts_of_complex_products_beyond_the_range_are_infinite() {
        use warpfold::Complex;
        let infinity = f32::INFINITY;
        let truth =
            Truth::of(&[Complex::new(3e38f32, 1e38), Complex::new(2.0, 0.0)], Data::Reciprocal);
        assert_eq!(truth.check(Op::Prod, &one(Complex::new(infinity, 2e38f32))), Ok(()));
        for wrong in [
            Complex::new(-infinity, 2e38),
            Complex::new(infinity, infinity),
            Complex::new(infinity, 1e38),
            Complex::new(f32::MAX, 2e38),
            Complex::new(infinity, f32::NAN),
        ] {
            assert!(truth.check(Op::Prod, &one(wrong)).is_err(), "{wrong}");
        }
        let x = [Complex::new(0.0f64, 1e200), Complex::new(1e200, 1e-200)];
        let truth = Truth::of(&x, Data::Reciprocal);
        assert_eq!(truth.check(Op::Prod, &one(Complex::new(-1.0, f64::INFINITY))), Ok(()));
        assert!(truth.check(Op::Prod, &one(Complex::new(-1.0, 1e308))).is_err());
    }
}
