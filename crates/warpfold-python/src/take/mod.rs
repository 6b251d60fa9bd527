//! Arrays of other libraries, where they lie: nothing is copied.
//!
//! ```text
//! NumPy            buffer protocol (fast path by the exact type)
//! torch, JAX, …    DLPack
//! Arrow, Polars    Arrow C data interface: chunks, each with its validity
//! ```

mod arrow;
mod blocks;
mod buffer;
mod device;
mod dlpack;
pub(crate) mod jax;
mod numpy;
mod pandas;
pub(crate) mod torch;
mod views;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use warpfold_engine::HostArray;
use warpfold_num::{DType, Error};
use warpfold_plan::shape::Layout;

use crate::errors::raised;

pub(crate) use arrow::{Column as Chunked, column};
pub(crate) use blocks::Pairs;
pub(crate) use buffer::Buffer;
use device::Gpu;
pub(crate) use device::OnGpu;
pub(crate) use numpy::numpy;
pub(crate) use views::{BLOCK, Block, Views, broadcast};

/// The library that results go back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Home {
    /// Scalars and arrays of NumPy.
    NumPy,
    /// Numbers of Python; arrays of NumPy.
    Python,
    /// Tensors of torch.
    Torch,
    /// Arrays in the memory of a GPU.
    Gpu(Gpu),
    /// Arrays of JAX, which may have numbers of 32 bits at most.
    Jax {
        /// Whether they have.
        is_narrow: bool,
    },
}

/// What keeps the memory of an array alive.
enum KeptAlive {
    /// A buffer.
    Buffer(#[allow(dead_code, reason = "it is held, not read")] Buffer),
    /// A tensor of DLPack.
    Tensor(#[allow(dead_code, reason = "it is held, not read")] dlpack::Tensor),
    /// A chunk of Arrow.
    Chunk(#[allow(dead_code, reason = "it is held, not read")] arrow::Chunk),
    /// An object of Python's.
    Object(#[allow(dead_code, reason = "it is held, not read")] Py<PyAny>),
    /// Whoever made this array of a part of theirs, and outlives it.
    Maker,
}

/// An array that is held while this lives.
pub(crate) struct Input {
    /// The element type.
    pub(crate) dtype: DType,
    /// The lengths of the axes.
    pub(crate) shape: Vec<u64>,
    /// Where its results go.
    pub(crate) home: Home,
    /// From one element to the next, in elements.
    strides: Vec<i64>,
    /// Where the element with all indices 0 lies.
    address: *const u8,
    #[allow(dead_code, reason = "it is held, not read")]
    kept_alive: KeptAlive,
}

/// A module, if the program has imported it so far that it has an attribute.
fn imported<'py>(py: Python<'py>, name: &str, attribute: &str) -> Option<Bound<'py, PyAny>> {
    static MODULES: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let modules =
        MODULES.get_or_try_init(py, || py.import("sys")?.getattr("modules").map(Bound::unbind));
    let module = modules.ok()?.bind(py).cast::<PyDict>().ok()?.get_item(name).ok()??;
    module.hasattr(attribute).ok()?.then_some(module)
}

/// An array, or a column in chunks.
pub(crate) enum Taken {
    /// An array as it lies.
    Array(Input),
    /// A column of Arrow.
    Column(Chunked),
    /// An array in the memory of a GPU.
    Gpu(OnGpu),
    /// An array of a library that follows what is computed of it.
    Followed(Followed),
}

/// The library that has to follow what is computed of an array: for a gradient, or as there are no elements yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Followed {
    /// A tensor that requires a gradient, or one of a transformation such as vmap.
    Torch,
    /// An array under `jit`, `grad` or `vmap`.
    Jax,
    /// An array of JAX on a GPU, whose streams are XLA's alone.
    JaxOnGpu,
}

impl Followed {
    /// The module with the reductions that the library follows.
    pub(crate) fn module(self) -> &'static str {
        match self {
            Followed::Torch => "warpfold.torch._gradients",
            Followed::Jax | Followed::JaxOnGpu => "warpfold.jax",
        }
    }

    /// The error of what has no such reductions.
    pub(crate) fn refused(self) -> PyErr {
        PyTypeError::new_err(match self {
            Followed::Torch => {
                "the tensor requires a gradient, which this function has none of; give x.detach(), or call under torch.no_grad()"
            }
            Followed::Jax => {
                "under jit, grad and vmap an array has no elements yet, and this function has no way there; call it outside of them, or take one of warpfold.jax"
            }
            Followed::JaxOnGpu => {
                "an array of JAX on a GPU is reduced by the functions of warpfold.jax, and this one is none of them; copy it to the host, as jax.device_get(x) does"
            }
        })
    }
}

