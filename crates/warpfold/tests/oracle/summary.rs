//! `stats`, field by field: each is what the reduction of its name answers.

use warpfold::partial::{Finish, Output, Summary};
use warpfold::{Error, Nan, Op, Result, Value};

use super::answer::Expected;
use super::fold::expected;
use crate::sample::Sample;

/// Holds each field of the stats of an array against what its reduction may answer.
///
/// # Errors
/// The first field that is wrong.
pub fn check_summary<T: Sample>(
    answer: Result<Output, Error>,
    nan: Nan,
    x: &[T],
    finish: Finish,
) -> Result<(), String> {
    let expect = |op| expected(op, nan, x, &[], finish);
    let summary = match answer {
        Ok(Output::Summary(summary)) => *summary,
        Ok(other) => return Err(format!("{other:?} is no summary")),
        // Nothing but a sum that does not fit keeps a summary back.
        Err(error) => return expect(Op::Sum).check(&Err(error)),
    };
    let one = |value| Ok(Output::One(value));
    for (op, field) in [(Op::Sum, summary.sum), (Op::L1, summary.l1), (Op::L2, summary.l2)] {
        expect(op).check(&one(field)).map_err(|why| format!("{op}: {why}"))?;
    }
    let Summary { mean, var, std, min, max, .. } = summary;
    let [argmin, argmax] = [summary.argmin, summary.argmax].map(|index| index.map(Value::from));
    for (op, field) in [
        (Op::Mean, mean),
        (Op::Var, var),
        (Op::Std, std),
        (Op::Min, min),
        (Op::Max, max),
        (Op::ArgMin, argmin),
        (Op::ArgMax, argmax),
    ] {
        match (expect(op), field) {
            (Expected::Refused(..), None) => {}
            (expected, Some(value)) => {
                expected.check(&one(value)).map_err(|why| format!("{op}: {why}"))?;
            }
            (expected, None) => {
                return Err(format!("{op} is none, and should be {expected:x?}"));
            }
        }
    }
    let nans = x.iter().filter(|x| x.numbers().iter().any(|number| number.is_nan())).count();
    let counts = (summary.count, summary.nan_count);
    match counts == (x.len() as u64, nans as u64) {
        true => Ok(()),
        false => Err(format!("counts {counts:?} of {} elements, {nans} NaN", x.len())),
    }
}
