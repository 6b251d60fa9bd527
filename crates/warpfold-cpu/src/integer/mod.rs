//! Exact folds of integers: sums, sums of magnitudes, moments and dot products, never wrapped.
//!
//! A block that fits in L1 is summed in vector lanes just wide enough for it ([`Word`]); its total, at most a few hundred
//! bits, goes into a [`Wide`] that no array overflows. `bool` takes the kernels of `u8`.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod wide;
mod word;

use std::marker::PhantomData;

#[cfg(target_arch = "x86_64")]
use avx2::Registers;
pub(super) use wide::Wide;
use word::Group;
pub(super) use word::Word;

use super::executor::{ArrayFold, run};
use super::isa::{Job, Target, with_isa};
use super::order::{CountedExtremes, Order, Span};
use warpfold_exact::exact::{Dot, Exact, Limbs, Moments, Register};
use warpfold_exact::partial::{Extremes, Norm1, Stats};
use warpfold_num::element::{Components, Element, Ordered, Real};
use warpfold_plan::plan::{Isa, Plan};

/// Bytes of a block: long enough streams to read ahead in, and far too few additions for lanes of 32 and 64 bits to overflow.
const BLOCK_BYTES: usize = 64 << 10;

/// Elements that a kernel takes at once, two lines of memory at least; a rest is filled up with zeros, which add nothing.
const GROUP: usize = 128;

/// Elsewhere there is none by hand.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) trait Registers {}

#[cfg(not(target_arch = "x86_64"))]
impl<W> Registers for W {}

/// What one reading tells of a block; magnitudes and ends are to be looked at only where they were asked for.
#[cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, reason = "other machines take portable kernels")
)]
pub(crate) struct Told<W> {
    /// The sum and that of the squares.
    moments: [Wide; 2],
    /// The sum of the magnitudes.
    norm: Wide,
    least: W,
    greatest: W,
}

/// Whether blocks are read by registers of AVX2. Wider ones are worth it for the products of 64-bit numbers, of which there are four to an element: for others
/// memory is what counts.
const fn reads<C: Target, W>() -> bool {
    cfg!(target_arch = "x86_64")
        && match C::ISA {
            Isa::Baseline => false,
            Isa::Avx2 => true,
            Isa::Avx512 => size_of::<W>() < 8,
        }
}

/// What a reading tells of a block; asked only where blocks are [read](reads) so.
#[inline(always)]
fn told<W: Word, const STATS: bool>(x: &[Group<W>]) -> Told<W> {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: code for AVX2, or for AVX-512, which has it, runs where that was found.
    return unsafe { W::tell::<STATS>(x) };
    #[cfg(not(target_arch = "x86_64"))]
    unreachable!("{} numbers without registers of AVX2", x.as_flattened().len())
}

/// The exact sum of integers that are stored as words.
pub(super) fn sum<T: Real, W: Word>(plan: &Plan, x: &[W]) -> Exact<T> {
    let Totals { wides: [sum], count } =
        run(plan, x, 0, Adding::<Values, 1>::default, Totals::merge);
    Exact { parts: registers::<T, _>(sum), count }
}

/// The exact sum of their magnitudes, as a sum.
pub(super) fn norm1<T: Real, W: Word>(plan: &Plan, x: &[W]) -> Exact<T> {
    let start = Adding::<AbsoluteValues, 1>::default;
    let Totals { wides: [sum], count } = run(plan, x, 0, start, Totals::merge);
    Exact { parts: registers::<T, _>(sum), count }
}

/// Their exact sum and sum of squares.
pub(super) fn moments<T: Real, W: Word>(plan: &Plan, x: &[W]) -> Moments<T> {
    moments_of(run(plan, x, 0, Adding::<ValuesAndSquares, 2>::default, Totals::merge))
}

fn moments_of<T: Real>(Totals { wides: [sum, squares], count }: Totals<2>) -> Moments<T> {
    Moments { sum: registers::<T, _>(sum), squares: squares.register(), count }
}

/// The exact dot product of two slices of one length.
pub(super) fn dot<T: Real, W: Word>(plan: &Plan, x: &[W], y: &[W]) -> Dot<T> {
    let Totals { wides: [sum], count } = run(plan, (x, y), 0, Multiplying::default, Totals::merge);
    Dot { parts: registers::<T, _>(sum), count }
}

/// Everything that one pass tells.
pub(super) fn stats<T, W>(plan: &Plan, x: &[W], first: u64) -> Stats<T>
where
    T: Ordered<Key = W>,
    W: Word + Ordered<Key = W>,
{
    let start = || Reading { totals: Totals::default(), order: Order::<W>::new(plan) };
    let merge = |all: &mut (Totals<3>, CountedExtremes<W>), one: (_, _)| {
        all.0.merge(one.0);
        all.1.merge(one.1);
    };
    let (Totals { wides: [sum, squares, magnitudes], count }, order) =
        run(plan, x, first, start, merge);
    let totals = Totals { wides: [sum, squares], count };
    let Extremes { min, max, first_nan, count } = order.extremes;
    Stats {
        moments: moments_of(totals),
        norm1: Norm1 { total: magnitudes.register(), count },
        extremes: Extremes { min, max, first_nan, count },
        nans: 0,
        seen: count,
    }
}

