//! One wide counter an exponent: the way for data whose exponents are spread too far for registers.

use crate::limbs::{Fixed, Limbs};

/// An integer that a bin sums in.
pub trait Bin: Copy + Default + Into<i128> + std::fmt::Debug + Send {
    /// Its bits.
    const BITS: u32;

    /// Adds `±magnitude`.
    fn add(&mut self, magnitude: u128, negative: bool);
}

macro_rules! bin {
    ($($ty:ty),+) => {$(
        impl Bin for $ty {
            const BITS: u32 = <$ty>::BITS;

            #[inline(always)]
            fn add(&mut self, magnitude: u128, negative: bool) {
                // Conditional negation without a branch: (x ^ -1) + 1 is -x.
                let sign = -(negative as $ty);
                *self = self.wrapping_add((magnitude as $ty ^ sign).wrapping_sub(sign));
            }
        }
    )+};
}
bin!(i64, i128);

/// Integers by the position of their lowest bit, summed apart in 64 or 128 bits each.
///
/// An addition is two loads, an add with carry and two stores, whatever the data. A mantissa of `b` bits can be
/// added 2^(127 - b) (or 2^(63 - b)) times before a bin could overflow; [`Bins::reserve`] keeps count.
#[derive(Debug, Clone)]
pub struct Bins<B> {
    bins: Box<[B]>,
    room: u64,
    capacity: u64,
}

impl<B: Bin> Bins<B> {
    /// Bins for mantissas of at most `bits` bits at shifts below `shifts`.
    pub fn new(bits: u32, shifts: u32) -> Self {
        let capacity = 1u64 << (B::BITS - 1 - bits).min(63);
        Bins { bins: vec![B::default(); shifts as usize].into(), room: capacity, capacity }
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
        self.bins[shift as usize].add(magnitude, negative);
    }

    /// The bins themselves, by shift, for additions that there is room for.
    #[inline(always)]
    pub fn slots(&mut self) -> &mut [B] {
        &mut self.bins
    }

    /// Moves everything into a fixed-point number and leaves the bins empty.
    pub fn drain_into<L: Limbs>(&mut self, fixed: &mut Fixed<L>) {
        for (shift, bin) in self.bins.iter_mut().enumerate() {
            let value: i128 = std::mem::take(bin).into();
            if value != 0 {
                fixed.add_signed(value, shift as u32);
            }
        }
        self.room = self.capacity;
    }
}
