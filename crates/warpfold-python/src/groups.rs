//! Reductions of the elements of equal keys.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use warpfold_engine::{self as engine, HostArray, Parts};
use warpfold_num::{Column, DType, Op, Policy, Result};

use crate::errors::raised;
use crate::give;
use crate::masked::mask;
use crate::parted::columns;
use crate::policy::{correction as ddof_of, policy};
use crate::reduce::{Call, check_bools};
use crate::run::run;
use crate::segments::one_axis;
use crate::take::{Home, OnGpu, Taken, Views, take, take_any};

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
#[pyo3(signature = (keys, x, /, *, groups=None, r#where=None, threads=None))]
#[doc = include_str!("docs/group_by.txt")]
pub(crate) fn group_by(
    keys: &Bound<'_, PyAny>,
    x: &Bound<'_, PyAny>,
    groups: Option<u64>,
    r#where: Option<&Bound<'_, PyAny>>,
    threads: Option<usize>,
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
        threads,
    };
    let taken = match (take_any(keys)?, take_any(x)?) {
        (Taken::Gpu(keys), Taken::Gpu(x)) => return on_gpu(given, &keys, &x),
        (Taken::Gpu(_), _) | (_, Taken::Gpu(_)) => {
            return Err(PyTypeError::new_err(
                "keys and values are grouped in one memory, and one of them lies on a GPU alone; move the other there, or copy it to the host",
            ));
        }
        (keys, _) => keys.into_input()?,
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
    let values = take(x)?;
    let n = one_axis("values in groups", &values)?.len();
    // Looked at here, so that a wrong mask is an error here.
    if let Some(mask) = mask(r#where)? {
        Views::new(&values.shape, &[true], &[("x", &values), ("where", &mask)])?;
    }
    let found = match groups {
        // Looked at here, so that a wrong key is an error here.
        Some(groups) => run(py, taken.bytes(), || dense(host, groups, n, policy)).map(|_| None),
        None => {
            run(py, taken.bytes(), || found(host, n, policy)).map(|parts| Some(Arc::new(parts)))
        }
    };
    let found = found.map_err(|error| raised(&error))?;
    Ok(GroupBy { found, is_bool: dtype == DType::Bool, home: values.home, ..given })
}

/// The same of keys and values on a GPU, where each reduction brings the values of equal keys together anew.
fn on_gpu(given: GroupBy, keys: &OnGpu, x: &OnGpu) -> PyResult<GroupBy> {
    crate::cuda::groups::check(keys, x)?;
    if given.mask.is_some() {
        return Err(PyTypeError::new_err(
            "groups of an array on a GPU take no where; copy it to the host for that, or give keys and values of the elements that count",
        ));
    }
    Ok(GroupBy { is_bool: keys.input.dtype == DType::Bool, home: x.input.home, ..given })
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
    threads: Option<usize>,
}

impl GroupBy {
    /// Keys and values, where they lie on a GPU.
    fn there(&self, py: Python<'_>) -> PyResult<Option<[OnGpu; 2]>> {
        if !matches!(self.home, Home::Gpu(_)) {
            return Ok(None);
        }
        match (take_any(self.keys.bind(py))?, take_any(self.x.bind(py))?) {
            (Taken::Gpu(keys), Taken::Gpu(x)) => {
                crate::cuda::groups::check(&keys, &x)?;
                Ok(Some([keys, x]))
            }
            _ => Err(PyTypeError::new_err("keys and values have left the GPU; group them again")),
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
        if let Some([keys, x]) = self.there(py)? {
            let (keys, values) = crate::cuda::groups::reduce(py, call, [&keys, &x], self.groups)?;
            return match keys {
                None => Ok(values),
                Some(keys) => {
                    let keys = self.given(py, &keys)?;
                    give::named(py, "Groups", vec![("keys", keys), ("values", values)])
                }
            };
        }
        let input = take(self.x.bind(py))?;
        let x = one_axis("values in groups", &input)?;
        let wanted = call.wanted(input.dtype, input.home)?;
        check_bools(py, call.op, &input, call.policy)?;
        let (taken, parts);
        let parts: Arc<Parts<'_>> = match (&self.found, self.groups) {
            (Some(found), _) => found.clone(),
            (None, groups) => {
                taken = take(self.keys.bind(py))?;
                let keys = one_axis("keys", &taken)?;
                let (n, policy) = (x.len(), call.policy);
                parts = run(py, taken.bytes(), || dense(keys, groups.unwrap_or(0), n, policy));
                Arc::new(parts.map_err(|error| raised(&error))?)
            }
        };
        let outputs = match &*parts {
            Parts::Groups(grouping, _) => grouping.groups(),
            other => unreachable!("groups are {other:?}"),
        };
        let mask = mask(self.mask.as_ref().map(|mask| mask.bind(py)))?;
        let columns = columns(py, call, &input, mask.as_ref(), &parts, &wanted)?;
        let values = call.give_columns(py, input.home, columns, &[outputs], &wanted)?;
        if self.found.is_none() {
            return Ok(values);
        }
        give::named(py, "Groups", vec![("keys", self.keys(py)?), ("values", values)])
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
                    (Some([keys, x]), _) => {
                        self.given(py, &crate::cuda::groups::keys(py, &keys, &x)?)
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
