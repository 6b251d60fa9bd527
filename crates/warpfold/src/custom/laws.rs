//! What operators promise, tried on a sample of the elements.

use std::fmt::{self, Debug};

use warpfold_num::random::Words;

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

/// Triples of states that are tried.
const TRIPLES: usize = 24;

/// Tries an operator's laws on states made of the elements: that merging is associative, that pushing an element is merging it, and, where it is
/// claimed, that merging is commutative. No sample proves a law; most operators that break one are found out.
///
/// # Errors
/// The first law that does not hold.
pub fn check<O: Operator>(operator: O, x: &[O::Element]) -> Result<(), Broken> {
    if x.is_empty() {
        return Ok(());
    }
    let mut words = Words(1);
    let mut next = || (words.next() >> 33) as usize;
    for triple in 0..TRIPLES {
        // States of one to four elements that stand one behind the other, as in a fold.
        let lengths = [0; 3].map(|_| 1 + if triple < TRIPLES / 2 { 0 } else { next() % 4 });
        let mut arg_index = next() % x.len();
        let [a, b, c] = lengths.map(|length| {
            let mut state: Option<O::State> = None;
            for _ in 0..length {
                let lifted = operator.lift(x[arg_index], arg_index as u64);
                state = Some(state.map_or(lifted, |state| operator.merge(state, lifted)));
                // Behind the last comes the first again, if there are so few.
                arg_index = (arg_index + 1) % x.len();
            }
            state.unwrap_or_else(|| unreachable!("there is one element at least"))
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
        let (pushed, lifted) = (
            operator.push(a, x[arg_index], arg_index as u64),
            operator.lift(x[arg_index], arg_index as u64),
        );
        let merged = operator.merge(a, lifted);
        same(
            "one whose push is a merge",
            pushed,
            merged,
            &(a, x[arg_index]),
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

/// Whether two numbers are no farther apart than a part of a scale; equal infinities are, and NaNs.
pub fn is_close(one: f64, other: f64, scale: f64, part: f64) -> bool {
    one == other || (one.is_nan() && other.is_nan()) || (one - other).abs() <= part * scale.abs()
}
