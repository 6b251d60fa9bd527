//! Reductions of the elements of equal keys.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use warpfold_engine::{self as engine, HostArray, Parts};
use warpfold_num::{Column, DType, Op, Policy, Result};

use crate::cuda::mapped_parts::{self, DeviceParts};
use crate::cuda::masked;
use crate::errors::raised;
use crate::give;
use crate::mapped_parts::Elements;
use crate::masked::mask;
use crate::named::Named;
use crate::parted::columns;
use crate::policy::{correction as ddof_of, policy};
use crate::reduce::{Call, More, check_bools};
use crate::run::run;
use crate::segments::one_axis;
use crate::take::{Home, Input, OnGpu, Taken, Views, take, take_any};

/// Runs an expression with the keys as a slice of whatever type they have.
macro_rules! with_keys {
    ($keys:expr, $slice:ident => $body:expr) => {
        with_keys!($keys, $slice => $body, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64)
    };
    ($keys:expr, $slice:ident => $body:expr, $($variant:ident $ty:ty),+) => {
        match $keys.dtype() {
            $(DType::$variant => {
                let $slice: &[$ty] = $keys.slice().unwrap_or_default();
                $body
            })+
            other => unreachable!("keys of {other} were refused"),
        }
    };
}

/// The groups of equal keys, ascending.
fn found(keys: HostArray<'_>, n: usize, policy: Policy) -> Result<Parts<'static>> {
    with_keys!(keys, slice => engine::group_by(slice, n, policy))
}

/// The groups of keys that are their numbers.
pub(crate) fn dense(
    keys: HostArray<'_>,
    groups: u64,
    n: usize,
    policy: Policy,
) -> Result<Parts<'_>> {
    with_keys!(keys, slice => engine::group_dense(slice, groups, n, policy))
}

/// Starts reductions of the elements of equal keys, in any order.
#[pyfunction]
#[pyo3(signature = (keys, x, /, *, groups=None, r#where=None, threads=None, **names))]
#[doc = include_str!("docs/group_by.txt")]
pub(crate) fn group_by(
    keys: &Bound<'_, PyAny>,
    x: &Bound<'_, PyAny>,
    groups: Option<u64>,
    r#where: Option<&Bound<'_, PyAny>>,
    threads: Option<usize>,
    names: Option<&Bound<'_, PyDict>>,
) -> PyResult<GroupBy> {
    let py = keys.py();
    let policy = policy("exact", "propagate", "raise", threads)?;
    let given = GroupBy {
        keys: keys.clone().unbind(),
        x: x.clone().unbind(),
        found: None,
        groups,
        is_bool: false,
        home: Home::Python,
        mask: r#where.map(|mask| mask.clone().unbind()),
        names: names.map(|names| names.clone().unbind()),
        threads,
    };
    let values = given.values(py)?;
    let taken = match (take_any(keys)?, values.is_on_gpu()) {
        (Taken::Gpu(keys), true) => return on_gpu(py, given, &keys, &values),
        (Taken::Gpu(_), false) | (_, true) => {
            return Err(PyTypeError::new_err(
                "keys and values are grouped in one memory, and one of them lies on a GPU alone; move the other there, or copy it to the host",
            ));
        }
        (keys, false) => keys.into_input()?,
    };
    let dtype = taken.dtype;
    if dtype.is_float() {
        let name = crate::names::name(dtype);
        return Err(PyTypeError::new_err(format!(
            "keys are integers or bools, and these are {name}; number them with numpy.unique(keys, return_inverse=True)"
        )));
    }
    check_bools(py, Op::Sum, &taken, policy)?;
    let host = one_axis("keys", &taken)?;
    let (n, home) = match values {
        Values::Array(values) => {
            let values = values.into_input()?;
            let n = one_axis("values in groups", &values)?.len();
            // Looked at here, so that a wrong mask is an error here.
            if let Some(mask) = mask(r#where)? {
                Views::new(&values.shape, &[true], &[("x", &values), ("where", &mask)])?;
            }
            (n, values.home)
        }
        Values::Expression(named) => {
            let elements = Elements::new(named.on_host()?)?;
            (elements.len(), elements.home())
        }
    };
    let found = match groups {
        // Looked at here, so that a wrong key is an error here.
        Some(groups) => run(py, taken.bytes(), || dense(host, groups, n, policy)).map(|_| None),
        None => {
            run(py, taken.bytes(), || found(host, n, policy)).map(|parts| Some(Arc::new(parts)))
        }
    };
    let found = found.map_err(|error| raised(&error))?;
    Ok(GroupBy { found, is_bool: dtype == DType::Bool, home, ..given })
}

