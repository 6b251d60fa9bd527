//! Everything that stats tells of each output, a column each.
//!
//! Rows, columns and segments that are not too short are read once for all of it, by lanes of several kinds (`batch/several`): each group of reductions reads
//! its part of what these hold, and folds by its own what that leaves in doubt. Groups by keys are sorted once, and are segments then. Long ones are arrays of their own, folded for all columns at once by the kernels for one array. Of few elements, and where
//! there are no such lanes, what is read of the same accumulators is folded once (`groups`): a pass for each group is many times faster than wide accumulators for
//! outputs of few elements.

mod groups;

use std::cell::OnceCell;
use std::sync::atomic::AtomicBool;

use warpfold_exact::partial::{Finish, refuse_rounding};
use warpfold_num::{Accuracy, Column, Empty, Policy, with_element};
use warpfold_plan::group::for_each;
use warpfold_plan::plan::Way;
use warpfold_plan::segment::Bounds;
use warpfold_plan::{Indices, Parts, Request};

use self::groups::{Whole, Writers};
use crate::batch::{Batched, InOrder, MOST_INDICES, are_driven};
use crate::columns::Columns;
use crate::kernels::Kernels;
use crate::memory::with_capacity;
use crate::threads::each;
use crate::{BatchPlan, DType, Nan, Op, Result, columns_of, count, elements, of_parts};

/// Everything that stats tells, a column each, and the gaps of each. A mean, variance or deviation that does not exist is NaN, unless it is to be a gap.
pub(crate) fn stats(request: &Request<'_>, finish: Finish) -> Result<(Columns, Vec<Vec<u64>>)> {
    let (Request { x, parts, indices, empty, .. }, dtype) = (request, request.x.dtype());
    refuse_rounding(finish, dtype)?;
    // Exact at any accuracy, as of a whole array.
    let policy = Policy { accuracy: Accuracy::Exact, ..request.policy };
    let empty_of = |op: Op| match empty {
        Empty::Error if op.divides() => Empty::Nan,
        _ => *empty,
    };
    let of = |op: Op, policy| {
        let request = Request::new(op, *x).parts(parts.clone()).policy(policy);
        request.indices(*indices).empty(empty_of(op))
    };
    let threads = of_parts(&of(Op::Count, policy))?.threads;
    let counts = sizes(parts, x.len(), threads);
    let (mut found, may_have_nans) = with_element!(dtype, T => {
        let (x, of, in_order) = (elements::<T>(x), &|op| of(op, policy), OnceCell::new());
        All { x, parts, in_order, threads, finish, of, empty_of: &empty_of }.found()
    })?;
    // Where there is none at all, none is counted.
    let whole = crate::plan(&Request::new(Op::Count, *x).policy(policy));
    let has_nans =
        may_have_nans && with_element!(dtype, T => count::any_nan(&whole, elements::<T>(x)));
    let nans = match has_nans {
        true => nans(|nan| of(Op::Count, Policy { nan, ..policy }))?,
        false => vec![0; counts.len()],
    };
    if *indices == Indices::OfArray {
        for (op, column, _) in &mut found {
            if let (Op::ArgMin | Op::ArgMax, Column::U64(all)) = (op, column) {
                *all = parts.flat(x.len(), std::mem::take(all));
            }
        }
    }
    let mut all = vec![("count", Column::of(counts)), ("nan_count", Column::of(nans))];
    let mut gaps = vec![Vec::new(); all.len()];
    for op in Op::of_stats(dtype) {
        let at = found.iter().position(|(other, ..)| *other == op);
        let (_, column, none) = found.swap_remove(at.expect("each is in a group"));
        all.push((op.name(), column));
        gaps.push(none);
    }
    Ok((all, gaps))
}