/// A last group.
#[inline(always)]
fn filled<W: Word>(rest: &[W]) -> Group<W> {
    let mut group = [W::default(); GROUP];
    group[..rest.len()].copy_from_slice(rest);
    group
}

fn registers<T: Real, L: Limbs>(wide: Wide) -> <T as Element>::Components<Register<L>> {
    Components::from_fn(|_| wide.register())
}

/// What a thread found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Totals<const N: usize> {
    wides: [Wide; N],
    count: u64,
}

impl<const N: usize> Default for Totals<N> {
    fn default() -> Self {
        Totals { wides: [Wide::default(); N], count: 0 }
    }
}

impl<const N: usize> Totals<N> {
    #[inline(always)]
    fn add(&mut self, wides: [Wide; N]) {
        for (all, wide) in self.wides.iter_mut().zip(wides) {
            *all += wide;
        }
    }

    fn merge(&mut self, other: Self) {
        self.add(other.wides);
        self.count += other.count;
    }
}

/// What is made of each block. Types, not closures: only `#[inline(always)]` code is compiled for the instruction set chosen.
trait Term<const N: usize>: Default + Send {
    fn of<C: Target, W: Word>(block: &[Group<W>]) -> [Wide; N];
}

macro_rules! terms {
    ($($(#[$doc:meta])+ $name:ident, $n:literal = $x:ident => $of:expr;)+) => {$(
        $(#[$doc])+
        #[derive(Default)]
        struct $name;

        impl Term<$n> for $name {
            #[inline(always)]
            fn of<C: Target, W: Word>($x: &[Group<W>]) -> [Wide; $n] {
                $of
            }
        }
    )+};
}
terms! {
    /// The sum of the values.
    Values, 1 = x => [W::sum(x)];
    /// The sum of their magnitudes.
    AbsoluteValues, 1 = x => [W::norm1(x)];
    /// Their sum and that of their squares: in one reading, as a second takes as long as the memory does for the first.
    ValuesAndSquares, 2 = x => if reads::<C, W>() { told::<W, false>(x).moments } else { W::moments(x) };
}

/// Adds up the terms of each block.
#[derive(Default)]
struct Adding<K, const N: usize> {
    term: PhantomData<K>,
    totals: Totals<N>,
}

impl<W: Word, K: Term<N>, const N: usize> ArrayFold<&[W]> for Adding<K, N> {
    type Partial = Totals<N>;

    #[inline(always)]
    fn take<C: Target>(&mut self, piece: &[W], _first: u64) {
        let (groups, rest) = piece.as_chunks::<GROUP>();
        for block in groups.chunks(BLOCK_BYTES / size_of::<Group<W>>()) {
            self.totals.add(with_isa(C::ISA, Block::<W, K, N>(block, PhantomData)));
        }
        if !rest.is_empty() {
            self.totals.add(with_isa(C::ISA, Block::<W, K, N>(&[filled(rest)], PhantomData)));
        }
        self.totals.count += piece.len() as u64;
    }

    fn finish(self) -> Totals<N> {
        self.totals
    }
}

/// A block to make terms of: a call, so that the compiler sees its loop alone. Among others' code it left some of them without vectors.
struct Block<'a, W, K, const N: usize>(&'a [Group<W>], PhantomData<K>);

impl<W: Word, K: Term<N>, const N: usize> Job for Block<'_, W, K, N> {
    type Output = [Wide; N];

    #[inline(always)]
    fn run<C: Target>(self) -> [Wide; N] {
        K::of::<C, W>(self.0)
    }
}

/// All that stats tells, in one reading.
struct Reading<W: Ordered> {
    /// Of the values, of their squares, and of their magnitudes.
    totals: Totals<3>,
    order: Order<W>,
}

impl<W: Word + Ordered<Key = W>> Reading<W> {
    /// Takes a block in, and tells its ends.
    #[inline(always)]
    fn block<C: Target>(&mut self, x: &[Group<W>]) -> Span<W> {
        if reads::<C, W>() {
            let Told { moments: [sum, squares], norm, least, greatest } = told::<W, true>(x);
            self.totals.add([sum, squares, norm]);
            return Span { low: least, high: greatest };
        }
        let [sum, squares] = with_isa(C::ISA, Block::<W, ValuesAndSquares, 2>(x, PhantomData));
        // What has no sign is its magnitude.
        let [norm] = match W::SIGNED {
            true => with_isa(C::ISA, Block::<W, AbsoluteValues, 1>(x, PhantomData)),
            false => [sum],
        };
        self.totals.add([sum, squares, norm]);
        self.order.span::<C>(x.as_flattened())
    }
}

