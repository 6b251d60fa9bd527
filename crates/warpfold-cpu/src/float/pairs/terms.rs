//! What is summed of pairs.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::__m512d;

use super::EACH;
use super::lanes::{Levels, log_adds};
use crate::Nan;
use crate::executor::ArrayFold;
#[cfg(target_arch = "x86_64")]
use crate::float::avx512::Registers;
use crate::float::{DotFold, Lane, SumFold, Summed, Values, Window};
use crate::isa::Target;
use warpfold_plan::plan::Isa;

/// Sums of pairs inside windows, and beside them the ordinary folds of those outside.
pub(crate) trait Terms<F: Lane>: Send {
    /// The accumulators of the pairs inside.
    type Inside: Copy + Send;
    /// The registers that are left, and how many pairs they are of.
    type Partial: Send;
    /// Whether the first of a pair may be negative inside.
    const SIGNED: bool;
    /// Accumulators of a product.
    const LEVELS: usize;

    fn new(isa: Isa, nan: Nan) -> Self;
    /// Empty accumulators for windows.
    fn inside(x: &Window<F>, y: &Window<F>) -> Self::Inside;
    /// Adds pairs inside, in `f64`.
    fn add(inside: &mut Self::Inside, x: &[f64; EACH], y: &[f64; EACH]);
    /// The accumulators in registers of AVX-512, as they are when they are empty.
    #[cfg(target_arch = "x86_64")]
    type Registers: Copy;
    #[cfg(target_arch = "x86_64")]
    fn registers(inside: &Self::Inside) -> Self::Registers;
    /// [`add`](Self::add) there.
    ///
    /// # Safety
    /// The machine has AVX-512.
    #[cfg(target_arch = "x86_64")]
    unsafe fn add_to_registers(registers: &mut Self::Registers, x: __m512d, y: __m512d);
    #[cfg(target_arch = "x86_64")]
    fn store(registers: Self::Registers, inside: &mut Self::Inside);
    /// Makes room for more.
    fn drain(inside: &mut Self::Inside);
    /// Moves what the accumulators have given up to the registers.
    fn empty(&mut self, inside: &mut Self::Inside);
    /// Adds pairs of any kind.
    fn fold<C: Target>(&mut self, x: &[F], y: &[F]);
    /// The registers, with so many pairs that went inside.
    fn finish(self, inside: u64) -> Self::Partial;
}

/// Empty accumulators of products.
fn products<F: Lane, const LEVELS: usize>(x: &Window<F>, y: &Window<F>) -> Levels<LEVELS> {
    Levels::new(x.end() + y.end(), x.grid() + y.grid(), log_adds(LEVELS))
}

/// What is left of an ordinary fold, with so many more.
fn finished<I, L, T>(fold: T, inside: u64) -> Summed<L, 1>
where
    I: crate::executor::Split,
    T: ArrayFold<I, Partial = Summed<L, 1>>,
    L: Send,
{
    let mut summed = fold.finish();
    summed.counted += inside;
    summed
}

/// The squares of both, and their products between them.
pub(crate) struct Squares<F: Lane, const LEVELS: usize, const DOT: usize, const LANES: usize>(
    [DotFold<F, DOT, LANES>; 3],
);

