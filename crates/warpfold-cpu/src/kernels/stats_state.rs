//! [`StatsState`]: what lanes of all kinds hold of an output, by the kinds of moments that element types have.

use warpfold_exact::exact::Pair;
use warpfold_num::double_double::DoubleDouble;

use super::Kernels;
use crate::batch::{AT_ONCE, About, Approximate, InTwo, Sums, Take, Totals};

/// What lanes of all kinds hold of an output.
pub(crate) trait StatsState<T: Kernels>: Copy + Send + Sync {
    fn sums(&self) -> Sums<T>;
    fn norms(&self) -> Sums<T>;
    /// Of what is left of a number near all elements, of outputs of so many.
    fn spreads(all: &[Self; AT_ONCE], counts: [u64; AT_ONCE]) -> [T::Plain; AT_ONCE];
    /// Of elements as they are.
    fn squares(all: &[Self; AT_ONCE], counts: [u64; AT_ONCE]) -> [T::Plain; AT_ONCE];
    fn moments(&self) -> T::Approximate;
    fn least(&self) -> T::Ranked;
    fn greatest(&self) -> T::Ranked;
}

/// What each fold of stats takes of that: all together, or one by one.
macro_rules! takes {
    ($($take:ident: $of:ty, |$all:ident, $counts:ident| $together:expr;)+) => {$(
        pub(crate) enum $take {}

        impl<T: Kernels> Take<T, T::OfStats, $of> for $take {
            #[inline(always)]
            fn take($all: &[T::OfStats; AT_ONCE], $counts: [u64; AT_ONCE]) -> [$of; AT_ONCE] {
                $together
            }
        }
    )+};
    (one by one $($take:ident $method:ident: $of:ty;)+) => {
        takes! {$(
            $take: $of, |all, _counts| {
                let mut some = [all[0].$method(); AT_ONCE];
                for k in 0..AT_ONCE {
                    some[k] = all[k].$method();
                }
                some
            };
        )+}
    };
}
takes! {
    TakeSpreads: T::Plain, |all, counts| StatsState::<T>::spreads(all, counts);
    TakeSquares: T::Plain, |all, counts| StatsState::<T>::squares(all, counts);
}
takes! {
    one by one
    TakeSums sums: Sums<T>;
    TakeNorms norms: Sums<T>;
    TakeMoments moments: T::Approximate;
    TakeLeast least: T::Ranked;
    TakeGreatest greatest: T::Ranked;
}

/// What lanes of all kinds have in common: where sums stand, and where the extremes.
macro_rules! sums_and_ends {
    (|$all:ident| $sums:expr, $ends:expr) => {
        #[inline(always)]
        fn sums(&self) -> Sums<T> {
            let $all = self;
            $sums(0)
        }

        #[inline(always)]
        fn norms(&self) -> Sums<T> {
            let $all = self;
            $sums(1)
        }

        #[inline(always)]
        fn least(&self) -> T::Ranked {
            let $all = self;
            $ends[0]
        }

        #[inline(always)]
        fn greatest(&self) -> T::Ranked {
            let $all = self;
            $ends[1]
        }
    };
}

/// What has no moments that are known to 2^-53.
macro_rules! no_plain_moments {
    () => {
        fn spreads(_: &[Self; AT_ONCE], _: [u64; AT_ONCE]) -> [T::Plain; AT_ONCE] {
            unreachable!("moments of {} are known to 2^-105", T::DTYPE)
        }

        fn squares(_: &[Self; AT_ONCE], _: [u64; AT_ONCE]) -> [T::Plain; AT_ONCE] {
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
    fn spreads(all: &[Self; AT_ONCE], counts: [u64; AT_ONCE]) -> [T::Plain; AT_ONCE] {
        Totals::spreads(&totals(all), counts)
    }

    #[inline(always)]
    fn squares(all: &[Self; AT_ONCE], counts: [u64; AT_ONCE]) -> [T::Plain; AT_ONCE] {
        Totals::squares(&totals(all), counts)
    }

    fn moments(&self) -> T::Approximate {
        unreachable!("moments of {} are known to 2^-53", T::DTYPE)
    }
}

/// The sums alone.
#[inline(always)]
fn totals<S: Copy, E>(all: &[(S, E); AT_ONCE]) -> [S; AT_ONCE] {
    let mut totals = [all[0].0; AT_ONCE];
    for k in 0..AT_ONCE {
        totals[k] = all[k].0;
    }
    totals
}

impl<T> StatsState<T> for (Totals<i128, DoubleDouble>, [T::Ranked; 2])
where
    T: Kernels<Sums = [i128; 1], Approximate = Approximate<DoubleDouble, 1>>,
{
    sums_and_ends!(|all| |k: usize| [all.0.sums[k]], all.1);
    no_plain_moments!();

    #[inline(always)]
    fn moments(&self) -> T::Approximate {
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
    fn moments(&self) -> T::Approximate {
        Approximate { sum: [self.0[0][0].in_two()], squares: self.1.0 }
    }
}

/// Of what is not folded together.
impl<T: Kernels> StatsState<T> for () {
    no_plain_moments!();

    fn sums(&self) -> Sums<T> {
        none()
    }

    fn norms(&self) -> Sums<T> {
        none()
    }

    fn moments(&self) -> T::Approximate {
        none()
    }

    fn least(&self) -> T::Ranked {
        none()
    }

    fn greatest(&self) -> T::Ranked {
        none()
    }
}

fn none() -> ! {
    unreachable!("these stats are not folded together")
}
