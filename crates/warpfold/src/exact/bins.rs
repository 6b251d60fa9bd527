//! One wide counter an exponent: the way for data whose exponents are spread too far for registers.

use super::fixed::{Fixed, Limbs};

/// Integers by the position of their lowest bit, summed apart in 128 bits each.
///
/// An addition is two loads, an add with carry and two stores, whatever the data. A mantissa of `b` bits can be
/// added 2^(127 - b) times before a bin could overflow; [`Bins::reserve`] keeps count.
#[derive(Debug, Clone)]
pub struct Bins {
    bins: Box<[i128]>,
    room: u64,
    capacity: u64,
}

impl Bins {
    /// Bins for mantissas of at most `bits` bits at shifts below `shifts`.
    pub fn new(bits: u32, shifts: u32) -> Self {
        let capacity = 1u64 << (127 - bits).min(63);
        Bins { bins: vec![0; shifts as usize].into(), room: capacity, capacity }
    }

    /// Makes room for `n` additions, moving everything into `fixed` first if a bin could overflow.
    ///
    /// # Panics
    /// If `n` is more than empty bins hold.
    pub fn reserve<L: Limbs>(&mut self, n: u64, fixed: &mut Fixed<L>) {
        assert!(n <= self.capacity, "{n} additions are more than a bin holds");
        if self.room < n {
            self.drain_into(fixed);
        }
        self.room -= n;
    }

    /// Adds `±magnitude · 2^shift`, for which there is room.
    #[inline(always)]
    pub fn add(&mut self, magnitude: u128, shift: u32, negative: bool) {
        // Conditional negation without a branch: x ^ -1 + 1 is -x.
        let sign = -(negative as i128);
        let bin = &mut self.bins[shift as usize];
        *bin = bin.wrapping_add((magnitude as i128 ^ sign).wrapping_sub(sign));
    }

    /// Moves everything into a fixed-point number and leaves the bins empty.
    pub fn drain_into<L: Limbs>(&mut self, fixed: &mut Fixed<L>) {
        for (shift, bin) in self.bins.iter_mut().enumerate() {
            if *bin != 0 {
                fixed.add_signed(*bin, shift as u32);
                *bin = 0;
            }
        }
        self.room = self.capacity;
    }
}
