//! DLPack, by hand: tensors of torch, JAX and others in host memory, by versioned capsules or legacy ones.

use std::ffi::{CStr, c_void};
use std::slice;

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::{ffi, intern};
use warpfold_num::DType;

use super::{Home, Input, KeptAlive};

#[repr(C)]
#[derive(Clone, Copy)]
struct Device {
    kind: i32,
    id: i32,
}

/// A GPU's own memory, and such of it as the host reaches as well.
const CUDA: [i32; 2] = [2, 13];

/// The host's memory, and such of it as GPUs reach as well.
const HOST: [i32; 3] = [1, 3, 11];

#[repr(C)]
#[derive(Clone, Copy)]
struct ElementType {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct DlTensor {
    data: *mut c_void,
    device: Device,
    ndim: i32,
    dtype: ElementType,
    shape: *const i64,
    strides: *const i64,
    byte_offset: u64,
}

#[repr(C)]
pub(super) struct Managed {
    tensor: DlTensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

#[repr(C)]
pub(super) struct Versioned {
    major: u32,
    minor: u32,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    flags: u64,
    tensor: DlTensor,
}

/// A tensor that was taken out of its capsule: it is ours to give back.
pub(super) enum Tensor {
    Legacy(*mut Managed),
    Versioned(*mut Versioned),
}

const NAMES: [(&CStr, &CStr); 2] =
    [(c"dltensor_versioned", c"used_dltensor_versioned"), (c"dltensor", c"used_dltensor")];

impl Tensor {
    /// Takes the tensor out of a capsule, once.
    fn of(capsule: &Bound<'_, PyAny>) -> PyResult<Self> {
        for (k, (name, used)) in NAMES.into_iter().enumerate() {
            let capsule = capsule.as_ptr();
            // SAFETY: the object is alive, and names are strings; whatever the object is, this looks at its type first.
            if unsafe { ffi::PyCapsule_IsValid(capsule, name.as_ptr()) } == 0 {
                continue;
            }
            // SAFETY: it is a capsule of that name. By the protocol, who renames it owns the tensor, which stays until its deleter is called.
            let pointer = unsafe {
                let pointer = ffi::PyCapsule_GetPointer(capsule, name.as_ptr());
                ffi::PyCapsule_SetName(capsule, used.as_ptr());
                pointer
            };
            return Ok(if k == 0 {
                Tensor::Versioned(pointer.cast())
            } else {
                Tensor::Legacy(pointer.cast())
            });
        }
        Err(PyBufferError::new_err(
            "__dlpack__ gave no capsule with a tensor in it, or one whose tensor was taken; ask for another",
        ))
    }

