//! The loops: one an operation and type, compiled for each instruction set.

use bytemuck::{cast_slice, cast_slice_mut};

use super::functions::{POWERS, circular, each, each_but_hard, power, select};
use super::steps::{Action, Source, Step};
use super::{Register, Slice};
use crate::function::{Binary, Unary};
use crate::isa::{Job, widest};
use crate::lanes;
use crate::math::{double, single};
use crate::program::{Const, Type};
use crate::scalar::{Checked, Scalar};

/// What is told of a step that has no value for some element.
pub(super) type Tell<'t> = dyn FnMut(&Step, &[Register]) + 't;

/// Runs the steps over some elements with the widest instructions of the machine, telling of steps without a value.
pub(super) fn run(
    steps: &[Step],
    registers: &mut [Register],
    inputs: &[Slice<'_>],
    first: usize,
    n: usize,
    tell: &mut Tell<'_>,
) {
    widest(Run { steps, registers, inputs, first, n, tell });
}

struct Run<'r, 't> {
    steps: &'r [Step],
    registers: &'r mut [Register],
    inputs: &'r [Slice<'r>],
    first: usize,
    n: usize,
    tell: &'r mut Tell<'t>,
}

impl Job for Run<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<const AVX512: bool>(self) {
        let Run { steps, registers, inputs, first, n, tell } = self;
        all(steps, registers, inputs, first, n, tell);
    }
}

#[inline(always)]
fn all(
    steps: &[Step],
    registers: &mut [Register],
    inputs: &[Slice<'_>],
    first: usize,
    n: usize,
    tell: &mut Tell<'_>,
) {
    for step in steps {
        // The result's register is none of the operands', so that it can be taken out while they are read.
        let mut result = std::mem::take(&mut registers[step.to]);
        let operands = Operands { registers, inputs, first, n };
        let wrong = step_of(step, &operands, &mut result);
        if wrong {
            tell(step, registers);
        }
        registers[step.to] = result;
    }
}

/// Where operands are found.
#[derive(Clone, Copy)]
struct Operands<'o> {
    registers: &'o [Register],
    inputs: &'o [Slice<'o>],
    first: usize,
    n: usize,
}

impl<'o> Operands<'o> {
    #[inline(always)]
    fn get<T: bytemuck::AnyBitPattern>(&self, source: Source) -> &'o [T] {
        let size = size_of::<T>();
        cast_slice(bytes(&source, size, self.registers, self.inputs, self.first, self.n))
    }
}

/// The bytes of a value.
#[inline(always)]
pub(super) fn bytes<'s>(
    source: &Source,
    size: usize,
    registers: &'s [Register],
    inputs: &[Slice<'s>],
    first: usize,
    n: usize,
) -> &'s [u8] {
    match *source {
        // As many bytes as an element has times `n`, and more; the caller's type cuts them.
        Source::Register(register) => {
            let register = &registers[register];
            &cast_slice(&register.words)[register.at * size..]
        }
        Source::Input(input) => match inputs[input] {
            Slice::Bool(x) => cast_slice(&x[first..first + n]),
            Slice::I64(x) => cast_slice(&x[first..first + n]),
            Slice::U64(x) => cast_slice(&x[first..first + n]),
            Slice::F32(x) => cast_slice(&x[first..first + n]),
            Slice::F64(x) => cast_slice(&x[first..first + n]),
            other => unreachable!("elements of {} are loaded into a register", other.dtype()),
        },
        Source::Nowhere => unreachable!("what is asked for is computed"),
    }
}

/// Fills a register with a constant.
pub(super) fn fill(register: &mut Register, constant: Const) {
    let words = &mut register.words;
    match constant {
        Const::Bool(value) => cast_slice_mut::<u64, u8>(words).fill(u8::from(value)),
        Const::I64(value) => words.fill(value as u64),
        Const::U64(bits) | Const::F64(bits) => words.fill(bits),
        Const::F32(bits) => cast_slice_mut::<u64, u32>(words).fill(bits),
    }
}

#[inline(always)]
fn one<A: Copy, R>(out: &mut [R], a: &[A], f: impl Fn(A) -> R) {
    for (out, &a) in out.iter_mut().zip(a) {
        *out = f(a);
    }
}

#[inline(always)]
fn two<A: Copy, R>(out: &mut [R], a: &[A], b: &[A], f: impl Fn(A, A) -> R) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = f(a, b);
    }
}

#[inline(always)]
fn one_checked<A: Copy, R>(out: &mut [R], a: &[A], f: impl Fn(A) -> (R, bool)) -> bool {
    let mut any = false;
    for (out, &a) in out.iter_mut().zip(a) {
        let (value, wrong) = f(a);
        *out = value;
        any |= wrong;
    }
    any
}

