//! Reductions that no lanes know, and elements that lie apart: each output by the kernels for one array.
//!
//! What is contiguous is folded where it lies, as the array that it is. What is not is copied together first, in the order of its indices, a bounded piece
//! at a time. So indices and products come out as if the input were an array of its own.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Batched, flat};
use crate::threads::share;
use crate::whole::FoldWhole;
use warpfold_exact::partial::Partial;
use warpfold_plan::shape::{Form, Loop};

/// Elements that are copied together at most.
pub(super) const PIECE: usize = 64 << 10;

/// Outputs that a thread takes at a time at most: neighbours that share lines of the cache.
const OUTPUTS: usize = 16;

/// Folds every output of a form.
pub(super) fn run<T: FoldWhole>(
    batched: &Batched<'_, T>,
    x: &[T],
    form: &Form,
    finish: &(dyn Fn(u64, u64, &Partial<T>) + Sync),
) {
    let (outputs, threads) = (form.outputs as usize, batched.plan.threads);
    let is_long = form.inputs >= batched.plan.long && contiguous(x, form, form.nth(0).0).is_some();
    if outputs < 2 * threads || is_long {
        for number in 0..outputs as u64 {
            let (start, output) = form.nth(number);
            let all = match contiguous(x, form, start) {
                Some(run) => flat(batched, run, threads, 0),
                None => together(batched, x, form, start),
            };
            finish(output, form.inputs, &all);
        }
        return;
    }
    let next = AtomicUsize::new(0);
    let grain = (outputs / (4 * threads)).clamp(1, OUTPUTS);
    let work = || {
        let mut copy = Vec::new();
        loop {
            let first = grain * next.fetch_add(1, Ordering::Relaxed);
            if first >= outputs {
                return;
            }
            let numbers = first as u64..(first + grain).min(outputs) as u64;
            let mut gathered = Vec::new();
            for (start, output) in numbers.map(|number| form.nth(number)) {
                match contiguous(x, form, start) {
                    Some(run) => finish(output, form.inputs, &flat(batched, run, 1, 0)),
                    None => gathered.push((start, output)),
                }
            }
            let mut all: Vec<_> =
                gathered.iter().map(|_| Partial::empty(batched.plan.batch.op)).collect();
            for piece in 0..form.inputs.div_ceil(PIECE as u64) {
                for ((start, _), all) in gathered.iter().zip(&mut all) {
                    all.merge(&one(batched, x, form, *start, piece, &mut copy));
                }
            }
            for ((_, output), all) in gathered.iter().zip(&all) {
                finish(*output, form.inputs, all);
            }
        }
    };
    share(threads, &work);
}

/// The elements of an output, where they are contiguous and in order.
pub(super) fn contiguous<'x, T>(x: &'x [T], form: &Form, start: u64) -> Option<&'x [T]> {
    match form.folded[..] {
        [Loop { stride: 1, position: 1, .. }] => {
            Some(&x[start as usize..(start + form.inputs) as usize])
        }
        _ => None,
    }
}

/// An output by all threads, pieces merged in their order.
pub(super) fn together<T: FoldWhole>(
    batched: &Batched<'_, T>,
    x: &[T],
    form: &Form,
    start: u64,
) -> Partial<T> {
    let pieces = form.inputs.div_ceil(PIECE as u64);
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    let work = || {
        let mut copy = Vec::new();
        loop {
            let piece = next.fetch_add(1, Ordering::Relaxed) as u64;
            if piece >= pieces {
                return;
            }
            let partial = one(batched, x, form, start, piece, &mut copy);
            found.lock().unwrap_or_else(|poison| poison.into_inner()).push((piece, partial));
        }
    };
    share(batched.plan.threads, &work);
    let mut found = found.into_inner().unwrap_or_else(|poison| poison.into_inner());
    found.sort_unstable_by_key(|&(piece, _)| piece);
    let mut all = Partial::empty(batched.plan.batch.op);
    found.iter().for_each(|(_, partial)| all.merge(partial));
    all
}

/// A piece of an output.
fn one<T: FoldWhole>(
    batched: &Batched<'_, T>,
    x: &[T],
    form: &Form,
    start: u64,
    piece: u64,
    copy: &mut Vec<T>,
) -> Partial<T> {
    let first = piece * PIECE as u64;
    let count = (form.inputs - first).min(PIECE as u64);
    gather(x, form, start, first..first + count, copy);
    flat(batched, copy, 1, first)
}

/// All pieces of an output, one after another.
pub(super) fn in_turn<T: FoldWhole>(
    batched: &Batched<'_, T>,
    x: &[T],
    form: &Form,
    start: u64,
    copy: &mut Vec<T>,
) -> Partial<T> {
    let mut all = Partial::empty(batched.plan.batch.op);
    for piece in 0..form.inputs.div_ceil(PIECE as u64) {
        all.merge(&one(batched, x, form, start, piece, copy));
    }
    all
}

/// Gathers the elements of an output at some indices, in order.
pub(super) fn gather<T: FoldWhole>(
    x: &[T],
    form: &Form,
    start: u64,
    positions: Range<u64>,
    copy: &mut Vec<T>,
) {
    copy.clear();
    form.gather(start, positions.start, positions.end - positions.start, |at, step, count| {
        let at = at as usize;
        copy.extend((0..count).map(|k| x[at.wrapping_add_signed((k as i64 * step) as isize)]));
    });
}