    /// Which elements lie where.
    fn tensor(&self) -> PyResult<DlTensor> {
        // SAFETY: the pointer is that of a tensor which nobody has given back, of the layout that the capsule's name promises; of other
        // major versions nothing but the version is read.
        unsafe {
            match *self {
                Tensor::Legacy(managed) => Ok((*managed).tensor),
                Tensor::Versioned(versioned) if (*versioned).major == 1 => Ok((*versioned).tensor),
                Tensor::Versioned(versioned) => Err(PyBufferError::new_err(format!(
                    "the tensor is one of DLPack {}.{}, and 1.x is understood; update warpfold",
                    (*versioned).major,
                    (*versioned).minor
                ))),
            }
        }
    }
}

impl Drop for Tensor {
    fn drop(&mut self) {
        // SAFETY: the tensor is ours, and this is the one time that it is given back.
        unsafe {
            match *self {
                Tensor::Legacy(managed) => {
                    if let Some(deleter) = (*managed).deleter {
                        deleter(managed);
                    }
                }
                Tensor::Versioned(versioned) => {
                    if let Some(deleter) = (*versioned).deleter {
                        deleter(versioned);
                    }
                }
            }
        }
    }
}

/// Whether an object exports DLPack.
pub(super) fn has(x: &Bound<'_, PyAny>) -> bool {
    x.get_type().hasattr(intern!(x.py(), "__dlpack__")).unwrap_or(false)
}

/// Refuses what is not in the host's memory.
fn check_device(kind: i32, id: i32) -> PyResult<()> {
    if HOST.contains(&kind) {
        return Ok(());
    }
    let name = match kind {
        2 | 13 => "CUDA device",
        8 => "Metal device",
        10 => "ROCm device",
        14 => "oneAPI device",
        _ => "device of DLPack type",
    };
    Err(PyTypeError::new_err(format!(
        "the array is on {name} {id} ({kind}): on GPUs and other devices the arrays of torch and CuPy are taken alone; copy it to the host first, as x.cpu() does"
    )))
}

/// Takes an array as it lies, for results of a library.
pub(super) fn take(x: &Bound<'_, PyAny>, home: Home) -> PyResult<Input> {
    take_of(x, device(x)?, home)
}

/// The kind and the number of the device that an array lies on, which is not touched.
pub(super) fn device(x: &Bound<'_, PyAny>) -> PyResult<(i32, i32)> {
    x.call_method0(intern!(x.py(), "__dlpack_device__"))?.extract()
}

/// Whether a kind of device is a GPU of NVIDIA's.
pub(super) fn is_cuda(kind: i32) -> bool {
    CUDA.contains(&kind)
}

/// Takes an array whose device is known.
pub(super) fn take_of(x: &Bound<'_, PyAny>, (kind, id): (i32, i32), home: Home) -> PyResult<Input> {
    let py = x.py();
    check_device(kind, id)?;
    let keywords = PyDict::new(py);
    keywords.set_item(intern!(py, "max_version"), (1, 3))?;
    keywords.set_item(intern!(py, "copy"), false)?;
    let method = x.getattr(intern!(py, "__dlpack__"))?;
    let capsule = match method.call((), Some(&keywords)) {
        // What knows no versions yet.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => method.call0()?,
        capsule => capsule?,
    };
    read(Tensor::of(&capsule)?, home)
}

/// Takes an array as it lies in a GPU's memory, with the number of the GPU; whoever reads it waits for its stream.
pub(super) fn take_on_gpu(x: &Bound<'_, PyAny>, home: Home) -> PyResult<(Input, i32)> {
    let py = x.py();
    let keywords = PyDict::new(py);
    // No stream of ours is told to wait.
    keywords.set_item(intern!(py, "stream"), -1)?;
    let method = x.getattr(intern!(py, "__dlpack__"))?;
    on_gpu(Tensor::of(&method.call((), Some(&keywords))?)?, home)
}

/// The same by the exporter of its type.
pub(super) fn exported_on_gpu(
    x: &Bound<'_, PyAny>,
    exchange: Exchange,
    home: Home,
) -> PyResult<(Input, i32)> {
    on_gpu(exported_tensor(x, exchange)?, home)
}

fn on_gpu(tensor: Tensor, home: Home) -> PyResult<(Input, i32)> {
    let Device { kind, id } = tensor.tensor()?.device;
    if !CUDA.contains(&kind) {
        check_device(kind, id)?;
        return Err(wrong("another device than the array said"));
    }
    Ok((described(tensor, home)?, id))
}

/// What exports an object of the type that it was found at; it waits for no device.
pub(super) type Export = unsafe extern "C" fn(*mut ffi::PyObject, *mut *mut Versioned) -> i32;

/// What tells the stream that a library's work on a device goes to.
type CurrentStream = unsafe extern "C" fn(i32, i32, *mut *mut c_void) -> i32;

#[repr(C)]
struct ExchangeApi {
    major: u32,
    minor: u32,
    previous: *const ExchangeApi,
    allocate: *const c_void,
    export: Option<Export>,
    give: *const c_void,
    describe: *const c_void,
    stream: Option<CurrentStream>,
}

/// The C exchange API of a type (DLPack 1.3), which spares calls in Python.
#[derive(Clone, Copy)]
pub(super) struct Exchange {
    export: Export,
    stream: Option<CurrentStream>,
}

impl Exchange {
    /// The stream that the library's work on a GPU goes to, if it tells.
    pub(super) fn stream(self, device: i32) -> Option<usize> {
        let mut stream = std::ptr::null_mut();
        // SAFETY: by the protocol; what is written is a handle, which nothing here follows.
        let status = unsafe { (self.stream?)(CUDA[0], device, &mut stream) };
        (status == 0).then(|| stream.addr())
    }
}

/// The exchange API of a type; `None` where the type has none.
pub(super) fn exchange(class: &Bound<'_, PyAny>) -> Option<Exchange> {
    let capsule = class.getattr("__dlpack_c_exchange_api__").ok()?;
    // SAFETY: the object is alive; whatever it is, this looks whether it is a capsule of that name.
    let table =
        unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), c"dlpack_exchange_api".as_ptr()) };
    if table.is_null() {
        drop(PyErr::take(class.py()));
        return None;
    }
    // SAFETY: by the protocol a capsule of that name holds such a table, which lives as long as the program. Of another major version
    // nothing but the version is read.
    unsafe {
        let table = table.cast::<ExchangeApi>();
        match (*table).major {
            1 => Some(Exchange { export: (*table).export?, stream: (*table).stream }),
            _ => None,
        }
    }
}

