//! Random arrays in random launches, CPU bits against GPU bits, on the host and left on the device: a thousand of them in every run, and
//! `WARPFOLD_SOAK_ARRAYS` (100,000 otherwise) where that is asked for.

use crate::launches::mismatches;

const LONGEST: usize = 1 << 16;

#[test]
fn a_thousand_launches_of_any_shape() {
    let Some(gpu) = crate::gpu() else { return };
    assert_eq!(mismatches(&gpu, 1000, LONGEST, 1), 0);
}

#[test]
#[ignore = "a minute of full load; bench/cuda/run.sh soak runs it"]
fn soak_random_arrays() {
    let Some(gpu) = crate::gpu() else { return };
    let requested = std::env::var("WARPFOLD_SOAK_ARRAYS").ok().and_then(|s| s.parse().ok());
    let arrays = requested.unwrap_or(100_000);
    let wrong = mismatches(&gpu, arrays, LONGEST, 77);
    eprintln!("{arrays} random arrays, each in a launch of its own shape: {wrong} mismatches");
    assert_eq!(wrong, 0);
}
