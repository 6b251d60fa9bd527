//! Operations of floats: each rounded once, to nearest-even.

use super::{Code, RegisterClass};
use crate::function::{Binary, Unary};
use crate::program::Type;

/// NaN and infinity as PTX writes them, and the instruction for the bits.
fn numbers(ty: Type) -> (&'static str, &'static str, RegisterClass) {
    match ty {
        Type::F32 => ("0f7FC00000", "0f7F800000", RegisterClass::Word),
        _ => ("0d7FF8000000000000", "0d7FF0000000000000", RegisterClass::Long),
    }
}

impl Code<'_> {
    pub(super) fn unary_float(&mut self, op: Unary, ty: Type, d: &str, a: &str) {
        let (_, infinity, size) = numbers(ty);
        let whole = |rounding| format!("cvt.{rounding}.{ty}.{ty} {d}, {a};");
        match op {
            Unary::Neg => self.line(format_args!("neg.{ty} {d}, {a};")),
            Unary::Abs => self.line(format_args!("abs.{ty} {d}, {a};")),
            Unary::Sqrt => self.line(format_args!("sqrt.rn.{ty} {d}, {a};")),
            Unary::Floor => self.line(format_args!("{}", whole("rmi"))),
            Unary::Ceil => self.line(format_args!("{}", whole("rpi"))),
            Unary::Trunc => self.line(format_args!("{}", whole("rzi"))),
            Unary::Round => self.line(format_args!("{}", whole("rni"))),
            Unary::IsNan => self.line(format_args!("setp.nan.{ty} {d}, {a}, {a};")),
            Unary::IsInf | Unary::IsFinite => {
                let t = self.temporary(size);
                let test = if op == Unary::IsInf { "eq" } else { "lt" };
                self.line(format_args!("abs.{ty} {t}, {a};"));
                self.line(format_args!("setp.{test}.{ty} {d}, {t}, {infinity};"));
            }
            other => unreachable!("{other} is refused, or of integers"),
        }
    }

    pub(super) fn binary_float(&mut self, op: Binary, ty: Type, d: &str, a: &str, b: &str) {
        let compare = |test| format!("setp.{test}.{ty} {d}, {a}, {b};");
        match op {
            Binary::Add => self.line(format_args!("add.rn.{ty} {d}, {a}, {b};")),
            Binary::Sub => self.line(format_args!("sub.rn.{ty} {d}, {a}, {b};")),
            Binary::Mul => self.line(format_args!("mul.rn.{ty} {d}, {a}, {b};")),
            Binary::Div => self.line(format_args!("div.rn.{ty} {d}, {a}, {b};")),
            Binary::Eq => self.line(format_args!("{}", compare("eq"))),
            Binary::Ne => self.line(format_args!("{}", compare("neu"))),
            Binary::Lt => self.line(format_args!("{}", compare("lt"))),
            Binary::Le => self.line(format_args!("{}", compare("le"))),
            Binary::Min | Binary::Max => self.extreme(op, ty, [d, a, b]),
            other => unreachable!("floats have no {}", other.name()),
        }
    }

    /// Of two zeros the one with a sign is the smaller; NaN propagates, as the one NaN.
    fn extreme(&mut self, op: Binary, ty: Type, [d, a, b]: [&str; 3]) {
        let (nan, _, size) = numbers(ty);
        let (test, logic) = if op == Binary::Min { ("lt", "or") } else { ("gt", "and") };
        let bits = if ty == Type::F32 { "b32" } else { "b64" };
        let (p, t) = (self.temporary(RegisterClass::Predicate), self.temporary(size));
        self.line(format_args!("setp.{test}.{ty} {p}, {a}, {b};"));
        self.line(format_args!("selp.{ty} {d}, {a}, {b}, {p};"));
        self.line(format_args!("{logic}.{bits} {t}, {a}, {b};"));
        self.line(format_args!("setp.eq.{ty} {p}, {a}, {b};"));
        self.line(format_args!("selp.{ty} {d}, {t}, {d}, {p};"));
        self.line(format_args!("setp.nan.{ty} {p}, {a}, {b};"));
        self.line(format_args!("selp.{ty} {d}, {nan}, {d}, {p};"));
    }
}
