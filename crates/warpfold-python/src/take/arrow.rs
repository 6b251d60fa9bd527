//! The Arrow C data interface: columns of pyarrow, Polars, pandas and others, in chunks, each with its validity.

use std::ffi::{CStr, c_char, c_void};
use std::ptr;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use pyo3::{ffi, intern};
use warpfold_engine::HostArray;
use warpfold_num::DType;

use super::{Home, Input};

#[repr(C)]
struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    private: *mut c_void,
}

#[repr(C)]
struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *const *const c_void,
    children: *mut *mut Array,
    dictionary: *mut Array,
    release: Option<unsafe extern "C" fn(*mut Array)>,
    private: *mut c_void,
}

#[repr(C)]
struct Stream {
    get_schema: Option<unsafe extern "C" fn(*mut Stream, *mut Schema) -> i32>,
    get_next: Option<unsafe extern "C" fn(*mut Stream, *mut Array) -> i32>,
    get_last_error: Option<unsafe extern "C" fn(*mut Stream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Stream)>,
    private: *mut c_void,
}

/// A structure of the interface that was moved out of its capsule, or filled for us.
struct Owned<T: Release>(Box<T>);

/// What ends the life of a structure.
trait Release {
    /// One that holds nothing, to be filled.
    fn empty() -> Self;
    /// Whether it holds nothing.
    fn is_released(&self) -> bool;
    /// Gives back what it holds.
    fn release(&mut self);
}

macro_rules! release {
    ($($ty:ident { $($field:ident: $value:expr),+ })+) => {$(
        impl Release for $ty {
            fn empty() -> Self {
                $ty { $($field: $value,)+ release: None, private: ptr::null_mut() }
            }

            fn is_released(&self) -> bool {
                self.release.is_none()
            }

            fn release(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: a structure with a release callback holds something, which is ours since we moved it or had it filled; the
                    // callback sets itself to none, so that it runs once.
                    unsafe { release(self) }
                }
            }
        }
    )+};
}
release! {
    Schema {
        format: ptr::null(), name: ptr::null(), metadata: ptr::null(), flags: 0, n_children: 0,
        children: ptr::null_mut(), dictionary: ptr::null_mut()
    }
    Array {
        length: 0, null_count: 0, offset: 0, n_buffers: 0, n_children: 0, buffers: ptr::null(),
        children: ptr::null_mut(), dictionary: ptr::null_mut()
    }
    Stream { get_schema: None, get_next: None, get_last_error: None }
}

impl<T: Release> Drop for Owned<T> {
    fn drop(&mut self) {
        self.0.release();
    }
}

impl<T: Release> Owned<T> {
    fn empty() -> Self {
        Owned(Box::new(T::empty()))
    }

    /// Moves a structure out of a capsule.
    fn of(capsule: &Bound<'_, PyAny>, name: &CStr) -> PyResult<Self> {
        // SAFETY: the object is alive; whatever it is, this looks whether it is a capsule of that name.
        let pointer = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), name.as_ptr()) };
        if pointer.is_null() {
            return Err(PyErr::fetch(capsule.py()));
        }
        // SAFETY: a capsule of that name holds such a structure. To move it is to copy it and to leave one that was released; the box and
        // the capsule then each own what they say.
        let moved = unsafe { Owned(Box::new(ptr::replace(pointer.cast::<T>(), T::empty()))) };
        match moved.0.is_released() {
            true => {
                Err(PyValueError::new_err("the Arrow capsule was taken before; ask for another"))
            }
            false => Ok(moved),
        }
    }
}

/// How elements lie in the memory of a column.
#[derive(Clone, Copy)]
enum ElementLayout {
    /// As numbers, one after another.
    Numbers(DType),
    /// As bits.
    Bits,
}

/// Part of a column: elements, and which of them are there.
pub(crate) struct Chunk {
    array: Owned<Array>,
    kind: ElementLayout,
}

// SAFETY: an array of Arrow is never written to once it was exported, and any thread may read or release it.
unsafe impl Send for Chunk {}
// SAFETY: as above.
unsafe impl Sync for Chunk {}

/// A column, all of its chunks.
pub(crate) struct Column {
    pub(crate) dtype: DType,
    pub(crate) chunks: Vec<Chunk>,
}

