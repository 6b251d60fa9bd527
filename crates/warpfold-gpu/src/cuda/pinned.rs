//! [`Pinned`]: page-locked host memory, from which the device copies while the host goes on.

use std::sync::Arc;

use cudarc::driver::result;
use rayon::prelude::*;

use crate::Result;
use crate::driver::{CudaContext, CudaStream, Memory, failed};

/// Bytes a thread copies at a time: one thread does not reach the speed of a fast link.
const SHARE: usize = 1 << 20;

/// Page-locked host memory of the program's own.
pub(super) struct Pinned {
    context: Arc<CudaContext>,
    start: *mut u8,
    bytes: usize,
}

// SAFETY: the memory belongs to this value alone; the device only reads it, in copies that its owner waits for.
unsafe impl Send for Pinned {}

impl Pinned {
    /// So many bytes, at least one, zeroed.
    pub(super) fn zeroed(context: &Arc<CudaContext>, bytes: usize) -> Result<Pinned> {
        assert!(bytes > 0, "the driver allocates no nothing");
        let requested = || format!("{bytes} bytes of page-locked host memory");
        context.bind_to_thread().map_err(|e| failed(e, requested))?;
        // SAFETY: the context is current, and the size is not zero.
        let start =
            unsafe { result::malloc_host(bytes, 0) }.map_err(|e| failed(e, requested))?.cast();
        let pinned = Pinned { context: context.clone(), start, bytes };
        // SAFETY: the range was just allocated.
        unsafe { pinned.start.write_bytes(0, bytes) };
        Ok(pinned)
    }

    /// Copies bytes to it, by several threads where they are many.
    ///
    /// # Panics
    /// If they reach beyond its end.
    pub(super) fn write(&mut self, first: usize, bytes: &[u8]) {
        // SAFETY: initialised when allocated; no copy to the device is in progress by the callers of `upload`, who wait.
        let all = unsafe { std::slice::from_raw_parts_mut(self.start, self.bytes) };
        let part = &mut all[first..first + bytes.len()];
        match bytes.len() {
            0..=SHARE => part.copy_from_slice(bytes),
            _ => part
                .par_chunks_mut(SHARE)
                .zip(bytes.par_chunks(SHARE))
                .for_each(|(part, bytes)| part.copy_from_slice(bytes)),
        }
    }

    /// Starts to copy `bytes` from `first` on to the same offset of device memory; returns before it is done.
    ///
    /// # Safety
    /// Neither memory may be written to or freed until the stream has come this far.
    ///
    /// # Panics
    /// If they reach beyond the end of either.
    pub(super) unsafe fn upload(
        &self,
        first: usize,
        bytes: usize,
        to: &Memory,
        stream: &CudaStream,
    ) -> Result<()> {
        assert!(first + bytes <= self.bytes && first + bytes <= to.bytes(), "what is copied fits");
        let requested = || format!("copying {bytes} bytes to the device");
        self.context.bind_to_thread().map_err(|e| failed(e, requested))?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: within the allocation, which is initialised; the caller lets it alone meanwhile.
        let part = unsafe { std::slice::from_raw_parts(self.start.add(first), bytes) };
        // SAFETY: both ranges have this size and live until the stream has come this far.
        unsafe { result::memcpy_htod_async(to.address() + first as u64, part, stream.cu_stream()) }
            .map_err(|e| failed(e, requested))
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: allocated by this value and freed once; the stream context that copied from it was dropped before, having waited.
            let _ = unsafe { result::free_host(self.start.cast()) };
        }
    }
}
