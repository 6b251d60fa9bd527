//! Byte order: what files have, and turning it into this machine's.

use warpfold_num::DType;

/// The order of the bytes of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endian {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl Endian {
    /// This machine's own.
    pub const NATIVE: Endian =
        if cfg!(target_endian = "little") { Endian::Little } else { Endian::Big };

    /// Whether elements of the type read the same on this machine without a change.
    pub fn is_native(self, dtype: DType) -> bool {
        self == Endian::NATIVE || part_bytes(dtype) == 1
    }

    /// Turns whole elements in this order into native ones, in place.
    pub fn make_native(self, bytes: &mut [u8], dtype: DType) {
        if self.is_native(dtype) {
            return;
        }
        match part_bytes(dtype) {
            2 => reverse::<2>(bytes),
            4 => reverse::<4>(bytes),
            8 => reverse::<8>(bytes),
            width => unreachable!("no element has parts of {width} bytes"),
        }
    }
}

/// Bytes of what is swapped as one: a complex number's parts are swapped each on its own.
fn part_bytes(dtype: DType) -> usize {
    dtype.size() / if dtype.is_complex() { 2 } else { 1 }
}

fn reverse<const WIDTH: usize>(bytes: &mut [u8]) {
    for number in bytes.as_chunks_mut::<WIDTH>().0 {
        number.reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complex_numbers_swap_by_parts() {
        let mut bytes: Vec<u8> = [1.5f32, -2.0].into_iter().flat_map(f32::to_be_bytes).collect();
        Endian::Big.make_native(&mut bytes, DType::Complex64);
        let native: Vec<u8> = [1.5f32, -2.0].into_iter().flat_map(f32::to_ne_bytes).collect();
        assert_eq!(bytes, native);
    }
}
