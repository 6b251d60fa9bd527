//! Segments: every rank takes a range of elements. It has the results of segments that lie in there, and partials of those that are cut.

use std::ops::Range;
use std::sync::Arc;

use warpfold::segment::Bounds;
use warpfold::{AnyPartial, At, Op, Segments};
use warpfold_dist::{Comm, share};
use warpfold_engine::{self as engine, HostArray, Request, Stream};

use super::gathered::Slab;
use super::{Folded, Made, flatten_read, folded, values};
use crate::Failure;
use crate::args::Reduction;
use crate::batched::Parted;
use crate::input::Whole;
use crate::table::Labels;

pub(super) fn fold(
    args: &Reduction,
    comm: &dyn Comm,
    whole: &Whole,
    parted: &Parted,
) -> Result<Folded, Failure> {
    let x = whole.array()?;
    let segments = parted.segments().expect("neither axes nor keys");
    let bounds = Segments::check(segments, x.len() as u64)?;
    let made = fold_bounds(args, comm, x, &bounds, &|segment| At::Segment(segment as u64))?;
    Ok(folded(Labels::Segments, bounds.count() as usize, bounds.elements(), made))
}

/// The segments of a rank.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Taken {
    /// Those that it has as a whole.
    pub(super) whole: Range<usize>,
    /// Those of which it has a piece, and the elements of it.
    pub(super) cut: Vec<(usize, Range<usize>)>,
}

/// What a rank takes of segments: those that begin in its elements; if they may be cut, no more of the last than its elements, and its elements of
/// one that began before.
pub(super) fn take(
    bounds: &Bounds<'_>,
    elements: Range<usize>,
    is_last: bool,
    may_cut: bool,
) -> Taken {
    let count = bounds.count() as usize;
    let before = |element: usize| partition_point(count, |k| bounds.range(k).start < element);
    let (first, mut end) = (before(elements.start), before(elements.end));
    if is_last {
        end = count;
    }
    let mut cut = Vec::new();
    if may_cut {
        if first > 0 {
            let piece = bounds.range(first - 1);
            let piece = elements.start.max(piece.start)..piece.end.min(elements.end);
            if !piece.is_empty() {
                cut.push((first - 1, piece));
            }
        }
        if end > first && bounds.range(end - 1).end > elements.end {
            end -= 1;
            cut.push((end, bounds.range(end).start..elements.end));
        }
    }
    Taken { whole: first..end, cut }
}

/// The first of so many numbers that a property, which holds up to it, does not hold of.
fn partition_point(count: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

pub(super) fn fold_bounds(
    args: &Reduction,
    comm: &dyn Comm,
    x: HostArray<'_>,
    bounds: &Bounds<'_>,
    name: &dyn Fn(usize) -> At,
) -> Result<Made, Failure> {
    let (op, policy, count) = (args.op(), args.policy(), bounds.count() as usize);
    Stream::new(op, x.dtype(), policy)?;
    let elements = share(x.len() as u64, 1, comm.rank(), comm.size());
    let elements = elements.start as usize..elements.end as usize;
    let is_last = comm.rank() + 1 == comm.size();
    let Taken { whole, cut } = take(bounds, elements, is_last, op != Op::Stats);
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
    let number = |at: &At| match at {
        At::Segment(own) => whole.start + *own as usize,
        _ => 0,
    };
    let mut columns = values(engine::columns(&request, args.finish()?), number, name)?;
    flatten_read(args, &mut columns, |own, index| {
        bounds.range(whole.start + own).start as u64 + index
    });
    let piece =
        |(segment, elements): (usize, Range<usize>)| -> Result<(usize, AnyPartial), Failure> {
            let begin = if args.parts.flat { 0 } else { bounds.range(segment).start };
            let first = (elements.start - begin) as u64;
            let mut stream = Stream::new(op, x.dtype(), policy)?.starting_at(first);
            stream.push(x.part(elements))?;
            let partial = stream.partial().cloned();
            Ok((segment, partial.unwrap_or_else(|| AnyPartial::empty(op, x.dtype()))))
        };
    let cut = cut.into_iter().map(piece).collect::<Result<_, _>>()?;
    Ok(Made::Results { slab: Slab::run(count, whole.start, whole.end), columns, cut })
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    /// Every segment is some rank's as a whole, or all of its elements are in pieces, once each and in order.
    #[test]
    fn segments_are_taken_once_whatever_the_shares() {
        for offsets in [
            &[0u64, 3, 3, 9, 20][..],
            &[2, 5, 5, 5, 19],
            &[0],
            &[0, 0, 0],
            &[0, 20],
            &[20, 20],
            &[4, 4, 20, 20],
        ] {
            let bounds = Bounds::Offsets64(Cow::Borrowed(offsets));
            for (ranks, may_cut) in (1..9).flat_map(|ranks| [(ranks, true), (ranks, false)]) {
                let n = 20;
                let mut whole = vec![0; offsets.len() - 1];
                let mut covered: Vec<Vec<usize>> = vec![Vec::new(); offsets.len() - 1];
                for rank in 0..ranks {
                    let elements = share(n, 1, rank, ranks);
                    let elements = elements.start as usize..elements.end as usize;
                    let taken = take(&bounds, elements.clone(), rank + 1 == ranks, may_cut);
                    taken.whole.for_each(|segment| whole[segment] += 1);
                    for (segment, piece) in taken.cut {
                        assert!(may_cut && !piece.is_empty());
                        covered[segment].extend(piece);
                    }
                }
                for segment in 0..whole.len() {
                    let all: Vec<usize> = bounds.range(segment).collect();
                    let what = format!("{offsets:?} {segment} of {ranks} ranks");
                    match whole[segment] {
                        1 => assert!(covered[segment].is_empty(), "{what}"),
                        0 => assert_eq!(covered[segment], all, "{what}"),
                        _ => panic!("{what} is whole on several"),
                    }
                }
            }
        }
    }
}
