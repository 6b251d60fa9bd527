//! What an operator's texts promise, tried on a sample of the elements.

use warpfold_num::random::Words;
use warpfold_num::{Error, Result};

use super::typed::{State, TypedOperator};
use crate::slice::Slice;
use crate::types::Const;

/// Triples of states that are tried.
const TRIPLES: usize = 24;

impl TypedOperator {
    /// Tries on states of a few of the elements that merging is associative up to the tolerance, that the identity is one, and, where it is claimed, that
    /// merging is commutative. No sample proves a law; most operators that break one are found out.
    ///
    /// # Errors
    /// [`Error::Map`], with the states that break a law, or an operation without a value.
    pub fn check(&self, inputs: &[Slice<'_>]) -> Result<()> {
        let n = inputs.first().map_or(0, Slice::len);
        if n == 0 {
            return Ok(());
        }
        let mut words = Words(1);
        for triple in 0..TRIPLES {
            // States of one to four elements that stand one behind the other, as in a fold; behind the last comes the first again.
            let mut index = words.index(n);
            let mut next = || -> Result<State> {
                let more = if triple < TRIPLES / 2 { 0 } else { words.index(4) };
                let mut state = self.lift(inputs, index % n)?;
                for _ in 0..more {
                    index += 1;
                    state = self.merge(&state, &self.lift(inputs, index % n)?)?;
                }
                index += 1;
                Ok(state)
            };
            let (a, b, c) = (next()?, next()?, next()?);
            let left = self.merge(&self.merge(&a, &b)?, &c)?;
            let right = self.merge(&a, &self.merge(&b, &c)?)?;
            self.same("associative", [("(a·b)·c", left), ("a·(b·c)", right)], &[a, b, c])?;
            if let Some(none) = self.identity {
                let sides = [self.merge(&none, &a)?, self.merge(&a, &none)?];
                for merged in sides {
                    self.same(
                        "left as it is by its identity",
                        [("merged", merged), ("alone", a)],
                        &[a],
                    )?;
                }
            }
            if self.commutative {
                let sides = [("a·b", self.merge(&a, &b)?), ("b·a", self.merge(&b, &a)?)];
                self.same("commutative", sides, &[a, b])?;
            }
        }
        Ok(())
    }

    fn same(&self, law: &str, sides: [(&str, State); 2], of: &[State]) -> Result<()> {
        let [(left, one), (right, other)] = sides;
        for (field, (x, y)) in self.constants(&one).zip(self.constants(&other)).enumerate() {
            let scale = of.iter().chain([&one, &other]).filter_map(|state| {
                let magnitude = float(self.constants(state).nth(field)?)?.abs();
                magnitude.is_finite().then_some(magnitude)
            });
            let is_same = match (float(x), float(y)) {
                (Some(x), Some(y)) => {
                    x == y
                        || (x.is_nan() && y.is_nan())
                        || (x - y).abs() <= self.tolerance * scale.fold(0.0, f64::max)
                }
                _ => x == y,
            };
            if !is_same {
                let shown: Vec<String> = of.iter().map(|state| self.shown(state)).collect();
                return Err(Error::Map {
                    requested: "merge".into(),
                    obstacle: format!(
                        "it is said to be {law}, and is not: {left} is {} and {right} is {}, of {}",
                        self.shown(&one),
                        self.shown(&other),
                        shown.join(", ")
                    ),
                    remedy: "mend it, or let the tolerance say how far apart two roundings may be"
                        .into(),
                });
            }
        }
        Ok(())
    }

    fn shown(&self, state: &State) -> String {
        let fields: Vec<String> = self.constants(state).map(|field| field.to_string()).collect();
        format!("({})", fields.join(", "))
    }
}

fn float(constant: Const) -> Option<f64> {
    match constant {
        Const::F32(bits) => Some(f64::from(f32::from_bits(bits))),
        Const::F64(bits) => Some(f64::from_bits(bits)),
        _ => None,
    }
}
