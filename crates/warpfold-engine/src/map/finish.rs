//! From what is left to the result: the only step that rounds.

use num_bigint::BigUint;
use warpfold_exact::AnyPartial;
use warpfold_exact::partial::{Finish, Output, Partial};
use warpfold_num::element::Real;
use warpfold_num::limbs::{round_ratio, to_bigint};
use warpfold_num::{DType, Element, Error, Float, Op, Result, Value, with_float};

use super::{Folded, Kind, Map};

pub(super) fn finish(map: &Map, folded: &Folded, finish: Finish) -> Result<Output> {
    let op = map.op;
    match (map.kind, op) {
        (Kind::Spread, _) => corrected(map, folded, finish.ddof as f64, finish.round_to),
        (Kind::Values, _) => folded.value.finish(op, finish),
        (_, Op::Sum) => folded.value.finish(Op::Dot, finish).map_err(|error| named(error, op)),
        _ => {
            let over = folded.weights.as_ref();
            let value = match &folded.value {
                AnyPartial::I64(products) => mean(products, over, finish),
                AnyPartial::U64(products) => mean(products, over, finish),
                AnyPartial::F32(products) => mean(products, over, finish),
                AnyPartial::F64(products) => mean(products, over, finish),
                other => unreachable!("products are not computed in {}", other.dtype()),
            };
            value.map(Output::One)
        }
    }
}

/// A variance or a deviation with any finite correction.
pub(super) fn corrected(
    map: &Map,
    folded: &Folded,
    correction: f64,
    round_to: Option<DType>,
) -> Result<Output> {
    let Some(spread) = &folded.spread else {
        return folded.value.finish_corrected(map.op, correction, round_to);
    };
    let dtype = map.dtype();
    let natural = if dtype == DType::F32 { DType::F32 } else { DType::F64 };
    spread.finish(map.op, correction, dtype, round_to.unwrap_or(natural))
}

/// An error of the products' sum as one of what was asked for.
fn named(error: Error, op: Op) -> Error {
    match error {
        Error::Overflow { dtype, result, value, remedy, .. } => {
            Error::Overflow { op, dtype, result, value, remedy }
        }
        other => other,
    }
}

/// The sum of products over their number, or over the sum of weights, rounded once.
fn mean<T: Real>(
    products: &Partial<T>,
    weights: Option<&AnyPartial>,
    finish: Finish,
) -> Result<Value> {
    let to = finish.round_to.unwrap_or(<T::Round as Element>::DTYPE);
    let Partial::Dot(dot) = products else { unreachable!("products leave a dot product") };
    let [sum] = dot.parts.as_ref() else { unreachable!("a real number has one part") };
    let empty = Error::Empty { op: Op::Mean, ignored: false };
    let (denominator, unit) = match weights.and_then(AnyPartial::typed_ref::<T>) {
        Some(Partial::Sum(weights)) => {
            let [weights] = weights.parts.as_ref() else {
                unreachable!("a real number has one part")
            };
            let weights = to_bigint(&weights.fixed).to_biguint().unwrap_or_default();
            (weights, i64::from(T::UNIT))
        }
        _ => (BigUint::from(dot.count), 2 * i64::from(T::UNIT)),
    };
    if denominator.bits() == 0 {
        return Err(empty);
    }
    fn rounded<F: Float + Into<Value>>(special: Option<F>, ratio: impl FnOnce() -> F) -> Value {
        special.unwrap_or_else(ratio).into()
    }
    Ok(with_float!(to, Op::Mean, T::DTYPE, F => {
        rounded::<F>(sum.special.value(), || round_ratio(&to_bigint(&sum.fixed), &denominator, unit))
    }))
}
