//! Many reductions at once: over axes, segments, groups.
//!
//! ```text
//! op  →  kind (lanes)  ┐
//!                      ├→  driver (rows | columns | pieces | cells)  →  small value or partial  →  reader  →  result
//! plan  →  way         ┘
//! ```
//!
//! A kind (`lanes`) says how accumulators take elements; a driver says which elements stand in them. Kinds know no shapes and drivers no
//! reductions, so that each is written once. What a kind does not know, `pieces` folds with the kernels for one array.

mod cells;
mod columns;
mod float_sums;
mod integer_sums;
mod lanes;
mod magnitudes;
mod nonzero;
mod outputs;
mod pieces;
mod ranks;
mod rows;
mod sort;
mod survey;

pub(super) use float_sums::FloatSums;
pub(super) use integer_sums::IntegerSums;
use lanes::Kind;
pub(super) use magnitudes::Largest;
use nonzero::Nonzero;
pub(crate) use outputs::Emit;
use outputs::Outputs;
pub(crate) use outputs::Reader;
pub(crate) use ranks::{BothEnds, End, Greatest, Highest, Least, Ranked, extremes};
use rows::Runs;

use super::{Input, run};
use crate::element::{Element, Ordered};
use crate::error::At;
use crate::group::Numbered;
use crate::partial::{Magnitudes, Partial};
use crate::plan::{self, BatchPlan, CpuFacts, Problem, Way};
use crate::segment::Bounds;
use crate::shape::Form;
use crate::{Policy, Result};

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

/// Many reductions to be done.
#[derive(Debug, Clone, Copy)]
pub struct Many<'a, T> {
    pub(crate) plan: &'a BatchPlan,
    pub(crate) source: Source<'a, T>,
}

impl<T: Element> Many<'_, T> {
    /// The sums, or means, of each.
    pub(crate) fn sums<D>(&self, reader: &D, at: impl Fn(u64) -> At) -> Result<Vec<D::Result>>
    where
        D: Reader<T, T::Parts<T::Small>>,
    {
        self.read(reader, at, |outputs| T::many_sums(self, outputs))
    }

    /// The sums of magnitudes of each.
    pub(crate) fn norms<D>(&self, reader: &D, at: impl Fn(u64) -> At) -> Result<Vec<D::Result>>
    where
        D: Reader<T, T::Parts<T::Small>>,
    {
        self.read(reader, at, |outputs| T::many_norms(self, outputs))
    }

    /// The largest magnitudes of each.
    pub(crate) fn magnitudes<D>(&self, reader: &D, at: impl Fn(u64) -> At) -> Result<Vec<D::Result>>
    where
        D: Reader<T, Magnitudes<T>>,
    {
        self.read(reader, at, |outputs| T::many_magnitudes(self, outputs))
    }

    /// How many elements of each are not zero.
    pub(crate) fn nonzero<D>(&self, reader: &D, at: impl Fn(u64) -> At) -> Result<Vec<D::Result>>
    where
        D: Reader<T, u64>,
    {
        let kind = Nonzero::new(self.plan.batch.policy.nan);
        self.read(reader, at, |outputs| drive(kind, self, outputs))
    }

    /// What only the kernels for one array know, of each.
    pub(crate) fn others<D>(&self, reader: &D, at: impl Fn(u64) -> At) -> Result<Vec<D::Result>>
    where
        D: Reader<T, ()>,
    {
        self.read(reader, at, |outputs| alone(self, outputs))
    }

    fn read<S: Sync, D: Reader<T, S>>(
        &self,
        reader: &D,
        at: impl Fn(u64) -> At,
        drive: impl FnOnce(&dyn Emit<T, S>),
    ) -> Result<Vec<D::Result>> {
        let batch = &self.plan.batch;
        let outputs = Outputs::new::<T>(batch.op, batch.outputs(), reader)?;
        drive(&outputs);
        outputs.finish(at)
    }
}

impl<T: Ordered> Many<'_, T> {
    /// The extreme of an end of each, with its place where that is asked for.
    pub(crate) fn ranks<E: End, const PLACED: bool, D>(
        &self,
        reader: &D,
        at: impl Fn(u64) -> At,
    ) -> Result<Vec<D::Result>>
    where
        D: Reader<T, Ranked<T::Key>>,
    {
        let kind = Highest::<E, PLACED>::new(self.plan.batch.policy.nan);
        self.read(reader, at, |outputs| drive(kind, self, outputs))
    }

    /// Both extremes of each.
    pub(crate) fn both_ends<D>(&self, reader: &D, at: impl Fn(u64) -> At) -> Result<Vec<D::Result>>
    where
        D: Reader<T, (Ranked<T::Key>, Ranked<T::Key>)>,
    {
        let kind = BothEnds::new(self.plan.batch.policy.nan);
        self.read(reader, at, |outputs| drive(kind, self, outputs))
    }
}

/// Folds every output with lanes of a kind, the plan's way.
pub(crate) fn drive<T: Element, K: Kind<T>>(
    kind: K,
    many: &Many<'_, T>,
    emit: &dyn Emit<T, K::Small>,
) {
    match many.source {
        Source::Loops(_, form) if form.inputs == 0 => nothing(many, form, emit),
        Source::Loops(x, form) => match many.plan.way {
            Way::Runs => rows::run(kind, many, x, Runs::Rows(form), emit),
            Way::Columns => columns::run(kind, many, x, form, emit),
            _ => pieces::run(many, x, form, emit),
        },
        Source::Segments(x, bounds) => rows::run(kind, many, x, Runs::Segments(bounds), emit),
        Source::Groups(x, numbers, groups) => cells::run(kind, many, x, numbers, groups, emit),
    }
}

/// Folds every output with the kernels for one array.
pub(super) fn alone<T: Element, S>(many: &Many<'_, T>, emit: &dyn Emit<T, S>) {
    match many.source {
        Source::Loops(_, form) if form.inputs == 0 => nothing(many, form, emit),
        Source::Loops(x, form) => pieces::run(many, x, form, emit),
        Source::Segments(x, bounds) => rows::alone(many, x, bounds, emit),
        Source::Groups(x, numbers, groups) => {
            let sorted = sort::by_group(x, numbers, groups as usize);
            let bounds = Bounds::Offsets64(sorted.offsets.as_slice().into());
            rows::alone(many, &sorted.elements, &bounds, emit);
        }
    }
}

/// Outputs that nothing is folded into.
fn nothing<T: Element, S>(many: &Many<'_, T>, form: &Form, emit: &dyn Emit<T, S>) {
    let empty = Partial::empty(many.plan.batch.op);
    (0..form.outputs).for_each(|output| emit.partial(output, 0, &empty));
}

/// The partial of one array whose first element has the place `first`.
fn flat<T: Element>(many: &Many<'_, T>, x: &[T], threads: usize, first: u64) -> Partial<T> {
    let Problem { op, dtype, n, policy } = Problem {
        op: many.plan.batch.op,
        dtype: T::DTYPE,
        n: x.len() as u64,
        policy: Policy { threads: Some(threads), ..many.plan.batch.policy },
    };
    let facts = CpuFacts { isa: many.plan.isa, threads };
    let plan = plan::choose(Problem { op, dtype, n, policy }, facts);
    match run(&plan, Input::One(x), first) {
        Ok(partial) => partial,
        Err(error) => unreachable!("{op} was checked before it was planned: {error}"),
    }
}
