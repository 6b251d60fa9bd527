//! Every operation of one element: constants are folded by it, tiles run it, faults are told by it.

use crate::function::{Binary, Unary};
use crate::math::{double, single};
use crate::types::Const;

/// A type that operations compute in.
pub(crate) trait Scalar: Copy + PartialEq + PartialOrd + Default + 'static {
    fn min(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
}

/// Whether to take `a` rather than `b` as the smaller: NaN propagates, -0 < +0.
macro_rules! float_scalar {
    ($($ty:ty),+) => { $(
        impl Scalar for $ty {
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                let below = if self < other { self } else { other };
                // Of two zeros the one with a sign, if any has one.
                let equal = if self == other { <$ty>::from_bits(self.to_bits() | other.to_bits()) } else { below };
                if self.is_nan() | other.is_nan() { <$ty>::NAN } else { equal }
            }

            #[inline(always)]
            fn max(self, other: Self) -> Self {
                let above = if self > other { self } else { other };
                let equal = if self == other { <$ty>::from_bits(self.to_bits() & other.to_bits()) } else { above };
                if self.is_nan() | other.is_nan() { <$ty>::NAN } else { equal }
            }
        }
    )+ };
}
float_scalar!(f32, f64);

macro_rules! integer_scalar {
    ($($ty:ty),+) => { $(
        impl Scalar for $ty {
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                if self < other { self } else { other }
            }

            #[inline(always)]
            fn max(self, other: Self) -> Self {
                if self > other { self } else { other }
            }
        }
    )+ };
}
integer_scalar!(i64, u64, bool);

/// Integers: wrapped results, and whether they are wrong.
pub(crate) trait Checked: Scalar {
    fn add(self, other: Self) -> (Self, bool);
    fn sub(self, other: Self) -> (Self, bool);
    fn mul(self, other: Self) -> (Self, bool);
    fn floor_div(self, other: Self) -> (Self, bool);
    fn rem(self, other: Self) -> (Self, bool);
}

impl Checked for i64 {
    #[inline(always)]
    fn add(self, other: Self) -> (Self, bool) {
        self.overflowing_add(other)
    }

    #[inline(always)]
    fn sub(self, other: Self) -> (Self, bool) {
        self.overflowing_sub(other)
    }

    #[inline(always)]
    fn mul(self, other: Self) -> (Self, bool) {
        self.overflowing_mul(other)
    }

    #[inline(always)]
    fn floor_div(self, other: Self) -> (Self, bool) {
        if other == 0 {
            return (0, true);
        }
        let (quotient, over) = self.overflowing_div(other);
        let rest = self.wrapping_rem(other);
        (quotient - i64::from(rest != 0 && (rest < 0) != (other < 0)), over)
    }

    #[inline(always)]
    fn rem(self, other: Self) -> (Self, bool) {
        if other == 0 {
            return (0, true);
        }
        let rest = self.wrapping_rem(other);
        (if rest != 0 && (rest < 0) != (other < 0) { rest + other } else { rest }, false)
    }
}

impl Checked for u64 {
    #[inline(always)]
    fn add(self, other: Self) -> (Self, bool) {
        self.overflowing_add(other)
    }

    #[inline(always)]
    fn sub(self, other: Self) -> (Self, bool) {
        self.overflowing_sub(other)
    }

    #[inline(always)]
    fn mul(self, other: Self) -> (Self, bool) {
        self.overflowing_mul(other)
    }

    #[inline(always)]
    fn floor_div(self, other: Self) -> (Self, bool) {
        (self.checked_div(other).unwrap_or(0), other == 0)
    }

    #[inline(always)]
    fn rem(self, other: Self) -> (Self, bool) {
        (self.checked_rem(other).unwrap_or(0), other == 0)
    }
}

