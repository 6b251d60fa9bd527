//! Which fold a reduction that is given its array piece after piece begins with.

use warpfold_num::{Accuracy, DType, Element, Op, Policy, with_element};
use warpfold_plan::plan::{self, Problem};

use crate::facts;
use crate::kernels::Kernels;
use crate::running::{Running, of_extremes};

impl Running {
    /// Begins a reduction; `None` of those that have no such fold: fast ones, and all but sums, moments, dot products and extremes.
    pub fn start(op: Op, dtype: DType, policy: Policy) -> Option<Self> {
        if policy.accuracy != Accuracy::Exact {
            return None;
        }
        let problem = Problem { op, dtype, n: 0, policy: Policy { threads: Some(1), ..policy } };
        let plan = plan::choose(problem, facts());
        with_element!(dtype, T => {
            let fold = match op {
                _ if op.is_ordered() && T::PARTS == 1 && !dtype.is_float() => Some(of_extremes::<T>(&plan)),
                _ => T::running(&plan),
            };
            fold.map(Running::of)
        })
    }

    /// Begins a reduction of magnitudes; `None` of all but sums and extremes of floats, and of what has no such fold.
    pub fn of_magnitudes(op: Op, dtype: DType, policy: Policy) -> Option<Self> {
        if policy.accuracy != Accuracy::Exact {
            return None;
        }
        let problem = Problem { op, dtype, n: 0, policy: Policy { threads: Some(1), ..policy } };
        let plan = plan::choose(problem, facts());
        with_element!(dtype, T => {
            T::running_of_magnitudes(&plan).map(Running::of)
        })
    }
}
