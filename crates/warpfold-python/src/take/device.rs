//! Arrays in the memory of GPUs: tensors of torch by DLPack, arrays of CuPy and others by the CUDA array interface.

use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use warpfold_num::DType;

use super::{Home, Input, KeptAlive, imported, torch};
use crate::names::name;

/// The library whose arrays lie on a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Library {
    /// Results are tensors of torch.
    Torch,
    /// Results are arrays of CuPy.
    CuPy,
    /// Another one that has the CUDA array interface: results are numbers, and arrays of NumPy.
    Other,
}

/// A GPU, as a library names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gpu {
    pub(crate) library: Library,
    pub(crate) number: i32,
}

/// An array on a GPU that is held while this lives. Nothing here reads it.
pub(crate) struct OnGpu {
    pub(crate) input: Input,
    pub(crate) gpu: Gpu,
    /// The stream whose work so far has to be done before the array is read: a `CUstream`, null for the default one; `None` where nothing has.
    pub(crate) stream: Option<usize>,
}

impl OnGpu {
    pub(super) fn new(input: Input, gpu: Gpu, stream: Option<usize>) -> Self {
        OnGpu { input: Input { home: Home::Gpu(gpu), ..input }, gpu, stream }
    }

    /// An array that its maker holds, in C order, behind the work of a stream.
    pub(crate) fn held(
        dtype: DType,
        shape: Vec<u64>,
        address: *const u8,
        number: i32,
        stream: usize,
    ) -> PyResult<Self> {
        let gpu = Gpu { library: Library::Other, number };
        let input = Input::dense(dtype, shape, address, Home::Gpu(gpu))?;
        Ok(OnGpu { input, gpu, stream: Some(stream) })
    }

    /// Refuses to have other results written here.
    pub(crate) fn check_results(&self, dtype: DType, shape: &[u64]) -> PyResult<()> {
        if self.input.dtype != dtype || self.input.shape != shape {
            return Err(PyValueError::new_err(format!(
                "the results are {} of shape {shape:?}, and out is {} of shape {:?}; give such an array",
                name(dtype),
                name(self.input.dtype),
                self.input.shape
            )));
        }
        Ok(())
    }
}

impl Gpu {
    /// The library that results are made for on the host, before they go to the GPU.
    pub(crate) fn host(self) -> Home {
        match self.library {
            Library::Torch => Home::Torch,
            Library::CuPy => Home::NumPy,
            Library::Other => Home::Python,
        }
    }

    /// An array of the library on this GPU that nobody has written, and its address; `None` of a library that makes none.
    pub(crate) fn empty<'py>(
        self,
        py: Python<'py>,
        dtype: DType,
        shape: &[u64],
    ) -> PyResult<Option<(Bound<'py, PyAny>, u64)>> {
        match self.library {
            Library::Torch => torch::empty_on_gpu(py, dtype, shape, self.number).map(Some),
            Library::CuPy => {
                let shape = PyTuple::new(py, shape)?;
                let array = cupy(py)?.call_method1(intern!(py, "empty"), (shape, name(dtype)))?;
                let address = array.getattr(intern!(py, "data"))?.getattr(intern!(py, "ptr"))?;
                Ok(Some((array, address.extract()?)))
            }
            Library::Other => Ok(None),
        }
    }

    /// Results that were made on the host, moved to this GPU; of one result, without axes.
    pub(crate) fn give<'py>(
        self,
        py: Python<'py>,
        made: &Bound<'py, PyAny>,
        is_one: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let shaped = match (is_one, self.library) {
            (true, Library::Other) => return made.get_item(0),
            (true, _) => made.call_method1(intern!(py, "reshape"), (PyTuple::empty(py),))?,
            (false, _) => made.clone(),
        };
        match self.library {
            Library::Torch => {
                let keywords = PyDict::new(py);
                keywords.set_item(intern!(py, "device"), format!("cuda:{}", self.number))?;
                shaped.call_method(intern!(py, "to"), (), Some(&keywords))
            }
            Library::CuPy => cupy(py)?.call_method1(intern!(py, "asarray"), (shaped,)),
            Library::Other => Ok(shaped),
        }
    }

    /// Copies an array of the same library and shape into another.
    pub(crate) fn copy(self, to: &Bound<'_, PyAny>, from: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = to.py();
        match self.library {
            Library::Torch => to.call_method1(intern!(py, "copy_"), (from,)).map(drop),
            Library::CuPy => to.set_item(py.Ellipsis(), from),
            Library::Other => Err(PyTypeError::new_err(
                "out on a GPU is an array of torch or CuPy; give one of these, or leave it out",
            )),
        }
    }
}

