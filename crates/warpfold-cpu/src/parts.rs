//! From what a caller states of an array's parts to [`Parts`] that are checked, with threads.

use std::borrow::Cow;

use warpfold_num::{Policy, Result};
use warpfold_plan::group::{Key, check_lengths};
use warpfold_plan::plan::KeysKind;
use warpfold_plan::segment::{Bounds, Segments};
use warpfold_plan::{Grouping, Names, Parts};

use crate::keys::{Dense, Given, runs};
use crate::threads::find;

/// Threads that a policy allows here.
pub(crate) fn allowed(policy: Policy) -> usize {
    let there = crate::facts().threads;
    policy.threads.unwrap_or(there).clamp(1, there)
}

/// The segments of an array of `n` elements.
///
/// # Errors
/// [`Error::Segments`](crate::Error::Segments): these are no segments of the array.
pub fn segments<'a>(segments: Segments<'a>, n: u64, policy: Policy) -> Result<Parts<'a>> {
    let threads = allowed(policy);
    let bounds = segments.check_with(n, &|chunks, look| find(threads, 0..chunks, look))?;
    Ok(Parts::Segments(bounds, Names::Segments))
}

/// The runs of equal keys of `n` elements, and the key of each.
///
/// # Errors
/// [`Error::Keys`](crate::Error::Keys): there is not one key for each element.
pub fn runs_by_key<K: Key>(keys: &[K], n: usize, policy: Policy) -> Result<Parts<'static>> {
    check_lengths(keys.len(), n)?;
    let (offsets, keys) = runs(keys, allowed(policy));
    let names = Names::Keys(K::column(keys));
    Ok(Parts::Segments(Bounds::Offsets64(Cow::Owned(offsets)), names))
}

/// The groups of equal keys of `n` elements, keys ascending.
///
/// # Errors
/// [`Error::Keys`](crate::Error::Keys): there is not one key for each element, or more than 2^32 different ones.
pub fn group_by<K: Key>(keys: &[K], n: usize, policy: Policy) -> Result<Parts<'static>> {
    check_lengths(keys.len(), n)?;
    let (numbers, keys) = Given::number(keys, allowed(policy))?;
    let (groups, kind) = (keys.len() as u64, KeysKind::Numbered);
    let names = Names::Keys(K::column(keys));
    // SAFETY: `Given` has a number for each key, that of one of the keys found, and does not change.
    let grouping = unsafe { Grouping::new(Box::new(numbers), n as u64, groups, kind) };
    Ok(Parts::Groups(grouping, names))
}

/// The groups of `n` elements by keys that are numbers of groups.
///
/// # Errors
/// [`Error::Keys`](crate::Error::Keys): there is not one key for each element, or one is not below `groups`.
pub fn group_dense<K: Key>(keys: &[K], groups: u64, n: usize, policy: Policy) -> Result<Parts<'_>> {
    check_lengths(keys.len(), n)?;
    let numbers = Box::new(Dense::check(keys, groups, allowed(policy))?);
    // SAFETY: `Dense` has looked at each key, and borrows them.
    let grouping = unsafe { Grouping::new(numbers, n as u64, groups, KeysKind::Dense) };
    Ok(Parts::Groups(grouping, Names::Groups))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use warpfold_num::{Column, Op};
    use warpfold_plan::{HostArray, Request};

    use super::*;
    use crate::threads::SHARED;

    #[test]
    fn a_policy_of_one_thread_is_kept_from_the_keys_to_the_results() {
        const N: u32 = 200_003;
        let x: Vec<u32> = (0..N).collect();
        let keys = |key: fn(u32) -> u32| -> Vec<u32> { (0..N).map(key).collect() };
        let close = keys(|k| k.wrapping_mul(2_654_435_761) % 97);
        let scattered = keys(|k| k.wrapping_mul(2_654_435_761) % 9973 * 430_000);
        let ascending = keys(|k| k / 1000);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().expect("threads start");
        for threads in [1, 4] {
            let policy = Policy { threads: Some(threads), ..Policy::default() };
            let n = x.len();
            type Make<'a> = &'a (dyn Fn() -> Result<Parts<'a>> + Sync);
            let parts: [(&str, Make<'_>); 4] = [
                ("table", &|| group_by(&close, n, policy)),
                ("hash", &|| group_by(&scattered, n, policy)),
                ("dense", &|| group_dense(&close, 97, n, policy)),
                ("runs", &|| runs_by_key(&ascending, n, policy)),
            ];
            for (name, parts) in parts {
                let (sums, shared) = pool.install(|| {
                    let before = SHARED.get();
                    let parts = Arc::new(parts().expect("these are keys"));
                    let request =
                        Request::new(Op::Sum, HostArray::of(&x)).policy(policy).parts(parts);
                    let sums =
                        crate::columns(&request, Default::default()).expect("no sum is too large");
                    (sums, SHARED.get() - before)
                });
                let [(_, Column::U64(sums))] = &sums[..] else { panic!("{sums:?}") };
                assert_eq!(sums.iter().sum::<u64>(), u64::from(N) * u64::from(N - 1) / 2, "{name}");
                assert_eq!(shared > 0, threads > 1, "{name} shared its work {shared} times");
            }
        }
    }
}
