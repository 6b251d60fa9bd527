//! [`Symbol`], [`Integer`] and [`Flag`]: what stands for an `f64`, a `u64` and a `bool` of a kernel. Each operation on them prints its instruction, so that the
//! functions of [`math`](crate::math) print themselves; what is made of constants alone is computed at once.

use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Sub};

use super::{Code, RegisterClass};
use crate::math::number::{Bits, Number, Truth, Word};

/// Where instructions go.
#[derive(Clone, Copy)]
pub(super) struct Printer<'c, 'p>(&'c RefCell<&'c mut Code<'p>>);

/// A value: known, or in a register.
#[derive(Clone, Copy)]
enum Value<'c, 'p, C> {
    Constant(C),
    Register(Printer<'c, 'p>, usize),
}

/// An `f64`.
#[derive(Clone, Copy)]
pub(super) struct Symbol<'c, 'p>(Value<'c, 'p, u64>);
/// A `u64`.
#[derive(Clone, Copy)]
pub(super) struct Integer<'c, 'p>(Value<'c, 'p, u64>);
/// A `bool`.
#[derive(Clone, Copy)]
pub(super) struct Flag<'c, 'p>(Value<'c, 'p, bool>);

impl<'c, 'p> Printer<'c, 'p> {
    pub(super) fn new(code: &'c RefCell<&'c mut Code<'p>>) -> Self {
        Printer(code)
    }

    /// A number in a new register, which an instruction is printed for that begins and ends so.
    pub(super) fn number(self, instruction: &str, operands: &str) -> Symbol<'c, 'p> {
        Symbol(self.value(RegisterClass::Long, instruction, operands))
    }

    fn value<C>(self, kind: RegisterClass, instruction: &str, operands: &str) -> Value<'c, 'p, C> {
        let mut code = self.0.borrow_mut();
        let register = code.number(kind);
        let name = kind.register(register);
        code.line(format_args!("{instruction} {name}, {operands};"));
        Value::Register(self, register)
    }
}

impl<C> Value<'_, '_, C> {
    /// Its place in an instruction.
    fn text(&self, kind: RegisterClass, constant: impl Fn(&C) -> String) -> String {
        match self {
            Value::Constant(value) => constant(value),
            Value::Register(_, register) => kind.register(*register),
        }
    }
}

/// What numbers and integers share: constants are bits, written as such.
impl<'c, 'p> Value<'c, 'p, u64> {
    fn bits(&self, prefix: &str) -> String {
        self.text(RegisterClass::Long, |bits| format!("{prefix}{bits:016X}"))
    }

    /// Where an operand's instructions go.
    fn printer(&self) -> Option<Printer<'c, 'p>> {
        match self {
            Value::Constant(_) => None,
            Value::Register(printer, _) => Some(*printer),
        }
    }

    /// Of two constants what is known, else what an instruction makes of both.
    fn with(
        self,
        other: Self,
        prefix: &str,
        instruction: &str,
        known: impl Fn(u64, u64) -> u64,
    ) -> Self {
        match (self, other) {
            (Value::Constant(a), Value::Constant(b)) => Value::Constant(known(a, b)),
            (Value::Register(printer, _), _) | (_, Value::Register(printer, _)) => {
                let operands = format!("{}, {}", self.bits(prefix), other.bits(prefix));
                printer.value(RegisterClass::Long, instruction, &operands)
            }
        }
    }

    /// The same for an instruction of one operand.
    fn alone(self, prefix: &str, instruction: &str, known: impl Fn(u64) -> u64) -> Self {
        match self {
            Value::Constant(a) => Value::Constant(known(a)),
            Value::Register(printer, _) => {
                printer.value(RegisterClass::Long, instruction, &self.bits(prefix))
            }
        }
    }

    /// A comparison of a type, which has another name where the operands are exchanged: a constant comes second.
    fn compared(
        self,
        other: Self,
        (prefix, ty): (&str, &str),
        [test, turned]: [&str; 2],
        known: impl Fn(u64, u64) -> bool,
    ) -> Flag<'c, 'p> {
        let (printer, test, a, b) = match (self, other) {
            (Value::Constant(a), Value::Constant(b)) => return Flag(Value::Constant(known(a, b))),
            (Value::Constant(_), Value::Register(printer, _)) => (printer, turned, other, self),
            (Value::Register(printer, _), _) => (printer, test, self, other),
        };
        let operands = format!("{}, {}", a.bits(prefix), b.bits(prefix));
        Flag(printer.value(RegisterClass::Predicate, &format!("setp.{test}.{ty}"), &operands))
    }

    fn selected(condition: Flag<'c, 'p>, yes: Self, no: Self, prefix: &str, ty: &str) -> Self {
        match condition.0 {
            Value::Constant(true) => yes,
            Value::Constant(false) => no,
            Value::Register(printer, _) => {
                let operands =
                    format!("{}, {}, {}", yes.bits(prefix), no.bits(prefix), condition.text());
                printer.value(RegisterClass::Long, &format!("selp.{ty}"), &operands)
            }
        }
    }
}

/// How constants of numbers and of integers begin, and the types of their comparisons.
const NUMBER: (&str, &str) = ("0d", "f64");
const INTEGER: (&str, &str) = ("0x", "u64");

impl<'c, 'p> Symbol<'c, 'p> {
    pub(super) fn text(&self) -> String {
        self.0.bits(NUMBER.0)
    }

    fn two(self, other: Self, instruction: &str, known: impl Fn(f64, f64) -> f64) -> Self {
        let known = |a, b| known(f64::from_bits(a), f64::from_bits(b)).to_bits();
        Symbol(self.0.with(other.0, NUMBER.0, instruction, known))
    }

    fn one(self, instruction: &str, known: impl Fn(f64) -> f64) -> Self {
        Symbol(self.0.alone(NUMBER.0, instruction, |a| known(f64::from_bits(a)).to_bits()))
    }

    fn compared(
        self,
        other: Self,
        tests: [&str; 2],
        known: impl Fn(f64, f64) -> bool,
    ) -> Flag<'c, 'p> {
        let known = |a, b| known(f64::from_bits(a), f64::from_bits(b));
        self.0.compared(other.0, NUMBER, tests, known)
    }
}

macro_rules! arithmetic {
    ($($operator:ident, $name:ident, $instruction:literal, $known:expr;)*) => {$(
        impl $operator for Symbol<'_, '_> {
            type Output = Self;
            fn $name(self, other: Self) -> Self {
                self.two(other, $instruction, $known)
            }
        }
    )*};
}
arithmetic! {
    Add, add, "add.rn.f64", |a, b| a + b;
    Sub, sub, "sub.rn.f64", |a, b| a - b;
    Mul, mul, "mul.rn.f64", |a, b| a * b;
    Div, div, "div.rn.f64", |a, b| a / b;
}

impl Neg for Symbol<'_, '_> {
    type Output = Self;
    fn neg(self) -> Self {
        self.one("neg.f64", |a| -a)
    }
}

impl<'c, 'p> Number for Symbol<'c, 'p> {
    type Bits = Integer<'c, 'p>;
    type Truth = Flag<'c, 'p>;

    fn of(value: f64) -> Self {
        Symbol(Value::Constant(value.to_bits()))
    }
    fn mul_add(self, by: Self, more: Self) -> Self {
        let printer = [self.0, by.0, more.0].iter().find_map(Value::printer);
        match (self.0, by.0, more.0, printer) {
            (Value::Constant(a), Value::Constant(b), Value::Constant(c), _) => {
                Symbol::of(f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c)))
            }
            (.., Some(printer)) => {
                let operands = format!("{}, {}, {}", self.text(), by.text(), more.text());
                printer.number("fma.rn.f64", &operands)
            }
            (.., None) => unreachable!("what is no constant is in a register"),
        }
    }
    fn abs(self) -> Self {
        self.one("abs.f64", f64::abs)
    }
    fn to_bits(self) -> Self::Bits {
        Integer(self.0)
    }
    fn is_less(self, than: Self) -> Self::Truth {
        self.compared(than, ["lt", "gt"], |a, b| a < b)
    }
    fn is_at_most(self, bound: Self) -> Self::Truth {
        self.compared(bound, ["le", "ge"], |a, b| a <= b)
    }
    fn equals(self, other: Self) -> Self::Truth {
        self.compared(other, ["eq", "eq"], |a, b| a == b)
    }
    fn select(condition: Self::Truth, yes: Self, no: Self) -> Self {
        Symbol(Value::selected(condition, yes.0, no.0, NUMBER.0, "f64"))
    }
    fn choose(
        condition: Self::Truth,
        yes: impl FnOnce() -> Self,
        no: impl FnOnce() -> Self,
    ) -> Self {
        let Value::Register(printer, _) = condition.0 else {
            return if condition.is_known() { yes() } else { no() };
        };
        let (result, label) = {
            let mut code = printer.0.borrow_mut();
            let (result, label) = (code.number(RegisterClass::Long), code.label());
            code.line(format_args!("@!{} bra {label}_else;", condition.text()));
            (Symbol(Value::Register(printer, result)), label)
        };
        let yes = yes();
        let line = |line: String| printer.0.borrow_mut().line(format_args!("{line}"));
        line(format!("mov.f64 {}, {};", result.text(), yes.text()));
        line(format!("bra {label}_end;\n{label}_else:"));
        let no = no();
        line(format!("mov.f64 {}, {};\n{label}_end:", result.text(), no.text()));
        result
    }
}

