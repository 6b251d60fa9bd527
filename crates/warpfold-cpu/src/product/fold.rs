//! A piece of an output along the canonical tree: leaves and runs at its ends, blocks in lanes between.

use std::marker::PhantomData;

use super::chains::{Chain, Complex, Real};
use super::lanes::Vector;
#[cfg(target_arch = "x86_64")]
use super::lanes::avx2::Four;
use super::lanes::portable::Plain;
use super::runs::{Factor, KEPT, Kept, NUMBERS, RUNS, blocks, full_runs};
use crate::Nan;
use crate::isa::Target;
use warpfold_exact::partial::{ComplexProduct, Complexes, RealProduct, Reals, SpecialFlags};
use warpfold_exact::tree::{BLOCK, Interval, Operator, RUN};
use warpfold_num::double_double::DoubleDouble;
use warpfold_plan::plan::Isa;

/// Blocks whose runs are kept at a time, and their elements.
const BLOCKS: usize = KEPT / RUNS;
pub(crate) const UNIT: u64 = BLOCKS as u64 * BLOCK;

/// The level of runs, that of blocks, and that of so many blocks.
const RUN_LEVEL: u32 = 1;
const BLOCK_LEVEL: u32 = 2;
const UNIT_LEVEL: u32 = BLOCK_LEVEL + BLOCKS.ilog2();

/// Real or complex products of elements with parts of a type.
pub(crate) trait ElementProduct: Copy + Send + Sync + 'static {
    /// The type of parts.
    type Component: Factor;
    /// What is defined.
    type Operator: Operator;
    /// What lanes do.
    type Chain<V: Vector>: Chain<V>;
    /// Parts of an element.
    const PARTS: usize;
    /// What is defined.
    const OPERATOR: Self::Operator;

    /// An element as a leaf; one that is ignored is a one.
    fn leaf(parts: &[Self::Component], nan: Nan) -> <Self::Operator as Operator>::Leaf;

    /// The join that is defined, for the instructions where it is called.
    fn join(left: &NodeOf<Self>, right: &NodeOf<Self>) -> NodeOf<Self>;

    /// Mantissas and exponent of a result.
    fn numbers(node: &NodeOf<Self>) -> [f64; 5];

    /// A run of any numbers: what a chain multiplies by, and what that does not show.
    fn apart(leaves: &[<Self::Operator as Operator>::Leaf]) -> ([f64; NUMBERS], SpecialFlags);

    /// A result with what it does not show.
    fn with_specials(node: NodeOf<Self>, specials: SpecialFlags) -> NodeOf<Self>;

    /// The result of a run or block of normal numbers.
    fn node(kept: &Kept, run: usize) -> Option<<Self::Operator as Operator>::Node>;
}

/// Products of real numbers.
#[derive(Clone, Copy)]
pub(crate) struct OfReals<F>(PhantomData<F>);

/// Products of complex numbers.
#[derive(Clone, Copy)]
pub(crate) struct OfComplexes<F>(PhantomData<F>);

impl<F: Factor> ElementProduct for OfReals<F> {
    type Component = F;
    type Operator = Reals;
    type Chain<V: Vector> = Real<V>;
    const PARTS: usize = 1;
    const OPERATOR: Reals = Reals { join: F::JOIN };

    #[inline(always)]
    fn leaf(parts: &[F], nan: Nan) -> f64 {
        let x = parts[0].value();
        match x.is_nan() {
            true if nan == Nan::Ignore => 1.0,
            true => <f64 as warpfold_num::element::Nearest>::NAN,
            false => x,
        }
    }

    #[inline(always)]
    fn join(left: &RealProduct, right: &RealProduct) -> RealProduct {
        Reals::join(&Self::OPERATOR, left, right)
    }

    #[inline(always)]
    fn numbers(node: &RealProduct) -> [f64; 5] {
        let RealProduct { mantissa: DoubleDouble { high, low }, exponent, negative, specials } =
            *node;
        let sign = if negative { -1.0 } else { 1.0 };
        match specials {
            SpecialFlags { nan: true, .. } | SpecialFlags { zero: true, infinity: true, .. } => {
                [<f64 as warpfold_num::element::Nearest>::NAN, 0.0, 0.0, 0.0, 0.0]
            }
            SpecialFlags { zero: true, .. } => [0.0; 5],
            SpecialFlags { infinity: true, .. } => [f64::INFINITY * sign, 0.0, 0.0, 0.0, 0.0],
            _ => [high * sign, low * sign, exponent as f64, 0.0, 0.0],
        }
    }

