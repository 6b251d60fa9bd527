//! IEEE 754 arithmetic in software, exact, in every rounding mode and each binary format.
//!
//! The host's own f32 and f64 serve where they round to nearest; everything else comes here. A
//! finite number is unpacked to a sign, an exponent and a 126-bit significand whose lowest bit is
//! sticky, so a result is rounded once, from its exact value.

/// A rounding direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// `.rn`: to nearest, ties to even.
    Nearest,
    /// `.rz`: towards zero.
    Zero,
    /// `.rm`: towards −∞.
    Down,
    /// `.rp`: towards +∞.
    Up,
}

/// A binary interchange format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// Significand bits, the hidden one included.
    precision: u32,
    /// Bits of the exponent field.
    exponent_bits: u32,
}

impl Format {
    pub(crate) const F16: Format = Format { precision: 11, exponent_bits: 5 };
    pub(crate) const BF16: Format = Format { precision: 8, exponent_bits: 8 };
    pub(crate) const F32: Format = Format { precision: 24, exponent_bits: 8 };
    pub(crate) const F64: Format = Format { precision: 53, exponent_bits: 11 };

    /// Bits of the whole.
    pub(crate) fn bits(self) -> u32 {
        self.precision + self.exponent_bits
    }

    fn least_exponent(self) -> i32 {
        2 - (1 << (self.exponent_bits - 1))
    }

    fn infinity(self) -> u64 {
        ((1 << self.exponent_bits) - 1) << (self.precision - 1)
    }

    /// The NaN that arithmetic returns: all ones but the sign (`0x7fffffff` for f32), as the hardware's.
    pub(crate) fn nan(self) -> u64 {
        if self == Format::F64 { 0x7ff8_0000_0000_0000 } else { (1 << (self.bits() - 1)) - 1 }
    }

    fn sign(self) -> u64 {
        1 << (self.bits() - 1)
    }

    /// Zero of the same sign where `bits` is subnormal, else `bits`.
    pub(crate) fn flushed(self, bits: u64) -> u64 {
        if bits & self.infinity() == 0 { bits & self.sign() } else { bits }
    }

    /// Clamped to [0, 1]; a NaN becomes +0.
    pub(crate) fn saturated(self, bits: u64) -> u64 {
        let one = ((1 << (self.exponent_bits - 1)) - 1) << (self.precision - 1);
        let magnitude = bits & !self.sign();
        if magnitude > self.infinity() || bits & self.sign() != 0 { 0 } else { magnitude.min(one) }
    }
}

/// Where the leading bit of a significand stands.
const TOP: u32 = 125;

/// An unpacked number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    Nan,
    Infinity {
        negative: bool,
    },
    Zero {
        negative: bool,
    },
    /// significand · 2^(exponent − [`TOP`])
    Finite {
        negative: bool,
        exponent: i32,
        significand: u128,
    },
}

use Number::{Finite, Infinity, Nan, Zero};

/// `significand` brought to [`TOP`], bits lost on the way kept as a sticky one.
fn normal(negative: bool, exponent_of_top: i32, significand: u128) -> Number {
    if significand == 0 {
        return Zero { negative };
    }
    let leading = 127 - significand.leading_zeros();
    let exponent = exponent_of_top + leading as i32 - TOP as i32;
    let significand = if leading > TOP {
        shifted_right(significand, leading - TOP)
    } else {
        significand << (TOP - leading)
    };
    Finite { negative, exponent, significand }
}

fn shifted_right(value: u128, by: u32) -> u128 {
    match by {
        0 => value,
        1..=127 => value >> by | u128::from(value << (128 - by) != 0),
        _ => u128::from(value != 0),
    }
}

impl Number {
    /// The number that `bits` stands for.
    pub(crate) fn unpack(bits: u64, format: Format) -> Number {
        let negative = bits & format.sign() != 0;
        let fraction = bits & ((1 << (format.precision - 1)) - 1);
        let field = (bits & format.infinity()) >> (format.precision - 1);
        if bits & format.infinity() == format.infinity() {
            return if fraction == 0 { Infinity { negative } } else { Nan };
        }
        let significand =
            if field == 0 { fraction } else { fraction | 1 << (format.precision - 1) };
        let exponent = format.least_exponent() + (field.max(1) - 1) as i32;
        let shift = TOP + 1 - format.precision;
        normal(negative, exponent, u128::from(significand) << shift)
    }

