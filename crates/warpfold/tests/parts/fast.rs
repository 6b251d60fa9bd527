//! Fast sums beside exact ones.

use warpfold::{Accuracy, Complex, Nan, bf16, f16, reduce, reduce_pair};

#[test]
fn close_to_the_exact_sum() {
    for n in [0, 1, 31, 33, 8191, 8193, 300_000] {
        let x: Vec<f32> = (0..n).map(|i| (i as f32 * 0.37).sin() + 0.5).collect();
        let fast = reduce(&x).accuracy(Accuracy::Fast);
        let (sum, exact) = (fast.sum().unwrap(), reduce(&x).sum().unwrap());
        assert!((sum - exact).abs() <= 1e-5 * reduce(&x).l1(), "{n}: {sum} {exact}");
        assert!((fast.l1() - reduce(&x).l1()).abs() <= 1e-5 * fast.l1());
        let dot = reduce_pair(&x, &x).accuracy(Accuracy::Fast).dot().unwrap();
        assert!((dot - reduce_pair(&x, &x).dot().unwrap()).abs() <= 1e-5 * dot);
    }
    let z = vec![Complex::new(1.0f64, -2.0); 9001];
    assert_eq!(reduce(&z).accuracy(Accuracy::Fast).sum().unwrap(), Complex::new(9001.0, -18002.0));
    let h = vec![f16::from_f32(0.5); 70_000];
    assert_eq!(reduce(&h).accuracy(Accuracy::Fast).sum().unwrap(), 35_000.0);
}

#[test]
fn overflow_and_specials_are_those_of_the_exact_sum() {
    let fast = |x: &[f32]| reduce(x).accuracy(Accuracy::Fast).sum().unwrap();
    assert_eq!(fast(&[f32::MAX, f32::MAX, -f32::MAX]), f32::MAX);
    assert_eq!(fast(&[f32::INFINITY, 1.0]), f32::INFINITY);
    assert!(fast(&[f32::INFINITY, f32::NEG_INFINITY]).is_nan());
    let x = [bf16::NAN, bf16::ONE, bf16::ONE];
    let ignoring = reduce(&x).accuracy(Accuracy::Fast).nan(Nan::Ignore);
    assert_eq!(ignoring.mean().unwrap(), 1.0);
    let inf = [f16::NEG_INFINITY];
    assert_eq!(reduce(&inf).accuracy(Accuracy::Fast).l1(), f32::INFINITY);
    assert!(reduce_pair(&inf, &[f16::ZERO]).accuracy(Accuracy::Fast).dot().unwrap().is_nan());
}
