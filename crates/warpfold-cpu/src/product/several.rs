//! Short inputs side by side: their runs are listed, one after another, and multiplied in lanes; then each input's runs become its product.

use super::chains::Chain;
use super::fold::ElementProduct;
use super::lanes::Vector;
#[cfg(target_arch = "x86_64")]
use super::lanes::avx2::Four;
use super::lanes::portable::Plain;
use super::runs::{ABREAST, Factor, KEPT, Kept, RUNS, listed, runs_of_block};
use crate::Nan;
use crate::isa::Target;
use warpfold_exact::tree::{Operator, RUN};
use warpfold_plan::plan::Isa;

/// Numbers of a run's staged copy: parts of 32 elements, and what whole vectors read beyond.
const STAGE: usize = 2 * RUN as usize;

/// Inputs whose runs are listed.
pub(crate) struct Several<K: ElementProduct> {
    nan: Nan,
    /// Where the runs lie; those that are not whole, or that elements stand in for, in `stages`.
    rows: Vec<*const K::Component>,
    /// As many as there may be runs, so that they do not move.
    stages: Box<[[K::Component; STAGE]]>,
    staged: usize,
    /// The runs of each input: the first and the end, and its elements.
    inputs: Vec<Input<K>>,
    /// Elements of the longest run.
    longest: usize,
    kept: Box<Kept>,
    made: Box<Kept>,
}

/// An input: where it lies, and its runs.
#[derive(Clone, Copy)]
struct Input<K: ElementProduct> {
    x: *const K::Component,
    elements: usize,
    first: usize,
    end: usize,
}

impl<K: ElementProduct> Several<K> {
    /// Elements of an input at most.
    pub(crate) const MOST: usize = 4 * RUNS * RUN as usize;

    pub(crate) fn new(nan: Nan) -> Self {
        let stages = vec![[K::Component::ONE; STAGE]; KEPT].into_boxed_slice();
        Several {
            nan,
            rows: Vec::with_capacity(KEPT),
            stages,
            staged: 0,
            inputs: Vec::new(),
            longest: 0,
            kept: Kept::new(),
            made: Kept::new(),
        }
    }

    /// Whether the runs of an input can be listed beside the others.
    #[inline(always)]
    pub(crate) fn fits(&self, x: &[K::Component]) -> bool {
        let runs = (x.len() / K::PARTS).div_ceil(RUN as usize);
        // A last vector's lanes without a run of their own take the last one.
        self.rows.len() + runs <= KEPT - MOST_LANES
    }

    /// Lists the runs of an input, behind which memory goes on as `beyond`, which begins with it.
    ///
    /// # Safety
    /// The input is borrowed until all that is listed has been [multiplied](Self::multiply).
    #[inline(always)]
    pub(crate) unsafe fn take(&mut self, x: &[K::Component], beyond: &[K::Component]) {
        let length = RUN as usize * K::PARTS;
        let (elements, first) = (x.len() / K::PARTS, self.rows.len());
        let whole = x.len() / length;
        for run in 0..whole {
            self.rows.push(x[run * length..].as_ptr());
        }
        let rest = &x[whole * length..];
        if !rest.is_empty() {
            let stage = &mut self.stages[self.staged];
            let read = &beyond[whole * length..];
            match K::PARTS {
                // Read on, where memory goes on, and select: a copy of unknown length would cost more.
                1 if let Some(read) = read.first_chunk::<{ RUN as usize }>() => {
                    for l in 0..RUN as usize {
                        stage[l] = if l < rest.len() { read[l] } else { K::Component::ONE };
                    }
                }
                _ => {
                    stage[..rest.len()].copy_from_slice(rest);
                    for parts in stage[rest.len()..length].chunks_exact_mut(K::PARTS) {
                        parts.fill(K::Component::ZERO);
                        parts[0] = K::Component::ONE;
                    }
                }
            }
            self.rows.push(stage.as_ptr());
            self.staged += 1;
        }
        self.longest = self.longest.max(elements.min(RUN as usize));
        self.inputs.push(Input { x: x.as_ptr(), elements, first, end: self.rows.len() });
    }

    /// Multiplies all that is listed: passes on mantissas and exponents of each input, in order.
    #[inline(always)]
    pub(crate) fn multiply<C: Target>(&mut self, hand: impl FnMut([f64; 5])) {
        match C::ISA {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 | Isa::Avx512 => self.in_lanes::<Four>(hand),
            _ => self.in_lanes::<Plain<4>>(hand),
        }
    }

    #[inline(always)]
    fn in_lanes<V: Vector>(&mut self, mut hand: impl FnMut([f64; 5])) {
        let parts = <K::Chain<V> as Chain<V>>::PARTS;
        // SAFETY: rows are whole runs of inputs that are borrowed until now, or staged; and there is room.
        unsafe { listed::<V, K::Chain<V>, K::Component>(&self.rows, self.longest, &mut self.kept) };
        for at in 0..self.inputs.len() {
            let input = self.inputs[at];
            let product = match input.end - input.first {
                0 => one(parts),
                1 => self.kept.result(parts, input.first),
                _ => self.product(input),
            };
            hand(if product[parts].is_finite() { product } else { self.apart(input, parts) });
        }
        self.rows.clear();
        self.inputs.clear();
        (self.staged, self.longest) = (0, 0);
    }

    /// The product of an input of several runs.
    #[inline(always)]
    fn product(&mut self, input: Input<K>) -> [f64; 5] {
        let parts = <K::Chain<Plain<1>> as Chain<Plain<1>>>::PARTS;
        let mut blocks = 0;
        for first in (input.first..input.end).step_by(RUNS) {
            let runs = first..input.end.min(first + RUNS);
            runs_of_block::<K::Chain<Plain<1>>>(&self.kept, runs, &mut self.made, blocks);
            blocks += 1;
        }
        // Pairs of blocks, and what has no other half.
        let mut nodes = [const { None }; RUNS];
        for block in 0..blocks {
            nodes[block] = K::node(&self.made, block);
        }
        while blocks > 1 {
            for k in 0..blocks / 2 {
                nodes[k] = match (&nodes[2 * k], &nodes[2 * k + 1]) {
                    (Some(left), Some(right)) => Some(K::join(left, right)),
                    _ => None,
                };
            }
            if blocks % 2 == 1 {
                nodes[blocks / 2] = nodes[blocks - 1].take();
            }
            blocks = blocks.div_ceil(2);
        }
        match &nodes[0] {
            Some(node) => K::numbers(node),
            None => {
                let mut none = [0.0; 5];
                none[parts] = f64::NAN;
                none
            }
        }
    }

    /// An input with numbers in it that lanes do not take: of few elements it is seen to here, others are left.
    #[inline(never)]
    fn apart(&self, input: Input<K>, parts: usize) -> [f64; 5] {
        let mut none = [0.0; 5];
        none[parts] = f64::NAN;
        if input.elements > RUN as usize {
            return none;
        }
        // SAFETY: inputs are borrowed until they have been multiplied.
        let x = unsafe { std::slice::from_raw_parts(input.x, input.elements * K::PARTS) };
        let leaves: Vec<_> =
            x.chunks_exact(K::PARTS).map(|parts| K::leaf(parts, self.nan)).collect();
        K::numbers(&K::OPERATOR.run(&leaves))
    }
}

/// Lanes that are multiplied at a time.
const MOST_LANES: usize = ABREAST * super::lanes::MOST;

/// The product of nothing.
fn one(parts: usize) -> [f64; 5] {
    let mut one = [0.0; 5];
    one[0] = 1.0;
    one[parts] = 0.0;
    one
}