/// An operation of a constant; `None` if there is no such number.
pub(crate) fn unary(op: Unary, a: Const) -> Option<Const> {
    let of = |(value, wrong): (i64, bool)| (!wrong).then_some(Const::I64(value));
    let float = |f: fn(f64) -> f64, g: fn(f32) -> f32| match a {
        Const::F32(bits) => Const::F32(g(f32::from_bits(bits)).to_bits()),
        Const::F64(bits) => Const::F64(f(f64::from_bits(bits)).to_bits()),
        other => other,
    };
    let is = |f: fn(f64) -> bool| Const::Bool(as_f64(a).is_some_and(f));
    Some(match (op, a) {
        (Unary::Neg, Const::I64(v)) => return of(v.overflowing_neg()),
        (Unary::Abs, Const::I64(v)) => return of(v.overflowing_abs()),
        (Unary::Neg, _) => float(|x| -x, |x| -x),
        (Unary::Abs, _) => float(f64::abs, f32::abs),
        (Unary::Sqrt, _) => float(f64::sqrt, f32::sqrt),
        (Unary::Exp, _) => float(double::exp, single::exp),
        (Unary::Exp2, _) => float(double::exp2, single::exp2),
        (Unary::Expm1, _) => float(double::expm1, single::expm1),
        (Unary::Log, _) => float(double::log, single::log),
        (Unary::Log2, _) => float(double::log2, single::log2),
        (Unary::Log1p, _) => float(double::log1p, single::log1p),
        (Unary::Tanh, _) => float(double::tanh, single::tanh),
        (Unary::Sigmoid, _) => float(double::sigmoid, single::sigmoid),
        (Unary::Sin, _) => float(double::sin, single::sin),
        (Unary::Cos, _) => float(double::cos, single::cos),
        (Unary::Power(n), Const::F32(bits)) => {
            Const::F32(single::power(f32::from_bits(bits), n).to_bits())
        }
        (Unary::Power(n), Const::F64(bits)) => {
            Const::F64(double::power(f64::from_bits(bits), n).to_bits())
        }
        (Unary::Power(_), _) => return None,
        (Unary::Floor, _) => float(f64::floor, f32::floor),
        (Unary::Ceil, _) => float(f64::ceil, f32::ceil),
        (Unary::Trunc, _) => float(f64::trunc, f32::trunc),
        (Unary::Round, _) => float(f64::round_ties_even, f32::round_ties_even),
        (Unary::IsNan, _) => is(f64::is_nan),
        (Unary::IsInf, _) => is(f64::is_infinite),
        (Unary::IsFinite, _) => is(f64::is_finite),
        (Unary::Not, Const::Bool(v)) => Const::Bool(!v),
        (Unary::Not, Const::I64(v)) => Const::I64(!v),
        (Unary::Not, Const::U64(v)) => Const::U64(!v),
        (Unary::Not, _) => return None,
        (Unary::F64, _) => Const::F64(as_f64(a)?.to_bits()),
        (Unary::F32, Const::I64(v)) => Const::F32((v as f32).to_bits()),
        (Unary::F32, Const::U64(v)) => Const::F32((v as f32).to_bits()),
        (Unary::F32, Const::F32(_)) => a,
        (Unary::F32, _) => Const::F32((as_f64(a)? as f32).to_bits()),
        (Unary::I64, Const::U64(v)) => Const::I64(i64::try_from(v).ok()?),
        (Unary::I64, Const::I64(_)) => a,
        (Unary::I64, _) => Const::I64(as_f64(a)? as i64),
        (Unary::U64, Const::I64(v)) => Const::U64(u64::try_from(v).ok()?),
        (Unary::U64, Const::U64(_)) => a,
        (Unary::U64, _) => Const::U64(as_f64(a)? as u64),
        (Unary::Bool, Const::I64(v)) => Const::Bool(v != 0),
        (Unary::Bool, Const::U64(v)) => Const::Bool(v != 0),
        (Unary::Bool, _) => Const::Bool(as_f64(a)? != 0.0),
    })
}

