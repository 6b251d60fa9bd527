//! A wide two's-complement integer: the fixed-point number inside every exact partial.

/// The storage of a [`Fixed`]: an array of 64-bit limbs, lowest first.
pub trait Limbs:
    Copy + AsRef<[u64]> + AsMut<[u64]> + PartialEq + std::fmt::Debug + Send + Sync
{
    /// All limbs zero.
    const ZERO: Self;
}

impl<const N: usize> Limbs for [u64; N] {
    const ZERO: Self = [0; N];
}

/// A signed integer of as many bits as its limbs hold. Arithmetic is exact as long as the value fits,
/// which the limb counts in [`Real`](crate::Real) guarantee for 2^64 additions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fixed<L>(pub L);

/// A magnitude and its sign.
#[derive(Debug, Clone, Copy)]
pub struct SignMagnitude<L> {
    /// Whether the number is below zero.
    pub negative: bool,
    /// Its absolute value.
    pub magnitude: L,
}

impl<L: Limbs> Default for Fixed<L> {
    fn default() -> Self {
        Fixed(L::ZERO)
    }
}

impl<L: Limbs> Fixed<L> {
    /// Adds `±magnitude · 2^shift`.
    #[inline]
    pub fn add(&mut self, magnitude: u128, shift: u32, negative: bool) {
        let limbs = self.0.as_mut();
        let (first, offset) = ((shift / 64) as usize, shift % 64);
        let low = magnitude << offset;
        let high = (magnitude >> 64 >> (64 - offset)) as u64;
        let words = [low as u64, (low >> 64) as u64, high];
        let mut carry = false;
        for (k, limb) in limbs[first..].iter_mut().enumerate() {
            let word = words.get(k).copied().unwrap_or(0);
            if k >= words.len() && !carry {
                return;
            }
            (*limb, carry) = if negative {
                borrowing_sub(*limb, word, carry)
            } else {
                carrying_add(*limb, word, carry)
            };
        }
    }

    /// Adds `value · 2^shift`.
    #[inline]
    pub fn add_signed(&mut self, value: i128, shift: u32) {
        self.add(value.unsigned_abs(), shift, value < 0);
    }

    /// Adds `other · 2^shift`, of which nothing lies below the unit.
    pub fn add_shifted<M: Limbs>(&mut self, other: &Fixed<M>, shift: i32) {
        let SignMagnitude { negative, magnitude } = other.sign_magnitude();
        for (k, &limb) in magnitude.as_ref().iter().enumerate() {
            let at = 64 * k as i32 + shift;
            if limb != 0 {
                // A limb that reaches below the unit has zeros there.
                let (limb, at) = if at < 0 { (limb >> -at, 0) } else { (limb, at as u32) };
                self.add(u128::from(limb), at, negative);
            }
        }
    }

    /// Adds another number of the same unit.
    pub fn merge(&mut self, other: &Self) {
        let mut carry = false;
        for (limb, &word) in self.0.as_mut().iter_mut().zip(other.0.as_ref()) {
            (*limb, carry) = carrying_add(*limb, word, carry);
        }
    }

    /// Subtracts another number of the same unit.
    pub fn subtract(&mut self, other: &Self) {
        let mut borrow = false;
        for (limb, &word) in self.0.as_mut().iter_mut().zip(other.0.as_ref()) {
            (*limb, borrow) = borrowing_sub(*limb, word, borrow);
        }
    }

    /// Whether the number is below zero.
    pub fn is_negative(&self) -> bool {
        self.0.as_ref().last().is_some_and(|&top| top >> 63 == 1)
    }

    /// Whether the number is zero.
    pub fn is_zero(&self) -> bool {
        self.0.as_ref().iter().all(|&limb| limb == 0)
    }

    /// The value as an `i128`, if it fits.
    pub fn to_i128(&self) -> Option<i128> {
        let limb = |k: usize| self.0.as_ref().get(k).copied();
        let value = (u128::from(limb(1)?) << 64 | u128::from(limb(0)?)) as i128;
        let sign = if value < 0 { u64::MAX } else { 0 };
        self.0.as_ref()[2..].iter().all(|&high| high == sign).then_some(value)
    }

    /// The value as a `u128`, if it fits.
    pub fn to_u128(&self) -> Option<u128> {
        let limb = |k: usize| self.0.as_ref().get(k).copied();
        let value = u128::from(limb(1)?) << 64 | u128::from(limb(0)?);
        (!self.is_negative() && self.0.as_ref()[2..].iter().all(|&high| high == 0)).then_some(value)
    }

    /// The number as sign and magnitude.
    pub fn sign_magnitude(&self) -> SignMagnitude<L> {
        let negative = self.is_negative();
        let mut magnitude = self.0;
        if negative {
            let mut carry = true;
            for limb in magnitude.as_mut() {
                (*limb, carry) = carrying_add(!*limb, 0, carry);
            }
        }
        SignMagnitude { negative, magnitude }
    }
}

#[inline(always)]
fn carrying_add(a: u64, b: u64, carry: bool) -> (u64, bool) {
    let (sum, c1) = a.overflowing_add(b);
    let (sum, c2) = sum.overflowing_add(u64::from(carry));
    (sum, c1 | c2)
}

#[inline(always)]
fn borrowing_sub(a: u64, b: u64, borrow: bool) -> (u64, bool) {
    let (difference, b1) = a.overflowing_sub(b);
    let (difference, b2) = difference.overflowing_sub(u64::from(borrow));
    (difference, b1 | b2)
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;

    use super::*;

    fn value<L: Limbs>(x: &Fixed<L>) -> BigInt {
        let SignMagnitude { negative, magnitude } = x.sign_magnitude();
        let bytes: Vec<u8> = magnitude.as_ref().iter().flat_map(|l| l.to_le_bytes()).collect();
        let m = BigInt::from_bytes_le(num_bigint::Sign::Plus, &bytes);
        if negative { -m } else { m }
    }

    #[test]
    fn adds_at_every_shift_with_either_sign() {
        for magnitude in [1, u64::MAX as u128, u128::MAX, 1 << 127, 0x1234_5678_9abc_def0_0fed_cba9]
        {
            for shift in 0..=190 {
                let mut x = Fixed::<[u64; 6]>::default();
                x.add(magnitude, shift, false);
                assert_eq!(value(&x), BigInt::from(magnitude) << shift);
                x.add(magnitude, shift, true);
                assert!(x.is_zero());
                x.add(magnitude, shift, true);
                assert_eq!(value(&x), -(BigInt::from(magnitude) << shift));
                x.add(1, 0, false);
                assert_eq!(value(&x), BigInt::from(1) - (BigInt::from(magnitude) << shift));
            }
        }
    }

    #[test]
    fn carries_and_borrows_run_through_every_limb() {
        let mut x = Fixed::<[u64; 6]>::default();
        x.add(1, 0, true);
        assert_eq!(x.0, [u64::MAX; 6]);
        x.add(1, 0, false);
        assert!(x.is_zero());
    }
}
