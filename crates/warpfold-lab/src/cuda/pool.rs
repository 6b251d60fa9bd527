//! [`Pool`]: device memory many times the cache, in which arrays of any type and length lie one after another.

use warpfold::cuda::{Buffer, Gpu};
use warpfold::kernel::AnyView;
use warpfold::{DType, Element, Result};

use super::data::Data;
use super::numbers::Numbers;

/// Bytes in all.
pub(super) const POOL: usize = 4 << 30;

/// Words that are made on the host and repeated through the pool: 32 MiB.
const BLOCK: usize = 1 << 22;

pub(super) struct Pool {
    memory: Buffer<u64>,
    holds: (Numbers, Data),
    block: Vec<u64>,
}

impl Pool {
    /// Takes the memory and fills it for a type.
    pub(super) fn new(gpu: &Gpu, dtype: DType) -> Result<Pool> {
        let holds = (Numbers::of(dtype), Data::default());
        let mut pool = Pool { memory: gpu.alloc(POOL / 8)?, holds, block: Vec::new() };
        pool.write()?;
        Ok(pool)
    }

    /// Fills it anew if it holds other numbers than the type's, or other data.
    pub(super) fn hold(&mut self, dtype: DType, data: Data) -> Result<()> {
        let wanted = (Numbers::of(dtype), data);
        if self.holds == wanted {
            return Ok(());
        }
        self.holds = wanted;
        self.write()
    }

    fn write(&mut self) -> Result<()> {
        let (numbers, data) = self.holds;
        self.block = numbers.words(data, BLOCK);
        for first in (0..POOL / 8).step_by(BLOCK) {
            self.memory.write(first, &self.block)?;
        }
        Ok(())
    }

    /// The elements that the pool begins with.
    ///
    /// # Panics
    /// If the pool holds data of another type, as bool may tell.
    pub(super) fn on_host<T: Element>(&self, n: usize) -> &[T] {
        &bytemuck::checked::cast_slice(&self.block)[..n]
    }

    /// The `k`-th array of `n` elements, counted round; each begins on a page.
    pub(super) fn array(&self, dtype: DType, n: u64, k: usize) -> AnyView<'_> {
        let bytes = (n as usize * dtype.size()).next_multiple_of(4096);
        assert!(bytes <= POOL, "an array of {bytes} bytes in a pool of {POOL}");
        let address = self.memory.address() + (k % (POOL / bytes.max(4096)).max(1) * bytes) as u64;
        // SAFETY: within the pool, which the view borrows and which was written to the end; `hold` was told the type, so the
        // bytes are values of it.
        unsafe { AnyView::from_raw(dtype, address, n as usize) }
    }

    /// Where it begins.
    pub(super) fn address(&self) -> u64 {
        self.memory.address()
    }
}
