//! Inputs that lie side by side: each lane is an output, and rows of memory are added lane by lane.
//!
//! A unit of work is a stripe of columns, wide enough that its rows are read as long pieces and narrow enough that its accumulators stay in
//! a near cache (`accumulators`). Where stripes are few and columns long, threads share the rows of a stripe, over all folded loops; where they are narrow
//! and contiguous, several rows make a wide one. Columns of few rows need no accumulators in memory (`short_columns`).

use std::sync::atomic::{AtomicUsize, Ordering};

use super::accumulators::Stripe;
use super::band::Band;
use super::lanes::LaneOperation;
use super::outputs::Sink;
use super::short_columns;
use super::stripes::{At, Columns};
use crate::isa::{Job, Target, with_lanes};
use crate::threads::share;
use warpfold_plan::plan::BatchPlan;
use warpfold_plan::shape::Form;

/// Bytes that are asked for ahead in all rows together, where these are few.
const AHEAD: usize = 32 << 10;

/// Folds every column with lanes of a kind.
pub(super) fn run<K: LaneOperation>(
    kind: K,
    plan: &BatchPlan,
    x: &[K::Element],
    form: &Form,
    sink: &dyn Sink<K::Small>,
) {
    let columns = Columns::new(form, plan.threads, K::MERGES);
    let rest = columns.rest();
    let next = AtomicUsize::new(0);
    // Where a column is found in more than one fold or lane, all share an overflow store.
    let overflow = |k| Stripe::overflow(kind, columns.stripe(k), sink);
    let shared: Vec<_> = match columns.is_shared() {
        true => (0..columns.stripes()).map(overflow).collect(),
        false => Vec::new(),
    };
    let units = columns.stripes() * columns.parts;
    // Neighbouring stripes, so that a thread reads on where it was.
    let grain = (units / (16 * plan.threads)).clamp(1, 16);
    let work = || {
        let (mut smalls, mut short, mut guess) = (Vec::new(), Vec::new(), None);
        loop {
            let first = grain * next.fetch_add(1, Ordering::Relaxed);
            if first >= units {
                return;
            }
            for unit in first..units.min(first + grain) {
                let (stripe, part) = (unit / columns.parts, unit % columns.parts);
                let shared = shared.get(stripe).map(Vec::as_slice);
                for columns in [Some(&columns), rest.as_ref()].into_iter().flatten() {
                    let mut fold = Stripe::new(kind, x, columns, stripe, sink, shared);
                    fold.guess = guess;
                    let (short, smalls) = (&mut short, &mut smalls);
                    with_lanes(plan.isa, Rows { fold: &mut fold, columns, part, short, smalls });
                    guess = fold.guess;
                    fold.finish(smalls);
                }
            }
        }
    };
    share(plan.threads, &work);
    for (stripe, overflow) in shared.into_iter().enumerate() {
        Stripe::flush_shared(columns.stripe(stripe), overflow);
    }
}

/// All rows of a part of a stripe, for one instruction set, and what lanes hold of all there is.
struct Rows<'r, 's, 'k, K: LaneOperation> {
    fold: &'r mut Stripe<'s, 'k, K>,
    columns: &'r Columns<'r>,
    part: usize,
    /// Lanes of the short-input path.
    short: &'r mut Vec<K::Lanes>,
    smalls: &'r mut Vec<K::Small>,
}

impl<K: LaneOperation> Job for Rows<'_, '_, '_, K> {
    type Output = ();

    #[inline(always)]
    fn run<C: Target>(self) {
        let Rows { fold, columns, part, short, smalls } = self;
        let Columns { wide, stride, position, .. } = *columns;
        smalls.clear();
        if let (Some(rows), None) = (columns.short_rows(), fold.shared) {
            let (kind, x, At { start, width, .. }) = (fold.kind, fold.x, fold.at);
            let (first, ahead) = (columns.turn(0).1, AHEAD / rows);
            let band = Band { kind, x, start, width, stride, rows, first, position, ahead };
            if short_columns::append(C::ISA, &band, &mut fold.guess, short, smalls) {
                smalls.truncate(width);
                return;
            }
            smalls.clear();
        }
        fold.expected = columns.part(part).len() as u64;
        if let Some((exponents, capacity)) = fold.guess {
            fold.begin(exponents, capacity);
        }
        for (turn, rows) in columns.stretches(part) {
            let (after, first) = columns.turn(turn);
            let start = fold.at.start + after + rows.start * stride;
            let first = first.wrapping_add_signed(position.wrapping_mul(rows.start as i64));
            fold.rows(start, stride * wide, rows.len() / wide, first, position * wide as i64);
        }
        fold.read(smalls);
    }
}
