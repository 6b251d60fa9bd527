//! Axes: every rank takes a slab along one of them.

use std::sync::Arc;

use warpfold::segment::Bounds;
use warpfold::shape::{Folding, Layout};
use warpfold::{AnyPartial, At, Op};
use warpfold_dist::{Comm, share};
use warpfold_engine::{self as engine, HostArray, Parts, Request};

use super::gathered::Slab;
use super::{
    Folded, Made, Read, flatten_read, folded, is_whole, no_outputs, products, segments, values,
};
use crate::Failure;
use crate::args::Reduction;
use crate::device::Executor;
use crate::input::Whole;
use crate::table::Labels;

/// Partials may take so many times fewer bytes than the array before each rank folds a part of every output.
const CHEAP: u64 = 8;

/// The lengths of the axes that are kept.
pub(super) fn kept(args: &Reduction, whole: &Whole) -> Vec<u64> {
    let folding = whole.layout().map(|layout| Folding::of(layout.clone(), &args.parts.axis));
    folding.ok().and_then(Result::ok).map_or_else(Vec::new, |folding| folding.shape())
}

/// The reduction of some of the array's memory over the axes.
fn request<'a>(args: &Reduction, x: HostArray<'a>, layout: Layout) -> Result<Request<'a>, Failure> {
    let folding = Folding::of(layout, &args.parts.axis)?;
    let parts = Parts::Axes(folding.form()?, folding);
    let request = Request::new(args.op(), x).parts(Arc::new(parts)).policy(args.policy());
    Ok(request.empty(args.parts.empty.of_engine()))
}

pub(super) fn fold(
    args: &Reduction,
    comm: &dyn Comm,
    executor: &Executor,
    whole: &Whole,
) -> Result<Folded, Failure> {
    let (x, layout) = (whole.array()?, whole.layout()?);
    let folding = Folding::of(layout.clone(), &args.parts.axis)?;
    // Refuses what has no such reduction on every rank alike.
    let all = request(args, x, layout.clone())?;
    let shape = if args.parts.keepdims { folding.shape_kept() } else { folding.shape() };
    let (op, outputs) = (args.op(), folding.outputs()? as usize);
    engine::Stream::new(op, x.dtype(), args.policy())?;
    let elements = (outputs as u64).saturating_mul(folding.inputs()?);
    let labels = Labels::Axes(shape);
    // Kernels of many outputs leave results, which nobody could merge.
    let is_on_cpu = matches!(executor, Executor::Cpu);
    if let (false, 1, Some(run)) = (is_on_cpu, outputs, folding.layout().run()) {
        let x = x.part(run.start as usize..run.end as usize);
        let bounds = Bounds::Offsets64(vec![0, x.len() as u64].into());
        let name = |_| At::Indices(Vec::new());
        let made = segments::fold_bounds(args, comm, executor, x, &bounds, &name)?;
        return Ok(folded(labels, outputs, elements, made));
    }
    let axis = match is_whole(op, x.dtype()) || !is_on_cpu {
        true => cut_whole(&folding, comm.size() as u64),
        false => cut(&folding, comm.size() as u64, op, x.dtype()),
    };
    let lengths = folding.layout().axes();
    let is_cut = axis.is_some_and(|axis| lengths[axis].length >= comm.size() as u64);
    if is_on_cpu && products::is_product(op, x.dtype()) && !is_cut && !folding.layout().is_empty() {
        let made = products::of_axes(args, comm, x, &folding)?;
        return Ok(folded(labels, outputs, elements, made));
    }
    let Some(axis) = axis else {
        // Nothing that could be cut: rank 0 takes all of it.
        let slab = Slab::run(outputs, 0, if comm.rank() == 0 { outputs } else { 0 });
        let columns = results(args, executor, &all, &folding, &slab, None)?;
        return Ok(folded(
            labels,
            outputs,
            elements,
            Made::Results { slab, columns, cut: Vec::new() },
        ));
    };
    let range = share(folding.layout().axes()[axis].length, 1, comm.rank(), comm.size());
    let part = request(args, x, part(folding.layout(), axis, &range)?)?;
    if !folding.folded()[axis] {
        let lengths = folding.layout().axes().iter().zip(folding.folded()).enumerate();
        let product = |is_in: &dyn Fn(usize) -> bool| -> usize {
            let lengths = lengths.clone().filter(|(at, (_, folded))| !**folded && is_in(*at));
            lengths.map(|(_, (axis, _))| axis.length as usize).product()
        };
        let slab = Slab {
            outer: product(&|at| at < axis),
            length: folding.layout().axes()[axis].length as usize,
            inner: product(&|at| at > axis),
            from: range.start as usize,
            to: range.end as usize,
        };
        let columns = results(args, executor, &part, &folding, &slab, Some((axis, range.start)))?;
        return Ok(folded(
            labels,
            outputs,
            elements,
            Made::Results { slab, columns, cut: Vec::new() },
        ));
    }
    let partials = match range.is_empty() {
        true => vec![AnyPartial::empty(op, x.dtype()); outputs],
        false => {
            let arg_index = |arg_index| whole_index(&folding, axis, &range, arg_index);
            let partials = engine::partials(&part)?.into_iter();
            partials.map(|partial| partial.reindexed(&arg_index)).collect()
        }
    };
    Ok(folded(labels, outputs, elements, Made::Partials(partials)))
}

