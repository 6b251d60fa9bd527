//! `warpfold._core`: the Python front of the engine.
//!
//! ```text
//! array ─► take (where it lies) ─► Request ─► engine ─► convert (the array API's types) ─► give (the caller's library)
//! ```

#![allow(
    clippy::doc_lazy_continuation,
    clippy::doc_markdown,
    reason = "docstrings are numpydoc, which is no Markdown"
)]

mod columns;
mod convert;
mod cuda;
mod destination;
mod dispatch;
mod errors;
mod exact;
mod explain;
mod factors;
mod fold;
mod followed;
mod functions;
mod give;
mod grouped;
mod groups;
mod initial;
mod kept;
mod keys;
mod mapped;
mod mapped_parts;
mod masked;
mod named;
mod names;
mod number;
mod operators;
mod parted;
mod partials;
mod policy;
mod reduce;
mod run;
mod segments;
mod stats;
mod take;
mod weights;
mod xla;

/// Correctly rounded reductions: what the package `warpfold` shows.
#[pyo3::pymodule(gil_used = false)]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::cuda::{_gpus, _rank_sums};
    #[pymodule_export]
    use super::exact::Exact;
    #[pymodule_export]
    use super::explain::{_explain, _processor, warm};
    #[pymodule_export]
    use super::followed::_result;
    #[pymodule_export]
    use super::functions::{
        all, any, argmax, argmin, count_nonzero, dot, l1, l2, linf, max, mean, min, minmax, prod,
        segment_all, segment_any, segment_argmax, segment_argmin, segment_count_nonzero,
        segment_l1, segment_l2, segment_linf, segment_max, segment_mean, segment_min,
        segment_minmax, segment_prod, segment_std, segment_sum, segment_sumsq, segment_var, stats,
        std, sum, sumsq, var,
    };
    #[pymodule_export]
    use super::grouped::GroupBy;
    #[pymodule_export]
    use super::groups::group_by;
    #[pymodule_export]
    use super::operators::{Operator, operator, reduce};
    #[pymodule_export]
    use super::partials::{_group_partials, _partials, _rounded};
    #[pymodule_export]
    use super::run::_forked;
    #[pymodule_export]
    use super::xla::_handlers;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
