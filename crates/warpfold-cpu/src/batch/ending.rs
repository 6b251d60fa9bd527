//! How outputs are read, and what stands for those that have no result.

use bytemuck::Zeroable;
use warpfold_exact::partial::{Finish, Output};
use warpfold_num::element::Element;
use warpfold_num::{Complex, Empty, Op, Result, Value, with_float};

/// How the outputs of a reduction are read.
#[derive(Debug, Clone)]
pub(crate) struct Ending {
    pub(crate) finish: Finish,
    /// What an output does that has no result.
    pub(crate) empty: Empty,
    /// What is written for it, where it is no error.
    pub(crate) stand_in: Option<Output>,
    /// Outputs of so many elements or fewer have no result, where there are any that have none.
    pub(crate) too_few: u64,
}

impl Ending {
    /// That of a reduction of a type.
    pub(crate) fn of<T: Element>(op: Op, finish: Finish, empty: Empty) -> Self {
        let stand_in = match empty {
            Empty::Error => None,
            Empty::Nan => nan::<T>(op, finish).ok().flatten(),
            // Nobody reads it.
            Empty::None => nan::<T>(op, finish).ok().flatten().or_else(|| zero::<T>(op)),
        };
        let too_few = op.too_few(finish.ddof).unwrap_or(0);
        Ending { finish, empty, stand_in, too_few }
    }
}

/// A result that is NaN; `None` where its type has none, or where there is always a result.
fn nan<T: Element>(op: Op, finish: Finish) -> Result<Option<Output>> {
    let dtype = match op {
        op if op.divides() => finish.round_to.unwrap_or(<T::Round as Element>::DTYPE),
        Op::Min | Op::Max | Op::MinMax if T::DTYPE.is_float() => T::DTYPE,
        _ => return Ok(None),
    };
    let one = with_float!(dtype, op, T::DTYPE, F => match op {
        Op::Mean if T::DTYPE.is_complex() => Value::from(Complex::new(F::NAN, F::NAN)),
        _ => F::NAN.into(),
    });
    Ok(Some(if op == Op::MinMax { Output::Pair(one, one) } else { Output::One(one) }))
}

/// Any result of the type.
fn zero<T: Element>(op: Op) -> Option<Output> {
    let element = <T::Component as Zeroable>::zeroed().into();
    match op {
        Op::Min | Op::Max => Some(Output::One(element)),
        Op::MinMax => Some(Output::Pair(element, element)),
        Op::ArgMin | Op::ArgMax => Some(Output::One(0u64.into())),
        _ => None,
    }
}
