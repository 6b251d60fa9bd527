//! [`Strided`]: a reduction over axes as loops over memory, for what is neither rows nor columns; and those loops as a GPU reads them.

use crate::shape::{Form, Loop};

/// How outputs are shared out where elements are gathered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Strided {
    /// Lanes of an output: 1, neighbours having neighbouring outputs, or a warp's 32, which share its elements.
    pub lanes: u64,
    /// Runs of elements of each output, each folded by lanes of its own.
    pub runs: u64,
    /// Outputs.
    pub outputs: u64,
}

/// Elements of a lane that a run should have at least.
const ELEMENTS_PER_RUN: u64 = 32;

impl Strided {
    pub(super) fn of(form: &Form, warps: u64) -> Strided {
        let across = form.inputs < 32 || Strided::is_across(form);
        let lanes = if form.outputs >= 32 && across { 1 } else { 32 };
        let mut all = Strided { lanes, runs: 1, outputs: form.outputs };
        let units = all.units().max(1);
        if units * 2 <= warps {
            all.runs = (warps / units).min(form.inputs / (ELEMENTS_PER_RUN * lanes)).max(1);
        }
        all
    }

    /// Whether outputs are nearer to their neighbours than the elements of one.
    pub(super) fn is_across(form: &Form) -> bool {
        let step = |loops: &[Loop]| loops.last().map_or(u64::MAX, |l| l.stride);
        step(&form.kept) < step(&form.folded)
    }

    /// Runs of outputs, or of 32 of them, each a warp's.
    pub fn units(&self) -> u64 {
        self.outputs.div_ceil(32 / self.lanes) * self.runs
    }

    /// States that a second kernel joins.
    pub fn states(&self) -> u64 {
        if self.runs > 1 { self.runs * self.outputs } else { 0 }
    }
}

/// The loops of a form as kernels read them (`loops.cuh`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopTable {
    /// Length, stride and position of each kept loop, then length and stride of each folded one.
    pub words: Vec<u64>,
    /// Output axes.
    pub kept: u64,
    /// Folded axes.
    pub folded: u64,
    /// The number of the first output.
    pub first_output: u64,
    /// Elements from the form's start to where all loops begin.
    pub start: u64,
}

/// In which order loops run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopOrder {
    /// That of memory.
    Memory,
    /// That of indices: outputs by their numbers, folded elements by their order.
    Indices,
}

impl LoopTable {
    /// The table of a form.
    pub fn of(form: &Form, kept: LoopOrder, folded: LoopOrder) -> LoopTable {
        let mut start = 0;
        let mut words = Vec::new();
        let mut outer = ordered(&form.kept, kept, &mut start);
        if form.inputs == 0 {
            // A form without elements has no loops, but outputs all the same.
            outer.push(Loop { length: form.outputs, stride: 0, position: 1 });
        }
        words.extend(outer.iter().flat_map(|l| [l.length, l.stride, l.position as u64]));
        let mut inner = ordered(&form.folded, folded, &mut start);
        if inner.is_empty() {
            inner.push(Loop { length: 1, stride: 0, position: 1 });
        }
        words.extend(inner.iter().flat_map(|l| [l.length, l.stride]));
        LoopTable {
            words,
            kept: outer.len() as u64,
            folded: inner.len() as u64,
            first_output: if kept == LoopOrder::Memory { form.first_output } else { 0 },
            start,
        }
    }
}

/// The loops, outermost first; in the order of indices those that were turned round run backwards again, from their ends.
fn ordered(loops: &[Loop], order: LoopOrder, start: &mut u64) -> Vec<Loop> {
    let mut loops = loops.to_vec();
    if order == LoopOrder::Indices {
        loops.sort_by_key(|l| std::cmp::Reverse(l.position.unsigned_abs()));
        for l in loops.iter_mut().filter(|l| l.position < 0) {
            *start += (l.length - 1) * l.stride;
            *l = Loop { stride: l.stride.wrapping_neg(), position: -l.position, ..*l };
        }
    }
    loops
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{Folding, View};

    /// Where each element lies, output after output, as the kernels walk a table.
    fn walk(form: &Form, table: &LoopTable) -> Vec<Vec<u64>> {
        let digits = |mut n: u64, loops: &[&[u64]]| {
            let mut at = 0u64;
            let mut position = 0u64;
            for l in loops.iter().rev() {
                at = at.wrapping_add((n % l[0]).wrapping_mul(l[1]));
                position = position.wrapping_add((n % l[0]).wrapping_mul(*l.get(2).unwrap_or(&0)));
                n /= l[0];
            }
            (at, position)
        };
        let (kept, folded) = table.words.split_at(3 * table.kept as usize);
        let kept: Vec<&[u64]> = kept.chunks(3).collect();
        let folded: Vec<&[u64]> = folded.chunks(2).collect();
        let mut outputs = vec![Vec::new(); form.outputs as usize];
        for n in 0..form.outputs {
            let (first, position) = digits(n, &kept);
            let output = table.first_output.wrapping_add(position) as usize;
            let base = (form.start + table.start).wrapping_add(first);
            let at = |i| base.wrapping_add(digits(i, &folded).0);
            outputs[output] = (0..form.inputs).map(at).collect();
        }
        outputs
    }

    #[test]
    fn tables_reach_every_element_and_in_the_order_of_places_if_asked() {
        let x: Vec<u32> = (0..200).collect();
        let view = View::strided(&x, &[3, 4, 2, 5], &[5, -15, 60, 1], 45).unwrap();
        for axes in [&[0i64][..], &[1], &[0, 2], &[1, 3], &[0, 1, 2, 3], &[]] {
            let folding = Folding::of(view.layout().clone(), axes).unwrap();
            let form = folding.form().unwrap();
            let mut expected = Vec::new();
            for output in 0..form.outputs {
                let position = |position| folding.flat(output, position);
                // The flat index in C order, as strides.
                let at = |flat: u64| {
                    let index = [flat / 40, flat / 10 % 4, flat / 5 % 2, flat % 5];
                    u64::from(view.get(&index).unwrap())
                };
                expected.push((0..form.inputs).map(|i| at(position(i))).collect::<Vec<u64>>());
            }
            for kept in [LoopOrder::Memory, LoopOrder::Indices] {
                let table = LoopTable::of(&form, kept, LoopOrder::Indices);
                assert_eq!(walk(&form, &table), expected, "{axes:?} {kept:?}");
                let table = LoopTable::of(&form, kept, LoopOrder::Memory);
                for (found, expected) in walk(&form, &table).iter_mut().zip(&expected) {
                    let mut expected = expected.clone();
                    found.sort_unstable();
                    expected.sort_unstable();
                    assert_eq!(*found, expected);
                }
            }
        }
    }
}
