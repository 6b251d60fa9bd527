//! What is asked of NaNs and of integers too large: an error that says what to do, or a choice.
//!
//! `cargo run --example 07_nan_and_overflow`

use warpfold::{Error, Nan, Overflow, Result, reduce};

/// The defaults, and their opposites.
pub fn main() -> Result<()> {
    // Integers: checked on the mathematical result, so that the way there does not matter.
    assert_eq!(warpfold::sum(&[i64::MAX, 1, -1])?, i64::MAX);
    let x = [i64::MAX, 1];
    let error = warpfold::sum(&x).expect_err("2^63 does not fit");
    println!("{error}");
    assert!(matches!(error, Error::Overflow { .. }));
    assert_eq!(reduce(&x).sum_wide()?, 1 << 63);
    assert_eq!(reduce(&x).sum_as::<f64>()?, 2f64.powi(63));
    assert_eq!(reduce(&x).overflow(Overflow::Wrap).sum()?, i64::MIN);

    // Floats: an overflow of the result is an infinity, one on the way is nothing.
    assert_eq!(warpfold::sum(&[f64::MAX, f64::MAX]), f64::INFINITY);
    assert_eq!(warpfold::sum(&[f64::MAX, f64::MAX, -f64::MAX]), f64::MAX);

    // NaN: it propagates, or it is not there.
    let x = [f64::NAN, 3.0, 1.0];
    assert!(warpfold::sum(&x).is_nan());
    assert_eq!(reduce(&x).argmin()?, 0);
    assert_eq!(reduce(&x).nan(Nan::Ignore).argmin()?, 2);
    let error = reduce(&x[..1]).nan(Nan::Ignore).mean().expect_err("nothing is left");
    println!("{error}");
    assert_eq!(error, Error::Empty { op: warpfold::Op::Mean, ignored: true });
    Ok(())
}