impl<'c, 'p> Integer<'c, 'p> {
    fn text(&self) -> String {
        self.0.bits(INTEGER.0)
    }

    fn two(self, other: Self, instruction: &str, known: impl Fn(Word, Word) -> Word) -> Self {
        let known = |a, b| known(Word(a), Word(b)).0;
        Integer(self.0.with(other.0, INTEGER.0, instruction, known))
    }

    /// Moved by so many bits, which instructions take as words of 32.
    fn moved(self, by: Self, instruction: &str, known: impl Fn(Word, Word) -> Word) -> Self {
        let by = match (self.0, by.0) {
            (Value::Constant(a), Value::Constant(by)) => {
                return Integer::of(known(Word(a), Word(by)).0);
            }
            (_, Value::Constant(by)) => by.to_string(),
            (_, Value::Register(printer, _)) => {
                let by = by.text();
                let word: Value<'_, '_, u64> =
                    printer.value(RegisterClass::Word, "cvt.u32.u64", &by);
                word.text(RegisterClass::Word, u64::to_string)
            }
        };
        let (Some(printer), value) = (self.0.printer(), self.text()) else {
            unreachable!("only registers are moved by registers")
        };
        Integer(printer.value(RegisterClass::Long, instruction, &format!("{value}, {by}")))
    }

