//! Exact partial results: filled piece by piece, merged, saved, and rounded when they are read.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyTuple, PyType};
use warpfold_engine::check;
use warpfold_exact::AnyPartial;
use warpfold_exact::partial::Output;
use warpfold_num::{DType, Nan, Op, Policy};

use crate::convert::Wanted;
use crate::errors::raised;
use crate::policy::{Correction, correction as ddof_of, policy};
use crate::reduce::{check_bools, finish, pair, partial, partial_from};
use crate::take::{Home, Input, Taken, take, take_any};
use crate::{names, number};

/// What marks the bytes of one.
const MARK: &[u8; 4] = b"wfP1";

#[doc = include_str!("docs/exact.txt")]
#[pyclass(module = "warpfold")]
#[derive(Clone)]
pub(crate) struct Exact {
    op: Op,
    /// The elements as the caller sees them.
    dtype: DType,
    policy: Policy,
    partial: AnyPartial,
    is_any: bool,
}

/// A reduction by its name.
fn op_of(name: &str) -> PyResult<Op> {
    let known = |op: Op| if op == Op::Count { "count_nonzero" } else { op.name() };
    let found = Op::ALL.iter().copied().find(|&op| op.name() == name || known(op) == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = Op::ALL.iter().map(|&op| known(op)).collect();
        PyValueError::new_err(format!(
            "no exact partial is that of op={name:?}; there are {}",
            names.join(", ")
        ))
    })
}

/// Whether a result depends on where elements stand: it tells where something was, or is a product of floats, which are multiplied by their indices.
const fn has_indices(op: Op, dtype: DType) -> bool {
    matches!(op, Op::ArgMin | Op::ArgMax | Op::Stats) || matches!(op, Op::Prod) && dtype.is_float()
}

/// The type that the engine reads.
const fn read_as(dtype: DType) -> DType {
    if matches!(dtype, DType::Bool) { DType::U8 } else { dtype }
}

impl Exact {
    fn empty(dtype: DType, op: Op, nan: &str) -> PyResult<Self> {
        check(op, dtype).map_err(|error| raised(&error))?;
        let policy = policy("exact", nan, "raise", None)?;
        let partial = AnyPartial::empty(op, read_as(dtype));
        Ok(Exact { op, dtype, policy, partial, is_any: false })
    }

    /// The one of a reduction by its name, of nothing.
    pub(crate) fn of_name(dtype: DType, op: &str, nan: &str) -> PyResult<Self> {
        Exact::empty(dtype, op_of(op)?, nan)
    }

    /// The same with another partial inside, that of elements.
    pub(crate) fn holding(&self, partial: AnyPartial) -> Self {
        Exact { partial, is_any: true, ..self.clone() }
    }

    /// The reduction.
    pub(crate) const fn reduction(&self) -> Op {
        self.op
    }

    /// What it holds.
    pub(crate) const fn partial(&self) -> &AnyPartial {
        &self.partial
    }

    /// How the result is read.
    pub(crate) fn wanted(
        &self,
        correction: Correction,
        to: Option<DType>,
        home: Home,
        overflow: &str,
    ) -> PyResult<Wanted> {
        let overflow = policy("exact", "propagate", overflow, None)?.overflow;
        let policy = Policy { overflow, ..self.policy };
        Wanted::new(self.op, self.dtype, correction, policy, to, home)
    }

    /// Refuses another one that is not of the same reduction.
    pub(crate) fn check_alike(&self, other: &Exact) -> PyResult<()> {
        if self.alike(other) {
            return Ok(());
        }
        Err(PyTypeError::new_err(format!(
            "{} and {} do not merge; both must be of one reduction, element type and nan choice",
            self.__repr__(),
            other.__repr__()
        )))
    }

    fn description(&self) -> Description {
        Description { op: self.op, dtype: self.dtype, policy: self.policy }
    }

    /// Whether two partials are of one reduction, as far as merging goes.
    fn alike(&self, other: &Exact) -> bool {
        self.dtype == other.dtype && other.partial.serves(self.op) && self.policy == other.policy
    }

    /// The mark, the names of reduction and element type, two flags, and the partial in its own layout.
    fn saved(&self) -> Vec<u8> {
        let mut bytes = MARK.to_vec();
        for name in [self.op.name(), names::name(self.dtype)] {
            bytes.push(name.len() as u8);
            bytes.extend(name.as_bytes());
        }
        bytes.extend([self.policy.nan == Nan::Ignore, self.is_any].map(u8::from));
        bytes.extend(self.partial.to_bytes());
        bytes
    }

