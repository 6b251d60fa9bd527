//! Windows whose every bit is used.

use warpfold::{Dot, Moments};

/// Products that use every bit at the window's lower end, and then their negatives: what is left must be nothing.
#[test]
fn leftovers_of_products_stay_exact() {
    let (a, b) = (1.5 + f64::EPSILON * 24691.0, 1.5001 + f64::EPSILON * 11.0);
    let large = 2f64.powi(63);
    let mut x = vec![a; 8192];
    let mut y = vec![b; 8192];
    (x[0], y[0]) = (large, 1.0);
    x.push(-large);
    y.push(1.0);
    for j in 0..13 {
        x.push(-a * 2f64.powi(j));
        y.push(b);
    }
    let mut dot = Dot::<f64>::new();
    dot.extend(&x, &y).unwrap();
    assert_eq!(dot.round(), 0.0);
}
/// Squares that use every bit at the window's lower end.
#[test]
fn leftovers_of_squares_stay_exact() {
    let mut x = vec![1.0 + f64::EPSILON * 12_582_913.0; 8192];
    for top in 24..34 {
        x[0] = 2f64.powi(top);
        let (mut bulk, mut single) = (Moments::new(), Moments::new());
        bulk.extend(&x);
        x.iter().for_each(|&x| single.add(x));
        assert_eq!(bulk, single, "{top}");
    }
}
