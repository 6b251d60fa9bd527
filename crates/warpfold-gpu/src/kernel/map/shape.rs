//! [`Shape`]: what one kernel of mapped values is, before the inputs' addresses are known.

use warpfold_expr::{Id, Program, Type};

use crate::DType;

/// A template (`warpfold_kernels::catalog::MAPS`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Template {
    Sum,
    Moments,
    Dot,
    Weighted,
    Pairs,
    SquareDot,
    Min,
    Max,
    Count,
}

impl Template {
    pub(super) fn name(self) -> &'static str {
        match self {
            Template::Sum => "sum",
            Template::Moments => "moments",
            Template::Dot => "dot",
            Template::Weighted => "weighted",
            Template::Pairs => "pairs",
            Template::SquareDot => "square_dot",
            Template::Min => "min",
            Template::Max => "max",
            Template::Count => "count",
        }
    }
}

/// What a template is given of each element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Values {
    One(Id),
    Two(Id, Id),
    /// Whether a value is not zero.
    Condition(Id),
}

impl Values {
    pub(super) fn ids(self) -> impl Iterator<Item = Id> {
        let (Values::One(a) | Values::Condition(a) | Values::Two(a, _)) = self;
        let second = match self {
            Values::Two(_, b) => Some(b),
            _ => None,
        };
        std::iter::once(a).chain(second)
    }
}

/// How an input is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Reads {
    /// In vectors, as its first element lies at a multiple of 16 bytes.
    Vectors,
    /// Element by element.
    Elements,
}

/// One kernel: a template, and the values that it folds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    pub(super) template: Template,
    pub(super) values: Values,
    /// The condition on which elements count.
    pub(super) keep: Option<Id>,
    /// Values whose NaNs take the element out.
    pub(super) nans: Vec<Id>,
    /// A value that is to be finite and not negative.
    pub(super) weight: Option<Id>,
    /// Whether to tell of differences that are no finite numbers, of two values.
    pub(super) differences: Differences,
}

/// See [`Shape`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Differences {
    Flagged,
    Ignored,
}

impl Shape {
    /// Everything that is computed but for the condition on which elements count.
    pub(super) fn ids(&self) -> Vec<Id> {
        self.values.ids().chain(self.nans.iter().copied()).chain(self.weight).collect()
    }

    /// The type that the template folds.
    pub(super) fn dtype(&self, program: &Program) -> DType {
        match self.values {
            Values::Condition(_) => DType::Bool,
            Values::One(id) | Values::Two(id, _) => program.ty(id).dtype(),
        }
    }

    pub(super) fn entry(&self, program: &Program) -> String {
        format!("map_{}_{}", self.template.name(), self.dtype(program))
    }
}

/// The type of a value as instructions of PTX name it, and their size.
pub(super) fn suffix(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "pred",
        Type::I64 => "s64",
        Type::U64 => "u64",
        Type::F32 => "f32",
        Type::F64 => "f64",
    }
}