    /// An integer.
    pub(crate) fn integer(value: i128) -> Number {
        normal(value < 0, TOP as i32, value.unsigned_abs())
    }

    fn negative(self) -> bool {
        match self {
            Nan => false,
            Infinity { negative } | Zero { negative } | Finite { negative, .. } => negative,
        }
    }

    pub(crate) fn negated(self) -> Number {
        match self {
            Nan => Nan,
            Infinity { negative } => Infinity { negative: !negative },
            Zero { negative } => Zero { negative: !negative },
            Finite { negative, exponent, significand } => {
                Finite { negative: !negative, exponent, significand }
            }
        }
    }

    /// Rounded to `format`.
    pub(crate) fn pack(self, format: Format, rounding: Rounding) -> u64 {
        let sign = if self.negative() { format.sign() } else { 0 };
        let (negative, exponent, significand) = match self {
            Nan => return format.nan(),
            Infinity { .. } => return sign | format.infinity(),
            Zero { .. } => return sign,
            Finite { negative, exponent, significand } => (negative, exponent, significand),
        };
        let least = format.least_exponent();
        let below = (least - exponent).max(0) as u32;
        let dropped = TOP + 1 - format.precision + below;
        let (kept, rest, half) = if dropped > TOP + 1 {
            (0, 1, 2)
        } else {
            let half = 1u128 << (dropped - 1);
            (significand >> dropped, significand & (2 * half - 1), half)
        };
        let up = match rounding {
            Rounding::Nearest => rest > half || (rest == half && kept & 1 == 1),
            Rounding::Zero => false,
            Rounding::Down => negative && rest != 0,
            Rounding::Up => !negative && rest != 0,
        };
        // The hidden bit carries into the exponent field by itself, from subnormals to normals too.
        let field = if below > 0 { 0 } else { (exponent - least) as u64 };
        let rounded = (field << (format.precision - 1)) + kept as u64 + u64::from(up);
        let overflow =
            exponent - least >= (1 << format.exponent_bits) - 2 || rounded >= format.infinity();
        if !overflow {
            return sign | rounded;
        }
        let to_infinity = match rounding {
            Rounding::Nearest => true,
            Rounding::Zero => false,
            Rounding::Down => negative,
            Rounding::Up => !negative,
        };
        sign | if to_infinity { format.infinity() } else { format.infinity() - 1 }
    }

    /// The exact sum; `rounding` decides the sign of an exact zero only.
    pub(crate) fn plus(self, other: Number, rounding: Rounding) -> Number {
        let zero = Zero { negative: rounding == Rounding::Down };
        match (self, other) {
            (Nan, _) | (_, Nan) => Nan,
            (Infinity { negative: a }, Infinity { negative: b }) if a != b => Nan,
            (Infinity { .. }, _) => self,
            (_, Infinity { .. }) => other,
            (Zero { negative: a }, Zero { negative: b }) => {
                if a == b {
                    self
                } else {
                    zero
                }
            }
            (Zero { .. }, _) => other,
            (_, Zero { .. }) => self,
            (
                Finite { negative: a, exponent: ea, significand: sa },
                Finite { negative: b, exponent: eb, significand: sb },
            ) => {
                if ea < eb || (ea == eb && sa < sb) {
                    return other.plus(self, rounding);
                }
                // Bits are lost only where the exponents are apart, and then at most one leading bit cancels.
                let small = shifted_right(sb, (ea - eb) as u32);
                if a == b {
                    normal(a, ea, sa + small)
                } else if sa == small {
                    zero
                } else {
                    normal(a, ea, sa - small)
                }
            }
        }
    }

