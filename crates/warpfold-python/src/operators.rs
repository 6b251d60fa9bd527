//! Operators of one's own, as text.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use warpfold_engine::HostArray;
use warpfold_engine::operator::{self as engine, Written};
use warpfold_num::{DType, Policy};

use crate::errors::raised;
use crate::give::scalar;
use crate::policy::policy;
use crate::run::run;
use crate::take::{Input, Taken, take_any};

/// A reduction of one's own: what `warpfold.operator` makes and `warpfold.reduce` takes.
///
/// Examples
/// --------
/// >>> import warpfold as wf
/// >>> wf.operator(state="last: i64", lift="x", merge="b.last")
/// <operator over last: i64>
#[pyclass(frozen, module = "warpfold")]
pub(crate) struct Operator {
    operator: engine::Operator,
    shown: String,
}

#[pymethods]
impl Operator {
    fn __repr__(&self) -> &str {
        &self.shown
    }
}

/// A reduction of one's own, written as expressions: how an element becomes a state, how neighbours' states merge, what the last one says.
///
/// Parameters
/// ----------
/// state : str
///     The fields of a state, such as ``"n: f64, mean: f64"``: up to eight of f64, f32, i64 or u64.
/// lift : str
///     An expression for each field, of an element ``x``, of what is given by keyword, and of its ``index``.
/// merge : str
///     An expression for each field, of the left neighbour's (``a.n``) and the right one's (``b.n``).
/// finish : str, optional
///     The results, of the fields; without it they are the fields.
/// identity : str, optional
///     The state of nothing, of constants; without it nothing has no result.
/// commutative : bool
///     Whether neighbours may change places. The order is the same; the claim is checked.
/// tolerance : float
///     How far apart two roundings of a field may be when the laws are checked, as a part of the largest magnitude.
///
/// Returns
/// -------
/// Operator
///     What `warpfold.reduce` takes.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import warpfold as wf
/// >>> most = wf.operator(state="most: f64, beside: i64", lift="x, y", merge="max(a.most, b.most), select(b.most > a.most, b.beside, a.beside)")
/// >>> wf.reduce(np.array([1.5, 7.0, 2.0]), most, y=np.array([10, 20, 30]))
/// (np.float64(7.0), np.int64(20))
#[pyfunction]
#[pyo3(signature = (*, state, lift, merge, finish=None, identity=None, commutative=false, tolerance=1e-9))]
pub(crate) fn operator(
    state: &str,
    lift: &str,
    merge: &str,
    finish: Option<&str>,
    identity: Option<&str>,
    commutative: bool,
    tolerance: f64,
) -> PyResult<Operator> {
    let written = Written { state, lift, merge, finish, identity, commutative, tolerance };
    let operator = engine::Operator::parse(&written).map_err(|error| raised(&error))?;
    let shown = format!("<operator over {state}>");
    Ok(Operator { operator, shown })
}

/// Reduces an array by an operator of one's own, along one fixed tree: the same bits at any number of threads.
///
/// Parameters
/// ----------
/// x : array
///     The array that ``lift`` calls ``x``: contiguous, on the processor; its elements are taken in C order.
/// op : Operator
///     What `warpfold.operator` made. Its laws are tried on a sample of the elements first.
/// threads : int, optional
///     No more threads than these.
/// names : array
///     Other arrays of the same shape that ``lift`` names.
///
/// Returns
/// -------
/// scalar, or tuple of scalars where the operator has several results
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import warpfold as wf
/// >>> last = wf.operator(state="last: i64", lift="x", merge="b.last")
/// >>> wf.reduce(np.arange(100), last)
/// np.int64(99)
#[pyfunction]
#[pyo3(signature = (x, op, /, *, threads=None, **names))]
pub(crate) fn reduce<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    op: &Operator,
    threads: Option<i64>,
    names: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let policy: Policy = policy("exact", "propagate", "raise", threads)?;
    let mut inputs: Vec<(String, Input)> = vec![("x".into(), on_processor(x)?)];
    let known = op.operator.names();
    for (name, array) in names.into_iter().flatten() {
        let name: String = name.extract()?;
        if name == "x" || !known.contains(&name.as_str()) {
            let why =
                if name == "x" { "x is the first argument" } else { "lift names no such array" };
            return Err(PyTypeError::new_err(format!(
                "reduce got an array {name}, and {why}; leave it out, or give it the name that lift has"
            )));
        }
        inputs.push((name, on_processor(&array)?));
    }
    let shape = &inputs[0].1.shape;
    if let Some((name, other)) = inputs.iter().find(|(_, input)| input.shape != *shape) {
        return Err(PyValueError::new_err(format!(
            "x has the shape {shape:?}, and {name} {:?}; give arrays of one shape",
            other.shape
        )));
    }
    let dtypes: Vec<(&str, DType)> =
        inputs.iter().map(|(name, input)| (name.as_str(), input.dtype)).collect();
    let typed = op.operator.typed(&dtypes).map_err(|error| raised(&error))?;
    let arrays = inputs.iter().map(|(name, input)| input.run(name));
    let arrays: Vec<HostArray<'_>> = arrays.collect::<PyResult<_>>()?;
    let bytes = inputs.iter().map(|(_, input)| input.bytes()).sum();
    let values = run(py, bytes, || engine::fold(&typed, &arrays, policy));
    let home = inputs[0].1.home;
    let values = values.map_err(|error| raised(&error))?.into_iter();
    let mut results = values.map(|value| scalar(py, home, value)).collect::<PyResult<Vec<_>>>()?;
    match results.len() {
        1 => Ok(results.remove(0)),
        _ => Ok(PyTuple::new(py, results)?.into_any()),
    }
}

fn on_processor(x: &Bound<'_, PyAny>) -> PyResult<Input> {
    match take_any(x)? {
        Taken::Gpu(_) => Err(PyTypeError::new_err(
            "operators of one's own run on the processor alone; copy the array to the host, as x.cpu() or x.get() does",
        )),
        taken => taken.into_input(),
    }
}
