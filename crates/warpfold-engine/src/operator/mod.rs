//! Operators as text, folded along the canonical tree: the bits of the same arithmetic in Rust, at any number of threads.
//!
//! ```
//! use warpfold_engine::HostArray;
//! use warpfold_engine::operator::{Operator, Written, fold};
//! use warpfold_num::{DType, Policy};
//!
//! // The largest sum of consecutive elements.
//! let best = Written {
//!     finish: Some("best"),
//!     ..Written::new(
//!         "all: i64, left: i64, right: i64, best: i64",
//!         "x, x, x, x",
//!         "a.all + b.all, max(a.left, a.all + b.left), max(b.right, b.all + a.right), max(max(a.best, b.best), a.right + b.left)",
//!     )
//! };
//! let operator = Operator::parse(&best)?.typed(&[("x", DType::I64)])?;
//! assert_eq!(fold(&operator, &[HostArray::of(&[3i64, -5, 4, -1, 4, -9])], Policy::default())?, [7i64.into()]);
//! # Ok::<(), warpfold_num::Error>(())
//! ```

mod parts;

use std::fmt;

use warpfold_exact::tree::{self, BLOCK, Interval, LEVEL_OF_RUNS, RUN, Tree};
use warpfold_expr::{MOST_RUNS, Piece, Slice};
pub use warpfold_expr::{Operator, State, TypedOperator, Written};
use warpfold_num::{DType, Error, Policy, Result, Value};
use warpfold_plan::HostArray;

use crate::map::slice;
use crate::{facts, threads};
pub use parts::{columns, read_columns};

/// Elements that a thread takes at once, from an index that they divide: one span of the tree.
const GRAIN: u64 = 64 * BLOCK;

/// Folds arrays of one length by an operator, whose laws are tried on a sample of the elements before; of the policy the threads alone apply.
///
/// # Errors
/// [`Error::Map`]: the arrays are not the operator's, a law does not hold, an operation of integers has no value, or there are no elements and no identity.
pub fn fold(
    operator: &TypedOperator,
    arrays: &[HostArray<'_>],
    policy: Policy,
) -> Result<Vec<Value>> {
    let n = length(operator, arrays)?;
    let inputs: Vec<Slice<'_>> = arrays.iter().map(slice).collect();
    operator.check(&inputs)?;
    read(operator, state(operator, &inputs, n as u64, threads_of(policy))?)
}

/// Tries the laws of an operator on a sample of the arrays' elements, as every fold does before.
///
/// # Errors
/// [`Error::Map`], with the states that break a law.
pub fn check(operator: &TypedOperator, arrays: &[HostArray<'_>]) -> Result<()> {
    operator.check(&arrays.iter().map(slice).collect::<Vec<_>>())
}

/// The threads that share the work.
fn threads_of(policy: Policy) -> usize {
    policy.threads.unwrap_or(usize::MAX).min(facts().threads)
}

/// The state of so many elements; none of none.
fn state(
    operator: &TypedOperator,
    inputs: &[Slice<'_>],
    n: u64,
    threads: usize,
) -> Result<Option<State>> {
    let along = Along { operator, piece: Piece::of(inputs) };
    let intervals = threads::map(threads, 0..n.div_ceil(GRAIN) as usize, |grain| {
        let first = grain as u64 * GRAIN;
        along.interval(first, (first + GRAIN).min(n))
    });
    let mut tree = Tree::new(along);
    intervals.into_iter().for_each(|interval| tree.insert(interval));
    root(&tree)
}

/// What a tree of all elements says.
fn root(tree: &Tree<Along<'_>>) -> Result<Option<State>> {
    tree.root().unwrap_or_else(|gap| unreachable!("the arrays are whole: {gap:?}")).transpose()
}

/// The results that a state says, or the state of nothing.
///
/// # Errors
/// [`Error::Map`]: an operation of integers that has no value, or there is neither a state nor an identity.
pub fn read(operator: &TypedOperator, state: Option<State>) -> Result<Vec<Value>> {
    let none = || {
        let (obstacle, remedy) =
            ("there are no elements, and it has no identity", "give an identity, or elements");
        refused(obstacle.into(), remedy)
    };
    operator.finish(&state.or_else(|| operator.identity()).ok_or_else(none)?)
}

fn refused(obstacle: String, remedy: &str) -> Error {
    Error::Map { requested: "operator".into(), obstacle, remedy: remedy.into() }
}

fn length(operator: &TypedOperator, inputs: &[HostArray<'_>]) -> Result<usize> {
    let inputs: Vec<_> = inputs.iter().map(|input| (input.dtype(), input.len())).collect();
    length_of(operator, &inputs)
}

/// The one length of arrays of some types, wherever they lie.
///
/// # Errors
/// [`Error::Map`]: they are not the operator's, or of several lengths.
pub fn length_of(operator: &TypedOperator, inputs: &[(DType, usize)]) -> Result<usize> {
    let dtypes: Vec<DType> = inputs.iter().map(|(dtype, _)| *dtype).collect();
    if dtypes != operator.inputs() || inputs.is_empty() {
        let obstacle =
            format!("the arrays are of {dtypes:?}, and it is for {:?}", operator.inputs());
        return Err(refused(obstacle, "give the arrays that it was made for, one at least"));
    }
    let n = inputs[0].1;
    match inputs.iter().find(|(_, length)| *length != n) {
        None => Ok(n),
        Some((_, other)) => {
            let obstacle = format!("one array has {n} elements and another {other}");
            Err(refused(obstacle, "give arrays of one length"))
        }
    }
}

/// An operator along the tree, whose leaves are indices. A state may be an error: of two the left one stays.
#[derive(Clone, Copy)]
struct Along<'a> {
    operator: &'a TypedOperator,
    /// The elements, whose indices follow each other.
    piece: Piece<'a>,
}

impl fmt::Debug for Along<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.operator.fmt(f)
    }
}

impl PartialEq for Along<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.operator, other.operator)
    }
}

impl tree::Operator for Along<'_> {
    type Leaf = u64;
    type Node = Result<State>;

    fn run(&self, leaves: &[u64]) -> Result<State> {
        self.operator.run(self.piece, self.position(leaves[0]), leaves.len())
    }

    fn block(&self, runs: &[Result<State>]) -> Result<State> {
        runs[1..].iter().fold(runs[0].clone(), |left, right| self.join(&left, right))
    }

    fn join(&self, left: &Result<State>, right: &Result<State>) -> Result<State> {
        match (left, right) {
            (Ok(left), Ok(right)) => self.operator.merge(left, right),
            (Err(error), _) | (_, Err(error)) => Err(error.clone()),
        }
    }
}

impl Along<'_> {
    fn position(self, index: u64) -> usize {
        (index - self.piece.start) as usize
    }

    /// Some elements, from an index that a run's elements divide: whole runs side by side, then the others.
    fn interval(self, first: u64, end: u64) -> Interval<Self> {
        let mut interval = Interval::new(first);
        let mut index = first;
        while end - index >= RUN {
            let runs = ((end - index) / RUN).min(MOST_RUNS as u64);
            match self.operator.runs(self.piece, self.position(index), RUN as usize, runs as usize)
            {
                Ok(states) => {
                    states
                        .into_iter()
                        .for_each(|state| interval.node(self, LEVEL_OF_RUNS, Ok(state)));
                }
                Err(error) => {
                    (0..runs).for_each(|_| interval.node(self, LEVEL_OF_RUNS, Err(error.clone())))
                }
            }
            index += runs * RUN;
        }
        (index..end).for_each(|index| interval.leaf(self, index));
        interval
    }
}
