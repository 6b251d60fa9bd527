//! [`Form`]: a folding as few loops as can be, sorted by stride, so that few cases reach the kernels.
//!
//! Axes of length 1 go, backward axes are turned round, and two loops that walk memory like one become one. A loop carries two steps:
//! its `stride` in memory, and its `position`, which for a kept loop is the step in the (C-ordered) result and for a folded one the step
//! in the order in which equal extremes are judged. So no later step has to know the axes: sorting and turning a loop changes nothing.

use super::{Axis, Folding};
use crate::Result;

/// One loop of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Loop {
    /// Steps.
    pub length: u64,
    /// Elements of memory from one to the next; never negative.
    pub stride: u64,
    /// Indices from one to the next: outputs for a kept loop, elements of one output's input in logical order for a folded one.
    pub position: i64,
}

/// Where the loops of one kind begin, and the loops, outermost first: those that repeat (stride 0), then the longest strides.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Form {
    /// Outputs in all.
    pub outputs: u64,
    /// Elements folded into each output.
    pub inputs: u64,
    /// The least index of memory.
    pub start: u64,
    /// The output at the beginning of every kept loop.
    pub first_output: u64,
    /// The index at the beginning of every folded loop.
    pub first_index: u64,
    /// Loops over outputs.
    pub kept: Vec<Loop>,
    /// Loops over what is folded into one output.
    pub folded: Vec<Loop>,
}

/// Which loop walks contiguous memory: all that a kernel has to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Case {
    /// The innermost folded loop: rows of contiguous elements are folded.
    Rows,
    /// The innermost kept loop: neighbours belong to different outputs.
    Columns,
    /// None: elements lie apart.
    Scattered,
}

impl Form {
    pub(super) fn new(folding: &Folding) -> Result<Self> {
        let (outputs, inputs) = (folding.outputs()?, folding.inputs()?);
        let mut form = Form {
            outputs,
            inputs,
            start: folding.layout().start(),
            first_output: 0,
            first_index: 0,
            kept: Vec::new(),
            folded: Vec::new(),
        };
        // Loops that never run would only have strides to mislead.
        if outputs > 0 && inputs > 0 {
            form.kept = loops(folding.axes(false), &mut form.start, &mut form.first_output);
            form.folded = loops(folding.axes(true), &mut form.start, &mut form.first_index);
        }
        Ok(form)
    }

    /// Elements in all, those read more than once counted as often.
    pub fn elements(&self) -> u64 {
        self.outputs.saturating_mul(self.inputs)
    }

    /// Which loop walks contiguous memory.
    pub fn case(&self) -> Case {
        let unit = |loops: &[Loop]| loops.last().is_some_and(|l| l.stride == 1);
        match (unit(&self.folded), unit(&self.kept)) {
            (true, _) => Case::Rows,
            (false, true) => Case::Columns,
            // One element each, or none: rows of length 1, wherever they lie.
            (false, false) if self.folded.is_empty() && self.kept.is_empty() => Case::Rows,
            (false, false) => Case::Scattered,
        }
    }

    /// Whether the elements of an output are come upon in the order of their indices.
    pub fn ascends(&self) -> bool {
        let is_forward = |l: &Loop| l.position > 0;
        self.folded.iter().all(is_forward)
            && self.folded.is_sorted_by(|outer, inner| outer.position >= inner.position)
    }

    /// Where the loops of an output begin in memory.
    pub fn locate(&self, output: u64) -> u64 {
        self.kept.iter().fold(self.start, |at, l| {
            // Indices are those of C order, a mixed radix: the digit tells the step, from the other end where the loop was turned round.
            let digit = output / l.position.unsigned_abs() % l.length;
            at + if l.position < 0 { l.length - 1 - digit } else { digit } * l.stride
        })
    }

