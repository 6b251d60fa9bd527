//! Batched reductions at once: over axes, segments, groups.
//!
//! ```text
//! op  →  kind (lanes)  ┐
//!                      ├→  driver (rows | columns | pieces | cells)  →  small value or partial  →  reader  →  result
//! plan  →  way         ┘
//! ```
//!
//! Inputs of one element each need neither: the reader finishes them as they are (`singles`).
//!
//! A kind (`lanes`) says how accumulators take elements; a driver says which elements stand in them. Kinds know no shapes and drivers no
//! reductions, so that each is written once. What a kind does not know, `pieces` folds with the kernels for one array.

mod accumulators;
mod band;
mod cells;
mod columns;
mod complex_norms;
mod doubtful;
mod ending;
mod ends;
mod float_stats;
mod float_sums;
mod integer_products;
mod integer_stats;
mod integer_sums;
mod into_partial;
mod lanes;
mod moments;
mod near_complex_products;
mod near_products;
mod nonzero;
mod norms;
mod outputs;
mod overflow_store;
mod pages;
mod parts;
mod pieces;
mod product_columns;
mod products;
mod ranks;
mod results;
mod rows;
mod runs;
mod several;
mod short;
mod short_columns;
mod short_sums;
mod singles;
mod slots;
mod sort;
mod stripes;
mod survey;
mod together;
mod turned;

pub(crate) use complex_norms::{LargestSquare, NearNorm, NormSums};
pub(crate) use ending::Ending;
pub(crate) use ends::{Ends, FirstNumber};
pub(crate) use float_stats::{About, FloatStats, InTwo, Totals};
pub(crate) use float_sums::FloatSums;
pub(crate) use integer_products::{IntegerProducts, Wrapped};
pub(crate) use integer_stats::IntegerStats;
pub(crate) use integer_sums::{IntegerSums, MOST_IN_64};
pub(crate) use into_partial::{IntoPartial, element, extreme, take};
pub(crate) use lanes::LaneOperation;
pub(crate) use moments::{Approximate, MOST_PLAIN};
pub(super) use moments::{Integers, Plain, Squares, SquaresAlone};
pub(crate) use near_complex_products::{NearComplexProduct, NearComplexProducts};
pub(crate) use near_products::{MOST as MOST_NEAR, NearProduct, NearProducts};
pub(super) use nonzero::Nonzero;
pub(crate) use nonzero::Tally;
pub(crate) use norms::Widest;
pub(super) use norms::{Largest, Sizes};
pub(crate) use outputs::{Counts, Out, Read, Write, one_by_one};
pub(crate) use parts::{Part, PartOf, Take, are_driven, drive_parts};
pub(crate) use products::{Multiplied, multiply};
pub(super) use ranks::{BothEnds, FirstHighest, Highest, Order};
pub(crate) use ranks::{End, Extremum, Kept, MOST_INDICES, Rank, Ranked};
pub(crate) use results::{
    AT_ONCE, Lone, Writer, collect, collect_in_turn, few, keep, most_doubtful,
};
use runs::Runs;
pub(crate) use several::{Both, Twice};
pub(crate) use short::short;
pub(crate) use short_sums::{MOST as MOST_SHORT, ShortSum, ShortSums};
pub(crate) use together::{WriteColumn, WriteInTurn, fold_together, fold_together_in_turn};

use crate::Policy;
use crate::isa::has_lanes;
use crate::whole::FoldWhole;
use warpfold_exact::partial::Partial;
use warpfold_num::element::Element;
use warpfold_plan::Parts;
use warpfold_plan::group::Numbered;
use warpfold_plan::plan::{self, BatchPlan, CpuFacts, Problem, Way};
use warpfold_plan::segment::Bounds;
use warpfold_plan::shape::Form;

/// What many reductions read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source<'a, T> {
    /// Loops over memory.
    Loops(&'a [T], &'a Form),
    /// Contiguous segments.
    Segments(&'a [T], &'a Bounds<'a>),
    /// A group's number for each element, below a number of groups.
    Groups(&'a [T], &'a dyn Numbered, u64),
}

/// Batched reductions to be done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Batched<'a, T> {
    pub(crate) plan: &'a BatchPlan,
    pub(crate) source: Source<'a, T>,
}

/// A fold of every output of some reductions, with a small value of each.
pub(crate) type FoldBatched<T, S> = fn(&Batched<'_, T>, &Out<'_, T, S>);

/// Short sums of an element's parts.
pub(crate) type Sums<T> = <T as Element>::Sums;

/// The elements of groups, group by group, as segments.
pub(crate) struct InOrder<T> {
    elements: Vec<T>,
    bounds: Bounds<'static>,
}

impl<T: FoldWhole> InOrder<T> {
    /// Those of an array, by the number of each element's group below the number of groups.
    pub(crate) fn of((x, numbers, groups): (&[T], &dyn Numbered, u64), threads: usize) -> Self {
        let sorted = sort::by_group(x, numbers, groups as usize, threads);
        InOrder { elements: sorted.elements, bounds: Bounds::Offsets64(sorted.offsets.into()) }
    }

    /// Reductions of these.
    pub(crate) fn batched<'a>(&'a self, plan: &'a BatchPlan) -> Batched<'a, T> {
        Batched { source: Source::Segments(&self.elements, &self.bounds), plan }
    }
}

