//! What was measured of rungs on GPUs that the model knows: a small table, so that a prediction can stand beside it where no results are.

use warpfold_lab::cuda::report::Temperature;

use super::device::{Device, H200};
use crate::plan::Case;
use crate::rung::Rung;

/// The climbs of `results/h200`, a line a rung.
const H200_CLIMBS: &str = include_str!("measured.txt");

/// Microseconds that a rung took on such a device over such an array, if that was measured.
pub fn measured(device: &Device, rung: &Rung, case: Case, temperature: Temperature) -> Option<f64> {
    if device.key != H200.key || temperature != Temperature::Cold {
        return None;
    }
    let Case { op, dtype, n, block } = case;
    let start = format!("{op} {dtype} {n} {block} {} ", rung.name);
    H200_CLIMBS.lines().find_map(|line| line.strip_prefix(&start)?.parse().ok())
}
