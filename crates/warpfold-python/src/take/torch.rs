//! torch's tensors in host memory, and tensors for results.

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};
use warpfold_num::{Column, DType, Value};

use super::device::{Gpu, Library, OnGpu};
use super::{Home, Taken, dlpack, imported};
use crate::give;

struct Torch {
    export: Option<dlpack::Export>,
    tensor: Py<PyType>,
    parameter: Py<PyAny>,
    strided: Py<PyAny>,
    is_grad_enabled: Py<PyAny>,
    scalar_tensor: Py<PyAny>,
    empty: Py<PyAny>,
    /// The stream that a GPU's work goes to, as a number; where this torch knows GPUs.
    stream: Option<Py<PyAny>>,
    /// Element types, in the order of [`DType::ALL`].
    dtypes: Vec<Py<PyAny>>,
}

static TORCH: PyOnceLock<Torch> = PyOnceLock::new();

impl Torch {
    fn of(torch: &Bound<'_, PyAny>) -> PyResult<Torch> {
        let dtypes =
            DType::ALL.iter().map(|&dtype| Ok(torch.getattr(crate::names::name(dtype))?.unbind()));
        Ok(Torch {
            export: dlpack::exchange(&torch.getattr("Tensor")?),
            tensor: torch.getattr("Tensor")?.cast_into::<PyType>()?.unbind(),
            parameter: torch.getattr("nn")?.getattr("Parameter")?.unbind(),
            strided: torch.getattr("strided")?.unbind(),
            is_grad_enabled: torch.getattr("is_grad_enabled")?.unbind(),
            scalar_tensor: torch.getattr("scalar_tensor")?.unbind(),
            empty: torch.getattr("empty")?.unbind(),
            stream: stream(torch),
            dtypes: dtypes.collect::<PyResult<_>>()?,
        })
    }
}

/// torch's function that tells its current stream without making an object of it.
fn stream(torch: &Bound<'_, PyAny>) -> Option<Py<PyAny>> {
    Some(torch.getattr("_C").ok()?.getattr("_cuda_getCurrentRawStream").ok()?.unbind())
}

