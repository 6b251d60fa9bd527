//! Runs of equal keys, as segments.

use crate::threads::map;
use warpfold_plan::group::Key;

/// Keys that a thread looks at at a time.
const CHUNK: usize = 1 << 16;

/// Where runs of equal keys begin, then the array's end; and the key of each run.
pub fn runs<K: Key>(keys: &[K], threads: usize) -> (Vec<u64>, Vec<K>) {
    let chunk = |k: usize| -> Vec<u64> {
        let first = k * CHUNK;
        let last = keys.len().min(first + CHUNK);
        let begins = |&at: &usize| at == 0 || keys[at] != keys[at - 1];
        (first..last).filter(begins).map(|at| at as u64).collect()
    };
    let mut offsets = map(threads, 0..keys.len().div_ceil(CHUNK), chunk).concat();
    let found = offsets.iter().map(|&at| keys[at as usize]).collect();
    offsets.push(keys.len() as u64);
    (offsets, found)
}
