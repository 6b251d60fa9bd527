//! Random numbers from the outside.

use warpfold::DType;

use crate::program::run;

#[test]
fn the_same_seed_gives_the_same_numbers_and_another_others() {
    for &dtype in DType::ALL {
        let args = ["sum", "--random", "3e5", "--overflow", "wrap", "--dtype", dtype.name()];
        let value = |more: &[&str]| run(args.iter().chain(more)).value().to_string();
        let base = value(&[]);
        assert_eq!(value(&["--seed", "0", "--threads", "1"]), base, "{dtype}");
        assert_eq!(value(&["--threads", "3", "--dist", "uniform"]), base, "{dtype}");
        assert_ne!(value(&["--seed", "1"]), base, "{dtype}");
    }
}

#[test]
fn distributions_for_floats_only() {
    for dist in ["normal", "loguniform"] {
        for &dtype in DType::ALL {
            let found = run(["sum", "--random", "1000", "--dist", dist, "--dtype", dtype.name()]);
            match dtype.is_float() {
                true => assert!(!found.value().is_empty()),
                false => found.fails(2, &["--dist", dtype.name()]),
            }
        }
    }
    let mean: f64 = run(["mean", "--random", "1e5"]).value().parse().unwrap();
    assert!((mean - 0.5).abs() < 0.01);
    let spread: Vec<f64> =
        run(["minmax", "--random", "1e5", "--dist", "loguniform", "--dtype", "f64"])
            .value()
            .split(' ')
            .map(|number| number.parse().unwrap())
            .collect();
    assert!(spread[0] < -1e300 && spread[1] > 1e300);
}

#[test]
fn dot_takes_two_independent_arrays() {
    let dot: f64 = run(["dot", "--random", "1e5", "--dtype", "f64"]).value().parse().unwrap();
    // The mean product of two independent uniform numbers is 1/4; of a number with itself it would be 1/3.
    assert!((dot / 1e5 - 0.25).abs() < 0.01, "{dot}");
}

#[test]
fn nothing_of_nothing() {
    assert_eq!(run(["sum", "--random", "0"]).value(), "0.0");
    run(["max", "--random", "0"]).fails(1, &["empty"]);
    run(["sum", "--random", "18446744073709551615"]).fails(2, &["overflow"]);
}
