//! Keys: every rank folds its elements by key, and partials of all are merged by key.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use warpfold::partial::Finish;
use warpfold::segment::Bounds;
use warpfold::{AnyPartial, At, Column, Key, Op};
use warpfold_dist::{Agreement, Comm, Way, all_merge_keyed, share};
use warpfold_engine::{self as engine, Parts, Request};
use warpfold_lab::machine::available_memory;

use super::gathered::Filled;
use super::{
    Columns, Folded, Inputs, Made, Merged, flatten, folded, is_whole, listed, read_one, segments,
};
use crate::Failure;
use crate::args::Reduction;
use crate::batched::{self, with_key};
use crate::device::Executor;
use crate::input::Whole;
use crate::table::Labels;

/// Runs of equal keys are segments.
pub(super) fn fold_runs(
    args: &Reduction,
    comm: &dyn Comm,
    executor: &Executor,
    whole: &Whole,
    keys: &Whole,
) -> Result<Folded, Failure> {
    let x = whole.array()?;
    let (offsets, column) = with_key!(keys, K, keys => {
        warpfold::group::check_lengths(keys.len(), x.len())?;
        let mut offsets: Vec<u64> = Vec::new();
        offsets.extend((0..keys.len()).filter(|&k| k == 0 || keys[k] != keys[k - 1]).map(|k| k as u64));
        let found: Vec<K> = offsets.iter().map(|&first| keys[first as usize]).collect();
        offsets.push(keys.len() as u64);
        (offsets, Column::of(found))
    });
    let bounds = Bounds::Offsets64(Cow::Owned(offsets));
    let name = |run: usize| At::Group(column.get(run).to_string());
    let made = segments::fold_bounds(args, comm, executor, x, &bounds, &name)?;
    let outputs = bounds.count() as usize;
    Ok(folded(Labels::key(column), outputs, x.len() as u64, made))
}

/// What a rank's share of the keys says.
struct Groups<'a> {
    parts: Parts<'a>,
    /// The keys of the groups, as their places among all numbers.
    ranks: Vec<u64>,
    /// How many elements of each group other ranks have before this one's, where indices count them.
    before: Vec<u64>,
}

impl<'a> Groups<'a> {
    fn of<K: Key>(args: &Reduction, keys: &'a [K], mine: Range<usize>) -> Result<Self, Failure> {
        let (own, policy) = (&keys[mine.clone()], args.policy());
        let mut before: HashMap<K, u64> = HashMap::new();
        if matches!(args.op(), Op::ArgMin | Op::ArgMax) {
            keys[..mine.start].iter().for_each(|key| *before.entry(*key).or_default() += 1);
        }
        let before = |key: &K| before.get(key).copied().unwrap_or(0);
        let Some(groups) = args.parts.groups else {
            let parts = engine::group_by(own, own.len(), policy)?;
            let found = parts.keys().and_then(Column::slice::<K>).unwrap_or_default();
            let ranks = found.iter().map(|key| key.rank()).collect();
            let before = found.iter().map(before).collect();
            return Ok(Groups { parts, ranks, before });
        };
        let parts = engine::group_dense(own, groups, own.len(), policy)?;
        let before = |group| K::from_id(group).map_or(0, |key| before(&key));
        Ok(Groups { parts, ranks: Vec::new(), before: (0..groups).map(before).collect() })
    }
}

pub(super) fn fold(
    args: &Reduction,
    comm: &dyn Comm,
    whole: &Whole,
    keys: &Whole,
) -> Result<Folded, Failure> {
    let x = whole.array()?;
    let (op, policy, n) = (args.op(), args.policy(), x.len() as u64);
    // In the order of one process: keys, what is asked of them, memory.
    with_key!(keys, keys => {
        warpfold::group::check_lengths(keys.len(), x.len())?;
        if let Some(groups) = args.parts.groups {
            engine::group_dense(keys, groups, keys.len(), policy)?;
        }
    });
    engine::Stream::new(op, x.dtype(), policy)?;
    let mine = share(n, 1, comm.rank(), comm.size());
    let mine = mine.start as usize..mine.end as usize;
    if is_whole(op, x.dtype()) {
        return fold_whole(args, comm, whole, keys);
    }
    if let Some(groups) = args.parts.groups {
        let partial = AnyPartial::empty(op, x.dtype()).to_bytes().len() as u64;
        batched::fits(groups.saturating_mul(1 + partial / 24), available_memory())?;
    }
    let Groups { parts, ranks, before } =
        with_key!(keys, keys => Groups::of(args, keys, mine.clone())?);
    let request = Request::new(op, x.part(mine)).parts(Arc::new(parts)).policy(policy);
    let outputs = args.parts.groups.unwrap_or(0) as usize;
    let partials = engine::partials(&request)?.into_iter().zip(before);
    let partials =
        partials.map(|(partial, before)| partial.reindexed(&|index| index + before)).collect();
    let made = match args.parts.groups {
        Some(_) => Made::Partials(partials),
        // How many keys there are, all ranks know once they have met.
        None => Made::Keyed(ranks.into_iter().map(i128::from).collect(), partials),
    };
    Ok(folded(Labels::Numbers, outputs, n, made))
}

/// Each key's elements go to one rank, as they stand in the whole.
fn fold_whole(
    args: &Reduction,
    comm: &dyn Comm,
    whole: &Whole,
    keys: &Whole,
) -> Result<Folded, Failure> {
    let x = whole.array()?;
    let (labels, lists) = with_key!(keys, K, keys => {
        let of: Vec<(K, Vec<usize>)> = match args.parts.groups {
            None => listed::by_key(keys).into_iter().collect(),
            Some(groups) => {
                batched::fits(groups, available_memory())?;
                let mut of = listed::by_key(keys);
                let list = |group| K::from_id(group).and_then(|key| of.remove(&key));
                let lists: Vec<_> = (0..groups).map(list).map(Option::unwrap_or_default).collect();
                return listed::fold(args, comm, x, &lists, Labels::Numbers, &|group| At::Group(group.to_string()));
            }
        };
        let (found, lists): (Vec<K>, Vec<Vec<usize>>) = of.into_iter().unzip();
        (Column::of(found), lists)
    });
    let name = |output: usize| At::Group(labels.get(output).to_string());
    listed::fold(args, comm, x, &lists, Labels::key(labels.clone()), &name)
}

/// Results by key, and the keys.
pub(super) fn merge(
    args: &Reduction,
    comm: &dyn Comm,
    agreement: &Agreement,
    (own, partials): (&[i128], &[AnyPartial]),
    inputs: &Inputs,
    finish: Finish,
) -> Result<(Columns, Option<Labels>), Merged> {
    let (keys, partials) = all_merge_keyed(comm, agreement, Ok((own, partials)), Way::Auto)?;
    let batched::Parted::Keys(given) = &inputs.parted else { unreachable!("these are keys") };
    let labels = column(given, &keys).map_err(Merged::Result)?;
    let name = |output: usize| At::Group(labels.get(output).to_string());
    let mut filled = Filled::new(keys.len());
    for (output, partial) in partials.iter().enumerate() {
        read_one(args, (finish, inputs), &name, &mut filled, output, partial)?;
    }
    flatten(args, inputs, &mut filled);
    Ok((filled.columns()?, Some(Labels::key(labels))))
}

/// Keys as a column of the type that they were given in, from their places among all numbers.
fn column(given: &Whole, keys: &[i128]) -> Result<Column, Failure> {
    Ok(with_key!(given, K, _keys => {
        Column::of(keys.iter().map(|&key| K::from_rank(key as u64)).collect::<Vec<K>>())
    }))
}