#[inline(always)]
fn two_checked<A: Copy>(out: &mut [A], a: &[A], b: &[A], f: impl Fn(A, A) -> (A, bool)) -> bool {
    let mut any = false;
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        let (value, wrong) = f(a, b);
        *out = value;
        any |= wrong;
    }
    any
}

/// Room for the `n` numbers of a tile in a register.
#[inline(always)]
fn cut<T: bytemuck::Pod>(register: &mut Register, n: usize) -> &mut [T] {
    let at = register.at;
    &mut cast_slice_mut(&mut register.words)[at..at + n]
}

/// One step; whether some element has no value.
#[inline(always)]
fn step_of(step: &Step, x: &Operands<'_>, out: &mut Register) -> bool {
    match step.action {
        Action::Load(input) => load(x, input, out),
        Action::Unary(op, a) => return unary(op, step.ty, x, a, out),
        Action::Binary(op, a, b) => return binary(op, step.ty, x, a, b, out),
        Action::AbsOf(op, a, b) => match step.ty {
            Type::F32 => absolute::<f32>(op, x, a, b, out),
            _ => absolute::<f64>(op, x, a, b, out),
        },
        Action::Select(c, a, b) => match step.ty {
            Type::Bool => select!(u8, x, c, a, b, out),
            Type::F32 => select!(u32, x, c, a, b, out),
            Type::I64 | Type::U64 | Type::F64 => select!(u64, x, c, a, b, out),
        },
        Action::Fma(a, b, c) => match step.ty {
            Type::F32 => fma::<f32>(x, a, b, c, out, f32::mul_add),
            _ => fma::<f64>(x, a, b, c, out, f64::mul_add),
        },
    }
    false
}

#[inline(always)]
fn fma<T: bytemuck::Pod>(
    x: &Operands<'_>,
    a: Source,
    b: Source,
    c: Source,
    out: &mut Register,
    f: impl Fn(T, T, T) -> T,
) {
    let (a, b, c) = (x.get::<T>(a), x.get::<T>(b), x.get::<T>(c));
    for (((out, &a), &b), &c) in cut::<T>(out, x.n).iter_mut().zip(a).zip(b).zip(c) {
        *out = f(a, b, c);
    }
}

#[inline(always)]
fn load(x: &Operands<'_>, input: usize, out: &mut Register) {
    let range = x.first..x.first + x.n;
    let n = x.n;
    match x.inputs[input] {
        Slice::I8(x) => one(cut::<i64>(out, n), &x[range], i64::from),
        Slice::I16(x) => one(cut::<i64>(out, n), &x[range], i64::from),
        Slice::I32(x) => one(cut::<i64>(out, n), &x[range], i64::from),
        Slice::U8(x) => one(cut::<u64>(out, n), &x[range], u64::from),
        Slice::U16(x) => one(cut::<u64>(out, n), &x[range], u64::from),
        Slice::U32(x) => one(cut::<u64>(out, n), &x[range], u64::from),
        Slice::F16(x) => one(cut::<f32>(out, n), &x[range], f32::from),
        Slice::BF16(x) => one(cut::<f32>(out, n), &x[range], f32::from),
        ref other => unreachable!("elements of {} are read where they lie", other.dtype()),
    }
}

#[inline(always)]
fn binary(
    op: Binary,
    ty: Type,
    x: &Operands<'_>,
    a: Source,
    b: Source,
    out: &mut Register,
) -> bool {
    match ty {
        Type::F32 => float::<f32>(op, x, a, b, out),
        Type::F64 => float::<f64>(op, x, a, b, out),
        Type::I64 => return integer::<i64>(op, x, a, b, out),
        Type::U64 => return integer::<u64>(op, x, a, b, out),
        Type::Bool => {
            let (a, b, n) = (x.get::<u8>(a), x.get::<u8>(b), x.n);
            let out = cut::<u8>(out, n);
            match op {
                Binary::And => two(out, a, b, |a, b| a & b),
                Binary::Or => two(out, a, b, |a, b| a | b),
                Binary::Xor | Binary::Ne => two(out, a, b, |a, b| a ^ b),
                Binary::Eq => two(out, a, b, |a, b| u8::from(a == b)),
                Binary::Lt => two(out, a, b, |a, b| u8::from(a < b)),
                Binary::Le => two(out, a, b, |a, b| u8::from(a <= b)),
                _ => unreachable!("conditions have no {op:?}"),
            }
        }
    }
    false
}

/// Floats with the four operations.
trait Float:
    Scalar
    + lanes::Float
    + bytemuck::Pod
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
{
}
impl Float for f32 {}
impl Float for f64 {}

