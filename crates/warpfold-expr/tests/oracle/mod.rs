//! Functions in arithmetic of several hundred bits: series of exact integers, which have nothing in common with what they are compared to.

pub(crate) mod inputs;

use std::sync::LazyLock;

use num_bigint::{BigInt, Sign};
use warpfold_expr::math::{double, single};

/// Bits behind the point.
const P: i64 = 640;
/// Bits behind the point of π, which numbers up to 2^1024 are reduced by.
const Q: i64 = P + 1152;

static LN2: LazyLock<BigInt> = LazyLock::new(|| inverse_atanh(3, P) * 2);
/// Machin's formula.
static PI: LazyLock<BigInt> = LazyLock::new(|| (inverse_atan(5, Q) * 4 - inverse_atan(239, Q)) * 4);

/// A function of one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Exp,
    Exp2,
    Expm1,
    Log,
    Log2,
    Log1p,
    Tanh,
    Sigmoid,
    Sin,
    Cos,
    Power(i8),
}

/// A function in every form there is.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) function: Function,
    /// Those of this crate.
    pub(crate) single: fn(f32) -> f32,
    pub(crate) double: fn(f64) -> f64,
    /// That of the standard library.
    pub(crate) standard: fn(f64) -> f64,
}

/// All of them but powers.
pub(crate) const ROWS: [Row; 10] = [
    row("exp", Function::Exp, single::exp, double::exp, f64::exp),
    row("exp2", Function::Exp2, single::exp2, double::exp2, f64::exp2),
    row("expm1", Function::Expm1, single::expm1, double::expm1, f64::exp_m1),
    row("log", Function::Log, single::log, double::log, f64::ln),
    row("log2", Function::Log2, single::log2, double::log2, f64::log2),
    row("log1p", Function::Log1p, single::log1p, double::log1p, f64::ln_1p),
    row("tanh", Function::Tanh, single::tanh, double::tanh, f64::tanh),
    row("sigmoid", Function::Sigmoid, single::sigmoid, double::sigmoid, |x| {
        1.0 / (1.0 + (-x).exp())
    }),
    row("sin", Function::Sin, single::sin, double::sin, f64::sin),
    row("cos", Function::Cos, single::cos, double::cos, f64::cos),
];

const fn row(
    name: &'static str,
    function: Function,
    single: fn(f32) -> f32,
    double: fn(f64) -> f64,
    standard: fn(f64) -> f64,
) -> Row {
    Row { name, function, single, double, standard }
}

/// m · 2^e, but for an error of less than 2^-200 of it.
#[derive(Debug, Clone)]
pub(crate) struct Wide {
    m: BigInt,
    e: i64,
}

fn shifted(m: &BigInt, left: i64) -> BigInt {
    if left >= 0 { m << left } else { m >> -left }
}

fn one() -> BigInt {
    BigInt::from(1) << P
}

/// The sum of (sign^k) · 1 / ((2k + 1) · n^(2k + 1)).
fn inverse_series(n: u32, bits: i64, sign: i32) -> BigInt {
    let mut power = (BigInt::from(1) << (bits + 32)) / n;
    let mut sum = power.clone();
    for k in 1.. {
        power /= i64::from(n) * i64::from(n) * i64::from(sign);
        if power.bits() < 2 {
            break;
        }
        sum += &power / (2 * k + 1);
    }
    sum >> 32
}

fn inverse_atanh(n: u32, bits: i64) -> BigInt {
    inverse_series(n, bits, 1)
}

fn inverse_atan(n: u32, bits: i64) -> BigInt {
    inverse_series(n, bits, -1)
}

/// A finite number as s · 2^e.
pub(crate) fn parts(x: f64) -> (BigInt, i64) {
    let bits = x.abs().to_bits();
    let (exponent, fraction) = ((bits >> 52) as i64, bits & ((1 << 52) - 1));
    let significand = if exponent == 0 { fraction } else { fraction | 1 << 52 };
    let sign = if x < 0.0 { -1 } else { 1 };
    (BigInt::from(significand) * sign, exponent.max(1) - 1075)
}

fn fixed(x: f64) -> BigInt {
    let (s, e) = parts(x);
    shifted(&s, P + e)
}