/// The column of an object, if it is one.
pub(crate) fn column(x: &Bound<'_, PyAny>) -> PyResult<Option<Column>> {
    let py = x.py();
    let class = x.get_type();
    if class.hasattr(intern!(py, "__arrow_c_stream__"))? {
        let capsule = x.call_method0(intern!(py, "__arrow_c_stream__"))?;
        return read(x, Owned::of(&capsule, c"arrow_array_stream")?).map(Some);
    }
    if class.hasattr(intern!(py, "__arrow_c_array__"))? {
        let both = x.call_method0(intern!(py, "__arrow_c_array__"))?;
        let both = both.cast::<PyTuple>()?;
        let schema = Owned::<Schema>::of(&both.get_item(0)?, c"arrow_schema")?;
        let array = Owned::<Array>::of(&both.get_item(1)?, c"arrow_array")?;
        let kind = kind(x, &schema.0)?;
        return Ok(Some(Column { dtype: dtype(kind), chunks: vec![Chunk::new(array, kind)?] }));
    }
    Ok(None)
}

/// Reads a stream to its end: it lends what is in memory already.
fn read(x: &Bound<'_, PyAny>, mut stream: Owned<Stream>) -> PyResult<Column> {
    let failed = |stream: &mut Owned<Stream>| {
        let text = stream.0.get_last_error.map(|last| {
            // SAFETY: the stream is open, and so are its callbacks; the text, if there is one, ends with a zero and is copied before the next call.
            unsafe {
                let text = last(&mut *stream.0);
                if text.is_null() {
                    String::new()
                } else {
                    CStr::from_ptr(text).to_string_lossy().into_owned()
                }
            }
        });
        PyValueError::new_err(format!("the Arrow stream failed: {}", text.unwrap_or_default()))
    };
    let (Some(get_schema), Some(get_next)) = (stream.0.get_schema, stream.0.get_next) else {
        return Err(PyValueError::new_err("the Arrow stream was read before; ask for another"));
    };
    let mut schema = Owned::<Schema>::empty();
    // SAFETY: the stream is open, and the schema is one to be filled.
    if unsafe { get_schema(&mut *stream.0, &mut *schema.0) } != 0 {
        return Err(failed(&mut stream));
    }
    let kind = kind(x, &schema.0)?;
    let mut chunks = Vec::new();
    loop {
        let mut array = Owned::<Array>::empty();
        // SAFETY: as above; an array that stays released is the end.
        if unsafe { get_next(&mut *stream.0, &mut *array.0) } != 0 {
            return Err(failed(&mut stream));
        }
        if array.0.release.is_none() {
            return Ok(Column { dtype: dtype(kind), chunks });
        }
        chunks.push(Chunk::new(array, kind)?);
    }
}

const fn dtype(kind: ElementLayout) -> DType {
    match kind {
        ElementLayout::Numbers(dtype) => dtype,
        ElementLayout::Bits => DType::Bool,
    }
}

fn kind(x: &Bound<'_, PyAny>, schema: &Schema) -> PyResult<ElementLayout> {
    let format = match schema.format.is_null() {
        true => &[][..],
        // SAFETY: a schema that is not released has a format, which ends with a zero and lives as long.
        false => unsafe { CStr::from_ptr(schema.format) }.to_bytes(),
    };
    let remedy = match format {
        _ if !schema.dictionary.is_null() => {
            "this is a dictionary (a categorical); decode it, or take its codes"
        }
        b"b" => return Ok(ElementLayout::Bits),
        b"c" => return Ok(ElementLayout::Numbers(DType::I8)),
        b"C" => return Ok(ElementLayout::Numbers(DType::U8)),
        b"s" => return Ok(ElementLayout::Numbers(DType::I16)),
        b"S" => return Ok(ElementLayout::Numbers(DType::U16)),
        b"i" => return Ok(ElementLayout::Numbers(DType::I32)),
        b"I" => return Ok(ElementLayout::Numbers(DType::U32)),
        b"l" => return Ok(ElementLayout::Numbers(DType::I64)),
        b"L" => return Ok(ElementLayout::Numbers(DType::U64)),
        b"e" => return Ok(ElementLayout::Numbers(DType::F16)),
        b"f" => return Ok(ElementLayout::Numbers(DType::F32)),
        b"g" => return Ok(ElementLayout::Numbers(DType::F64)),
        b"+s" => "this is a table; take one column",
        [b't', ..] => "these are times; cast them to int64",
        [b'd', b':', ..] => "these are decimals; cast them to float64",
        b"u" | b"U" | b"vu" => "these are strings; cast them to numbers",
        b"n" => "there are nothing but nulls, of no type; cast them to float64",
        _ => "cast them to numbers",
    };
    let (name, format) =
        (x.get_type().fully_qualified_name()?.to_string(), String::from_utf8_lossy(format));
    Err(PyTypeError::new_err(format!(
        "elements of {name} of Arrow format {format:?} have no reduction here: {remedy}"
    )))
}

