//! Memory for arrays: whole pages, huge ones where the system grants them, as NumPy's large arrays have.

use std::io;

use memmap2::MmapMut;
use warpfold::Element;

/// Anonymous pages that hold an array of any element type.
#[derive(Debug)]
pub struct Buffer(MmapMut);

impl Buffer {
    /// Maps so many bytes, zeroed; nothing is touched yet.
    ///
    /// # Errors
    /// If the system has no such memory.
    pub fn new(bytes: u64) -> io::Result<Self> {
        let length = usize::try_from(bytes).map_err(io::Error::other)?;
        let map = MmapMut::map_anon(length.max(1))?;
        // Huge pages are a wish: where the system knows none, 4 KiB pages serve, for all contestants alike.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Ok(Buffer(map))
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The bytes, to be filled.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }

    /// The whole elements that lie in the buffer.
    ///
    /// # Panics
    /// If the bytes are no values of the type, as only bools can fail to be.
    pub fn as_slice<T: Element>(&self) -> &[T] {
        let whole = self.0.len() / size_of::<T>() * size_of::<T>();
        bytemuck::checked::cast_slice(&self.0[..whole])
    }

    /// The bytes as words, for the read ceiling.
    pub fn words(&self) -> &[u64] {
        bytemuck::cast_slice(&self.0[..self.0.len() / 8 * 8])
    }
}
