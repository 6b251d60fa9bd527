//! Products of neighbouring columns: each in a lane of its own, so that rows of memory are vectors as they lie.
//!
//! Stripes of columns are narrow enough that the results of their runs are kept, and the rows of a run are read beside each other. What of a run no lane takes
//! (zeros, infinities, NaNs, the smallest numbers) is multiplied by itself. Of columns that fill no more than a vector, each vector has a run of its own.

use super::chains::{Chain, Complex, Real};
use super::fold::{ElementProduct, NodeOf};
#[cfg(target_arch = "x86_64")]
use super::lanes::avx2::Four;
use super::lanes::portable::Plain;
use super::lanes::{MOST, Vector};
use super::runs::{ABREAST, Factor, KEPT, Kept, keep};
use crate::Nan;
use crate::isa::Target;
use crate::memory::{LINE, prefetch_bytes};
use warpfold_exact::partial::SpecialFlags;
use warpfold_exact::tree::{BLOCK, RUN};
use warpfold_plan::plan::Isa;

/// Columns of a stripe at most.
pub(crate) const WIDTH: usize = KEPT;

/// Columns that are multiplied at a time at most; fewer are copied together with ones.
const NARROW: usize = ABREAST * MOST;

/// Bytes ahead of several runs of few columns that are asked for.
const AHEAD: usize = 4 << 10;

/// The level of blocks.
const BLOCK_LEVEL: u32 = 2;

/// Products of a stripe of columns.
pub(crate) struct Columns<K: ElementProduct> {
    nan: Nan,
    /// The results of a run of each column, and of a block.
    runs: Box<Kept>,
    blocks: Box<Kept>,
    /// What these do not show, if there is anything.
    flags: Box<[SpecialFlags; WIDTH]>,
    is_flagged: bool,
    /// A few columns, among ones.
    stage: Vec<K::Component>,
}

/// Rows of a stripe of columns.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'x, F> {
    /// The columns, of which the first begins here.
    pub(crate) x: &'x [F],
    pub(crate) columns: usize,
    /// Where rows begin, in the order of their indices.
    pub(crate) rows: &'x [usize],
    /// Numbers from a row to what is read after all of these.
    pub(crate) ahead: usize,
}

impl<F> Rows<'_, F> {
    /// Where runs begin from which on the rows of all lie alike, after each of which so many numbers may be read; `None` of other rows.
    #[inline(always)]
    fn abreast(&self, rows: &[usize], width: usize) -> Option<[*const F; ABREAST]> {
        let (runs, []) = rows.as_chunks::<{ RUN as usize }>() else { return None };
        let runs: &[[usize; RUN as usize]; ABREAST] = runs.try_into().ok()?;
        let (mut last, mut are_alike, mut from) = (0, true, [self.x.as_ptr(); ABREAST]);
        for v in 0..ABREAST {
            let distance = runs[v][0].wrapping_sub(runs[0][0]);
            for k in 0..RUN as usize {
                are_alike &= runs[v][k].wrapping_sub(runs[0][k]) == distance;
                last = last.max(runs[v][k]);
            }
            from[v] = from[v].wrapping_add(distance);
        }
        let is_within = last.checked_add(width).is_some_and(|end| end <= self.x.len());
        (are_alike && is_within).then_some(from)
    }
}

/// Products of the columns of a stripe along the tree: of aligned spans of rows, one after another, by their levels. What is no whole block is the last.
pub(crate) struct Spans<K: ElementProduct>(Vec<(u32, Vec<Option<NodeOf<K>>>)>);

impl<K: ElementProduct> Spans<K> {
    pub(crate) fn new() -> Self {
        Spans(Vec::new())
    }

    fn push(&mut self, level: u32, nodes: Vec<Option<NodeOf<K>>>) {
        self.0.push((level, nodes));
        while let [.., (left, _), (right, _)] = &self.0[..]
            && left == right
        {
            self.join(left + 1);
        }
    }

    /// Joins the last two.
    fn join(&mut self, level: u32) {
        if let (Some((_, right)), Some((last, left))) = (self.0.pop(), self.0.last_mut()) {
            for (left, right) in left.iter_mut().zip(right) {
                *left = match (&left, right) {
                    (Some(left), Some(right)) => Some(K::join(left, &right)),
                    _ => None,
                };
            }
            *last = level;
        }
    }

    /// Takes in those of the next rows: where these began, spans of all levels do.
    pub(crate) fn append(&mut self, other: Self) {
        other.0.into_iter().for_each(|(level, nodes)| self.push(level, nodes));
    }

