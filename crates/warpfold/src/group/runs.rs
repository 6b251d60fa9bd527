//! Runs of equal keys, as segments.

use super::Key;
use crate::cpu::crew::map;
use crate::{Error, Result};

/// Keys that a thread looks at at a time.
const CHUNK: usize = 1 << 16;

/// Where runs of equal keys begin, then the array's end; and the key of each run.
pub(crate) fn runs<K: Key>(keys: &[K], threads: usize) -> (Vec<u64>, Vec<K>) {
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

/// Whether there is a key for each element.
pub(crate) fn check_lengths(keys: usize, values: usize) -> Result<()> {
    if keys == values {
        return Ok(());
    }
    Err(Error::Keys {
        asked: format!("groups of {values} elements by {keys} keys"),
        obstacle: "there is not one key for each element".into(),
        remedy: "cut the longer one",
    })
}
