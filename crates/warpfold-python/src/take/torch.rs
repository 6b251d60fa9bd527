//! torch's tensors in host memory, and tensors for results.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};
use warpfold_num::{Column, DType, Value};

use super::device::{Gpu, Library, OnGpu};
use super::{Followed, Home, Input, Taken, dlpack, imported};
use crate::number;

struct Torch {
    exchange: Option<dlpack::Exchange>,
    tensor: Py<PyType>,
    parameter: Py<PyAny>,
    strided: Py<PyAny>,
    is_grad_enabled: Py<PyAny>,
    forward_ad: Py<PyAny>,
    is_forward_enabled: Py<PyAny>,
    /// Whether a tensor is one that vmap or another of torch's transformations stands for; where this torch tells.
    is_wrapped: Option<Py<PyAny>>,
    scalar_tensor: Py<PyAny>,
    empty: Py<PyAny>,
    empty_like: Py<PyAny>,
    /// A tensor without axes of each element type and device, which another is made like: it takes half the time of naming both.
    like: Mutex<Vec<(DType, i32, Py<PyAny>)>>,
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
            exchange: dlpack::exchange(&torch.getattr("Tensor")?),
            tensor: torch.getattr("Tensor")?.cast_into::<PyType>()?.unbind(),
            parameter: torch.getattr("nn")?.getattr("Parameter")?.unbind(),
            strided: torch.getattr("strided")?.unbind(),
            is_grad_enabled: torch.getattr("is_grad_enabled")?.unbind(),
            forward_ad: torch.getattr("autograd")?.getattr("forward_ad")?.unbind(),
            is_forward_enabled: torch.getattr("_C")?.getattr("_is_fwd_grad_enabled")?.unbind(),
            is_wrapped: is_wrapped(torch),
            scalar_tensor: torch.getattr("scalar_tensor")?.unbind(),
            empty: torch.getattr("empty")?.unbind(),
            empty_like: torch.getattr("empty_like")?.unbind(),
            like: Mutex::default(),
            stream: stream(torch),
            dtypes: dtypes.collect::<PyResult<_>>()?,
        })
    }
}

/// torch's function that tells its current stream without making an object of it.
fn stream(torch: &Bound<'_, PyAny>) -> Option<Py<PyAny>> {
    Some(torch.getattr("_C").ok()?.getattr("_cuda_getCurrentRawStream").ok()?.unbind())
}

fn is_wrapped(torch: &Bound<'_, PyAny>) -> Option<Py<PyAny>> {
    let functorch = torch.getattr("_C").ok()?.getattr("_functorch").ok()?;
    Some(functorch.getattr("is_functorch_wrapped_tensor").ok()?.unbind())
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

/// The device of tensors in the host's memory.
const HOST: i32 = -1;

/// A tensor of torch, if it is one; `None` if it is none.
pub(super) fn take(x: &Bound<'_, PyAny>) -> Option<PyResult<Taken>> {
    let py = x.py();
    let torch = loaded(py)?;
    if !x.is_instance(torch.tensor.bind(py)).ok()? {
        return None;
    }
    let taken = check(x, torch).and_then(|checked| {
        let Some(x) = checked else { return Ok(Taken::Followed(Followed::Torch)) };
        if x.getattr(intern!(py, "is_cuda"))?.is_truthy()? {
            return on_gpu(&x, torch).map(Taken::Gpu);
        }
        // The type has just been found to be torch's own.
        let input = match torch.exchange {
            Some(exchange) => dlpack::exported(&x, exchange, Home::Torch),
            None => dlpack::take(&x, Home::Torch),
        };
        input.map(Taken::Array)
    });
    // Those have no memory, so that taking it failed.
    if taken.is_err() && is_stand_in(x, torch) {
        return Some(Ok(Taken::Followed(Followed::Torch)));
    }
    Some(taken)
}

/// Whether one of torch's transformations, such as vmap, has put the tensor in place of others.
fn is_stand_in(x: &Bound<'_, PyAny>, torch: &Torch) -> bool {
    let Some(is_wrapped) = &torch.is_wrapped else { return false };
    let wrapped = is_wrapped.bind(x.py()).call1((x,));
    wrapped.and_then(|wrapped| wrapped.is_truthy()).unwrap_or(false)
}

/// A tensor in a GPU's memory, and the stream that torch's work there goes to.
fn on_gpu(x: &Bound<'_, PyAny>, torch: &Torch) -> PyResult<OnGpu> {
    let py = x.py();
    let (input, device) = match torch.exchange {
        Some(exchange) => dlpack::exported_on_gpu(x, exchange, Home::Torch)?,
        None => dlpack::take_on_gpu(x, Home::Torch)?,
    };
    let given = torch.exchange.and_then(|exchange| exchange.stream(device));
    let stream = match (given, &torch.stream) {
        (Some(stream), _) => stream,
        (None, Some(stream)) => stream.bind(py).call1((device,))?.extract()?,
        (None, None) => {
            let cuda = py.import(intern!(py, "torch.cuda"))?;
            let stream = cuda.call_method1(intern!(py, "current_stream"), (device,))?;
            stream.getattr(intern!(py, "cuda_stream"))?.extract()?
        }
    };
    let gpu = Gpu { library: Library::Torch, number: device };
    Ok(OnGpu::new(input, gpu, Some(stream)))
}

/// A tensor without axes that nobody has written, on the host or on a GPU.
fn empty_scalar(py: Python<'_>, dtype: DType, device: i32) -> PyResult<Bound<'_, PyAny>> {
    let torch = torch(py);
    let known = {
        let like = torch.like.lock().unwrap_or_else(PoisonError::into_inner);
        let known = like.iter().find(|(of, on, _)| (*of, *on) == (dtype, device));
        known.map(|(_, _, like)| like.clone_ref(py))
    };
    let like = match known {
        Some(like) => like,
        None => {
            let made = named_empty(py, dtype, &[], device)?;
            // Under one of torch's modes it may be a stand-in, which is of no use afterwards.
            if !made.get_type().is(&torch.tensor) || is_stand_in(&made, torch) {
                return Ok(made);
            }
            let mut like = torch.like.lock().unwrap_or_else(PoisonError::into_inner);
            like.push((dtype, device, made.clone().unbind()));
            made.unbind()
        }
    };
    torch.empty_like.bind(py).call1((like,))
}

/// A tensor of a type and a shape that nobody has written, on the host or on a GPU.
fn named_empty<'py>(
    py: Python<'py>,
    dtype: DType,
    shape: &[u64],
    device: i32,
) -> PyResult<Bound<'py, PyAny>> {
    let keywords = pyo3::types::PyDict::new(py);
    keywords.set_item(intern!(py, "dtype"), &torch(py).dtypes[dtype as usize])?;
    match device {
        HOST => keywords.set_item(intern!(py, "device"), intern!(py, "cpu"))?,
        device => keywords.set_item(intern!(py, "device"), device)?,
    }
    torch(py).empty.bind(py).call((PyTuple::new(py, shape)?,), Some(&keywords))
}

