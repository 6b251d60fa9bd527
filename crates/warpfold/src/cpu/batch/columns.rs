//! Inputs that lie side by side: each lane is an output, and rows of memory are added lane by lane.
//!
//! A unit of work is a stripe of columns, wide enough that its rows are read as long pieces and narrow enough that its accumulators stay in
//! the nearest cache. Rows are taken a few at a time: surveyed, then added while a block of accumulators is in registers. Where additions
//! under one rule would no longer be exact the stripe is poured into its columns' partials and begins anew. Where stripes are few and
//! columns long, threads share the rows of a stripe, over all folded loops; where they are narrow and dense, several rows make a wide one.
//! Columns of few rows need no accumulators in memory (`few`).

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::few::Few;
use super::held::Held;
use super::lanes::{Kind, N, Places};
use super::outputs::{Counts, Sink};
use super::stripes::{At, Columns};
use crate::cpu::crew::share;
use crate::cpu::isa::{Job, with_isa};
use crate::cpu::memory::prefetch_at;
use crate::plan::BatchPlan;
use crate::shape::Form;

/// Elements of the rows that are taken at a time.
pub(super) const CHUNK: usize = 8192;

/// Additions in one lane at most, whatever the kind: integer lanes have room for so many.
const MOST: u64 = 1 << 30;

/// Folds every column with lanes of a kind.
pub(super) fn run<K: Kind>(
    kind: K,
    plan: &BatchPlan,
    x: &[K::Element],
    form: &Form,
    sink: &dyn Sink<K::Small>,
) {
    let columns = Columns::new(form, plan.threads);
    let rest = columns.rest();
    let next = AtomicUsize::new(0);
    // Where a column is found in more than one fold or lane, all are held together.
    let held = |k| Mutex::new(Held::<K>::new(sink, columns.stripe(k).real));
    let shared: Vec<_> = match columns.is_shared() {
        true => (0..columns.stripes()).map(held).collect(),
        false => Vec::new(),
    };
    let units = columns.stripes() * columns.parts;
    // Neighbouring stripes, so that a thread reads on where it was.
    let grain = (units / (16 * plan.threads)).clamp(1, 16);
    let work = || {
        let mut smalls = Vec::new();
        loop {
            let first = grain * next.fetch_add(1, Ordering::Relaxed);
            if first >= units {
                return;
            }
            for unit in first..units.min(first + grain) {
                let (stripe, part) = (unit / columns.parts, unit % columns.parts);
                let shared = shared.get(stripe);
                for columns in [Some(&columns), rest.as_ref()].into_iter().flatten() {
                    let mut fold = Stripe::new(kind, x, columns, stripe, sink, shared);
                    let rows = Rows { fold: &mut fold, columns, part, smalls: &mut smalls };
                    with_isa(plan.isa, rows);
                    fold.finish(&smalls);
                }
            }
        }
    };
    share(plan.threads, &work);
    for (stripe, held) in shared.into_iter().enumerate() {
        let at = columns.stripe(stripe);
        held.into_inner().unwrap_or_else(|poison| poison.into_inner()).leave(at.first, at.step);
    }
}

/// The accumulators of a stripe.
struct Stripe<'s, 'k, K: Kind> {
    kind: K,
    x: &'s [K::Element],
    at: At,
    /// From a row to the next of those that are taken as one.
    place: i64,
    inputs: u64,
    lanes: Vec<K::Lanes>,
    rule: Option<K::Rule>,
    /// Rows added under the rule, and those it was made for.
    added: u64,
    room: u64,
    /// Rows that there are in all turns.
    expected: u64,
    sink: &'k dyn Sink<K::Small>,
    shared: Option<&'s Mutex<Held<'k, K>>>,
    /// What it holds by itself, once lanes are not enough.
    own: Option<Held<'k, K>>,
}

