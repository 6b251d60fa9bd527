//! Everything that stats tells of each output, a column each. What is read of the same accumulators is folded once: sums with means, variances with
//! deviations, extremes with their indices.
//!
//! A pass for each group reads memory a few times, and is still many times faster than wide accumulators for outputs of few elements: what is short is
//! read from a near cache.

use warpfold_exact::partial::{Finish, refuse_rounding};
use warpfold_num::{Accuracy, Column, Element, Empty, Policy, Scalar, with_element};
use warpfold_plan::group::for_each;
use warpfold_plan::{Indices, Parts, Request};

use crate::batch::{
    Batched, Ending, IntoColumn, Ranked, Read, Sums, WriteColumn, WriteInTurn, Writer,
    fold_together, fold_together_in_turn,
};
use crate::columns::{Columns, natural};
use crate::kernels::Kernels;
use crate::memory::with_capacity;
use crate::read::{Collect, CollectMoments, Extreme, Index, Moment, MomentState, Sum, SumState};
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
    // Where there is none at all, none is counted.
    let whole = crate::plan(&Request::new(Op::Count, *x).policy(policy));
    let nans = match with_element!(dtype, T => count::any_nan(&whole, elements::<T>(x))) {
        true => nans(|nan| of(Op::Count, Policy { nan, ..policy }))?,
        false => vec![0; counts.len()],
    };
    let mut found = Vec::new();
    for ops in together(dtype) {
        // The last one's accumulators are those of all.
        let [first, .., last] = ops[..] else {
            let (columns, gaps) = columns_of(&of(ops[0], policy), finish)?;
            found.extend(columns.into_iter().map(|(_, column)| (ops[0], column, gaps.clone())));
            continue;
        };
        let request = of(last, policy);
        let plan = of_parts(&request)?;
        let columns = with_element!(dtype, T => {
            let all = All { x: elements::<T>(x), parts, plan: &plan, finish, ops: &ops, empty_of: &empty_of };
            match first {
                Op::Sum => all.sums(),
                Op::Var => all.moments(),
                _ => all.extremes(*indices),
            }
        })?;
        found.extend(ops.iter().zip(columns).map(|(op, (column, gaps))| (*op, column, gaps)));
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

/// Reductions of one array that are read of the same accumulators.
struct All<'a, T> {
    x: &'a [T],
    parts: &'a Parts<'a>,
    plan: &'a BatchPlan,
    finish: Finish,
    ops: &'a [Op],
    empty_of: &'a dyn Fn(Op) -> Empty,
}

/// The column of each, and its gaps.
type Found = Result<Vec<(Column, Vec<u64>)>>;

impl<T: Kernels> All<'_, T> {
    fn batched(&self) -> Batched<'_, T> {
        Batched::of(self.plan, self.parts, self.x)
    }

    fn writer<R: Scalar, D>(&self, op: Op, reader: D) -> Result<Writer<R, D>> {
        let ending = Ending::of::<T>(op, self.finish, (self.empty_of)(op));
        Writer::new(&self.batched(), op, reader, ending)
    }

    fn columns<W: IntoColumn + ?Sized>(&self, writers: Vec<Box<W>>) -> Found {
        writers.into_iter().map(|writer| writer.column(&|output| self.parts.name(output))).collect()
    }

    fn sums(&self) -> Found {
        let mut writers = Vec::new();
        for &op in self.ops {
            let sum = Sum::of(op).unwrap_or_else(|| unreachable!("{op} is no sum"));
            let of_sums = OfSums { all: self, op, writers: &mut writers };
            Sums::<T>::column(sum, None, natural::<T>(), of_sums).expect("a reader of sums")?;
        }
        fold_together(&self.batched(), &writers, T::batched_sums);
        self.columns(writers)
    }

    fn moments(&self) -> Found {
        let (mut in_turn, mut second) = (Vec::new(), Vec::new());
        for &op in self.ops {
            let to = <T::Round as Element>::DTYPE;
            let what = Moment { op, ddof: self.finish.ddof };
            let of_moments =
                OfMoments { all: self, op, in_turn: &mut in_turn, second: &mut second };
            let narrow = T::DTYPE.round() == DType::F32;
            T::Approximate::column(what, to, narrow, of_moments).expect("a reader of moments")?;
        }
        if second.is_empty() {
            let folds = (T::batched_plain_moments as _, T::batched_moments as _);
            fold_together_in_turn::<T, T::Plain, T::Approximate>(&self.batched(), &in_turn, folds);
            return self.columns(in_turn);
        }
        fold_together(&self.batched(), &second, T::batched_moments);
        self.columns(second)
    }

    fn extremes(&self, indices: Indices) -> Found {
        let nan = self.plan.batch.policy.nan;
        let [end, index] = [self.ops[0], self.ops[1]];
        let element = std::marker::PhantomData::<T::Component>;
        let writers: Vec<Box<dyn WriteColumn<T, Ranked>>> = vec![
            Box::new(self.writer(end, Extreme { nan, element })?),
            Box::new(self.writer(index, Index { nan, element })?),
        ];
        fold_together(&self.batched(), &writers, T::batched_highest);
        let mut found = self.columns(writers)?;
        if let (Indices::OfArray, Column::U64(all)) = (indices, &mut found[1].0) {
            *all = self.parts.flat(self.x.len(), std::mem::take(all));
        }
        Ok(found)
    }
}

/// A writer of sums, by the reader that is chosen.
struct OfSums<'w, 'a, T: Kernels> {
    all: &'w All<'a, T>,
    op: Op,
    writers: &'w mut Vec<Box<dyn WriteColumn<T, Sums<T>>>>,
}

impl<T: Kernels> Collect<Sums<T>> for OfSums<'_, '_, T> {
    type Of = Result<()>;

    fn collect<D: Read<Sums<T>, Result: Scalar> + 'static>(self, reader: D) -> Result<()> {
        self.writers.push(Box::new(self.all.writer(self.op, reader)?));
        Ok(())
    }
}

/// What writes moments that are known to 2^-53 first, then to 2^-105.
type InTurn<T> = dyn WriteInTurn<T, <T as Kernels>::Plain, <T as Kernels>::Approximate>;

/// The same of moments.
struct OfMoments<'w, 'a, T: Kernels> {
    all: &'w All<'a, T>,
    op: Op,
    in_turn: &'w mut Vec<Box<InTurn<T>>>,
    second: &'w mut Vec<Box<dyn WriteColumn<T, T::Approximate>>>,
}

impl<T: Kernels> CollectMoments<T::Plain, T::Approximate> for OfMoments<'_, '_, T> {
    type Of = Result<()>;

    fn in_turn<D>(self, reader: D) -> Result<()>
    where
        D: Read<T::Plain, Result: Scalar>
            + Read<T::Approximate, Result = <D as Read<T::Plain>>::Result>
            + 'static,
    {
        self.in_turn.push(Box::new(self.all.writer(self.op, reader)?));
        Ok(())
    }

    fn second<D: Read<T::Approximate, Result: Scalar> + 'static>(self, reader: D) -> Result<()> {
        self.second.push(Box::new(self.all.writer(self.op, reader)?));
        Ok(())
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
        match columns_of(&count(nan), Finish::default())?.0.pop() {
            Some((_, Column::U64(counts))) => Ok(counts),
            _ => unreachable!("counts are a column of u64"),
        }
    };
    let (all, others) = (nonzero(Nan::Propagate)?, nonzero(Nan::Ignore)?);
    Ok(all.into_iter().zip(others).map(|(all, others)| all - others).collect())
}