    /// What was saved; `None` if it was not.
    fn saved_as(bytes: &[u8]) -> Option<(&str, &str, [u8; 2], &[u8])> {
        fn name<'a>(bytes: &mut &'a [u8]) -> Option<&'a str> {
            let (&length, rest) = bytes.split_first()?;
            let (name, rest) = rest.split_at_checked(length.into())?;
            *bytes = rest;
            std::str::from_utf8(name).ok()
        }
        let mut rest = bytes.strip_prefix(MARK)?;
        let (op, dtype) = (name(&mut rest)?, name(&mut rest)?);
        let (&flags, rest) = rest.split_first_chunk::<2>()?;
        Some((op, dtype, flags, rest))
    }
}

/// What an array must be to be added, and how it is folded.
struct Description {
    op: Op,
    dtype: DType,
    policy: Policy,
}

impl Description {
    /// The partial of an array or a pair, and whether it has elements.
    fn fold(
        &self,
        x: &Bound<'_, PyAny>,
        y: Option<&Bound<'_, PyAny>>,
        start: Option<u64>,
        threads: Option<i64>,
    ) -> PyResult<(AnyPartial, bool)> {
        let py = x.py();
        let threads = policy("exact", "propagate", "raise", threads)?.threads;
        let policy = Policy { threads, ..self.policy };
        let taken = take_any(x)?;
        if has_indices(self.op, self.dtype) {
            let Some(start) = start else {
                return Err(PyTypeError::new_err(format!(
                    "{} has indices; say with start= where these elements start within the whole",
                    self.op
                )));
            };
            if y.is_some() {
                return Err(PyTypeError::new_err(format!(
                    "{} takes one array; leave the second out",
                    self.op
                )));
            }
            let input = self.check(py, taken.into_input()?)?;
            return Ok((partial_from(py, &input, self.op, policy, start)?, !input.is_empty()));
        }
        if start.is_some() {
            return Err(PyTypeError::new_err(format!(
                "{} has no indices; leave out start",
                self.op
            )));
        }
        let added = match (self.op, taken, y) {
            (Op::Dot, taken, Some(y)) => {
                let (x, y) = (self.check(py, taken.into_input()?)?, self.check(py, take(y)?)?);
                (pair(py, &x, &y, policy)?, !x.is_empty())
            }
            (Op::Dot, _, None) => {
                return Err(PyTypeError::new_err("dot takes two arrays; give both"));
            }
            (op, _, Some(_)) => {
                return Err(PyTypeError::new_err(format!(
                    "{op} takes one array; leave the second out"
                )));
            }
            (op, Taken::Column(column), None) => {
                self.check_type(column.dtype)?;
                (crate::columns::partial(py, &column, op, policy)?, !column.is_empty())
            }
            (op, Taken::Gpu(x), None) => {
                self.check_type(x.input.dtype)?;
                (crate::cuda::partial(py, &x, op, policy)?, !x.input.is_empty())
            }
            (_, Taken::Followed(library), None) => return Err(library.refused()),
            (op, Taken::Array(input), None) => {
                let input = self.check(py, input)?;
                (partial(py, &input, op, policy)?, !input.is_empty())
            }
        };
        Ok(added)
    }

    fn check_type(&self, dtype: DType) -> PyResult<()> {
        if dtype == self.dtype {
            return Ok(());
        }
        let (mine, theirs) = (names::name(self.dtype), names::name(dtype));
        Err(PyTypeError::new_err(format!(
            "this partial is one of {mine}, and the array has elements of {theirs}; convert the array, or start another"
        )))
    }

    fn check(&self, py: Python<'_>, input: Input) -> PyResult<Input> {
        self.check_type(input.dtype)?;
        check_bools(py, self.op, &input, self.policy)?;
        Ok(input)
    }
}

#[pymethods]
impl Exact {
    #[new]
    #[pyo3(signature = (dtype, /, op="sum", *, nan="propagate"))]
    fn new(dtype: &Bound<'_, PyAny>, op: &str, nan: &str) -> PyResult<Self> {
        Exact::empty(names::dtype(dtype)?, op_of(op)?, nan)
    }

    /// Adds the elements of an array, and of a second one for dot. Threads may add to one partial at once.
    /// What has indices (argmin, argmax, stats, products of floats) is told where the array starts within the whole.
    #[pyo3(signature = (x, y=None, /, *, start=None, threads=None))]
    fn add(
        slf: &Bound<'_, Self>,
        x: &Bound<'_, PyAny>,
        y: Option<&Bound<'_, PyAny>>,
        start: Option<u64>,
        threads: Option<i64>,
    ) -> PyResult<()> {
        let mine = slf.borrow().description();
        // Nothing is borrowed while other threads of Python may run.
        let (added, is_any) = mine.fold(x, y, start, threads)?;
        let mut slf = slf.borrow_mut();
        slf.partial.merge(&added);
        slf.is_any |= is_any;
        Ok(())
    }

