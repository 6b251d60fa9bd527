//! Reductions that no lanes know, and elements that lie apart: each output by the kernels for one array.
//!
//! What is contiguous is folded where it lies; what is not is copied together first, in the order of its places, a bounded piece
//! at a time. So indices and products come out as if the input were an array of its own.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Many, flat};
use crate::cpu::crew::share;
use crate::element::Element;
use crate::partial::Partial;
use crate::shape::{Form, Loop};

/// Elements that are copied together at most.
pub(super) const PIECE: usize = 64 << 10;

/// Outputs that a thread takes at a time: neighbours that share lines of the cache.
const OUTPUTS: usize = 16;

/// Folds every output of a form.
pub(super) fn run<T: Element>(
    many: &Many<'_, T>,
    x: &[T],
    form: &Form,
    leave: &(dyn Fn(u64, u64, &Partial<T>) + Sync),
) {
    let outputs = form.outputs as usize;
    if outputs < 2 * many.plan.threads {
        for number in 0..outputs as u64 {
            let (start, output) = form.nth(number);
            leave(output, form.inputs, &together(many, x, form, start));
        }
        return;
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut copy = Vec::new();
        loop {
            let first = OUTPUTS * next.fetch_add(1, Ordering::Relaxed);
            if first >= outputs {
                return;
            }
            let numbers = first as u64..(first + OUTPUTS).min(outputs) as u64;
            let mut all: Vec<_> =
                numbers.clone().map(|_| Partial::empty(many.plan.batch.op)).collect();
            for piece in 0..form.inputs.div_ceil(PIECE as u64) {
                for (number, all) in numbers.clone().zip(&mut all) {
                    all.merge(&one(many, x, form, form.nth(number).0, piece, &mut copy));
                }
            }
            for (number, all) in numbers.zip(&all) {
                leave(form.nth(number).1, form.inputs, all);
            }
        }
    };
    share(many.plan.threads, &work);
}

/// An output by all threads, pieces merged in their order.
fn together<T: Element>(many: &Many<'_, T>, x: &[T], form: &Form, start: u64) -> Partial<T> {
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
            let partial = one(many, x, form, start, piece, &mut copy);
            found.lock().unwrap_or_else(|poison| poison.into_inner()).push((piece, partial));
        }
    };
    share(many.plan.threads, &work);
    let mut found = found.into_inner().unwrap_or_else(|poison| poison.into_inner());
    found.sort_unstable_by_key(|&(piece, _)| piece);
    let mut all = Partial::empty(many.plan.batch.op);
    found.iter().for_each(|(_, partial)| all.merge(partial));
    all
}

/// A piece of an output.
fn one<T: Element>(
    many: &Many<'_, T>,
    x: &[T],
    form: &Form,
    start: u64,
    piece: u64,
    copy: &mut Vec<T>,
) -> Partial<T> {
    let first = piece * PIECE as u64;
    let count = (form.inputs - first).min(PIECE as u64);
    if let [Loop { stride: 1, place: 1, .. }] = form.folded[..] {
        let start = (start + first) as usize;
        return flat(many, &x[start..start + count as usize], 1, first);
    }
    copy.clear();
    form.gather(start, first, count, |at, step, count| {
        let at = at as usize;
        copy.extend((0..count).map(|k| x[at.wrapping_add_signed((k as i64 * step) as isize)]));
    });
    flat(many, copy, 1, first)
}