/// The quotient to the nearest integer.
fn rounded_quotient(a: &BigInt, b: &BigInt) -> BigInt {
    let twice: BigInt = a * 2 + b;
    let floor: BigInt = &twice / (b * 2);
    if twice.sign() == Sign::Minus && &floor * (b * 2) != twice { floor - 1 } else { floor }
}

/// e^x as a number near one and a power of two.
fn exp(x: &BigInt) -> (BigInt, i64) {
    let k = rounded_quotient(x, &LN2);
    let rest = (x - &k * &*LN2) >> 8;
    let (mut term, mut sum) = (one(), one());
    for n in 1.. {
        term = ((&term * &rest) >> P) / n;
        if term.bits() < 2 {
            break;
        }
        sum += &term;
    }
    for _ in 0..8 {
        sum = (&sum * &sum) >> P;
    }
    (sum, i64::try_from(k).expect("arguments are below 2^60"))
}

/// e^x - 1, of a small number exactly enough.
fn expm1(x: &BigInt) -> Wide {
    if x.bits() < (P - 3) as u64 {
        let (mut term, mut sum) = (x.clone(), x.clone());
        for n in 2.. {
            term = ((&term * x) >> P) / n;
            if term.bits() < 2 {
                break;
            }
            sum += &term;
        }
        return Wide { m: sum, e: -P };
    }
    let (m, k) = exp(x);
    if k >= 0 {
        Wide { m: (m << k) - one(), e: -P }
    } else {
        Wide { m: m - (one() << -k), e: k - P }
    }
}

/// The logarithm of u · 2^-P.
fn log(u: &BigInt) -> BigInt {
    let mut k = u.bits() as i64 - P;
    // From 1/2 to 1; from 0.7 on, and else twice as much.
    if shifted(u, -k) < BigInt::from(7) * one() / 10 {
        k -= 1;
    }
    let unit = shifted(&one(), k);
    let s: BigInt = ((u - &unit) << P) / (u + &unit);
    let square: BigInt = (&s * &s) >> P;
    let (mut power, mut sum) = (s.clone(), s);
    for n in 1.. {
        power = (&power * &square) >> P;
        if power.bits() < 2 {
            break;
        }
        sum += &power / (2 * n + 1);
    }
    sum * 2 + &*LN2 * k
}

/// The sine of x, or of as many quarters more.
fn sine(x: f64, more: i64) -> Wide {
    let (s, e) = parts(x);
    let wide = shifted(&s, Q + e);
    let quarter: BigInt = &*PI >> 1;
    let n = rounded_quotient(&wide, &quarter);
    let rest: BigInt = (wide - &n * quarter) >> (Q - P);
    let quarters = i64::try_from(((n + more) % 4 + 4) % 4).expect("it is below 4");
    let square: BigInt = (&rest * &rest) >> P;
    let (mut term, first) = if quarters % 2 == 0 { (rest, 2) } else { (one(), 1) };
    let mut sum = term.clone();
    for k in 0.. {
        term = -((&term * &square) >> P) / ((first + 2 * k) * (first + 2 * k + 1));
        if term.bits() < 2 {
            break;
        }
        sum += &term;
    }
    Wide { m: if quarters >= 2 { -sum } else { sum }, e: -P }
}

