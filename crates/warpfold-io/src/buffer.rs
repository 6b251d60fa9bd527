//! [`Buffer`]: bytes aligned for every element type and for the widest vector registers.

use memmap2::MmapMut;

/// Bytes of a piece: large enough that handing one over costs nothing, small enough that two of them are no burden.
///
/// The same for every kind of input, so that results that depend on the split (fast sums, products) do not depend on where the
/// array comes from.
pub const PIECE_BYTES: usize = 16 << 20;

/// Bytes of a fixed capacity, of which the first so many are filled.
///
/// They are pages of the system's own, which come into being when they are written to: a short input touches few of sixteen MiB.
#[derive(Debug)]
pub struct Buffer {
    pages: MmapMut,
    filled: usize,
}

impl Buffer {
    /// An empty buffer for so many bytes, one at least; `None` where there is no memory for them.
    pub fn new(capacity: usize) -> Option<Buffer> {
        let pages = MmapMut::map_anon(capacity).ok()?;
        // Of large pages one fault makes as much as of others five hundred. Where there are none, it is no loss.
        #[cfg(target_os = "linux")]
        let _ = pages.advise(memmap2::Advice::HugePage);
        Some(Buffer { pages, filled: 0 })
    }

    /// All its bytes, filled or not.
    pub fn all_mut(&mut self) -> &mut [u8] {
        &mut self.pages
    }

    /// The filled bytes.
    pub fn filled(&self) -> &[u8] {
        &self.pages[..self.filled]
    }

    /// Says how many bytes are filled.
    ///
    /// # Panics
    /// If that is more than the capacity.
    pub fn set_filled(&mut self, filled: usize) {
        let capacity = self.pages.len();
        assert!(filled <= capacity, "{filled} bytes in a buffer of {capacity}");
        self.filled = filled;
    }
}
