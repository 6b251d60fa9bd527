//! Your own reduction: an [`Operator`] folds whatever has an order of joining, with the same bits for any number of threads and pieces.
//!
//! ```
//! use warpfold::custom::{Operator, fold};
//!
//! /// Rows of 2×2 matrices, multiplied in the order of the array.
//! #[derive(Debug, Clone, Copy, PartialEq)]
//! struct Matrices;
//!
//! impl Operator for Matrices {
//!     type Element = [[i64; 2]; 2];
//!     type State = [[i64; 2]; 2];
//!     type Output = [[i64; 2]; 2];
//!
//!     fn lift(&self, x: [[i64; 2]; 2], _index: u64) -> Self::State {
//!         x
//!     }
//!
//!     fn merge(&self, a: Self::State, b: Self::State) -> Self::State {
//!         let cell = |i: usize, j: usize| a[i][0] * b[0][j] + a[i][1] * b[1][j];
//!         [[cell(0, 0), cell(0, 1)], [cell(1, 0), cell(1, 1)]]
//!     }
//!
//!     fn finish(&self, state: Self::State) -> Self::Output {
//!         state
//!     }
//! }
//!
//! // Powers of [[1, 1], [1, 0]] hold the numbers of Fibonacci.
//! assert_eq!(fold(&[[[1, 1], [1, 0]]; 40], Matrices), Some([[165_580_141, 102_334_155], [102_334_155, 63_245_986]]));
//! assert_eq!(fold(&[], Matrices), None);
//! ```
//!
//! # The order
//!
//! Whatever joins the same way up to rounding will do: neither a neutral element nor commutativity is needed. The order is fixed: element `i` is leaf `i` of one
//! tree, whose runs of 32 consecutive leaves are folded in order ([`lift`](Operator::lift) of the first, [`push`](Operator::push) of the others), then
//! 32 such runs in order, then aligned neighbours of one size ([`merge`](Operator::merge)). Threads, pieces and their order do not show in the result.
//!
//! # What is checked
//!
//! In builds with debug assertions every fold tries the operator's [laws](Law) on a sample of the elements, and panics with the states if one
//! does not hold. [`check`] does the same in any build, and returns what it found.

mod keys;
mod laws;
mod tree;

use std::fmt::Debug;

pub use keys::{fold_by_key, fold_dense};
pub use laws::{Broken, check, is_close};

use crate::element::Element;
use crate::input::Source;
use crate::{Error, Policy, Reduce, Result, Segments};
use tree::Along;

/// The most bytes of a state.
pub const MOST_BYTES: usize = 64;

/// What an operator says of its [`merge`](Operator::merge).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Law {
    /// `(a·b)·c` is [the same](Operator::is_same) as `a·(b·c)`.
    Associative,
    /// The same, and `a·b` as `b·a`. The order of the result's tree is the same; the claim is checked.
    Commutative,
}

/// How a state is made of elements, and one state of two. A value of it may hold parameters, such as a threshold.
pub trait Operator: Copy + PartialEq + Debug + Send + Sync {
    /// An element of the array: any plain type.
    type Element: Copy + PartialEq + Debug + Send + Sync;
    /// What elements become: up to [`MOST_BYTES`].
    type State: Copy + PartialEq + Debug + Send + Sync;
    /// What the last state becomes.
    type Output;

    /// What [`merge`](Self::merge) keeps to, and is checked for.
    const LAW: Law = Law::Associative;

    /// The state of one element, which has this index in its array, or in its segment.
    fn lift(&self, x: Self::Element, index: u64) -> Self::State;

    /// The state of neighbours, the left one first.
    fn merge(&self, left: Self::State, right: Self::State) -> Self::State;

    /// The state with one more element behind: [`merge`](Self::merge) with its [`lift`](Self::lift), unless there is a shorter way. Which of both
    /// is part of the result's bits.
    #[inline]
    fn push(&self, state: Self::State, x: Self::Element, index: u64) -> Self::State {
        self.merge(state, self.lift(x, index))
    }

    /// The result.
    fn finish(&self, state: Self::State) -> Self::Output;

    /// Whether two states are as good as equal: an operator that rounds says how far apart they may be ([`is_close`] helps).
    fn is_same(&self, one: &Self::State, other: &Self::State) -> bool {
        one == other
    }
}

/// Folds an array; `None` of nothing.
///
/// # Panics
/// In builds with debug assertions, if the operator breaks its law.
pub fn fold<O: Operator>(x: &[O::Element], operator: O) -> Option<O::Output> {
    fold_with(x, operator, Policy::default())
}

/// The same on no more than the policy's threads; nothing else of the policy applies.
///
/// # Panics
/// As [`fold`].
pub fn fold_with<O: Operator>(x: &[O::Element], operator: O, policy: Policy) -> Option<O::Output> {
    Piece::with(x, 0, operator, policy).whole()
}