/// The magnitudes of results, which have no register of their own.
#[inline(always)]
fn absolute<T: Float>(op: Binary, x: &Operands<'_>, a: Source, b: Source, out: &mut Register) {
    let (a, b, out) = (x.get::<T>(a), x.get::<T>(b), cut::<T>(out, x.n));
    match op {
        Binary::Add => two(out, a, b, |a, b| (a + b).magnitude()),
        Binary::Sub => two(out, a, b, |a, b| (a - b).magnitude()),
        Binary::Mul => two(out, a, b, |a, b| (a * b).magnitude()),
        _ => two(out, a, b, |a, b| (a / b).magnitude()),
    }
}

#[inline(always)]
fn float<T: Float>(op: Binary, x: &Operands<'_>, a: Source, b: Source, out: &mut Register) {
    let (a, b, n) = (x.get::<T>(a), x.get::<T>(b), x.n);
    match op {
        Binary::Add => two(cut::<T>(out, n), a, b, |a, b| a + b),
        Binary::Sub => two(cut::<T>(out, n), a, b, |a, b| a - b),
        Binary::Mul => two(cut::<T>(out, n), a, b, |a, b| a * b),
        Binary::Div => two(cut::<T>(out, n), a, b, |a, b| a / b),
        Binary::Min => two(cut::<T>(out, n), a, b, T::min),
        Binary::Max => two(cut::<T>(out, n), a, b, T::max),
        op => compare(op, x, a, b, out),
    }
}

#[inline(always)]
fn compare<T: Scalar>(op: Binary, x: &Operands<'_>, a: &[T], b: &[T], out: &mut Register) {
    let out = cut::<u8>(out, x.n);
    match op {
        Binary::Eq => two(out, a, b, |a, b| u8::from(a == b)),
        Binary::Ne => two(out, a, b, |a, b| u8::from(a != b)),
        Binary::Lt => two(out, a, b, |a, b| u8::from(a < b)),
        Binary::Le => two(out, a, b, |a, b| u8::from(a <= b)),
        op => unreachable!("numbers have no {op:?}"),
    }
}

/// Integers with bits.
trait Bits:
    Checked
    + bytemuck::Pod
    + std::ops::BitAnd<Output = Self>
    + std::ops::BitOr<Output = Self>
    + std::ops::BitXor<Output = Self>
{
}
impl Bits for i64 {}
impl Bits for u64 {}

#[inline(always)]
fn integer<T: Bits>(
    op: Binary,
    x: &Operands<'_>,
    a: Source,
    b: Source,
    out: &mut Register,
) -> bool {
    let (a, b, n) = (x.get::<T>(a), x.get::<T>(b), x.n);
    match op {
        Binary::Add => return two_checked(cut::<T>(out, n), a, b, T::add),
        Binary::Sub => return two_checked(cut::<T>(out, n), a, b, T::sub),
        Binary::Mul => return two_checked(cut::<T>(out, n), a, b, T::mul),
        Binary::FloorDiv => return two_checked(cut::<T>(out, n), a, b, T::floor_div),
        Binary::Rem => return two_checked(cut::<T>(out, n), a, b, T::rem),
        Binary::Min => two(cut::<T>(out, n), a, b, T::min),
        Binary::Max => two(cut::<T>(out, n), a, b, T::max),
        Binary::And => two(cut::<T>(out, n), a, b, |a, b| a & b),
        Binary::Or => two(cut::<T>(out, n), a, b, |a, b| a | b),
        Binary::Xor => two(cut::<T>(out, n), a, b, |a, b| a ^ b),
        op => compare(op, x, a, b, out),
    }
    false
}

