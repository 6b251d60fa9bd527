//! Where rounding a number that was rounded before may go wrong.
//!
//! Rounding to a type and then to a narrower one gives the nearest number of that to the exact one, unless what was rounded first lies in the middle between two
//! of them: then the exact number may lie on either side.

use crate::dtype::DType;

/// Whether a number lies in the middle between two neighbours of `f16`, `bf16` or `f32`; of no other type it does.
pub fn is_tie(value: f64, of: DType) -> bool {
    // Of the type: bits after the first of a normal number, the least exponent of one, and the first power of two that is none.
    let (bits, least, end) = match of {
        DType::F16 => (10, -14, 16),
        DType::BF16 => (7, -126, 128),
        DType::F32 => (23, -126, 128),
        _ => return false,
    };
    let size = value.abs();
    // Above the largest number, and half a step more, everything is infinite.
    let most = 2f64.powi(end) - 2f64.powi(end - bits - 2);
    if !size.is_finite() || size > most {
        return false;
    }
    // From 2^k on neighbours are 2^(k - bits) apart, and never less than the least ones.
    let exponent = if size == 0.0 { least } else { (size.to_bits() >> 52) as i32 - 1023 };
    let halves = size / 2f64.powi(exponent.max(least) - bits - 1);
    halves.fract() == 0.0 && halves % 2.0 == 1.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{bf16, f16};

    #[test]
    fn ties_are_the_middles_between_neighbours() {
        for bits in 0..0x7c00u16 {
            let (low, high) = (f16::from_bits(bits), f16::from_bits(bits + 1));
            let next = if high.is_finite() { f64::from(high) } else { 65536.0 };
            let middle = (f64::from(low) + next) / 2.0;
            assert!(is_tie(middle, DType::F16) && is_tie(-middle, DType::F16), "{middle}");
            for other in [f64::from(low), middle.next_up(), middle.next_down()] {
                assert!(!is_tie(other, DType::F16), "{other}");
            }
        }
        for bits in 0..0x7f80u16 {
            let low = bf16::from_bits(bits);
            let middle = f64::from(f32::from_bits(u32::from(bits) << 16 | 0x8000));
            assert!(is_tie(middle, DType::BF16) && is_tie(-middle, DType::BF16), "{middle}");
            for other in [f64::from(low), middle.next_up(), middle.next_down()] {
                assert!(!is_tie(other, DType::BF16), "{other}");
            }
        }
        for bits in (0..0x7f80_0000u32).step_by(0x1_2345).chain([1, 0x7f_ffff, 0x7f7f_ffff]) {
            let (low, high) = (f32::from_bits(bits), f32::from_bits(bits + 1));
            let next = if high.is_finite() { f64::from(high) } else { 2f64.powi(128) };
            let middle = (f64::from(low) + next) / 2.0;
            assert!(is_tie(middle, DType::F32) && is_tie(-middle, DType::F32), "{middle}");
            for other in [f64::from(low), middle.next_up(), middle.next_down()] {
                assert!(!is_tie(other, DType::F32), "{other}");
            }
        }
        for value in [f64::INFINITY, f64::NAN, f64::MAX, f64::from(f32::MAX), 1.0] {
            for of in [DType::F16, DType::BF16, DType::F32] {
                assert!(!is_tie(value, of), "{value}");
            }
        }
        assert!(!is_tie(1.0 + 2f64.powi(-53), DType::F64));
    }
}
