//! From partials to the result: the only step that rounds.

use num_bigint::{BigInt, BigUint};
use warpfold_exact::AnyPartial;
use warpfold_exact::partial::{Finish, Output, Partial};
use warpfold_num::element::{Decode, Decoded, Nearest};
use warpfold_num::limbs::{Special, round_ratio, round_root, to_bigint};
use warpfold_num::{
    DType, Element, Error, Float, Op, Policy, Result, Value, with_element, with_float,
};
use warpfold_plan::{HostArray, Request};

use super::reduction::Measure;
use super::task::{Pairs, TaskPartial};
use super::wanted::{Source, Wanted};
use super::weights::SQUARES_UNIT;
use super::{Folded, Map, refused};
use crate::reduce;

pub(super) fn finish(
    map: &Map,
    wanted: &Wanted,
    folded: &Folded,
    finish: Finish,
) -> Result<Output> {
    let part = |k: usize| &folded.parts[wanted.tasks[k]];
    let finish = Finish { ddof: wanted.ddof.unwrap_or(finish.ddof), ..finish };
    let to = finish.round_to.unwrap_or(match wanted.dtype {
        DType::F32 => DType::F32,
        _ => DType::F64,
    });
    match (wanted.kind, wanted.measure) {
        (Source::Values, Measure::Op(op)) => match wanted.initial {
            None => part(0).partial().finish(op, finish),
            Some(initial) => {
                if op == Op::Prod && wanted.dtype.is_float() {
                    // Whether pieces are missing, or there twice, only their own partial can tell.
                    part(0).partial().finish(op, finish)?;
                }
                let all = with_initial(initial, |array| {
                    reduce(&Request::new(op, array).policy(map.policy))
                })?;
                // It is no leaf of a product's tree, but multiplies what the tree comes to.
                let mut all = all.without_indices();
                all.merge(&part(0).partial().clone().without_indices());
                all.finish(op, finish)
            }
        },
        (Source::Products, Measure::Op(Op::Sum)) => {
            let mut all = part(0).partial().clone();
            if let Some(initial) = wanted.initial {
                all.merge(&with_initial(initial, |array| product_with_one(array, map.policy))?);
            }
            all.finish(Op::Dot, finish).map_err(|error| named(error, Op::Sum))
        }
        (Source::Products, _) => {
            let products = exact(part(0).partial());
            mean(&products, &products.count.into(), products.unit, to, wanted.dtype)
        }
        (Source::Weighted, Measure::Op(Op::Mean)) => {
            let (products, weights) = (exact(part(0).partial()), exact(part(1).partial()));
            let denominator = weights.value.to_biguint().unwrap_or_default();
            mean(&products, &denominator, products.unit - weights.unit, to, wanted.dtype)
        }
        (Source::Weighted, Measure::Op(op)) => {
            weighted_variance(op, wanted, folded, &BigInt::from(finish.ddof), 0, to)
        }
        (Source::Pairs, measure) => {
            let TaskPartial::Pairs(pairs) = part(0) else { unreachable!("pairs leave pairs") };
            of_pairs(measure, pairs, to, wanted.dtype)
        }
        (_, _) => {
            let TaskPartial::Exponents(exponents) = part(0) else {
                unreachable!("logsumexp leaves exponents")
            };
            let value = exponents.logarithm();
            Ok(Output::One(
                with_float!(to, Op::Sum, wanted.dtype, F => <F as Nearest>::of(value).into()),
            ))
        }
    }
}