    /// Mantissas and exponents of each column.
    pub(crate) fn finish(mut self, mut hand: impl FnMut([f64; 5])) {
        while self.0.len() > 1 {
            self.join(0);
        }
        for node in self.0.iter().flat_map(|(_, nodes)| nodes) {
            hand(node.as_ref().map_or([f64::NAN; 5], K::numbers));
        }
    }
}

impl<K: ElementProduct> Columns<K> {
    pub(crate) fn new(nan: Nan) -> Self {
        let one = [K::Component::ONE, K::Component::ZERO];
        let stage = one[..K::PARTS].repeat(NARROW * RUN as usize);
        let flags = Box::new([SpecialFlags::default(); WIDTH]);
        Columns { nan, runs: Kept::new(), blocks: Kept::new(), flags, is_flagged: false, stage }
    }

    /// Multiplies all rows, no more than those of a block: passes on mantissas and exponents of each column.
    #[inline(always)]
    pub(crate) fn short<C: Target>(
        &mut self,
        rows: Rows<'_, K::Component>,
        mut hand: impl FnMut([f64; 5]),
    ) {
        self.with_target::<C>(rows);
        let parts = <K::Chain<Plain<1>> as Chain<Plain<1>>>::PARTS;
        let made = if rows.rows.len() > RUN as usize { &self.blocks } else { &self.runs };
        for column in 0..rows.columns {
            if self.is_flagged && self.flags[column].any() {
                hand(self.node(made, column).as_ref().map_or([f64::NAN; 5], K::numbers));
            } else {
                hand(made.result(parts, column));
            }
        }
    }

    /// Adds a block of rows, or less at the end, to spans.
    #[inline(always)]
    pub(crate) fn block<C: Target>(&mut self, rows: Rows<'_, K::Component>, spans: &mut Spans<K>) {
        self.with_target::<C>(rows);
        let made = if rows.rows.len() > RUN as usize { &self.blocks } else { &self.runs };
        let level = if rows.rows.len() as u64 == BLOCK { BLOCK_LEVEL } else { 0 };
        spans.push(level, (0..rows.columns).map(|column| self.node(made, column)).collect());
    }

    fn node(&self, made: &Kept, column: usize) -> Option<NodeOf<K>> {
        K::node(made, column).map(|node| K::with_specials(node, self.flags[column]))
    }

    #[inline(always)]
    fn with_target<C: Target>(&mut self, rows: Rows<'_, K::Component>) {
        if self.is_flagged {
            *self.flags = [SpecialFlags::default(); WIDTH];
            self.is_flagged = false;
        }
        match C::ISA {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 | Isa::Avx512 => self.in_lanes::<Four>(rows),
            _ => self.in_lanes::<Plain<4>>(rows),
        }
    }

    #[inline(always)]
    fn in_lanes<V: Vector>(&mut self, all: Rows<'_, K::Component>) {
        if all.rows.len() <= RUN as usize {
            return self.run::<V>(all);
        }
        if all.columns <= V::N {
            return self.in_lanes_of_runs::<V>(all);
        }
        let mut chains = vec![K::Chain::<V>::one(); all.columns.div_ceil(V::N)];
        for rows in all.rows.chunks(RUN as usize) {
            // The next run, while this one is multiplied.
            let next =
                all.rows.get(RUN as usize).map_or(all.ahead, |next| next.wrapping_sub(all.rows[0]));
            self.run::<V>(Rows { rows, ahead: next, ..all });
            for (v, chain) in chains.iter_mut().enumerate() {
                chain.join(&self.runs.vectors(<K::Chain<V> as Chain<V>>::PARTS, v * V::N));
            }
        }
        for (v, chain) in chains.into_iter().enumerate() {
            keep(chain, &mut self.blocks, v * V::N);
        }
    }

