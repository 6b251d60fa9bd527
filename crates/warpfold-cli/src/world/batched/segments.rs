//! Segments: every rank takes a range of elements. It has the results of segments that lie in there, and partials of those that are cut.

use std::ops::Range;
use std::sync::Arc;

use warpfold::segment::Bounds;
use warpfold::{AnyPartial, At, Op, Segments};
use warpfold_dist::{Comm, share};
use warpfold_engine::cut::{Taken, begun, take};
use warpfold_engine::{self as engine, HostArray, Request};

use super::gathered::Slab;
use super::{Folded, Made, flatten_read, folded, products, values};
use crate::Failure;
use crate::args::Reduction;
use crate::batched::Parted;
use crate::device::{Executor, Folder};
use crate::input::Whole;
use crate::table::Labels;

pub(super) fn fold(
    args: &Reduction,
    comm: &dyn Comm,
    executor: &Executor,
    whole: &Whole,
    parted: &Parted,
) -> Result<Folded, Failure> {
    let x = whole.array()?;
    let segments = parted.segments().expect("neither axes nor keys");
    let bounds = Segments::check(segments, x.len() as u64)?;
    let made =
        fold_bounds(args, comm, executor, x, &bounds, &|segment| At::Segment(segment as u64))?;
    Ok(folded(Labels::Segments, bounds.count() as usize, bounds.elements(), made))
}

pub(super) fn fold_bounds(
    args: &Reduction,
    comm: &dyn Comm,
    executor: &Executor,
    x: HostArray<'_>,
    bounds: &Bounds<'_>,
    name: &dyn Fn(usize) -> At,
) -> Result<Made, Failure> {
    let (op, policy, count) = (args.op(), args.policy(), bounds.count() as usize);
    Folder::new(executor, op, x.dtype(), policy)?;
    let elements = share(x.len() as u64, 1, comm.rank(), comm.size());
    let elements = elements.start as usize..elements.end as usize;
    let is_last = comm.rank() + 1 == comm.size();
    let range = |segment| bounds.range(segment);
    // Stats are not cut: a segment is the rank's in whose elements it begins.
    let Taken { whole, cut } = match op {
        Op::Stats => Taken { whole: begun(count, range, &elements, is_last), cut: Vec::new() },
        _ => take(count, range, &elements, is_last),
    };
    let mut offsets: Vec<u64> =
        whole.clone().map(|segment| bounds.range(segment).start as u64).collect();
    offsets.extend(whole.clone().last().map(|segment| bounds.range(segment).end as u64));
    let (from, to) = (offsets.first().map_or(0, |at| *at), offsets.last().map_or(0, |at| *at));
    offsets.iter_mut().for_each(|offset| *offset -= from);
    if offsets.is_empty() {
        offsets.push(0);
    }
    let own = x.part(from as usize..to as usize);
    let parts = engine::segments(Segments::offsets(&offsets), own.len() as u64, policy)?;
    let request = Request::new(op, own).parts(Arc::new(parts)).policy(policy);
    let request = request.empty(args.parts.empty.of_engine());
    let number = |at: &At| match at {
        At::Segment(own) => whole.start + *own as usize,
        _ => 0,
    };
    let mut columns = values(args, executor, &request, number, name)?;
    flatten_read(args, &mut columns, |own, index| {
        bounds.range(whole.start + own).start as u64 + index
    });
    let piece =
        |(segment, positions): (usize, Range<usize>)| -> Result<(usize, AnyPartial), Failure> {
            let begin = bounds.range(segment).start;
            let elements = begin + positions.start..begin + positions.end;
            let first = if args.parts.flat { elements.start } else { positions.start };
            let mut folder = Folder::new(executor, op, x.dtype(), policy)?;
            let is_product = products::is_product(op, x.dtype());
            if is_product {
                folder = folder.starting_at(first as u64);
            }
            folder.push(x.part(elements))?;
            let partial = folder.into_partial()?;
            let first = if is_product { 0 } else { first as u64 };
            // Kernels of extremes alone leave an index beyond all others.
            Ok((segment, partial.reindexed(&|index| index.saturating_add(first))))
        };
    let cut = cut.into_iter().map(piece).collect::<Result<_, _>>()?;
    Ok(Made::Results { slab: Slab::run(count, whole.start, whole.end), columns, cut })
}