/// The same of keys and values on a GPU, where each reduction brings the values of equal keys together anew.
fn on_gpu(py: Python<'_>, given: GroupBy, keys: &OnGpu, values: &Values) -> PyResult<GroupBy> {
    let x = values.there()?;
    crate::cuda::groups::check(keys, x)?;
    // Looked at here, so that a wrong mask is an error here.
    let parts = DeviceParts::Keys(keys, given.groups);
    match values {
        Values::Expression(named) => mapped_parts::check(&named.on_gpu()?, parts)?,
        Values::Array(_) => {
            if let Some(mask) = masked::mask(given.mask.as_ref().map(|mask| mask.bind(py)))? {
                mapped_parts::check(&[("x", x), ("where", &mask)], parts)?;
            }
        }
    }
    Ok(GroupBy { is_bool: keys.input.dtype == DType::Bool, home: x.input.home, ..given })
}

/// What is grouped.
enum Values {
    Array(Taken),
    Expression(Box<Named>),
}

impl Values {
    fn is_on_gpu(&self) -> bool {
        match self {
            Values::Array(x) => matches!(x, Taken::Gpu(_)),
            Values::Expression(named) => named.is_on_gpu(),
        }
    }

    /// The array on a GPU, or the first one of an expression.
    fn there(&self) -> PyResult<&OnGpu> {
        match self {
            Values::Array(Taken::Gpu(x)) => Ok(x),
            Values::Array(_) => {
                Err(PyTypeError::new_err("keys and values have left the GPU; group them again"))
            }
            Values::Expression(named) => Ok(named.on_gpu()?[0].1),
        }
    }
}

/// Values grouped by keys: each method reduces every group. See `group_by`.
#[pyclass(module = "warpfold", frozen)]
pub(crate) struct GroupBy {
    keys: Py<PyAny>,
    x: Py<PyAny>,
    /// The groups of keys of any value.
    found: Option<Arc<Parts<'static>>>,
    /// How many groups there are, where keys are their numbers.
    groups: Option<u64>,
    is_bool: bool,
    home: Home,
    /// Which elements count.
    mask: Option<Py<PyAny>>,
    /// The arrays of an expression.
    names: Option<Py<PyDict>>,
    threads: Option<usize>,
}

