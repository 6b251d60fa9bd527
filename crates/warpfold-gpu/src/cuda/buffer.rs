//! Arrays in a GPU's memory, cudarc's among them.

use std::marker::PhantomData;

use cudarc::driver::{CudaSlice, CudaView, DevicePtr, DeviceSlice};

use super::StreamHandle;
use super::gpu::Gpu;
use crate::DType;
use crate::element::Element;
use crate::kernel::{self, AnyView, Home, Ready};

/// An array in a GPU's memory.
pub type Buffer<T> = kernel::Buffer<Gpu, T>;

/// A borrowed array in a GPU's memory.
pub type View<'a, T> = kernel::View<'a, Gpu, T>;

impl<'a, T: Element> View<'a, T> {
    /// The same, to be read once what a stream has been given so far is done.
    #[must_use]
    pub fn after(self, stream: &'a StreamHandle) -> Self {
        View::new(self.untyped().after(stream))
    }
}

impl<'a, T: Element> From<&'a CudaSlice<T>> for View<'a, T> {
    fn from(slice: &'a CudaSlice<T>) -> Self {
        let (address, _recorded) = slice.device_ptr(slice.stream());
        View::new(view(T::DTYPE, address, slice.len(), slice.stream()))
    }
}

impl<'a, T: Element> From<&'a CudaView<'a, T>> for View<'a, T> {
    fn from(part: &'a CudaView<'a, T>) -> Self {
        let (address, _recorded) = part.device_ptr(part.stream());
        View::new(view(T::DTYPE, address, part.len(), part.stream()))
    }
}

/// An array of cudarc's, to be read after the work of its stream.
fn view(dtype: DType, address: u64, len: usize, stream: &StreamHandle) -> AnyView<'_> {
    let home = Some(Home::Cuda(stream.context().ordinal()));
    AnyView { address, len, dtype, home, ready: Ready::after(stream), memory: PhantomData }
}
