//! Inputs that lie side by side: each lane is an output, and rows of memory are added lane by lane.
//!
//! A unit of work is a stripe of columns, wide enough that its rows are read as long pieces and narrow enough that its accumulators stay in
//! the nearest cache. Rows are taken a few at a time: surveyed, then added while a block of accumulators is in registers. Where additions
//! under one rule would no longer be exact the stripe is poured into its columns' partials and begins anew. Where stripes are few and
//! columns long, threads share the rows of a stripe; where they are narrow and dense, several rows make a wide one.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Many;
use super::lanes::{Kind, N, Places};
use super::outputs::{Counts, Emit};
use crate::cpu::crew::share;
use crate::cpu::isa::{Job, with_isa};
use crate::cpu::memory::fetch;
use crate::element::Element;
use crate::partial::Partial;
use crate::shape::{Form, Loop};

/// Columns of a stripe at most.
const WIDTH: usize = 1024;

/// Elements of the rows that are taken at a time.
const CHUNK: usize = 4096;

/// Additions in one lane at most, whatever the kind: integer lanes have room for so many.
const MOST: u64 = 1 << 30;

/// Rows of a stripe that a thread takes where threads share them, in elements.
const PART: usize = 256 << 10;

/// Folds every column.
pub(super) fn run<T: Element, K: Kind<T>>(
    kind: K,
    many: &Many<'_, T>,
    x: &[T],
    form: &Form,
    emit: &dyn Emit<T, K::Small>,
) {
    let columns = Columns::new(form, many.plan.threads);
    let next = AtomicUsize::new(0);
    let halves: Vec<_> = match columns.is_shared() {
        true => (0..columns.stripes()).map(|_| Mutex::new(None)).collect(),
        false => Vec::new(),
    };
    let work = || {
        loop {
            let unit = next.fetch_add(1, Ordering::Relaxed);
            if unit >= columns.stripes() * columns.parts {
                return;
            }
            let (stripe, part) = (unit / columns.parts, unit % columns.parts);
            let at = columns.stripe(stripe);
            let mut fold = Stripe::new(kind, many, x, at, &columns);
            with_isa(many.plan.isa, Rows { fold: &mut fold, columns: &columns, part });
            match halves.get(stripe) {
                None => fold.emit(form.inputs, emit),
                Some(half) => {
                    let found = fold.partials();
                    let mut all = half.lock().unwrap_or_else(|poison| poison.into_inner());
                    match &mut *all {
                        None => *all = Some(found),
                        Some(all) => merge(all, &found),
                    }
                }
            }
        }
    };
    share(many.plan.threads, &work);
    let rest = columns.rest();
    for (stripe, half) in halves.into_iter().enumerate() {
        let at = columns.stripe(stripe);
        let found = half.into_inner().unwrap_or_else(|poison| poison.into_inner());
        let mut found = found.expect("every part of a stripe was folded");
        let (real, copies) = found.split_at_mut(at.width / columns.wide);
        for copy in copies.chunks(real.len()) {
            merge(real, copy);
        }
        if let Some(rest) = &rest {
            let mut fold = Stripe::new(kind, many, x, rest.stripe(stripe), rest);
            with_isa(many.plan.isa, Rows { fold: &mut fold, columns: rest, part: 0 });
            merge(real, &fold.partials());
        }
        for (column, partial) in real.iter().enumerate() {
            emit.partial(at.output(column), form.inputs, partial);
        }
    }
}

fn merge<T: Element>(all: &mut [Partial<T>], more: &[Partial<T>]) {
    for (all, more) in all.iter_mut().zip(more) {
        all.merge(more);
    }
}

/// How the columns of a form are cut up.
struct Columns<'a> {
    form: &'a Form,
    /// Columns of memory side by side.
    length: usize,
    /// Rows that are taken as one.
    wide: usize,
    /// Threads' parts of each stripe's rows.
    parts: usize,
    /// Loops over rows outside the innermost.
    outer: &'a [Loop],
    /// Rows of the innermost loop over rows that are taken, and from one to the next.
    first_row: usize,
    rows: usize,
    stride: usize,
    place: i64,
}

/// A stripe: where its first element lies, how many columns it has, and their outputs.
#[derive(Clone, Copy)]
struct At {
    start: usize,
    width: usize,
    first: u64,
    step: i64,
}