    /// Where the innermost kept loop begins in memory and among outputs, at a turn of the loops about it, which are counted together.
    pub fn turn(&self, turn: u64) -> (u64, u64) {
        let outer = self.kept.split_last().map_or(&[][..], |(_, outer)| outer);
        let (mut rest, mut start, mut output) = (turn, self.start, self.first_output);
        for l in outer.iter().rev() {
            let step = rest % l.length;
            rest /= l.length;
            start += step * l.stride;
            output = output.wrapping_add_signed(l.position.wrapping_mul(step as i64));
        }
        (start, output)
    }

    /// Where an output's loops begin in memory, and the output: the `n`-th as the kept loops come upon them.
    pub fn nth(&self, n: u64) -> (u64, u64) {
        let length = self.kept.last().map_or(1, |l| l.length);
        let (start, output) = self.turn(n / length);
        let step = n % length;
        match self.kept.last() {
            Some(l) => {
                let position = l.position.wrapping_mul(step as i64);
                (start + step * l.stride, output.wrapping_add_signed(position))
            }
            None => (start, output),
        }
    }

    /// Calls with runs of the elements at indices `first .. first + count`, in the order of indices: where a run begins, how far apart its
    /// elements lie, and how many they are.
    pub fn gather(&self, start: u64, first: u64, count: u64, mut run: impl FnMut(u64, i64, u64)) {
        // Loops by position, the longest steps first; a turned one walks backwards.
        let mut loops: Vec<_> = self.folded.clone();
        loops.sort_unstable_by_key(|l| std::cmp::Reverse(l.position.unsigned_abs()));
        let Some((inner, outer)) = loops.split_last() else {
            return if count > 0 {
                run(start, 0, 1)
            };
        };
        let at = |l: &Loop, digit: u64| match l.position < 0 {
            true => (l.length - 1 - digit) * l.stride,
            false => digit * l.stride,
        };
        let step = if inner.position < 0 { -(inner.stride as i64) } else { inner.stride as i64 };
        let mut position = first;
        while position < first + count {
            // Indices of C order are a mixed radix: see `locate`.
            let base = outer.iter().fold(start, |start, l| {
                start + at(l, position / l.position.unsigned_abs() % l.length)
            });
            let digit = position % inner.length;
            let some = (inner.length - digit).min(first + count - position);
            run(base + at(inner, digit), step, some);
            position += some;
        }
    }

    /// Length and pitch of the rows, if the form is nothing but rows of contiguous elements with outputs in the rows' order.
    pub fn plain_rows(&self) -> Option<(u64, u64)> {
        let length = match self.folded[..] {
            [] => 1,
            [Loop { length, stride: 1, position: 1 }] => length,
            _ => return None,
        };
        match self.kept[..] {
            [] => Some((length, length)),
            [Loop { stride, position: 1, .. }] => Some((length, stride)),
            _ => None,
        }
    }
}

/// The loops of some axes, in logical order; turned round, joined and sorted.
fn loops(
    axes: impl DoubleEndedIterator<Item = Axis>,
    start: &mut u64,
    first_index: &mut u64,
) -> Vec<Loop> {
    let mut position = 1i64;
    let mut loops = Vec::new();
    for Axis { length, stride } in axes.rev() {
        if length > 1 {
            let mut one = Loop { length, stride: stride.unsigned_abs(), position };
            if stride < 0 {
                // Turned round it begins at what was its end. The view's extent, which was checked, holds it.
                *start = start.wrapping_sub((length - 1).wrapping_mul(one.stride));
                *first_index =
                    first_index.wrapping_add((length - 1).wrapping_mul(position.unsigned_abs()));
                one.position = -position;
            }
            loops.push(one);
        }
        position = position.wrapping_mul(length as i64);
    }
    // Longest strides first; what repeats is outermost of all. Stable, and reversed first, so that equal strides keep their order.
    loops.reverse();
    loops.sort_by_key(|l| std::cmp::Reverse(if l.stride == 0 { u64::MAX } else { l.stride }));
    let mut joined: Vec<Loop> = Vec::new();
    for inner in loops {
        if let Some(outer) = joined.last_mut()
            && walks_on(outer, &inner)
        {
            *outer = Loop { length: outer.length * inner.length, ..inner };
        } else {
            joined.push(inner);
        }
    }
    joined
}

