//! Operations of integers of 64 bits, each with the test that says whether it has a value.

use super::{Code, RegisterClass};
use crate::function::{Binary, Unary};
use crate::program::{Id, Type};

/// The least `i64`.
const LEAST: &str = "0x8000000000000000";

fn suffix(ty: Type) -> &'static str {
    if ty == Type::U64 { "u64" } else { "s64" }
}

impl Code<'_> {
    /// Of integers and conditions.
    pub(super) fn unary_integer(&mut self, id: Id, op: Unary, ty: Type, a: &str) {
        let d = self.value(id);
        match (op, ty) {
            (Unary::Not, Type::Bool) => self.line(format_args!("not.pred {d}, {a};")),
            (Unary::Not, _) => self.line(format_args!("not.b64 {d}, {a};")),
            (Unary::Neg | Unary::Abs, _) => {
                let name = if op == Unary::Neg { "neg" } else { "abs" };
                let p = self.temporary(RegisterClass::Predicate);
                self.line(format_args!("{name}.s64 {d}, {a};"));
                self.line(format_args!("setp.eq.s64 {p}, {a}, {LEAST};"));
                self.faulty(id, &p);
            }
            (other, ty) => unreachable!("{other} of {ty}"),
        }
    }

    pub(super) fn binary_integer(&mut self, id: Id, op: Binary, ty: Type, a: &str, b: &str) {
        let (d, of) = (self.value(id), suffix(ty));
        let plain = match op {
            Binary::Min => Some(format!("min.{of}")),
            Binary::Max => Some(format!("max.{of}")),
            Binary::And => Some("and.b64".into()),
            Binary::Or => Some("or.b64".into()),
            Binary::Xor => Some("xor.b64".into()),
            Binary::Eq => Some(format!("setp.eq.{of}")),
            Binary::Ne => Some(format!("setp.ne.{of}")),
            Binary::Lt => Some(format!("setp.lt.{of}")),
            Binary::Le => Some(format!("setp.le.{of}")),
            _ => None,
        };
        match (plain, op) {
            (Some(name), _) => self.line(format_args!("{name} {d}, {a}, {b};")),
            (None, Binary::FloorDiv | Binary::Rem) => self.divide(id, op, ty, a, b),
            (None, _) => self.checked(id, op, ty, a, b),
        }
    }

    /// Sums, differences and products.
    fn checked(&mut self, id: Id, op: Binary, ty: Type, a: &str, b: &str) {
        let (d, p, t) = (
            self.value(id),
            self.temporary(RegisterClass::Predicate),
            self.temporary(RegisterClass::Long),
        );
        match (op, ty) {
            (Binary::Mul, ty) => {
                let of = suffix(ty);
                self.line(format_args!("mul.lo.{of} {d}, {a}, {b};"));
                self.line(format_args!("mul.hi.{of} {t}, {a}, {b};"));
                if ty == Type::U64 {
                    self.line(format_args!("setp.ne.u64 {p}, {t}, 0;"));
                } else {
                    let sign = self.temporary(RegisterClass::Long);
                    self.line(format_args!("shr.s64 {sign}, {d}, 63;"));
                    self.line(format_args!("setp.ne.s64 {p}, {t}, {sign};"));
                }
            }
            (Binary::Add, Type::U64) => {
                self.line(format_args!("add.u64 {d}, {a}, {b};"));
                self.line(format_args!("setp.lt.u64 {p}, {d}, {a};"));
            }
            (Binary::Sub, Type::U64) => {
                self.line(format_args!("sub.u64 {d}, {a}, {b};"));
                self.line(format_args!("setp.lt.u64 {p}, {a}, {b};"));
            }
            // The sign is another than that of both terms; than that of the one, which differs from the other's.
            _ => {
                let (name, other) = if op == Binary::Add { ("add", &*d) } else { ("sub", a) };
                let u = self.temporary(RegisterClass::Long);
                self.line(format_args!("{name}.s64 {d}, {a}, {b};"));
                self.line(format_args!("xor.b64 {t}, {a}, {d};"));
                self.line(format_args!("xor.b64 {u}, {b}, {other};"));
                self.line(format_args!("and.b64 {t}, {t}, {u};"));
                self.line(format_args!("setp.lt.s64 {p}, {t}, 0;"));
            }
        }
        self.faulty(id, &p);
    }

    /// Quotients rounded down, and what they leave. The hardware's division gets no divisor of 0 or -1.
    fn divide(&mut self, id: Id, op: Binary, ty: Type, a: &str, b: &str) {
        let d = self.value(id);
        let [zero, p] = [RegisterClass::Predicate; 2].map(|kind| self.temporary(kind));
        let [divisor, q] = [RegisterClass::Long; 2].map(|kind| self.temporary(kind));
        self.line(format_args!("setp.eq.s64 {zero}, {b}, 0;"));
        if ty == Type::U64 {
            let name = if op == Binary::Rem { "rem" } else { "div" };
            self.line(format_args!("selp.b64 {divisor}, 1, {b}, {zero};"));
            self.line(format_args!("{name}.u64 {d}, {a}, {divisor};"));
            return self.faulty(id, &zero);
        }
        let [minus, rounds] = [RegisterClass::Predicate; 2].map(|kind| self.temporary(kind));
        let [rest, t] = [RegisterClass::Long; 2].map(|kind| self.temporary(kind));
        self.line(format_args!("setp.eq.s64 {minus}, {b}, -1;"));
        self.line(format_args!("or.pred {p}, {zero}, {minus};"));
        self.line(format_args!("selp.b64 {divisor}, 1, {b}, {p};"));
        self.line(format_args!("div.s64 {q}, {a}, {divisor};"));
        self.line(format_args!("mul.lo.s64 {t}, {q}, {divisor};"));
        self.line(format_args!("sub.s64 {rest}, {a}, {t};"));
        // Rounded towards zero, the quotient is one too high where a rest has not the divisor's sign.
        self.line(format_args!("xor.b64 {t}, {rest}, {divisor};"));
        self.line(format_args!("setp.lt.s64 {rounds}, {t}, 0;"));
        self.line(format_args!("setp.ne.s64 {p}, {rest}, 0;"));
        self.line(format_args!("and.pred {rounds}, {rounds}, {p};"));
        if op == Binary::Rem {
            self.line(format_args!("selp.b64 {t}, {divisor}, 0, {rounds};"));
            self.line(format_args!("add.s64 {d}, {rest}, {t};"));
            return self.faulty(id, &zero);
        }
        self.line(format_args!("selp.b64 {t}, 1, 0, {rounds};"));
        self.line(format_args!("sub.s64 {q}, {q}, {t};"));
        self.line(format_args!("neg.s64 {t}, {a};"));
        self.line(format_args!("selp.b64 {d}, {t}, {q}, {minus};"));
        self.line(format_args!("setp.eq.s64 {p}, {a}, {LEAST};"));
        self.line(format_args!("and.pred {p}, {p}, {minus};"));
        self.line(format_args!("or.pred {p}, {p}, {zero};"));
        self.faulty(id, &p);
    }
}
