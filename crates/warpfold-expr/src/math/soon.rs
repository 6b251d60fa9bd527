//! Powers of `f32` by half the operations, where a machine may branch: an `f64` that is right but where it lies near the middle of two `f32`, one input in
//! eight thousand; there the others ([`single`](super::single)) are asked. The results are the same.

use super::number::{Bits, Number, Truth};
use super::{LN2, LOG2_E, MAGIC, exponent, polynomial, wide, within};

/// e^r where |r| < 0.3466, within 2^-39.7 of itself (Chebyshev).
const EXP: [f64; 9] = [
    f64::from_bits(0x3ff0_0000_0000_0000),
    f64::from_bits(0x3fef_ffff_fffd_3852),
    f64::from_bits(0x3fdf_ffff_ffff_71b9),
    f64::from_bits(0x3fc5_5555_5a27_6f61),
    f64::from_bits(0x3fa5_5555_5742_c758),
    f64::from_bits(0x3f81_1108_0a2b_e539),
    f64::from_bits(0x3f56_c164_deb3_edc9),
    f64::from_bits(0x3f2a_1aa8_ebb0_9119),
    f64::from_bits(0x3efa_15a5_c1c9_c231),
];

/// 2^r where |r| <= 1/2, likewise.
const EXP2: [f64; 9] = [
    f64::from_bits(0x3ff0_0000_0000_0000),
    f64::from_bits(0x3fe6_2e42_fef8_4cef),
    f64::from_bits(0x3fce_bfbd_ff82_3ced),
    f64::from_bits(0x3fac_6b08_dd6f_d2b6),
    f64::from_bits(0x3f83_b2ab_7181_b779),
    f64::from_bits(0x3f55_d874_5a71_e90d),
    f64::from_bits(0x3f24_308a_c85a_5343),
    f64::from_bits(0x3ef0_0dc4_a59a_74e1),
    f64::from_bits(0x3eb6_3d13_63d9_8cb6),
];

/// The value, or an accurate one where it lies so near the middle of two normal `f32` that it does not tell which of them is meant, or where its `f32`
/// might be none.
#[inline(always)]
fn unless_doubtful<N: Number>(value: N, accurate: impl FnOnce() -> N) -> N {
    let word = N::Bits::of;
    // 2^-39 of the value is 2^14 of its last bits; twice as many, for what is lost on the way.
    let from_middle = (value.to_bits() & word((1 << 29) - 1)) - word((1 << 28) - (1 << 15));
    let is_near = from_middle.is_less(word(1 << 16));
    let is_small = value.is_less(N::of(f64::from_bits((1023 - 126) << 52)));
    N::choose(is_near.or(is_small), accurate, || value)
}

/// 2 to an integer that lies in the last bits of a sum with [`MAGIC`], times a normal number.
#[inline(always)]
fn times_two_to<N: Number>(x: N, rounded: N) -> N {
    (x.to_bits() + exponent(rounded.to_bits())).number()
}

/// e^x, as an `f64` that rounds to the `f32`.
pub(crate) fn exp<N: Number>(x: N) -> N {
    let near = within(x, -105.0, 90.0);
    let rounded = near.mul_add(N::of(LOG2_E.0), N::of(MAGIC));
    let rest = (-(rounded - N::of(MAGIC))).mul_add(N::of(LN2.0), near);
    let value = times_two_to(polynomial(rest, &EXP), rounded);
    unless_doubtful(value, || wide::exp(x))
}

/// 2^x, likewise, but for the inputs that an `f64` does not tell.
pub(crate) fn exp2<N: Number>(x: N) -> N {
    let near = within(x, -151.0, 129.0);
    let rounded = near + N::of(MAGIC);
    let rest = near - (rounded - N::of(MAGIC));
    let value = times_two_to(polynomial(rest, &EXP2), rounded);
    unless_doubtful(value, || wide::exp2(x))
}

#[cfg(test)]
mod tests {
    use super::super::single;
    use super::{exp, exp2};

    /// Compares with the functions of `f32` from one input to the next that many further.
    fn compare(step: usize) {
        let hard = |value: f32, x: f32| {
            single::EXP2
                .iter()
                .find(|(input, _)| *input == x.to_bits())
                .map_or(value, |hard| f32::from_bits(hard.1))
        };
        for bits in (0..=u32::MAX).step_by(step) {
            let x = f32::from_bits(bits);
            if x.is_nan() {
                continue;
            }
            assert_eq!((exp(f64::from(x)) as f32).to_bits(), single::exp(x).to_bits(), "{x:e}");
            let value = hard(exp2(f64::from(x)) as f32, x);
            assert_eq!(value.to_bits(), single::exp2(x).to_bits(), "{x:e}");
        }
    }

    #[test]
    fn fewer_operations_have_the_same_results() {
        compare(1009);
    }

    /// Some minutes.
    #[test]
    #[ignore = "all inputs take minutes; run it when a polynomial changes"]
    fn fewer_operations_have_the_same_results_for_all_inputs() {
        compare(1);
    }
}