/// The reductions of stats, those together that are read of the same accumulators: where variances are of what is left of a number near all elements, norms
/// are not.
fn together(dtype: DType) -> Vec<Vec<Op>> {
    let mut all = vec![vec![Op::Sum, Op::Mean]];
    match dtype.round() {
        DType::F32 => all.extend([vec![Op::Var, Op::Std], vec![Op::L2]]),
        _ => all.push(vec![Op::Var, Op::Std, Op::L2]),
    }
    if !dtype.is_complex() {
        all.extend([vec![Op::Min, Op::ArgMin], vec![Op::Max, Op::ArgMax]]);
    }
    all.push(vec![Op::L1]);
    all
}

/// Elements of an output from which lanes of all kinds are faster, of runs of several lengths: these lanes alone take them side by side (`batch/turned`).
const LEAST_OF_UNEVEN: u64 = 2;

/// Elements of contiguous outputs from which the kernels for one array, which fold for all columns at once, are faster than lanes and than a fold for each group.
const LONG: u64 = 32 << 10;

/// A reduction with its column and gaps.
type Found = (Op, Column, Vec<u64>);

/// All reductions of stats of an array in parts.
struct All<'a, T> {
    x: &'a [T],
    parts: &'a Parts<'a>,
    /// The elements of groups, group by group, once they are asked for.
    in_order: OnceCell<InOrder<T>>,
    threads: usize,
    finish: Finish,
    of: &'a dyn Fn(Op) -> Request<'a>,
    empty_of: &'a dyn Fn(Op) -> Empty,
}

impl<'a, T: Kernels> All<'a, T> {
    /// Each reduction with its column and gaps: by lanes of all kinds at once where these are driven over the array, else by a fold for each group; and whether
    /// there may be NaNs.
    fn found(&self) -> Result<(Vec<Found>, bool)> {
        let (mut found, mut groups) = (Vec::new(), Vec::new());
        for ops in together(T::DTYPE) {
            // The last one's accumulators are those of all.
            let plan = self.plan(ops[ops.len() - 1])?;
            let writers = Writers::new(&self.batched(&plan), &ops, self.finish, self.empty_of)?;
            groups.push((ops, plan, writers));
        }
        let may_have_nans = self.fold(&groups)?;
        for (ops, _, writers) in groups {
            let columns = writers.columns(&|output| self.parts.name(output))?;
            found.extend(
                ops.into_iter().zip(columns).map(|(op, (column, gaps))| (op, column, gaps)),
            );
        }
        Ok((found, may_have_nans))
    }

    /// Folds every output for all groups; returns whether there may be NaNs.
    fn fold(&self, groups: &[(Vec<Op>, BatchPlan, Writers<T>)]) -> Result<bool> {
        let batched: Vec<_> = groups.iter().map(|(_, plan, _)| self.batched(plan)).collect();
        let each = || groups.iter().map(|(.., writers)| writers).zip(&batched);
        let outputs = groups[0].1.batch.outputs();
        // Indices must be those of the input.
        let plan = self.plan(Op::Stats)?;
        if matches!(plan.way, Way::Runs | Way::OneByOne) && self.average(outputs) >= LONG {
            let writers = each().map(|(writers, _)| writers).collect();
            let whole = Whole { writers, has_nans: AtomicBool::new(false) };
            self.batched(&plan).alone(&whole);
            return Ok(whole.has_nans.into_inner());
        }
        if self.has_lanes(outputs) {
            // Indices must be those of the input; what its way is may be that of all others.
            let plan = self.plan(Op::ArgMax)?;
            let all = self.batched(&plan);
            // Threads share the longest rows.
            let is_short = self.average(outputs) < plan.long || plan.threads == 1;
            if are_driven(&all) && (plan.way == Way::Columns || is_short) {
                // First indices are found by lanes of all kinds where they ascend.
                let has_indices = all.ascends() && all.longest() <= MOST_INDICES;
                let (driven, apart): (Vec<_>, Vec<_>) =
                    each().partition(|(writers, _)| has_indices || !writers.are_extremes());
                let parts: Vec<_> =
                    driven.iter().map(|(writers, batched)| writers.part(batched)).collect();
                let has_unknown = T::batched_stats(&all, &parts);
                for (part, (writers, batched)) in parts.iter().zip(driven) {
                    if !part.settle() {
                        writers.fold_again(batched);
                    }
                }
                apart.into_iter().for_each(|(writers, batched)| writers.fold(batched));
                return Ok(has_unknown);
            }
        }
        each().for_each(|(writers, batched)| writers.fold(batched));
        Ok(true)
    }