impl<W: Word + Ordered<Key = W>> ArrayFold<&[W]> for Reading<W> {
    type Partial = (Totals<3>, CountedExtremes<W>);

    #[inline(always)]
    fn take<C: Target>(&mut self, piece: &[W], first: u64) {
        let (groups, rest) = piece.as_chunks::<GROUP>();
        let mut first = first;
        for block in groups.chunks(BLOCK_BYTES / size_of::<Group<W>>()) {
            let span = self.block::<C>(block);
            self.order.take_block(block.as_flattened(), first, span);
            first += block.as_flattened().len() as u64;
        }
        if !rest.is_empty() {
            // Zeros add nothing, but they may be an end.
            self.block::<C>(&[filled(rest)]);
            let span = self.order.span::<C>(rest);
            self.order.take_block(rest, first, span);
        }
        self.totals.count += piece.len() as u64;
    }

    fn finish(self) -> Self::Partial {
        (self.totals, ArrayFold::<&[W]>::finish(self.order))
    }
}

/// Adds up products of two slices.
#[derive(Default)]
struct Multiplying {
    totals: Totals<1>,
}

impl<W: Word> ArrayFold<(&[W], &[W])> for Multiplying {
    type Partial = Totals<1>;

    #[inline(always)]
    fn take<C: Target>(&mut self, (x, y): (&[W], &[W]), _first: u64) {
        self.totals.count += x.len() as u64;
        let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<GROUP>(), y.as_chunks::<GROUP>());
        let block = BLOCK_BYTES / size_of::<Group<W>>();
        for (x, y) in x.chunks(block).zip(y.chunks(block)) {
            self.totals.add([W::products(x, y)]);
        }
        if !x_rest.is_empty() {
            self.totals.add([W::products(&[filled(x_rest)], &[filled(y_rest)])]);
        }
    }

    fn finish(self) -> Totals<1> {
        self.totals
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Op, Policy};
    use warpfold_num::element::Integer;
    use warpfold_num::random::Words;
    use warpfold_plan::plan::{Isa, Problem, choose};

    fn agree<T: Integer + Word + Ordered<Key = T>>(x: &[T], y: &[T]) {
        let (mut sum, mut moments, mut dot) = (Exact::<T>::new(), Moments::new(), Dot::new());
        let (mut norm1, mut extremes) = (0u128, Extremes::new());
        for (at, (&x, &y)) in x.iter().zip(y).enumerate() {
            extremes.add(x, 7 + at as u64);
            sum.add(x);
            moments.add(x);
            dot.add(x, y);
            if let warpfold_num::element::Decoded::Finite { mantissa, .. } = x.decode() {
                norm1 += u128::from(mantissa);
            }
        }
        for isa in [Isa::Baseline, Isa::Avx2, Isa::Avx512] {
            for threads in [1, 3] {
                let policy = Policy { isa: Some(isa), ..Policy::default() };
                let problem = Problem { op: Op::Sum, dtype: T::DTYPE, n: x.len() as u64, policy };
                let plan = Plan { threads, grain: 5000, ..choose(problem, crate::facts()) };
                assert_eq!(super::sum::<T, T>(&plan, x), sum, "{plan}");
                assert_eq!(super::moments::<T, T>(&plan, x), moments, "{plan}");
                assert_eq!(super::dot::<T, T>(&plan, x, y), dot, "{plan}");
                let found = super::norm1::<T, T>(&plan, x);
                assert_eq!(found.parts.as_ref()[0].fixed.to_u128(), Some(norm1), "{plan}");
                let stats = super::stats::<T, T>(&plan, x, 7);
                assert_eq!((&stats.moments, &stats.extremes), (&moments, &extremes), "{plan}");
                assert_eq!(stats.norm1, Norm1::from_exact(&found), "{plan}");
                assert_eq!(stats.seen, x.len() as u64);
            }
        }
    }

    macro_rules! agree_at_every_length {
        ($($ty:ident),+) => {$(
            #[test]
            fn $ty() {
                let mut words = Words(1);
                let mut random = || words.next() as $ty;
                for n in (0..200).chain([8191, 8193, 30_000]) {
                    let (x, y): (Vec<_>, Vec<_>) = (0..n).map(|_| (random(), random())).unzip();
                    agree(&x, &y);
                }
                for (a, b) in [($ty::MIN, $ty::MIN), ($ty::MIN, $ty::MAX), ($ty::MAX, $ty::MAX)] {
                    // More than a block of bytes.
                    agree(&vec![a; 70_000], &vec![b; 70_000]);
                }
            }
        )+};
    }
    agree_at_every_length!(i8, u8, i16, u16, i32, u32, i64, u64);
}
