//! Where rounding a number that was rounded before may go wrong.
//!
//! Rounding to f32 and then to 16 bits gives the nearest number of 16 bits to the exact one, unless the f32 lies in the middle between two of them: then the exact
//! number may lie on either side.

use crate::dtype::DType;

/// Whether a number lies in the middle between two neighbours of `f16` or `bf16`; of no other type it does.
pub fn is_tie(value: f32, of: DType) -> bool {
    match of {
        DType::F16 => is_tie_of_f16(value),
        // It has the exponents of f32.
        DType::BF16 => value.is_finite() && value.to_bits() & 0xffff == 0x8000,
        _ => false,
    }
}

fn is_tie_of_f16(value: f32) -> bool {
    // Above the largest number, and half a step more, everything is infinite.
    const MOST: f64 = 65520.0;
    let size = f64::from(value).abs();
    if !size.is_finite() || size > MOST {
        return false;
    }
    // From 2^k on neighbours are 2^(k - 10) apart, and never less than 2^-24.
    let exponent = if size == 0.0 { -14 } else { (size.to_bits() >> 52) as i32 - 1023 };
    let halves = size / 2f64.powi(exponent.max(-14) - 11);
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
            let middle = ((f64::from(low) + next) / 2.0) as f32;
            assert!(is_tie(middle, DType::F16) && is_tie(-middle, DType::F16), "{middle}");
            for other in [f32::from(low), middle.next_up(), middle.next_down()] {
                assert!(!is_tie(other, DType::F16), "{other}");
            }
        }
        for bits in 0..0x7f80u16 {
            let low = bf16::from_bits(bits);
            let middle = f32::from_bits(u32::from(bits) << 16 | 0x8000);
            assert!(is_tie(middle, DType::BF16) && is_tie(-middle, DType::BF16), "{middle}");
            for other in [f32::from(low), middle.next_up(), middle.next_down()] {
                assert!(!is_tie(other, DType::BF16), "{other}");
            }
        }
        for value in [f32::INFINITY, f32::NAN, f32::MAX, 1.0] {
            assert!(!is_tie(value, DType::F16) && !is_tie(value, DType::BF16), "{value}");
        }
        assert!(!is_tie(1.0 + 2f32.powi(-11), DType::F32));
    }
}
