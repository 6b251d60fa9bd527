//! Operators of one's own, as text.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use warpfold_engine::operator::{self as engine, TypedOperator, Written};
use warpfold_engine::{HostArray, Parts};
use warpfold_num::{Column, DType, Policy};
use warpfold_plan::shape::{Folding, Layout};

use crate::errors::raised;
use crate::give::array;
use crate::named::is_option;
use crate::parted::Where;
use crate::policy::{Axes, axes, policy};
use crate::reduce::is_all;
use crate::run::run;
use crate::segments::cut;
use crate::take::{Home, Input, OnGpu, Taken, one_axis, take_any};

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
    /// What made it, by keyword.
    written: Py<PyDict>,
    shown: String,
}

#[pymethods]
impl Operator {
    fn __repr__(&self) -> &str {
        &self.shown
    }

    /// Another process makes it of the same texts.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, ())> {
        let make = py.import("warpfold")?.getattr("operator")?;
        let partial = py.import("functools")?.getattr("partial")?;
        Ok((partial.call((make,), Some(self.written.bind(py)))?, ()))
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
#[allow(clippy::too_many_arguments, reason = "keywords")]
pub(crate) fn operator(
    py: Python<'_>,
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
    let by_keyword = PyDict::new(py);
    for (name, text) in [("state", state), ("lift", lift), ("merge", merge)] {
        by_keyword.set_item(name, text)?;
    }
    by_keyword.set_item("finish", finish)?;
    by_keyword.set_item("identity", identity)?;
    by_keyword.set_item("commutative", commutative)?;
    by_keyword.set_item("tolerance", tolerance)?;
    let shown = format!("<operator over {state}>");
    Ok(Operator { operator, written: by_keyword.unbind(), shown })
}

/// Reduces an array by an operator of one's own, whole or in parts, along one fixed tree: the same bits at any number of threads.
///
/// Parameters
/// ----------
/// x : array
///     The array that ``lift`` calls ``x``: contiguous; its elements are taken in C order. On a GPU it is reduced whole or in rows, with the same bits.
/// op : Operator
///     What `warpfold.operator` made. Its laws are tried on a sample of the elements first; on a GPU where the operator is new to the process.
/// axis : int or tuple of int, optional
///     The axes to reduce. By default all of them.
/// keepdims : bool
///     Whether reduced axes stay, with length 1.
/// offsets, lengths : array of integers, optional
///     Where segments of an array of one axis begin and the last one ends, or how long each is.
/// every : int, optional
///     How long each segment is.
/// threads : int, optional
///     No more threads than these.
/// names : array
///     Other arrays of the same shape that ``lift`` names, in the same memory.
///
/// Returns
/// -------
/// scalar or array, or tuple of these where the operator has several results
///     In each part ``index`` counts from its first element. A part of nothing has the results of the identity, if there is one.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import warpfold as wf
/// >>> last = wf.operator(state="last: i64", lift="x", merge="b.last")
/// >>> wf.reduce(np.arange(100), last)
/// np.int64(99)
/// >>> wf.reduce(np.arange(6).reshape(2, 3), last, axis=0)
/// array([3, 4, 5])
/// >>> wf.reduce(np.arange(6), last, every=2)
/// array([1, 3, 5])
#[pyfunction]
#[pyo3(signature = (x, op, /, axis=None, *, keepdims=false, offsets=None, lengths=None, every=None, threads=None, **names))]
#[allow(clippy::too_many_arguments, reason = "they are the keywords of a function of Python's")]
pub(crate) fn reduce<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    op: &Operator,
    axis: Option<&Bound<'py, PyAny>>,
    keepdims: bool,
    offsets: Option<&Bound<'py, PyAny>>,
    lengths: Option<&Bound<'py, PyAny>>,
    every: Option<u64>,
    threads: Option<i64>,
    names: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let policy = policy("exact", "propagate", "raise", threads)?;
    let given = match given(op, x, names)? {
        Given::Here(inputs) => Arrays::of(op, inputs)?,
        Given::OnGpu(inputs) => {
            if offsets.is_some() || lengths.is_some() || every.is_some() {
                return Err(parts_on_gpu());
            }
            return on_gpu(py, op, &inputs, axis, keepdims);
        }
    };
    if offsets.is_some() || lengths.is_some() || every.is_some() {
        if axis.is_some() || keepdims {
            return Err(PyTypeError::new_err(
                "axis and keepdims do not go with segments; leave out offsets, lengths and every, or them",
            ));
        }
        let segments = Where { offsets, lengths, every, mask: None };
        let elements = (given.one_axis()?, given.bytes());
        return cut(py, policy, &segments, elements, |parts, outputs| {
            given.columns(py, parts, &[outputs], policy)
        });
    }
    match over(given.shape(), axis, keepdims)? {
        (Some(parts), shape) => given.columns(py, &parts, &shape, policy),
        (None, shape) => given.whole(py, &shape, policy),
    }
}