    fn compared(
        self,
        other: Self,
        tests: [&str; 2],
        known: impl Fn(u64, u64) -> bool,
    ) -> Flag<'c, 'p> {
        self.0.compared(other.0, INTEGER, tests, known)
    }
}

macro_rules! words {
    ($($operator:ident, $name:ident, $instruction:literal;)*) => {$(
        impl $operator for Integer<'_, '_> {
            type Output = Self;
            fn $name(self, other: Self) -> Self {
                self.two(other, $instruction, |a, b| $operator::$name(a, b))
            }
        }
    )*};
}
words! {
    Add, add, "add.s64";
    Sub, sub, "sub.s64";
    Mul, mul, "mul.lo.u64";
    BitAnd, bitand, "and.b64";
    BitOr, bitor, "or.b64";
    BitXor, bitxor, "xor.b64";
}

impl<'c, 'p> Bits for Integer<'c, 'p> {
    type Number = Symbol<'c, 'p>;
    type Truth = Flag<'c, 'p>;

    fn of(value: u64) -> Self {
        Integer(Value::Constant(value))
    }
    fn number(self) -> Self::Number {
        Symbol(self.0)
    }
    fn converted(self) -> Self::Number {
        match self.0 {
            Value::Constant(bits) => Symbol::of(bits as f64),
            Value::Register(printer, _) => printer.number("cvt.rn.f64.u64", &self.text()),
        }
    }
    fn up(self, by: Self) -> Self {
        self.moved(by, "shl.b64", Bits::up)
    }
    fn down(self, by: Self) -> Self {
        self.moved(by, "shr.u64", Bits::down)
    }
    fn upper_product(self, by: Self) -> Self {
        self.two(by, "mul.hi.u64", Bits::upper_product)
    }
    fn leading_zeros(self) -> Self {
        match self.0 {
            Value::Constant(bits) => Integer::of(u64::from(bits.leading_zeros())),
            Value::Register(printer, _) => {
                let word: Value<'_, '_, u64> =
                    printer.value(RegisterClass::Word, "clz.b64", &self.text());
                let word = word.text(RegisterClass::Word, u64::to_string);
                Integer(printer.value(RegisterClass::Long, "cvt.u64.u32", &word))
            }
        }
    }
    fn is_less(self, than: Self) -> Self::Truth {
        self.compared(than, ["lt", "gt"], |a, b| a < b)
    }
    fn equals(self, other: Self) -> Self::Truth {
        self.compared(other, ["eq", "eq"], |a, b| a == b)
    }
    fn select(condition: Self::Truth, yes: Self, no: Self) -> Self {
        Integer(Value::selected(condition, yes.0, no.0, INTEGER.0, "b64"))
    }
    fn of_table(self, table: &'static [u64]) -> Self {
        (0..).zip(table).fold(Integer::of(0), |word, (at, &value)| {
            Integer::select(self.equals(Integer::of(at)), Integer::of(value), word)
        })
    }
}

impl Flag<'_, '_> {
    fn text(&self) -> String {
        self.0.text(RegisterClass::Predicate, |_| unreachable!("a known condition is no operand"))
    }

    fn is_known(&self) -> bool {
        matches!(self.0, Value::Constant(true))
    }

    /// With another one: what it is if this one is known, else what an instruction makes of both.
    fn two(self, other: Self, instruction: &str, known: impl Fn(bool, Self) -> Self) -> Self {
        match (self.0, other.0) {
            (Value::Constant(value), _) => known(value, other),
            (_, Value::Constant(value)) => known(value, self),
            (Value::Register(printer, _), _) => {
                let operands = format!("{}, {}", self.text(), other.text());
                Flag(printer.value(RegisterClass::Predicate, instruction, &operands))
            }
        }
    }
}

impl Truth for Flag<'_, '_> {
    fn and(self, other: Self) -> Self {
        let known = |is: bool, other: Self| if is { other } else { Flag(Value::Constant(false)) };
        self.two(other, "and.pred", known)
    }
    fn or(self, other: Self) -> Self {
        let known = |is: bool, other: Self| if is { Flag(Value::Constant(true)) } else { other };
        self.two(other, "or.pred", known)
    }
    fn not(self) -> Self {
        match self.0 {
            Value::Constant(value) => Flag(Value::Constant(!value)),
            Value::Register(printer, _) => {
                Flag(printer.value(RegisterClass::Predicate, "not.pred", &self.text()))
            }
        }
    }
}