impl At {
    fn output(&self, column: usize) -> u64 {
        self.first.wrapping_add_signed(self.step.wrapping_mul(column as i64))
    }
}

impl<'a> Columns<'a> {
    fn new(form: &'a Form, threads: usize) -> Self {
        let length = form.kept.last().map_or(1, |l| l.length as usize);
        let (inner, outer) = match form.folded.split_last() {
            Some((inner, outer)) => (*inner, outer),
            None => (Loop { length: 1, stride: 0, place: 1 }, &[][..]),
        };
        let (rows, stride) = (inner.length as usize, inner.stride as usize);
        let (place, first_row) = (inner.place, 0);
        let mut columns =
            Columns { form, length, wide: 1, parts: 1, outer, first_row, rows, stride, place };
        let few = columns.stripes() < 4 * threads;
        if few && stride == length && length <= WIDTH / 4 {
            columns.wide = (WIDTH / length).min(rows);
        }
        let elements = rows * length.min(WIDTH);
        if few && threads > 1 {
            columns.parts = (elements / PART).clamp(1, 8 * threads);
        }
        columns
    }

    /// The rows that are too few to be taken as one.
    fn rest(&self) -> Option<Self> {
        let rest = self.rows % self.wide;
        let first_row = self.rows - rest;
        (rest > 0).then_some(Columns { wide: 1, parts: 1, first_row, rows: rest, ..*self })
    }

    /// Whether a stripe's columns are found in more than one fold or lane.
    fn is_shared(&self) -> bool {
        self.parts > 1 || self.wide > 1
    }

    fn per_turn(&self) -> usize {
        self.length.div_ceil(WIDTH)
    }

    fn stripes(&self) -> usize {
        (self.form.outputs as usize / self.length) * self.per_turn()
    }

    fn stripe(&self, number: usize) -> At {
        let (turn, k) = (number / self.per_turn(), number % self.per_turn());
        let (start, first) = self.form.turn(turn as u64);
        let step = self.form.kept.last().map_or(1, |l| l.place);
        let column = k * WIDTH;
        At {
            start: start as usize + column,
            width: WIDTH.min(self.length - column) * self.wide,
            first: first.wrapping_add_signed(step.wrapping_mul(column as i64)),
            step,
        }
    }
}

/// The accumulators of a stripe.
struct Stripe<'s, T: Element, K: Kind<T>> {
    kind: K,
    many: &'s Many<'s, T>,
    x: &'s [T],
    at: At,
    /// Columns that are outputs, and from a row to the next of those that are taken as one.
    real: usize,
    place: i64,
    lanes: Vec<K::Lanes>,
    rule: Option<K::Rule>,
    /// Rows added under the rule, and those it was made for.
    added: u64,
    room: u64,
    partials: Vec<Partial<T>>,
}

impl<'s, T: Element, K: Kind<T>> Stripe<'s, T, K> {
    fn new(kind: K, many: &'s Many<'s, T>, x: &'s [T], at: At, columns: &Columns<'_>) -> Self {
        let (lanes, partials) = (Vec::new(), Vec::new());
        let (real, place) = (at.width / columns.wide, columns.place);
        Stripe { kind, many, x, at, real, place, lanes, rule: None, added: 0, room: 0, partials }
    }

    fn groups(&self) -> usize {
        self.at.width.div_ceil(N)
    }

    /// Moves what lanes hold to the partials.
    fn pour(&mut self) {
        if self.partials.is_empty() {
            let empty = Partial::empty(self.many.plan.batch.op);
            self.partials.resize(self.at.width, empty);
        }
        if self.added > 0 {
            for (column, partial) in self.partials.iter_mut().enumerate() {
                let small = K::lane(&self.lanes[column / N], column % N);
                let row = (column / self.real) as i64;
                let small = K::moved(small, self.place.wrapping_mul(row));
                self.kind.pour(&small, self.added, partial);
            }
        }
        (self.added, self.rule) = (0, None);
    }

