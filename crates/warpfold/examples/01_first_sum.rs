//! The main thing: a sum that is right.
//!
//! `cargo run --example 01_first_sum`

/// Sums what floats sum badly.
pub fn main() {
    // Ten tenths are one; adding them in turn gives a little less.
    let tenths = [0.1f64; 10];
    let in_turn: f64 = tenths.iter().sum();
    let exact = warpfold::sum(&tenths);
    println!("ten tenths: {in_turn} by adding in turn, {exact} exactly");
    assert_eq!(in_turn, 0.9999999999999999);
    assert_eq!(exact, 1.0);

    // The small one is not lost, wherever it stands.
    let x = [1e100, 1.0, -1e100];
    println!("1e100 + 1 - 1e100 = {}", warpfold::sum(&x));
    assert_eq!(x.iter().sum::<f64>(), 0.0);
    assert_eq!(warpfold::sum(&x), 1.0);
}