/// A layout's part along one axis.
fn part(layout: &Layout, axis: usize, range: &std::ops::Range<u64>) -> Result<Layout, Failure> {
    let mut shape = layout.shape();
    shape[axis] = range.end - range.start;
    let strides: Vec<i64> = layout.axes().iter().map(|axis| axis.stride).collect();
    // Axes of files run forwards.
    let start = layout.start() + range.start * strides[axis].unsigned_abs();
    Ok(Layout::strided(&shape, &strides, start)?)
}

/// The place among the elements of an output's whole input, from that in the part of it along an axis.
fn whole_index(
    folding: &Folding,
    axis: usize,
    range: &std::ops::Range<u64>,
    arg_index: u64,
) -> u64 {
    let (mut rest, mut whole, mut stride) = (arg_index, 0u64, 1u64);
    let axes = folding.layout().axes().iter().zip(folding.folded()).enumerate().rev();
    for (at, (one, _)) in axes.filter(|(_, (_, folded))| **folded) {
        let length = if at == axis { range.end - range.start } else { one.length };
        let first = if at == axis { range.start } else { 0 };
        whole = whole.wrapping_add((rest % length.max(1) + first).wrapping_mul(stride));
        rest /= length.max(1);
        stride = stride.wrapping_mul(one.length);
    }
    whole
}

/// The axis to cut: the outermost in memory where that is cheap, as then nobody reads what is another's.
fn cut(folding: &Folding, ranks: u64, op: Op, dtype: warpfold::DType) -> Option<usize> {
    let axes = folding.layout().axes();
    let outermost = (0..axes.len())
        .filter(|&at| axes[at].length > 1)
        .max_by_key(|&at| axes[at].stride.unsigned_abs())?;
    if folding.layout().is_empty() {
        return None;
    }
    let is_long = axes[outermost].length >= ranks;
    if !folding.folded()[outermost] {
        return if is_long {
            Some(outermost)
        } else {
            cut_whole(folding, ranks).or(Some(outermost))
        };
    }
    let partial = AnyPartial::empty(op, dtype).to_bytes().len() as u64;
    let partials = folding.outputs().unwrap_or(u64::MAX).saturating_mul(partial);
    let bytes = folding.layout().elements().saturating_mul(dtype.size() as u64);
    if is_long && partials.saturating_mul(CHEAP) <= bytes {
        return Some(outermost);
    }
    let kept = cut_whole(folding, ranks).filter(|&at| axes[at].length >= ranks);
    kept.or(Some(outermost))
}

/// The axis to cut where outputs stay whole: of those that are kept, the outermost with an index for each rank, or the longest.
fn cut_whole(folding: &Folding, ranks: u64) -> Option<usize> {
    let axes = folding.layout().axes();
    if folding.layout().is_empty() {
        return None;
    }
    let kept = (0..axes.len()).filter(|&at| !folding.folded()[at] && axes[at].length > 1);
    kept.max_by_key(|&at| (axes[at].length.min(ranks), axes[at].stride.unsigned_abs()))
}

/// The results of a slab's outputs, named and indexed as those of the whole; `cut` is the axis along which it was cut, and where it begins there.
fn results(
    args: &Reduction,
    executor: &Executor,
    request: &Request<'_>,
    folding: &Folding,
    slab: &Slab,
    cut: Option<(usize, u64)>,
) -> Result<Read, Failure> {
    let shape = folding.shape();
    let number = |at: &At| {
        let At::Indices(own) = at else { return 0 };
        let mut indices = own.clone();
        if let Some((axis, first)) = cut {
            // Its place among the axes that are kept.
            let kept = folding.folded()[..axis].iter().filter(|folded| !**folded).count();
            indices[kept] += first;
        }
        let all = indices.iter().zip(&shape);
        all.fold(0, |number, (index, length)| number * length + index) as usize
    };
    let name = |output: usize| At::Indices(indices(output as u64, &shape));
    if slab.from == slab.to {
        // The names of the columns alone: what has no result is another rank's.
        let columns = no_outputs(args, request.x.dtype())?;
        return Ok(Ok(columns.into_iter().map(|(name, _)| (name, Vec::new())).collect()));
    }
    let mut found = values(args, executor, request, number, name)?;
    flatten_read(args, &mut found, |own, index| folding.flat(slab.output(own) as u64, index));
    Ok(found)
}

/// The indices of an output in an array of a shape.
pub(super) fn indices(output: u64, shape: &[u64]) -> Vec<u64> {
    let mut rest = output;
    let digit = |length: &u64| {
        let digit = rest % length.max(&1);
        rest /= length.max(&1);
        digit
    };
    let mut indices: Vec<u64> = shape.iter().rev().map(digit).collect();
    indices.reverse();
    indices
}
