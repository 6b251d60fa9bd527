//! XLA's foreign function interface (`xla/ffi/api/c_api.h`, versions 0.1 to 0.3) in Rust's terms, as far as handlers of reductions need it.

use std::ffi::{CStr, CString, c_char, c_void};
use std::{ptr, slice};

use warpfold_num::DType;

/// The version that is asked for: the oldest whose layouts these are.
const VERSION: [i32; 2] = [0, 1];

#[repr(C)]
struct Extension {
    size: usize,
    kind: i32,
    next: *mut Extension,
}

/// The kind of extension that asks which version a handler was made for.
const METADATA: i32 = 1;

#[repr(C)]
struct Metadata {
    size: usize,
    version_size: usize,
    version_extension: *mut Extension,
    version: [i32; 2],
}

#[repr(C)]
struct MetadataExtension {
    base: Extension,
    metadata: *mut Metadata,
}

#[repr(C)]
struct RawBuffer {
    size: usize,
    extension: *mut Extension,
    dtype: i32,
    data: *mut c_void,
    rank: i64,
    dims: *const i64,
}

/// Operands, or results.
#[repr(C)]
struct Buffers {
    size: usize,
    extension: *mut Extension,
    count: i64,
    kinds: *const i32,
    buffers: *const *const RawBuffer,
}

#[repr(C)]
struct Span {
    start: *const c_char,
    len: usize,
}

#[repr(C)]
struct Scalar {
    dtype: i32,
    value: *const c_void,
}

#[repr(C)]
struct Array {
    dtype: i32,
    len: usize,
    data: *const c_void,
}

#[repr(C)]
struct Attributes {
    size: usize,
    extension: *mut Extension,
    count: i64,
    kinds: *const i32,
    names: *const *const Span,
    values: *const *const c_void,
}

const ARRAY: i32 = 1;
const SCALAR: i32 = 3;
const STRING: i32 = 4;
const S64: i32 = 5;
const F64: i32 = 12;

/// The stage in which a handler does its work.
const EXECUTE: i32 = 3;

/// A call, as XLA lays it out.
#[repr(C)]
pub(crate) struct RawFrame {
    size: usize,
    extension: *mut Extension,
    api: *const Api,
    context: *mut c_void,
    stage: i32,
    operands: Buffers,
    results: Buffers,
    attributes: Attributes,
}

#[repr(C)]
struct NewError {
    size: usize,
    extension: *mut Extension,
    message: *const c_char,
    code: i32,
}

#[repr(C)]
struct Api {
    size: usize,
    extension: *mut Extension,
    version_size: usize,
    version_extension: *mut Extension,
    version: [i32; 2],
    internal: *const c_void,
    new_error: unsafe extern "C" fn(*mut NewError) -> *mut c_void,
    error_message: *const c_void,
    free_error: unsafe extern "C" fn(*mut ErrorOf),
    register: *const c_void,
    stream: unsafe extern "C" fn(*mut StreamOf) -> *mut c_void,
    /// Of types, contexts, states, memory, threads, futures and runs.
    others: [*const c_void; 12],
    /// Since version 0.3.
    ordinal: unsafe extern "C" fn(*mut OrdinalOf) -> *mut c_void,
}

#[repr(C)]
struct ErrorOf {
    size: usize,
    extension: *mut Extension,
    error: *mut c_void,
}

#[repr(C)]
struct StreamOf {
    size: usize,
    extension: *mut Extension,
    context: *mut c_void,
    stream: *mut c_void,
}

#[repr(C)]
struct OrdinalOf {
    size: usize,
    extension: *mut Extension,
    context: *mut c_void,
    ordinal: i32,
}

/// What a failure is, for XLA.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Code {
    /// What was asked for cannot be done.
    InvalidArgument = 3,
    /// A result does not fit its type.
    OutOfRange = 11,
    /// A fault of this library.
    Internal = 13,
}

/// Why a call gives no results.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    pub(crate) message: String,
}

/// An array that XLA holds during a call.
#[derive(Debug, Clone)]
pub(crate) struct XlaArray {
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<u64>,
    pub(crate) address: *mut u8,
}

