//! How far a fast result may be from the exact one, by what is known of sums of floats in any order.
//!
//! If no element goes through more than D additions, a sum errs by at most γ(D) · Σ|x|, γ(k) = k·u / (1 - k·u), where u is the unit
//! roundoff of the accumulator (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2). What is done to an element before, or to
//! the sum after, counts as further additions.

use warpfold::{DType, Op, Value};

use crate::sample::Sample;

/// Additions that an element goes through at most, in a grid of so many threads: those of its thread, and those by which warps, blocks and
/// the grid join what they have.
pub(crate) fn additions(n: usize, grid: u32, block: u32) -> u64 {
    /// Accumulators and vectors of a thread that are joined at its end, and the steps of two warps' trees.
    const JOINS: u64 = 64 + 2 * 5;
    (n as u64).div_ceil(u64::from(grid) * u64::from(block)) + u64::from(grid.div_ceil(32)) + JOINS
}

/// The real numbers that floats and complex numbers are made of.
fn numbers<T: Sample>(x: &[T]) -> impl Iterator<Item = f64> {
    T::as_parts(x).iter().map(|part| {
        let value: Value = (*part).into();
        value.as_f64().expect("floats have values")
    })
}

/// The bound of a reduction of these elements, NaNs and infinities apart.
pub(crate) fn of<T: Sample>(op: Op, x: &[T], additions: u64) -> f64 {
    let parts: Vec<f64> = numbers(x).filter(|x| x.is_finite()).collect();
    let n = (parts.len() / T::PARTS).max(1);
    let sum = parts.iter().map(|x| x.abs()).sum();
    let squares = parts.iter().map(|x| x * x).sum();
    if op != Op::Std {
        return sums::<T>(op, [sum, squares], n as u64, additions);
    }
    // The roots of two numbers differ by at most their difference over the greater root, and by at most its root.
    let variance = sums::<T>(Op::Var, [sum, squares], n as u64, additions);
    let mean = |k: usize| parts.iter().skip(k).step_by(T::PARTS).sum::<f64>() / n as f64;
    let means: Vec<f64> = (0..T::PARTS).map(mean).collect();
    let apart = parts.iter().enumerate().map(|(k, x)| (x - means[k % T::PARTS]).powi(2));
    let deviation = (apart.sum::<f64>() / n as f64).sqrt();
    variance.sqrt().min(variance / deviation)
}

/// The bound of each of several outputs of so many elements of an array.
pub(crate) fn of_each<T: Sample>(op: Op, x: &[T], n: u64) -> f64 {
    let finite = numbers(x).map(f64::abs).filter(|x| x.is_finite());
    let largest = T::PARTS as f64 * finite.fold(0.0, f64::max);
    sums::<T>(op, [largest, largest * largest].map(|x| x * n as f64), n, n)
}

/// The sum of the magnitudes of all real products that a dot adds up, infinite ones apart.
pub(crate) fn products<T: Sample>(x: &[T], y: &[T]) -> f64 {
    let [x, y] = [x, y].map(|x| numbers(x).map(f64::abs).collect::<Vec<f64>>());
    let pairs = x.chunks(T::PARTS).zip(y.chunks(T::PARTS));
    let sums = pairs.map(|(x, y)| x.iter().sum::<f64>() * y.iter().sum::<f64>());
    sums.filter(|x| x.is_finite()).sum()
}

/// The bound of a reduction from the sums of magnitudes and of their squares; of a dot, of its products in their place.
pub(crate) fn sums<T: Sample>(op: Op, [sum, squares]: [f64; 2], n: u64, additions: u64) -> f64 {
    let (roundoff, least) = match T::DTYPE {
        DType::F64 | DType::Complex128 => (2f64.powi(-53), 2f64.powi(-1074)),
        _ => (2f64.powi(-24), 2f64.powi(-149)),
    };
    let n = n.max(1) as f64;
    // One more for the rounding of the exact result that it is compared with.
    let gamma = |more: u64| {
        let product = (additions + more + 1) as f64 * roundoff;
        if product < 0.5 { product / (1.0 - product) } else { f64::INFINITY }
    };
    // A complex magnitude is two squares, a sum and a root; a deviation is a difference, squared.
    let bound = match op {
        Op::Sum => gamma(0) * sum,
        Op::Mean => gamma(1) * sum / n,
        Op::L1 => gamma(4) * sum,
        Op::Sumsq => gamma(1) * squares,
        Op::L2 => gamma(3) * squares.sqrt(),
        Op::Dot => gamma(2) * squares,
        Op::Var => gamma(8) * 2.0 * squares / n,
        other => panic!("{other} is rounded once, or not at all"),
    };
    // Products that fall below the least float are lost, each by at most half of it.
    bound + n * least
}