impl GroupBy {
    /// The values as they lie.
    fn values(&self, py: Python<'_>) -> PyResult<Values> {
        let names = self.names.as_ref().map(|names| names.bind(py));
        let x = self.x.bind(py);
        if let Ok(text) = x.cast::<PyString>() {
            let r#where = self.mask.as_ref().map(|mask| mask.bind(py));
            let more = More { r#where, names, ..More::default() };
            let named = Named::of("group_by", text, &more)?;
            return Ok(Values::Expression(Box::new(named)));
        }
        match names.and_then(|names| names.keys().iter().next()) {
            None => take_any(x).map(Values::Array),
            Some(name) => Err(PyTypeError::new_err(format!(
                "group_by got an unexpected keyword argument {name:?}; arrays have names where the values are an expression"
            ))),
        }
    }

    /// Keys and values, where they lie on a GPU.
    fn there(&self, py: Python<'_>) -> PyResult<Option<(OnGpu, Values)>> {
        if !matches!(self.home, Home::Gpu(_)) {
            return Ok(None);
        }
        let values = self.values(py)?;
        match take_any(self.keys.bind(py))? {
            Taken::Gpu(keys) => {
                crate::cuda::groups::check(&keys, values.there()?)?;
                Ok(Some((keys, values)))
            }
            _ => Err(PyTypeError::new_err("keys and values have left the GPU; group them again")),
        }
    }

    /// The results there, and the keys of groups that have some.
    fn reduce_there<'py>(
        &self,
        py: Python<'py>,
        call: &Call<'_, 'py>,
        keys: &OnGpu,
        values: &Values,
    ) -> PyResult<(Option<Column>, Bound<'py, PyAny>)> {
        let parts = DeviceParts::Keys(keys, self.groups);
        let x = match values {
            Values::Expression(named) => {
                let arrays = named.on_gpu()?;
                return mapped_parts::reduce(py, call, &named.expressions, &arrays, None, parts);
            }
            Values::Array(_) => values.there()?,
        };
        match masked::mask(self.mask.as_ref().map(|mask| mask.bind(py)))? {
            None => crate::cuda::groups::reduce(py, call, [keys, x], self.groups),
            Some(mask) => {
                let (expressions, dtype) = masked::kept(py, call, x)?;
                let inputs = [("x", x), ("where", &mask)];
                mapped_parts::reduce(py, call, &expressions, &inputs, Some(dtype), parts)
            }
        }
    }

    /// Keys that were found, as their library has them.
    fn given<'py>(&self, py: Python<'py>, keys: &Column) -> PyResult<Bound<'py, PyAny>> {
        let keys = match keys {
            Column::U8(keys) if self.is_bool => {
                Column::Bool(keys.iter().map(|&key| key != 0).collect())
            }
            keys => keys.clone(),
        };
        give::array(py, self.home, &keys, &[keys.len() as u64])
    }

    fn reduce<'py>(&self, py: Python<'py>, call: &Call<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        if let Some((keys, values)) = self.there(py)? {
            let (keys, values) = self.reduce_there(py, call, &keys, &values)?;
            return match keys {
                None => Ok(values),
                Some(keys) => {
                    let keys = self.given(py, &keys)?;
                    give::named(py, "Groups", vec![("keys", keys), ("values", values)])
                }
            };
        }
        let values = match self.values(py)? {
            Values::Array(x) => self.of_array(py, call, &x.into_input()?)?,
            Values::Expression(named) => {
                let elements = Elements::new(named.on_host()?)?;
                self.parted(py, elements.len(), call.policy, |parts, groups| {
                    let (columns, wanted) = elements.columns(py, call, parts)?;
                    call.give_columns(py, self.home, columns, &[groups], &wanted)
                })?
            }
        };
        if self.found.is_none() {
            return Ok(values);
        }
        give::named(py, "Groups", vec![("keys", self.keys(py)?), ("values", values)])
    }

    /// The result of each group of an array in the host's memory.
    fn of_array<'py>(
        &self,
        py: Python<'py>,
        call: &Call<'_, 'py>,
        input: &Input,
    ) -> PyResult<Bound<'py, PyAny>> {
        let n = one_axis("values in groups", input)?.len();
        let wanted = call.wanted(input.dtype, input.home)?;
        check_bools(py, call.op, input, call.policy)?;
        let mask = mask(self.mask.as_ref().map(|mask| mask.bind(py)))?;
        self.parted(py, n, call.policy, |parts, groups| {
            let columns = columns(py, call, input, mask.as_ref(), parts, &wanted)?;
            call.give_columns(py, input.home, columns, &[groups], &wanted)
        })
    }

    /// Hands the groups of so many elements in the host's memory to a function, and how many they are.
    fn parted<'py>(
        &self,
        py: Python<'py>,
        n: usize,
        policy: Policy,
        then: impl FnOnce(&Arc<Parts<'_>>, u64) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let taken;
        let parts: Arc<Parts<'_>> = match (&self.found, self.groups) {
            (Some(found), _) => found.clone(),
            (None, groups) => {
                taken = take(self.keys.bind(py))?;
                let keys = one_axis("keys", &taken)?;
                let parts = run(py, taken.bytes(), || dense(keys, groups.unwrap_or(0), n, policy));
                Arc::new(parts.map_err(|error| raised(&error))?)
            }
        };
        match &*parts {
            Parts::Groups(grouping, _) => then(&parts, grouping.groups()),
            other => unreachable!("groups are {other:?}"),
        }
    }

    fn policy(&self, accuracy: &str, nan: &str, overflow: &str) -> PyResult<Policy> {
        policy(accuracy, nan, overflow, self.threads)
    }
}

