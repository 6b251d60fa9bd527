//! [`Buffer`]: bytes aligned for every element type and for the widest vector registers.

use bytemuck::{Pod, Zeroable};

use crate::memory;

/// A cache line, which is also the width of an AVX-512 register.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Bytes of a fixed capacity, of which the first so many are filled.
#[derive(Debug)]
pub struct Buffer {
    lines: Vec<Line>,
    capacity: usize,
    filled: usize,
}

impl Buffer {
    /// An empty buffer for so many bytes; `None` where there is no memory for them.
    pub fn new(capacity: usize) -> Option<Buffer> {
        let lines = memory::fallibly(|| bytemuck::try_zeroed_vec(capacity.div_ceil(64))).ok()?;
        Some(Buffer { lines, capacity, filled: 0 })
    }

    /// All its bytes, filled or not.
    pub fn all_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.lines)[..self.capacity]
    }

    /// The filled bytes.
    pub fn filled(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.lines)[..self.filled]
    }

    /// Says how many bytes are filled.
    ///
    /// # Panics
    /// If that is more than the capacity.
    pub fn set_filled(&mut self, filled: usize) {
        assert!(filled <= self.capacity, "{filled} bytes in a buffer of {}", self.capacity);
        self.filled = filled;
    }
}