impl<F: Lane, const LEVELS: usize, const DOT: usize, const LANES: usize> Terms<F>
    for Squares<F, LEVELS, DOT, LANES>
{
    type Inside = [Levels<LEVELS>; 3];
    type Partial = [Summed<F::ProductLimbs, 1>; 3];
    const SIGNED: bool = true;
    const LEVELS: usize = LEVELS;

    fn new(isa: Isa, nan: Nan) -> Self {
        Squares(std::array::from_fn(|_| DotFold::new(isa, nan)))
    }

    fn inside(x: &Window<F>, y: &Window<F>) -> Self::Inside {
        [products(x, x), products(x, y), products(y, y)]
    }

    #[inline(always)]
    fn add([left, both, right]: &mut Self::Inside, x: &[f64; EACH], y: &[f64; EACH]) {
        left.add_products(x, x);
        both.add_products(x, y);
        right.add_products(y, y);
    }

    #[cfg(target_arch = "x86_64")]
    type Registers = [Registers<LEVELS>; 3];

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn registers(inside: &Self::Inside) -> Self::Registers {
        inside.each_ref().map(Levels::registers)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn add_to_registers([left, both, right]: &mut Self::Registers, x: __m512d, y: __m512d) {
        // SAFETY: as the caller says.
        unsafe {
            left.add_products(x, x);
            both.add_products(x, y);
            right.add_products(y, y);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn store(registers: Self::Registers, inside: &mut Self::Inside) {
        inside.iter_mut().zip(registers).for_each(|(levels, registers)| levels.store(registers));
    }

    #[inline(always)]
    fn drain(inside: &mut Self::Inside) {
        inside.iter_mut().for_each(Levels::drain);
    }

    fn empty(&mut self, inside: &mut Self::Inside) {
        for (levels, dot) in inside.iter_mut().zip(&mut self.0) {
            levels.empty_into(&mut dot.spill.register.fixed, 2 * F::UNIT);
        }
    }

    #[inline(always)]
    fn fold<C: Target>(&mut self, x: &[F], y: &[F]) {
        let [left, both, right] = &mut self.0;
        left.fold(C::ISA, (x, x), 0);
        both.fold(C::ISA, (x, y), 0);
        right.fold(C::ISA, (y, y), 0);
    }

    fn finish(self, inside: u64) -> Self::Partial {
        self.0.map(|dot| finished(dot, inside))
    }
}

/// The first of each pair, a weight, and the products with it: `OF_VALUES` are the accumulators of a value.
pub(crate) struct Weighted<
    F: Lane,
    const LEVELS: usize,
    const OF_VALUES: usize,
    const DOT: usize,
    const LANES: usize,
    const SUM: usize,
    const SUM_LANES: usize,
> {
    sum: SumFold<F, Values, SUM, SUM_LANES, 1>,
    dot: DotFold<F, DOT, LANES>,
}

impl<
    F: Lane,
    const LEVELS: usize,
    const OF_VALUES: usize,
    const DOT: usize,
    const LANES: usize,
    const SUM: usize,
    const SUM_LANES: usize,
> Terms<F> for Weighted<F, LEVELS, OF_VALUES, DOT, LANES, SUM, SUM_LANES>
{
    type Inside = (Levels<OF_VALUES>, Levels<LEVELS>);
    type Partial = (Summed<F::SumLimbs, 1>, Summed<F::ProductLimbs, 1>);
    const SIGNED: bool = false;
    const LEVELS: usize = LEVELS;

    fn new(isa: Isa, nan: Nan) -> Self {
        Weighted { sum: SumFold::new(isa, nan), dot: DotFold::new(isa, nan) }
    }

    fn inside(x: &Window<F>, y: &Window<F>) -> Self::Inside {
        (Levels::new(x.end(), x.grid(), log_adds(LEVELS)), products(x, y))
    }

    #[inline(always)]
    fn add((sum, dot): &mut Self::Inside, x: &[f64; EACH], y: &[f64; EACH]) {
        sum.add(x);
        dot.add_products(x, y);
    }

    #[cfg(target_arch = "x86_64")]
    type Registers = (Registers<OF_VALUES>, Registers<LEVELS>);

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn registers((sum, dot): &Self::Inside) -> Self::Registers {
        (sum.registers(), dot.registers())
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn add_to_registers((sum, dot): &mut Self::Registers, x: __m512d, y: __m512d) {
        // SAFETY: as the caller says.
        unsafe {
            sum.add(x);
            dot.add_products(x, y);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn store((of_sum, of_dot): Self::Registers, (sum, dot): &mut Self::Inside) {
        sum.store(of_sum);
        dot.store(of_dot);
    }

    #[inline(always)]
    fn drain((sum, dot): &mut Self::Inside) {
        sum.drain();
        dot.drain();
    }

    fn empty(&mut self, (sum, dot): &mut Self::Inside) {
        sum.empty_into(&mut self.sum.spills[0].register.fixed, F::UNIT);
        dot.empty_into(&mut self.dot.spill.register.fixed, 2 * F::UNIT);
    }

    #[inline(always)]
    fn fold<C: Target>(&mut self, x: &[F], y: &[F]) {
        self.sum.fold(C::ISA, x, 0);
        self.dot.fold(C::ISA, (x, y), 0);
    }

    fn finish(self, inside: u64) -> Self::Partial {
        (finished::<&[F], _, _>(self.sum, inside), finished(self.dot, inside))
    }
}