/// Whether the inner loop's next element after its last is the outer's next.
pub(super) fn walks_on(outer: &Loop, inner: &Loop) -> bool {
    let stride = u128::from(inner.stride) * u128::from(inner.length);
    let position = i128::from(inner.position) * i128::from(inner.length);
    u128::from(outer.stride) == stride && i128::from(outer.position) == position
}

#[cfg(test)]
mod tests {
    use super::super::{Layout, View};
    use super::*;

    fn form(layout: Layout, axes: &[i64]) -> Form {
        Folding::of(layout, axes).unwrap().form().unwrap()
    }

    #[test]
    fn a_matrix_is_rows_or_columns_in_either_order() {
        let c = Layout::c(&[4, 5]).unwrap();
        assert_eq!(form(c.clone(), &[1]).plain_rows(), Some((5, 5)));
        assert_eq!(form(c.clone(), &[0]).case(), Case::Columns);
        let all = form(c.clone(), &[0, 1]);
        assert_eq!(all.folded, [Loop { length: 20, stride: 1, position: 1 }]);
        let fortran = Layout::fortran(&[4, 5]).unwrap();
        assert_eq!(form(fortran.clone(), &[0]).plain_rows(), Some((4, 4)));
        assert_eq!(form(fortran, &[1]).case(), Case::Columns);
    }

    #[test]
    fn a_middle_axis_leaves_columns_and_a_loop_about_them() {
        let middle = form(Layout::c(&[3, 4, 5]).unwrap(), &[1]);
        assert_eq!(middle.kept.len(), 2);
        assert_eq!(middle.case(), Case::Columns);
        assert_eq!((middle.outputs, middle.inputs), (15, 4));
    }

    #[test]
    fn indices_ascend_unless_axes_are_turned_or_swapped() {
        let c = Layout::c(&[3, 4, 5]).unwrap();
        for axes in [&[0][..], &[1], &[0, 1], &[0, 2], &[0, 1, 2]] {
            assert!(form(c.clone(), axes).ascends(), "{axes:?}");
        }
        let turned = Layout::strided(&[3, 4], &[-4, 1], 8).unwrap();
        assert!(!form(turned.clone(), &[0]).ascends());
        assert!(form(turned, &[1]).ascends());
        let swapped = Layout::strided(&[3, 5, 4], &[4, 12, 1], 0).unwrap();
        assert!(!form(swapped, &[0, 1]).ascends());
    }

    #[test]
    fn axes_of_length_one_go_and_neighbours_join() {
        let f = form(Layout::c(&[2, 1, 3, 1, 4]).unwrap(), &[2, 4]);
        assert_eq!(f.folded, [Loop { length: 12, stride: 1, position: 1 }]);
        assert_eq!(f.kept, [Loop { length: 2, stride: 12, position: 1 }]);
    }

    #[test]
    fn backward_axes_are_turned_round_and_keep_their_places() {
        let x: Vec<u32> = (0..12).collect();
        let view = View::strided(&x, &[3, 4], &[-4, -1], 11).unwrap();
        let f = form(view.layout().clone(), &[0, 1]);
        assert_eq!((f.start, f.first_index), (0, 11));
        assert_eq!(f.folded, [Loop { length: 12, stride: 1, position: -1 }]);
        let f = form(view.layout().clone(), &[1]);
        assert_eq!((f.start, f.first_output, f.first_index), (0, 2, 3));
    }

    #[test]
    fn what_repeats_is_outermost() {
        let x = [1, 2, 3];
        let view = View::strided(&x, &[3, 1000], &[1, 0], 0).unwrap();
        let f = form(view.layout().clone(), &[0, 1]);
        assert_eq!(f.folded[0].stride, 0);
        assert_eq!(f.case(), Case::Rows);
    }
}