    /// The same of columns that fill no more than a vector: several runs at a time, each in a vector, beside what follows its columns in memory.
    #[inline(always)]
    fn in_lanes_of_runs<V: Vector>(&mut self, all: Rows<'_, K::Component>) {
        let parts = <K::Chain<V> as Chain<V>>::PARTS;
        let mut chain = K::Chain::<V>::one();
        for rows in all.rows.chunks(ABREAST * RUN as usize) {
            if let Some(from) = all.abreast(rows, V::N * K::PARTS) {
                let (first, kept) = (&rows[..RUN as usize], &mut self.runs);
                // What the next ones need, a line of the cache at a time: `down` asks for what lies beside the first run alone.
                let apart = rows[1].abs_diff(rows[0]) * size_of::<K::Component>();
                for row in rows.iter().step_by((LINE / apart.max(1)).max(1)) {
                    prefetch_bytes(all.x.as_ptr().wrapping_add(*row), 1, AHEAD);
                }
                // SAFETY: a vector may be read from each row of each run.
                let are_normal =
                    unsafe { down::<V, K::Chain<V>, K::Component>(from, first, 0, kept, 0) };
                for (v, rows) in rows.chunks(RUN as usize).enumerate() {
                    if !are_normal {
                        self.apart(all.x, rows, 0..all.columns, v * V::N);
                    }
                    chain.join(&self.runs.vectors(parts, v * V::N));
                }
                continue;
            }
            for rows in rows.chunks(RUN as usize) {
                self.run::<V>(Rows { rows, ..all });
                chain.join(&self.runs.vectors(parts, 0));
            }
        }
        keep(chain, &mut self.blocks, 0);
    }

    /// Multiplies the rows of one run.
    #[inline(always)]
    fn run<V: Vector>(&mut self, Rows { x, columns, rows, ahead }: Rows<'_, K::Component>) {
        let width = ABREAST * V::N;
        assert!(rows.len() <= RUN as usize && columns <= WIDTH, "a run of a stripe");
        for row in rows {
            let end = row.checked_add(columns * K::PARTS);
            assert!(end.is_some_and(|end| end <= x.len()), "rows are of the array");
        }
        if columns < width {
            let mut starts = [0; RUN as usize];
            for k in 0..rows.len() {
                starts[k] = k * width * K::PARTS;
                self.stage[starts[k]..][..columns * K::PARTS]
                    .copy_from_slice(&x[rows[k]..][..columns * K::PARTS]);
            }
            // SAFETY: so many rows of whole vectors are staged.
            let are_normal = unsafe {
                let (from, rows) = (beside::<V, K>(self.stage.as_ptr()), &starts[..rows.len()]);
                let kept = &mut self.runs;
                down::<V, K::Chain<V>, K::Component>(from, rows, ahead, kept, 0)
            };
            if !are_normal {
                self.apart(x, rows, 0..columns, 0);
            }
            return;
        }
        let mut at = 0;
        while at < columns {
            // The last ones once more, where there are no others beside them.
            let first = at.min(columns - width);
            // SAFETY: whole vectors of these columns are in each row.
            let are_normal = unsafe {
                let from = beside::<V, K>(x.as_ptr().add(first * K::PARTS));
                let kept = &mut self.runs;
                down::<V, K::Chain<V>, K::Component>(from, rows, ahead, kept, first)
            };
            if !are_normal {
                self.apart(x, rows, first..first + width, first);
            }
            at += width;
        }
    }

    /// Multiplies those of some columns that lanes, kept from one on, did not.
    #[inline(never)]
    fn apart(
        &mut self,
        x: &[K::Component],
        rows: &[usize],
        columns: std::ops::Range<usize>,
        first: usize,
    ) {
        let parts = <K::Chain<Plain<1>> as Chain<Plain<1>>>::PARTS;
        for (column, lane) in columns.zip(first..) {
            if self.runs.number(parts, lane).is_finite() {
                continue;
            }
            let at = column * K::PARTS;
            let leaf = |row: &usize| K::leaf(&x[row + at..][..K::PARTS], self.nan);
            let leaves: Vec<_> = rows.iter().map(leaf).collect();
            let (numbers, specials) = K::apart(&leaves);
            self.runs.set(parts, lane, numbers);
            self.flags[column] = self.flags[column].union(specials);
            self.is_flagged |= specials.any();
        }
    }
}

/// Where neighbouring vectors of columns begin.
#[inline(always)]
fn beside<V: Vector, K: ElementProduct>(x: *const K::Component) -> [*const K::Component; ABREAST] {
    std::array::from_fn(|v| x.wrapping_add(v * V::N * K::PARTS))
}