/// torch, if the program has imported it.
fn loaded(py: Python<'_>) -> Option<&'static Torch> {
    if let Some(torch) = TORCH.get(py) {
        return Some(torch);
    }
    let torch = imported(py, "torch", "nn")?;
    TORCH.get_or_try_init(py, || Torch::of(&torch)).ok()
}

fn torch(py: Python<'_>) -> &'static Torch {
    TORCH.get(py).unwrap_or_else(|| unreachable!("a tensor was taken"))
}

/// A tensor of torch, if it is one; `None` if it is none.
pub(super) fn take(x: &Bound<'_, PyAny>) -> Option<PyResult<Taken>> {
    let py = x.py();
    let torch = loaded(py)?;
    if !x.is_instance(torch.tensor.bind(py)).ok()? {
        return None;
    }
    Some(check(x, torch).and_then(|x| {
        if x.getattr(intern!(py, "is_cuda"))?.is_truthy()? {
            return on_gpu(&x, torch).map(Taken::Gpu);
        }
        // The type has just been found to be torch's own.
        let input = match torch.export {
            Some(export) => dlpack::exported(&x, export, Home::Torch),
            None => dlpack::take(&x, Home::Torch),
        };
        input.map(Taken::Array)
    }))
}

/// A tensor in a GPU's memory, and the stream that torch's work there goes to.
fn on_gpu(x: &Bound<'_, PyAny>, torch: &Torch) -> PyResult<OnGpu> {
    let py = x.py();
    let (input, device) = match torch.export {
        Some(export) => dlpack::exported_on_gpu(x, export, Home::Torch)?,
        None => dlpack::take_on_gpu(x, Home::Torch)?,
    };
    let stream = match &torch.stream {
        Some(stream) => stream.bind(py).call1((device,))?.extract()?,
        None => {
            let cuda = py.import(intern!(py, "torch.cuda"))?;
            let stream = cuda.call_method1(intern!(py, "current_stream"), (device,))?;
            stream.getattr(intern!(py, "cuda_stream"))?.extract()?
        }
    };
    let gpu = Gpu { library: Library::Torch, number: device };
    Ok(OnGpu::new(input, gpu, Some(stream)))
}

/// An array on a GPU that nobody has written, and its address.
pub(super) fn empty_on_gpu<'py>(
    py: Python<'py>,
    dtype: DType,
    shape: &[u64],
    device: i32,
) -> PyResult<(Bound<'py, PyAny>, u64)> {
    let keywords = pyo3::types::PyDict::new(py);
    keywords.set_item(intern!(py, "dtype"), &torch(py).dtypes[dtype as usize])?;
    keywords.set_item(intern!(py, "device"), device)?;
    let tensor = torch(py).empty.bind(py).call((PyTuple::new(py, shape)?,), Some(&keywords))?;
    let address = tensor.call_method0(intern!(py, "data_ptr"))?.extract()?;
    Ok((tensor, address))
}

/// Refuses tensors whose memory is not what they say.
fn check<'py>(x: &Bound<'py, PyAny>, torch: &Torch) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    let refused = |what: &str, remedy: &str| Err(PyTypeError::new_err(format!("{what}; {remedy}")));
    let is_exact = x.get_type().is(&torch.tensor) || x.get_type().is(&torch.parameter);
    if !is_exact {
        return refused(
            "subclasses of torch.Tensor may hold something else than their memory",
            "give x.as_subclass(torch.Tensor)",
        );
    }
    if !x.getattr(intern!(py, "layout"))?.is(&torch.strided) {
        return refused("sparse tensors have no reduction here", "give x.to_dense()");
    }
    if x.call_method0(intern!(py, "is_conj"))?.is_truthy()? {
        return refused("the tensor is conjugated lazily", "give x.resolve_conj()");
    }
    if x.call_method0(intern!(py, "is_neg"))?.is_truthy()? {
        return refused("the tensor is negated lazily", "give x.resolve_neg()");
    }
    if !x.getattr(intern!(py, "requires_grad"))?.is_truthy()? {
        return Ok(x.clone());
    }
    if torch.is_grad_enabled.bind(py).call0()?.is_truthy()? {
        return refused(
            "the tensor requires a gradient, and the result would have none",
            "give x.detach(), or call under torch.no_grad()",
        );
    }
    x.call_method0(intern!(py, "detach"))
}

/// One result, as a tensor without axes.
pub(crate) fn scalar(py: Python<'_>, value: Value) -> PyResult<Bound<'_, PyAny>> {
    let dtype = value.dtype();
    let dtype = dtype.unwrap_or_else(|| unreachable!("no result of this front is {value:?}"));
    let keywords = pyo3::types::PyDict::new(py);
    keywords.set_item(intern!(py, "dtype"), &torch(py).dtypes[dtype as usize])?;
    torch(py).scalar_tensor.bind(py).call((give::number(py, value)?,), Some(&keywords))
}

/// Results with axes, in memory of torch's allocator.
pub(crate) fn array<'py>(
    py: Python<'py>,
    column: &Column,
    dtype: DType,
    shape: &[u64],
) -> PyResult<Bound<'py, PyAny>> {
    let keywords = pyo3::types::PyDict::new(py);
    keywords.set_item(intern!(py, "dtype"), &torch(py).dtypes[dtype as usize])?;
    keywords.set_item(intern!(py, "device"), intern!(py, "cpu"))?;
    let tensor = torch(py).empty.bind(py).call((PyTuple::new(py, shape)?,), Some(&keywords))?;
    dlpack::take(&tensor, Home::Torch)?.fill(give::bytes(column))?;
    Ok(tensor)
}