#[inline(always)]
fn unary(op: Unary, ty: Type, x: &Operands<'_>, a: Source, out: &mut Register) -> bool {
    macro_rules! of {
        ($from:ty, $to:ty, $f:expr) => {{
            one(cut::<$to>(out, x.n), x.get::<$from>(a), $f);
            false
        }};
    }
    macro_rules! floats {
        ($f:ident) => {
            match ty {
                Type::F32 => of!(f32, f32, f32::$f),
                _ => of!(f64, f64, f64::$f),
            }
        };
    }
    macro_rules! tests {
        ($f:ident) => {
            match ty {
                Type::F32 => of!(f32, u8, |x: f32| u8::from(x.$f())),
                _ => of!(f64, u8, |x: f64| u8::from(x.$f())),
            }
        };
    }
    macro_rules! functions {
        ($f:ident) => {
            match ty {
                Type::F32 => each!(cut::<f32>(out, x.n), x.get::<f32>(a), single::$f),
                _ => each!(cut::<f64>(out, x.n), x.get::<f64>(a), double::$f),
            }
        };
    }
    macro_rules! circles {
        ($module:ident, $ty:ty, $near:ident, $any:ident) => {
            circular!(
                cut::<$ty>(out, x.n),
                x.get::<$ty>(a),
                $module::is_near,
                $module::$near,
                $module::$any
            )
        };
    }
    match (op, ty) {
        (Unary::Neg, Type::I64) => {
            one_checked(cut::<i64>(out, x.n), x.get::<i64>(a), i64::overflowing_neg)
        }
        (Unary::Abs, Type::I64) => {
            one_checked(cut::<i64>(out, x.n), x.get::<i64>(a), i64::overflowing_abs)
        }
        (Unary::Neg, Type::F32) => of!(f32, f32, |x: f32| -x),
        (Unary::Neg, _) => of!(f64, f64, |x: f64| -x),
        (Unary::Abs, _) => floats!(abs),
        (Unary::Sqrt, _) => floats!(sqrt),
        (Unary::Exp, _) => functions!(exp),
        (Unary::Exp2, _) => functions!(exp2),
        (Unary::Expm1, _) => functions!(expm1),
        (Unary::Log, Type::F32) => {
            each_but_hard!(cut::<f32>(out, x.n), x.get::<f32>(a), single::wide_log, single::log)
        }
        (Unary::Log, _) => functions!(log),
        (Unary::Log2, _) => functions!(log2),
        (Unary::Log1p, Type::F32) => {
            each_but_hard!(cut::<f32>(out, x.n), x.get::<f32>(a), single::wide_log1p, single::log1p)
        }
        (Unary::Log1p, _) => functions!(log1p),
        (Unary::Tanh, _) => functions!(tanh),
        (Unary::Sigmoid, _) => functions!(sigmoid),
        (Unary::Sin, Type::F32) => circles!(single, f32, sin_near, sin),
        (Unary::Sin, _) => circles!(double, f64, sin_near, sin),
        (Unary::Cos, Type::F32) => circles!(single, f32, cos_near, cos),
        (Unary::Cos, _) => circles!(double, f64, cos_near, cos),
        (Unary::Power(n), Type::F32) => {
            power!(cut::<f32>(out, x.n), x.get::<f32>(a), n, f32, single::powers)
        }
        (Unary::Power(n), _) => {
            power!(cut::<f64>(out, x.n), x.get::<f64>(a), n, f64, double::powers)
        }
        (Unary::Floor, _) => floats!(floor),
        (Unary::Ceil, _) => floats!(ceil),
        (Unary::Trunc, _) => floats!(trunc),
        (Unary::Round, _) => floats!(round_ties_even),
        (Unary::IsNan, _) => tests!(is_nan),
        (Unary::IsInf, _) => tests!(is_infinite),
        (Unary::IsFinite, _) => tests!(is_finite),
        (Unary::Not, Type::Bool) => of!(u8, u8, |x: u8| x ^ 1),
        (Unary::Not, _) => of!(u64, u64, |x: u64| !x),
        (Unary::F32, Type::Bool) => of!(u8, f32, f32::from),
        (Unary::F32, Type::I64) => of!(i64, f32, |x| x as f32),
        (Unary::F32, Type::U64) => of!(u64, f32, |x| x as f32),
        (Unary::F32, _) => of!(f64, f32, |x| x as f32),
        (Unary::F64, Type::Bool) => of!(u8, f64, f64::from),
        (Unary::F64, Type::I64) => of!(i64, f64, |x| x as f64),
        (Unary::F64, Type::U64) => of!(u64, f64, |x| x as f64),
        (Unary::F64, _) => of!(f32, f64, f64::from),
        (Unary::I64, Type::Bool) => of!(u8, i64, i64::from),
        (Unary::I64, Type::U64) => {
            one_checked(cut::<i64>(out, x.n), x.get::<u64>(a), |x| (x as i64, x > i64::MAX as u64))
        }
        (Unary::I64, Type::F32) => of!(f32, i64, |x| x as i64),
        (Unary::I64, _) => of!(f64, i64, |x| x as i64),
        (Unary::U64, Type::Bool) => of!(u8, u64, u64::from),
        (Unary::U64, Type::I64) => {
            one_checked(cut::<u64>(out, x.n), x.get::<i64>(a), |x| (x as u64, x < 0))
        }
        (Unary::U64, Type::F32) => of!(f32, u64, |x| x as u64),
        (Unary::U64, _) => of!(f64, u64, |x| x as u64),
        (Unary::Bool, Type::F32) => of!(f32, u8, |x| u8::from(x != 0.0)),
        (Unary::Bool, Type::F64) => of!(f64, u8, |x| u8::from(x != 0.0)),
        (Unary::Bool, _) => of!(u64, u8, |x| u8::from(x != 0)),
    }
}