impl XlaArray {
    /// Its bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.shape.iter().product::<u64>() as usize * self.dtype.size()
    }
}

/// A call that is to be executed.
pub(crate) struct Frame<'a>(&'a RawFrame);

fn invalid(message: String) -> Failure {
    Failure { code: Code::InvalidArgument, message }
}

impl Frame<'_> {
    /// Hands a call to a function, and its failure to XLA; answers which version this is made for, where that is asked.
    ///
    /// # Safety
    /// The frame must be one that XLA passes to a handler.
    pub(crate) unsafe fn handle(
        frame: *mut RawFrame,
        run: impl FnOnce(&Frame<'_>) -> Result<(), Failure>,
    ) -> *mut c_void {
        // SAFETY: XLA's frame lives, and nobody else writes to it, during the call.
        let raw = unsafe { &*frame };
        // SAFETY: by the interface an extension that says so is one of metadata, to which the version is written.
        unsafe {
            if let Some(extension) = raw.extension.as_ref()
                && extension.kind == METADATA
            {
                let xla_request: *mut MetadataExtension = raw.extension.cast();
                (*(*xla_request).metadata).version = VERSION;
                return ptr::null_mut();
            }
        }
        if raw.stage != EXECUTE {
            return ptr::null_mut();
        }
        let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(&Frame(raw))));
        let failed = match ran {
            Ok(Ok(())) => return ptr::null_mut(),
            Ok(Err(failed)) => failed,
            Err(_) => Failure { code: Code::Internal, message: "the reduction panicked".into() },
        };
        let message = CString::new(failed.message.replace('\0', " ")).unwrap_or_default();
        let mut error = NewError {
            size: size_of::<NewError>(),
            extension: ptr::null_mut(),
            message: message.as_ptr(),
            code: failed.code as i32,
        };
        // SAFETY: the table of functions is XLA's; the message is a string that lives until the call returns, which copies it.
        unsafe { ((*raw.api).new_error)(&mut error) }
    }

    fn buffer(buffers: &Buffers, at: usize) -> Result<XlaArray, Failure> {
        if at as i64 >= buffers.count {
            return Err(invalid(format!(
                "there are {} arrays, and one more is needed",
                buffers.count
            )));
        }
        // SAFETY: by the interface there are as many pointers to buffers as it counts, each with as many lengths as its rank.
        unsafe {
            let buffer = &**buffers.buffers.add(at);
            let rank = usize::try_from(buffer.rank).unwrap_or(0);
            let dims = if rank == 0 { &[][..] } else { slice::from_raw_parts(buffer.dims, rank) };
            let shape = dims.iter().map(|&length| length.max(0) as u64).collect();
            Ok(XlaArray { dtype: dtype(buffer.dtype)?, shape, address: buffer.data.cast() })
        }
    }

    /// The stream of a GPU that the work goes to, and the GPU's number.
    pub(crate) fn stream(&self) -> Result<(usize, i32), Failure> {
        let (context, extension) = (self.0.context, ptr::null_mut());
        let mut of =
            StreamOf { size: size_of::<StreamOf>(), extension, context, stream: ptr::null_mut() };
        let mut on = OrdinalOf { size: size_of::<OrdinalOf>(), extension, context, ordinal: 0 };
        // SAFETY: the functions are XLA's, of the frame's own context; the last one is looked for where the table is long enough to have it.
        unsafe {
            let api = self.0.api;
            self.succeeded(((*api).stream)(&mut of), "the stream")?;
            if (*api).size >= std::mem::offset_of!(Api, ordinal) + size_of::<usize>() {
                self.succeeded(((*api).ordinal)(&mut on), "the number of the GPU")?;
            } else if crate::cuda::_gpus().len() > 1 {
                let message = "this version of XLA does not say on which of several GPUs an array lies; update jaxlib".into();
                return Err(Failure { code: Code::InvalidArgument, message });
            }
        }
        Ok((of.stream.addr(), on.ordinal))
    }

    /// Whether a function of XLA's has given no error, which is freed.
    ///
    /// # Safety
    /// The error must be one that a function of the frame's table gave, or null.
    unsafe fn succeeded(&self, error: *mut c_void, what: &str) -> Result<(), Failure> {
        if error.is_null() {
            return Ok(());
        }
        let mut of = ErrorOf { size: size_of::<ErrorOf>(), extension: ptr::null_mut(), error };
        // SAFETY: as the caller promises.
        unsafe { ((*self.0.api).free_error)(&mut of) };
        Err(Failure { code: Code::Internal, message: format!("XLA does not tell {what}") })
    }

    /// An operand by its number.
    pub(crate) fn operand(&self, at: usize) -> Result<XlaArray, Failure> {
        Frame::buffer(&self.0.operands, at)
    }

    /// The result.
    pub(crate) fn result(&self) -> Result<XlaArray, Failure> {
        Frame::buffer(&self.0.results, 0)
    }

    /// An attribute of a kind.
    fn attribute(&self, name: &str, kind: i32) -> Result<*const c_void, Failure> {
        let attributes = &self.0.attributes;
        for at in 0..usize::try_from(attributes.count).unwrap_or(0) {
            // SAFETY: by the interface there are as many kinds, names and values as it counts; a name is a run of bytes.
            unsafe {
                let span = &**attributes.names.add(at);
                let bytes = slice::from_raw_parts(span.start.cast::<u8>(), span.len);
                if bytes == name.as_bytes() && *attributes.kinds.add(at) == kind {
                    return Ok(*attributes.values.add(at));
                }
            }
        }
        Err(invalid(format!("the call has no attribute {name} of its type; call warpfold.jax")))
    }

    /// A text.
    pub(crate) fn text(&self, name: &str) -> Result<&str, Failure> {
        // SAFETY: an attribute of this kind is a run of bytes that lives during the call.
        let bytes = unsafe {
            let span = &*self.attribute(name, STRING)?.cast::<Span>();
            if span.len == 0 {
                return Ok("");
            }
            slice::from_raw_parts(span.start.cast::<u8>(), span.len)
        };
        std::str::from_utf8(bytes).map_err(|_| invalid(format!("{name} is no UTF-8")))
    }

    /// A number of 64 bits.
    pub(crate) fn number(&self, name: &str) -> Result<f64, Failure> {
        // SAFETY: an attribute of this kind points to a value of the type that it states.
        unsafe {
            let scalar = &*self.attribute(name, SCALAR)?.cast::<Scalar>();
            match scalar.dtype {
                F64 => Ok(scalar.value.cast::<f64>().read_unaligned()),
                _ => Err(invalid(format!("{name} is no float64"))),
            }
        }
    }

    /// Whole numbers.
    pub(crate) fn integers(&self, name: &str) -> Result<Vec<i64>, Failure> {
        // SAFETY: an attribute of this kind has as many numbers of its type as it states.
        unsafe {
            let array = &*self.attribute(name, ARRAY)?.cast::<Array>();
            if array.dtype != S64 {
                return Err(invalid(format!("{name} are no int64")));
            }
            let numbers = array.data.cast::<i64>();
            Ok((0..array.len).map(|at| numbers.add(at).read_unaligned()).collect())
        }
    }
}

/// The element type of XLA's number for it.
fn dtype(number: i32) -> Result<DType, Failure> {
    Ok(match number {
        1 => DType::Bool,
        2 => DType::I8,
        3 => DType::I16,
        4 => DType::I32,
        5 => DType::I64,
        6 => DType::U8,
        7 => DType::U16,
        8 => DType::U32,
        9 => DType::U64,
        10 => DType::F16,
        11 => DType::F32,
        12 => DType::F64,
        15 => DType::Complex64,
        16 => DType::BF16,
        18 => DType::Complex128,
        other => {
            return Err(invalid(format!(
                "elements of XLA's type {other} have no reduction here; convert them to float32"
            )));
        }
    })
}

/// The name that JAX gives capsules of handlers: none.
pub(crate) const CAPSULE: Option<&CStr> = None;
