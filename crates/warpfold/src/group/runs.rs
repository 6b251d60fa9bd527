//! Runs of equal keys, as segments.

use rayon::prelude::*;

use super::Key;
use crate::{Error, Result};

/// Keys that a thread looks at at a time.
const CHUNK: usize = 1 << 16;

/// Where runs of equal keys begin, then the array's end; and the key of each run.
pub(crate) fn runs<K: Key>(keys: &[K]) -> (Vec<u64>, Vec<K>) {
    let chunk = |k: usize| {
        let first = k * CHUNK;
        let last = keys.len().min(first + CHUNK);
        (first..last).filter(|&at| at == 0 || keys[at] != keys[at - 1]).map(|at| at as u64)
    };
    let chunks = keys.len().div_ceil(CHUNK);
    let mut offsets: Vec<u64> = (0..chunks).into_par_iter().flat_map_iter(chunk).collect();
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
