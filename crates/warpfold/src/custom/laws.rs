//! What operators promise, tried on a sample of the elements.

use std::fmt::{self, Debug};

pub use warpfold_num::laws::is_close;
use warpfold_num::laws::{Neighbours, triples};

use super::{Law, Operator};

/// A law that does not hold, with the states that show it.
#[derive(Debug, Clone, PartialEq)]
pub struct Broken {
    operator: String,
    law: &'static str,
    shown: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Broken { operator, law, shown } = self;
        write!(f, "{operator} is said to be {law}, and is not: {shown}")
    }
}

impl std::error::Error for Broken {}

/// Tries an operator's laws on states made of the elements: that merging is associative, that pushing an element is merging it, and, where it is
/// claimed, that merging is commutative. No sample proves a law; most operators that break one are found out.
///
/// # Errors
/// The first law that does not hold.
pub fn check<O: Operator>(operator: O, x: &[O::Element]) -> Result<(), Broken> {
    for Neighbours { states, next } in triples(x.len()) {
        let lift = |index: usize| operator.lift(x[index], index as u64);
        let [a, b, c] = states.map(|indices| {
            indices[1..]
                .iter()
                .fold(lift(indices[0]), |state, &index| operator.merge(state, lift(index)))
        });
        let same = |law, one: O::State, other: O::State, of: &dyn Debug, sides: [&str; 2]| {
            if operator.is_same(&one, &other) {
                return Ok(());
            }
            let [left, right] = sides;
            let shown = format!("{left} is {one:?} and {right} is {other:?}, of {of:?}");
            Err(Broken { operator: format!("{operator:?}"), law, shown })
        };
        let left = operator.merge(operator.merge(a, b), c);
        let right = operator.merge(a, operator.merge(b, c));
        same("associative", left, right, &(a, b, c), ["(a·b)·c", "a·(b·c)"])?;
        let pushed = operator.push(a, x[next], next as u64);
        let merged = operator.merge(a, lift(next));
        same(
            "one whose push is a merge",
            pushed,
            merged,
            &(a, x[next]),
            ["push(a, x)", "a·lift(x)"],
        )?;
        if O::LAW == Law::Commutative {
            let (one, other) = (operator.merge(a, b), operator.merge(b, a));
            same("commutative", one, other, &(a, b), ["a·b", "b·a"])?;
        }
    }
    Ok(())
}

/// Tries them where debug assertions are on.
pub(super) fn assert<O: Operator>(operator: O, x: &[O::Element]) {
    if cfg!(debug_assertions)
        && let Err(broken) = check(operator, x)
    {
        panic!("{broken}; mend it, or let is_same say how far apart two roundings may be");
    }
}
