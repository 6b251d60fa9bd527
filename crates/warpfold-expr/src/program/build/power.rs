//! Powers: products of integers, one function of floats.

use warpfold_num::Result;

use super::{Typed, Typing};
use crate::function::{Binary, Unary};
use crate::math::{LARGEST, SMALLEST};
use crate::program::{Const, Node, Type};

impl Typing<'_, '_> {
    pub(super) fn power(&mut self, a: usize, n: usize, form_index: usize) -> Result<Typed> {
        let Typed::Loose(Const::I64(exponent), _) = self.typed[n] else {
            let remedy = "write it out, as 2; a root is sqrt(…)";
            return Err(self.error(n, "an exponent is a whole constant", remedy));
        };
        let is_loose = matches!(self.typed[a], Typed::Loose(..));
        let base = self.fixed(self.typed[a], a);
        let ty = self.build.program.ty(base);
        let floats = i64::from(SMALLEST)..=i64::from(LARGEST);
        let value = match (ty, exponent) {
            (Type::Bool, _) => {
                return Err(self.error(form_index, "`**` takes no bool", "say i64(…) first"));
            }
            (_, 1) => base,
            // A product, which sums leave exact.
            (_, 2) => return self.binary(Binary::Mul, a, a, form_index),
            (Type::I64 | Type::U64, 3..=63) => {
                let mut value = base;
                for _ in 1..exponent {
                    value = self.folded(Node::Binary(Binary::Mul, value, base), ty, form_index)?;
                }
                value
            }
            (Type::F32 | Type::F64, n) if floats.contains(&n) => {
                self.folded(Node::Unary(Unary::Power(n as i8), base), ty, form_index)?
            }
            (Type::F32 | Type::F64, _) => {
                let remedy = format!("take one from {SMALLEST} to {LARGEST}, or exp(n * log(x))");
                return Err(self.error(
                    n,
                    format!("{exponent} is no exponent of a float here"),
                    remedy,
                ));
            }
            _ => {
                let obstacle = format!("{exponent} is no exponent of an integer here");
                return Err(self.error(n, obstacle, "take one from 1 to 63"));
            }
        };
        Ok(if is_loose { self.loosened(value) } else { Typed::Value(value) })
    }
}
