//! Exact folds of integers: sums, sums of magnitudes, moments and dot products, never wrapped.
//!
//! A block that fits in L1 is summed in vector lanes just wide enough for it ([`Word`]); its total, at most a few hundred
//! bits, goes into a [`Wide`] that no array overflows. `bool` takes the kernels of `u8`.

mod wide;
mod word;

use std::marker::PhantomData;

pub(super) use wide::Wide;
use word::Group;
pub(super) use word::Word;

use super::executor::{ArrayFold, Together, run};
use super::isa::Target;
use super::order::{CountedExtremes, Order};
use warpfold_exact::exact::{Dot, Exact, Limbs, Moments, Register};
use warpfold_exact::partial::{Extremes, Norm1, Stats};
use warpfold_num::element::{Components, Element, Ordered, Real};
use warpfold_plan::plan::Plan;

/// Bytes of a block: long enough streams to read ahead in, and far too few additions for lanes of 32 and 64 bits to overflow.
const BLOCK_BYTES: usize = 64 << 10;

/// Elements that a kernel takes at once; a rest is filled up with zeros, which add nothing.
const GROUP: usize = 64;

/// The exact sum of integers that are stored as words.
pub(super) fn sum<T: Real, W: Word>(plan: &Plan, x: &[W]) -> Exact<T> {
    let total = run(plan, x, 0, Adding::<Values>::default, WideSum::merge);
    Exact { parts: registers::<T, _>(total.wide), count: total.count }
}

/// The exact sum of their magnitudes, as a sum.
pub(super) fn norm1<T: Real, W: Word>(plan: &Plan, x: &[W]) -> Exact<T> {
    let total = run(plan, x, 0, Adding::<AbsoluteValues>::default, WideSum::merge);
    Exact { parts: registers::<T, _>(total.wide), count: total.count }
}

/// Their exact sum and sum of squares.
pub(super) fn moments<T: Real, W: Word>(plan: &Plan, x: &[W]) -> Moments<T> {
    let start = || Together(Adding::<Values>::default(), Adding::<Squares>::default());
    let (sum, squares) = run(plan, x, 0, start, |all: &mut (WideSum, WideSum), one| {
        all.0.merge(one.0);
        all.1.merge(one.1);
    });
    Moments { sum: registers::<T, _>(sum.wide), squares: squares.wide.register(), count: sum.count }
}

/// The exact dot product of two slices of one length.
pub(super) fn dot<T: Real, W: Word>(plan: &Plan, x: &[W], y: &[W]) -> Dot<T> {
    let total = run(plan, (x, y), 0, Multiplying::default, WideSum::merge);
    Dot { parts: registers::<T, _>(total.wide), count: total.count }
}

/// Everything that one pass tells.
pub(super) fn stats<T, W>(plan: &Plan, x: &[W], first: u64) -> Stats<T>
where
    T: Ordered,
    W: Word + Ordered<Key = T::Key>,
{
    let start = || {
        let moments = Together(Adding::<Values>::default(), Adding::<Squares>::default());
        let order = Order::<W>::new(plan);
        Together(moments, Together(Adding::<AbsoluteValues>::default(), order))
    };
    let ((sum, squares), (norm1, order)) = run(plan, x, first, start, |all, one| {
        let ((sum, squares), (norm1, order)): &mut (
            (WideSum, WideSum),
            (WideSum, CountedExtremes<W>),
        ) = all;
        sum.merge(one.0.0);
        squares.merge(one.0.1);
        norm1.merge(one.1.0);
        order.merge(one.1.1);
    });
    let Extremes { min, max, first_nan, count } = order.extremes;
    Stats {
        moments: Moments {
            sum: registers::<T, _>(sum.wide),
            squares: squares.wide.register(),
            count,
        },
        norm1: Norm1 { total: norm1.wide.register(), count },
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
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WideSum {
    pub(super) wide: Wide,
    pub(super) count: u64,
}

impl WideSum {
    fn merge(&mut self, other: WideSum) {
        self.wide += other.wide;
        self.count += other.count;
    }
}

/// What is made of each block. Types, not closures: only `#[inline(always)]` code is compiled for the instruction set chosen.
trait Term: Default + Send {
    fn of<W: Word>(block: &[Group<W>]) -> Wide;
}

macro_rules! terms {
    ($($(#[$doc:meta])+ $name:ident = $x:ident => $of:expr;)+) => {$(
        $(#[$doc])+
        #[derive(Default)]
        pub(super) struct $name;

        impl Term for $name {
            #[inline(always)]
            fn of<W: Word>($x: &[Group<W>]) -> Wide {
                $of
            }
        }
    )+};
}
terms! {
    /// The sum of the values.
    Values = x => W::sum(x);
    /// The sum of their magnitudes.
    AbsoluteValues = x => W::norm1(x);
    /// The sum of their squares.
    Squares = x => W::products(x, x);
}

/// Adds up a term of each block.
#[derive(Default)]
pub(super) struct Adding<K> {
    term: PhantomData<K>,
    total: WideSum,
}

impl<W: Word, K: Term> ArrayFold<&[W]> for Adding<K> {
    type Partial = WideSum;

    #[inline(always)]
    fn take<C: Target>(&mut self, piece: &[W], _first: u64) {
        let (groups, rest) = piece.as_chunks::<GROUP>();
        for block in groups.chunks(BLOCK_BYTES / size_of::<Group<W>>()) {
            self.total.wide += K::of(block);
        }
        if !rest.is_empty() {
            self.total.wide += K::of(&[filled(rest)]);
        }
        self.total.count += piece.len() as u64;
    }

    fn finish(self) -> WideSum {
        self.total
    }
}

/// Adds up products of two slices.
#[derive(Default)]
struct Multiplying {
    total: WideSum,
}

impl<W: Word> ArrayFold<(&[W], &[W])> for Multiplying {
    type Partial = WideSum;

    #[inline(always)]
    fn take<C: Target>(&mut self, (x, y): (&[W], &[W]), _first: u64) {
        self.total.count += x.len() as u64;
        let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<GROUP>(), y.as_chunks::<GROUP>());
        let block = BLOCK_BYTES / size_of::<Group<W>>();
        for (x, y) in x.chunks(block).zip(y.chunks(block)) {
            self.total.wide += W::products(x, y);
        }
        if !x_rest.is_empty() {
            self.total.wide += W::products(&[filled(x_rest)], &[filled(y_rest)]);
        }
    }

    fn finish(self) -> WideSum {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Op, Policy};
    use warpfold_num::element::Integer;
    use warpfold_num::random::Words;
    use warpfold_plan::plan::{Isa, Problem, choose};

    fn agree<T: Integer + Word>(x: &[T], y: &[T]) {
        let (mut sum, mut moments, mut dot) = (Exact::<T>::new(), Moments::new(), Dot::new());
        let mut norm1: u128 = 0;
        for (&x, &y) in x.iter().zip(y) {
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
                    agree(&vec![a; 20_000], &vec![b; 20_000]);
                }
            }
        )+};
    }
    agree_at_every_length!(i8, u8, i16, u16, i32, u32, i64, u64);
}
