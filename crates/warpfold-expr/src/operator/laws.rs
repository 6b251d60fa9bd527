//! What an operator's texts promise, tried on a sample of the elements.

use warpfold_num::random::Words;
use warpfold_num::{Error, Result};

use super::Piece;
use super::typed::{State, TypedOperator};
use crate::slice::Slice;
use crate::types::Const;

/// Triples of states that are tried.
const TRIPLES: usize = 24;

/// The least tolerance of f32, which has nine digits fewer than f64: some 80 roundings.
const LEAST_OF_F32: f64 = 1e-5;

impl TypedOperator {
    /// Tries on states of a few of the elements that merging is associative up to the tolerance, that the identity is one, and, where it is claimed, that
    /// merging is commutative. No sample proves a law; most operators that break one are found out.
    ///
    /// # Errors
    /// [`Error::Map`], with the states that break a law.
    pub fn check(&self, inputs: &[Slice<'_>]) -> Result<()> {
        let n = inputs.first().map_or(0, Slice::len);
        if n == 0 {
            return Ok(());
        }
        let mut words = Words(1);
        for triple in 0..TRIPLES {
            // What has no value here, such as a sum that a fold never makes, says nothing of a law.
            let Ok([a, b, c]) = self.neighbours(inputs, n, triple >= TRIPLES / 2, &mut words)
            else {
                continue;
            };
            let merge = |a: &State, b: &State| self.merge(a, b).ok();
            let left = merge(&a, &b).and_then(|ab| merge(&ab, &c));
            let right = merge(&b, &c).and_then(|bc| merge(&a, &bc));
            if let (Some(left), Some(right)) = (left, right) {
                self.same("associative", [("(a·b)·c", left), ("a·(b·c)", right)], &[a, b, c])?;
            }
            if let Some(none) = self.identity {
                for merged in [merge(&none, &a), merge(&a, &none)].into_iter().flatten() {
                    self.same(
                        "left as it is by its identity",
                        [("merged", merged), ("alone", a)],
                        &[a],
                    )?;
                }
            }
            if self.commutative
                && let (Some(one), Some(other)) = (merge(&a, &b), merge(&b, &a))
            {
                self.same("commutative", [("a·b", one), ("b·a", other)], &[a, b])?;
            }
        }
        Ok(())
    }

    /// Three states, of one element or of up to four, that stand one behind the other, as in a fold; where there are too few elements the first comes again.
    fn neighbours(
        &self,
        inputs: &[Slice<'_>],
        n: usize,
        are_long: bool,
        words: &mut Words,
    ) -> Result<[State; 3]> {
        const LONGEST: usize = 4;
        let starts = if n > 3 * LONGEST { n - 3 * LONGEST } else { n };
        let mut index = words.index(starts);
        let mut next = || -> Result<State> {
            let more = if are_long { words.index(LONGEST) } else { 0 };
            let mut state = self.lift(Piece::of(inputs), index % n)?;
            for _ in 0..more {
                index += 1;
                state = self.merge(&state, &self.lift(Piece::of(inputs), index % n)?)?;
            }
            index += 1;
            Ok(state)
        };
        Ok([next()?, next()?, next()?])
    }

    fn same(&self, law: &str, sides: [(&str, State); 2], of: &[State]) -> Result<()> {
        let [(left, one), (right, other)] = sides;
        for (field, (x, y)) in self.constants(&one).zip(self.constants(&other)).enumerate() {
            let scale = of.iter().chain([&one, &other]).filter_map(|state| {
                let magnitude = float(self.constants(state).nth(field)?)?.abs();
                magnitude.is_finite().then_some(magnitude)
            });
            let tolerance = match x {
                Const::F32(_) if self.tolerance > 0.0 => self.tolerance.max(LEAST_OF_F32),
                _ => self.tolerance,
            };
            let is_same = match (float(x), float(y)) {
                // What is infinite or no number says nothing: an infinity less itself is NaN in one order and not in another.
                (Some(x), Some(y)) => {
                    x == y
                        || !(x - y).is_finite()
                        || (x - y).abs() <= tolerance * scale.fold(0.0, f64::max)
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
