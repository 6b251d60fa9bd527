//! Moves and conversions.

use super::super::DecodeError;
use super::super::op::{Combines, Condition, Op, PredicateSlot};
use super::Builder;
use super::arithmetic::Decoded;
use super::words::Words;
use crate::alu::convert::Conversion;
use crate::alu::soft::Rounding;
use crate::class::Class;
use crate::ptx::{Line, Operand, Type};

impl Builder<'_> {
    /// `mov`: copies, addresses, packing and unpacking, predicates, clocks.
    pub(super) fn copy(&mut self, mut words: Words<'_>) -> Decoded {
        let i = words.instruction;
        self.arity(&words, &[2])?;
        let ty = words.ty()?;
        words.finish()?;
        if ty == Type::Pred {
            let Some(to) = self.predicate_destination(&i.operands[0], i.line)? else {
                return Ok((Op::Nothing, Class::Predicate, Combines::No));
            };
            return Ok((
                self.predicate_move(to, &i.operands[1], i.line)?,
                Class::Predicate,
                Combines::No,
            ));
        }
        let moved = |op| Ok((op, Class::Move, Combines::No));
        match (&i.operands[0], &i.operands[1]) {
            (Operand::Vector(parts), from) => {
                let part_bits = ty.bits() / parts.len().max(1) as u32;
                let from = self.source(from, ty, i.line)?;
                let mut to = Vec::new();
                for part in parts {
                    to.push(match part {
                        Operand::Name(name) if name == "_" => None,
                        part => Some(self.destination(part, i.line)?.slot),
                    });
                }
                if !matches!(to.len(), 2 | 4) {
                    return super::error(i.line, "a register is unpacked into two or four parts");
                }
                moved(Op::Unpack { to, from, part_bits })
            }
            (to, Operand::Vector(parts)) => {
                let to = self.destination(to, i.line)?.slot;
                if !matches!(parts.len(), 2 | 4) {
                    return super::error(i.line, "a register is packed from two or four parts");
                }
                let part_bits = ty.bits() / parts.len() as u32;
                let part_type = if part_bits == 8 { Type::B8 } else { Type::B16 };
                let mut slots = Vec::new();
                for part in parts {
                    slots.push(self.source(
                        part,
                        if part_bits == 32 { Type::B32 } else { part_type },
                        i.line,
                    )?);
                }
                moved(Op::Pack { to, parts: slots, part_bits })
            }
            (to, Operand::Name(name))
                if matches!(
                    name.as_str(),
                    "%clock" | "%clock64" | "%clock_hi" | "%globaltimer" | "%globaltimer_lo"
                ) =>
            {
                let to = self.destination(to, i.line)?.slot;
                moved(Op::Clock { to })
            }
            (to, from) => {
                let to = self.destination(to, i.line)?.slot;
                let from = self.source(from, ty, i.line)?;
                moved(Op::Copy { to, from })
            }
        }
    }

    fn predicate_move(
        &mut self,
        to: PredicateSlot,
        from: &Operand,
        line: Line,
    ) -> Result<Op, DecodeError> {
        if let Operand::Integer(value) = from {
            return Ok(Op::PredicateSet { to, value: if *value == 0 { 0 } else { u32::MAX } });
        }
        let from: Condition = self.condition(from, line)?;
        Ok(Op::PredicateCopy { to, from })
    }

    /// `cvt`.
    pub(super) fn convert(&mut self, mut words: Words<'_>) -> Decoded {
        let i = words.instruction;
        self.arity(&words, &[2, 3])?;
        let flush = words.take("ftz");
        let saturate = words.take("sat");
        let rectify = words.take("relu");
        let integral = words.integral_rounding();
        let rounding = words.rounding().unwrap_or(Rounding::Nearest);
        let (to_type, from) = (words.ty()?, words.ty()?);
        words.finish()?;
        let to = self.destination(&i.operands[0], i.line)?;
        let element = match to_type {
            Type::F16x2 => Type::F16,
            Type::Bf16x2 => Type::Bf16,
            ty => ty,
        };
        let register_bits = to.bits.max(element.bits());
        let conversion = Conversion {
            to: element,
            from,
            rounding,
            integral,
            flush,
            saturate,
            rectify,
            register_bits,
        };
        if let [_, upper, lower] = i.operands.as_slice() {
            if element == to_type {
                return Words::new(i).unsupported();
            }
            let upper = self.source(upper, from, i.line)?;
            let lower = self.source(lower, from, i.line)?;
            let op = Op::ConvertPair { conversion, to: to.slot, upper, lower };
            return Ok((op, Class::Convert, Combines::No));
        }
        if element != to_type || from == Type::F16x2 || from == Type::Bf16x2 {
            return Words::new(i).unsupported();
        }
        let a = self.source(&i.operands[1], from, i.line)?;
        Ok((Op::Convert { conversion, to: to.slot, a }, Class::Convert, Combines::No))
    }
}
