//! Allocations in the simulator's memory.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use warpfold_simt as machine;

use crate::home::Home;
use crate::{Error, Result};

/// The memory of one device, shared by its arrays.
pub(crate) type Shared = Arc<Mutex<machine::Memory>>;

/// Locks what clones share. A thread that panicked while it held the lock left bytes in arrays, which is where they belong.
pub(crate) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An allocation, freed when dropped; a kernel that touches it afterwards faults.
#[derive(Debug)]
pub struct Memory {
    shared: Shared,
    buffer: machine::Buffer,
}

impl Memory {
    pub(crate) fn copy_of(shared: &Shared, bytes: &[u8]) -> Memory {
        let buffer = lock(shared).upload_bytes(bytes);
        Memory { shared: shared.clone(), buffer }
    }

    /// Bytes that nobody wrote but the first `zeros`, which are zero.
    pub(crate) fn unwritten(shared: &Shared, bytes: u64, zeros: usize) -> Result<Memory> {
        let buffer = lock(shared).allocate(bytes);
        let mut memory = Memory { shared: shared.clone(), buffer };
        memory.write(0, &vec![0; zeros])?;
        Ok(memory)
    }

    /// Where it lies: whoever shares it has the same address of what is shared, and that lasts as long as one of them.
    pub(crate) fn home(&self) -> Home {
        home(&self.shared)
    }

    pub(crate) fn address(&self) -> u64 {
        self.buffer.address()
    }

    pub(crate) fn read(&self, bytes: &mut [u8]) -> Result<()> {
        let found = lock(&self.shared).read_bytes(self.buffer, 0, bytes.len() as u64);
        bytes.copy_from_slice(&found.map_err(|e| failed("reading an array", &e))?);
        Ok(())
    }

    pub(crate) fn write(&mut self, first: usize, bytes: &[u8]) -> Result<()> {
        let written = lock(&self.shared).write_bytes(self.buffer, first as u64, bytes);
        written.map_err(|e| failed("writing an array", &e))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        lock(&self.shared).free(self.buffer);
    }
}

/// The home of arrays in shared memory.
pub(crate) fn home(shared: &Shared) -> Home {
    Home::Simt(Arc::as_ptr(shared).addr())
}

/// So many bytes from an address on.
pub(crate) fn read_at(shared: &Shared, address: u64, bytes: usize) -> Result<Vec<u8>> {
    let found = lock(shared).read_at(address, bytes as u64);
    found.map_err(|e| failed("reading an array", &e))
}

fn failed(requested: &str, error: &machine::BufferError) -> Error {
    Error::Device {
        requested: format!("{requested} in the simulator's memory"),
        obstacle: error.to_string(),
        remedy: "report it: arrays are allocated as large as they are written",
    }
}
