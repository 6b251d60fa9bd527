//! The operators that are tried.

use warpfold::custom::{Law, Operator, is_close};

/// Mean and variance in one pass (Welford 1962; joined as Chan, Golub and LeVeque 1979).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Welford;

/// How many, their mean, and the sum of the squares of what they lie from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moments {
    pub(crate) n: f64,
    pub(crate) mean: f64,
    pub(crate) squares: f64,
}

impl Operator for Welford {
    type Element = f64;
    type State = Moments;
    /// Mean and variance.
    type Output = (f64, f64);
    const LAW: Law = Law::Commutative;

    fn lift(&self, x: f64, _: u64) -> Moments {
        Moments { n: 1.0, mean: x, squares: 0.0 }
    }

    fn merge(&self, a: Moments, b: Moments) -> Moments {
        let n = a.n + b.n;
        let delta = b.mean - a.mean;
        let mean = a.mean + delta * (b.n / n);
        Moments { n, mean, squares: a.squares + b.squares + delta * delta * (a.n * b.n / n) }
    }

    fn push(&self, a: Moments, x: f64, _: u64) -> Moments {
        let n = a.n + 1.0;
        let delta = x - a.mean;
        let mean = a.mean + delta / n;
        Moments { n, mean, squares: a.squares + delta * (x - mean) }
    }

    fn finish(&self, all: Moments) -> (f64, f64) {
        (all.mean, all.squares / all.n)
    }

    fn is_same(&self, a: &Moments, b: &Moments) -> bool {
        let scale = a.mean.abs() + (a.squares / a.n).sqrt();
        let is_near = is_close(a.mean, b.mean, scale, 1e-12);
        a.n == b.n && is_near && is_close(a.squares, b.squares, a.n * scale * scale, 1e-12)
    }
}

/// The product of matrices of the numbers modulo a prime.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Matrices;

pub(crate) const PRIME: u64 = 998_244_353;
pub(crate) type Matrix = [[u64; 2]; 2];

impl Operator for Matrices {
    type Element = Matrix;
    type State = Matrix;
    type Output = Matrix;

    fn lift(&self, x: Matrix, _: u64) -> Matrix {
        x
    }

    fn merge(&self, a: Matrix, b: Matrix) -> Matrix {
        let cell = |i: usize, j: usize| (a[i][0] * b[0][j] + a[i][1] * b[1][j]) % PRIME;
        [[cell(0, 0), cell(0, 1)], [cell(1, 0), cell(1, 1)]]
    }

    fn finish(&self, all: Matrix) -> Matrix {
        all
    }
}

/// The largest sum of consecutive elements: in max-plus algebra, a product of matrices, of which four numbers are kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MaxPlus;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spans {
    all: i64,
    from_left: i64,
    from_right: i64,
    anywhere: i64,
}

impl Operator for MaxPlus {
    type Element = i64;
    type State = Spans;
    type Output = i64;

    fn lift(&self, x: i64, _: u64) -> Spans {
        Spans { all: x, from_left: x, from_right: x, anywhere: x }
    }

    fn merge(&self, a: Spans, b: Spans) -> Spans {
        Spans {
            all: a.all + b.all,
            from_left: a.from_left.max(a.all + b.from_left),
            from_right: b.from_right.max(b.all + a.from_right),
            anywhere: a.anywhere.max(b.anywhere).max(a.from_right + b.from_left),
        }
    }

    fn finish(&self, all: Spans) -> i64 {
        all.anywhere
    }
}

/// Rotations one after the other, as quaternions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rotations;

pub(crate) type Quaternion = [f64; 4];

impl Operator for Rotations {
    type Element = Quaternion;
    type State = Quaternion;
    type Output = Quaternion;

    fn lift(&self, x: Quaternion, _: u64) -> Quaternion {
        x
    }

    fn merge(&self, [a, b, c, d]: Quaternion, [e, f, g, h]: Quaternion) -> Quaternion {
        [
            a * e - b * f - c * g - d * h,
            a * f + b * e + c * h - d * g,
            a * g - b * h + c * e + d * f,
            a * h + b * g - c * f + d * e,
        ]
    }

    fn finish(&self, all: Quaternion) -> Quaternion {
        all
    }

    fn is_same(&self, one: &Quaternion, other: &Quaternion) -> bool {
        let size = one.iter().map(|x| x * x).sum::<f64>().sqrt();
        one.iter().zip(other).all(|(x, y)| is_close(*x, *y, size, 1e-14))
    }
}

/// The first element with the largest key, its place, and what it carries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Best;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Found {
    pub(crate) key: i32,
    pub(crate) index: u64,
    pub(crate) payload: u16,
}

impl Operator for Best {
    /// A key and what it carries.
    type Element = (i32, u16);
    type State = Found;
    type Output = Found;

    fn lift(&self, (key, payload): (i32, u16), index: u64) -> Found {
        Found { key, index, payload }
    }

    fn merge(&self, a: Found, b: Found) -> Found {
        if b.key > a.key { b } else { a }
    }

    fn finish(&self, all: Found) -> Found {
        all
    }
}

/// The logarithm of the sum of powers of e, with the largest exponent so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LogSumExp;

impl Operator for LogSumExp {
    type Element = f64;
    /// The largest exponent, and the sum of the powers of e divided by that of it.
    type State = (f64, f64);
    type Output = f64;
    const LAW: Law = Law::Commutative;

    fn lift(&self, x: f64, _: u64) -> (f64, f64) {
        (x, 1.0)
    }

    fn merge(&self, (m, s): (f64, f64), (n, t): (f64, f64)) -> (f64, f64) {
        if m >= n { (m, s + t * (n - m).exp()) } else { (n, s * (m - n).exp() + t) }
    }

    fn finish(&self, (m, s): (f64, f64)) -> f64 {
        m + s.ln()
    }

    fn is_same(&self, one: &(f64, f64), other: &(f64, f64)) -> bool {
        one.0 == other.0 && is_close(one.1, other.1, one.1, 1e-12)
    }
}
