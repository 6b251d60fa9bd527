//! A small spread beside a large mean: where the textbook formula fails.
//!
//! `cargo run --example 04_variance_of_large_offsets`

use warpfold::{Result, reduce};

/// The variance of four numbers, shifted ever farther from zero.
pub fn main() -> Result<()> {
    for offset in [0.0, 1e8, 1e12, 1e15] {
        let x = [4.0, 7.0, 13.0, 16.0].map(|x| x + offset);
        let n = x.len() as f64;

        let mean_of_squares = x.iter().map(|x| x * x).sum::<f64>() / n;
        let mean = x.iter().sum::<f64>() / n;
        let textbook = (mean_of_squares - mean * mean) * n / (n - 1.0);

        let exact = reduce(&x).var(1)?;
        println!("offset {offset:e}: {exact} exactly, {textbook} by the textbook");
        assert_eq!(exact, 30.0);
        assert!(offset < 1e8 || textbook != 30.0);
    }
    Ok(())
}
