//! Logic, shifts, bit fields, permutes, small dot products.

use super::super::op::{Combines, Logic, Op};
use super::Builder;
use super::arithmetic::{Decoded, class_of};
use super::words::Words;
use crate::alu::{bits, float, integer};
use crate::class::Class;
use crate::ptx::{Mnemonic, Operand, Type};

impl Builder<'_> {
    /// `and`, `or`, `xor`, `shl`, `shr`.
    pub(super) fn bitwise(&mut self, mut words: Words<'_>) -> Decoded {
        let i = words.instruction;
        self.arity(&words, &[3])?;
        let ty = words.ty()?;
        let logic = match i.mnemonic {
            Mnemonic::And => Some(Logic::And),
            Mnemonic::Or => Some(Logic::Or),
            Mnemonic::Xor => Some(Logic::Xor),
            _ => None,
        };
        if let (Some(logic), Type::Pred) = (logic, ty) {
            words.finish()?;
            let Some(to) = self.predicate_destination(&i.operands[0], i.line)? else {
                return Ok((Op::Nothing, Class::Predicate, Combines::No));
            };
            let a = self.condition(&i.operands[1], i.line)?;
            let b = self.condition(&i.operands[2], i.line)?;
            return Ok((Op::PredicateLogic { logic, to, a, b }, Class::Predicate, Combines::No));
        }
        let to = self.destination(&i.operands[0], i.line)?.slot;
        let a = self.source(&i.operands[1], ty, i.line)?;
        let (f, b) = if logic.is_some() {
            (integer::binary(i.mnemonic, ty), self.source(&i.operands[2], ty, i.line)?)
        } else {
            (bits::shift(i.mnemonic, ty), self.source(&i.operands[2], Type::U32, i.line)?)
        };
        let Some(f) = f else { return words.unsupported() };
        words.finish()?;
        let combines = if logic.is_some() { Combines::Yes } else { Combines::No };
        Ok((Op::Binary { f, to, a, b }, Class::Bits, combines))
    }

    /// `bfe`, `bfi`, `shf`, `prmt`, `lop3`, `dp4a`, `dp2a`, `copysign`.
    pub(super) fn bit_fields(&mut self, mut words: Words<'_>) -> Decoded {
        let i = words.instruction;
        let to = match i.operands.first() {
            Some(operand) => self.destination(operand, i.line)?.slot,
            None => return words.error("has no operands"),
        };
        let f = match i.mnemonic {
            Mnemonic::Copysign => {
                self.arity(&words, &[3])?;
                let ty = words.ty()?;
                let [a, b] = self.sources(i, ty)?;
                let Some(f) = float::copysign(ty) else { return words.unsupported() };
                words.finish()?;
                return Ok((Op::Binary { f, to, a, b }, class_of(ty), Combines::No));
            }
            Mnemonic::Bfi => {
                self.arity(&words, &[5])?;
                let ty = words.ty()?;
                words.finish()?;
                let [a, b] = self.sources(i, ty)?;
                let position = self.source(&i.operands[3], Type::U32, i.line)?;
                let length = self.source(&i.operands[4], Type::U32, i.line)?;
                let op = Op::Insert { bits: ty.bits(), to, operands: [a, b, position, length] };
                return Ok((op, Class::Bits, Combines::No));
            }
            Mnemonic::Lop3 => {
                self.arity(&words, &[5])?;
                let ty = words.ty()?;
                words.finish()?;
                let operands = self.sources(i, ty)?;
                let Operand::Integer(table @ 0..=255) = i.operands[4] else {
                    return super::error(i.line, "`lop3` takes a table of eight bits");
                };
                return Ok((
                    Op::Logic3 { table: table as u8, to, operands },
                    Class::Bits,
                    Combines::No,
                ));
            }
            Mnemonic::Bfe => {
                self.arity(&words, &[4])?;
                let ty = words.ty()?;
                let a = self.source(&i.operands[1], ty, i.line)?;
                let b = self.source(&i.operands[2], Type::U32, i.line)?;
                let c = self.source(&i.operands[3], Type::U32, i.line)?;
                let Some(f) = bits::extract(ty) else { return words.unsupported() };
                words.finish()?;
                return Ok((Op::Ternary { f, to, a, b, c }, Class::Bits, Combines::No));
            }
            Mnemonic::Shf => {
                let left = words.take_any(&["l", "r"]) == Some("l");
                let wrap = words.take_any(&["wrap", "clamp"]) == Some("wrap");
                bits::funnel(left, wrap)
            }
            Mnemonic::Prmt => match words.take_any(&["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]) {
                Some(mode) => bits::permute_mode(mode),
                None => bits::permute(),
            },
            Mnemonic::Dp4a | Mnemonic::Dp2a => {
                self.arity(&words, &[4])?;
                let high = words.take("hi");
                words.take("lo");
                let (a, b) = (words.ty()?, words.ty()?);
                let f = if i.mnemonic == Mnemonic::Dp4a {
                    bits::dot4(a, b)
                } else {
                    bits::dot2(a, b, high)
                };
                let Some(f) = f else { return words.unsupported() };
                words.finish()?;
                let [a, b, c] = self.sources(i, Type::B32)?;
                return Ok((Op::Ternary { f, to, a, b, c }, Class::Integer, Combines::Yes));
            }
            _ => None,
        };
        self.arity(&words, &[4])?;
        let ty = words.ty()?;
        let Some(f) = f else { return words.unsupported() };
        words.finish()?;
        let [a, b, c] = self.sources(i, ty)?;
        Ok((Op::Ternary { f, to, a, b, c }, Class::Bits, Combines::No))
    }
}
