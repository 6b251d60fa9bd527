//! What kernels answer, against the oracle of the contract, which shares no code with the library.

use warpfold::partial::{Finish, Output};
use warpfold::{Nan, Op, Result};

use crate::oracle::{check_summary, expected};
use crate::sample::Sample;

/// Elements beyond which the oracle, some microseconds an element, is not asked.
const MOST: usize = 2048;

/// Outputs of one launch beyond which it is not asked either.
const MOST_OUTPUTS: usize = 24;

/// Holds a result that is rounded once, or not at all, against the oracle, if the arrays are not too long for it.
pub(crate) fn check<T: Sample>(
    found: &Result<Output>,
    op: Op,
    nan: Nan,
    [x, y]: [&[T]; 2],
    finish: Finish,
    what: &str,
) {
    if x.len() > MOST {
        return;
    }
    match op {
        Op::Stats => check_summary(found.clone(), nan, x, finish),
        _ => expected(op, nan, x, y, finish).check(found),
    }
    .unwrap_or_else(|why| panic!("{op} of {} {} ({what}, {nan:?}): {why}", x.len(), T::DTYPE));
}

/// The same for one of several outputs, by its number.
pub(crate) fn check_output<T: Sample>(
    output: usize,
    found: &Result<Output>,
    op: Op,
    nan: Nan,
    x: &[T],
    finish: Finish,
    what: &str,
) {
    if output < MOST_OUTPUTS {
        check(found, op, nan, [x, &[]], finish, what);
    }
}
