//! Several folds of the same outputs that are driven as one: each reads its part of what lanes of several kinds hold, and folds by its own what that leaves in
//! doubt.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::into_partial::IntoPartial;
use super::lanes::LaneOperation;
use super::outputs::{Alone, Counts, Out, Sink, Store, Write};
use super::results::{AT_ONCE, most_doubtful};
use super::runs::Runs;
use super::{Batched, Source, columns, doubtful, rows};
use crate::isa::{Job, Target, has_lanes, with_lanes};
use crate::whole::FoldWhole;
use warpfold_plan::plan::Way;

/// What one of several folds needs of small values that are for all of them, and of so many elements. No function's value, which would lose the instruction set.
pub(crate) trait Take<T, S, P>: Sync {
    fn take(smalls: &[S; AT_ONCE], counts: [u64; AT_ONCE]) -> [P; AT_ONCE];
}

/// One of several folds of the same outputs, of what it needs of a small value that is for all of them.
pub(crate) struct PartOf<'o, T: FoldWhole, P, F> {
    out: Out<'o, T, P>,
    part: PhantomData<F>,
}

/// Where a part of what drivers found goes.
pub(crate) trait Part<S>: Alone {
    /// Outputs `first`, `first + step`, … from what accumulators hold.
    fn smalls(&self, first: u64, step: i64, counts: Counts<'_>, smalls: &[S]);

    /// Notes an output that accumulators do not tell.
    fn doubt(&self, output: u64);

    /// Folds what is in doubt as the fold alone does; `false`, and none of it is, where that is more than there may be.
    fn settle(&self) -> bool;
}

impl<'o, T: FoldWhole, P: IntoPartial<T>, F> PartOf<'o, T, P, F> {
    /// What the writer of a fold reads of small values; `is_repeated` says whether many outputs in doubt are folded by another.
    pub(crate) fn new(
        batched: &'o Batched<'o, T>,
        writer: &'o dyn Write<T, P>,
        is_repeated: bool,
    ) -> Self {
        let most = if is_repeated { most_doubtful(batched) } else { None };
        PartOf { out: Out::new(batched, writer, most), part: PhantomData }
    }
}

impl<T: FoldWhole, P: IntoPartial<T>, F: Sync> Alone for PartOf<'_, T, P, F> {
    fn run(&self, output: u64, elements: Range<usize>, threads: usize) {
        self.out.run(output, elements, threads);
    }
}

/// What a fold needs of some small values.
struct Taken<'t, T, S, P, F> {
    counts: Counts<'t>,
    smalls: &'t [S],
    parts: &'t mut Vec<P>,
    part: PhantomData<(T, F)>,
}

impl<T, S: Copy, P: Copy, F: Take<T, S, P>> Job for Taken<'_, T, S, P, F> {
    type Output = ();

    #[inline(always)]
    fn run<C: Target>(self) {
        let Taken { counts: counted, smalls, parts, .. } = self;
        let (groups, rest) = smalls.as_chunks();
        let (mut counts, mut first) = ([0; AT_ONCE], 0);
        for group in groups {
            for k in 0..AT_ONCE {
                counts[k] = counted.of(first + k);
            }
            parts.extend_from_slice(&F::take(group, counts));
            first += AT_ONCE;
        }
        if let Some(&last) = rest.last() {
            let mut group = [last; AT_ONCE];
            group[..rest.len()].copy_from_slice(rest);
            for k in 0..AT_ONCE {
                counts[k] = counted.of(first + k.min(rest.len() - 1));
            }
            parts.extend_from_slice(&F::take(&group, counts)[..rest.len()]);
        }
    }
}

impl<T, S, P, F> Part<S> for PartOf<'_, T, P, F>
where
    T: FoldWhole,
    S: Copy,
    P: IntoPartial<T>,
    F: Take<T, S, P>,
{
    fn smalls(&self, first: u64, step: i64, counts: Counts<'_>, smalls: &[S]) {
        let mut parts = Vec::with_capacity(smalls.len());
        let part = PhantomData::<(T, F)>;
        let taken = Taken { counts, smalls, parts: &mut parts, part };
        with_lanes(self.out.batched.plan.isa, taken);
        self.out.smalls(first, step, counts, &parts);
    }

    fn doubt(&self, output: u64) {
        self.out.doubt(output);
    }

    fn settle(&self) -> bool {
        doubtful::run(&self.out)
    }
}

/// Several folds that are driven as one, and whether anything was left to each.
struct Parts<'p, S> {
    all: &'p [Box<dyn Part<S> + 'p>],
    has_left: AtomicBool,
}

impl<S> Alone for Parts<'_, S> {
    fn run(&self, output: u64, elements: Range<usize>, threads: usize) {
        self.has_left.store(true, Ordering::Relaxed);
        self.all.iter().for_each(|part| part.run(output, elements.clone(), threads));
    }
}

impl<S: Sync> Sink<S> for Parts<'_, S> {
    fn smalls(&self, first: u64, step: i64, counts: Counts<'_>, smalls: &[S]) {
        self.all.iter().for_each(|part| part.smalls(first, step, counts, smalls));
    }

    fn store(&self, _: usize) -> Box<dyn Store<S> + '_> {
        self.has_left.store(true, Ordering::Relaxed);
        Box::new(Doubts(self.all))
    }
}

/// What fits no accumulators is left to each fold.
struct Doubts<'p, S>(&'p [Box<dyn Part<S> + 'p>]);

impl<S: Sync> Store<S> for Doubts<'_, S> {
    fn flush(&mut self, _: usize, _: &S, _: u64) {}

    fn singles(&mut self, _: usize, _: usize, _: usize, _: usize) {}

    fn finish(&self, _: usize, output: u64, _: u64) {
        self.0.iter().for_each(|part| part.doubt(output));
    }
}

/// Whether several folds may be driven as one: of runs and columns, where there are lanes.
pub(crate) fn are_driven<T: FoldWhole>(batched: &Batched<'_, T>) -> bool {
    let Batched { plan, source } = batched;
    has_lanes(plan.isa)
        && match source {
            Source::Loops(_, form) => {
                form.inputs > 0 && matches!(plan.way, Way::Runs | Way::Columns)
            }
            Source::Segments(..) => plan.way == Way::Runs,
            Source::Groups(..) => false,
        }
}

/// Folds every output once with lanes of a kind over the elements' words, or of another that columns take, for all parts; returns whether there were elements that
/// the kind does not know.
pub(crate) fn drive_parts<T: FoldWhole, K, C>(
    (kind, of_columns): (K, C),
    batched: &Batched<'_, T>,
    words: fn(&[T]) -> &[K::Element],
    parts: &[Box<dyn Part<K::Small> + '_>],
) -> bool
where
    K: LaneOperation,
    C: LaneOperation<Element = K::Element, Small = K::Small>,
{
    let sink = Parts { all: parts, has_left: AtomicBool::new(false) };
    match batched.source {
        Source::Loops(x, form) if batched.plan.way == Way::Columns => {
            columns::run(of_columns, batched.plan, words(x), form, &sink);
        }
        Source::Loops(x, form) => {
            rows::run(kind, batched.plan, words(x), Runs::Rows(form), &sink);
        }
        Source::Segments(x, bounds) => {
            rows::run(kind, batched.plan, words(x), Runs::Segments(bounds), &sink);
        }
        Source::Groups(..) => unreachable!("groups are not driven as parts"),
    }
    sink.has_left.into_inner()
}
