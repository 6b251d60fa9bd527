//! Arrays in a machine's memory: owned, borrowed, or another library's.

use std::marker::PhantomData;
use std::ops::RangeBounds;

use super::machine::Machine;
use crate::Result;
use crate::element::Element;
use crate::kernel::{AnyBuffer, AnyView};

/// An array in device memory.
#[repr(transparent)]
pub struct Buffer<M: Machine, T> {
    array: AnyBuffer,
    of: PhantomData<(M, T)>,
}

impl<M: Machine, T: Element> Buffer<M, T> {
    /// An array of the type.
    pub(crate) fn new(array: AnyBuffer) -> Self {
        assert_eq!(array.dtype(), T::DTYPE);
        Buffer { array, of: PhantomData }
    }

    /// A borrowed array of the type.
    pub(super) fn of(array: &AnyBuffer) -> &Self {
        assert_eq!(array.dtype(), T::DTYPE);
        // SAFETY: a buffer is an array and nothing else (`repr(transparent)`), and this one has the buffer's element type.
        unsafe { &*std::ptr::from_ref(array).cast() }
    }

    /// The same with its type inside.
    pub fn untyped(&self) -> &AnyBuffer {
        &self.array
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.array.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.array.is_empty()
    }

    /// All of it, to be reduced.
    pub fn view(&self) -> View<'_, M, T> {
        View::new(self.array.view())
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
    /// [`Error::Device`](crate::Error::Device); also if the device holds bytes that are no value of the type (a `bool` of 2).
    pub fn download(&self) -> Result<Vec<T>> {
        self.array.elements()
    }

    /// Copies a slice to it, from element `first` on.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    ///
    /// # Panics
    /// If the slice reaches beyond the end.
    pub fn write(&mut self, first: usize, x: &[T]) -> Result<()> {
        let len = self.len();
        assert!(first + x.len() <= len, "{} elements at {first} of {len}", x.len());
        self.array.memory_mut().write(first * size_of::<T>(), bytemuck::cast_slice(x))
    }

    /// Its address on the device.
    pub fn address(&self) -> u64 {
        self.array.address()
    }
}

impl<'a, M: Machine, T: Element> From<&'a Buffer<M, T>> for AnyView<'a> {
    fn from(buffer: &'a Buffer<M, T>) -> Self {
        buffer.array.view()
    }
}

impl<'a, M: Machine, T: Element> From<View<'a, M, T>> for AnyView<'a> {
    fn from(view: View<'a, M, T>) -> Self {
        view.untyped()
    }
}

/// A borrowed array in device memory.
pub struct View<'a, M: Machine, T> {
    array: AnyView<'a>,
    of: PhantomData<(M, &'a [T])>,
}

impl<M: Machine, T> Clone for View<'_, M, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Machine, T> Copy for View<'_, M, T> {}

impl<'a, M: Machine, T: Element> View<'a, M, T> {
    /// An array of the type.
    pub(crate) fn new(array: AnyView<'a>) -> Self {
        assert_eq!(array.dtype, T::DTYPE);
        View { array, of: PhantomData }
    }

    /// An array by its address.
    ///
    /// # Safety
    /// `address` must be that of `len` initialised elements, aligned to their size, in memory that the GPU of the reduction can
    /// read; nothing may write to them or free them while `'a` lasts, and what wrote them must be done.
    pub unsafe fn from_raw(address: u64, len: usize) -> Self {
        // SAFETY: as the caller promises.
        View::new(unsafe { AnyView::from_raw(T::DTYPE, address, len) })
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.array.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.array.is_empty()
    }

    /// A part of it.
    ///
    /// # Panics
    /// If the range reaches beyond the end, as slices do.
    #[must_use]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> View<'a, M, T> {
        View::new(self.array.slice(range))
    }

    /// The same with its type inside.
    pub fn untyped(&self) -> AnyView<'a> {
        self.array
    }
}

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