/// The partial of an initial value.
fn with_initial(
    initial: Value,
    left: impl Fn(HostArray<'_>) -> Result<AnyPartial>,
) -> Result<AnyPartial> {
    match initial {
        Value::Bool(value) => left(HostArray::of(&[value])),
        Value::I64(value) => left(HostArray::of(&[value])),
        Value::U64(value) => left(HostArray::of(&[value])),
        Value::F32(value) => left(HostArray::of(&[value])),
        Value::F64(value) => left(HostArray::of(&[value])),
        other => unreachable!("{other:?} is of no type that is computed in"),
    }
}

fn product_with_one(array: HostArray<'_>, policy: Policy) -> Result<AnyPartial> {
    let with = |one| reduce(&Request::new(Op::Dot, array).pair(one).policy(policy));
    match array.dtype() {
        DType::I64 => with(HostArray::of(&[1i64])),
        DType::U64 => with(HostArray::of(&[1u64])),
        DType::F32 => with(HostArray::of(&[1f32])),
        _ => with(HostArray::of(&[1f64])),
    }
}

/// An error of the products' sum as one of the requested operation.
fn named(error: Error, op: Op) -> Error {
    match error {
        Error::Overflow { dtype, result, value, remedy, .. } => {
            Error::Overflow { op, dtype, result, value, remedy }
        }
        other => other,
    }
}

/// An exact sum: an integer of so many units, each a power of two, and what was no finite number.
struct Sum {
    value: BigInt,
    unit: i64,
    special: Special,
    count: u64,
}

/// What a partial of sums or of products holds.
fn exact(partial: &AnyPartial) -> Sum {
    with_element!(partial.dtype(), T => {
        let unit = i64::from(<<T as Element>::Component as warpfold_num::element::Decode>::UNIT);
        match partial.typed_ref::<T>() {
            Some(Partial::Sum(sum)) => {
                let register = &sum.parts.as_ref()[0];
                Sum { value: to_bigint(&register.fixed), unit, special: register.special, count: sum.count }
            }
            Some(Partial::Dot(dot)) => {
                let register = &dot.parts.as_ref()[0];
                Sum { value: to_bigint(&register.fixed), unit: 2 * unit, special: register.special, count: dot.count }
            }
            other => unreachable!("{other:?} is no sum"),
        }
    })
}

/// A quotient, rounded once.
fn mean(sum: &Sum, denominator: &BigUint, unit: i64, to: DType, dtype: DType) -> Result<Output> {
    if denominator.bits() == 0 {
        return Err(Error::Empty { op: Op::Mean, ignored: false });
    }
    fn rounded<F: Float + Into<Value>>(special: Option<F>, ratio: impl FnOnce() -> F) -> Value {
        special.unwrap_or_else(ratio).into()
    }
    Ok(Output::One(with_float!(to, Op::Mean, dtype, F => {
        rounded::<F>(sum.special.value(), || round_ratio(&sum.value, denominator, unit))
    })))
}

/// A variance or a deviation with any finite correction.
pub(super) fn corrected(
    wanted: &Wanted,
    folded: &Folded,
    correction: f64,
    round_to: Option<DType>,
) -> Result<Output> {
    let Measure::Op(op) = wanted.measure else {
        let remedy = "take var or std";
        return Err(refused("a correction", format!("{} takes none", wanted.measure), remedy));
    };
    if !op.is_spread() {
        return Err(refused("a correction", format!("{op} takes none"), "take var or std"));
    }
    if wanted.kind == Source::Values {
        return folded.parts[wanted.tasks[0]].partial().finish_corrected(op, correction, round_to);
    }
    let to = round_to.unwrap_or(match wanted.dtype {
        DType::F32 => DType::F32,
        _ => DType::F64,
    });
    match correction.decode() {
        Decoded::Finite { negative, mantissa, shift } => {
            let magnitude = BigInt::from(mantissa) << shift;
            let correction = if negative { -magnitude } else { magnitude };
            let unit = i64::from(<f64 as Decode>::UNIT);
            weighted_variance(op, wanted, folded, &correction, unit, to)
        }
        _ => {
            let obstacle = format!("it is {correction}");
            Err(refused("a correction", obstacle, "give a finite number"))
        }
    }
}

/// (Σw Σwx² - (Σwx)²) / (Σw (Σw - c)), or its root, rounded once; the correction c is in units of a power of two.
fn weighted_variance(
    op: Op,
    wanted: &Wanted,
    folded: &Folded,
    correction: &BigInt,
    correction_unit: i64,
    to: DType,
) -> Result<Output> {
    let part = |k: usize| &folded.parts[wanted.tasks[k]];
    let TaskPartial::Squares(squares) = part(2) else { unreachable!("variances have squares") };
    let [products, weights] = [0, 1].map(|k| exact(part(k).partial()));
    // Of floats, the halves of squares are products of f64.
    let mut of_squares = exact(&squares.products);
    if wanted.dtype.is_float() {
        of_squares.value <<= (of_squares.unit - SQUARES_UNIT) as u64;
        of_squares.unit = SQUARES_UNIT;
    } else {
        of_squares.unit = 0;
    }
    of_squares.value += &squares.others;
    if weights.value.bits() == 0 {
        return Err(Error::Empty { op, ignored: false });
    }
    let finest = weights.unit.min(correction_unit);
    let rest =
        (&weights.value << (weights.unit - finest)) - (correction << (correction_unit - finest));
    let rest = rest.to_biguint().filter(|rest| rest.bits() > 0);
    let all = weights.value.to_biguint().unwrap_or_default();
    let Some(rest) = rest else {
        let whole = |value: &BigInt, unit: i64| u64::try_from(value >> -unit).unwrap_or(u64::MAX);
        let (n, ddof) = (whole(&weights.value, weights.unit), whole(correction, correction_unit));
        return Err(Error::TooFew { op, n, ddof });
    };
    // In the unit of the products, squared.
    let unit = 2 * products.unit;
    let of_squares =
        (&of_squares.value * &weights.value) << (of_squares.unit + weights.unit - unit);
    let numerator = of_squares - &products.value * &products.value;
    // Never negative (Cauchy and Schwarz), where all is finite.
    let numerator = match products.special {
        Special::NONE => numerator.to_biguint(),
        _ => None,
    };
    let (denominator, unit) = (all * rest, unit - weights.unit - finest);
    Ok(Output::One(with_float!(to, op, wanted.dtype, F => {
        let value: F = match numerator {
            None => F::NAN,
            Some(numerator) if op == Op::Std => round_root(&numerator, &denominator, unit),
            Some(numerator) => round_ratio(&numerator.into(), &denominator, unit),
        };
        value.into()
    })))
}

/// √((Σx² - 2Σxy + Σy²) / n), or Σxy / √(Σx² Σy²), rounded once.
fn of_pairs(measure: Measure, pairs: &Pairs, to: DType, dtype: DType) -> Result<Output> {
    let [left, both, right] = [&pairs.left, &pairs.both, &pairs.right].map(exact);
    if both.count == 0 {
        let obstacle = "no element is there".into();
        return Err(refused(&measure.to_string(), obstacle, "give one at least"));
    }
    let is_special = [left.special, both.special, right.special] != [Special::NONE; 3];
    let magnitude = |value: BigInt| value.magnitude().clone();
    Ok(Output::One(with_float!(to, Op::Dot, dtype, F => {
        let value: F = if measure == Measure::Rmse {
            pairs.differences.value().unwrap_or_else(|| {
                let squares = &left.value - &both.value * 2 + &right.value;
                round_root(&magnitude(squares), &both.count.into(), both.unit)
            })
        } else {
            let denominator = magnitude(&left.value * &right.value);
            if is_special || denominator.bits() == 0 {
                F::NAN
            } else {
                let size: F = round_root(&magnitude(&both.value * &both.value), &denominator, 0);
                if both.value.sign() == num_bigint::Sign::Minus { -size } else { size }
            }
        };
        value.into()
    })))
}