/// The function of a finite number, neither zero nor at a pole; results stay within what an `f64` holds, more or less, and arguments
/// from 2^-300 on.
pub(crate) fn wide(function: Function, x: f64) -> Wide {
    let ratio = |n: BigInt, d: &BigInt| Wide { m: (n << P) / d, e: -P };
    // Less than 2^-300 away from one.
    let nearly_one = || Wide { m: one() - 1, e: -P };
    match function {
        Function::Expm1 if x < -300.0 => return Wide { m: -nearly_one().m, e: -P },
        Function::Tanh if x > 150.0 => return nearly_one(),
        Function::Tanh if x < -150.0 => return Wide { m: -nearly_one().m, e: -P },
        Function::Sigmoid if x > 300.0 => return nearly_one(),
        _ => {}
    }
    match function {
        Function::Exp => {
            let (m, k) = exp(&fixed(x));
            Wide { m, e: k - P }
        }
        Function::Exp2 => {
            let k = x.round_ties_even();
            let (m, more) = exp(&((fixed(x - k) * &*LN2) >> P));
            Wide { m, e: k as i64 + more - P }
        }
        Function::Expm1 => expm1(&fixed(x)),
        Function::Log => {
            let (s, e) = parts(x);
            // Far from one the exponent is taken apart, as numbers are as small as 2^-1074.
            let m = shifted(&s, P - 52);
            Wide { m: log_of(x, &m, e + 52), e: -P }
        }
        Function::Log2 => {
            let (s, e) = parts(x);
            let m = shifted(&s, P - 52);
            ratio(log_of(x, &m, e + 52), &LN2)
        }
        Function::Log1p => Wide { m: log(&(one() + fixed(x))), e: -P },
        Function::Tanh => {
            let Wide { m, e } = expm1(&(fixed(x) * 2));
            let m = shifted(&m, e + P);
            ratio(m.clone(), &(m + one() * 2))
        }
        Function::Sigmoid => {
            let (m, k) = exp(&fixed(-x));
            if k >= 0 {
                let d = one() + (m << k);
                Wide { m: (BigInt::from(1) << (2 * P + k)) / d, e: -P - k }
            } else {
                let d = (one() << -k) + m;
                Wide { m: (BigInt::from(1) << (2 * (P - k))) / d, e: k - P }
            }
        }
        Function::Sin => sine(x, 0),
        Function::Cos => sine(x, 1),
        Function::Power(n) => {
            let (s, e) = parts(x);
            let power = s.pow(u32::from(n.unsigned_abs()));
            let exponent = e * i64::from(n);
            if n >= 0 {
                Wide { m: power, e: exponent }
            } else {
                let bits = power.bits() as i64 + P;
                Wide { m: (BigInt::from(1) << bits) / power, e: exponent - bits }
            }
        }
    }
}

/// The logarithm of m · 2^(k - P), where the whole is `x`.
fn log_of(x: f64, m: &BigInt, k: i64) -> BigInt {
    if (0.5..2.0).contains(&x) { log(&shifted(m, k)) } else { log(m) + &*LN2 * k }
}

impl Wide {
    /// The same to so many bits of which the last weighs 2^least at least: an integer and what its last bit weighs.
    fn to(&self, bits: i64, least: i64) -> (BigInt, i64) {
        let size = BigInt::from(self.m.magnitude().clone());
        let unit = (size.bits() as i64 + self.e - bits).max(least);
        let shift = unit - self.e;
        let rounded = if shift <= 0 {
            size << -shift
        } else {
            let half: BigInt = BigInt::from(1) << (shift - 1);
            let floor = &size >> shift;
            let rest = &size - (&floor << shift);
            let far: BigInt = &rest - &half;
            let is_exact = far.bits() == 0 && self.e.abs() < 1 << 20;
            let is_clear = far.bits() as i64 > shift - 180;
            assert!(is_clear || is_exact, "too near the middle of two numbers");
            let is_odd = floor.bit(0);
            let is_up = far.sign() == Sign::Plus || (far.sign() == Sign::NoSign && is_odd);
            if is_up { floor + 1 } else { floor }
        };
        (rounded, unit)
    }

    /// The nearest `f32`.
    pub(crate) fn single(&self) -> f32 {
        let (rounded, unit) = self.to(24, -149);
        let value = u32::try_from(rounded).expect("24 bits");
        let size =
            if unit > 200 { f64::INFINITY } else { f64::from(value) * 2f64.powi(unit as i32) };
        (if self.m.sign() == Sign::Minus { -size } else { size }) as f32
    }

    /// How far an `f64` is away, in its ulps.
    pub(crate) fn ulps(&self, y: f64) -> f64 {
        if y.is_infinite() {
            // As far as if it were 2^1024.
            let (rounded, unit) = self.to(53, -1074);
            let is_there = rounded.bits() as i64 + unit > 1024;
            return if is_there { 0.0 } else { f64::INFINITY };
        }
        let (s, e) = parts(y);
        let ulp = (self.m.bits() as i64 + self.e - 53).max(-1074);
        // In units of 2^-20 ulp.
        let unit = ulp - 20;
        let low = e.min(self.e).min(unit);
        let difference = (s << (e - low)) - (&self.m << (self.e - low));
        let units = difference.magnitude() >> (unit - low) as u64;
        u64::try_from(units).map_or(f64::INFINITY, |units| units as f64 / (1 << 20) as f64)
    }
}