/// Folds each segment of an array by itself; indices count from its first element. `None` where there is nothing.
///
/// ```
/// use warpfold::Segments;
/// use warpfold::custom::{Operator, fold_segments};
///
/// /// The longest run of equal elements at the beginning.
/// #[derive(Debug, Clone, Copy, PartialEq)]
/// struct Alike;
///
/// impl Operator for Alike {
///     type Element = u8;
///     // First element, how many equal ones begin the part, elements of the part.
///     type State = (u8, u64, u64);
///     type Output = u64;
///
///     fn lift(&self, x: u8, _: u64) -> Self::State {
///         (x, 1, 1)
///     }
///     fn merge(&self, a: Self::State, b: Self::State) -> Self::State {
///         let goes_on = a.1 == a.2 && a.0 == b.0;
///         (a.0, if goes_on { a.1 + b.1 } else { a.1 }, a.2 + b.2)
///     }
///     fn finish(&self, state: Self::State) -> u64 {
///         state.1
///     }
/// }
///
/// let x = [7, 7, 1, 7, 7, 7];
/// assert_eq!(fold_segments(&x, Segments::every(3), Alike)?, [Some(2), Some(3)]);
/// assert_eq!(fold_segments(&x, Segments::offsets(&[0u32, 0, 6]), Alike)?, [None, Some(2)]);
/// # Ok::<(), warpfold::Error>(())
/// ```
///
/// # Errors
/// [`Error::Segments`] if these are no segments of the array.
///
/// # Panics
/// As [`fold`].
pub fn fold_segments<O: Operator>(
    x: &[O::Element],
    segments: Segments<'_>,
    operator: O,
) -> Result<Vec<Option<O::Output>>>
where
    O::Output: Send,
{
    laws::assert(operator, x);
    let bounds = segments.check(x.len() as u64)?;
    Ok(tree::segments(x, &bounds, operator))
}

/// What is left of some elements that stand one behind the other, or of several such pieces.
///
/// ```
/// # use warpfold::custom::{Operator, Piece, fold};
/// # #[derive(Debug, Clone, Copy, PartialEq)]
/// # struct Last;
/// # impl Operator for Last {
/// #     type Element = u32;
/// #     type State = u32;
/// #     type Output = u32;
/// #     fn lift(&self, x: u32, _: u64) -> u32 { x }
/// #     fn merge(&self, _: u32, right: u32) -> u32 { right }
/// #     fn finish(&self, state: u32) -> u32 { state }
/// # }
/// let x: Vec<u32> = (0..10_000).collect();
/// let mut all = Piece::new(&x[7000..], 7000, Last);
/// all.merge(&Piece::new(&x[..7000], 0, Last));
/// assert_eq!(all.finish()?, fold(&x, Last));
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Piece<O: Operator> {
    operator: O,
    tree: warpfold_exact::tree::Tree<Along<O>>,
}

impl<O: Operator> Piece<O> {
    /// Folds elements of which the first has an index.
    ///
    /// # Panics
    /// As [`fold`].
    pub fn new(x: &[O::Element], first: u64, operator: O) -> Self {
        Self::with(x, first, operator, Policy::default())
    }

    fn with(x: &[O::Element], first: u64, operator: O, policy: Policy) -> Self {
        const { assert!(size_of::<O::State>() <= MOST_BYTES, "a state has 64 bytes at most") };
        laws::assert(operator, x);
        Piece { operator, tree: tree::fold(x, first, operator, policy.threads) }
    }

    /// The result of what has no gaps.
    fn whole(&self) -> Option<O::Output> {
        let state = self.tree.root();
        let state = state.unwrap_or_else(|gap| unreachable!("the array is whole: {gap:?}"));
        state.map(|state| self.operator.finish(state))
    }

    /// Takes in another piece: in any order, each once.
    pub fn merge(&mut self, other: &Self) {
        self.tree.merge(&other.tree);
    }

    /// The result of all elements from index 0 on; `None` of nothing.
    ///
    /// # Errors
    /// [`Error::Map`]: elements are missing between pieces or before the first, or were there twice.
    pub fn finish(&self) -> Result<Option<O::Output>> {
        let state = self.tree.root().map_err(|gap| {
            let (obstacle, remedy) = tree::said(gap);
            Error::Map { requested: format!("a fold by {:?}", self.operator), obstacle, remedy }
        })?;
        Ok(state.map(|state| self.operator.finish(state)))
    }
}

impl<T: Element> Reduce<'_, T> {
    /// Folds the elements, in their order, by an operator of one's own; `None` of nothing. Of the choices before it, that of the threads alone
    /// applies: an operator knows itself what a NaN is.
    ///
    /// # Panics
    /// As [`fold`].
    pub fn fold<O: Operator<Element = T>>(&self, operator: O) -> Option<O::Output> {
        let (input, policy) = self.source();
        if let Source::Slice(x) = input {
            return fold_with(x, operator, policy);
        }
        let (mut fill, mut block, mut index) = (input.fill(), Vec::new(), 0);
        let mut all = Piece::with(&[], 0, operator, policy);
        loop {
            fill(&mut block);
            if block.is_empty() {
                return all.whole();
            }
            all.merge(&Piece::with(&block, index, operator, policy));
            index += block.len() as u64;
        }
    }
}