/// What is reduced of arrays of a shape, if that is not all, and the shape of the results.
fn over(
    shape: &[u64],
    axis: Option<&Bound<'_, PyAny>>,
    keepdims: bool,
) -> PyResult<(Option<Parts<'static>>, Vec<u64>)> {
    match axes(axis)? {
        Axes::Some(axes) if !is_all(&axes, shape.len()) => {
            let folding = Layout::c(shape).and_then(|layout| Folding::of(layout, &axes));
            let parted = folding.and_then(|folding| Ok((folding.form()?, folding)));
            let (form, folding) = parted.map_err(|error| raised(&error))?;
            let shape = if keepdims { folding.shape_kept() } else { folding.shape() };
            let is_whole = folding.shape().is_empty();
            Ok(((!is_whole).then_some(Parts::Axes(form, folding)), shape))
        }
        Axes::Some(_) | Axes::All => Ok((None, vec![1; if keepdims { shape.len() } else { 0 }])),
    }
}

fn on_gpu<'py>(
    py: Python<'py>,
    op: &Operator,
    inputs: &[(String, OnGpu)],
    axis: Option<&Bound<'py, PyAny>>,
    keepdims: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let first = &inputs[0].1.input;
    let (parts, shape) = over(&first.shape, axis, keepdims)?;
    let columns = crate::cuda::operators::columns(py, &op.operator, inputs, parts.as_ref())?;
    give(py, first.home, &columns, &shape)
}

/// The arrays that an operator is given, by the names that it has for them.
enum Given {
    /// In the host's memory.
    Here(Vec<(String, Input)>),
    /// In that of GPUs.
    OnGpu(Vec<(String, OnGpu)>),
}

fn parts_on_gpu() -> PyErr {
    PyTypeError::new_err(
        "operators of one's own reduce whole arrays and rows on a GPU, and segments and groups on the processor alone; copy the array to the host, as x.cpu() or x.get() does",
    )
}

/// The arrays, all of one shape and in one kind of memory.
fn given(
    op: &Operator,
    x: &Bound<'_, PyAny>,
    names: Option<&Bound<'_, PyDict>>,
) -> PyResult<Given> {
    let known = op.operator.names();
    let (mut here, mut there) = (Vec::new(), Vec::new());
    let mut take = |name: String, array: &Bound<'_, PyAny>| {
        match take_any(array)? {
            Taken::Gpu(array) => there.push((name, array)),
            taken => here.push((name, taken.into_input()?)),
        }
        Ok::<(), PyErr>(())
    };
    take("x".into(), x)?;
    for (name, array) in names.into_iter().flatten() {
        let name: String = name.extract()?;
        if name == "x" || !known.contains(&name.as_str()) {
            if is_option(&name) {
                return Err(PyTypeError::new_err(format!(
                    "reduce has no option {name} here; leave it out, or say it in the operator's texts"
                )));
            }
            let why = match &name[..] {
                "x" => "x is the first argument",
                "index" => "index is an element's own",
                _ => "lift names no such array",
            };
            return Err(PyTypeError::new_err(format!(
                "reduce got an array {name}, and {why}; leave it out, or give it the name that lift has"
            )));
        }
        take(name, &array)?;
    }
    if let (Some((here, _)), Some((there, array))) = (here.first(), there.first()) {
        return Err(PyValueError::new_err(format!(
            "{there} lies on GPU {}, and {here} in the host's memory; move them to one",
            array.gpu.number
        )));
    }
    let here_and_there = || {
        let there = there.iter().map(|(name, array)| (name, &array.input.shape));
        here.iter().map(|(name, input)| (name, &input.shape)).chain(there)
    };
    if let Some((_, shape)) = here_and_there().next()
        && let Some((name, other)) = here_and_there().find(|(_, other)| *other != shape)
    {
        return Err(PyValueError::new_err(format!(
            "x has the shape {shape:?}, and {name} {other:?}; give arrays of one shape"
        )));
    }
    Ok(if there.is_empty() { Given::Here(here) } else { Given::OnGpu(there) })
}

