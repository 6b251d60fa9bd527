//! exp, log, sin and their like: the functions of [`math`](crate::math), which print themselves.

use std::cell::RefCell;

use super::symbol::{Printer, Symbol};
use super::{Code, RegisterClass};
use crate::function::Unary;
use crate::math::{double, single, soon, wide};
use crate::program::Type;

/// What a function of `f32` has of the inputs that an `f64` does not tell: their results, and how they go with the sign.
enum Hard {
    Plain(&'static [(u32, u32)]),
    /// Positive inputs stand for both signs: the result has the input's.
    Odd(&'static [(u32, u32)]),
    Even(&'static [(u32, u32)]),
}

/// Whether it is one of these functions.
pub(super) fn is_function(op: Unary) -> bool {
    use Unary::{Cos, Exp, Exp2, Expm1, Log, Log1p, Log2, Power, Sigmoid, Sin, Tanh};
    matches!(op, Exp | Exp2 | Expm1 | Log | Log2 | Log1p | Tanh | Sigmoid | Sin | Cos | Power(_))
}

impl Code<'_> {
    /// A function of a number, in `d`.
    pub(super) fn function(&mut self, op: Unary, ty: Type, d: &str, a: &str) {
        match ty {
            Type::F32 => self.single(op, d, a),
            _ => {
                let value = self.evaluated("mov.f64", a, |x| of_double(op, x));
                self.line(format_args!("mov.f64 {d}, {value};"));
            }
        }
    }

    /// What a function makes of an operand that an instruction brings to an `f64`: its place in an instruction.
    fn evaluated(
        &mut self,
        instruction: &str,
        a: &str,
        function: impl for<'c, 'p> Fn(Symbol<'c, 'p>) -> Symbol<'c, 'p>,
    ) -> String {
        let code = RefCell::new(self);
        let x = Printer::new(&code).number(instruction, a);
        function(x).text()
    }

    fn single(&mut self, op: Unary, d: &str, a: &str) {
        if op == Unary::Power(0) {
            return self.line(format_args!("mov.f32 {d}, 0f3F800000;"));
        }
        let value = self.evaluated("cvt.f64.f32", a, |x| of_single(op, x));
        self.line(format_args!("cvt.rn.f32.f64 {d}, {value};"));
        let bits = self.temporary(RegisterClass::Word);
        let (hard, is_odd) = match hard(op) {
            Hard::Plain(hard) => {
                self.line(format_args!("mov.b32 {bits}, {a};"));
                (hard, false)
            }
            Hard::Odd(hard) | Hard::Even(hard) if hard.is_empty() => (hard, false),
            Hard::Even(hard) => {
                self.line(format_args!("abs.f32 {bits}, {a};"));
                (hard, false)
            }
            Hard::Odd(hard) => {
                self.line(format_args!("abs.f32 {bits}, {a};"));
                (hard, true)
            }
        };
        for &(input, result) in hard {
            let p = self.temporary(RegisterClass::Predicate);
            let mut of_input = format!("0x{result:08X}");
            if is_odd {
                let t = self.temporary(RegisterClass::Word);
                self.line(format_args!("mov.b32 {t}, {a};"));
                self.line(format_args!("and.b32 {t}, {t}, 0x80000000;"));
                self.line(format_args!("xor.b32 {t}, {t}, {of_input};"));
                of_input = t;
            }
            let t = self.temporary(RegisterClass::Word);
            self.line(format_args!("setp.eq.u32 {p}, {bits}, 0x{input:08X};"));
            self.line(format_args!("mov.b32 {t}, {d};"));
            self.line(format_args!("selp.b32 {t}, {of_input}, {t}, {p};"));
            self.line(format_args!("mov.b32 {d}, {t};"));
        }
        let p = self.temporary(RegisterClass::Predicate);
        self.line(format_args!("setp.nan.f32 {p}, {a}, {a};"));
        self.line(format_args!("selp.f32 {d}, 0f7FC00000, {d}, {p};"));
    }
}

fn of_double<'c, 'p>(op: Unary, x: Symbol<'c, 'p>) -> Symbol<'c, 'p> {
    match op {
        Unary::Exp => double::exp(x),
        Unary::Exp2 => double::exp2(x),
        Unary::Expm1 => double::expm1(x),
        Unary::Log => double::log(x),
        Unary::Log2 => double::log2(x),
        Unary::Log1p => double::log1p(x),
        Unary::Tanh => double::tanh(x),
        Unary::Sigmoid => double::sigmoid(x),
        Unary::Sin => double::sin(x),
        Unary::Cos => double::cos(x),
        Unary::Power(n) => double::power(x, n),
        other => unreachable!("{other} is an instruction"),
    }
}

fn of_single<'c, 'p>(op: Unary, x: Symbol<'c, 'p>) -> Symbol<'c, 'p> {
    match op {
        Unary::Exp => soon::exp(x),
        Unary::Exp2 => soon::exp2(x),
        Unary::Expm1 => wide::expm1(x),
        Unary::Log => wide::log(x),
        Unary::Log2 => wide::log2(x),
        Unary::Log1p => wide::log1p(x),
        Unary::Tanh => wide::tanh(x),
        Unary::Sigmoid => wide::sigmoid(x),
        Unary::Sin => wide::sin(x),
        Unary::Cos => wide::cos(x),
        Unary::Power(n) => wide::power(x, n),
        other => unreachable!("{other} is an instruction"),
    }
}

fn hard(op: Unary) -> Hard {
    match op {
        Unary::Exp => Hard::Plain(&single::EXP),
        Unary::Exp2 => Hard::Plain(&single::EXP2),
        Unary::Expm1 => Hard::Plain(&single::EXPM1),
        Unary::Log => Hard::Plain(&single::LOG),
        Unary::Log2 => Hard::Plain(&single::LOG2),
        Unary::Log1p => Hard::Plain(&single::LOG1P),
        Unary::Tanh => Hard::Odd(&single::TANH),
        Unary::Sigmoid => Hard::Plain(&single::SIGMOID),
        Unary::Sin => Hard::Odd(&single::SIN),
        Unary::Cos => Hard::Even(&single::COS),
        _ => Hard::Plain(&[]),
    }
}
