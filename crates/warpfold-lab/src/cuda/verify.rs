//! Results before times: what the GPU makes of a part of the pool, against the processor's result.

use warpfold::cuda::Gpu;
use warpfold::kernel::AnyReduce;
use warpfold::partial::{Finish, Output};
use warpfold::{Accuracy, DType, Element, Error, Nan, Op, Policy, Result, Value};

use super::pool::Pool;
use super::table::rounds;

/// Elements that are verified: several blocks, and no whole number of vectors.
const ELEMENTS: usize = (1 << 20) - 3;

/// Compares; the error says how the results differ, and `None` that the GPU has no such reduction.
pub(super) fn verify<T: Element>(
    gpu: &Gpu,
    pool: &Pool,
    op: Op,
    accuracy: Accuracy,
) -> Option<std::result::Result<(), String>> {
    let policy = Policy { accuracy, nan: Nan::Propagate, ..Policy::default() };
    let here = match on_gpu(gpu, pool, T::DTYPE, op, policy) {
        Err(Error::Undefined { .. } | Error::Unsupported { .. }) => return None,
        other => other,
    };
    let exact = Policy { accuracy: Accuracy::Exact, ..policy };
    let there = crate::cpu::reduce(op, exact, pool.on_host::<T>(ELEMENTS));
    let approximate =
        op == Op::Prod && T::DTYPE.is_float() || rounds(op, T::DTYPE) && accuracy == Accuracy::Fast;
    let alike = match (&here, &there) {
        (Ok(Output::One(a)), Ok(Output::One(b))) if approximate => near(*a, *b),
        (Ok(a), Ok(b)) => a == b,
        (Err(a), Err(b)) => std::mem::discriminant(a) == std::mem::discriminant(b),
        _ => false,
    };
    Some(if alike {
        Ok(())
    } else {
        Err(format!("{here:?} on the GPU, {there:?} on the processor"))
    })
}

fn on_gpu(gpu: &Gpu, pool: &Pool, dtype: DType, op: Op, policy: Policy) -> Result<Output> {
    let half = ELEMENTS / 2;
    let all = pool.array(dtype, ELEMENTS as u64, 0);
    let reduce = match op {
        Op::Dot => AnyReduce::pair(gpu, all.slice(..half), all.slice(half..2 * half))?,
        _ => AnyReduce::new(gpu, all),
    };
    reduce.policy(policy).output(op, Finish::default())
}

/// Within what a tree sum of so many numbers below 2 in f32 may be off, and then some: far from what a wrong kernel gives.
fn near(a: Value, b: Value) -> bool {
    let parts = |value| match value {
        Value::F32(x) => Some(vec![f64::from(x)]),
        Value::F64(x) => Some(vec![x]),
        Value::Complex64(z) => Some(vec![f64::from(z.re), f64::from(z.im)]),
        Value::Complex128(z) => Some(vec![z.re, z.im]),
        _ => None,
    };
    match (parts(a), parts(b)) {
        (Some(a), Some(b)) => a.iter().zip(&b).all(|(a, b)| {
            a == b || (a - b).abs() <= 1e-5 * b.abs() + 1e-5 * (ELEMENTS as f64).sqrt()
        }),
        _ => false,
    }
}