/// Results, a column for each, of a library's own types.
fn give<'py>(
    py: Python<'py>,
    home: Home,
    columns: &[Column],
    shape: &[u64],
) -> PyResult<Bound<'py, PyAny>> {
    let given = columns.iter().map(|column| array(py, home, column, shape));
    let mut given = given.collect::<PyResult<Vec<_>>>()?;
    match given.len() {
        1 => Ok(given.remove(0)),
        _ => Ok(PyTuple::new(py, given)?.into_any()),
    }
}

/// An operator, and the arrays in the host's memory that it is to reduce.
pub(crate) struct Arrays {
    typed: TypedOperator,
    inputs: Vec<(String, Input)>,
    /// The elements of those that are bools, which are bytes elsewhere.
    bools: Vec<Option<Vec<bool>>>,
}

impl Arrays {
    /// What an operator is given to reduce in parts.
    pub(crate) fn parted(
        op: &Operator,
        x: &Bound<'_, PyAny>,
        names: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        match given(op, x, names)? {
            Given::Here(inputs) => Arrays::of(op, inputs),
            Given::OnGpu(_) => Err(parts_on_gpu()),
        }
    }

    fn of(op: &Operator, inputs: Vec<(String, Input)>) -> PyResult<Self> {
        let dtypes: Vec<(&str, DType)> =
            inputs.iter().map(|(name, input)| (name.as_str(), input.dtype)).collect();
        let typed = op.operator.typed(&dtypes).map_err(|error| raised(&error))?;
        let bools = |(name, input): &(String, Input)| {
            let bytes = match input.dtype {
                DType::Bool => input.run(name)?,
                _ => return Ok(None),
            };
            Ok(Some(bytes.bytes().iter().map(|&byte| byte != 0).collect()))
        };
        let bools = inputs.iter().map(bools).collect::<PyResult<_>>()?;
        Ok(Arrays { typed, inputs, bools })
    }

    fn shape(&self) -> &[u64] {
        &self.inputs[0].1.shape
    }

    fn bytes(&self) -> u64 {
        self.inputs.iter().map(|(_, input)| input.bytes()).sum()
    }

    /// How many elements there are, of arrays of one axis.
    pub(crate) fn one_axis(&self) -> PyResult<usize> {
        Ok(one_axis("an array in segments or groups", &self.inputs[0].1)?.len())
    }

    fn runs(&self) -> PyResult<Vec<HostArray<'_>>> {
        let both = self.inputs.iter().zip(&self.bools);
        both.map(|((name, input), bools)| match bools {
            Some(bools) => Ok(HostArray::of(bools)),
            None => input.run(name),
        })
        .collect()
    }

    /// The results of all elements.
    fn whole<'py>(
        &self,
        py: Python<'py>,
        shape: &[u64],
        policy: Policy,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (arrays, typed) = (self.runs()?, &self.typed);
        let values = run(py, self.bytes(), || engine::fold(typed, &arrays, policy));
        let values = values.map_err(|error| raised(&error))?;
        let columns = values.into_iter().map(|value| Column::of_values(vec![value]));
        self.give(py, &columns.collect::<Vec<_>>(), shape)
    }

    /// The results of each part.
    pub(crate) fn columns<'py>(
        &self,
        py: Python<'py>,
        parts: &Parts<'_>,
        shape: &[u64],
        policy: Policy,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (arrays, typed) = (self.runs()?, &self.typed);
        let columns = run(py, self.bytes(), || engine::columns(typed, &arrays, parts, policy));
        self.give(py, &columns.map_err(|error| raised(&error))?, shape)
    }

    fn give<'py>(
        &self,
        py: Python<'py>,
        columns: &[Column],
        shape: &[u64],
    ) -> PyResult<Bound<'py, PyAny>> {
        give(py, self.inputs[0].1.home, columns, shape)
    }
}
