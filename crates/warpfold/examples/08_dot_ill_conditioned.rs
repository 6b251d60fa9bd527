//! A dot product whose terms cancel to the last bits, and whose products leave the range of the format.
//!
//! `cargo run --example 08_dot_ill_conditioned`

use warpfold::{Dot, Result};

/// Exact products, exactly summed, rounded once.
pub fn main() -> Result<()> {
    // (a + 1)(a - 1) is a² - 1: an odd number above 2^53, where f64 knows only even ones.
    let x = [94_906_267.0, 94_906_266.0, -1.0];
    let y = [94_906_265.0, -94_906_266.0, -1.0];
    let mut dot = Dot::<f64>::new();
    dot.extend(&x, &y)?;
    let plain: f64 = x.iter().zip(&y).map(|(x, y)| x * y).sum();
    println!("{} exactly, {plain} by multiplying and adding", dot.round());
    assert_eq!(dot.round(), 0.0);

    // 1e600 is no f64, and it need not be: it cancels.
    let mut dot = Dot::<f64>::new();
    dot.extend(&[1e300, 1e300, 3.0], &[1e300, -1e300, 0.5])?;
    println!("1e600 - 1e600 + 1.5 = {}", dot.round());
    assert_eq!(dot.round(), 1.5);
    Ok(())
}
