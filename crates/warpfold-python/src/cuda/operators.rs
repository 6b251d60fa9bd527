//! Operators of one's own on a GPU: whole arrays and rows, by kernels that have the operator's code in them.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use warpfold_engine::Parts;
use warpfold_engine::operator::Operator;
use warpfold_gpu::cuda::KeepContext;
use warpfold_gpu::kernel;
use warpfold_num::{Column, DType};

use super::devices;
use super::mapped::{DeviceArray, check_run, with_views};
use crate::errors::raised;
use crate::take::OnGpu;

/// The results of arrays of one shape, a column for each: of all elements one value, or of each part.
pub(crate) fn columns(
    py: Python<'_>,
    operator: &Operator,
    inputs: &[(String, OnGpu)],
    parts: Option<&Parts<'_>>,
) -> PyResult<Vec<Column>> {
    let _kept = KeepContext::new();
    let (of, first) = &inputs[0];
    for (name, array) in inputs {
        if array.gpu.number != first.gpu.number {
            return Err(PyValueError::new_err(format!(
                "{of} lies on GPU {}, and {name} on GPU {}; move them to one",
                first.gpu.number, array.gpu.number
            )));
        }
        check_run(name, array)?;
    }
    let dtypes: Vec<(&str, DType)> =
        inputs.iter().map(|(name, array)| (name.as_str(), array.input.dtype)).collect();
    let typed = operator.typed(&dtypes).map_err(|error| raised(&error))?;
    let gpu = devices::gpu(first.gpu.number)?;
    let locations: Vec<_> = inputs.iter().map(|(_, array)| DeviceArray::of(array)).collect();
    let columns = py.detach(|| {
        with_views(&gpu, &locations, |views| match parts {
            Some(parts) => kernel::operator::columns(&gpu, &typed, views, parts),
            None => {
                let values = kernel::operator::fold(&gpu, &typed, views)?;
                Ok(values.into_iter().map(|value| Column::of_values(vec![value])).collect())
            }
        })
    });
    columns.map_err(|error| raised(&error))
}
