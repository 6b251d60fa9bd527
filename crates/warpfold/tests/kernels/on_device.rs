//! Values that stay on the device, against those that the host finishes: the same bits.

use warpfold::kernel::{Machine, Reduce, value_bytes};
use warpfold::partial::{Finish, Output};
use warpfold::{DType, Element, Error, Op, Result, Value, bf16, f16};

/// A machine that leaves values where they are, and shows their bytes to tests.
pub(crate) trait OnDevice: Machine {
    fn on_device<T: Element>(
        &self,
        reduce: &Reduce<'_, Self, T>,
        op: Op,
        finish: Finish,
    ) -> Result<Vec<u8>>;
}

/// A value's bytes as they lie in the device's memory.
fn bytes(value: &Value) -> Vec<u8> {
    match value {
        Value::Bool(x) => vec![u8::from(*x)],
        Value::I8(x) => x.to_le_bytes().to_vec(),
        Value::I16(x) => x.to_le_bytes().to_vec(),
        Value::I32(x) => x.to_le_bytes().to_vec(),
        Value::I64(x) => x.to_le_bytes().to_vec(),
        Value::U8(x) => x.to_le_bytes().to_vec(),
        Value::U16(x) => x.to_le_bytes().to_vec(),
        Value::U32(x) => x.to_le_bytes().to_vec(),
        Value::U64(x) => x.to_le_bytes().to_vec(),
        Value::F16(x) => x.to_le_bytes().to_vec(),
        Value::BF16(x) => x.to_le_bytes().to_vec(),
        Value::F32(x) => x.to_le_bytes().to_vec(),
        Value::F64(x) => x.to_le_bytes().to_vec(),
        Value::Complex64(z) => [z.re.to_le_bytes(), z.im.to_le_bytes()].concat(),
        Value::Complex128(z) => [z.re.to_le_bytes(), z.im.to_le_bytes()].concat(),
        other => panic!("{other:?} is no result"),
    }
}

/// An integer in more bytes, by its sign.
fn widened(mut bytes: Vec<u8>, len: usize, signed: bool) -> Vec<u8> {
    let sign = if signed && bytes.last().is_some_and(|&top| top >> 7 == 1) { 0xff } else { 0 };
    bytes.resize(len, sign);
    bytes
}

/// What has to be left where the host finds this; `None` where the value is not told.
fn expected<T: Element>(op: Op, finish: Finish, host: &Result<Output>) -> Option<Vec<u8>> {
    let len = value_bytes(op, T::DTYPE, finish.round_to).expect("a single value");
    let signed = T::DTYPE.name().starts_with('i');
    let is_narrow = matches!(T::DTYPE, DType::F16 | DType::BF16 | DType::F32 | DType::Complex64);
    let nan = match is_narrow {
        _ if finish.round_to == Some(DType::F16) => f16::NAN.to_le_bytes().to_vec(),
        _ if finish.round_to == Some(DType::BF16) => bf16::NAN.to_le_bytes().to_vec(),
        true => f32::NAN.to_le_bytes().to_vec(),
        false => f64::NAN.to_le_bytes().to_vec(),
    };
    Some(match (op, host) {
        (Op::Sum | Op::Sumsq | Op::Dot | Op::Prod, Err(Error::Overflow { .. })) => return None,
        // Only the array told that too little is left of it.
        (Op::Mean | Op::Var | Op::Std, Err(_)) => nan.repeat(len / nan.len()),
        // Nothing is there to be an extreme.
        (_, Err(_)) => return None,
        (Op::Sum | Op::Sumsq | Op::Dot, Ok(Output::One(value))) if !T::DTYPE.is_float() => {
            widened(bytes(value), len, signed)
        }
        (Op::Prod, Ok(Output::One(value))) if !T::DTYPE.is_float() => {
            widened(bytes(value), len, false)
        }
        (_, Ok(Output::One(value))) => bytes(value),
        (_, Ok(Output::Pair(min, max))) => [bytes(min), bytes(max)].concat(),
        (_, Ok(other)) => panic!("{other:?} is no single value"),
    })
}

/// How the value that is left differs from what the host finishes of the same reduction.
pub(crate) fn difference<M: OnDevice, T: Element>(
    machine: &M,
    reduce: &Reduce<'_, M, T>,
    op: Op,
    finish: Finish,
    host: &Result<Output>,
) -> Option<String> {
    let found = match machine.on_device(reduce, op, finish) {
        Ok(found) => found,
        // The length alone tells that there is no value.
        Err(error) if host.as_ref() == Err(&error) => return None,
        Err(error) => return Some(format!("left {error:?}, host {host:?}")),
    };
    let right = match expected::<T>(op, finish, host) {
        Some(expected) => found == expected,
        None => op != Op::Prod || found[8] == 1,
    };
    (!right).then(|| format!("left {found:?}, host {host:?}"))
}

/// The elements' type, if it has 16 bits and results can be rounded to it.
pub(crate) fn own_of_16<T: Element>(op: Op) -> Option<DType> {
    (op.is_rounded() && matches!(T::DTYPE, DType::F16 | DType::BF16)).then_some(T::DTYPE)
}

/// One reduction's value, left on the device and finished on the host.
pub(crate) fn check_on_device<M: OnDevice, T: Element>(
    machine: &M,
    reduce: &Reduce<'_, M, T>,
    op: Op,
    ddof: u64,
    what: &str,
) {
    for round_to in [None].into_iter().chain(own_of_16::<T>(op).map(Some)) {
        let finish = Finish { ddof, round_to, ..Finish::default() };
        let host = reduce.output(op, finish);
        let difference = difference(machine, reduce, op, finish, &host);
        assert_eq!(difference, None, "{op} of {}, {finish:?} ({what})", T::DTYPE);
    }
}
