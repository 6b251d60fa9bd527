//! What one reading folds: the tasks that results are made of, and the partial of each.

use num_bigint::BigInt;
use warpfold_exact::AnyPartial;
use warpfold_exact::partial::{Count, Partial};
use warpfold_expr::{Id, Program, Type};
use warpfold_num::limbs::Special;
use warpfold_num::{DType, Op};

use super::exponents::Exponents;

/// Something that is folded of the values of expressions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Task {
    /// Values, as a reduction of an array.
    Values(Op, Id),
    /// Conditions, counted.
    Conditions(Id),
    /// Exact products of two values.
    Products(Id, Id),
    /// Weights, which are checked and summed.
    Weights(Id),
    /// Squares of both and products of two values: what rmse and cosine are of.
    Pairs(Id, Id),
    /// Weights times squares: exact products of the weights with the upper and the lower halves of squares, of floats.
    Squares {
        /// The weight.
        weight: Id,
        /// The value, where its square may lie outside the halves' range; integers have no halves.
        value: Id,
        /// The upper and the lower half of its square.
        halves: Option<(Id, Id)>,
    },
    /// The sum of powers of e: the exponents, and the powers of those that are near zero.
    Exponents {
        /// The exponent.
        exponent: Id,
        /// The power.
        power: Id,
    },
}

/// The partial of a task.
#[derive(Debug, Clone, PartialEq)]
#[allow(
    clippy::large_enum_variant,
    reason = "as of `AnyPartial`: an allocation for each small sum"
)]
pub enum TaskPartial {
    /// Of all tasks but these.
    Partial(AnyPartial),
    /// Of pairs.
    Pairs(Box<Pairs>),
    /// Of weighted squares.
    Squares(Box<Squares>),
    /// Of powers of e.
    Exponents(Box<Exponents>),
}

/// Sums of squares and products of pairs.
#[derive(Debug, Clone, PartialEq)]
pub struct Pairs {
    /// The squares of the first values.
    pub left: AnyPartial,
    /// The products.
    pub both: AnyPartial,
    /// The squares of the second values.
    pub right: AnyPartial,
    /// What is no finite number among the differences.
    pub differences: Special,
}

/// Weighted squares.
#[derive(Debug, Clone, PartialEq)]
pub struct Squares {
    /// Products of halves of squares, of floats.
    pub(super) products: AnyPartial,
    /// The others: of floats in units of 2^-3222, of integers all.
    pub(super) others: BigInt,
}

impl Squares {
    /// Of floats whose squares all have halves, from their products with the weights.
    pub fn of_halves(products: AnyPartial) -> Self {
        Squares { products, others: BigInt::ZERO }
    }
}

impl Task {
    /// The expressions that it reads.
    pub fn ids(self) -> impl Iterator<Item = Id> {
        let ids = match self {
            Task::Values(_, id) | Task::Conditions(id) | Task::Weights(id) => {
                [Some(id), None, None, None]
            }
            Task::Products(a, b) | Task::Pairs(a, b) => [Some(a), Some(b), None, None],
            Task::Squares { weight, value, halves } => {
                [Some(weight), Some(value), halves.map(|(a, _)| a), halves.map(|(_, b)| b)]
            }
            Task::Exponents { exponent, power } => [Some(exponent), Some(power), None, None],
        };
        ids.into_iter().flatten()
    }

    /// Those whose NaNs, where they are ignored, take the element with them; halves of squares are NaN of infinities too.
    pub fn given(self) -> impl Iterator<Item = Id> {
        let count = if matches!(self, Task::Squares { .. }) { 2 } else { usize::MAX };
        self.ids().take(count)
    }

    /// The partial of no elements.
    pub fn empty(self, program: &Program) -> TaskPartial {
        let dtype = |id| program.ty(id).dtype();
        let products = |id| AnyPartial::empty(Op::Dot, dtype(id));
        match self {
            Task::Values(op, id) => TaskPartial::Partial(AnyPartial::empty(op, dtype(id))),
            Task::Conditions(_) => {
                TaskPartial::Partial(Partial::<bool>::Count(Count::default()).untyped())
            }
            Task::Products(a, _) => TaskPartial::Partial(products(a)),
            Task::Weights(id) => TaskPartial::Partial(AnyPartial::empty(Op::Sum, dtype(id))),
            Task::Pairs(a, _) => TaskPartial::Pairs(Box::new(Pairs {
                left: products(a),
                both: products(a),
                right: products(a),
                differences: Special::NONE,
            })),
            Task::Squares { .. } => TaskPartial::Squares(Box::new(Squares {
                products: AnyPartial::empty(Op::Dot, DType::F64),
                others: BigInt::ZERO,
            })),
            Task::Exponents { .. } => TaskPartial::Exponents(Box::default()),
        }
    }

    /// Whether NaNs that are ignored take more with them than themselves.
    pub(super) fn is_of_pairs(self) -> bool {
        matches!(self, Task::Weights(_) | Task::Pairs(..) | Task::Squares { .. })
    }

    /// The reduction whose partial serves this one.
    pub(super) fn values(op: Op, id: Id, ty: Type) -> Task {
        match op {
            Op::Count | Op::Any | Op::All if ty == Type::Bool => Task::Conditions(id),
            Op::Sum | Op::Mean => Task::Values(Op::Sum, id),
            op if op.is_of_squares() => Task::Values(Op::Var, id),
            op => Task::Values(op, id),
        }
    }
}

impl TaskPartial {
    /// Takes in the partial of later elements.
    pub fn merge(&mut self, later: &TaskPartial) {
        match (self, later) {
            (TaskPartial::Partial(mine), TaskPartial::Partial(theirs)) => mine.merge(theirs),
            (TaskPartial::Pairs(mine), TaskPartial::Pairs(theirs)) => {
                mine.left.merge(&theirs.left);
                mine.both.merge(&theirs.both);
                mine.right.merge(&theirs.right);
                mine.differences = mine.differences.union(theirs.differences);
            }
            (TaskPartial::Squares(mine), TaskPartial::Squares(theirs)) => {
                mine.products.merge(&theirs.products);
                mine.others += &theirs.others;
            }
            (TaskPartial::Exponents(mine), TaskPartial::Exponents(theirs)) => mine.merge(theirs),
            _ => unreachable!("parts of one task are alike"),
        }
    }

    /// The partial that it is.
    pub(super) fn partial(&self) -> &AnyPartial {
        match self {
            TaskPartial::Partial(partial) => partial,
            _ => unreachable!("this task leaves a partial"),
        }
    }
}
