//! Arrays in a machine's memory: owned, borrowed, or another library's.

use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

use super::machine::{Machine, Memory};
use crate::element::Element;
use crate::{Column, DType, Error, Result, with_element};

/// An array in device memory.
pub struct Buffer<M: Machine, T> {
    memory: M::Memory,
    len: usize,
    element: PhantomData<T>,
}

impl<M: Machine, T: Element> Buffer<M, T> {
    pub(crate) fn new(memory: M::Memory, len: usize) -> Self {
        Buffer { memory, len, element: PhantomData }
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All of it, to be reduced.
    pub fn view(&self) -> View<'_, M, T> {
        View { address: self.memory.address(), len: self.len, ready: None, memory: PhantomData }
    }

    /// A part of it, to be reduced; any element may be its first.
    ///
    /// # Panics
    /// If the range reaches beyond the end, as slices do.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> View<'_, M, T> {
        self.view().slice(range)
    }

    /// Copies it to the host.
    ///
    /// # Errors
    /// [`Error::Device`]; also if the device holds bytes that are no value of the type (a `bool` of 2).
    pub fn download(&self) -> Result<Vec<T>> {
        elements_of(&self.memory, self.len)
    }

    /// Copies a slice to it, from element `first` on.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Panics
    /// If the slice reaches beyond the end.
    pub fn write(&mut self, first: usize, x: &[T]) -> Result<()> {
        assert!(first + x.len() <= self.len, "{} elements at {first} of {}", x.len(), self.len);
        self.memory.write(first * size_of::<T>(), bytemuck::cast_slice(x))
    }

    /// Its address on the device.
    pub fn address(&self) -> u64 {
        self.memory.address()
    }
}

/// Copies so many elements to the host.
fn elements_of<T: Element>(memory: &impl Memory, len: usize) -> Result<Vec<T>> {
    let mut bytes = vec![0u8; len * size_of::<T>()];
    memory.read(&mut bytes)?;
    elements(&bytes)
}

/// Bytes that were copied to the host, as elements.
pub(crate) fn elements<T: Element>(bytes: &[u8]) -> Result<Vec<T>> {
    let element = |bytes| bytemuck::checked::try_pod_read_unaligned(bytes);
    bytes.chunks_exact(size_of::<T>()).map(element).collect::<Result<_, _>>().map_err(|error| {
        Error::Device {
            asked: format!("downloading {} {}", bytes.len() / size_of::<T>(), T::DTYPE),
            obstacle: error.to_string(),
            remedy: "write only values of the element type to the buffer",
        }
    })
}

/// Copies so many elements of a type that is known at run time to the host.
pub(super) fn column_of(memory: &impl Memory, dtype: DType, len: usize) -> Result<Column> {
    with_element!(dtype, T => Ok(Column::of(elements_of::<T>(memory, len)?)))
}

/// A borrowed array in device memory.
pub struct View<'a, M: Machine, T> {
    pub(crate) address: u64,
    pub(crate) len: usize,
    /// The stream whose work so far must be done before the array is read.
    pub(crate) ready: Option<&'a M::Stream>,
    pub(crate) memory: PhantomData<&'a [T]>,
}

impl<M: Machine, T> Clone for View<'_, M, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Machine, T> Copy for View<'_, M, T> {}

impl<'a, M: Machine, T: Element> View<'a, M, T> {
    /// An array by its address.
    ///
    /// # Safety
    /// `address` must be that of `len` initialised elements, aligned to their size, in memory that the GPU of the reduction can
    /// read; nothing may write to them or free them while `'a` lasts, and what wrote them must be done.
    pub unsafe fn from_raw(address: u64, len: usize) -> Self {
        View { address, len, ready: None, memory: PhantomData }
    }

    /// The same, to be read once what a stream has been given so far is done.
    #[must_use]
    pub fn after(self, stream: &'a M::Stream) -> Self {
        View { ready: Some(stream), ..self }
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A part of it.
    ///
    /// # Panics
    /// If the range reaches beyond the end, as slices do.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> View<'a, M, T> {
        let start = match range.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&before) => before + 1,
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(&last) => last + 1,
            Bound::Excluded(&end) => end,
            Bound::Unbounded => self.len,
        };
        assert!(start <= end && end <= self.len, "{start}..{end} of {} elements", self.len);
        let address = self.address + (start * size_of::<T>()) as u64;
        View { address, len: end - start, ..*self }
    }

    /// The same without its type.
    pub(crate) fn untyped(&self) -> Untyped<'a, M> {
        let View { address, len, ready, .. } = *self;
        Untyped { address, len, ready, dtype: T::DTYPE }
    }
}

/// A borrowed array in device memory whose type is known at run time: what does not depend on types is compiled once.
pub(crate) struct Untyped<'a, M: Machine> {
    pub(crate) address: u64,
    pub(crate) len: usize,
    pub(crate) ready: Option<&'a M::Stream>,
    pub(crate) dtype: DType,
}

impl<M: Machine> Clone for Untyped<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Machine> Copy for Untyped<'_, M> {}

impl<'a, M: Machine, T: Element> From<&'a Buffer<M, T>> for View<'a, M, T> {
    fn from(buffer: &'a Buffer<M, T>) -> Self {
        buffer.view()
    }
}

impl<'a, M: Machine, T: Element> From<&View<'a, M, T>> for View<'a, M, T> {
    fn from(view: &View<'a, M, T>) -> Self {
        *view
    }
}
