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
    Prod,
    /// Writes values to memory.
    Values,
    /// A result for each part.
    Parts(Walk, PartFold),
}

/// How the templates of parts go through arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Walk {
    /// Rows, or segments of one length.
    Rows,
    Columns,
    /// Segments of several lengths.
    Segments,
}

/// What they fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum PartFold {
    Terms,
    Total,
    Norm,
    Spread,
    Extreme,
}

impl Template {
    /// How it goes through parts, if it has a result for each.
    pub(super) fn walk(self) -> Option<Walk> {
        match self {
            Template::Parts(walk, _) => Some(walk),
            _ => None,
        }
    }

    /// The same of parts that lie otherwise.
    pub(super) fn of(self, walk: Walk) -> Template {
        match self {
            Template::Parts(_, fold) => Template::Parts(walk, fold),
            other => other,
        }
    }

    pub(super) fn name(self) -> String {
        let name = match self {
            Template::Sum => "sum",
            Template::Moments => "moments",
            Template::Dot => "dot",
            Template::Weighted => "weighted",
            Template::Pairs => "pairs",
            Template::SquareDot => "square_dot",
            Template::Min => "min",
            Template::Max => "max",
            Template::Count => "count",
            Template::Prod => "prod",
            Template::Values => "values",
            Template::Parts(walk, fold) => {
                let walk = match walk {
                    Walk::Rows => "row",
                    Walk::Columns => "column",
                    Walk::Segments => "segment",
                };
                let fold = match fold {
                    PartFold::Terms => "terms",
                    PartFold::Total => "total",
                    PartFold::Norm => "norm",
                    PartFold::Spread => "spread",
                    PartFold::Extreme => "extreme",
                };
                return format!("{walk}_{fold}");
            }
        };
        name.into()
    }
}

/// What a template is given of each element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Values {
    One(Id),
    Two(Id, Id),
    /// The magnitude of a value: of a signed integer an unsigned one.
    Magnitude(Id),
    /// A value and one, as factors.
    TimesOne(Id),
    /// The magnitude of a value and one, as factors.
    MagnitudeTimesOne(Id),
    /// Whether a value is not zero.
    Condition(Id),
    /// Whether a value is NaN.
    IsNan(Id),
}

impl Values {
    pub(super) fn ids(self) -> impl Iterator<Item = Id> {
        let (a, b) = match self {
            Values::Two(a, b) => (a, Some(b)),
            Values::One(a)
            | Values::Magnitude(a)
            | Values::TimesOne(a)
            | Values::MagnitudeTimesOne(a)
            | Values::Condition(a)
            | Values::IsNan(a) => (a, None),
        };
        std::iter::once(a).chain(b)
    }

    /// How many values a template is given of each element.
    pub(super) fn count(self) -> usize {
        match self {
            Values::Two(..) | Values::TimesOne(_) | Values::MagnitudeTimesOne(_) => 2,
            _ => 1,
        }
    }
}

/// How an input is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::kernel) enum Reads {
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
    /// What is reported of elements that count, in flags.
    pub(super) reports: Reports,
}

/// What a kernel reports of elements in the word of flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Reports {
    Nothing,
    /// Of two values: differences that are no finite numbers.
    Differences,
    /// Exponents that are no finite numbers, and those whose powers no sum beside the others holds.
    Exponents(Id),
    /// Numbers whose squares have no halves.
    Halves(Id),
}

impl Reports {
    /// A NaN, an infinity, and values that the processor folds.
    pub(super) const NAN: u64 = 1;
    pub(super) const INFINITY: u64 = 2;
    pub(super) const BEYOND: u64 = 4;
}

impl Shape {
    /// Everything that is computed but for the condition on which elements count.
    pub(super) fn ids(&self) -> Vec<Id> {
        let flag = match self.reports {
            Reports::Exponents(id) | Reports::Halves(id) => Some(id),
            Reports::Nothing | Reports::Differences => None,
        };
        let ids = self.values.ids().chain(self.nans.iter().copied());
        ids.chain(self.weight).chain(flag).collect()
    }

    /// The type that the template folds.
    pub(super) fn dtype(&self, program: &Program) -> DType {
        match self.values {
            Values::Condition(_) | Values::IsNan(_) => DType::Bool,
            Values::Magnitude(id) if program.ty(id) == Type::I64 => DType::U64,
            Values::One(id)
            | Values::Two(id, _)
            | Values::Magnitude(id)
            | Values::TimesOne(id)
            | Values::MagnitudeTimesOne(id) => program.ty(id).dtype(),
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
