//! [`StatsState`]: what lanes of all kinds hold of an output, by the kinds of moments that element types have.

use warpfold_exact::exact::Pair;
use warpfold_num::double_double::DoubleDouble;

use super::Kernels;
use crate::batch::{About, Approximate, InTwo, Sums, Totals};

/// What lanes of all kinds hold of an output of `count` elements.
pub(crate) trait StatsState<T: Kernels>: Copy + Send + Sync {
    fn sums(&self, count: u64) -> Sums<T>;
    fn norms(&self, count: u64) -> Sums<T>;
    /// Of what is left of a number near all elements.
    fn spread(&self, count: u64) -> T::Plain;
    /// Of elements as they are.
    fn squares(&self, count: u64) -> T::Plain;
    fn moments(&self, count: u64) -> T::Approximate;
    fn least(&self, count: u64) -> T::Ranked;
    fn greatest(&self, count: u64) -> T::Ranked;
}

/// What lanes of all kinds have in common: where sums stand, and where the extremes.
macro_rules! sums_and_ends {
    (|$all:ident| $sums:expr, $ends:expr) => {
        #[inline(always)]
        fn sums(&self, _: u64) -> Sums<T> {
            let $all = self;
            $sums(0)
        }

        #[inline(always)]
        fn norms(&self, _: u64) -> Sums<T> {
            let $all = self;
            $sums(1)
        }

        #[inline(always)]
        fn least(&self, _: u64) -> T::Ranked {
            let $all = self;
            $ends[0]
        }

        #[inline(always)]
        fn greatest(&self, _: u64) -> T::Ranked {
            let $all = self;
            $ends[1]
        }
    };
}

/// What has no moments that are known to 2^-53.
macro_rules! no_plain_moments {
    () => {
        fn spread(&self, _: u64) -> T::Plain {
            unreachable!("moments of {} are known to 2^-105", T::DTYPE)
        }

        fn squares(&self, _: u64) -> T::Plain {
            unreachable!("moments of {} are known to 2^-105", T::DTYPE)
        }
    };
}

impl<T> StatsState<T> for (Totals<Pair, About>, [T::Ranked; 2])
where
    T: Kernels<Sums = [Pair; 1], Plain = Approximate<f64, 1>>,
{
    sums_and_ends!(|all| |k: usize| [all.0.sums[k]], all.1);

    #[inline(always)]
    fn spread(&self, count: u64) -> T::Plain {
        self.0.spread(count)
    }

    #[inline(always)]
    fn squares(&self, count: u64) -> T::Plain {
        self.0.squares(count)
    }

    fn moments(&self, _: u64) -> T::Approximate {
        unreachable!("moments of {} are known to 2^-53", T::DTYPE)
    }
}

impl<T> StatsState<T> for (Totals<i128, DoubleDouble>, [T::Ranked; 2])
where
    T: Kernels<Sums = [i128; 1], Approximate = Approximate<DoubleDouble, 1>>,
{
    sums_and_ends!(|all| |k: usize| [all.0.sums[k]], all.1);
    no_plain_moments!();

    #[inline(always)]
    fn moments(&self, _: u64) -> T::Approximate {
        Approximate { sum: [self.0.sums[0].in_two()], squares: self.0.squares }
    }
}

impl<T, S: InTwo> StatsState<T> for ([[S; 1]; 2], (DoubleDouble, [T::Ranked; 2]))
where
    T: Kernels<Sums = [S; 1], Approximate = Approximate<DoubleDouble, 1>>,
{
    sums_and_ends!(|all| |k: usize| all.0[k], all.1.1);
    no_plain_moments!();

    #[inline(always)]
    fn moments(&self, _: u64) -> T::Approximate {
        Approximate { sum: [self.0[0][0].in_two()], squares: self.1.0 }
    }
}

/// Of what is not folded together.
impl<T: Kernels> StatsState<T> for () {
    fn sums(&self, _: u64) -> Sums<T> {
        none()
    }

    fn norms(&self, _: u64) -> Sums<T> {
        none()
    }

    fn spread(&self, _: u64) -> T::Plain {
        none()
    }

    fn squares(&self, _: u64) -> T::Plain {
        none()
    }

    fn moments(&self, _: u64) -> T::Approximate {
        none()
    }

    fn least(&self, _: u64) -> T::Ranked {
        none()
    }

    fn greatest(&self, _: u64) -> T::Ranked {
        none()
    }
}

fn none() -> ! {
    unreachable!("these stats are not folded together")
}
