//! Arrays in a GPU's memory, cudarc's among them.

use std::marker::PhantomData;

use cudarc::driver::{CudaSlice, CudaView, DevicePtr, DeviceSlice};

use super::gpu::Gpu;
use crate::element::Element;
use crate::kernel;

/// An array in a GPU's memory.
pub type Buffer<T> = kernel::Buffer<Gpu, T>;

/// A borrowed array in a GPU's memory.
pub type View<'a, T> = kernel::View<'a, Gpu, T>;

impl<'a, T: Element> From<&'a CudaSlice<T>> for View<'a, T> {
    fn from(slice: &'a CudaSlice<T>) -> Self {
        let (address, _recorded) = slice.device_ptr(slice.stream());
        View { address, len: slice.len(), ready: Some(slice.stream()), memory: PhantomData }
    }
}

impl<'a, T: Element> From<&'a CudaView<'a, T>> for View<'a, T> {
    fn from(view: &'a CudaView<'a, T>) -> Self {
        let (address, _recorded) = view.device_ptr(view.stream());
        View { address, len: view.len(), ready: Some(view.stream()), memory: PhantomData }
    }
}