/// Takes an array of the type whose exporter this is.
pub(super) fn exported(x: &Bound<'_, PyAny>, exchange: Exchange, home: Home) -> PyResult<Input> {
    read(exported_tensor(x, exchange)?, home)
}

fn exported_tensor(x: &Bound<'_, PyAny>, exchange: Exchange) -> PyResult<Tensor> {
    let mut versioned = std::ptr::null_mut();
    // SAFETY: the object is alive and of the exporter's type, as the caller saw to; what is written is a tensor of ours.
    let status = unsafe { (exchange.export)(x.as_ptr(), &mut versioned) };
    if status != 0 || versioned.is_null() {
        return Err(PyErr::fetch(x.py()));
    }
    Ok(Tensor::Versioned(versioned))
}

/// The array that a tensor in the host's memory describes.
fn read(tensor: Tensor, home: Home) -> PyResult<Input> {
    let Device { kind, id } = tensor.tensor()?.device;
    check_device(kind, id)?;
    described(tensor, home)
}

/// The array that a tensor describes, wherever it lies.
fn described(owned: Tensor, home: Home) -> PyResult<Input> {
    let tensor = owned.tensor()?;
    let dtype = dtype(tensor.dtype)?;
    let ndim = usize::try_from(tensor.ndim).map_err(|_| wrong("a negative number of axes"))?;
    let axes = |numbers: *const i64| {
        // SAFETY: DLPack has as many lengths, and strides if there are any, as axes.
        if ndim == 0 { &[][..] } else { unsafe { slice::from_raw_parts(numbers, ndim) } }
    };
    if ndim > 0 && tensor.shape.is_null() {
        return Err(wrong("axes without lengths"));
    }
    let lengths = axes(tensor.shape).iter().map(|&length| u64::try_from(length));
    let shape: Vec<u64> =
        lengths.collect::<Result<_, _>>().map_err(|_| wrong("a negative length"))?;
    let strides = if tensor.strides.is_null() {
        contiguous(&shape).ok_or_else(|| wrong("more elements than memory has"))?
    } else {
        axes(tensor.strides).to_vec()
    };
    if tensor.data.is_null() && !shape.contains(&0) {
        return Err(wrong("elements without memory"));
    }
    let address = tensor.data.cast::<u8>().wrapping_add(tensor.byte_offset as usize);
    Input::new(dtype, shape, strides, address, home, KeptAlive::Tensor(owned))
}

fn wrong(what: &str) -> PyErr {
    PyBufferError::new_err(format!(
        "the tensor that __dlpack__ gave has {what}; its library is at fault"
    ))
}

fn contiguous(shape: &[u64]) -> Option<Vec<i64>> {
    let mut strides = vec![1; shape.len()];
    let mut stride = 1i64;
    for (k, &length) in shape.iter().enumerate().rev() {
        strides[k] = stride;
        stride = stride.checked_mul(i64::try_from(length.max(1)).ok()?)?;
    }
    Some(strides)
}

fn dtype(of: ElementType) -> PyResult<DType> {
    Ok(match (of.code, of.bits, of.lanes) {
        (0, 8, 1) => DType::I8,
        (0, 16, 1) => DType::I16,
        (0, 32, 1) => DType::I32,
        (0, 64, 1) => DType::I64,
        (1, 8, 1) => DType::U8,
        (1, 16, 1) => DType::U16,
        (1, 32, 1) => DType::U32,
        (1, 64, 1) => DType::U64,
        (2, 16, 1) => DType::F16,
        (2, 32, 1) => DType::F32,
        (2, 64, 1) => DType::F64,
        (4, 16, 1) => DType::BF16,
        (5, 64, 1) => DType::Complex64,
        (5, 128, 1) => DType::Complex128,
        (6, 8, 1) => DType::Bool,
        (code, bits, lanes) => {
            return Err(PyTypeError::new_err(format!(
                "elements of DLPack code {code}, {bits} bits and {lanes} lanes have no reduction here; convert them to float32"
            )));
        }
    })
}
