//! Many reductions at once whose outputs may have no value.

use super::batched::ReduceBatched;
use super::machine::Machine;
use crate::element::{Element, Scalar};
use crate::partial::Finish;
use crate::{Op, Ordered, Result};

/// Many reductions of one array on a machine, each output `None` that has no value; made by [`ReduceBatched::or_none`]. Results are copied to the host.
#[must_use = "call a reduction, such as .min()"]
pub struct OrNone<'a, M: Machine, T>(pub(super) ReduceBatched<'a, M, T>);

/// Reductions that have no number of degrees of freedom.
macro_rules! reductions {
    ($($(#[doc = $doc:literal])+ $name:ident = $op:ident: $result:ty;)+) => {$(
        $(#[doc = $doc])+
        ///
        /// # Errors
        /// As the same method of [`ReduceBatched`], but for outputs without a value.
        pub fn $name(&self) -> Result<Vec<Option<$result>>> {
            self.values(Op::$op, Finish::default())
        }
    )+};
}

impl<M: Machine, T: Element> OrNone<'_, M, T> {
    reductions! {
        /// The sums: of integers checked.
        sum = Sum: T::Sum;
        /// The arithmetic means.
        mean = Mean: T::With<T::Round>;
        /// Where the smallest elements are, counted from their segments' starts.
        argmin = ArgMin: u64;
        /// Where the largest elements are, counted from their segments' starts.
        argmax = ArgMax: u64;
        /// How many elements are nonzero.
        count = Count: u64;
        /// Whether there is a nonzero element.
        any = Any: bool;
        /// Whether there is no zero.
        all = All: bool;
        /// The sums of magnitudes.
        l1 = L1: T::Round;
        /// The Euclidean norms.
        l2 = L2: T::Round;
        /// The sums of squared magnitudes: of floats rounded once, of integers checked.
        sumsq = Sumsq: T::Squares;
        /// The largest magnitudes: of integers as `u64`.
        linf = Linf: T::Linf;
        /// The products: of integers checked.
        prod = Prod: T::Sum;
    }

    /// The variances over `n - ddof`, rounded once.
    ///
    /// # Errors
    /// As [`ReduceBatched::var`], but for outputs without a value.
    pub fn var(&self, ddof: u64) -> Result<Vec<Option<T::Round>>> {
        self.values(Op::Var, Finish { ddof, ..Finish::default() })
    }

    /// The standard deviations over `n - ddof`, rounded once.
    ///
    /// # Errors
    /// As [`ReduceBatched::std`], but for outputs without a value.
    pub fn std(&self, ddof: u64) -> Result<Vec<Option<T::Round>>> {
        self.values(Op::Std, Finish { ddof, ..Finish::default() })
    }

    fn values<R: Scalar>(&self, op: Op, finish: Finish) -> Result<Vec<Option<R>>> {
        let (columns, gaps) = self.0.columns_and_gaps(op, finish)?;
        let column = columns.into_iter().next().and_then(|(_, column)| column.typed());
        let column: Vec<R> =
            column.unwrap_or_else(|| unreachable!("{op} has another type than the contract's"));
        let mut values: Vec<Option<R>> = column.into_iter().map(Some).collect();
        gaps.iter().flatten().for_each(|&gap| values[gap as usize] = None);
        Ok(values)
    }
}

impl<M: Machine, T: Ordered> OrNone<'_, M, T> {
    reductions! {
        /// The smallest elements.
        min = Min: T;
        /// The largest elements.
        max = Max: T;
    }
}