    fn apart(leaves: &[f64]) -> ([f64; NUMBERS], SpecialFlags) {
        let node = Self::OPERATOR.run(leaves);
        // Special once is special always, and all that counts besides is the sign.
        let plain = RealProduct { specials: SpecialFlags::default(), ..node };
        (Self::numbers(&plain), node.specials)
    }

    fn with_specials(node: RealProduct, specials: SpecialFlags) -> RealProduct {
        RealProduct { specials, ..node }
    }

    #[inline(always)]
    fn node(kept: &Kept, run: usize) -> Option<RealProduct> {
        let [high, low, power] = [0, 1, 2].map(|number| kept.number(number, run));
        let negative = high < 0.0;
        let sign = if negative { -1.0 } else { 1.0 };
        let mantissa = DoubleDouble { high: high * sign, low: low * sign + 0.0 };
        let product = RealProduct {
            mantissa,
            exponent: power as i64,
            negative,
            specials: SpecialFlags::default(),
        };
        power.is_finite().then_some(product)
    }
}

impl<F: Factor> ElementProduct for OfComplexes<F> {
    type Component = F;
    type Operator = Complexes;
    type Chain<V: Vector> = Complex<V>;
    const PARTS: usize = 2;
    const OPERATOR: Complexes = Complexes { join: F::JOIN };

    #[inline(always)]
    fn leaf(parts: &[F], nan: Nan) -> [f64; 2] {
        let z = [parts[0].value(), parts[1].value()];
        let is_nan = z.iter().any(|part| part.is_nan());
        match is_nan {
            true if nan == Nan::Ignore => [1.0, 0.0],
            // Of NaNs there is one.
            true => {
                z.map(|x| if x.is_nan() { <f64 as warpfold_num::element::Nearest>::NAN } else { x })
            }
            false => z,
        }
    }

    #[inline(always)]
    fn join(left: &ComplexProduct, right: &ComplexProduct) -> ComplexProduct {
        Complexes::join(&Self::OPERATOR, left, right)
    }

    #[inline(always)]
    fn numbers(node: &ComplexProduct) -> [f64; 5] {
        let ComplexProduct { re, im, exponent } = *node;
        // What is zero or not finite is left to the partial.
        let exponent = if node.is_plain() { exponent as f64 } else { f64::NAN };
        [re.high, re.low, im.high, im.low, exponent]
    }

    fn apart(leaves: &[[f64; 2]]) -> ([f64; NUMBERS], SpecialFlags) {
        (Self::numbers(&Self::OPERATOR.run(leaves)), SpecialFlags::default())
    }

    fn with_specials(node: ComplexProduct, _: SpecialFlags) -> ComplexProduct {
        node
    }

    #[inline(always)]
    fn node(kept: &Kept, run: usize) -> Option<ComplexProduct> {
        let [a, b, c, d, power] = [0, 1, 2, 3, 4].map(|number| kept.number(number, run));
        let part = |high, low| DoubleDouble { high, low };
        let (re, im) = (part(a, b), part(c, d));
        let product = ComplexProduct { re, im, exponent: power as i64 };
        power.is_finite().then_some(product)
    }
}

pub(super) type NodeOf<K> = <<K as ElementProduct>::Operator as Operator>::Node;

/// Scratch for folding pieces.
pub(crate) struct Scratch<K: ElementProduct> {
    nan: Nan,
    runs: Box<Kept>,
    blocks: Box<Kept>,
    /// Elements with ones for those that are ignored.
    filled: Vec<K::Component>,
}

impl<K: ElementProduct> Scratch<K> {
    pub(crate) fn new(nan: Nan) -> Self {
        Scratch { nan, runs: Kept::new(), blocks: Kept::new(), filled: Vec::new() }
    }

    /// The interval of some elements, of which the first has an index.
    #[inline(always)]
    pub(crate) fn fold<C: Target>(
        &mut self,
        x: &[K::Component],
        first: u64,
    ) -> Interval<K::Operator> {
        match C::ISA {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 | Isa::Avx512 => self.in_lanes::<Four>(x, first),
            _ => self.in_lanes::<Plain<4>>(x, first),
        }
    }

