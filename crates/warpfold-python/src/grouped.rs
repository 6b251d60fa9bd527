//! [`GroupBy`]: keys, and an array or an expression whose elements they group, wherever those lie.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use warpfold_engine::Parts;
use warpfold_num::{Column, DType, Policy};

use crate::cuda::mapped_parts::{self, DeviceParts};
use crate::cuda::masked;
use crate::errors::raised;
use crate::factors;
use crate::give;
use crate::keys::dense;
use crate::mapped_parts::Elements;
use crate::masked::mask;
use crate::named::Named;
use crate::operators::{Arrays, Operator};
use crate::parted::columns;
use crate::policy::policy;
use crate::reduce::{Call, More, check_bools};
use crate::run::run;
use crate::take::{Home, Input, OnGpu, Taken, one_axis, take, take_any};

/// The same of keys and values on a GPU, where each reduction brings the values of equal keys together anew.
pub(crate) fn on_gpu(
    py: Python<'_>,
    given: GroupBy,
    keys: &OnGpu,
    values: &Values,
) -> PyResult<GroupBy> {
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
pub(crate) enum Values {
    Array(Taken),
    Expression(Box<Named>),
}

impl Values {
    pub(crate) fn is_on_gpu(&self) -> bool {
        match self {
            Values::Array(x) => matches!(x, Taken::Gpu(_)),
            Values::Expression(named) => named.is_on_gpu(),
        }
    }

    /// The array on a GPU, or the first one of an expression.
    pub(crate) fn there(&self) -> PyResult<&OnGpu> {
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
    pub(crate) keys: Py<PyAny>,
    pub(crate) x: Py<PyAny>,
    /// The groups of keys of any value.
    pub(crate) found: Option<Arc<Parts<'static>>>,
    /// How many groups there are, where keys are their numbers.
    pub(crate) groups: Option<u64>,
    pub(crate) is_bool: bool,
    pub(crate) home: Home,
    /// Which elements count.
    pub(crate) mask: Option<Py<PyAny>>,
    /// The arrays of an expression.
    pub(crate) names: Option<Py<PyDict>>,
    pub(crate) threads: Option<i64>,
}

impl GroupBy {
    /// The values as they lie.
    pub(crate) fn values(&self, py: Python<'_>) -> PyResult<Values> {
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
    pub(crate) fn there(&self, py: Python<'_>) -> PyResult<Option<(OnGpu, Values)>> {
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
    pub(crate) fn given<'py>(&self, py: Python<'py>, keys: &Column) -> PyResult<Bound<'py, PyAny>> {
        let keys = match keys {
            Column::U8(keys) if self.is_bool => {
                Column::Bool(keys.iter().map(|&key| key != 0).collect())
            }
            keys => keys.clone(),
        };
        give::array(py, self.home, &keys, &[keys.len() as u64])
    }

    /// The same groups, of the values as floats.
    fn of_floats<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>) -> PyResult<Self> {
        Ok(GroupBy {
            keys: self.keys.clone_ref(py),
            x: factors::as_floats(py).into_any().unbind(),
            found: self.found.clone(),
            mask: self.mask.as_ref().map(|mask| mask.clone_ref(py)),
            names: Some(factors::names(x)?.unbind()),
            ..*self
        })
    }

    pub(crate) fn reduce<'py>(
        &self,
        py: Python<'py>,
        call: &Call<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let x = self.x.bind(py);
        if !x.is_instance_of::<PyString>() && call.multiplies_floats_of(x)? {
            return self.of_floats(py, x)?.reduce(py, call);
        }
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

    /// The results of each group by an operator of one's own.
    pub(crate) fn operator<'py>(
        &self,
        py: Python<'py>,
        op: &Operator,
        names: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if self.mask.is_some() || self.names.is_some() {
            return Err(PyTypeError::new_err(
                "operators of groups take neither where nor an expression; say what counts in the operator's lift",
            ));
        }
        let policy = self.policy("exact", "propagate", "raise")?;
        let arrays = Arrays::parted(op, self.x.bind(py), names)?;
        let values = self.parted(py, arrays.one_axis()?, policy, |parts, groups| {
            arrays.columns(py, parts, &[groups], policy)
        })?;
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

    pub(crate) fn policy(&self, accuracy: &str, nan: &str, overflow: &str) -> PyResult<Policy> {
        policy(accuracy, nan, overflow, self.threads)
    }
}
