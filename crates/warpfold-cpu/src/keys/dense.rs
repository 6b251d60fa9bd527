//! Keys that are the numbers of groups by themselves.

use warpfold_plan::group::{Key, Numbered, check_groups, outside};

use crate::Result;
use crate::threads::find;

/// Keys that a thread looks at at a time.
const CHUNK: usize = 1 << 16;

/// Keys that are numbers themselves, all of them checked.
#[derive(Debug, Clone)]
pub struct Dense<'a, K>(&'a [K]);

impl<'a, K: Key> Dense<'a, K> {
    /// Checks that all keys are below `groups`.
    pub fn check(keys: &'a [K], groups: u64, threads: usize) -> Result<Self> {
        check_groups(keys.len(), groups)?;
        let is_outside = |key: &K| key.id().is_none_or(|id| id >= groups);
        let chunks = keys.chunks(CHUNK).enumerate();
        let found =
            find(threads, chunks, |(k, keys)| Some(k * CHUNK + keys.iter().position(is_outside)?));
        match found {
            Some(at) => Err(outside(keys.len(), groups, at, keys[at])),
            None => Ok(Dense(keys)),
        }
    }
}

impl<K: Key> Numbered for Dense<'_, K> {
    fn numbers(&self, first: usize, out: &mut [u32]) {
        for (number, key) in out.iter_mut().zip(&self.0[first..]) {
            *number = key.id().unwrap_or(0) as u32;
        }
    }
}
