//! Reductions of the elements of equal keys.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use warpfold_engine::Parts;
use warpfold_num::{Column, DType, Op};

use crate::cuda::groups::keys as keys_on_gpu;
use crate::errors::raised;
use crate::grouped::{GroupBy, Values, on_gpu};
use crate::keys::{dense, found};
use crate::mapped_parts::Elements;
use crate::masked::mask;
use crate::operators::Operator;
use crate::policy::{correction as ddof_of, policy};
use crate::reduce::{Call, check_bools};
use crate::run::run;
use crate::take::{Home, Taken, Views, one_axis, take_any};

/// Starts reductions of the elements of equal keys, in any order.
#[pyfunction]
#[pyo3(signature = (keys, x, /, *, groups=None, r#where=None, threads=None, **names))]
#[doc = include_str!("docs/group_by.txt")]
pub(crate) fn group_by(
    keys: &Bound<'_, PyAny>,
    x: &Bound<'_, PyAny>,
    groups: Option<u64>,
    r#where: Option<&Bound<'_, PyAny>>,
    threads: Option<i64>,
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
            pub(crate) fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                if let Some(groups) = self.groups {
                    return self.given(py, &Column::I64((0..groups as i64).collect()));
                }
                match (self.there(py)?, self.found.as_deref().and_then(Parts::keys)) {
                    (Some((keys, values)), _) => {
                        self.given(py, &keys_on_gpu(py, &keys, values.there()?)?)
                    }
                    (None, Some(keys)) => self.given(py, keys),
                    (None, None) => unreachable!("groups of any keys were found"),
                }
            }

            /// The result of an operator of one's own of each group, whose elements keep their order.
            #[pyo3(name = "reduce", signature = (op, /, **names))]
            fn by_operator<'py>(
                &self,
                py: Python<'py>,
                op: &Operator,
                names: Option<&Bound<'py, PyDict>>,
            ) -> PyResult<Bound<'py, PyAny>> {
                self.operator(py, op, names)
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
