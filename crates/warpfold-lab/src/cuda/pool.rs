//! [`Pool`]: device memory many times the cache, in which arrays of any type and length lie one after another.

use warpfold::cuda::{Buffer, Gpu, View};
use warpfold::{DType, Element, Result};

/// Bytes in all.
pub(super) const POOL: usize = 4 << 30;

/// Words that are made on the host and repeated through the pool: 32 MiB.
const BLOCK: usize = 1 << 22;

/// Numbers that the bytes of the pool are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Data {
    Bools,
    Integers,
    /// f16 and bf16 alike: numbers below 2 of either sign, never NaN.
    Halves,
    Singles,
    Doubles,
}

impl Data {
    fn of(dtype: DType) -> Data {
        match dtype {
            DType::Bool => Data::Bools,
            DType::F16 | DType::BF16 => Data::Halves,
            DType::F32 | DType::Complex64 => Data::Singles,
            DType::F64 | DType::Complex128 => Data::Doubles,
            _ => Data::Integers,
        }
    }

    /// 64 bits of numbers: floats in [-1, 1), integers over their whole range.
    fn word(self, random: &mut impl FnMut() -> u64) -> u64 {
        let unit = |bits: u64| (bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
        match self {
            Data::Bools => random() & 0x0101_0101_0101_0101,
            Data::Integers => random(),
            Data::Halves => random() & 0xbfff_3fff_bfff_3fff,
            Data::Singles => {
                let mut half = || u64::from((unit(random()) as f32).to_bits());
                half() | half() << 32
            }
            Data::Doubles => unit(random()).to_bits(),
        }
    }
}

pub(super) struct Pool {
    memory: Buffer<u64>,
    data: Data,
    block: Vec<u64>,
}

impl Pool {
    /// Takes the memory and fills it for a type.
    pub(super) fn new(gpu: &Gpu, dtype: DType) -> Result<Pool> {
        let data = Data::of(dtype);
        let mut pool = Pool { memory: gpu.alloc(POOL / 8)?, data, block: Vec::new() };
        pool.write()?;
        Ok(pool)
    }

    /// Fills it anew if it holds other data than the type's.
    pub(super) fn hold(&mut self, dtype: DType) -> Result<()> {
        if self.data == Data::of(dtype) {
            return Ok(());
        }
        self.data = Data::of(dtype);
        self.write()
    }

    fn write(&mut self) -> Result<()> {
        // Marsaglia's xorshift64 (2003): timing asks no more of it.
        let mut state = 1u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        self.block = (0..BLOCK).map(|_| self.data.word(&mut random)).collect();
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
    pub(super) fn array<T: Element>(&self, n: u64, k: usize) -> View<'_, T> {
        let bytes = (n as usize * size_of::<T>()).next_multiple_of(4096);
        assert!(bytes <= POOL, "an array of {bytes} bytes in a pool of {POOL}");
        let address = self.memory.address() + (k % (POOL / bytes.max(4096)).max(1) * bytes) as u64;
        // SAFETY: within the pool, which the view borrows and which was written to the end; `hold` was told the type, so the
        // bytes are values of it.
        unsafe { View::from_raw(address, n as usize) }
    }

    /// Where it begins.
    pub(super) fn address(&self) -> u64 {
        self.memory.address()
    }
}