/// An array on a GPU that nobody has written, and its address.
pub(super) fn empty_on_gpu<'py>(
    py: Python<'py>,
    dtype: DType,
    shape: &[u64],
    device: i32,
) -> PyResult<(Bound<'py, PyAny>, u64)> {
    let tensor = match shape {
        [] => empty_scalar(py, dtype, device)?,
        shape => named_empty(py, dtype, shape, device)?,
    };
    let address = tensor.call_method0(intern!(py, "data_ptr"))?.extract()?;
    Ok((tensor, address))
}

/// Refuses tensors whose memory is not what they say; `None` of those whose reduction has a gradient.
fn check<'py>(x: &Bound<'py, PyAny>, torch: &Torch) -> PyResult<Option<Bound<'py, PyAny>>> {
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
    if is_dual(x, torch)? {
        return Ok(None);
    }
    if !x.getattr(intern!(py, "requires_grad"))?.is_truthy()? {
        return Ok(Some(x.clone()));
    }
    if torch.is_grad_enabled.bind(py).call0()?.is_truthy()? {
        return Ok(None);
    }
    x.call_method0(intern!(py, "detach")).map(Some)
}

/// Whether a tensor carries a tangent, of a forward gradient.
fn is_dual(x: &Bound<'_, PyAny>, torch: &Torch) -> PyResult<bool> {
    let py = x.py();
    let forward = torch.forward_ad.bind(py);
    let level: i64 = forward.getattr(intern!(py, "_current_level"))?.extract()?;
    if level < 0 || !torch.is_forward_enabled.bind(py).call0()?.is_truthy()? {
        return Ok(false);
    }
    let unpacked = forward.call_method1(intern!(py, "unpack_dual"), (x,))?;
    Ok(!unpacked.getattr(intern!(py, "tangent"))?.is_none())
}

/// One result, as a tensor without axes.
pub(crate) fn scalar(py: Python<'_>, value: Value) -> PyResult<Bound<'_, PyAny>> {
    let dtype = value.dtype();
    let dtype = dtype.unwrap_or_else(|| unreachable!("no result of this front is {value:?}"));
    if let Some(tensor) = written(py, value, dtype) {
        return Ok(tensor);
    }
    let keywords = pyo3::types::PyDict::new(py);
    keywords.set_item(intern!(py, "dtype"), &torch(py).dtypes[dtype as usize])?;
    torch(py).scalar_tensor.bind(py).call((number::number(py, value)?,), Some(&keywords))
}

/// The same, written where a tensor of torch has its element; `None` where one of torch's modes leaves it no memory.
fn written(py: Python<'_>, value: Value, dtype: DType) -> Option<Bound<'_, PyAny>> {
    let tensor = empty_scalar(py, dtype, HOST).ok()?;
    let address: usize =
        tensor.call_method0(intern!(py, "data_ptr")).ok()?.extract().ok().filter(|at| *at != 0)?;
    let column = Column::of_values(vec![value]);
    let bytes = number::bytes(&column);
    // SAFETY: torch has just made a tensor of one element of this type on the host, which is this long and held here.
    unsafe {
        std::ptr::with_exposed_provenance_mut::<u8>(address)
            .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
    }
    Some(tensor)
}

/// A tensor that was made here, as it lies, whatever torch follows meanwhile.
pub(crate) fn made(tensor: &Bound<'_, PyAny>) -> PyResult<Input> {
    dlpack::take(tensor, Home::Torch)
}

/// A tensor on the host that nobody has written to, in memory of torch's allocator.
pub(crate) fn empty<'py>(
    py: Python<'py>,
    dtype: DType,
    shape: &[u64],
) -> PyResult<Bound<'py, PyAny>> {
    named_empty(py, dtype, shape, HOST)
}
