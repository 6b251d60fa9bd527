//! Global memory: the allocations that launches work on.
//!
//! Words are relaxed atomics, so that blocks may run on several threads of the host without any
//! `unsafe`; a kernel that races is found by the race detector, not by luck. Each allocation has a
//! window of the address space to itself, so a pointer that strays is never another's.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::program::Program;
use crate::program::window::{self, FIRST_ALLOCATION, WINDOW_BITS};

/// A type whose values lie in memory as little-endian bytes.
pub trait Element: Copy {
    /// Bytes of one value: 1, 2, 4, 8 or 16.
    const BYTES: usize;
    /// Writes the value to `out`, which has [`Self::BYTES`] bytes.
    fn store(self, out: &mut [u8]);
    /// Reads a value from [`Self::BYTES`] bytes.
    fn load(bytes: &[u8]) -> Self;
}

macro_rules! elements {
    ($($ty:ty),*) => {$(
        impl Element for $ty {
            const BYTES: usize = size_of::<$ty>();
            fn store(self, out: &mut [u8]) {
                out.copy_from_slice(&self.to_le_bytes());
            }
            fn load(bytes: &[u8]) -> Self {
                let mut own = [0; size_of::<$ty>()];
                own.copy_from_slice(bytes);
                <$ty>::from_le_bytes(own)
            }
        }
    )*};
}

elements!(u8, i8, u16, i16, u32, i32, u64, i64, u128, i128, f32, f64, half::f16, half::bf16);

/// An allocation of global memory, by its device address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Buffer {
    address: u64,
    bytes: u64,
}

impl Buffer {
    /// The device address of its first byte.
    pub fn address(self) -> u64 {
        self.address
    }

    /// Its size, in bytes.
    pub fn bytes(self) -> u64 {
        self.bytes
    }
}

/// Global memory.
#[derive(Debug, Default)]
pub struct Memory {
    allocations: Vec<Option<Allocation>>,
    /// Each program's global variables, as its launches left them.
    modules: HashMap<u64, Allocation>,
}

/// The bytes of one allocation.
#[derive(Debug)]
pub(crate) struct Allocation {
    words: Box<[AtomicU32]>,
    bytes: u64,
    /// A bit for every byte: whether it was ever written. `None` where the host wrote it all.
    written: Option<Box<[AtomicU32]>>,
}

fn zeros(count: usize) -> Box<[AtomicU32]> {
    (0..count).map(|_| AtomicU32::new(0)).collect()
}

impl Allocation {
    pub(crate) fn unwritten(bytes: u64) -> Allocation {
        let words = zeros(bytes.div_ceil(4) as usize);
        Allocation { words, bytes, written: Some(zeros(bytes.div_ceil(32) as usize)) }
    }

