//! Products of floats of inputs that lie side by side: stripes of columns, whose rows are multiplied along the canonical tree.
//!
//! Where stripes are few and columns long, threads share the rows of each, in parts that are aligned spans of the tree.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::outputs::{Counts, Out, Sink};
use super::products::Multiplied;
use crate::isa::{Job, Target, with_lanes};
use crate::product::{Columns, ElementProduct, Rows, Spans, WIDTH};
use crate::threads::share;
use crate::whole::FoldWhole;
use warpfold_exact::tree::BLOCK;
use warpfold_plan::plan::BatchPlan;
use warpfold_plan::shape::Form;

/// Stripes that a thread takes at a time at most, and that it should have at least.
const STRIPES: usize = 16;
const FEW: usize = 2;

/// Parts of a stripe's rows that a thread takes, one after another.
const PARTS: u64 = 4;

/// Bytes that are asked for ahead in a row where there is no next run.
const AHEAD: usize = 512;

/// Whether columns are for lanes: a long one alone is not, as most lanes would have none.
pub(super) fn fits(form: &Form) -> bool {
    form.inputs <= BLOCK || form.kept.last().is_some_and(|l| l.length > 1)
}

/// Multiplies every column.
pub(super) fn multiply<T: FoldWhole, K: ElementProduct>(
    plan: &BatchPlan,
    x: &[K::Component],
    form: &Form,
    out: &Out<'_, T, Multiplied>,
) {
    let all = Stripes::new(form, plan, K::PARTS);
    let shared: Vec<_> = match all.parts {
        1 => Vec::new(),
        parts => (0..all.count * parts).map(|_| Mutex::new(None)).collect(),
    };
    let (units, next) = (all.count * all.parts, AtomicUsize::new(0));
    let grain = (units / (4 * plan.threads)).clamp(1, STRIPES);
    share(plan.threads, &|| {
        let mut columns = Columns::<K>::new(plan.batch.policy.nan);
        let mut smalls = Vec::new();
        loop {
            let first = next.fetch_add(1, Ordering::Relaxed).saturating_mul(grain);
            if first >= units {
                return;
            }
            for unit in first..units.min(first + grain) {
                let (at, rows) = (all.at(unit / all.parts), all.part(unit % all.parts));
                let work = Stripe { columns: &mut columns, x, form, at, rows };
                if all.parts > 1 {
                    let spans = with_lanes(plan.isa, Spanned(work));
                    *shared[unit].lock().unwrap_or_else(|poison| poison.into_inner()) = Some(spans);
                    continue;
                }
                smalls.clear();
                with_lanes(plan.isa, Whole { work, offsets: &all.offsets, smalls: &mut smalls });
                all.hand(at, &smalls, out);
            }
        }
    });
    let mut shared = shared.into_iter();
    for stripe in (0..all.count).take_while(|_| all.parts > 1) {
        let (mut spans, mut smalls) = (Spans::new(), Vec::new());
        for part in shared.by_ref().take(all.parts) {
            let part = part.into_inner().unwrap_or_else(|poison| poison.into_inner());
            spans.append(part.expect("every unit was taken"));
        }
        spans.finish(|numbers| smalls.push(Multiplied(numbers)));
        all.hand(all.at(stripe), &smalls, out);
    }
}

/// How the columns of a form are cut up.
struct Stripes<'f> {
    form: &'f Form,
    count: usize,
    /// Those of each turn of the loops about neighbouring columns, and of a stripe.
    length: usize,
    per_turn: usize,
    width: usize,
    parts: usize,
    /// Rows of a part.
    rows: u64,
    /// Where rows begin, after the first element, if they are no more than those of a block.
    offsets: Vec<usize>,
}

/// A stripe: where its first element lies, how many columns it has, and their outputs.
#[derive(Clone, Copy)]
struct At {
    start: usize,
    width: usize,
    first: u64,
    step: i64,
}

impl<'f> Stripes<'f> {
    fn new(form: &'f Form, plan: &BatchPlan, parts_of_element: usize) -> Self {
        let length = form.kept.last().map_or(1, |l| l.length as usize);
        let width = length.min(WIDTH);
        let per_turn = length.div_ceil(width);
        let count = form.outputs as usize / length * per_turn;
        let (mut parts, mut rows) = (1, form.inputs);
        if count < FEW * plan.threads && plan.threads > 1 && form.inputs > BLOCK {
            let each = form.inputs.div_ceil(PARTS * plan.threads as u64);
            rows = each.next_power_of_two().max(BLOCK);
            parts = form.inputs.div_ceil(rows) as usize;
        }
        let mut offsets = Vec::new();
        if form.inputs <= BLOCK {
            starts(form, 0..form.inputs, parts_of_element, &mut offsets);
        }
        Stripes { form, count, length, per_turn, width, parts, rows, offsets }
    }

