//! From arrays to their partials: tiles are mapped one behind the other, and some of them are folded as any array is.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use warpfold_exact::AnyPartial;
use warpfold_exact::partial::{Count, Partial};
use warpfold_expr::{Id, Slice, TILE, Tiles, Type, lanes};
use warpfold_num::{Accuracy, Error, Nan, Op, Policy, Result};
use warpfold_plan::{HostArray, Request};

use super::arrays::{buffered, given, length, part, slice};
use super::choose::{are_running, is_indexed, policy_of, running, straight};
use super::exponents::HALF;
use super::running::Folds;
use super::task::{Task, TaskPartial};
use super::weights::{bad_weight, drop_nans, weighted_square, weighted_squares};
use super::{Folded, Map, refused};
use crate::reduce;

/// Elements that a thread takes at once.
const GRAIN: usize = 1 << 18;
/// Elements that are mapped before they are folded, of one expression: their values fit the second cache.
pub(super) const CHUNK: usize = 32 << 10;
/// The least, of many expressions.
const LEAST: usize = 4 << 10;
/// Bytes of an input that are mapped, and folded, at once where every fold [keeps its state](Folds): values are folded while they are in the first cache,
/// and no more lines are asked for at once than arrive while that is done.
const SHORT: usize = 4 << 10;
/// Elements of inputs that are folded where they lie, by one task after another: they fit the second cache.
const CHUNK_OF_ONE: usize = 32 << 10;

pub(super) fn fold(map: &Map, inputs: &[HostArray<'_>], start: u64) -> Result<Folded> {
    let n = length(map, &given(inputs))?;
    let slices: Vec<Slice<'_>> = inputs.iter().map(slice).collect();
    let threads = map.policy.threads.unwrap_or(usize::MAX).min(crate::facts().threads);
    let grains = n.div_ceil(GRAIN);
    let (next, found) = (AtomicUsize::new(0), Mutex::new((map.empty(), None::<(usize, Error)>)));
    let work = || {
        let mut tiles = map.tiles(n);
        let mut worker = Grain::new(map, inputs, &slices, start, &mut tiles);
        let failed = loop {
            let grain = next.fetch_add(1, Ordering::Relaxed);
            if grain >= grains {
                break None;
            }
            if let Err(error) = worker.fold(grain * GRAIN..n.min((grain + 1) * GRAIN)) {
                // Whoever took an earlier grain ends it.
                next.store(grains, Ordering::Relaxed);
                break Some((grain, error));
            }
        };
        let mut found = found.lock().unwrap_or_else(|poison| poison.into_inner());
        match (failed, &mut found.1) {
            (Some(failed), Some(known)) if known.0 < failed.0 => {}
            (Some(failed), known) => *known = Some(failed),
            (None, _) => found.0.merge(&worker.finish()),
        }
    };
    warpfold_cpu::threads::share(threads.min(grains), &work);
    match found.into_inner().unwrap_or_else(|poison| poison.into_inner()) {
        (_, Some((_, error))) => Err(error),
        (all, None) => Ok(all),
    }
}

/// Elements of a step: their inputs are [`SHORT`] each.
fn step(map: &Map) -> usize {
    let widest = map.program.inputs().iter().map(|dtype| dtype.size()).max();
    (SHORT / widest.unwrap_or(1)).min(TILE)
}

/// How many elements are held at most.
pub(super) fn capacity(map: &Map) -> usize {
    if are_running(map) { TILE } else { CHUNK }
}

/// Elements that one thread folds, some after others.
pub(super) struct Grain<'g, 'm> {
    map: &'m Map,
    arrays: &'g [HostArray<'g>],
    inputs: &'g [Slice<'g>],
    start: u64,
    tiles: &'g mut Tiles<'m>,
    is_masked: bool,
    /// Whether every fold reads the inputs itself, and nothing is held.
    is_straight: bool,
    /// The first element of the chunk.
    first: usize,
    /// How many of its elements are held.
    buffered: usize,
    /// Where the elements that were kept stand, if anybody asks.
    indices: Option<Vec<u64>>,
    /// The partials of the tasks that have no fold of their own below.
    parts: Vec<TaskPartial>,
    folds: Vec<Option<Folds>>,
    /// Whether all weights of the chunk that was folded last are known to be such.
    are_weights: bool,
    /// Values that a task is to read as zero: the task, what it reads, and the positions in the chunk.
    cleared: Vec<(usize, Id, Vec<usize>)>,
}

