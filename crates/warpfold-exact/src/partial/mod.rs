//! The partial results of every reduction: exact, mergeable, one type for each kind of fold.

pub mod bytes;
mod count;
mod extremes;
mod finish;
mod magnitude;
mod norm1;
pub mod product;
mod stats;

pub use count::Count;
pub use extremes::{ArgIndex, Extremes};
pub use finish::{Finish, Output};
pub use magnitude::Magnitude;
pub use magnitude::Magnitudes;
pub use norm1::Norm1;
pub use product::Product;
pub use product::{
    ComplexProduct, Complexes, Factors, IntegerProduct, RealProduct, Reals, SpecialFlags, join_of,
};
pub use stats::Stats;
pub use stats::refuse_rounding;

use crate::element::Element;
use crate::exact::{Dot, Exact, Moments};
use crate::{Op, PartialKind, Value};

/// What an executor hands back: the exact state of one reduction, ready to be merged or finished.
#[derive(Debug, Clone, PartialEq)]
pub enum Partial<T: Element> {
    /// Of sum and mean.
    Sum(Exact<T>),
    /// Of var, std, l2 and sumsq: sums of elements and of squares.
    Moments(Box<Moments<T>>),
    /// Of dot.
    Dot(Box<Dot<T>>),
    /// Of min, max, minmax, argmin and argmax.
    Extremes(Extremes<T::Component>),
    /// Of any, all and count.
    Count(Count),
    /// Of prod.
    Product(Box<Product<T>>),
    /// Of l1.
    Norm1(Box<Norm1<T>>),
    /// Of linf.
    Magnitude(Box<Magnitude<T>>),
    /// Of stats.
    Stats(Box<Stats<T>>),
}

impl<T: Element> Partial<T> {
    /// The partial of a reduction of nothing.
    pub fn empty(op: Op) -> Self {
        Self::empty_of(op.partial())
    }

    /// The partial of a kind, of nothing.
    pub fn empty_of(kind: PartialKind) -> Self {
        match kind {
            PartialKind::Sum => Partial::Sum(Exact::new()),
            PartialKind::Moments => Partial::Moments(Box::default()),
            PartialKind::Extremes => Partial::Extremes(Extremes::new()),
            PartialKind::Count => Partial::Count(Count::default()),
            PartialKind::Dot => Partial::Dot(Box::default()),
            PartialKind::Product => Partial::Product(Box::default()),
            PartialKind::Norm1 => Partial::Norm1(Box::default()),
            PartialKind::Magnitude => Partial::Magnitude(Box::default()),
            PartialKind::Stats => Partial::Stats(Box::default()),
        }
    }

    /// Which of them it is.
    pub fn kind(&self) -> PartialKind {
        match self {
            Partial::Sum(_) => PartialKind::Sum,
            Partial::Moments(_) => PartialKind::Moments,
            Partial::Extremes(_) => PartialKind::Extremes,
            Partial::Count(_) => PartialKind::Count,
            Partial::Dot(_) => PartialKind::Dot,
            Partial::Product(_) => PartialKind::Product,
            Partial::Norm1(_) => PartialKind::Norm1,
            Partial::Magnitude(_) => PartialKind::Magnitude,
            Partial::Stats(_) => PartialKind::Stats,
        }
    }
}

/// What `stats` tells of an array; the fields without a value for it are `None`.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Elements, NaN included.
    pub count: u64,
    /// Elements that are NaN (complex: with a NaN in either part).
    pub nan_count: u64,
    /// The sum.
    pub sum: Value,
    /// The mean.
    pub mean: Option<Value>,
    /// The variance.
    pub var: Option<Value>,
    /// The standard deviation.
    pub std: Option<Value>,
    /// The smallest element.
    pub min: Option<Value>,
    /// The largest element.
    pub max: Option<Value>,
    /// The first index of the smallest element.
    pub argmin: Option<u64>,
    /// The first index of the largest element.
    pub argmax: Option<u64>,
    /// The sum of magnitudes.
    pub l1: Value,
    /// The Euclidean norm.
    pub l2: Value,
}
