//! Outputs whose elements lie anywhere: a rank copies those of its outputs to where they lie one behind the other. Of stats each output goes to one rank;
//! products of floats are cut anywhere, as their pieces know their places.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use warpfold::{At, Key, Segments};
use warpfold_dist::{Comm, share};
use warpfold_engine::cut::{Taken, take};
use warpfold_engine::{self as engine, HostArray, Request};

use super::gathered::Slab;
use super::products::{self, Piece};
use super::{Folded, Made, flatten_read, folded, values};
use crate::Failure;
use crate::args::Reduction;
use crate::device::Executor;
use crate::input;
use crate::table::Labels;

/// Where the elements of each key lie, in their order.
pub(super) fn by_key<K: Key>(keys: &[K]) -> BTreeMap<K, Vec<usize>> {
    let mut of: BTreeMap<K, Vec<usize>> = BTreeMap::new();
    keys.iter().enumerate().for_each(|(at, key)| of.entry(*key).or_default().push(at));
    of
}

/// The outputs of a rank: so many one after another that all ranks have about as many elements.
fn mine(lists: &[Vec<usize>], rank: usize, size: usize) -> Range<usize> {
    // An output takes some time however short it is.
    let work = |list: &Vec<usize>| list.len() as u128 + 1;
    let all: u128 = lists.iter().map(work).sum();
    let (mut before, mut starts) = (0, vec![lists.len(); 2]);
    for (output, list) in lists.iter().enumerate() {
        for (start, rank) in starts.iter_mut().zip([rank, rank + 1]) {
            // It belongs to the rank in whose share of the work it begins.
            if *start == lists.len() && before * size as u128 >= all * rank as u128 {
                *start = output;
            }
        }
        before += work(list);
    }
    if rank + 1 == size {
        starts[1] = lists.len();
    }
    starts[0]..starts[1]
}

/// The outputs that a rank has as a whole, and those of which it has elements, by their places: all ranks have as many elements.
fn cut_anywhere(lists: &[Vec<usize>], comm: &dyn Comm) -> Taken {
    let mut starts = vec![0];
    for list in lists {
        starts.push(starts[starts.len() - 1] + list.len());
    }
    let elements = share(starts[lists.len()] as u64, 1, comm.rank(), comm.size());
    let elements = elements.start as usize..elements.end as usize;
    let range = |output: usize| starts[output]..starts[output + 1];
    take(lists.len(), range, &elements, comm.rank() + 1 == comm.size())
}

/// Folds the outputs of this rank, whose elements are listed.
pub(super) fn fold(
    args: &Reduction,
    comm: &dyn Comm,
    x: HostArray<'_>,
    lists: &[Vec<usize>],
    labels: Labels,
    name: &dyn Fn(usize) -> At,
) -> Result<Folded, Failure> {
    let (op, policy, size) = (args.op(), args.policy(), x.dtype().size());
    let Taken { whole: mine, cut } = match products::is_product(op, x.dtype()) {
        true => cut_anywhere(lists, comm),
        false => Taken { whole: mine(lists, comm.rank(), comm.size()), cut: Vec::new() },
    };
    let n: usize = lists[mine.clone()].iter().map(Vec::len).sum();
    // Words, so that elements of every type are aligned.
    let mut words = vec![0u64; (n * size).div_ceil(8)];
    let copies = bytemuck::cast_slice_mut::<u64, u8>(&mut words).chunks_exact_mut(size);
    for (copy, &at) in copies.zip(lists[mine.clone()].iter().flatten()) {
        copy.copy_from_slice(&x.bytes()[at * size..][..size]);
    }
    let copied = input::array(x.dtype(), &bytemuck::cast_slice(&words)[..n * size], 0)
        .map_err(|problem| Failure::Data(problem.to_string()))?;
    let mut offsets = vec![0];
    let mut end = 0;
    for list in &lists[mine.clone()] {
        end += list.len() as u64;
        offsets.push(end);
    }
    let parts = engine::segments(Segments::offsets(&offsets), n as u64, policy)?;
    let request = Request::new(op, copied).parts(Arc::new(parts)).policy(policy);
    let request = request.empty(args.parts.empty.of_engine());
    let number = |at: &At| match at {
        At::Segment(own) => mine.start + *own as usize,
        _ => 0,
    };
    let mut columns = values(args, &Executor::Cpu, &request, number, name)?;
    let of_mine = &lists[mine.clone()];
    flatten_read(args, &mut columns, |own, index| of_mine[own][index as usize] as u64);
    let slab = Slab::run(lists.len(), mine.start, mine.end);
    let piece = |(output, arg_indices): (usize, Range<usize>)| -> Result<_, Failure> {
        let mut piece = Piece::starting_at(args, x, arg_indices.start as u64)?;
        lists[output][arg_indices].iter().try_for_each(|&at| piece.run(at, 1, 1))?;
        Ok((output, piece.finish()?))
    };
    let cut = cut.into_iter().map(piece).collect::<Result<_, _>>()?;
    let made = Made::Results { slab, columns, cut };
    Ok(folded(labels, lists.len(), x.len() as u64, made))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_output_is_some_rank_s_and_shares_are_even() {
        for lengths in [&[][..], &[5], &[0, 0, 0], &[1000, 1, 1, 1], &[1, 1, 1, 1000], &[7; 50]] {
            let lists: Vec<Vec<usize>> = lengths.iter().map(|&n| vec![0; n]).collect();
            for size in 1..9 {
                let mut end = 0;
                for rank in 0..size {
                    let range = mine(&lists, rank, size);
                    assert_eq!(range.start, end, "{lengths:?}: rank {rank} of {size}");
                    end = range.end;
                    let n: usize = lengths[range].iter().sum();
                    let longest = lengths.iter().max().copied().unwrap_or(0);
                    let even = (lengths.iter().sum::<usize>() + lengths.len()) / size;
                    assert!(n <= even + longest + 1);
                }
                assert_eq!(end, lengths.len());
            }
        }
    }
}