    /// The exact product of two numbers of at most 64 significant bits.
    pub(crate) fn times(self, other: Number) -> Number {
        let negative = self.negative() != other.negative();
        match (self, other) {
            (Nan, _) | (_, Nan) => Nan,
            (Infinity { .. }, Zero { .. }) | (Zero { .. }, Infinity { .. }) => Nan,
            (Infinity { .. }, _) | (_, Infinity { .. }) => Infinity { negative },
            (Zero { .. }, _) | (_, Zero { .. }) => Zero { negative },
            (
                Finite { exponent: ea, significand: sa, .. },
                Finite { exponent: eb, significand: sb, .. },
            ) => {
                let product = (sa >> (TOP - 63)) * (sb >> (TOP - 63));
                // Both factors lead at bit 63, so bit 126 stands for 2^(ea + eb).
                normal(negative, ea + eb - 1, product)
            }
        }
    }

    /// The quotient, its remainder kept as a sticky bit.
    pub(crate) fn over(self, other: Number) -> Number {
        let negative = self.negative() != other.negative();
        match (self, other) {
            (Nan, _) | (_, Nan) => Nan,
            (Infinity { .. }, Infinity { .. }) | (Zero { .. }, Zero { .. }) => Nan,
            (Infinity { .. }, _) | (_, Zero { .. }) => Infinity { negative },
            (Zero { .. }, _) | (_, Infinity { .. }) => Zero { negative },
            (
                Finite { exponent: ea, significand: sa, .. },
                Finite { exponent: eb, significand: sb, .. },
            ) => {
                let divisor = sb >> (TOP - 61);
                let (quotient, rest) = (sa / divisor, sa % divisor);
                // sa leads at 125 and the divisor at 61, so bit 64 of the quotient stands for 2^(ea − eb).
                let sticky = quotient << 2 | u128::from(rest != 0);
                normal(negative, ea - eb + (TOP as i32 - 66), sticky)
            }
        }
    }

    /// The square root, its remainder kept as a sticky bit.
    pub(crate) fn square_root(self) -> Number {
        match self {
            Zero { .. } => self,
            Infinity { negative: false } => self,
            Finite { negative: false, exponent, significand } => {
                let even = exponent & !1;
                let square = significand << (1 + (exponent - even));
                let root = square.isqrt();
                // The square is m · 2^126 with m in [1, 4), so bit 63 of the root stands for 2^(even / 2).
                let sticky = root << 2 | u128::from(root * root != square);
                normal(false, even / 2 + (TOP as i32 - 65), sticky)
            }
            _ => Nan,
        }
    }
}

/// An operation of [`compute`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Add,
    Subtract,
    Multiply,
    /// a · b + c with one rounding.
    Fused,
    Divide,
    /// 1 / a
    Reciprocal,
    SquareRoot,
}

/// How floating-point results are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Manner {
    pub(crate) format: Format,
    pub(crate) rounding: Rounding,
    /// Subnormal operands and results become zeros.
    pub(crate) flush: bool,
    /// The result is clamped to [0, 1].
    pub(crate) saturate: bool,
    /// A negative result or NaN… becomes +0 (`.relu`), NaN stays NaN.
    pub(crate) rectify: bool,
}

