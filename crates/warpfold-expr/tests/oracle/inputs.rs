//! Inputs on which functions are compared.

use warpfold_num::random::Words;

use super::Function;

/// Numbers where a function is neither zero, nor without a value, nor beyond what the oracle holds.
pub(crate) fn has_value(function: Function, x: f64) -> bool {
    let is_small = |most: f64| x.abs() < most;
    x.is_finite()
        && x.abs() > 1e-80
        && match function {
            Function::Exp => is_small(709.0),
            Function::Exp2 => is_small(1020.0),
            Function::Expm1 => x < 709.0,
            Function::Log | Function::Log2 => x > 0.0 && x != 1.0,
            Function::Log1p => x > -1.0,
            Function::Sigmoid => x > -700.0,
            _ => true,
        }
}

/// Bits from a counter.
pub(crate) fn bits(n: usize, seed: u64) -> impl Iterator<Item = u64> {
    let mut words = Words(seed);
    (0..n).map(move |_| words.next())
}

/// Bits of f64 of all magnitudes, and where the functions are hard: near zero, near one, near what they overflow at.
pub(crate) fn hard_and_random(n: usize, seed: u64) -> impl Iterator<Item = f64> {
    bits(n, seed).enumerate().map(|(k, bits)| {
        let unit = (bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
        match k % 8 {
            0 => f64::from_bits(bits),
            1 => unit,
            2 => 1.0 + unit * 2f64.powi(-((bits & 31) as i32)),
            3 => unit * 40.0,
            4 => unit * 1000.0,
            // Near multiples of π/2 and of log 2.
            5 => ((bits & 0xfffff) as f64 * std::f64::consts::FRAC_PI_2).next_up(),
            6 => (bits & 0x3ff) as f64 * std::f64::consts::LN_2 - 300.0,
            _ => unit * 2f64.powi((bits & 127) as i32 - 64),
        }
    })
}