impl Chunk {
    fn new(array: Owned<Array>, kind: ElementLayout) -> PyResult<Self> {
        let is_array = array.0.n_buffers == 2
            && array.0.length >= 0
            && array.0.offset >= 0
            && !array.0.buffers.is_null();
        let chunk = Chunk { array, kind };
        if !is_array || chunk.len() > 0 && chunk.buffer(1).is_null() {
            return Err(PyValueError::new_err(
                "an Arrow array of numbers has two buffers; its library is at fault",
            ));
        }
        Ok(chunk)
    }

    /// Elements, those that are null among them.
    pub(crate) fn len(&self) -> usize {
        self.array.0.length as usize
    }

    fn buffer(&self, k: usize) -> *const u8 {
        // SAFETY: `new` saw that there are two buffers.
        unsafe { *self.array.0.buffers.add(k) }.cast()
    }

    /// Whether a bit of a buffer is set; it is one of an element.
    fn bit(&self, buffer: usize, element: usize) -> bool {
        let at = self.array.0.offset as usize + element;
        // SAFETY: bitmaps have a bit for each element from the beginning of the buffer, those before the offset among them.
        let byte = unsafe { *self.buffer(buffer).add(at / 8) };
        byte >> (at % 8) & 1 == 1
    }

    fn has_nulls(&self) -> bool {
        self.array.0.null_count != 0 && !self.buffer(0).is_null()
    }

    /// The elements where they lie, if all of them are there.
    pub(crate) fn input(&self) -> PyResult<Option<Input>> {
        match self.kind {
            ElementLayout::Numbers(dtype) if !self.has_nulls() => {
                let address =
                    self.buffer(1).wrapping_add(self.array.0.offset as usize * dtype.size());
                Input::part(dtype, address, self.len() as u64, Home::Python).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Calls with blocks of the elements that are not null, in their order: a block is memory of ours, of a fixed size.
    pub(crate) fn blocks<E>(
        &self,
        mut take: impl FnMut(HostArray<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let dtype = dtype(self.kind);
        let size = dtype.size();
        // Aligned for every element type.
        let mut block = vec![0u128; BLOCK * size / 16];
        let mut next = 0;
        while next < self.len() {
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut block);
            let (mut full, has_nulls) = (0, self.has_nulls());
            while next < self.len() && full < BLOCK {
                if !has_nulls || self.bit(0, next) {
                    match self.kind {
                        ElementLayout::Bits => bytes[full] = self.bit(1, next).into(),
                        ElementLayout::Numbers(_) => {
                            let at = (self.array.0.offset as usize + next) * size;
                            // SAFETY: the data buffer has so many bytes for each element from its beginning, and the block has room for one more.
                            unsafe {
                                let from = self.buffer(1).add(at);
                                ptr::copy_nonoverlapping(
                                    from,
                                    bytes.as_mut_ptr().add(full * size),
                                    size,
                                );
                            }
                        }
                    }
                    full += 1;
                }
                next += 1;
            }
            let read_as = if dtype == DType::Bool { DType::U8 } else { dtype };
            // SAFETY: the block is aligned to 16 bytes, and `full` elements of it were written just now; bools are read as bytes.
            take(unsafe { HostArray::from_raw(read_as, block.as_ptr().cast(), full) })?;
        }
        Ok(())
    }
}

/// Elements of a block: it stays in the second level of cache.
const BLOCK: usize = 1 << 15;

impl Column {
    /// The elements where they lie, of a column in one chunk without nulls.
    pub(crate) fn into_input(mut self) -> PyResult<Input> {
        let refused = |remedy: &str| {
            PyValueError::new_err(format!(
                "here a column must be one chunk of memory without nulls; {remedy}"
            ))
        };
        match (self.chunks.pop(), self.chunks.len()) {
            (Some(chunk), 0) => match chunk.input()? {
                Some(input) => Ok(input.held(chunk)),
                None if matches!(chunk.kind, ElementLayout::Bits) => {
                    Err(refused("bools are bits in it: cast them to uint8"))
                }
                None => Err(refused("fill or drop the nulls")),
            },
            (None, _) => Input::part(self.dtype, ptr::null(), 0, Home::Python),
            (Some(_), _) => {
                Err(refused("combine the chunks: combine_chunks() in pyarrow, rechunk() in Polars"))
            }
        }
    }

    /// Whether there are no elements, null or not.
    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.iter().all(|chunk| chunk.len() == 0)
    }

    /// Whether an element is null.
    pub(crate) fn has_nulls(&self) -> bool {
        self.chunks.iter().any(Chunk::has_nulls)
    }
}