macro_rules! methods {
    (
        rounded: $($rounded:ident $rounded_op:ident $about:literal,)+;
        moments: $($moment:ident $moment_op:ident $moment_about:literal,)+;
        others: $($other:ident $other_op:ident $other_about:literal,)+
    ) => {
        #[pymethods]
        impl GroupBy {
            /// The keys of the groups, ascending.
            #[getter]
            fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                if let Some(groups) = self.groups {
                    return self.given(py, &Column::I64((0..groups as i64).collect()));
                }
                match (self.there(py)?, self.found.as_deref().and_then(Parts::keys)) {
                    (Some((keys, values)), _) => {
                        self.given(py, &crate::cuda::groups::keys(py, &keys, values.there()?)?)
                    }
                    (None, Some(keys)) => self.given(py, keys),
                    (None, None) => unreachable!("groups of any keys were found"),
                }
            }

            $(#[doc = $about]
            #[pyo3(signature = (*, dtype=None, accuracy="exact", nan="propagate", overflow="raise"))]
            fn $rounded<'py>(
                &self,
                py: Python<'py>,
                dtype: Option<&Bound<'py, PyAny>>,
                accuracy: &str,
                nan: &str,
                overflow: &str,
            ) -> PyResult<Bound<'py, PyAny>> {
                let call = Call::new(Op::$rounded_op, self.policy(accuracy, nan, overflow)?);
                self.reduce(py, &Call { dtype, ..call })
            })+

            $(#[doc = $moment_about]
            #[pyo3(signature = (*, correction=None, ddof=None, dtype=None, nan="propagate"))]
            fn $moment<'py>(
                &self,
                py: Python<'py>,
                correction: Option<f64>,
                ddof: Option<f64>,
                dtype: Option<&Bound<'py, PyAny>>,
                nan: &str,
            ) -> PyResult<Bound<'py, PyAny>> {
                let ddof = ddof_of(correction, ddof)?;
                let call = Call::new(Op::$moment_op, self.policy("exact", nan, "raise")?);
                self.reduce(py, &Call { dtype, ddof, ..call })
            })+

            $(#[doc = $other_about]
            #[pyo3(signature = (*, nan="propagate"))]
            fn $other<'py>(&self, py: Python<'py>, nan: &str) -> PyResult<Bound<'py, PyAny>> {
                self.reduce(py, &Call::new(Op::$other_op, self.policy("exact", nan, "raise")?))
            })+
        }
    };
}
methods! {
    rounded:
        sum Sum "The sum of each group.",
        mean Mean "The mean of each group.",
        l1 L1 "The sum of magnitudes of each group.",
        l2 L2 "The Euclidean norm of each group.",
        sumsq Sumsq "The sum of squared magnitudes of each group.",
        linf Linf "The largest magnitude of each group.",
        prod Prod "The product of each group.",;
    moments:
        var Var "The variance of each group over `n - correction`.",
        std Std "The standard deviation of each group.",;
    others:
        min Min "The smallest element of each group.",
        max Max "The largest element of each group.",
        minmax MinMax "The smallest and the largest element of each group, as two arrays.",
        argmin ArgMin "The first index of the smallest element among those of its group.",
        argmax ArgMax "The first index of the largest element among those of its group.",
        any Any "Whether any element of each group is nonzero.",
        all All "Whether all elements of each group are nonzero.",
        count_nonzero Count "How many elements of each group are nonzero.",
        stats Stats "Count, sum, mean and so on of each group in one pass.",
}