/// One operation on bit patterns of `manner.format`, rounded once.
pub(crate) fn compute(operation: Operation, manner: Manner, operands: [u64; 3]) -> u64 {
    let Manner { format, rounding, .. } = manner;
    let [a, b, c] = operands
        .map(|bits| Number::unpack(if manner.flush { format.flushed(bits) } else { bits }, format));
    let exact = match operation {
        Operation::Add => a.plus(b, rounding),
        Operation::Subtract => a.plus(b.negated(), rounding),
        Operation::Multiply => a.times(b),
        Operation::Fused => a.times(b).plus(c, rounding),
        Operation::Divide => a.over(b),
        Operation::Reciprocal => Number::integer(1).over(a),
        Operation::SquareRoot => a.square_root(),
    };
    let mut bits = exact.pack(format, rounding);
    if manner.flush {
        bits = format.flushed(bits);
    }
    if manner.rectify && bits & format.sign() != 0 {
        bits = 0;
    }
    if manner.saturate { format.saturated(bits) } else { bits }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manner(format: Format, rounding: Rounding) -> Manner {
        Manner { format, rounding, flush: false, saturate: false, rectify: false }
    }

    fn patterns() -> impl Iterator<Item = [u64; 3]> {
        let mut words = warpfold_num::random::Words(0x9e37_79b9_7f4a_7c15);
        let mut next = move || words.next();
        (0..200_000).map(move |i| {
            let mut bits = [next(), next(), next()];
            if i % 2 == 0 {
                // Exponents close together, where rounding and cancellation are hard.
                bits = bits.map(|b| b & 0x800f_ffff_ffff_ffff | (1000 + (b >> 52 & 63)) << 52);
            }
            bits
        })
    }

    #[test]
    fn nearest_agrees_with_the_host_in_f64() {
        let m = manner(Format::F64, Rounding::Nearest);
        for bits in patterns() {
            let [a, b, c] = bits.map(f64::from_bits);
            let host = [a + b, a - b, a * b, a.mul_add(b, c), a / b, 1.0 / a, a.sqrt()];
            let all = [
                Operation::Add,
                Operation::Subtract,
                Operation::Multiply,
                Operation::Fused,
                Operation::Divide,
                Operation::Reciprocal,
                Operation::SquareRoot,
            ];
            for (operation, host) in all.into_iter().zip(host) {
                let ours = compute(operation, m, bits);
                let same =
                    ours == host.to_bits() || (f64::from_bits(ours).is_nan() && host.is_nan());
                assert!(same, "{operation:?} of {bits:x?}: {ours:x}, host {:x}", host.to_bits());
            }
        }
    }

    #[test]
    fn nearest_agrees_with_the_host_in_f32() {
        let m = manner(Format::F32, Rounding::Nearest);
        for bits in patterns() {
            let bits = bits.map(|b| b >> 32);
            let [a, b, c] = bits.map(|b| f32::from_bits(b as u32));
            let host = [a + b, a * b, a.mul_add(b, c), a / b, a.sqrt()];
            let all = [
                Operation::Add,
                Operation::Multiply,
                Operation::Fused,
                Operation::Divide,
                Operation::SquareRoot,
            ];
            for (operation, host) in all.into_iter().zip(host) {
                let ours = f32::from_bits(compute(operation, m, bits) as u32);
                let same = ours.to_bits() == host.to_bits() || (ours.is_nan() && host.is_nan());
                assert!(same, "{operation:?} of {bits:x?}: {ours:e}, host {host:e}");
            }
        }
    }

    #[test]
    fn directed_results_bracket_the_exact_value() {
        for bits in patterns() {
            for operation in
                [Operation::Add, Operation::Multiply, Operation::Divide, Operation::Fused]
            {
                let at = |rounding| {
                    f64::from_bits(compute(operation, manner(Format::F64, rounding), bits))
                };
                let (down, up) = (at(Rounding::Down), at(Rounding::Up));
                let (nearest, zero) = (at(Rounding::Nearest), at(Rounding::Zero));
                if nearest.is_nan() {
                    continue;
                }
                assert!(down <= nearest && nearest <= up, "{operation:?} {bits:x?}");
                assert!(down == up || down.next_up() == up, "{operation:?} {bits:x?}");
                assert_eq!(zero, if nearest.is_sign_negative() { up } else { down });
            }
        }
    }

    #[test]
    fn f32_rounds_like_f64_narrowed() {
        // 1 + 2^-30 lies between 1 and its successor in every direction.
        let bits = [u64::from(1f32.to_bits()), u64::from((2f32).powi(-30).to_bits()), 0];
        let at = |rounding| compute(Operation::Add, manner(Format::F32, rounding), bits) as u32;
        assert_eq!(at(Rounding::Zero), 1f32.to_bits());
        assert_eq!(at(Rounding::Down), 1f32.to_bits());
        assert_eq!(at(Rounding::Nearest), 1f32.to_bits());
        assert_eq!(at(Rounding::Up), 1f32.next_up().to_bits());
    }
}
