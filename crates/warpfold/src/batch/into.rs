//! The reductions that have one number for each output, into memory of the caller's.

use warpfold_engine::OutputArray;

use super::{ByAxes, ByGroups, ByNumbers, BySegments, OutputShape, ReduceBatched};
use crate::element::{Element, Ordered, Scalar};
use crate::group::Key;
use crate::partial::Finish;
use crate::reduce::rounded;
use crate::{Op, Result};

/// How outputs are handed back of which each has a value, so that a slice of plain numbers can hold them.
pub trait Complete: OutputShape {}
impl Complete for ByAxes {}
impl Complete for BySegments {}
impl<K: Key> Complete for ByGroups<K> {}
impl Complete for ByNumbers {}

macro_rules! into_memory {
    ($($name:ident $like:ident $(($ddof:ident))? $op:ident $finish:expr => $result:ty;)+) => { $(
        #[doc = concat!("[`", stringify!($like), "`](Self::", stringify!($like), ") into memory of the caller's, in the order of the outputs.")]
        /// Results are written there as they are found (indices in the whole array are copied), and memory that is used again costs no new pages. If the reduction
        /// fails, what `out` holds means nothing.
        ///
        /// # Errors
        #[doc = concat!("As [`", stringify!($like), "`](Self::", stringify!($like), ");")]
        /// [`Error::Shape`](crate::Error::Shape) unless `out` is as long as there are outputs.
        pub fn $name(&self, $($ddof: u64,)? out: &mut [$result]) -> Result<()> {
            self.into(Op::$op, Finish { $($ddof,)? ..$finish }, out)
        }
    )+ };
}

/// ```
/// use warpfold::{View, reduce_axes};
/// let x = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
/// let rows = View::new(&x, &[2, 3])?;
/// let mut sums = vec![0.0; 2];
/// reduce_axes(&rows, &[1])?.sum_into(&mut sums)?;
/// assert_eq!(sums, [6.0, 15.0]);
/// # Ok::<(), warpfold::Error>(())
/// ```
impl<T: Element, A: Complete> ReduceBatched<'_, T, A> {
    into_memory! {
        sum_into sum Sum Finish::default() => T::Sum;
        mean_into mean Mean rounded::<T::Round>() => T::With<T::Round>;
        var_into var(ddof) Var rounded::<T::Round>() => T::Round;
        std_into std(ddof) Std rounded::<T::Round>() => T::Round;
        l1_into l1 L1 Finish::default() => T::Round;
        l2_into l2 L2 rounded::<T::Round>() => T::Round;
        linf_into linf Linf Finish::default() => T::Linf;
        sumsq_into sumsq Sumsq Finish::default() => T::Squares;
        prod_into prod Prod Finish::default() => T::Sum;
        any_into any Any Finish::default() => bool;
        all_into all All Finish::default() => bool;
        count_into count Count Finish::default() => u64;
    }

    fn into<R: Scalar>(&self, op: Op, finish: Finish, out: &mut [R]) -> Result<()> {
        let out = OutputArray::of(out);
        let mut out = out.unwrap_or_else(|| unreachable!("results of {op} are elements"));
        self.column_into(op, finish, &mut out).map(|_| ())
    }
}

impl<T: Ordered, A: Complete> ReduceBatched<'_, T, A> {
    into_memory! {
        min_into min Min Finish::default() => T;
        max_into max Max Finish::default() => T;
        argmin_into argmin ArgMin Finish::default() => u64;
        argmax_into argmax ArgMax Finish::default() => u64;
    }
}
