//! [`StatsState`]: what lanes of all kinds hold of an output, by the kinds of moments that element types have.

use warpfold_num::double_double::DoubleDouble;

use super::Kernels;
use crate::batch::{Approximate, Sums};

/// What lanes of all kinds hold of an output.
pub(crate) trait StatsState<T: Kernels>: Copy + Send + Sync {
    fn sums(&self) -> Sums<T>;
    fn norms(&self) -> Sums<T>;
    /// Of what is left of a number near all elements.
    fn spread(&self) -> T::Plain;
    /// Of elements as they are.
    fn squares(&self) -> T::Plain;
    fn moments(&self) -> T::Approximate;
    fn least(&self) -> T::Ranked;
    fn greatest(&self) -> T::Ranked;
}

macro_rules! stats_state {
    ($($kind:ident = $state:ty, $moments:ty: |$all:ident| $spread:expr, $squares:expr, $both:expr;)+) => {$(
        impl<T: Kernels<$kind = $state>> StatsState<T> for ([Sums<T>; 2], ($moments, [T::Ranked; 2])) {
            #[inline(always)]
            fn sums(&self) -> Sums<T> {
                self.0[0]
            }

            #[inline(always)]
            fn norms(&self) -> Sums<T> {
                self.0[1]
            }

            #[inline(always)]
            fn spread(&self) -> T::Plain {
                let $all = self.1.0;
                $spread
            }

            #[inline(always)]
            fn squares(&self) -> T::Plain {
                let $all = self.1.0;
                $squares
            }

            #[inline(always)]
            fn moments(&self) -> T::Approximate {
                let $all = self.1.0;
                $both
            }

            #[inline(always)]
            fn least(&self) -> T::Ranked {
                self.1.1[0]
            }

            #[inline(always)]
            fn greatest(&self) -> T::Ranked {
                self.1.1[1]
            }
        }
    )+};
}
stats_state! {
    Plain = Approximate<f64, 1>, [Approximate<f64, 1>; 2]: |all| all[0], all[1], unreachable!("{all:?} is known to 2^-53");
    Approximate = Approximate<DoubleDouble, 1>, Approximate<DoubleDouble, 1>:
        |all| unreachable!("{all:?} is known to 2^-105"), unreachable!("{all:?} is known to 2^-105"), all;
}

/// Of what is not folded together.
impl<T: Kernels> StatsState<T> for () {
    fn sums(&self) -> Sums<T> {
        none()
    }

    fn norms(&self) -> Sums<T> {
        none()
    }

    fn spread(&self) -> T::Plain {
        none()
    }

    fn squares(&self) -> T::Plain {
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