    fn at(&self, stripe: usize) -> At {
        let (start, first) = self.form.turn((stripe / self.per_turn) as u64);
        let column = stripe % self.per_turn * self.width;
        let step = self.form.kept.last().map_or(1, |l| l.position);
        At {
            start: start as usize + column,
            width: self.width.min(self.length - column),
            first: first.wrapping_add_signed(step.wrapping_mul(column as i64)),
            step,
        }
    }

    fn part(&self, part: usize) -> Range<u64> {
        let first = part as u64 * self.rows;
        first..self.form.inputs.min(first + self.rows)
    }

    fn hand<T: FoldWhole>(&self, at: At, smalls: &[Multiplied], out: &Out<'_, T, Multiplied>) {
        out.smalls(at.first, at.step, Counts::Same(self.form.inputs), smalls);
    }
}

/// Where the elements of some indices lie, after an output's first one in memory: in parts, of which an element has some.
fn starts(form: &Form, indices: Range<u64>, parts: usize, offsets: &mut Vec<usize>) {
    offsets.clear();
    form.gather(0, indices.start, indices.end - indices.start, |at, step, count| {
        offsets.extend((0..count as i64).map(|k| (at as i64 + k * step) as usize * parts));
    });
}

/// Rows of a stripe.
struct Stripe<'s, K: ElementProduct> {
    columns: &'s mut Columns<K>,
    x: &'s [K::Component],
    form: &'s Form,
    at: At,
    rows: Range<u64>,
}

impl<'s, K: ElementProduct> Stripe<'s, K> {
    /// The rows that begin at these offsets, so many numbers further.
    #[inline(always)]
    fn rows<'r>(&self, further: usize, rows: &'r [usize], ahead: usize) -> Rows<'r, K::Component>
    where
        's: 'r,
    {
        let x = &self.x[self.at.start * K::PARTS + further..];
        Rows { x, columns: self.at.width, rows, ahead }
    }
}

/// The products of some rows, as spans.
struct Spanned<'s, K: ElementProduct>(Stripe<'s, K>);

impl<K: ElementProduct> Job for Spanned<'_, K> {
    type Output = Spans<K>;

    #[inline(always)]
    fn run<C: Target>(self) -> Spans<K> {
        let (Spanned(stripe), mut spans, mut offsets) = (self, Spans::new(), Vec::new());
        let Range { start: mut first, end } = stripe.rows;
        // Rows of one loop lie as those of the first block do.
        let (is_loop, mut one) = (stripe.form.folded.len() == 1, Vec::new());
        while first < end {
            let next = end.min(first + BLOCK);
            starts(stripe.form, first..first + 1, K::PARTS, &mut one);
            let begin = offsets.first().copied();
            let further = begin.filter(|_| is_loop).and_then(|begin| one[0].checked_sub(begin));
            if further.is_none() {
                starts(stripe.form, first..next, K::PARTS, &mut offsets);
            }
            let ahead = AHEAD / size_of::<K::Component>();
            let rows = &offsets[..(next - first) as usize];
            let rows = stripe.rows(further.unwrap_or(0), rows, ahead);
            stripe.columns.block::<C>(rows, &mut spans);
            first = next;
        }
        spans
    }
}

/// The products of a stripe.
struct Whole<'s, K: ElementProduct> {
    work: Stripe<'s, K>,
    offsets: &'s [usize],
    smalls: &'s mut Vec<Multiplied>,
}

impl<K: ElementProduct> Job for Whole<'_, K> {
    type Output = ();

    #[inline(always)]
    fn run<C: Target>(self) {
        let Whole { work, offsets, smalls } = self;
        if work.form.inputs > BLOCK {
            let spans = Spanned(work).run::<C>();
            return spans.finish(|numbers| smalls.push(Multiplied(numbers)));
        }
        let ahead = AHEAD / size_of::<K::Component>();
        let rows = work.rows(0, offsets, ahead);
        work.columns.short::<C>(rows, |numbers| smalls.push(Multiplied(numbers)));
    }
}