/// Multiplies some vectors of columns, each of the same rows after where it begins, and keeps their results from `column` on; says whether all are of
/// normal numbers.
///
/// # Safety
/// A vector may be read from each row.
#[inline(always)]
unsafe fn down<V: Vector, C: Chain<V>, F: Factor>(
    x: [*const F; ABREAST],
    rows: &[usize],
    ahead: usize,
    kept: &mut Kept,
    column: usize,
) -> bool {
    let mut are_normal = true;
    // SAFETY: as the caller says.
    unsafe {
        if C::PARTS == 2 {
            let chains = reals::<V, F>(x, rows, ahead);
            for v in 0..ABREAST {
                are_normal &= keep(chains[v], kept, column + v * V::N);
            }
        } else {
            let chains = complexes::<V, F>(x, rows, ahead);
            for v in 0..ABREAST {
                are_normal &= keep(chains[v], kept, column + v * V::N);
            }
        }
    }
    are_normal
}

/// # Safety
/// As [`down`].
#[inline(always)]
unsafe fn reals<V: Vector, F: Factor>(
    x: [*const F; ABREAST],
    rows: &[usize],
    ahead: usize,
) -> [Real<V>; ABREAST] {
    // SAFETY: as the caller says.
    unsafe {
        let (chains, seen) = reals_with::<V, F, false>(x, rows, ahead);
        match F::HALF {
            Some(half) if !V::are_within(seen, half) => reals_with::<V, F, true>(x, rows, ahead).0,
            _ => chains,
        }
    }
}

/// The same with exponents apart or not.
///
/// # Safety
/// As [`down`].
#[inline(always)]
unsafe fn reals_with<V: Vector, F: Factor, const APART: bool>(
    x: [*const F; ABREAST],
    rows: &[usize],
    ahead: usize,
) -> ([Real<V>; ABREAST], V::Monitor) {
    let (mut chains, mut seen) = ([Real::<V>::one(); ABREAST], V::monitor());
    for rows in rows.chunks(F::JOIN) {
        let mut factors = [V::splat(1.0); ABREAST];
        for (k, &row) in rows.iter().enumerate() {
            prefetch_bytes(x[0].wrapping_add(row), 1, ahead.wrapping_mul(size_of::<F>()));
            for v in 0..ABREAST {
                // SAFETY: as the caller says.
                let numbers = unsafe { F::parts::<V>(x[v].wrapping_add(row)) };
                factors[v] = if k == 0 { numbers } else { factors[v].mul(numbers) };
            }
        }
        for v in 0..ABREAST {
            match (APART, F::HALF) {
                (true, _) => chains[v].multiply(factors[v]),
                (_, Some(half)) => {
                    factors[v].observe(&mut seen, half);
                    chains[v].multiply_plain(factors[v]);
                }
                _ => chains[v].multiply_plain(factors[v]),
            }
        }
    }
    (chains, seen)
}

/// # Safety
/// As [`down`].
#[inline(always)]
unsafe fn complexes<V: Vector, F: Factor>(
    x: [*const F; ABREAST],
    rows: &[usize],
    ahead: usize,
) -> [Complex<V>; ABREAST] {
    let mut chains = [Complex::<V>::one(); ABREAST];
    // Two factors of elements that are multiplied in pairs.
    let group = if F::JOIN == 1 { 1 } else { 4 };
    for rows in rows.chunks(group) {
        for pair in rows.chunks(F::JOIN) {
            for &row in pair {
                prefetch_bytes(x[0].wrapping_add(row), 1, ahead.wrapping_mul(size_of::<F>()));
            }
            for v in 0..ABREAST {
                // SAFETY: as the caller says.
                let [re, im] = unsafe { complex::<V, F>(x[v].wrapping_add(pair[0])) };
                if F::JOIN == 1 {
                    chains[v].multiply_scaled(re, im);
                    continue;
                }
                let mut factor = [re, im, V::splat(1.0), V::splat(0.0)];
                if let Some(&row) = pair.get(1) {
                    // SAFETY: as the caller says.
                    let [re, im] = unsafe { complex::<V, F>(x[v].wrapping_add(row)) };
                    (factor[2], factor[3]) = (re, im);
                }
                chains[v].multiply_pairs(factor);
            }
        }
        if F::JOIN > 1 {
            for v in 0..ABREAST {
                chains[v].rescale();
            }
        }
    }
    chains
}

/// Loads complex numbers: their real and their imaginary parts.
///
/// # Safety
/// As many as there are lanes may be read.
#[inline(always)]
unsafe fn complex<V: Vector, F: Factor>(x: *const F) -> [V; 2] {
    // SAFETY: as the caller says.
    let (low, high) = unsafe { (F::parts::<V>(x), F::parts::<V>(x.add(V::N))) };
    V::apart(low, high)
}
