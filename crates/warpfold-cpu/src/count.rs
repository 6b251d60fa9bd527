//! How many elements are nonzero, and the early answers of any and all.

use std::marker::PhantomData;

use super::executor::{ArrayFold, run};
use super::isa::Target;
use super::memory::{prefetch, streamed};
use crate::{Nan, Op};
use warpfold_exact::partial::Count;
use warpfold_num::element::{Decode, Element};
use warpfold_plan::plan::Plan;

/// Bytes of a block: few enough additions for lanes of one byte.
const BLOCK_BYTES: usize = 16 << 10;

/// Counts the nonzero elements. Any and all look only until they know: theirs then counts the one element that decided.
pub(super) fn count<T: Element>(plan: &Plan, x: &[T]) -> Count {
    let (op, nan) = (plan.problem.op, plan.problem.policy.nan);
    let start = || Counting::<T> { count: Count::default(), nan, op, element: PhantomData };
    let counted = run(plan, x, 0, start, |all: &mut Count, one| all.merge(&one));
    match op {
        Op::Any if counted.any() => Count { seen: 1, nonzero: 1 },
        Op::All if !counted.all() => Count { seen: 1, nonzero: 0 },
        _ => counted,
    }
}

struct Counting<T> {
    count: Count,
    nan: Nan,
    op: Op,
    element: PhantomData<T>,
}

impl<T: Element> ArrayFold<&[T]> for Counting<T> {
    type Partial = Count;

    #[inline(always)]
    fn take<C: Target>(&mut self, piece: &[T], _first: u64) {
        for block in piece.chunks(BLOCK_BYTES / size_of::<T>()) {
            if self.is_settled() {
                return;
            }
            let parts = T::as_parts(block);
            // A NaN is nonzero: one that is to be skipped is taken off both counts again.
            let skipped = match self.nan {
                Nan::Ignore if T::DTYPE.is_float() => holding::<T>(parts, T::Component::is_nan),
                _ => 0,
            };
            self.count.nonzero +=
                holding::<T>(parts, |part| part != T::Component::default()) - skipped;
            self.count.seen += block.len() as u64 - skipped;
        }
    }

    #[inline(always)]
    fn is_settled(&self) -> bool {
        match self.op {
            Op::Any => self.count.any(),
            Op::All => !self.count.all(),
            _ => false,
        }
    }

    fn finish(self) -> Count {
        self.count
    }
}

/// How many elements have a part that is NaN, over the parts of `T`.
pub(super) struct Nans<T>(u64, PhantomData<T>);

impl<T> Nans<T> {
    pub(super) fn new() -> Self {
        Nans(0, PhantomData)
    }
}

impl<T: Element> ArrayFold<&[T::Component]> for Nans<T> {
    type Partial = u64;

    #[inline(always)]
    fn take<C: Target>(&mut self, piece: &[T::Component], _first: u64) {
        for block in piece.chunks(BLOCK_BYTES / size_of::<T>() * T::PARTS) {
            self.0 += holding::<T>(block, T::Component::is_nan);
        }
    }

    fn finish(self) -> u64 {
        self.0
    }
}

/// Whether any element is NaN.
pub(super) fn any_nan<T: Element>(plan: &Plan, x: &[T]) -> bool {
    let nans = || {
        let plan = plan.in_parts(T::PARTS as u64);
        run(&plan, T::as_parts(x), 0, Nans::<T>::new, |all: &mut u64, one| *all += one)
    };
    T::DTYPE.is_float() && nans() > 0
}

/// How many elements of a block, given by its parts, have one that fits.
#[inline(always)]
fn holding<T: Element>(parts: &[T::Component], fits: impl Fn(T::Component) -> bool) -> u64 {
    // Bytes count: a block of the narrowest type has 128 elements a lane.
    const LANES: usize = 128;
    const { assert!(BLOCK_BYTES / LANES <= u8::MAX as usize) };
    let mut lanes = [0u8; LANES];
    if T::PARTS == 1 {
        let (groups, rest) = parts.as_chunks::<LANES>();
        for at in streamed(groups.len()) {
            let group = &groups[at];
            prefetch(group);
            for l in 0..LANES {
                lanes[l] += u8::from(fits(group[l]));
            }
        }
        for (lane, &part) in lanes.iter_mut().zip(rest) {
            *lane += u8::from(fits(part));
        }
    } else {
        let (pairs, _) = parts.as_chunks::<2>();
        let (groups, rest) = pairs.as_chunks::<LANES>();
        for at in streamed(groups.len()) {
            let group = &groups[at];
            prefetch(group);
            for l in 0..LANES {
                lanes[l] += u8::from(fits(group[l][0]) | fits(group[l][1]));
            }
        }
        for (lane, &[re, im]) in lanes.iter_mut().zip(rest) {
            *lane += u8::from(fits(re) | fits(im));
        }
    }
    lanes.into_iter().map(u64::from).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policy;
    use crate::kernels::Kernels;
    use warpfold_num::Complex;
    use warpfold_plan::plan::{Isa, Problem, choose};

    fn agree<T: Kernels>(x: &[T]) {
        for (nan, op) in [Nan::Propagate, Nan::Ignore]
            .into_iter()
            .flat_map(|nan| [Op::Any, Op::All, Op::Count].map(|op| (nan, op)))
        {
            let mut expected = Count::default();
            for &x in x {
                if nan == Nan::Propagate || !T::as_parts(&[x]).iter().any(|p| p.is_nan()) {
                    expected.add(x);
                }
            }
            for isa in [Isa::Baseline, Isa::Avx2, Isa::Avx512] {
                for threads in [1, 3] {
                    let policy = Policy { nan, isa: Some(isa), ..Policy::default() };
                    let problem = Problem { op, dtype: T::DTYPE, n: x.len() as u64, policy };
                    let plan = Plan { threads, grain: 333, ..choose(problem, crate::facts()) };
                    let found = count(&plan, x);
                    match op {
                        Op::Any => assert_eq!(found.any(), expected.any(), "{x:?} {plan}"),
                        Op::All => assert_eq!(found.all(), expected.all(), "{x:?} {plan}"),
                        _ => assert_eq!(found, expected, "{x:?} {plan}"),
                    }
                }
            }
        }
    }

    #[test]
    fn counts_of_every_length() {
        for n in 0..300 {
            agree(&(0..n).map(|i| (i * 37 % 11) as i8 - 5).collect::<Vec<_>>());
            agree(&(0..n).map(|i| [0.0, -0.0, f32::NAN, 1e-45][i % 4]).collect::<Vec<_>>());
            agree(&(0..n).map(|i| Complex::new(0.0, [-0.0, f64::NAN][i % 2])).collect::<Vec<_>>());
            agree(&vec![0u64; n]);
            agree(&vec![true; n]);
        }
    }

    #[test]
    fn a_lone_element_far_off() {
        let mut x = vec![crate::f16::from_f32(-0.0); 70_000];
        agree(&x);
        x[65_000] = crate::f16::from_bits(1);
        agree(&x);
        agree(&(0..=u16::MAX).map(crate::bf16::from_bits).collect::<Vec<_>>());
    }
}