    #[inline(always)]
    fn in_lanes<V: Vector>(&mut self, x: &[K::Component], first: u64) -> Interval<K::Operator> {
        let mut interval = Interval::new(first);
        let elements = |from: usize, to: usize| &x[from * K::PARTS..to * K::PARTS];
        let n = x.len() / K::PARTS;
        let head = (first.next_multiple_of(RUN) - first).min(n as u64) as usize;
        self.leaves(elements(0, head), &mut interval);
        let mut at = head;
        while n - at >= RUN as usize {
            let (index, left) = (interval.end(), n - at);
            let whole = left / BLOCK as usize;
            let to = if index.is_multiple_of(BLOCK) && whole > 0 {
                let to = at + whole.min(BLOCKS) * BLOCK as usize;
                self.blocks::<V>(elements(at, to), &mut interval);
                to
            } else {
                let to_block = (BLOCK - index % BLOCK) / RUN;
                let to = at + RUN as usize * (left / RUN as usize).min(to_block as usize);
                self.runs::<V>(elements(at, to), &mut interval);
                to
            };
            at = to;
        }
        self.leaves(elements(at, n), &mut interval);
        interval
    }

    fn leaves(&self, x: &[K::Component], interval: &mut Interval<K::Operator>) {
        for parts in x.chunks_exact(K::PARTS) {
            interval.leaf(K::OPERATOR, K::leaf(parts, self.nan));
        }
    }

    /// Multiplies whole runs; says whether all are of normal numbers.
    #[inline(always)]
    fn multiply<V: Vector>(&mut self, x: &[K::Component]) -> bool {
        if full_runs::<V, K::Chain<V>, K::Component>(x, &mut self.runs) {
            return true;
        }
        if self.nan == Nan::Propagate {
            return false;
        }
        self.filled.clear();
        for parts in x.chunks_exact(K::PARTS) {
            let is_nan = parts.iter().any(|part| part.is_nan());
            let ones = [K::Component::ONE, K::Component::ZERO];
            self.filled.extend_from_slice(if is_nan { &ones[..K::PARTS] } else { parts });
        }
        full_runs::<V, K::Chain<V>, K::Component>(&self.filled, &mut self.runs)
    }

    /// The result of a run that was multiplied.
    fn run(&self, x: &[K::Component], run: usize) -> NodeOf<K> {
        K::node(&self.runs, run).unwrap_or_else(|| {
            let leaves = x[run * RUN as usize * K::PARTS..].chunks_exact(K::PARTS);
            let leaves: Vec<_> =
                leaves.take(RUN as usize).map(|parts| K::leaf(parts, self.nan)).collect();
            K::OPERATOR.run(&leaves)
        })
    }

    /// Whole runs that make no whole block.
    #[inline(always)]
    fn runs<V: Vector>(&mut self, x: &[K::Component], interval: &mut Interval<K::Operator>) {
        self.multiply::<V>(x);
        for run in 0..x.len() / (RUN as usize * K::PARTS) {
            interval.node(K::OPERATOR, RUN_LEVEL, self.run(x, run));
        }
    }

    /// Whole blocks, no more than are kept.
    #[inline(always)]
    fn blocks<V: Vector>(&mut self, x: &[K::Component], interval: &mut Interval<K::Operator>) {
        let count = x.len() / (BLOCK as usize * K::PARTS);
        let are_normal = self.multiply::<V>(x);
        let mut nodes = [const { None }; BLOCKS];
        let mut block = 0;
        while are_normal && block < count {
            let made = if count - block >= V::N {
                blocks::<V, K::Chain<V>>(&self.runs, block * RUNS, &mut self.blocks);
                V::N
            } else {
                blocks::<Plain<1>, K::Chain<Plain<1>>>(&self.runs, block * RUNS, &mut self.blocks);
                1
            };
            for lane in 0..made {
                nodes[block + lane] = K::node(&self.blocks, lane);
            }
            block += made;
        }
        for block in 0..count {
            if nodes[block].is_none() {
                let runs = block * RUNS..(block + 1) * RUNS;
                let runs: Vec<_> = runs.map(|run| self.run(x, run)).collect();
                nodes[block] = Some(K::OPERATOR.block(&runs));
            }
        }
        if count < BLOCKS || !interval.end().is_multiple_of(UNIT) {
            nodes.into_iter().flatten().for_each(|node| {
                interval.node(K::OPERATOR, BLOCK_LEVEL, node);
            });
            return;
        }
        // Joined here, by these instructions.
        let mut width = BLOCKS;
        while width > 1 {
            width /= 2;
            for k in 0..width {
                if let [Some(left), Some(right)] = &nodes[2 * k..2 * k + 2] {
                    nodes[k] = Some(K::join(left, right));
                }
            }
        }
        if let [Some(node), ..] = nodes {
            interval.node(K::OPERATOR, UNIT_LEVEL, node);
        }
    }
}
