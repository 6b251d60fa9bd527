//! Arithmetic, logic, comparisons, moves and conversions.

use super::super::DecodeError;
use super::super::op::{Combines, Condition, Logic, Op, PredicateSlot, Slot};
use super::Builder;
use super::words::Words;
use crate::alu::convert::{Conversion, format_of};
use crate::alu::float::{self, NanRule};
use crate::alu::integer::{self, Extended};
use crate::alu::soft::{Manner, Operation, Rounding};
use crate::alu::{Compare, bits};
use crate::counters::Class;
use crate::ptx::{Mnemonic, Operand, Type};

/// What the decoder makes of one instruction.
pub(super) type Decoded = Result<(Op, Class, Combines), DecodeError>;

const COMPARISONS: [&str; 18] = [
    "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu",
    "geu", "num", "nan",
];

fn class_of(ty: Type) -> Class {
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
                leaves_carry: leaves,
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
                leaves_carry: leaves,
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

    /// Any arithmetic on floats, with its rounding, flushing and clamping.
    fn float_operation(&mut self, mut words: Words<'_>, ty: Type) -> Decoded {
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
            _ if ty.is_float() => float::approximate(i.mnemonic, ty),
            _ => integer::unary(i.mnemonic, ty),
        };
        let Some(f) = f else { return words.unsupported() };
        words.finish()?;
        Ok((Op::Unary { f, to, a }, class, Combines::No))
    }

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

    /// `setp`, `set`, `testp`: a comparison, perhaps combined with a predicate.
    pub(super) fn comparison(&mut self, mut words: Words<'_>) -> Decoded {
        let i = words.instruction;
        let flush = words.take("ftz");
        if i.mnemonic == Mnemonic::Testp {
            return self.test_property(words);
        }
        let Some(word) = words.take_any(&COMPARISONS) else { return words.unsupported() };
        let logic = match words.take_any(&["and", "or", "xor"]) {
            Some("and") => Some(Logic::And),
            Some("or") => Some(Logic::Or),
            Some(_) => Some(Logic::Xor),
            None => None,
        };
        self.arity(&words, if logic.is_some() { &[4] } else { &[3] })?;
        let result = if i.mnemonic == Mnemonic::Set { Some(words.ty()?) } else { None };
        let ty = words.ty()?;
        let f: Option<Compare> = if ty.is_float() {
            float::comparison(word, ty, flush)
        } else {
            integer::comparison(word, ty)
        };
        let Some(f) = f else { return words.unsupported() };
        words.finish()?;
        let [a, b] = self.sources(i, ty)?;
        let with = match logic {
            None => None,
            Some(logic) => Some((logic, self.condition(&i.operands[3], i.line)?)),
        };
        if let Some(result) = result {
            let to = self.destination(&i.operands[0], i.line)?.slot;
            let truth =
                if result == Type::F32 { u64::from(1f32.to_bits()) } else { u64::from(u32::MAX) };
            return Ok((Op::Set { f, with, truth, to, a, b }, Class::Predicate, Combines::No));
        }
        let (to, opposite) = match &i.operands[0] {
            Operand::Pair(to, opposite) => (
                self.predicate_destination(to, i.line)?,
                self.predicate_destination(opposite, i.line)?,
            ),
            one => (self.predicate_destination(one, i.line)?, None),
        };
        Ok((Op::Compare { f, with, to, opposite, a, b }, Class::Predicate, Combines::No))
    }

    fn test_property(&mut self, mut words: Words<'_>) -> Decoded {
        let i = words.instruction;
        self.arity(&words, &[2])?;
        let all = ["finite", "infinite", "number", "notanumber", "normal", "subnormal"];
        let Some(word) = words.take_any(&all) else { return words.unsupported() };
        let ty = words.ty()?;
        let Some(f) = float::property(word, ty) else { return words.unsupported() };
        words.finish()?;
        let [a] = self.sources(i, ty)?;
        let to = self.predicate_destination(&i.operands[0], i.line)?;
        Ok((
            Op::Compare { f, with: None, to, opposite: None, a, b: a },
            Class::Predicate,
            Combines::No,
        ))
    }

    /// `selp` and `slct`.
    pub(super) fn select(&mut self, mut words: Words<'_>) -> Decoded {
        let i = words.instruction;
        self.arity(&words, &[4])?;
        words.take("ftz");
        let ty = words.ty()?;
        let to = self.destination(&i.operands[0], i.line)?.slot;
        let [a, b] = self.sources(i, ty)?;
        if i.mnemonic == Mnemonic::Selp {
            words.finish()?;
            let condition = self.condition(&i.operands[3], i.line)?;
            return Ok((Op::Select { to, a, b, condition }, Class::Move, Combines::No));
        }
        let by = words.ty()?;
        words.finish()?;
        let c = self.source(&i.operands[3], by, i.line)?;
        Ok((Op::SelectBySign { to, a, b, c, float: by == Type::F32 }, Class::Move, Combines::No))
    }

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
        line: crate::ptx::Line,
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

fn soft(
    operation: Operation,
    format: crate::alu::soft::Format,
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

fn opposite(sense: crate::ptx::Sense) -> crate::ptx::Sense {
    match sense {
        crate::ptx::Sense::Plain => crate::ptx::Sense::Negated,
        crate::ptx::Sense::Negated => crate::ptx::Sense::Plain,
    }
}