impl<'s, 'k, K: Kind> Stripe<'s, 'k, K> {
    fn new(
        kind: K,
        x: &'s [K::Element],
        columns: &Columns<'_>,
        stripe: usize,
        sink: &'k dyn Sink<K::Small>,
        shared: Option<&'s Mutex<Held<'k, K>>>,
    ) -> Self {
        let (at, place, inputs) = (columns.stripe(stripe), columns.place, columns.form.inputs);
        let (lanes, rule, own) = (Vec::new(), None, None);
        let (added, room, expected) = (0, 0, 0);
        Stripe { kind, x, at, place, inputs, lanes, rule, added, room, expected, sink, shared, own }
    }

    fn groups(&self) -> usize {
        self.at.width.div_ceil(N)
    }

    /// Does something with what is held, by itself unless it is shared.
    fn with_held(&mut self, work: impl FnOnce(&Self, &mut Held<'k, K>)) {
        match self.shared {
            Some(held) => {
                work(self, &mut held.lock().unwrap_or_else(|poison| poison.into_inner()));
            }
            None => {
                let own = self.own.take();
                let mut own = own.unwrap_or_else(|| Held::new(self.sink, self.at.real));
                work(self, &mut own);
                self.own = Some(own);
            }
        }
    }

    /// Empties the lanes into what is held.
    #[inline(never)]
    fn pour(&mut self) {
        if self.added > 0 {
            self.with_held(|fold, held| {
                let (mut column, mut moved) = (0, 0);
                let smalls = fold.lanes.iter().flat_map(|lanes| fold.kind.all(lanes));
                for small in smalls.take(fold.at.width) {
                    held.join(column, &K::moved(small, moved), fold.added);
                    column += 1;
                    // The columns of the next row, where several are taken as one.
                    if column == fold.at.real {
                        (column, moved) = (0, moved.wrapping_add(fold.place));
                    }
                }
            });
        }
        (self.added, self.rule) = (0, None);
    }

    /// What the lanes of each column hold; nothing if more belongs to columns than that.
    #[inline(always)]
    fn read(&self, smalls: &mut Vec<K::Small>) {
        if self.shared.is_some() || self.own.is_some() || self.added == 0 {
            return;
        }
        for lanes in &self.lanes {
            smalls.extend(self.kind.all(lanes));
        }
        smalls.truncate(self.at.width);
    }

    /// Hands on the result of each column: what was read of lanes, or all that belongs to it.
    fn finish(mut self, smalls: &[K::Small]) {
        if !smalls.is_empty() {
            let count = Counts::Same(self.inputs);
            return self.sink.smalls(self.at.first, self.at.step, count, smalls);
        }
        self.pour();
        if let Some(own) = self.own {
            own.leave(self.at.first, self.at.step);
        }
    }

    /// Adds `rows` rows that begin at `start` and `stride` apart; `first` is the place of the first.
    #[inline(always)]
    fn rows(&mut self, start: usize, stride: usize, rows: usize, first: u64, place: i64) {
        let (kind, x, width) = (self.kind, self.x, self.at.width);
        let at_a_time = (CHUNK / width).clamp(1, rows.max(1));
        let dense = stride == width;
        let mut row = 0;
        while row < rows {
            let some = at_a_time.min(rows - row);
            let from = start + row * stride;
            let near = if dense { some * width } else { width };
            let mut range = kind.survey(&x[from..from + near]);
            if !dense {
                for k in 1..some {
                    let at = from + k * stride;
                    range = K::join(range, kind.survey(&x[at..at + width]));
                }
            }
            let place = (first.wrapping_add_signed(place.wrapping_mul(row as i64)), place);
            if self.is_ruled(range, some as u64, self.expected) {
                self.add(from, stride, some, place);
                self.added += some as u64;
            } else {
                self.pour();
                self.uncovered(from, stride, some, place);
            }
            row += some;
        }
    }

    /// Sees to a rule under which more rows may be added.
    #[inline(always)]
    fn is_ruled(&mut self, range: K::Range, more: u64, rows: u64) -> bool {
        if let Some(rule) = self.rule {
            if self.added + more <= self.room && K::holds(rule, range) {
                return true;
            }
            self.pour();
        }
        // As many additions as there may be, or fewer if the range leaves no room for them.
        for room in [rows.min(MOST), (more * 128).min(rows), more] {
            if room >= more
                && let Some(rule) = self.kind.rule(range, room)
            {
                (self.rule, self.room) = (Some(rule), room);
                self.lanes.clear();
                self.lanes.resize(self.groups(), self.kind.lanes(rule));
                return true;
            }
        }
        false
    }

    #[inline(always)]
    fn add(&mut self, from: usize, stride: usize, rows: usize, (first, place): (u64, i64)) {
        let (kind, x, width) = (self.kind, self.x, self.at.width);
        let at = |k: usize| first.wrapping_add_signed(place.wrapping_mul(k as i64));
        let next = rows * stride * size_of::<K::Element>();
        for (group, lanes) in self.lanes.iter_mut().enumerate() {
            let (column, mut sum) = (group * N, *lanes);
            if column + N <= width {
                for k in 0..rows {
                    let start = from + k * stride + column;
                    let group =
                        x[start..].first_chunk::<N>().expect("the stripe lies in the array");
                    // The next rows, while these are added: all at once would keep the core from anything else.
                    prefetch_at(group, next);
                    kind.add(&mut sum, group, Places { first: at(k), step: 0 });
                }
            } else {
                for k in 0..rows {
                    let start = from + k * stride;
                    // What lanes without a column hold is never read.
                    let group = kind.group(&x[start + column..start + width]);
                    kind.add(&mut sum, &group, Places { first: at(k), step: 0 });
                }
            }
            *lanes = sum;
        }
    }

    /// Rows that no rule covers together: a group of lanes at a time, and what none covers then one by one.
    #[inline(never)]
    fn uncovered(&mut self, from: usize, stride: usize, rows: usize, (first, place): (u64, i64)) {
        self.with_held(|fold, held| {
            let (kind, x, at) = (fold.kind, fold.x, fold.at);
            for column in (0..at.width).step_by(N) {
                let columns = column..at.width.min(column + N);
                for k in 0..rows {
                    let start = from + k * stride;
                    let elements = &x[start + columns.start..start + columns.end];
                    let Some(rule) = kind.rule(kind.survey(elements), 1) else {
                        for column in columns.clone() {
                            held.single(column % at.real, start + column);
                        }
                        continue;
                    };
                    let group = kind.group(elements);
                    let mut lanes = kind.lanes(rule);
                    let first = first.wrapping_add_signed(place.wrapping_mul(k as i64));
                    kind.add(&mut lanes, &group, Places { first, step: 0 });
                    for (lane, column) in columns.clone().enumerate() {
                        held.join(column % at.real, &kind.lane(&lanes, lane), 1);
                    }
                }
            }
        });
    }
}

/// All rows of a part of a stripe, for one instruction set, and what lanes hold of all there is.
struct Rows<'r, 's, 'k, K: Kind> {
    fold: &'r mut Stripe<'s, 'k, K>,
    columns: &'r Columns<'r>,
    part: usize,
    smalls: &'r mut Vec<K::Small>,
}

impl<K: Kind> Job for Rows<'_, '_, '_, K> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Rows { fold, columns, part, smalls } = self;
        let Columns { wide, stride, place, .. } = *columns;
        smalls.clear();
        if let (Some(rows), None) = (columns.few(), fold.shared) {
            let first = columns.turn(0).1;
            let few = Few { kind: fold.kind, x: fold.x, at: fold.at, stride, rows, first, place };
            if few.read(smalls) {
                return;
            }
            smalls.clear();
        }
        fold.expected = columns.part(part).len() as u64;
        for (turn, rows) in columns.stretches(part) {
            let (after, first) = columns.turn(turn);
            let start = fold.at.start + after + rows.start * stride;
            let first = first.wrapping_add_signed(place.wrapping_mul(rows.start as i64));
            fold.rows(start, stride * wide, rows.len() / wide, first, place * wide as i64);
        }
        fold.read(smalls);
    }
}