    /// Elements of an output.
    fn average(&self, outputs: u64) -> u64 {
        self.x.len() as u64 / outputs.max(1)
    }

    /// Whether outputs have so many that lanes of all kinds are faster than a fold for each group of reductions; of one length or of several.
    fn has_lanes(&self, outputs: u64) -> bool {
        let is_even = match self.parts {
            Parts::Segments(bounds, _) => matches!(bounds, Bounds::Every { .. }),
            parts => !matches!(parts, Parts::Groups(..)),
        };
        let of_uneven = if is_even { u64::MAX } else { LEAST_OF_UNEVEN };
        T::LEAST_OF_STATS.is_some_and(|least| self.average(outputs) >= least.min(of_uneven))
    }

    /// The plan of a reduction. Groups are runs once they are sorted; of few elements those that have cells are faster by these.
    fn plan(&self, op: Op) -> Result<BatchPlan> {
        let mut plan = of_parts(&(self.of)(op))?;
        let is_sorted = self.has_lanes(plan.batch.outputs()) || plan.way != Way::Cells;
        if matches!(self.parts, Parts::Groups(..)) && is_sorted {
            plan.way = Way::Runs;
        }
        Ok(plan)
    }

    fn batched<'b>(&'b self, plan: &'b BatchPlan) -> Batched<'b, T> {
        match self.parts {
            Parts::Groups(grouping, _) if plan.way == Way::Runs => {
                let groups = (self.x, grouping.numbers(), grouping.groups());
                self.in_order.get_or_init(|| InOrder::of(groups, self.threads)).batched(plan)
            }
            _ => Batched::of(plan, self.parts, self.x),
        }
    }
}

/// Elements of each part of an array of `n`.
fn sizes(parts: &Parts<'_>, n: usize, threads: usize) -> Vec<u64> {
    match parts {
        Parts::Whole => vec![n as u64],
        Parts::Axes(form, _) => alike(form.inputs, form.outputs as usize, threads),
        Parts::Segments(bounds, _) => {
            (0..bounds.count() as usize).map(|segment| bounds.range(segment).len() as u64).collect()
        }
        Parts::Groups(grouping, _) => {
            let mut sizes = vec![0; grouping.groups() as usize];
            for_each(grouping.numbers(), 0..n, |_, group| sizes[group] += 1);
            sizes
        }
    }
}

/// So many of a number: the first write to new memory takes longer than the number.
fn alike(number: u64, count: usize, threads: usize) -> Vec<u64> {
    const SOME: usize = 1 << 16;
    let Ok(mut all) = with_capacity(count) else { return vec![number; count] };
    let slots = &mut all.spare_capacity_mut()[..count];
    each(threads, slots.chunks_mut(SOME), |slots| {
        slots.iter_mut().for_each(|slot| {
            slot.write(number);
        });
    });
    // SAFETY: each of so many was written.
    unsafe { all.set_len(count) };
    all
}

/// NaNs in each part: they count as nonzero, unless they are ignored.
fn nans<'a>(count: impl Fn(Nan) -> Request<'a>) -> Result<Vec<u64>> {
    let nonzero = |nan| -> Result<Vec<u64>> {
        match columns_of(&count(nan), Finish::default(), None)?.0.pop() {
            Some((_, Column::U64(counts))) => Ok(counts),
            _ => unreachable!("counts are a column of u64"),
        }
    };
    let (all, others) = (nonzero(Nan::Propagate)?, nonzero(Nan::Ignore)?);
    Ok(all.into_iter().zip(others).map(|(all, others)| all - others).collect())
}