    /// Adds what another partial holds, in any order, without loss.
    fn merge(mut slf: PyRefMut<'_, Self>, other: &Bound<'_, Exact>) -> PyResult<()> {
        // One may be merged into itself.
        let other =
            if slf.as_ptr() == other.as_ptr() { slf.clone() } else { other.borrow().clone() };
        slf.check_alike(&other)?;
        slf.partial.merge(&other.partial);
        slf.is_any |= other.is_any;
        Ok(())
    }

    /// What both hold, as a new partial. Zero stands for nothing, as engines fill in for groups that a chunk lacks.
    fn __add__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        let Ok(other) = other.cast::<Exact>() else {
            return self.__radd__(other);
        };
        let other = other.borrow();
        self.check_alike(&other)?;
        let mut both = self.clone();
        both.partial.merge(&other.partial);
        both.is_any |= other.is_any;
        Ok(both.into_pyobject(py)?.into_any())
    }

    /// So that Python's own `sum` takes partials: it starts from 0.
    fn __radd__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        let is_zero = other.is_instance_of::<PyInt>() && !other.is_truthy()?;
        Ok(match is_zero {
            true => self.clone().into_pyobject(py)?.into_any(),
            false => py.NotImplemented().into_bound(py),
        })
    }

    /// The result, rounded once.
    #[pyo3(signature = (dtype=None, *, correction=None, ddof=None, overflow="raise"))]
    fn round<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        correction: Option<f64>,
        ddof: Option<f64>,
        overflow: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let to = dtype.map(names::dtype).transpose()?;
        let wanted = self.wanted(ddof_of(correction, ddof)?, to, Home::Python, overflow)?;
        match finish(&self.partial, self.op, &wanted, self.is_any)? {
            Output::One(value) => number::number(py, wanted.value(value)?),
            Output::Pair(min, max) => {
                let both = [wanted.value(min)?, wanted.value(max)?];
                let [min, max] = both.map(|value| number::number(py, value));
                Ok(PyTuple::new(py, [min?, max?])?.into_any())
            }
            Output::Summary(summary) => {
                crate::stats::summary(py, Home::Python, *summary, &wanted, &[])
            }
        }
    }

    /// Elements added so far; `None` where the reduction does not count them.
    #[getter]
    fn count(&self) -> Option<u64> {
        self.partial.count()
    }

    /// The name of the element type.
    #[getter]
    fn dtype(&self) -> &'static str {
        names::name(self.dtype)
    }

    /// The name of the reduction.
    #[getter]
    fn op(&self) -> &'static str {
        if self.op == Op::Count { "count_nonzero" } else { self.op.name() }
    }

    /// What a NaN does.
    #[getter]
    fn nan(&self) -> &'static str {
        if self.policy.nan == Nan::Ignore { "ignore" } else { "propagate" }
    }

    /// The partial as bytes, the same on every machine.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.saved())
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.to_bytes(py)
    }

    /// The partial that `to_bytes` saved.
    #[classmethod]
    fn from_bytes(_class: &Bound<'_, PyType>, data: &[u8]) -> PyResult<Self> {
        let refused =
            || PyValueError::new_err("these bytes are no saved Exact; save it again with to_bytes");
        let (op, dtype, [is_ignored, is_any], rest) = Exact::saved_as(data).ok_or_else(refused)?;
        let dtype = DType::ALL.iter().copied().find(|&of| names::name(of) == dtype);
        let (op, dtype) = (op_of(op)?, dtype.ok_or_else(refused)?);
        let nan = if is_ignored == 0 { "propagate" } else { "ignore" };
        let empty = Exact::empty(dtype, op, nan)?;
        let partial =
            AnyPartial::from_bytes_of(read_as(dtype), rest).map_err(|error| raised(&error))?;
        if !partial.serves(op) {
            return Err(refused());
        }
        Ok(Exact { partial, is_any: is_any != 0, ..empty })
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let py = slf.py();
        Ok((slf.get_type().getattr("from_bytes")?, (slf.borrow().to_bytes(py),)))
    }

    fn __copy__(&self) -> Self {
        self.clone()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        self.clone()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let other = other.cast::<Exact>().map(|other| other.borrow().clone());
        other.is_ok_and(|other| {
            self.alike(&other) && self.op == other.op && self.partial == other.partial
        })
    }

    fn __repr__(&self) -> String {
        let count = self.count().map_or_else(String::new, |count| format!(" of {count} elements"));
        format!("<Exact {}, op={:?}{count}>", names::name(self.dtype), self.op())
    }
}
