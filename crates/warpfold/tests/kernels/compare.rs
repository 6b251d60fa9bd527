//! Whether two results are one: to the last bit, or within what fast sums promise.

use warpfold::partial::{Output, Summary};
use warpfold::{Result, Value};

/// Bits that tell values of one type apart, NaNs and zeros included.
pub(crate) fn bits(value: &Value) -> Vec<u64> {
    match value {
        Value::F16(x) => vec![x.to_bits().into()],
        Value::BF16(x) => vec![x.to_bits().into()],
        Value::F32(x) => vec![x.to_bits().into()],
        Value::F64(x) => vec![x.to_bits()],
        Value::Complex64(z) => vec![z.re.to_bits().into(), z.im.to_bits().into()],
        Value::Complex128(z) => vec![z.re.to_bits(), z.im.to_bits()],
        Value::Bool(x) => vec![u64::from(*x)],
        other => format!("{other:?}").bytes().map(u64::from).collect(),
    }
}

fn same_value(a: &Value, b: &Value) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b) && bits(a) == bits(b)
}

fn same_summary(a: &Summary, b: &Summary) -> bool {
    let indices = |s: &Summary| (s.count, s.nan_count, s.argmin, s.argmax);
    let values = |s: &Summary| {
        let always = [Some(s.sum), Some(s.l1), Some(s.l2)];
        let sometimes = [s.mean, s.var, s.std, s.min, s.max];
        always.into_iter().chain(sometimes).collect::<Vec<_>>()
    };
    let same = |(a, b): (Option<Value>, Option<Value>)| match (a, b) {
        (Some(a), Some(b)) => same_value(&a, &b),
        (a, b) => a.is_none() && b.is_none(),
    };
    indices(a) == indices(b) && values(a).into_iter().zip(values(b)).all(same)
}

/// Whether two results agree to the last bit, errors included.
pub(crate) fn same(a: &Result<Output>, b: &Result<Output>) -> bool {
    match (a, b) {
        (Ok(Output::One(a)), Ok(Output::One(b))) => same_value(a, b),
        (Ok(Output::Pair(a, c)), Ok(Output::Pair(b, d))) => same_value(a, b) && same_value(c, d),
        (Ok(Output::Summary(a)), Ok(Output::Summary(b))) => same_summary(a, b),
        (Err(a), Err(b)) => a == b,
        _ => false,
    }
}

/// Whether a fast result is within `tolerance` of the exact one; infinities and NaN must be the same.
pub(crate) fn near(fast: &Result<Output>, exact: &Result<Output>, tolerance: f64) -> bool {
    let parts = |value: &Value| match value {
        Value::F32(x) => vec![f64::from(*x)],
        Value::F64(x) => vec![*x],
        Value::Complex64(z) => vec![f64::from(z.re), f64::from(z.im)],
        Value::Complex128(z) => vec![z.re, z.im],
        other => panic!("{other:?} is no fast result"),
    };
    match (fast, exact) {
        (Ok(Output::One(fast)), Ok(Output::One(exact))) => {
            std::mem::discriminant(fast) == std::mem::discriminant(exact)
                && parts(fast).iter().zip(parts(exact)).all(|(&a, b)| {
                    if b.is_finite() {
                        (a - b).abs() <= tolerance
                    } else {
                        a.to_bits() == b.to_bits()
                    }
                })
        }
        (Err(a), Err(b)) => a == b,
        _ => false,
    }
}
