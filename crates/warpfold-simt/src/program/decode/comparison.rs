//! Comparisons and selections.

use super::super::op::{Combines, Logic, Op};
use super::Builder;
use super::arithmetic::Decoded;
use super::words::Words;
use crate::alu::{Compare, float, integer};
use crate::class::Class;
use crate::ptx::{Mnemonic, Operand, Type};

const COMPARISONS: [&str; 18] = [
    "eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu",
    "geu", "num", "nan",
];

impl Builder<'_> {
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
}
