//! What operators find, beside results that are had in another way.

use warpfold::custom::fold;
use warpfold::random::word;

use crate::operators::{Best, Found, LogSumExp, Matrices, MaxPlus, PRIME, Rotations, Welford};

fn numbers(n: usize) -> impl Iterator<Item = u64> {
    (0..n as u64).map(|at| word(1, at) >> 33)
}

#[test]
fn welford_is_near_the_exact_moments() {
    // Integers, whose moments are exact in 128 bits; an offset that one pass over squares would lose.
    let x: Vec<i64> = numbers(150_000).map(|k| 1_000_000_000 + (k % 2001) as i64).collect();
    let n = x.len() as i128;
    let sum: i128 = x.iter().map(|&x| i128::from(x)).sum();
    let squares: i128 = x.iter().map(|&x| i128::from(x) * i128::from(x)).sum();
    let (mean, variance) =
        (sum as f64 / n as f64, (n * squares - sum * sum) as f64 / (n * n) as f64);
    let floats: Vec<f64> = x.iter().map(|&x| x as f64).collect();
    let (found_mean, found_variance) = fold(&floats, Welford).expect("there are some");
    assert!((found_mean / mean - 1.0).abs() < 1e-14, "{found_mean} {mean}");
    assert!((found_variance / variance - 1.0).abs() < 1e-10, "{found_variance} {variance}");
}

#[test]
fn matrices_are_multiplied_in_order() {
    let x: Vec<[[u64; 2]; 2]> =
        numbers(100_003).map(|k| [[k % PRIME, 1], [k % 17, (k / 3) % PRIME]]).collect();
    let mut expected = [[1, 0], [0, 1]];
    for m in &x {
        let mut next = [[0; 2]; 2];
        for (i, row) in next.iter_mut().enumerate() {
            for (j, cell) in row.iter_mut().enumerate() {
                *cell = (0..2).map(|k| expected[i][k] * m[k][j] % PRIME).sum::<u64>() % PRIME;
            }
        }
        expected = next;
    }
    assert_eq!(fold(&x, Matrices), Some(expected));
}

#[test]
fn the_largest_sum_of_consecutive_elements() {
    for n in [1, 2, 31, 33, 1500, 70_001] {
        let x: Vec<i64> = numbers(n).map(|k| (k % 2001) as i64 - 1003).collect();
        // Kadane: the best sum that ends here.
        let mut ends_here = i64::MIN / 2;
        let mut best = i64::MIN;
        for &x in &x {
            ends_here = x.max(ends_here + x);
            best = best.max(ends_here);
        }
        assert_eq!(fold(&x, MaxPlus), Some(best), "{n}");
    }
}

#[test]
fn quaternions_with_whole_parts_are_exact() {
    // The group of ±1, ±i, ±j, ±k by its table: what i, j, k times each is.
    const TABLE: [[(usize, i8); 4]; 4] = [
        [(0, 1), (1, 1), (2, 1), (3, 1)],
        [(1, 1), (0, -1), (3, 1), (2, -1)],
        [(2, 1), (3, -1), (0, -1), (1, 1)],
        [(3, 1), (2, 1), (1, -1), (0, -1)],
    ];
    let (mut unit, mut sign, mut x) = (0, 1i8, Vec::new());
    for k in numbers(50_001) {
        let (next, negative) = ((k % 4) as usize, k % 8 > 3);
        let mut q = [0.0; 4];
        q[next] = if negative { -1.0 } else { 1.0 };
        x.push(q);
        let (product, of_product) = TABLE[unit][next];
        (unit, sign) = (product, sign * of_product * if negative { -1 } else { 1 });
    }
    let mut expected = [0.0; 4];
    expected[unit] = f64::from(sign);
    assert_eq!(fold(&x, Rotations), Some(expected));
}

#[test]
fn the_first_of_the_largest_brings_its_payload() {
    for n in [1usize, 100, 65_537, 200_000] {
        let x: Vec<(i32, u16)> = numbers(n).map(|k| ((k % 50_000) as i32, k as u16)).collect();
        let largest = x.iter().map(|x| x.0).max().expect("there are some");
        let index = x.iter().position(|x| x.0 == largest).expect("it is there");
        let expected = Found { key: largest, index: index as u64, payload: x[index].1 };
        assert_eq!(fold(&x, Best), Some(expected));
    }
}

#[test]
fn running_logarithms_are_near_the_exact_sum_of_powers() {
    let x: Vec<f64> = numbers(100_000).map(|k| (k % 100_000) as f64 / 500.0 - 900.0).collect();
    let largest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = x.iter().map(|x| (x - largest).exp()).collect();
    let expected = largest + warpfold::sum(&powers).ln();
    let found = fold(&x, LogSumExp).expect("there are some");
    assert!((found / expected - 1.0).abs() < 1e-13, "{found} {expected}");
}
