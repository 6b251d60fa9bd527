//! Extremes and where they stand, with the order of IEEE 754-2019.
//!
//! `cargo run --example 09_argmax_and_minmax`

use warpfold::{Result, reduce};

/// Ties, zeros of either sign, and infinities.
pub fn main() -> Result<()> {
    let scores = [3u8, 9, 4, 9, 1];
    let winner = reduce(&scores).argmax()?;
    println!("the first best score stands at {winner}");
    assert_eq!(winner, 1);
    assert_eq!(reduce(&scores).minmax()?, (1, 9));

    // -0 is below +0, so that the result does not depend on the order.
    let zeros = [0.0f32, -0.0];
    let (low, high) = reduce(&zeros).minmax()?;
    println!("from {low:?} to {high:?}");
    assert!(low.is_sign_negative() && high.is_sign_positive());
    assert_eq!(reduce(&zeros).argmin()?, 1);

    assert_eq!(reduce(&[1.0, f64::NEG_INFINITY]).min()?, f64::NEG_INFINITY);
    println!("{}", reduce(&[0i32; 0]).max().expect_err("nothing has no maximum"));
    Ok(())
}