    pub(crate) fn from_bytes(data: &[u8]) -> Allocation {
        let word = |chunk: &[u8]| {
            let mut own = [0; 4];
            own[..chunk.len()].copy_from_slice(chunk);
            AtomicU32::new(u32::from_le_bytes(own))
        };
        Allocation {
            words: data.chunks(4).map(word).collect(),
            bytes: data.len() as u64,
            written: None,
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// `count` bytes (1, 2, 4 or 8) at `offset`, which is in bounds and aligned.
    pub(crate) fn load(&self, offset: u64, count: u32) -> u64 {
        let at = (offset / 4) as usize;
        let word = u64::from(self.words[at].load(Relaxed));
        match count {
            4 => word,
            8 => word | u64::from(self.words[at + 1].load(Relaxed)) << 32,
            _ => word >> (8 * (offset % 4)) & ((1 << (8 * count)) - 1),
        }
    }

    /// Writes the low `count` bytes of `value`.
    pub(crate) fn store(&self, offset: u64, count: u32, value: u64) {
        let at = (offset / 4) as usize;
        match count {
            4 => self.words[at].store(value as u32, Relaxed),
            8 => {
                self.words[at].store(value as u32, Relaxed);
                self.words[at + 1].store((value >> 32) as u32, Relaxed);
            }
            _ => {
                let shift = 8 * (offset % 4) as u32;
                let mask = ((1u32 << (8 * count)) - 1) << shift;
                self.words[at].fetch_and(!mask, Relaxed);
                self.words[at].fetch_or((value as u32) << shift & mask, Relaxed);
            }
        }
        self.mark_written(offset, count);
    }

    fn mark_written(&self, offset: u64, count: u32) {
        if let Some(written) = &self.written {
            let bits = ((1u64 << count) - 1) << (offset % 32);
            written[(offset / 32) as usize].fetch_or(bits as u32, Relaxed);
        }
    }

    /// Whether every one of `count` bytes (up to 16, aligned) was written.
    pub(crate) fn is_written(&self, offset: u64, count: u32) -> bool {
        match &self.written {
            None => true,
            Some(written) => {
                let bits = (((1u64 << count) - 1) << (offset % 32)) as u32;
                written[(offset / 32) as usize].load(Relaxed) & bits == bits
            }
        }
    }

    /// The words and written bits of a page, to be put back by [`Allocation::restore`].
    pub(crate) fn save(&self, page: usize) -> SavedPage {
        let copy = |words: &[AtomicU32], each: usize| -> Vec<u32> {
            words.iter().skip(page * each).take(each).map(|w| w.load(Relaxed)).collect()
        };
        SavedPage {
            words: copy(&self.words, PAGE_WORDS),
            written: self.written.as_ref().map_or(Vec::new(), |w| copy(w, PAGE_WORDS / 8)),
        }
    }

    pub(crate) fn restore(&self, page: usize, saved: &SavedPage) {
        for (word, old) in self.words.iter().skip(page * PAGE_WORDS).zip(&saved.words) {
            word.store(*old, Relaxed);
        }
        if let Some(written) = &self.written {
            for (word, old) in written.iter().skip(page * PAGE_WORDS / 8).zip(&saved.written) {
                word.store(*old, Relaxed);
            }
        }
    }
}

/// Words in a page: the unit of shadow memory and of undoing.
pub(crate) const PAGE_WORDS: usize = 1024;
/// Bytes in a page.
pub(crate) const PAGE_BYTES: u64 = 4 * PAGE_WORDS as u64;

/// A page as it was before a launch wrote to it.
#[derive(Debug)]
pub(crate) struct SavedPage {
    words: Vec<u32>,
    written: Vec<u32>,
}

impl Memory {
    /// No allocations.
    pub fn new() -> Memory {
        Memory::default()
    }

    fn adopt(&mut self, allocation: Allocation) -> Buffer {
        let bytes = allocation.bytes;
        self.allocations.push(Some(allocation));
        let window = FIRST_ALLOCATION + self.allocations.len() as u64 - 1;
        Buffer { address: window << WINDOW_BITS, bytes }
    }

    /// `bytes` bytes that nobody wrote yet: reading them before that is a fault.
    pub fn allocate(&mut self, bytes: u64) -> Buffer {
        self.adopt(Allocation::unwritten(bytes))
    }

    /// A copy of `values`.
    pub fn upload<T: Element>(&mut self, values: &[T]) -> Buffer {
        // Straight to words: a copy of the bytes would double what large arrays take.
        let mut words = Vec::with_capacity((values.len() * T::BYTES).div_ceil(4));
        let mut own = [0; 16];
        let (mut word, mut filled) = (0, 0);
        for value in values {
            value.store(&mut own[..T::BYTES]);
            for byte in &own[..T::BYTES] {
                word |= u32::from(*byte) << (8 * filled);
                filled += 1;
                if filled == 4 {
                    words.push(AtomicU32::new(word));
                    (word, filled) = (0, 0);
                }
            }
        }
        if filled > 0 {
            words.push(AtomicU32::new(word));
        }
        let bytes = (values.len() * T::BYTES) as u64;
        self.adopt(Allocation { words: words.into(), bytes, written: None })
    }

    /// A copy of `bytes`.
    pub fn upload_bytes(&mut self, bytes: &[u8]) -> Buffer {
        self.adopt(Allocation::from_bytes(bytes))
    }

    /// Gives a buffer back; a kernel that touches it afterwards faults.
    pub fn free(&mut self, buffer: Buffer) {
        let index = (buffer.address >> WINDOW_BITS).wrapping_sub(FIRST_ALLOCATION);
        if let Some(slot) = self.allocations.get_mut(index as usize) {
            *slot = None;
        }
    }

    /// Overwrites the first elements of a buffer.
    ///
    /// # Errors
    /// [`BufferError`] where the buffer was freed or is too small.
    pub fn write<T: Element>(&mut self, buffer: Buffer, values: &[T]) -> Result<(), BufferError> {
        let mut bytes = vec![0; values.len() * T::BYTES];
        for (value, out) in values.iter().zip(bytes.chunks_exact_mut(T::BYTES)) {
            value.store(out);
        }
        self.write_bytes(buffer, 0, &bytes)
    }

    /// Overwrites bytes of a buffer, from `offset` on.
    ///
    /// # Errors
    /// [`BufferError`] where the buffer was freed, or ends before the bytes do.
    pub fn write_bytes(
        &mut self,
        buffer: Buffer,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(), BufferError> {
        let allocation = self.within(buffer, offset, bytes.len() as u64)?;
        let mut at = offset;
        let mut rest = bytes;
        while let Some((first, others)) = rest.split_first() {
            match rest {
                [a, b, c, d, others @ ..] if at.is_multiple_of(4) => {
                    allocation.store(at, 4, u64::from(u32::from_le_bytes([*a, *b, *c, *d])));
                    (at, rest) = (at + 4, others);
                }
                _ => {
                    allocation.store(at, 1, u64::from(*first));
                    (at, rest) = (at + 1, others);
                }
            }
        }
        Ok(())
    }

    /// Every whole element of a buffer.
    ///
    /// # Errors
    /// [`BufferError`] where the buffer was freed, or some of its bytes were never written.
    pub fn read<T: Element>(&self, buffer: Buffer) -> Result<Vec<T>, BufferError> {
        let whole = buffer.bytes / T::BYTES as u64 * T::BYTES as u64;
        let bytes = self.read_bytes(buffer, 0, whole)?;
        Ok(bytes.chunks_exact(T::BYTES).map(T::load).collect())
    }

    /// `count` bytes of a buffer, from `offset` on.
    ///
    /// # Errors
    /// [`BufferError`] where the buffer was freed or is too small, or some of the bytes were never
    /// written.
    pub fn read_bytes(
        &self,
        buffer: Buffer,
        offset: u64,
        count: u64,
    ) -> Result<Vec<u8>, BufferError> {
        let allocation = self.within(buffer, offset, count)?;
        let range = offset..offset + count;
        if allocation.written.is_some()
            && let Some(offset) = range.clone().find(|&offset| !allocation.is_written(offset, 1))
        {
            return Err(BufferError::Unwritten { offset });
        }
        let words = range.start / 4..range.end.div_ceil(4);
        let bytes = words.flat_map(|word| (allocation.load(4 * word, 4) as u32).to_le_bytes());
        Ok(bytes.skip((offset % 4) as usize).take(count as usize).collect())
    }

    /// `count` bytes from a device address on, as [`read_bytes`](Self::read_bytes) has them.
    ///
    /// # Errors
    /// As there.
    pub fn read_at(&self, address: u64, count: u64) -> Result<Vec<u8>, BufferError> {
        let offset = address & ((1 << WINDOW_BITS) - 1);
        let buffer = Buffer { address: address - offset, bytes: offset + count };
        self.read_bytes(buffer, offset, count)
    }

    /// The allocation behind a buffer, where it holds the bytes asked for.
    fn within(&self, buffer: Buffer, offset: u64, count: u64) -> Result<&Allocation, BufferError> {
        let allocation = self.of(buffer)?;
        match offset.checked_add(count) {
            Some(end) if end <= allocation.bytes => Ok(allocation),
            end => Err(BufferError::TooSmall {
                has: allocation.bytes,
                requested: end.unwrap_or(u64::MAX),
            }),
        }
    }

    fn of(&self, buffer: Buffer) -> Result<&Allocation, BufferError> {
        let index = (buffer.address >> WINDOW_BITS).wrapping_sub(FIRST_ALLOCATION);
        self.allocations.get(index as usize).and_then(Option::as_ref).ok_or(BufferError::Freed)
    }

    /// Makes a program's global variables, with their initial values, where it has none yet.
    pub(crate) fn instantiate(&mut self, program: &Program) {
        self.modules
            .entry(program.identity)
            .or_insert_with(|| Allocation::from_bytes(&program.globals));
    }

    /// The allocation a launch of `program` finds at `address`, its index, and the offset into it.
    pub(crate) fn resolve(
        &self,
        program: &Program,
        address: u64,
    ) -> Option<(&Allocation, usize, u64)> {
        let offset = address & ((1 << WINDOW_BITS) - 1);
        let number = address >> WINDOW_BITS;
        if number == window::MODULE >> WINDOW_BITS {
            return Some((self.modules.get(&program.identity)?, 0, offset));
        }
        let index = number.checked_sub(FIRST_ALLOCATION)? as usize;
        Some((self.allocations.get(index)?.as_ref()?, index + 1, offset))
    }

    /// The allocation of that index, as [`Memory::resolve`] numbers them.
    pub(crate) fn indexed(&self, program: &Program, index: usize) -> Option<&Allocation> {
        match index.checked_sub(1) {
            None => self.modules.get(&program.identity),
            Some(index) => self.allocations.get(index)?.as_ref(),
        }
    }

    /// How many indices [`Memory::resolve`] may give.
    pub(crate) fn indices(&self) -> usize {
        self.allocations.len() + 1
    }

    /// What lies near an address, in words, for an error.
    pub(crate) fn describe(&self, program: &Program, address: u64) -> String {
        match self.resolve(program, address) {
            Some((allocation, 0, offset)) => {
                format!(
                    "byte {offset} of the module's variables, which take {} bytes",
                    allocation.bytes
                )
            }
            Some((allocation, index, offset)) => {
                format!(
                    "byte {offset} of allocation {}, which has {} bytes",
                    index - 1,
                    allocation.bytes
                )
            }
            None if address >> WINDOW_BITS == 0 => "near null, in no allocation".to_owned(),
            None => "in no allocation, or one that was freed".to_owned(),
        }
    }
}

/// A buffer that cannot be read or written from the host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BufferError {
    /// It was freed, or belongs to another memory.
    #[error("the buffer was freed, or belongs to another Memory")]
    Freed,
    /// It ends before the bytes asked for do.
    #[error(
        "the buffer has {has} bytes, the first {requested} were asked for: allocate a larger one"
    )]
    TooSmall {
        /// Its size.
        has: u64,
        /// Where the bytes asked for end.
        requested: u64,
    },
    /// A byte of it was never written.
    #[error("byte {offset} of the buffer was never written")]
    Unwritten {
        /// The first such byte.
        offset: u64,
    },
}