    /// Hands on the result of each column.
    fn emit(mut self, count: u64, emit: &dyn Emit<T, K::Small>) {
        if self.partials.is_empty() && self.added > 0 {
            let lane = |column: usize| K::lane(&self.lanes[column / N], column % N);
            let smalls: Vec<_> = (0..self.at.width).map(lane).collect();
            let mut left = Vec::new();
            emit.smalls(self.at.first, self.at.step, Counts::Same(count), &smalls, &mut left);
            for column in left {
                let mut partial = Partial::empty(self.many.plan.batch.op);
                self.kind.pour(&smalls[column], self.added, &mut partial);
                emit.partial(self.at.output(column), count, &partial);
            }
            return;
        }
        self.pour();
        for (column, partial) in self.partials.iter().enumerate() {
            emit.partial(self.at.output(column), count, partial);
        }
    }

    /// The partial of each column.
    fn partials(mut self) -> Vec<Partial<T>> {
        self.pour();
        self.partials
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
            for k in 0..some {
                // The next rows, while these are added.
                let at = from + (some + k) * stride;
                fetch(x.get(at..at + width).unwrap_or_default());
            }
            let place = (first.wrapping_add_signed(place.wrapping_mul(row as i64)), place);
            if self.is_ruled(range, some as u64, rows as u64) {
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
        for (group, lanes) in self.lanes.iter_mut().enumerate() {
            let (column, mut sum) = (group * N, *lanes);
            if column + N <= width {
                for k in 0..rows {
                    let start = from + k * stride + column;
                    let group =
                        x[start..].first_chunk::<N>().expect("the stripe lies in the array");
                    kind.add(&mut sum, group, Places { first: at(k), step: 0 });
                }
            } else {
                for k in 0..rows {
                    let start = from + k * stride;
                    let rest = &x[start + column..start + width];
                    // What lanes without a column hold is never read.
                    let mut group = [kind.filler(rest[0]); N];
                    group[..rest.len()].copy_from_slice(rest);
                    kind.add(&mut sum, &group, Places { first: at(k), step: 0 });
                }
            }
            *lanes = sum;
        }
    }

    /// Rows that no rule covers together: group by group, and what none covers then one by one.
    #[inline(never)]
    fn uncovered(&mut self, from: usize, stride: usize, rows: usize, (first, place): (u64, i64)) {
        let (kind, x, width) = (self.kind, self.x, self.at.width);
        for column in (0..width).step_by(N) {
            let columns = column..width.min(column + N);
            for k in 0..rows {
                let start = from + k * stride;
                let elements = &x[start + columns.start..start + columns.end];
                let range = kind.survey(elements);
                let Some(rule) = kind.rule(range, 1) else {
                    for (&x, column) in elements.iter().zip(columns.clone()) {
                        kind.single(x, &mut self.partials[column]);
                    }
                    continue;
                };
                let mut group = [kind.filler(elements[0]); N];
                group[..elements.len()].copy_from_slice(elements);
                let mut lanes = kind.lanes(rule);
                let at = first.wrapping_add_signed(place.wrapping_mul(k as i64));
                kind.add(&mut lanes, &group, Places { first: at, step: 0 });
                for (lane, column) in columns.clone().enumerate() {
                    let row = (column / self.real) as i64;
                    let small = K::moved(K::lane(&lanes, lane), self.place.wrapping_mul(row));
                    kind.pour(&small, 1, &mut self.partials[column]);
                }
            }
        }
    }
}

/// All rows of a part of a stripe, for one instruction set.
struct Rows<'r, 's, T: Element, K: Kind<T>> {
    fold: &'r mut Stripe<'s, T, K>,
    columns: &'r Columns<'r>,
    part: usize,
}

impl<T: Element, K: Kind<T>> Job for Rows<'_, '_, T, K> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Columns { form, wide, parts, outer, first_row, rows, stride, place, .. } =
            *self.columns;
        let turns: u64 = outer.iter().map(|l| l.length).product();
        let each = rows.div_ceil(parts).next_multiple_of(wide);
        let mine = (self.part * each).min(rows)..((self.part + 1) * each).min(rows);
        for turn in 0..turns {
            let (mut rest, mut start, mut first) = (turn, self.fold.at.start, form.first_place);
            for l in outer.iter().rev() {
                let step = rest % l.length;
                rest /= l.length;
                start += (step * l.stride) as usize;
                first = first.wrapping_add_signed(l.place.wrapping_mul(step as i64));
            }
            let row = first_row + mine.start;
            start += row * stride;
            first = first.wrapping_add_signed(place.wrapping_mul(row as i64));
            self.fold.rows(start, stride * wide, mine.len() / wide, first, place * wide as i64);
        }
    }
}