fn cupy(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import(intern!(py, "cupy"))
}

/// An array that has the CUDA array interface; `None` where there is none.
pub(super) fn take(x: &Bound<'_, PyAny>) -> Option<PyResult<OnGpu>> {
    let py = x.py();
    // It may be a property that fails, as that of an array on the host does.
    let interface = x.getattr_opt(intern!(py, "__cuda_array_interface__")).ok()??;
    Some(described(x, &interface))
}

fn described(x: &Bound<'_, PyAny>, interface: &Bound<'_, PyAny>) -> PyResult<OnGpu> {
    let py = x.py();
    let interface = interface.cast::<PyDict>().map_err(|_| wrong("is no dictionary"))?;
    let field = |key: &str| interface.get_item(key).map(|value| value.filter(|v| !v.is_none()));
    let needed = |key: &str| field(key)?.ok_or_else(|| wrong(&format!("has no {key}")));
    if field("mask")?.is_some() {
        return Err(PyTypeError::new_err(
            "masked arrays on GPUs are not taken; give their elements, filled",
        ));
    }
    let dtype = dtype(&needed("typestr")?.extract::<String>()?)?;
    let shape: Vec<u64> = needed("shape")?.extract()?;
    let (address, _): (usize, bool) = needed("data")?.extract()?;
    let size = dtype.size() as i64;
    let strides: Vec<i64> = match field("strides")? {
        Some(strides) => strides.extract()?,
        None => {
            let mut next = size;
            let mut strides: Vec<i64> = Vec::with_capacity(shape.len());
            for &length in shape.iter().rev() {
                strides.push(next);
                next = next.saturating_mul(length.max(1) as i64);
            }
            strides.reverse();
            strides
        }
    };
    if strides.len() != shape.len() {
        return Err(wrong("has strides for other axes than it has"));
    }
    if strides.iter().zip(&shape).any(|(stride, &length)| stride % size != 0 && length > 1) {
        return Err(super::unaligned(dtype));
    }
    let strides = strides.iter().map(|stride| stride / size).collect();
    if address == 0 && !shape.contains(&0) {
        return Err(wrong("has elements without memory"));
    }
    // 1 is the default stream, 2 that of each thread, as the driver numbers them too.
    let stream: Option<usize> = field("stream")?.map(|stream| stream.extract()).transpose()?;
    let device = x.getattr_opt(intern!(py, "device"))?;
    let number = device.and_then(|device| device.getattr(intern!(py, "id")).ok()?.extract().ok());
    let is_cupy = imported(py, "cupy", "ndarray")
        .and_then(|cupy| x.is_instance(&cupy.getattr("ndarray").ok()?).ok());
    let library = if is_cupy == Some(true) { Library::CuPy } else { Library::Other };
    let gpu = Gpu { library, number: number.unwrap_or(0) };
    // Only an address: nothing here follows it.
    let address = std::ptr::without_provenance(address);
    let kept_alive = KeptAlive::Object(x.clone().unbind());
    let input = Input::new(dtype, shape, strides, address, Home::Gpu(gpu), kept_alive)?;
    Ok(OnGpu::new(input, gpu, stream))
}

fn wrong(what: &str) -> PyErr {
    PyBufferError::new_err(format!("__cuda_array_interface__ {what}; its library is at fault"))
}

fn dtype(typestr: &str) -> PyResult<DType> {
    Ok(match typestr {
        "|b1" => DType::Bool,
        "|i1" => DType::I8,
        "<i2" => DType::I16,
        "<i4" => DType::I32,
        "<i8" => DType::I64,
        "|u1" => DType::U8,
        "<u2" => DType::U16,
        "<u4" => DType::U32,
        "<u8" => DType::U64,
        "<f2" => DType::F16,
        "<f4" => DType::F32,
        "<f8" => DType::F64,
        "<c8" => DType::Complex64,
        "<c16" => DType::Complex128,
        other => {
            return Err(PyTypeError::new_err(format!(
                "elements of {other:?} have no reduction here; convert them to float32"
            )));
        }
    })
}
