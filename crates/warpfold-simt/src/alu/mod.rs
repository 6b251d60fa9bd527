//! Arithmetic on whole warps: each operation is a function over 32 lanes.
//!
//! A register is 32 lanes of 64 bits; a value narrower than that lies in the low bits with zeros
//! above, whatever its type. Every lane is computed, active or not; the machine writes back the
//! active ones. So each function is a plain loop that the compiler vectorises.

pub(crate) mod bits;
pub(crate) mod convert;
pub(crate) mod float;
pub(crate) mod integer;
pub(crate) mod soft;

/// Lanes in a warp.
pub(crate) const WARP: usize = 32;

/// One register of a warp.
pub(crate) type Lanes = [u64; WARP];

/// A function of one register.
pub(crate) type Unary = fn(&Lanes, &mut Lanes);
/// A function of two registers.
pub(crate) type Binary = fn(&Lanes, &Lanes, &mut Lanes);
/// A function of three registers.
pub(crate) type Ternary = fn(&Lanes, &Lanes, &Lanes, &mut Lanes);
/// A comparison: bit `i` of the result is lane `i`'s.
pub(crate) type Compare = fn(&Lanes, &Lanes) -> u32;

/// `|x| expression` over one lane, as a [`Unary`].
macro_rules! unary {
    (|$x:ident| $e:expr) => {
        Some(
            (|a, d| {
                for i in 0..crate::alu::WARP {
                    let $x = a[i];
                    d[i] = $e;
                }
            }) as crate::alu::Unary,
        )
    };
}

/// `|x, y| expression` over one lane, as a [`Binary`].
macro_rules! binary {
    (|$x:ident, $y:ident| $e:expr) => {
        Some(
            (|a, b, d| {
                for i in 0..crate::alu::WARP {
                    let ($x, $y) = (a[i], b[i]);
                    d[i] = $e;
                }
            }) as crate::alu::Binary,
        )
    };
}

/// `|x, y, z| expression` over one lane, as a [`Ternary`].
macro_rules! ternary {
    (|$x:ident, $y:ident, $z:ident| $e:expr) => {
        Some(
            (|a, b, c, d| {
                for i in 0..crate::alu::WARP {
                    let ($x, $y, $z) = (a[i], b[i], c[i]);
                    d[i] = $e;
                }
            }) as crate::alu::Ternary,
        )
    };
}

/// `|x, y| condition` over one lane, as a [`Compare`].
macro_rules! compare {
    (|$x:ident, $y:ident| $e:expr) => {
        Some(
            (|a, b| {
                let mut mask = 0;
                for i in 0..crate::alu::WARP {
                    let ($x, $y) = (a[i], b[i]);
                    mask |= u32::from($e) << i;
                }
                mask
            }) as crate::alu::Compare,
        )
    };
}

pub(crate) use {binary, compare, ternary, unary};

/// The low `bits` bits set.
pub(crate) fn low_bits(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// `value`, whose low `bits` bits are two's complement, as 64 bits.
pub(crate) fn sign_extend(value: u64, bits: u32) -> u64 {
    let shift = 64 - bits.clamp(1, 64);
    (((value << shift) as i64) >> shift) as u64
}