impl Taken {
    /// The array; of a column, where it is one run of memory.
    pub(crate) fn into_input(self) -> PyResult<Input> {
        match self {
            Taken::Array(input) => Ok(input),
            Taken::Column(column) => column.into_input(),
            Taken::Followed(library) => Err(library.refused()),
            Taken::Gpu(_) => Err(PyTypeError::new_err(
                "arrays on GPUs take weights in expressions of whole arrays, as wf.mean('x', x=x, weights='w', w=w), and no initial; say that, or copy it to the host for this, as x.cpu() or x.get() does",
            )),
        }
    }
}

/// Takes an array, or a column, as it lies.
pub(crate) fn take_any(x: &Bound<'_, PyAny>) -> PyResult<Taken> {
    if numpy::is_ndarray(x) {
        return numpy::take(x).map(Taken::Array);
    }
    if let Some(taken) = torch::take(x) {
        return taken;
    }
    if let Some(taken) = jax::take(x) {
        return taken;
    }
    if let Some(taken) = device::take(x) {
        return taken.map(Taken::Gpu);
    }
    // SAFETY: the object is alive.
    if unsafe { pyo3::ffi::PyObject_CheckBuffer(x.as_ptr()) } != 0 {
        return of_buffer(Buffer::of(x, false)?, None, Home::Python).map(Taken::Array);
    }
    if let Some(array) = pandas::array(x) {
        return numpy::take(&array).map(Taken::Array);
    }
    if let Some(column) = column(x)? {
        return Ok(Taken::Column(column));
    }
    if dlpack::has(x) {
        return dlpack::take(x, Home::Python).map(Taken::Array);
    }
    Err(refused(x))
}

/// Takes an array as it lies.
pub(crate) fn take(x: &Bound<'_, PyAny>) -> PyResult<Input> {
    take_any(x)?.into_input()
}

/// An array of one axis, as one run of memory.
pub(crate) fn one_axis<'a>(what: &str, input: &'a Input) -> PyResult<HostArray<'a>> {
    if input.shape.len() != 1 {
        return Err(PyValueError::new_err(format!(
            "{what} must have one axis, and there are {}; give x.reshape(-1)",
            input.shape.len()
        )));
    }
    input.run(what)
}

/// The error of what is no array.
fn refused(x: &Bound<'_, PyAny>) -> PyErr {
    let name = x.get_type().fully_qualified_name();
    let name = name.map_or_else(|_| "?".to_owned(), |name| name.to_string());
    let remedy = if x.hasattr("__iter__").unwrap_or(false) {
        "convert it with numpy.asarray(x); nothing is copied silently"
    } else {
        "it has neither the buffer protocol nor DLPack nor the Arrow C data interface; give an array"
    };
    PyTypeError::new_err(format!("{name} is no array: {remedy}"))
}

/// The array in a buffer; of another type, where the caller knows better than the buffer's format.
fn of_buffer(buffer: Buffer, dtype: Option<DType>, home: Home) -> PyResult<Input> {
    let dtype = match dtype {
        Some(dtype) => dtype,
        None => buffer.dtype()?,
    };
    let size = dtype.size() as isize;
    let mut strides = Vec::with_capacity(buffer.strides().len());
    for (&stride, &length) in buffer.strides().iter().zip(buffer.shape()) {
        if stride % size != 0 && length > 1 {
            return Err(unaligned(dtype));
        }
        strides.push((stride / size) as i64);
    }
    let shape = buffer.shape().iter().map(|&length| length as u64).collect();
    let address = buffer.address();
    Input::new(dtype, shape, strides, address, home, KeptAlive::Buffer(buffer))
}

fn unaligned(dtype: DType) -> PyErr {
    let name = crate::names::name(dtype);
    PyTypeError::new_err(format!(
        "elements of {name} that are not aligned to their size cannot be read in place; copy them with x.copy()"
    ))
}

/// What the address of an element must be a multiple of.
fn alignment(dtype: DType) -> usize {
    if dtype.is_complex() { dtype.size() / 2 } else { dtype.size() }
}

impl Input {
    fn new(
        dtype: DType,
        shape: Vec<u64>,
        strides: Vec<i64>,
        address: *const u8,
        home: Home,
        kept_alive: KeptAlive,
    ) -> PyResult<Self> {
        let input = Input { dtype, shape, strides, address, home, kept_alive };
        if !address.addr().is_multiple_of(alignment(dtype)) && !input.is_empty() {
            return Err(unaligned(dtype));
        }
        Ok(input)
    }

    /// A part of an array that its maker holds: contiguous, in one axis.
    pub(crate) fn part(dtype: DType, address: *const u8, len: u64, home: Home) -> PyResult<Self> {
        Input::new(dtype, vec![len], vec![1], address, home, KeptAlive::Maker)
    }

