//! Operators that claim too much are caught.

use warpfold::custom::{Law, Operator, check, fold};

use crate::operators::{Best, LogSumExp, Matrices, MaxPlus, Rotations, Welford};

/// An operator of integers from two functions.
macro_rules! operator {
    ($name:ident, $law:ident, $merge:expr, $push:expr) => {
        #[derive(Debug, Clone, Copy, PartialEq)]
        struct $name;

        impl Operator for $name {
            type Element = i64;
            type State = i64;
            type Output = i64;
            const LAW: Law = Law::$law;

            fn lift(&self, x: i64, _: u64) -> i64 {
                x
            }
            fn merge(&self, a: i64, b: i64) -> i64 {
                let merge: fn(i64, i64) -> i64 = $merge;
                merge(a, b)
            }
            fn push(&self, a: i64, x: i64, _: u64) -> i64 {
                let push: fn(i64, i64) -> i64 = $push;
                push(a, x)
            }
            fn finish(&self, all: i64) -> i64 {
                all
            }
        }
    };
}
operator!(Difference, Associative, |a, b| a - b, |a, b| a - b);
operator!(Last, Commutative, |_, b| b, |_, b| b);
operator!(Other, Associative, |a, b| a.max(b), |a, b| a.min(b));
operator!(Sum, Commutative, |a, b| a + b, |a, b| a + b);

const X: [i64; 9] = [3, 1, 4, 1, 5, 9, 2, 6, 5];

#[test]
fn false_claims_are_named() {
    let said = |broken: Result<(), warpfold::custom::Broken>| broken.unwrap_err().to_string();
    assert!(
        said(check(Difference, &X))
            .starts_with("Difference is said to be associative, and is not: (a·b)·c is ")
    );
    assert!(
        said(check(Last, &X)).starts_with("Last is said to be commutative, and is not: a·b is ")
    );
    assert!(
        said(check(Other, &X))
            .starts_with("Other is said to be one whose push is a merge, and is not: ")
    );
    assert_eq!(check(Sum, &X), Ok(()));
    assert_eq!(check(Difference, &[]), Ok(()), "of nothing, everything is true");
}

#[test]
#[cfg(debug_assertions)]
#[should_panic = "Difference is said to be associative, and is not"]
fn folds_of_debug_builds_are_checked() {
    fold(&X, Difference);
}

#[test]
fn true_claims_pass() {
    let floats: Vec<f64> = (0..1000).map(|k| (f64::from(k) * 0.7).sin() * 1e6).collect();
    assert_eq!(check(Welford, &floats), Ok(()));
    assert_eq!(check(LogSumExp, &floats), Ok(()));
    assert_eq!(check(MaxPlus, &X), Ok(()));
    assert_eq!(check(Best, &X.map(|x| (x as i32, x as u16))), Ok(()));
    assert_eq!(check(Matrices, &X.map(|x| [[x as u64, 1], [2, x as u64 + 7]])), Ok(()));
    assert_eq!(check(Rotations, &X.map(|x| [x as f64, 0.5, -0.25, 1.0])), Ok(()));
    assert_eq!(fold(&X, Sum), Some(36));
}
