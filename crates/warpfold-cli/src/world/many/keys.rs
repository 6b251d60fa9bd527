//! Keys: every rank folds its elements by key, and partials of all are merged by key.

use std::borrow::Cow;
use std::collections::HashMap;

use warpfold::partial::Finish;
use warpfold::segment::Bounds;
use warpfold::{AnyPartial, At, Column, Element, Key, Op, group_by, group_dense};
use warpfold_dist::{Agreement, Comm, Way, all_merge_keyed, share};
use warpfold_lab::machine::available_memory;

use super::gathered::{Filled, Slab};
use super::{Columns, Folded, Inputs, Made, Merged, flatten, folded, is_whole, read_one, segments};
use crate::Failure;
use crate::args::Reduction;
use crate::input::Whole;
use crate::many::{self, with_key};
use crate::table::Labels;

/// Runs of equal keys are segments.
pub(super) fn fold_runs<T: Element>(
    asked: &Reduction,
    comm: &dyn Comm,
    whole: &Whole,
    keys: &Whole,
) -> Result<Folded, Failure> {
    let x = whole.elements::<T>()?;
    with_key!(keys, K, keys => {
        check_lengths(keys.len(), x.len())?;
        let mut offsets: Vec<u64> = Vec::new();
        offsets.extend((0..keys.len()).filter(|&k| k == 0 || keys[k] != keys[k - 1]).map(|k| k as u64));
        let found: Vec<K> = offsets.iter().map(|&first| keys[first as usize]).collect();
        offsets.push(keys.len() as u64);
        let bounds = Bounds::Offsets64(Cow::Owned(offsets));
        let column = Column::of(found);
        let name = |run: usize| At::Group(column.get(run).to_string());
        let made = segments::fold_bounds::<T>(asked, comm, x, &bounds, &name)?;
        let outputs = bounds.count() as usize;
        Ok(folded(Labels::Keys(column.into()), outputs, x.len() as u64, made))
    })
}

fn check_lengths(keys: usize, elements: usize) -> Result<(), Failure> {
    // The library's own words.
    Ok(warpfold::group::check_lengths(keys, elements)?)
}

pub(super) fn fold<T: Element>(
    asked: &Reduction,
    comm: &dyn Comm,
    whole: &Whole,
    keys: &Whole,
) -> Result<Folded, Failure> {
    let x = whole.elements::<T>()?;
    with_key!(keys, K, keys => {
        check_lengths(keys.len(), x.len())?;
        fold_keys::<K, T>(asked, comm, keys, x)
    })
}

fn fold_keys<K: Key, T: Element>(
    asked: &Reduction,
    comm: &dyn Comm,
    keys: &[K],
    x: &[T],
) -> Result<Folded, Failure> {
    let (op, policy, n) = (asked.op(), asked.policy(), x.len() as u64);
    warpfold::Stream::<T>::new(op, policy)?;
    let mine = share(n, 1, comm.rank(), comm.size());
    let mut mine = mine.start as usize..mine.end as usize;
    let is_whole = is_whole(op, T::DTYPE);
    if is_whole {
        // A key's elements may lie anywhere: rank 0 takes all of them.
        mine = if comm.rank() == 0 { 0..x.len() } else { 0..0 };
    }
    let (own_keys, own) = (&keys[mine.clone()], &x[mine.clone()]);
    if let Some(groups) = asked.parts.groups {
        let partial = AnyPartial::empty(op, T::DTYPE).to_bytes().len() as u64;
        many::fits(groups.saturating_mul(1 + partial / 24), available_memory())?;
        // All keys, so that one that is no number of a group is named as in one process.
        let _ = group_dense(keys, groups, x)?;
        let many = group_dense(own_keys, groups, own)?.policy(policy);
        let labels = Labels::Numbers;
        let outputs = groups as usize;
        if is_whole {
            let own = if comm.rank() == 0 { outputs } else { 0 };
            let columns = many.columns(op, asked.finish()?)?;
            let read = |column: &Column| (0..own).map(|at| column.get(at)).collect();
            let columns = columns.iter().map(|(name, column)| (*name, read(column))).collect();
            let slab = Slab::run(outputs, 0, own);
            let made = Made::Results { slab, columns, cut: Vec::new() };
            return Ok(folded(labels, outputs, n, made));
        }
        let before = before(op, &keys[..mine.start]);
        let shift = |(group, partial): (usize, warpfold::Partial<T>)| {
            let key = K::from_id(group as u64);
            let before = key.and_then(|key| before.get(&key)).copied().unwrap_or(0);
            partial.untyped().reindexed(&|index| index + before)
        };
        let partials = many.partials(op)?.into_iter().enumerate().map(shift).collect();
        return Ok(folded(labels, outputs, n, Made::Partials(partials)));
    }
    let groups = group_by(own_keys, own)?.policy(policy);
    let found = groups.keys();
    let before = before(op, &keys[..mine.start]);
    let shift = |(key, partial): (&K, warpfold::Partial<T>)| {
        let before = before.get(key).copied().unwrap_or(0);
        partial.untyped().reindexed(&|index| index + before)
    };
    let partials = groups.partials(op)?.values;
    let partials = found.iter().zip(partials).map(shift).collect();
    let found = found.iter().map(|key| i128::from(key.rank())).collect();
    // How many keys there are, all ranks know once they have met.
    Ok(folded(Labels::Numbers, 0, n, Made::Keyed(found, partials)))
}

/// How many elements of each key lie in other ranks' shares before this one's, where indices count them.
fn before<K: Key>(op: Op, keys: &[K]) -> HashMap<K, u64> {
    let mut before = HashMap::new();
    if matches!(op, Op::ArgMin | Op::ArgMax) {
        keys.iter().for_each(|key| *before.entry(*key).or_default() += 1);
    }
    before
}

/// Results by key, and the keys.
pub(super) fn merge(
    asked: &Reduction,
    comm: &dyn Comm,
    agreement: &Agreement,
    (own, partials): (&[i128], &[AnyPartial]),
    inputs: &Inputs,
    finish: Finish,
) -> Result<(Columns, Option<Labels>), Merged> {
    let (keys, partials) = all_merge_keyed(comm, agreement, Ok((own, partials)), Way::Auto)?;
    let many::Parted::Keys(given) = &inputs.parted else { unreachable!("these are keys") };
    let labels = column(given, &keys).map_err(Merged::Result)?;
    let name = |output: usize| At::Group(labels.get(output).to_string());
    let mut filled = Filled::new(keys.len());
    for (output, partial) in partials.iter().enumerate() {
        read_one(asked, finish, &name, &mut filled, output, partial)?;
    }
    let mut columns = filled.columns();
    if columns.is_empty() {
        let names =
            if asked.op() == Op::MinMax { &["min", "max"][..] } else { &[asked.op().name()] };
        columns = names.iter().map(|name| (*name, Column::F64(Vec::new()))).collect();
    }
    flatten(asked, inputs, &mut columns);
    Ok((columns, Some(Labels::Keys(labels.into()))))
}

/// Keys as a column of the type that they were given in, from their places among all numbers.
fn column(given: &Whole, keys: &[i128]) -> Result<Column, Failure> {
    Ok(with_key!(given, K, _keys => {
        Column::of(keys.iter().map(|&key| K::from_rank(key as u64)).collect::<Vec<K>>())
    }))
}
