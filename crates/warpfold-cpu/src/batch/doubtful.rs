//! Outputs whose accumulators left doubt about the result: each is folded anew from its elements, exactly.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::into_partial::IntoPartial;
use super::outputs::Out;
use super::{Source, pieces};
use crate::threads::share;
use crate::whole::FoldWhole;
use warpfold_plan::group::{Numbered, for_each};

/// Outputs that a thread takes at a time at most.
const GRAIN: usize = 64;

/// Folds every output that was noted as doubtful; `false`, and none is, where they are more than there may be.
pub(super) fn run<T: FoldWhole, S: IntoPartial<T>>(out: &Out<'_, T, S>) -> bool {
    let outputs = out.doubtful();
    if out.most.is_some_and(|most| outputs.len() as u64 > most) {
        return false;
    }
    if outputs.is_empty() {
        return true;
    }
    match out.batched.source {
        Source::Loops(x, form) if outputs.len() < out.batched.plan.threads => {
            for output in outputs {
                let start = form.locate(output);
                match pieces::contiguous(x, form, start) {
                    Some(run) => out.exact(output, run, out.batched.plan.threads),
                    None => {
                        let all = pieces::together(out.batched, x, form, start);
                        out.partial(output, form.inputs, &all);
                    }
                }
            }
        }
        Source::Loops(x, form) => {
            each(out, &outputs, &|output, copy| {
                let start = form.locate(output);
                if let Some(run) = pieces::contiguous(x, form, start) {
                    return out.exact(output, run, 1);
                }
                if form.inputs <= pieces::PIECE as u64 {
                    pieces::gather(x, form, start, 0..form.inputs, copy);
                    return out.exact(output, copy, 1);
                }
                let all = pieces::in_turn(out.batched, x, form, start, copy);
                out.partial(output, form.inputs, &all);
            });
        }
        Source::Segments(x, bounds) => {
            let all: Vec<_> = outputs.iter().map(|&k| (k, &x[bounds.range(k as usize)])).collect();
            long_and_short(out, all);
        }
        Source::Groups(x, numbers, groups) => {
            let members = members(x, numbers, groups as usize, &outputs);
            long_and_short(
                out,
                outputs.iter().copied().zip(members.iter().map(|x| &x[..])).collect(),
            );
        }
    }
    true
}

/// Folds outputs by their elements: long ones by all threads together, the others by one each.
fn long_and_short<T: FoldWhole, S: IntoPartial<T>>(out: &Out<'_, T, S>, all: Vec<(u64, &[T])>) {
    let plan = out.batched.plan;
    let (long, short): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(_, x)| x.len() as u64 >= plan.long);
    for (output, x) in long {
        out.exact(output, x, plan.threads);
    }
    each(out, &short, &|(output, x), _| out.exact(output, x, 1));
}

/// Does something with each of some outputs, with memory that a thread keeps for copies.
fn each<T: FoldWhole, S: IntoPartial<T>, A: Copy + Sync>(
    out: &Out<'_, T, S>,
    all: &[A],
    work: &(dyn Fn(A, &mut Vec<T>) + Sync),
) {
    let (next, threads) = (AtomicUsize::new(0), out.batched.plan.threads);
    let grain = (all.len() / (4 * threads)).clamp(1, GRAIN);
    share(threads.min(all.len().div_ceil(grain)), &|| {
        let mut copy = Vec::new();
        loop {
            let first = next.fetch_add(1, Ordering::Relaxed).saturating_mul(grain);
            let Some(some) = all.get(first..) else { return };
            if some.is_empty() {
                return;
            }
            some.iter().take(grain).for_each(|&one| work(one, &mut copy));
        }
    });
}

/// The elements of some groups, in order.
fn members<T: FoldWhole>(
    x: &[T],
    numbers: &dyn Numbered,
    groups: usize,
    some: &[u64],
) -> Vec<Vec<T>> {
    const NONE: u32 = u32::MAX;
    let mut which = vec![NONE; groups];
    for (k, &group) in (0u32..).zip(some) {
        which[group as usize] = k;
    }
    let mut members = vec![Vec::new(); some.len()];
    for_each(numbers, 0..x.len(), |at, group| {
        if which[group] != NONE {
            members[which[group] as usize].push(x[at]);
        }
    });
    members
}
