//! An operator for each key: the elements of a key stand one behind the other, in their order, before they are folded.

use warpfold_engine::{self as engine, Parts};
use warpfold_plan::group::for_each;

use super::{Operator, laws, tree};
use crate::group::{Groups, Key};
use crate::{Policy, Result, Segments};

/// Folds the elements of each key by themselves, in their order; indices count from the key's first element. The keys ascend.
///
/// ```
/// use warpfold::custom::{Operator, fold_by_key};
///
/// /// How far an account was below zero at worst.
/// #[derive(Debug, Clone, Copy, PartialEq)]
/// struct Lowest;
///
/// impl Operator for Lowest {
///     type Element = i64;
///     // The sum, and the least sum of those that begin it.
///     type State = (i64, i64);
///     type Output = i64;
///
///     fn lift(&self, x: i64, _: u64) -> (i64, i64) {
///         (x, x)
///     }
///     fn merge(&self, a: (i64, i64), b: (i64, i64)) -> (i64, i64) {
///         (a.0 + b.0, a.1.min(a.0 + b.1))
///     }
///     fn finish(&self, state: (i64, i64)) -> i64 {
///         state.1.min(0)
///     }
/// }
///
/// let accounts = ["b", "a", "b", "b", "a"].map(|name| u64::from(name.as_bytes()[0]));
/// let lowest = fold_by_key(&accounts, &[10, -5, -40, 100, 20], Lowest)?;
/// assert_eq!((lowest.keys, lowest.values), (vec![97, 98], vec![-5, -30]));
/// # Ok::<(), warpfold::Error>(())
/// ```
///
/// # Errors
/// [`Error::Keys`](crate::Error::Keys): there is not one key for each element, or more than 2^32 different ones.
///
/// # Panics
/// In builds with debug assertions, if the operator breaks its law.
pub fn fold_by_key<K: Key, O: Operator>(
    keys: &[K],
    x: &[O::Element],
    operator: O,
) -> Result<Groups<K, O::Output>>
where
    O::Output: Send,
{
    let parts = engine::group_by(keys, x.len(), Policy::default())?;
    let keys = parts.keys().and_then(K::slice).map(<[K]>::to_vec).unwrap_or_default();
    // Every key that is there has an element.
    let values = each(&parts, x, operator)?.into_iter().flatten().collect();
    Ok(Groups { keys, values })
}

/// The same for keys that are numbers of groups, below their count; `None` of a group without elements.
///
/// # Errors
/// [`Error::Keys`](crate::Error::Keys): there is not one key for each element, or one is not below `groups`.
///
/// # Panics
/// As [`fold_by_key`].
pub fn fold_dense<K: Key, O: Operator>(
    keys: &[K],
    groups: u64,
    x: &[O::Element],
    operator: O,
) -> Result<Vec<Option<O::Output>>>
where
    O::Output: Send,
{
    each(&engine::group_dense(keys, groups, x.len(), Policy::default())?, x, operator)
}

/// Folds each group of a grouping.
fn each<O: Operator>(
    parts: &Parts<'_>,
    x: &[O::Element],
    operator: O,
) -> Result<Vec<Option<O::Output>>>
where
    O::Output: Send,
{
    laws::assert(operator, x);
    let Parts::Groups(grouping, _) = parts else { unreachable!("keys make groups") };
    let mut starts = vec![0u64; grouping.groups() as usize + 1];
    for_each(grouping.numbers(), 0..x.len(), |_, group| starts[group + 1] += 1);
    for group in 1..starts.len() {
        starts[group] += starts[group - 1];
    }
    let (mut next, mut sorted) = (starts.clone(), x.to_vec());
    for_each(grouping.numbers(), 0..x.len(), |at, group| {
        sorted[next[group] as usize] = x[at];
        next[group] += 1;
    });
    let bounds = Segments::offsets(&starts).check(sorted.len() as u64)?;
    Ok(tree::segments(&sorted, &bounds, operator))
}