    /// An array that its maker holds: contiguous, in C order.
    pub(crate) fn dense(
        dtype: DType,
        shape: Vec<u64>,
        address: *const u8,
        home: Home,
    ) -> PyResult<Self> {
        let mut strides = vec![1i64; shape.len()];
        for axis in (1..shape.len()).rev() {
            strides[axis - 1] = strides[axis].saturating_mul(shape[axis].max(1) as i64);
        }
        Input::new(dtype, shape, strides, address, home, KeptAlive::Maker)
    }

    /// One false bool, without axes.
    pub(crate) fn of_false() -> PyResult<Self> {
        static FALSE: u8 = 0;
        Input::new(DType::Bool, vec![], vec![], &raw const FALSE, Home::Python, KeptAlive::Maker)
    }

    /// The same, holding the chunk that it lies in.
    fn held(self, chunk: arrow::Chunk) -> Self {
        Input { kept_alive: KeptAlive::Chunk(chunk), ..self }
    }

    /// Whether there are no elements.
    pub(crate) fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }

    /// Elements.
    pub(crate) fn len(&self) -> u64 {
        let product = |n: u64, &length: &u64| n.saturating_mul(length);
        if self.is_empty() { 0 } else { self.shape.iter().fold(1, product) }
    }

    /// Bytes of the elements.
    pub(crate) fn bytes(&self) -> u64 {
        self.len().saturating_mul(self.dtype.size() as u64)
    }

    /// The type that the engine reads: bytes of a bool that are neither 0 nor 1 exist, and are no `bool` of Rust.
    pub(crate) fn read_as(&self) -> DType {
        if self.dtype == DType::Bool { DType::U8 } else { self.dtype }
    }

    /// Whether the elements are one run of memory, in C order or, where the order does not matter, in Fortran's.
    pub(crate) fn is_run(&self, any_order: bool) -> bool {
        let n = self.shape.len();
        let is_dense = |is_fortran: bool| {
            let mut next = 1;
            (0..n).all(|axis| {
                let axis = if is_fortran { axis } else { n - 1 - axis };
                let (length, stride) = (self.shape[axis] as i64, self.strides[axis]);
                let is_next = length == 1 || stride == next;
                next = next.saturating_mul(length);
                is_next
            })
        };
        self.is_empty() || is_dense(false) || any_order && is_dense(true)
    }

    /// The elements as one run of memory, if they are one.
    pub(crate) fn contiguous(&self, any_order: bool) -> Option<HostArray<'_>> {
        self.is_run(any_order).then(|| self.memory(self.address, self.len()))
    }

    /// The elements as one run of memory, or what to do.
    pub(crate) fn run(&self, what: &str) -> PyResult<HostArray<'_>> {
        self.contiguous(false).ok_or_else(|| {
            PyValueError::new_err(format!(
                "{what} must be contiguous, and has strides of {:?} elements; copy it with numpy.ascontiguousarray",
                self.strides
            ))
        })
    }

    /// The memory that the elements lie in, and how they lie there.
    pub(crate) fn layout(&self) -> PyResult<(HostArray<'_>, Layout)> {
        let (first, len, layout) = self.span()?;
        Ok((self.memory(first, len), layout))
    }

    /// The address of the memory that the elements lie in, how many elements it has room for, and how they lie there.
    pub(crate) fn span(&self) -> PyResult<(*const u8, u64, Layout)> {
        let (mut least, mut greatest) = (0i64, 0i64);
        if !self.is_empty() {
            for (&length, &stride) in self.shape.iter().zip(&self.strides) {
                let span = (length as i64 - 1).saturating_mul(stride);
                let end = if span < 0 { &mut least } else { &mut greatest };
                *end = end.saturating_add(span);
            }
        }
        let layout = Layout::strided(&self.shape, &self.strides, least.unsigned_abs());
        let layout = layout.map_err(|error: Error| raised(&error))?;
        let first = self.address.wrapping_offset(least as isize * self.dtype.size() as isize);
        let len = if self.is_empty() { 0 } else { (greatest - least) as u64 + 1 };
        Ok((first, len, layout))
    }

    /// Where the element with all indices 0 lies.
    pub(crate) fn address(&self) -> *const u8 {
        self.address
    }

    fn memory(&self, first: *const u8, len: u64) -> HostArray<'_> {
        // An exporter may give any address for no elements.
        let nothing = std::ptr::without_provenance(16);
        let first = if len == 0 { nothing } else { first };
        // SAFETY: the exporter vouches for these elements while it is held, which this borrows; `new` has looked at the alignment, and a
        // `bool` is read as a byte. Another thread of the program may write to them, as it may while NumPy reads them: see the manual.
        unsafe { HostArray::from_raw(self.read_as(), first, len as usize) }
    }
}
