//! Operands of one type: constants take that of what they meet.

use warpfold_num::{Error, Result};

use super::{Typed, Typing};
use crate::program::{Const, Id, Type};

impl Typing<'_, '_> {
    /// Two operands of one type, constants made to suit.
    pub(super) fn alike(
        &mut self,
        a: usize,
        b: usize,
        form_index: usize,
    ) -> Result<(Id, Id, Type)> {
        let (left, right) = (self.typed[a], self.typed[b]);
        let ty = match (left, right) {
            (Typed::Value(x), Typed::Value(y)) => {
                let (x, y) = (self.build.program.ty(x), self.build.program.ty(y));
                if x != y {
                    return Err(self.mismatch((a, x), (b, y), form_index));
                }
                x
            }
            (Typed::Value(x), Typed::Loose(..)) | (Typed::Loose(..), Typed::Value(x)) => {
                self.build.program.ty(x)
            }
            (Typed::Loose(x, _), Typed::Loose(y, _)) => match (x.ty(), y.ty()) {
                (x, y) if x == y => x,
                (Type::F64, _) | (_, Type::F64) => Type::F64,
                _ => Type::U64,
            },
        };
        Ok((self.of_type(a, ty)?, self.of_type(b, ty)?, ty))
    }

    fn mismatch(&self, (a, x): (usize, Type), (b, y): (usize, Type), form_index: usize) -> Error {
        let (left, right) = (self.shown(a), self.shown(b));
        // What holds more is said to be better.
        let wider = match (x, y) {
            (Type::F64, _) | (_, Type::F64) => Type::F64,
            (Type::F32, Type::I64 | Type::U64) | (Type::I64 | Type::U64, Type::F32) => Type::F64,
            (Type::F32, _) | (_, Type::F32) => Type::F32,
            _ => Type::I64,
        };
        let convert: Vec<_> = [(x, &left), (y, &right)]
            .iter()
            .filter(|(ty, _)| *ty != wider)
            .map(|(_, text)| format!("`{wider}({text})`"))
            .collect();
        self.error(
            form_index,
            format!("{left} is {x} and {right} is {y}"),
            format!("say {}", convert.join(" and ")),
        )
    }

    /// An operand in a type: a value that has it, or a constant made to.
    pub(super) fn of_type(&mut self, form: usize, ty: Type) -> Result<Id> {
        let (constant, narrow) = match self.typed[form] {
            Typed::Value(id) => return Ok(id),
            Typed::Loose(constant, narrow) => (constant, narrow),
        };
        let suited = match (constant, ty) {
            (constant, ty) if constant.ty() == ty => Some(constant),
            (Const::I64(v), Type::U64) => u64::try_from(v).ok().map(Const::U64),
            (Const::U64(v), Type::I64) => i64::try_from(v).ok().map(Const::I64),
            (Const::I64(v), Type::F64) => Some(Const::F64((v as f64).to_bits())),
            (Const::U64(v), Type::F64) => Some(Const::F64((v as f64).to_bits())),
            (Const::I64(v), Type::F32) => Some(Const::F32((v as f32).to_bits())),
            (Const::U64(v), Type::F32) => Some(Const::F32((v as f32).to_bits())),
            (Const::F64(bits), Type::F32) => {
                Some(Const::F32(narrow.unwrap_or(f64::from_bits(bits) as f32).to_bits()))
            }
            (Const::F64(bits), Type::I64) => as_integer(f64::from_bits(bits)).map(Const::I64),
            (Const::F64(bits), Type::U64) => {
                as_integer(f64::from_bits(bits)).and_then(|v| u64::try_from(v).ok()).map(Const::U64)
            }
            _ => None,
        };
        match suited {
            Some(constant) => Ok(self.constant(constant, form)),
            None => {
                let remedy = if ty == Type::Bool {
                    "compare, or say true or false"
                } else {
                    "say f64(…) of the other operand"
                };
                Err(self.error(
                    form,
                    format!("this constant meets {ty}, which does not hold it"),
                    remedy,
                ))
            }
        }
    }
}

/// A float as the integer that it is.
fn as_integer(x: f64) -> Option<i64> {
    let is_integer =
        x == x.trunc() && (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&x);
    is_integer.then_some(x as i64)
}
