//! [`Function`]: the functions by name.

use std::ffi::CStr;

/// A function of SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Sum,
    Avg,
    Var,
    VarPop,
    Stddev,
    StddevPop,
}

impl Function {
    pub(crate) const ALL: [Function; 6] = [
        Function::Sum,
        Function::Avg,
        Function::Var,
        Function::VarPop,
        Function::Stddev,
        Function::StddevPop,
    ];

    pub(crate) fn name(self) -> &'static CStr {
        match self {
            Function::Sum => c"exact_sum",
            Function::Avg => c"exact_avg",
            Function::Var => c"exact_var",
            Function::VarPop => c"exact_var_pop",
            Function::Stddev => c"exact_stddev",
            Function::StddevPop => c"exact_stddev_pop",
        }
    }

    /// Delta degrees of freedom: one of samples.
    pub(crate) fn ddof(self) -> u64 {
        match self {
            Function::Var | Function::Stddev => 1,
            _ => 0,
        }
    }
}
