//! Products of floats whose elements are cut between ranks: each piece is an interval of the canonical tree, by the places of its elements in their output.

use std::ops::Range;

use warpfold::shape::Folding;
use warpfold::{AnyPartial, DType, Op};
use warpfold_dist::{Comm, share};
use warpfold_engine::{HostArray, Stream};

use super::Made;
use super::gathered::Slab;
use crate::Failure;
use crate::args::Reduction;
use crate::input;

/// Elements that are copied to where they lie one behind the other before they are multiplied.
const CHUNK: usize = 32 << 10;

/// Whether a reduction is of those that are multiplied by places.
pub(super) fn is_product(op: Op, dtype: DType) -> bool {
    op == Op::Prod && dtype.is_float()
}

/// The product of a piece of an output, which grows by runs of its elements in the order of their places.
pub(super) struct Piece<'x> {
    x: HostArray<'x>,
    stream: Stream,
    /// Copies of elements, in words so that those of every type are aligned.
    words: Vec<u64>,
    held: usize,
}

impl<'x> Piece<'x> {
    /// Of elements from a place of their output on.
    pub(super) fn starting_at(
        args: &Reduction,
        x: HostArray<'x>,
        arg_index: u64,
    ) -> Result<Self, Failure> {
        let stream = Stream::new(args.op(), x.dtype(), args.policy())?.starting_at(arg_index);
        let words = vec![0; (CHUNK * x.dtype().size()).div_ceil(8)];
        Ok(Piece { x, stream, words, held: 0 })
    }

    /// Multiplies a run of elements: where it begins, how far apart its elements lie, and how many they are.
    pub(super) fn run(&mut self, first: usize, step: i64, count: usize) -> Result<(), Failure> {
        if step == 1 && count >= CHUNK {
            self.flush()?;
            return Ok(self.stream.push(self.x.part(first..first + count))?);
        }
        let size = self.x.dtype().size();
        for k in 0..count {
            let at = first.wrapping_add_signed(step as isize * k as isize) * size;
            let copies: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words);
            copies[self.held * size..][..size].copy_from_slice(&self.x.bytes()[at..at + size]);
            self.held += 1;
            if self.held == CHUNK {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let (dtype, bytes) = (self.x.dtype(), self.held * self.x.dtype().size());
        let copied = input::array(dtype, &bytemuck::cast_slice(&self.words)[..bytes], 0)
            .map_err(|problem| Failure::Data(problem.to_string()))?;
        self.stream.push(copied)?;
        self.held = 0;
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<AnyPartial, Failure> {
        self.flush()?;
        let empty = || AnyPartial::empty(Op::Prod, self.x.dtype());
        Ok(self.stream.partial().cloned().unwrap_or_else(empty))
    }
}

/// The pieces of a rank where axes are folded: its share of the elements in the order of outputs.
pub(super) fn of_axes(
    args: &Reduction,
    comm: &dyn Comm,
    x: HostArray<'_>,
    folding: &Folding,
) -> Result<Made, Failure> {
    let (form, outputs, each) = (folding.form()?, folding.outputs()?, folding.inputs()?);
    let mine = share(outputs.saturating_mul(each), 1, comm.rank(), comm.size());
    let mut cut = Vec::new();
    for (output, arg_indices) in arg_indices(each, mine) {
        let mut piece = Piece::starting_at(args, x, arg_indices.start)?;
        let mut runs = Ok(());
        form.gather(
            form.locate(output),
            arg_indices.start,
            arg_indices.end - arg_indices.start,
            |first, step, n| {
                if runs.is_ok() {
                    runs = piece.run(first as usize, step, n as usize);
                }
            },
        );
        runs?;
        cut.push((output as usize, piece.finish()?));
    }
    // No rank has results of its own: all outputs are made of pieces.
    let slab = Slab::run(outputs as usize, 0, 0);
    Ok(Made::Results { slab, columns: Ok(Vec::new()), cut })
}

/// The outputs that a range of elements touches, of so many elements each, and their places in there.
fn arg_indices(each: u64, elements: Range<u64>) -> impl Iterator<Item = (u64, Range<u64>)> {
    let outputs = elements.start / each..elements.end.div_ceil(each);
    let outputs = if elements.is_empty() { 0..0 } else { outputs };
    outputs.map(move |output| {
        let first = output * each;
        let of = |at: u64| at.clamp(first, first + each) - first;
        (output, of(elements.start)..of(elements.end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_outputs() {
        let of = |each, elements| arg_indices(each, elements).collect::<Vec<_>>();
        assert_eq!(of(10, 3..25), [(0, 3..10), (1, 0..10), (2, 0..5)]);
        assert_eq!(of(10, 10..20), [(1, 0..10)]);
        assert_eq!(of(10, 12..13), [(1, 2..3)]);
        assert_eq!(of(10, 20..20), []);
    }
}
