//! Products of floats of many short inputs that are contiguous: runs of 32 elements of several inputs side by side in lanes. Those of columns are in
//! `product_columns`, and inputs of one length that are shorter than a run (complex: half a run) are turned into columns.
//!
//! An input's runs become its blocks, and those its product, as the canonical tree has it. Inputs that are longer than a few blocks, or that lie
//! apart, take the kernels for one array.

use std::ops::Range;

use super::into_partial::IntoPartial;
use super::outputs::{Counts, Out, Sink};
use super::runs::{Runs, Strip, spread};
use super::{Batched, Source, alone, product_columns};
use crate::Nan;
use crate::isa::{Job, Target, has_lanes, with_lanes};
use crate::product::{Columns, ElementProduct, Rows, Several, WIDTH};
use crate::whole::FoldWhole;
use warpfold_exact::partial::Partial;
use warpfold_exact::tree::RUN;
use warpfold_plan::plan::Way;

/// Inputs that a thread hands on at a time.
const BLOCK: usize = 512;

/// The product of one input: mantissas, high and low, and its exponent, which is no number where the kernels for one array have to see to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Multiplied(pub(crate) [f64; 5]);

impl<T: FoldWhole> IntoPartial<T> for Multiplied {
    const IS_EXACT: bool = false;

    fn flush(&self, _: Nan, _: u64, _: &mut Partial<T>) {
        unreachable!("a result is no interval of leaves");
    }
}

/// Multiplies every input.
pub(crate) fn multiply<T: FoldWhole, K: ElementProduct>(
    batched: &Batched<'_, T>,
    parts: fn(&[T]) -> &[K::Component],
    out: &Out<'_, T, Multiplied>,
) {
    if !has_lanes(batched.plan.isa) {
        return alone(batched, out);
    }
    match batched.source {
        Source::Loops(x, form) if batched.plan.way == Way::Runs => {
            contiguous::<T, K>(batched, parts(x), Runs::Rows(form), out);
        }
        Source::Segments(x, bounds) => {
            contiguous::<T, K>(batched, parts(x), Runs::Segments(bounds), out);
        }
        Source::Loops(x, form)
            if batched.plan.way == Way::Columns && product_columns::fits(form) =>
        {
            product_columns::multiply::<T, K>(batched.plan, parts(x), form, out);
        }
        Source::Loops(..) => alone(batched, out),
        Source::Groups(x, numbers, groups) => {
            batched.sorted((x, numbers, groups), out.writer, |batched, out| {
                multiply::<T, K>(batched, parts, out);
            });
        }
    }
}

fn contiguous<T: FoldWhole, K: ElementProduct>(
    batched: &Batched<'_, T>,
    x: &[K::Component],
    runs: Runs<'_>,
    out: &Out<'_, T, Multiplied>,
) {
    let (plan, nan) = (batched.plan, batched.plan.batch.policy.nan);
    spread(plan, runs, out, &|| {
        let mut several = Several::<K>::new(nan);
        let mut turned = Turned::<K>::new(nan);
        let (mut smalls, mut counts) = (Vec::new(), Vec::new());
        Box::new(move |strip: Strip<'_>, runs: Range<usize>, deferred: &mut Vec<usize>| {
            for first in runs.clone().step_by(BLOCK) {
                let runs = first..runs.end.min(first + BLOCK);
                // Turning costs as much as an element's parts are many, and is of use where a run is mostly empty.
                let most = RUN as usize / K::PARTS;
                if let Some(length) = strip.length().filter(|length| (1..most).contains(length)) {
                    smalls.clear();
                    let (turned, smalls) = (&mut turned, &mut smalls);
                    with_lanes(
                        plan.isa,
                        Even { turned, x, strip, runs: runs.clone(), length, smalls },
                    );
                    let counts = Counts::Same(length as u64);
                    out.smalls(strip.output(runs.start), strip.step(), counts, smalls);
                    continue;
                }
                // Between inputs that are left to the kernels for one array.
                let mut next = runs.start;
                while next < runs.end {
                    let is_long = |run: &usize| strip.range(*run).len() > Several::<K>::MOST;
                    let end = (next..runs.end).find(is_long).unwrap_or(runs.end);
                    let some = next..end;
                    next = end;
                    if some.is_empty() {
                        deferred.push(end);
                        next += 1;
                        continue;
                    }
                    smalls.clear();
                    counts.clear();
                    counts.extend(some.clone().map(|run| strip.range(run).len() as u64));
                    let (several, smalls) = (&mut several, &mut smalls);
                    with_lanes(plan.isa, Inputs { several, x, strip, some: some.clone(), smalls });
                    let counts = Counts::Each(&counts);
                    out.smalls(strip.output(some.start), strip.step(), counts, smalls);
                }
            }
        })
    });
}

/// Inputs of one length, less than a run, as columns: in lanes of their own they need no room of a run each.
struct Turned<K: ElementProduct> {
    columns: Columns<K>,
    stage: Vec<K::Component>,
    rows: Vec<usize>,
}

impl<K: ElementProduct> Turned<K> {
    fn new(nan: Nan) -> Self {
        Turned { columns: Columns::new(nan), stage: Vec::new(), rows: Vec::new() }
    }
}

/// Some inputs of one length for one instruction set.
struct Even<'b, K: ElementProduct> {
    turned: &'b mut Turned<K>,
    x: &'b [K::Component],
    strip: Strip<'b>,
    runs: Range<usize>,
    length: usize,
    smalls: &'b mut Vec<Multiplied>,
}

impl<K: ElementProduct> Job for Even<'_, K> {
    type Output = ();

    #[inline(always)]
    fn run<C: Target>(self) {
        let Even { turned: Turned { columns, stage, rows }, x, strip, runs, length, smalls } = self;
        stage.resize(length * WIDTH * K::PARTS, x[0]);
        rows.clear();
        rows.extend((0..length).map(|k| k * WIDTH * K::PARTS));
        for first in runs.clone().step_by(WIDTH) {
            let count = WIDTH.min(runs.end - first);
            for l in 0..count {
                let input = &x[strip.range(first + l).start * K::PARTS..][..length * K::PARTS];
                for k in 0..length {
                    for part in 0..K::PARTS {
                        stage[(k * WIDTH + l) * K::PARTS + part] = input[k * K::PARTS + part];
                    }
                }
            }
            let rows = Rows { x: &stage[..], columns: count, rows: &rows[..], ahead: 0 };
            columns.short::<C>(rows, |product| smalls.push(Multiplied(product)));
        }
    }
}

/// Some inputs for one instruction set.
struct Inputs<'b, K: ElementProduct> {
    several: &'b mut Several<K>,
    x: &'b [K::Component],
    strip: Strip<'b>,
    some: Range<usize>,
    smalls: &'b mut Vec<Multiplied>,
}

impl<K: ElementProduct> Job for Inputs<'_, K> {
    type Output = ();

    #[inline(always)]
    fn run<C: Target>(self) {
        let Inputs { several, x, strip, some, smalls } = self;
        for run in some {
            let Range { start, end } = strip.range(run);
            let input = &x[start * K::PARTS..end * K::PARTS];
            if !several.fits(input) {
                several.multiply::<C>(|product| smalls.push(Multiplied(product)));
            }
            // What follows the input in memory may be read with it, and is not looked at.
            // SAFETY: all inputs are borrowed until the end of the function.
            unsafe { several.take(input, &x[start * K::PARTS..]) };
        }
        several.multiply::<C>(|product| smalls.push(Multiplied(product)));
    }
}
