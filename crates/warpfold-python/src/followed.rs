//! Reductions of arrays whose library follows what is computed of them: they are handed to the package's module for that library.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use warpfold_num::{Accuracy, DType, Nan, Op, Overflow, Policy};

use crate::convert::{Wanted, asked};
use crate::names;
use crate::policy::Correction;
use crate::reduce::Call;
use crate::take::{Followed, Home};

/// What a policy says, as the functions take it.
fn chosen<'py>(py: Python<'py>, policy: Policy) -> PyResult<Bound<'py, PyDict>> {
    let keywords = PyDict::new(py);
    let accuracy = match policy.accuracy {
        Accuracy::Exact => "exact",
        Accuracy::Fast => "fast",
    };
    let nan = match policy.nan {
        Nan::Propagate => "propagate",
        Nan::Ignore => "ignore",
    };
    let overflow = match policy.overflow {
        Overflow::Error => "raise",
        Overflow::Wrap => "wrap",
    };
    keywords.set_item("accuracy", accuracy)?;
    keywords.set_item("nan", nan)?;
    keywords.set_item("overflow", overflow)?;
    keywords.set_item("threads", policy.threads)?;
    Ok(keywords)
}

/// A reduction of one array.
pub(crate) fn reduce<'py>(
    py: Python<'py>,
    call: &Call<'_, 'py>,
    x: &Bound<'py, PyAny>,
    library: Followed,
) -> PyResult<Bound<'py, PyAny>> {
    if call.op == Op::Stats {
        return Err(library.refused());
    }
    if call.out.is_some() {
        return Err(PyTypeError::new_err(
            "out does not go with an array whose library follows what is computed of it; leave out out",
        ));
    }
    let keywords = chosen(py, call.policy)?;
    keywords.set_item("axis", call.axis)?;
    keywords.set_item("keepdims", call.keepdims)?;
    keywords.set_item("dtype", call.dtype)?;
    keywords.set_item(
        "correction",
        match call.ddof {
            Correction::Whole(ddof) => ddof as f64,
            Correction::Other(number) => number,
        },
    )?;
    keywords.set_item("initial", call.more.initial)?;
    keywords.set_item("where", call.more.r#where)?;
    keywords.set_item("weights", call.more.weights)?;
    let module = py.import(library.module())?;
    module.getattr("reduce")?.call((name(call.op), x), Some(&keywords))
}

/// The dot product of two, one of which at least is followed.
pub(crate) fn dot<'py>(
    py: Python<'py>,
    call: &Call<'_, 'py>,
    x: &Bound<'py, PyAny>,
    y: &Bound<'py, PyAny>,
    library: Followed,
) -> PyResult<Bound<'py, PyAny>> {
    let keywords = chosen(py, call.policy)?;
    keywords.set_item("dtype", call.dtype)?;
    py.import(library.module())?.getattr("dot")?.call((x, y), Some(&keywords))
}

/// The name of the function.
pub(crate) fn name(op: Op) -> &'static str {
    if op == Op::Count { "count_nonzero" } else { op.name() }
}

/// The reduction that a function of the package is.
pub(crate) fn op(name: &str) -> PyResult<Op> {
    let op = Op::ALL.iter().find(|&&op| self::name(op) == name);
    op.copied().ok_or_else(|| PyTypeError::new_err(format!("no reduction is called {name:?}")))
}

/// The element type of the results of a function, by name; `is_narrow` is whether JAX has numbers of 32 bits at most.
#[pyfunction]
#[pyo3(signature = (function, dtype, to, is_narrow))]
pub(crate) fn _result(
    function: &str,
    dtype: &Bound<'_, PyAny>,
    to: Option<&Bound<'_, PyAny>>,
    is_narrow: bool,
) -> PyResult<&'static str> {
    let home = if is_narrow { Home::Jax { is_narrow } } else { Home::NumPy };
    let (op, dtype) = (op(function)?, names::dtype(dtype)?);
    let to = asked(to, home)?;
    let wanted = Wanted::new(op, dtype, Correction::NONE, Policy::default(), to, home)?;
    Ok(names::name(result(op, &wanted)))
}

/// The element type of results.
pub(crate) fn result(op: Op, wanted: &Wanted) -> DType {
    wanted.result().unwrap_or_else(|| unreachable!("{op} has a type"))
}
