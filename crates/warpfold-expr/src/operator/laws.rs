//! What an operator's texts promise, tried on a sample of the elements.

use warpfold_num::laws::{Neighbours, is_close, triples};
use warpfold_num::{Error, Result};

use super::Piece;
use super::typed::{State, TypedOperator};
use crate::slice::Slice;
use crate::types::Const;

/// The least tolerance of f32, which has nine digits fewer than f64: some 80 roundings.
const LEAST_OF_F32: f64 = 1e-5;

/// Numbers whose squares, and some of their sums, are finite.
const LARGE_F32: f32 = 1e18;
const LARGE_F64: f64 = 1e150;

impl TypedOperator {
    /// Tries on states of a few of the elements that merging is associative up to the tolerance, that the identity is one, and, where it is claimed, that
    /// merging is commutative. No sample proves a law; most operators that break one are found out.
    ///
    /// # Errors
    /// [`Error::Map`], with the states that break a law.
    pub fn check(&self, inputs: &[Slice<'_>]) -> Result<()> {
        let n = inputs.first().map_or(0, Slice::len);
        for Neighbours { states, .. } in triples(n) {
            // What has no value here, such as a sum that a fold never makes, says nothing of a law.
            let states = states.map(|indices| self.neighbours(inputs, &indices).ok());
            let [Some(a), Some(b), Some(c)] = states else { continue };
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

    /// The state of some elements, in order.
    fn neighbours(&self, inputs: &[Slice<'_>], indices: &[usize]) -> Result<State> {
        let lift = |index: usize| self.lift(Piece::of(inputs), index);
        let first = lift(indices[0])?;
        indices[1..].iter().try_fold(first, |state, &index| self.merge(&state, &lift(index)?))
    }

    /// Whether a law can be told from a state: an infinity less itself is NaN in one order of merging and not in another, and so is what overflows.
    fn is_plain(&self, state: &State) -> bool {
        self.constants(state).all(|field| match field {
            Const::F32(bits) => f32::from_bits(bits).abs() <= LARGE_F32,
            Const::F64(bits) => f64::from_bits(bits).abs() <= LARGE_F64,
            _ => true,
        })
    }

    fn same(&self, law: &str, sides: [(&str, State); 2], of: &[State]) -> Result<()> {
        if !of.iter().all(|state| self.is_plain(state)) {
            return Ok(());
        }
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
                (Some(x), Some(y)) => is_close(x, y, scale.fold(0.0, f64::max), tolerance),
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