impl<'g, 'm> Grain<'g, 'm> {
    pub(super) fn new(
        map: &'m Map,
        arrays: &'g [HostArray<'g>],
        inputs: &'g [Slice<'g>],
        start: u64,
        tiles: &'g mut Tiles<'m>,
    ) -> Self {
        let is_masked = map.is_masked();
        let n = arrays.iter().map(HostArray::len).max().unwrap_or(0);
        let straight = straight(map, tiles, n);
        let is_straight = straight.is_some();
        let mut folds =
            straight.unwrap_or_else(|| map.tasks.iter().map(|task| running(map, task)).collect());
        Folds::join_weights(&mut folds, &map.tasks, &map.program, map.policy);
        Grain {
            map,
            arrays,
            inputs,
            start,
            tiles,
            is_masked,
            is_straight,
            first: 0,
            buffered: 0,
            indices: (is_masked && map.tasks.iter().any(is_indexed)).then(Vec::new),
            parts: map.empty().parts,
            folds,
            are_weights: true,
            cleared: Vec::new(),
        }
    }

    /// The partial of all that was folded.
    pub(super) fn finish(mut self) -> Folded {
        for (task, fold) in self.folds.into_iter().enumerate() {
            if let Some(fold) = fold {
                fold.finish_into(&mut self.parts, task);
            }
        }
        Folded { parts: self.parts }
    }

    pub(super) fn fold(&mut self, range: std::ops::Range<usize>) -> Result<()> {
        self.first = range.start;
        if self.is_straight {
            return self.fold_inputs(range);
        }
        let step = step(self.map);
        let chunk = match are_running(self.map) {
            // Of what a condition leaves, two steps.
            true => step * if self.is_masked { 2 } else { 1 },
            false => (CHUNK / self.tiles.buffered().max(1)).max(LEAST),
        };
        let mut at = range.start;
        while at < range.end {
            let n = step.min(range.end - at);
            // What comes next arrives while this is mapped and folded: no loop reads ahead beyond its own.
            self.ask_for(at + n..at + n + step / 2);
            self.tile(at, n)?;
            self.ask_for(at + n + step / 2..at + n + step);
            at += n;
            if self.buffered + step > chunk {
                self.flush()?;
                self.first = at;
            }
        }
        self.flush()
    }

    /// Nothing is held: the inputs are folded where they lie.
    fn fold_inputs(&mut self, range: std::ops::Range<usize>) -> Result<()> {
        let readings =
            self.folds.iter().filter(|fold| !matches!(fold, Some(Folds::Beside))).count();
        let piece = if readings == 1 { GRAIN } else { CHUNK_OF_ONE };
        for first in range.clone().step_by(piece) {
            self.first = first;
            self.buffered = piece.min(range.end - first);
            let n = self.buffered;
            self.flush()?;
            // After the folds, which read memory at its speed.
            if !self.are_weights {
                self.check_weights(first, n, None)?;
            }
        }
        Ok(())
    }

    /// Asks for elements of the inputs.
    fn ask_for(&self, range: std::ops::Range<usize>) {
        for array in self.arrays {
            let (start, end) = (range.start.min(array.len()), range.end.min(array.len()));
            warpfold_num::with_element!(array.dtype(), T => {
                let elements: &[T] = array.slice().unwrap_or_default();
                warpfold_cpu::ask_for(&elements[start..end]);
            });
        }
    }

    fn tile(&mut self, at: usize, n: usize) -> Result<()> {
        let first = self.start + at as u64;
        self.tiles.move_to(self.buffered);
        self.tiles.run(self.inputs, at, n).map_err(|fault| fault.error(first))?;
        let mask = self.is_masked.then(|| self.mask(at, n));
        let kept = mask.as_ref().map(|mask| &mask[..n]);
        self.check_weights(at, n, kept)?;
        if let Some(kept) = kept {
            self.products_of_tile(at, kept)?;
        }
        let count = match kept {
            Some(kept) => self.tiles.leave_out(self.inputs, at, kept),
            None => n,
        };
        if let (Some(indices), Some(kept)) = (&mut self.indices, kept) {
            indices.extend(
                (first..).zip(kept).filter(|(_, kept)| **kept != 0).map(|(index, _)| index),
            );
        }
        for task in 0..self.map.tasks.len() {
            self.task_of_tile(task, at, count);
        }
        self.buffered += count;
        Ok(())
    }

    /// Multiplies the floats of a tile in place: what is left out is one, as its leaf is empty.
    fn products_of_tile(&mut self, at: usize, kept: &[u8]) -> Result<()> {
        for task in 0..self.map.tasks.len() {
            let Task::Values(Op::Prod, id) = self.map.tasks[task] else { continue };
            let (bytes, first) = (self.tiles.bytes(id, self.inputs, at, kept.len()), at as u64);
            let product = |factors: HostArray<'_>| {
                let request = Request::new(Op::Prod, factors).policy(self.policy());
                reduce(&request.starting_at(self.start + first))
            };
            let product = match self.map.program.ty(id) {
                Type::F32 => product(HostArray::of(&factors(bytes, kept, 1f32)))?,
                Type::F64 => product(HostArray::of(&factors(bytes, kept, 1f64)))?,
                // Of other types the order does not matter.
                Type::Bool | Type::I64 | Type::U64 => continue,
            };
            self.parts[task].merge(&TaskPartial::Partial(product));
        }
        Ok(())
    }

    /// Which of `n` elements of the tile count.
    fn mask(&self, at: usize, n: usize) -> [u8; TILE] {
        let Map { program, policy, has_keep, tasks, .. } = self.map;
        let mut all = [1; TILE];
        let mask = &mut all[..n];
        let bytes = |id| self.tiles.bytes(id, self.inputs, at, n);
        if *has_keep {
            let keep = bytes(program.roots()[0].value);
            mask.copy_from_slice(&keep[..n]);
        }
        if self.map.drops_nans() {
            for id in tasks.iter().flat_map(|task| task.given()) {
                drop_nans(program.ty(id), bytes(id), policy.nan, mask);
            }
        }
        all
    }

    fn check_weights(&self, at: usize, n: usize, kept: Option<&[u8]>) -> Result<()> {
        for task in &self.map.tasks {
            let Task::Weights(id) = *task else { continue };
            let bytes = self.tiles.bytes(id, self.inputs, at, n);
            if let Some((lane, weight)) = bad_weight(self.map.program.ty(id), bytes, n, kept) {
                let index = self.start + (at + lane) as u64;
                return Err(refused(
                    &format!("the weight at index {index}"),
                    format!("it is {weight}"),
                    "weights of a mean, variance or deviation are finite and not negative",
                ));
            }
        }
        Ok(())
    }

    /// The values of the last tile that count.
    fn values<T: bytemuck::AnyBitPattern>(&self, id: Id, at: usize, n: usize) -> &[T] {
        &bytemuck::cast_slice(self.tiles.buffered_bytes(id, self.inputs, at, n))[..n]
    }

    /// What a task does of each tile.
    fn task_of_tile(&mut self, task: usize, at: usize, n: usize) {
        match self.map.tasks[task] {
            Task::Conditions(id) => {
                let nonzero = lanes::ones(self.values::<u8>(id, at, n));
                if let TaskPartial::Partial(AnyPartial::Bool(Partial::Count(count))) =
                    &mut self.parts[task]
                {
                    count.merge(&Count { seen: n as u64, nonzero });
                }
            }
            Task::Squares { weight, value, halves: None } => {
                let others = match self.map.program.ty(value) {
                    Type::U64 => weighted_squares::<u64>(
                        self.values(weight, at, n),
                        self.values(value, at, n),
                    ),
                    _ => weighted_squares::<i64>(
                        self.values(weight, at, n),
                        self.values(value, at, n),
                    ),
                };
                let TaskPartial::Squares(squares) = &mut self.parts[task] else { return };
                squares.others += others;
            }
            Task::Squares { weight, value, halves: Some((upper, lower)) } => {
                let (w, x) = (self.values::<f64>(weight, at, n), self.values::<f64>(value, at, n));
                if lanes::all_have_halves(x) {
                    return;
                }
                let is_odd = |&lane: &usize| !lanes::has_halves(x[lane]) && x[lane].is_finite();
                let lanes: Vec<usize> = (0..n).filter(is_odd).collect();
                let others = lanes
                    .iter()
                    .map(|&lane| weighted_square(w[lane], x[lane]))
                    .sum::<num_bigint::BigInt>();
                for id in [upper, lower] {
                    self.clear(task, id, &lanes);
                }
                let TaskPartial::Squares(squares) = &mut self.parts[task] else { return };
                squares.others += others;
            }
            Task::Exponents { exponent, power } => {
                let x = self.values::<f64>(exponent, at, n);
                let is_near = |x: f64| x.abs() <= HALF;
                if lanes::all_within(x, HALF) {
                    return;
                }
                let lanes: Vec<usize> = (0..n).filter(|&lane| !is_near(x[lane])).collect();
                let far: Vec<f64> = lanes.iter().map(|&lane| x[lane]).collect();
                self.clear(task, power, &lanes);
                let nan = self.map.policy.nan;
                let TaskPartial::Exponents(exponents) = &mut self.parts[task] else { return };
                for x in far.into_iter().filter(|x| nan == Nan::Propagate || !x.is_nan()) {
                    exponents.add(x);
                }
            }
            Task::Values(..) | Task::Products(..) | Task::Weights(_) | Task::Pairs(..) => {}
        }
    }

    /// Has a task read zeros instead of some values of the last tile, which others read as they are.
    fn clear(&mut self, task: usize, id: Id, lanes: &[usize]) {
        let cleared = self.cleared.iter().position(|known| (known.0, known.1) == (task, id));
        let at = cleared.unwrap_or_else(|| {
            self.cleared.push((task, id, Vec::new()));
            self.cleared.len() - 1
        });
        self.cleared[at].2.extend(lanes.iter().map(|lane| self.buffered + lane));
    }

    /// What a task reads in place of values of which some were cleared.
    fn copies(&self, task: usize) -> Vec<(Id, Vec<f64>)> {
        let mine = self.cleared.iter().filter(|(of, ..)| *of == task);
        let copy = |(_, id, arg_indices): &(usize, Id, Vec<usize>)| {
            let mut values = self.array(*id).slice::<f64>().unwrap_or_default().to_vec();
            arg_indices.iter().for_each(|&arg_index| values[arg_index] = 0.0);
            (*id, values)
        };
        mine.map(copy).collect()
    }

    /// The policy of a fold that is a thread's own.
    fn policy(&self) -> Policy {
        Policy { threads: Some(1), ..self.map.policy }
    }

    /// The values of an expression that count, of the whole chunk.
    fn array(&self, id: Id) -> HostArray<'_> {
        match self.tiles.input(id) {
            Some(input) => part(&self.arrays[input], self.first..self.first + self.buffered),
            None => {
                let bytes = self.tiles.all_bytes(id).unwrap_or_default();
                buffered(self.map.program.ty(id), bytes, self.buffered)
            }
        }
    }

    /// Folds what is held.
    fn flush(&mut self) -> Result<()> {
        if self.buffered == 0 {
            return Ok(());
        }
        let mut folds = std::mem::take(&mut self.folds);
        self.are_weights = true;
        for (task, fold) in folds.iter_mut().enumerate() {
            match fold {
                Some(fold) => {
                    let first = self.start + self.first as u64;
                    let range = self.first..self.first + self.buffered;
                    if fold.take_inputs(self.arrays, self.inputs, range, first) {
                        continue;
                    }
                    let copies = self.copies(task);
                    let array = |id| match copies.iter().find(|(of, _)| *of == id) {
                        Some((_, values)) => HostArray::of(values),
                        None => self.array(id),
                    };
                    self.are_weights &= fold.take(self.map.tasks[task], array, first);
                }
                None => {
                    self.are_weights = false;
                    if let Some(part) = self.flushed(task)? {
                        self.parts[task].merge(&part);
                    }
                }
            }
        }
        self.folds = folds;
        self.buffered = 0;
        self.cleared.clear();
        if let Some(indices) = &mut self.indices {
            indices.clear();
        }
        Ok(())
    }

    /// The partial of the chunk of a task that has no running fold, where tiles were not added one by one.
    fn flushed(&self, task: usize) -> Result<Option<TaskPartial>> {
        let policy = Policy { threads: Some(1), ..policy_of(self.map, &self.map.tasks[task]) };
        let alone = |op, id| reduce(&Request::new(op, self.array(id)).policy(policy));
        let products = |a, b, policy| {
            reduce(&Request::new(Op::Dot, self.array(a)).pair(self.array(b)).policy(policy))
        };
        Ok(Some(match self.map.tasks[task] {
            Task::Values(Op::Prod, id) if self.is_masked && self.map.program.ty(id).is_float() => {
                return Ok(None);
            }
            Task::Values(op, id) => {
                let request = Request::new(op, self.array(id)).policy(self.policy());
                TaskPartial::Partial(match &self.indices {
                    Some(indices) => reduce(&request)?.reindexed(&|kept| indices[kept as usize]),
                    None => reduce(&request.starting_at(self.start + self.first as u64))?,
                })
            }
            Task::Products(left, right) => TaskPartial::Partial(products(left, right, policy)?),
            Task::Weights(id) => TaskPartial::Partial(alone(Op::Sum, id)?),
            Task::Pairs(a, b) => {
                let mut part = self.map.tasks[task].empty(&self.map.program);
                let TaskPartial::Pairs(pairs) = &mut part else { return Ok(None) };
                let exact = Policy { accuracy: Accuracy::Exact, ..self.policy() };
                (pairs.left, pairs.both, pairs.right) =
                    (products(a, a, exact)?, products(a, b, exact)?, products(b, b, exact)?);
                part
            }
            // The others are added tile by tile, or have folds of their own.
            Task::Conditions(_) | Task::Squares { .. } | Task::Exponents { .. } => return Ok(None),
        }))
    }
}

/// The values of a tile, with ones instead of those that are left out.
fn factors<T: bytemuck::AnyBitPattern>(bytes: &[u8], kept: &[u8], one: T) -> Vec<T> {
    let values = bytemuck::cast_slice::<u8, T>(bytes).iter().zip(kept);
    values.map(|(&value, &kept)| if kept == 0 { one } else { value }).collect()
}