/// The nearest f64 of a constant, `bool` as 0 and 1.
fn as_f64(a: Const) -> Option<f64> {
    Some(match a {
        Const::Bool(v) => f64::from(u8::from(v)),
        Const::I64(v) => v as f64,
        Const::U64(v) => v as f64,
        Const::F32(bits) => f64::from(f32::from_bits(bits)),
        Const::F64(bits) => f64::from_bits(bits),
    })
}

/// An operation of two constants of one type; `None` if there is no such number.
pub(crate) fn binary(op: Binary, a: Const, b: Const) -> Option<Const> {
    match (a, b) {
        (Const::Bool(a), Const::Bool(b)) => Some(Const::Bool(match op {
            Binary::And => a & b,
            Binary::Or => a | b,
            Binary::Xor => a ^ b,
            op => compare(op, a, b)?,
        })),
        (Const::I64(a), Const::I64(b)) => integer(op, a, b, Const::I64, [a & b, a | b, a ^ b]),
        (Const::U64(a), Const::U64(b)) => integer(op, a, b, Const::U64, [a & b, a | b, a ^ b]),
        (Const::F32(a), Const::F32(b)) => {
            let (a, b) = (f32::from_bits(a), f32::from_bits(b));
            let results = [a + b, a - b, a * b, a / b];
            float(op, a, b, results)
                .map(|x| Const::F32(x.to_bits()))
                .or_else(|| compare(op, a, b).map(Const::Bool))
        }
        (Const::F64(a), Const::F64(b)) => {
            let (a, b) = (f64::from_bits(a), f64::from_bits(b));
            let results = [a + b, a - b, a * b, a / b];
            float(op, a, b, results)
                .map(|x| Const::F64(x.to_bits()))
                .or_else(|| compare(op, a, b).map(Const::Bool))
        }
        _ => None,
    }
}

/// `a * b + c` of constants, rounded once.
pub(crate) fn fma(a: Const, b: Const, c: Const) -> Option<Const> {
    match (a, b, c) {
        (Const::F32(a), Const::F32(b), Const::F32(c)) => {
            let [a, b, c] = [a, b, c].map(f32::from_bits);
            Some(Const::F32(a.mul_add(b, c).to_bits()))
        }
        (Const::F64(a), Const::F64(b), Const::F64(c)) => {
            let [a, b, c] = [a, b, c].map(f64::from_bits);
            Some(Const::F64(a.mul_add(b, c).to_bits()))
        }
        _ => None,
    }
}

fn integer<T: Checked>(op: Binary, a: T, b: T, of: fn(T) -> Const, bits: [T; 3]) -> Option<Const> {
    let (value, wrong) = match op {
        Binary::Add => a.add(b),
        Binary::Sub => a.sub(b),
        Binary::Mul => a.mul(b),
        Binary::FloorDiv => a.floor_div(b),
        Binary::Rem => a.rem(b),
        Binary::Min => (a.min(b), false),
        Binary::Max => (a.max(b), false),
        Binary::And => (bits[0], false),
        Binary::Or => (bits[1], false),
        Binary::Xor => (bits[2], false),
        op => return compare(op, a, b).map(Const::Bool),
    };
    (!wrong).then(|| of(value))
}

fn float<T: Scalar>(
    op: Binary,
    a: T,
    b: T,
    [sum, difference, product, quotient]: [T; 4],
) -> Option<T> {
    Some(match op {
        Binary::Add => sum,
        Binary::Sub => difference,
        Binary::Mul => product,
        Binary::Div => quotient,
        Binary::Min => a.min(b),
        Binary::Max => a.max(b),
        _ => return None,
    })
}

fn compare<T: PartialOrd>(op: Binary, a: T, b: T) -> Option<bool> {
    Some(match op {
        Binary::Eq => a == b,
        Binary::Ne => a != b,
        Binary::Lt => a < b,
        Binary::Le => a <= b,
        _ => return None,
    })
}