impl<'a, T: FoldWhole> Batched<'a, T> {
    /// Those of an array in parts.
    pub(crate) fn of(plan: &'a BatchPlan, parts: &'a Parts<'_>, x: &'a [T]) -> Self {
        let source = match parts {
            Parts::Whole => unreachable!("a whole array is one reduction"),
            Parts::Axes(form, _) => Source::Loops(x, form),
            Parts::Segments(bounds, _) => Source::Segments(x, bounds),
            Parts::Groups(grouping, _) => Source::Groups(x, grouping.numbers(), grouping.groups()),
        };
        Batched { plan, source }
    }

    /// The array.
    pub(crate) fn memory(&self) -> &[T] {
        match self.source {
            Source::Loops(x, _) | Source::Segments(x, _) | Source::Groups(x, ..) => x,
        }
    }

    /// How many elements a lane may find: of runs of memory, as many as there are in a tile.
    pub(crate) fn longest(&self) -> u64 {
        match self.source {
            Source::Loops(_, form) => form.inputs,
            Source::Segments(..) | Source::Groups(..) => 0,
        }
    }

    /// Whether the elements of an output are added in the order of their indices.
    pub(crate) fn ascends(&self) -> bool {
        match self.source {
            Source::Loops(_, form) => form.ascends(),
            Source::Segments(..) | Source::Groups(..) => true,
        }
    }

    /// Folds every output; `false`, and not all are written, if more of them are left in doubt than may be.
    fn fold<S: IntoPartial<T>>(
        &self,
        writer: &dyn Write<T, S>,
        most: Option<u64>,
        fold: FoldBatched<T, S>,
    ) -> bool {
        let out = Out::new(self, writer, most);
        match self.source {
            Source::Loops(_, form) if form.inputs == 0 => {
                let empty = Partial::empty(self.plan.batch.op);
                (0..form.outputs).for_each(|output| writer.partial(output, 0, &empty));
            }
            Source::Loops(_, form) if self.plan.way == Way::Singles => {
                out.singles(form.start as usize)
            }
            Source::Segments(_, bounds) if self.plan.way == Way::Singles && bounds.count() > 0 => {
                out.singles(bounds.range(0).start);
            }
            _ => fold(self, &out),
        }
        S::IS_EXACT || doubtful::run(&out)
    }

    /// Folds every output with the kernels for one array, for a writer of their partials.
    pub(crate) fn alone(&self, writer: &dyn Write<T, ()>) {
        alone(self, &Out::new(self, writer, None));
    }

    /// Folds groups as segments of their elements in order.
    fn sorted<S>(
        &self,
        (x, numbers, groups): (&[T], &dyn Numbered, u64),
        writer: &dyn Write<T, S>,
        fold: impl FnOnce(&Batched<'_, T>, &Out<'_, T, S>),
    ) where
        S: IntoPartial<T>,
    {
        let in_order = InOrder::of((x, numbers, groups), self.plan.threads);
        let batched = in_order.batched(self.plan);
        // What is sorted is not sorted again for a few groups' sake.
        let out = Out::new(&batched, writer, None);
        fold(&batched, &out);
        if !S::IS_EXACT {
            doubtful::run(&out);
        }
    }
}

/// Folds every output with lanes of a kind over the elements' words.
pub(super) fn drive<T: FoldWhole, K: LaneOperation<Small: IntoPartial<T>>>(
    kind: K,
    batched: &Batched<'_, T>,
    words: fn(&[T]) -> &[K::Element],
    out: &Out<'_, T, K::Small>,
) {
    if !has_lanes(batched.plan.isa) {
        return alone(batched, out);
    }
    match batched.source {
        Source::Loops(x, form) => match batched.plan.way {
            Way::Runs => rows::run(kind, batched.plan, words(x), Runs::Rows(form), out),
            Way::Columns => columns::run(kind, batched.plan, words(x), form, out),
            _ => pieces::run(batched, x, form, &|n, count, partial| out.partial(n, count, partial)),
        },
        Source::Segments(x, bounds) => {
            rows::run(kind, batched.plan, words(x), Runs::Segments(bounds), out);
        }
        Source::Groups(x, numbers, groups) => {
            let is_done = K::PUTS
                && batched.plan.way == Way::Cells
                && cells::run(kind, batched.plan, words(x), numbers, groups as usize, out);
            if !is_done {
                batched.sorted((x, numbers, groups), out.writer, |batched, out| {
                    drive(kind, batched, words, out);
                });
            }
        }
    }
}

/// Folds every output with the kernels for one array.
pub(super) fn alone<T: FoldWhole, S: IntoPartial<T>>(
    batched: &Batched<'_, T>,
    out: &Out<'_, T, S>,
) {
    match batched.source {
        Source::Loops(x, form) => {
            pieces::run(batched, x, form, &|n, count, partial| out.partial(n, count, partial));
        }
        Source::Segments(_, bounds) => runs::alone(batched.plan, Runs::Segments(bounds), out),
        Source::Groups(x, numbers, groups) => {
            batched.sorted((x, numbers, groups), out.writer, alone)
        }
    }
}

/// The partial of one array whose first element has the index `first`.
fn flat<T: FoldWhole>(batched: &Batched<'_, T>, x: &[T], threads: usize, first: u64) -> Partial<T> {
    let batch = &batched.plan.batch;
    let policy = Policy { threads: Some(threads), ..batch.policy };
    let problem = Problem { op: batch.op, dtype: T::DTYPE, n: x.len() as u64, policy };
    let plan = plan::choose(problem, CpuFacts { isa: batched.plan.isa, threads });
    T::fold(&plan, x, first)
}
