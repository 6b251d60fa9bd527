//! Floating-point arithmetic, and functions of one operand.

use super::super::op::{Combines, Op, Slot};
use super::Builder;
use super::arithmetic::{Decoded, class_of};
use super::words::Words;
use crate::alu::bits;
use crate::alu::convert::format_of;
use crate::alu::float::{self, NanRule};
use crate::alu::integer;
use crate::alu::soft::{Format, Manner, Operation, Rounding};
use crate::class::Class;
use crate::ptx::{Mnemonic, Sense, Type};

impl Builder<'_> {
    /// Any arithmetic on floats, with its rounding, flushing and clamping.
    pub(super) fn float_operation(&mut self, mut words: Words<'_>, ty: Type) -> Decoded {
        let i = words.instruction;
        let flush = words.take("ftz");
        let saturate = words.take("sat");
        let rectify = words.take("relu");
        let propagate = words.take("NaN");
        let approximate = words.take("approx") | words.take("full");
        words.take("noftz");
        let named = words.rounding();
        let rounding = named.unwrap_or(Rounding::Nearest);
        let to = self.destination(&i.operands[0], i.line)?.slot;
        let class = class_of(ty);
        let Some(format) = format_of(ty) else { return words.unsupported() };
        if matches!(i.mnemonic, Mnemonic::Min | Mnemonic::Max) {
            let rule = if propagate { NanRule::Propagate } else { NanRule::Number };
            let [a, b] = self.sources(i, ty)?;
            words.finish()?;
            let greatest = i.mnemonic == Mnemonic::Max;
            let op = match float::extremes(i.mnemonic, ty, rule) {
                Some(f) if flush => Op::Flushed { f, saturate: false, to, a, b },
                Some(f) => Op::Binary { f, to, a, b },
                None => Op::HalfExtreme { greatest, rule, ty, flush, to, a, b },
            };
            return Ok((op, class, Combines::Yes));
        }
        let operation = match i.mnemonic {
            Mnemonic::Add => Operation::Add,
            Mnemonic::Sub => Operation::Subtract,
            Mnemonic::Mul => Operation::Multiply,
            Mnemonic::Div => Operation::Divide,
            Mnemonic::Fma | Mnemonic::Mad => Operation::Fused,
            _ => return words.unsupported(),
        };
        if approximate && operation != Operation::Divide || propagate {
            return words.unsupported();
        }
        words.finish()?;
        let combines = match operation {
            Operation::Add | Operation::Multiply | Operation::Fused => Combines::Yes,
            _ => Combines::No,
        };
        let on_host =
            rounding == Rounding::Nearest && !rectify && matches!(ty, Type::F32 | Type::F64);
        if operation == Operation::Fused {
            let [a, b, c] = self.sources(i, ty)?;
            if let (true, false, false, Some(f)) = (on_host, flush, saturate, float::fused(ty)) {
                return Ok((Op::Ternary { f, to, a, b, c }, class, combines));
            }
            let manner = Manner { format, rounding, flush, saturate, rectify };
            let packed = matches!(ty, Type::F16x2 | Type::Bf16x2);
            return Ok((
                Op::Soft { operation, manner, packed, to, operands: [a, b, c] },
                class,
                combines,
            ));
        }
        let [a, b] = self.sources(i, ty)?;
        if let (true, Some(f)) = (on_host, float::binary(i.mnemonic, ty)) {
            let op = if flush || saturate && ty == Type::F32 {
                if flush {
                    Op::Flushed { f, saturate, to, a, b }
                } else {
                    soft(operation, format, rounding, to, [a, b, b], ty, (flush, saturate, rectify))
                }
            } else {
                Op::Binary { f, to, a, b }
            };
            return Ok((op, class, combines));
        }
        let op = soft(operation, format, rounding, to, [a, b, b], ty, (flush, saturate, rectify));
        Ok((op, class, combines))
    }

    /// `neg`, `abs`, `not`, `sqrt`, `rcp`, `ex2`, …, `popc`, `clz`, `brev`.
    pub(super) fn one_operand(&mut self, mut words: Words<'_>) -> Decoded {
        let i = words.instruction;
        self.arity(&words, &[2])?;
        let approximate = words.take("approx");
        let flush = words.take("ftz");
        let rounding = words.rounding();
        let shift_amount = words.take("shiftamt");
        let ty = words.ty()?;
        if ty == Type::Pred && i.mnemonic == Mnemonic::Not {
            words.finish()?;
            let Some(to) = self.predicate_destination(&i.operands[0], i.line)? else {
                return Ok((Op::Nothing, Class::Predicate, Combines::No));
            };
            let mut from = self.condition(&i.operands[1], i.line)?;
            from.sense = opposite(from.sense);
            return Ok((Op::PredicateCopy { to, from }, Class::Predicate, Combines::No));
        }
        let to = self.destination(&i.operands[0], i.line)?.slot;
        let [a] = self.sources(i, ty)?;
        let class = if matches!(
            i.mnemonic,
            Mnemonic::Popc | Mnemonic::Clz | Mnemonic::Brev | Mnemonic::Bfind | Mnemonic::Not
        ) {
            Class::Bits
        } else {
            class_of(ty)
        };
        let f = match i.mnemonic {
            Mnemonic::Neg | Mnemonic::Abs if ty.is_float() => float::sign(i.mnemonic, ty),
            Mnemonic::Bfind => bits::find_highest(ty, shift_amount),
            Mnemonic::Popc | Mnemonic::Clz | Mnemonic::Brev => bits::unary(i.mnemonic, ty),
            Mnemonic::Sqrt | Mnemonic::Rcp if !approximate => {
                let operation = if i.mnemonic == Mnemonic::Sqrt {
                    Operation::SquareRoot
                } else {
                    Operation::Reciprocal
                };
                let rounding = rounding.unwrap_or(Rounding::Nearest);
                if rounding == Rounding::Nearest && !flush {
                    float::unary(i.mnemonic, ty)
                } else if let Some(format) = format_of(ty) {
                    words.finish()?;
                    let op =
                        soft(operation, format, rounding, to, [a, a, a], ty, (flush, false, false));
                    return Ok((op, class, Combines::No));
                } else {
                    None
                }
            }
            _ if ty.is_float() => float::approximate(i.mnemonic, ty, flush),
            _ => integer::unary(i.mnemonic, ty),
        };
        let Some(f) = f else { return words.unsupported() };
        words.finish()?;
        Ok((Op::Unary { f, to, a }, class, Combines::No))
    }
}

fn soft(
    operation: Operation,
    format: Format,
    rounding: Rounding,
    to: Slot,
    operands: [Slot; 3],
    ty: Type,
    (flush, saturate, rectify): (bool, bool, bool),
) -> Op {
    let manner = Manner { format, rounding, flush, saturate, rectify };
    let packed = matches!(ty, Type::F16x2 | Type::Bf16x2);
    Op::Soft { operation, manner, packed, to, operands }
}

fn opposite(sense: Sense) -> Sense {
    match sense {
        Sense::Plain => Sense::Negated,
        Sense::Negated => Sense::Plain,
    }
}
