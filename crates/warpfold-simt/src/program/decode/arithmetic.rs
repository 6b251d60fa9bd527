//! Integer arithmetic, with carries.

use super::super::DecodeError;
use super::super::op::{Combines, Op};
use super::Builder;
use super::words::Words;
use crate::alu::integer::{self, Extended};
use crate::class::Class;
use crate::ptx::{Mnemonic, Type};

/// What the decoder makes of one instruction.
pub(super) type Decoded = Result<(Op, Class, Combines), DecodeError>;

/// The class of arithmetic on a type.
pub(super) fn class_of(ty: Type) -> Class {
    match ty {
        Type::F64 => Class::Float64,
        Type::F32 => Class::Float32,
        ty if ty.is_float() => Class::Half,
        _ => Class::Integer,
    }
}

impl Builder<'_> {
    /// `add`, `sub`, `mul`, `min`, `max`, `div`, `rem`, and their `.cc` forms.
    pub(super) fn two_operands(&mut self, mut words: Words<'_>) -> Decoded {
        let i = words.instruction;
        let mnemonic = i.mnemonic;
        self.arity(&words, &[3])?;
        let carries = matches!(mnemonic, Mnemonic::Addc | Mnemonic::Subc);
        let leaves = words.take("cc");
        let ty = words.ty()?;
        if ty.is_float() {
            return self.float_operation(words, ty);
        }
        let to = self.destination(&i.operands[0], i.line)?.slot;
        let [a, b] = self.sources(i, ty)?;
        let combines = match mnemonic {
            Mnemonic::Sub | Mnemonic::Subc | Mnemonic::Div | Mnemonic::Rem => Combines::No,
            _ => Combines::Yes,
        };
        if carries || leaves {
            let kind = match mnemonic {
                Mnemonic::Add | Mnemonic::Addc => Extended::Add,
                Mnemonic::Sub | Mnemonic::Subc => Extended::Subtract,
                _ => return words.unsupported(),
            };
            if !matches!(ty.bits(), 32 | 64) {
                return words.unsupported();
            }
            words.finish()?;
            let op = Op::Extended {
                kind,
                ty,
                takes_carry: carries,
                writes_carry: leaves,
                to,
                operands: [a, b, a],
            };
            return Ok((op, Class::Integer, combines));
        }
        let f = if mnemonic == Mnemonic::Mul {
            match words.take_any(&["lo", "hi", "wide"]) {
                Some("lo") => integer::binary(mnemonic, ty),
                Some("hi") => integer::multiply_high(ty),
                Some(_) => integer::multiply_wide(ty),
                None => None,
            }
        } else if mnemonic == Mnemonic::Mul24 {
            let high = words.take("hi");
            words.take("lo");
            integer::multiply_24(ty, high)
        } else if words.take("sat") {
            if ty == Type::S32 { integer::saturating(mnemonic) } else { None }
        } else {
            integer::binary(mnemonic, ty)
        };
        let Some(f) = f else { return words.unsupported() };
        words.finish()?;
        Ok((Op::Binary { f, to, a, b }, Class::Integer, combines))
    }

    /// `mad`, `madc`, `mad24`, `fma`, `sad`.
    pub(super) fn three_operands(&mut self, mut words: Words<'_>) -> Decoded {
        let i = words.instruction;
        let mnemonic = i.mnemonic;
        self.arity(&words, &[4])?;
        let leaves = words.take("cc");
        let ty = words.ty()?;
        if ty.is_float() {
            return self.float_operation(words, ty);
        }
        let to = self.destination(&i.operands[0], i.line)?.slot;
        let [a, b] = self.sources(i, ty)?;
        if mnemonic == Mnemonic::Sad {
            let c = self.source(&i.operands[3], ty, i.line)?;
            let Some(f) = integer::sum_of_difference(ty) else { return words.unsupported() };
            words.finish()?;
            return Ok((Op::Ternary { f, to, a, b, c }, Class::Integer, Combines::Yes));
        }
        let half = words.take_any(&["lo", "hi", "wide"]);
        if leaves || mnemonic == Mnemonic::Madc {
            let kind = match half {
                Some("lo") => Extended::MultiplyLow,
                Some("hi") => Extended::MultiplyHigh,
                _ => return words.unsupported(),
            };
            let c = self.source(&i.operands[3], ty, i.line)?;
            words.finish()?;
            let takes_carry = mnemonic == Mnemonic::Madc;
            let op = Op::Extended {
                kind,
                ty,
                takes_carry,
                writes_carry: leaves,
                to,
                operands: [a, b, c],
            };
            return Ok((op, Class::Integer, Combines::Yes));
        }
        let sum = match (half, ty) {
            (Some("wide"), Type::U16) => Type::U32,
            (Some("wide"), Type::S16) => Type::S32,
            (Some("wide"), Type::U32) => Type::U64,
            (Some("wide"), Type::S32) => Type::S64,
            _ => ty,
        };
        let c = self.source(&i.operands[3], sum, i.line)?;
        let multiply = match (mnemonic, half) {
            (Mnemonic::Mad24, half) => integer::multiply_24(ty, half == Some("hi")),
            (_, Some("lo")) => integer::binary(Mnemonic::Mul, ty),
            (_, Some("hi")) => integer::multiply_high(ty),
            (_, Some(_)) => integer::multiply_wide(ty),
            (_, None) => None,
        };
        let add = if words.take("sat") {
            integer::saturating(Mnemonic::Add)
        } else {
            integer::binary(Mnemonic::Add, sum)
        };
        let (Some(multiply), Some(add)) = (multiply, add) else { return words.unsupported() };
        words.finish()?;
        Ok((Op::MultiplyAdd { multiply, add, to, a, b, c }, Class::Integer, Combines::Yes))
    }
}
