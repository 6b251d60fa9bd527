//! Arrays in a machine's memory whose element type is known at run time: [`AnyBuffer`], which owns one, and [`AnyView`], which borrows one.

use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

use super::executor::{Executor, Memory, Ready};
use crate::home::Home;
use crate::{Column, DType, Element, Error, Result, with_element};

/// An array in device memory: element type, length, and whose memory it is are in the value.
pub struct AnyBuffer {
    memory: Memory,
    dtype: DType,
    len: usize,
}

impl AnyBuffer {
    /// Memory that holds so many elements of a type.
    pub(crate) fn new(memory: Memory, dtype: DType, len: usize) -> Self {
        AnyBuffer { memory, dtype, len }
    }

    /// Copies elements, given as their bytes, to a machine.
    ///
    /// # Errors
    /// [`Error::Device`]: out of memory, with the sizes.
    ///
    /// # Panics
    /// If these are no whole elements.
    pub fn upload(machine: &dyn Executor, dtype: DType, bytes: &[u8]) -> Result<Self> {
        assert!(bytes.len().is_multiple_of(dtype.size()), "{} bytes of {dtype}", bytes.len());
        Ok(AnyBuffer::new(machine.copy_of(bytes)?, dtype, bytes.len() / dtype.size()))
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Its address on the device.
    pub fn address(&self) -> u64 {
        self.memory.address()
    }

    /// Whose memory it is.
    pub fn home(&self) -> Home {
        self.memory.home()
    }

    /// All of it, to be reduced.
    pub fn view(&self) -> AnyView<'_> {
        let (address, len, dtype) = (self.address(), self.len, self.dtype);
        let (home, memory) = (Some(self.memory.home()), PhantomData);
        AnyView { address, len, dtype, home, ready: Ready::NOW, memory }
    }

    /// Copies it to the host.
    ///
    /// # Errors
    /// [`Error::Device`]; also if the device holds bytes that are no value of the type (a `bool` of 2).
    pub fn column(&self) -> Result<Column> {
        column_of(&self.memory, self.dtype, self.len)
    }

    /// The same as elements of their type.
    pub(super) fn elements<T: Element>(&self) -> Result<Vec<T>> {
        debug_assert_eq!(self.dtype, T::DTYPE);
        elements_of(&self.memory, self.len)
    }

    pub(super) fn memory_mut(&mut self) -> &mut Memory {
        &mut self.memory
    }
}

/// A borrowed array in device memory.
#[derive(Clone, Copy)]
pub struct AnyView<'a> {
    pub(crate) address: u64,
    pub(crate) len: usize,
    pub(crate) dtype: DType,
    /// Whose memory it is, where that is known.
    pub(crate) home: Option<Home>,
    /// What must be done before the array is read.
    pub(crate) ready: Ready<'a>,
    pub(crate) memory: PhantomData<&'a [u8]>,
}

impl<'a> AnyView<'a> {
    /// An array by its address.
    ///
    /// # Safety
    /// `address` must be that of `len` initialised elements, aligned to their size, in memory that the machine of the reduction can
    /// read; nothing may write to them or free them while `'a` lasts, and what wrote them must be done.
    pub unsafe fn from_raw(dtype: DType, address: u64, len: usize) -> Self {
        AnyView { address, len, dtype, home: None, ready: Ready::NOW, memory: PhantomData }
    }

    /// The same, to be read once a stream has done what it was given so far.
    #[cfg(feature = "cuda")]
    #[must_use]
    pub fn after(self, stream: &'a crate::driver::StreamHandle) -> Self {
        AnyView { ready: Ready::after(stream), ..self }
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// A part of it.
    ///
    /// # Panics
    /// If the range reaches beyond the end, as slices do.
    #[must_use]
    pub fn slice(&self, range: impl RangeBounds<usize>) -> AnyView<'a> {
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
        let address = self.address + (start * self.dtype.size()) as u64;
        AnyView { address, len: end - start, ..*self }
    }

    /// Refuses an array that lies in another machine's memory.
    pub(crate) fn check(&self, machine: &dyn Executor) -> Result<()> {
        let here = machine.home();
        match self.home {
            Some(home) if home != here => Err(Error::Device {
                requested: format!("a reduction of {} {} by {here}", self.len, self.dtype),
                obstacle: match (home, here) {
                    (Home::Simt(_), Home::Simt(_)) => {
                        "they lie in the memory of another simulated device".into()
                    }
                    _ => format!("they lie in the memory of {home}"),
                },
                remedy: "upload them to the machine that is to reduce them",
            }),
            _ => Ok(()),
        }
    }
}

impl<'a> From<&'a AnyBuffer> for AnyView<'a> {
    fn from(buffer: &'a AnyBuffer) -> Self {
        buffer.view()
    }
}

/// Copies so many elements to the host.
fn elements_of<T: Element>(memory: &Memory, len: usize) -> Result<Vec<T>> {
    let mut bytes = vec![0u8; len * size_of::<T>()];
    memory.read(&mut bytes)?;
    elements(&bytes)
}

/// Bytes that were copied to the host, as elements.
pub(crate) fn elements<T: Element>(bytes: &[u8]) -> Result<Vec<T>> {
    let element = |bytes| bytemuck::checked::try_pod_read_unaligned(bytes);
    bytes.chunks_exact(size_of::<T>()).map(element).collect::<Result<_, _>>().map_err(|error| {
        Error::Device {
            requested: format!("downloading {} {}", bytes.len() / size_of::<T>(), T::DTYPE),
            obstacle: error.to_string(),
            remedy: "write only values of the element type to the buffer",
        }
    })
}

/// Copies so many elements of a type that is known at run time to the host.
pub(super) fn column_of(memory: &Memory, dtype: DType, len: usize) -> Result<Column> {
    with_element!(dtype, T => Ok(Column::of(elements_of::<T>(memory, len)?)))
}
