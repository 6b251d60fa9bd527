//! The same bits in any order, on any number of threads.
//!
//! `cargo run --example 03_reproducible`

use warpfold::reduce;

/// Sums two million numbers forwards, backwards, sorted, and on one to eight threads.
pub fn main() {
    // A logistic map: irregular numbers, their signs in turn.
    let mut state = 0.3f64;
    let mut x: Vec<f32> = (0..2_000_000)
        .map(|k| {
            state = 3.99 * state * (1.0 - state);
            (state / (1.0 - state)) as f32 * if k % 2 == 0 { 1e6 } else { -1e6 }
        })
        .collect();

    let sum = warpfold::sum(&x);
    let in_turn: f32 = x.iter().sum();
    for threads in 1..=8 {
        let again = reduce(&x).threads(threads).sum().expect("a float sum cannot fail");
        assert_eq!(again.to_bits(), sum.to_bits());
    }
    x.reverse();
    assert_eq!(warpfold::sum(&x).to_bits(), sum.to_bits());
    x.sort_by(f32::total_cmp);
    assert_eq!(warpfold::sum(&x).to_bits(), sum.to_bits());

    let sorted_in_turn: f32 = x.iter().sum();
    println!("exact: {sum}, always; in turn: {in_turn}, and {sorted_in_turn} once sorted");
    assert_ne!(in_turn, sorted_in_turn);
}
