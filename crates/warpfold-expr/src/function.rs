//! The operations of expressions, each listed once: its names and what it is.

/// An operation of one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unary {
    /// The negative; checked for `i64`.
    Neg,
    /// The magnitude; checked for `i64`.
    Abs,
    /// The root, rounded once.
    Sqrt,
    /// The largest integer that is not above.
    Floor,
    /// The smallest integer that is not below.
    Ceil,
    /// The integer next to it towards zero.
    Trunc,
    /// The nearest integer, the even one of two.
    Round,
    /// Whether it is NaN.
    IsNan,
    /// Whether it is infinite.
    IsInf,
    /// Whether it is neither NaN nor infinite.
    IsFinite,
    /// `not` of a condition, all bits of an integer turned.
    Not,
    /// A number as `f32`, rounded once.
    F32,
    /// A number as `f64`, rounded once.
    F64,
    /// A number as `i64`: floats towards zero, saturated, NaN 0; integers checked.
    I64,
    /// A number as `u64`, likewise.
    U64,
    /// Whether a number is nonzero (NaN is).
    Bool,
}

impl Unary {
    /// Those that are called by a name.
    pub(crate) const NAMED: &[(&str, Unary)] = &[
        ("abs", Unary::Abs),
        ("sqrt", Unary::Sqrt),
        ("floor", Unary::Floor),
        ("ceil", Unary::Ceil),
        ("trunc", Unary::Trunc),
        ("round", Unary::Round),
        ("isnan", Unary::IsNan),
        ("isinf", Unary::IsInf),
        ("isfinite", Unary::IsFinite),
        ("f32", Unary::F32),
        ("f64", Unary::F64),
        ("i64", Unary::I64),
        ("u64", Unary::U64),
        ("bool", Unary::Bool),
    ];
}

/// An operation of two operands of one type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Binary {
    /// The sum.
    Add,
    /// The difference.
    Sub,
    /// The product.
    Mul,
    /// The quotient of floats.
    Div,
    /// The quotient of integers, rounded down.
    FloorDiv,
    /// What [`FloorDiv`](Self::FloorDiv) leaves; its sign is that of the divisor.
    Rem,
    /// The smaller: NaN propagates, -0 < +0.
    Min,
    /// The larger: NaN propagates, -0 < +0.
    Max,
    /// `and` of conditions, of the bits of integers.
    And,
    /// `or` of conditions, of the bits of integers.
    Or,
    /// Either but not both.
    Xor,
    /// Equal; NaN equals nothing.
    Eq,
    /// Not equal.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
}

impl Binary {
    /// Those that are called by a name.
    pub(crate) const NAMED: &[(&str, Binary)] = &[("min", Binary::Min), ("max", Binary::Max)];

    /// Whether it compares, and so gives a condition.
    pub const fn compares(self) -> bool {
        matches!(self, Binary::Eq | Binary::Ne | Binary::Lt | Binary::Le)
    }

    /// How it is written between its operands, or called.
    pub const fn name(self) -> &'static str {
        match self {
            Binary::Add => "+",
            Binary::Sub => "-",
            Binary::Mul => "*",
            Binary::Div => "/",
            Binary::FloorDiv => "//",
            Binary::Rem => "%",
            Binary::Min => "min",
            Binary::Max => "max",
            Binary::And => "and",
            Binary::Or => "or",
            Binary::Xor => "^",
            Binary::Eq => "==",
            Binary::Ne => "!=",
            Binary::Lt => "<",
            Binary::Le => "<=",
        }
    }
}

/// What a name that is called means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Unary(Unary),
    Binary(Binary),
    /// The first of two values where the condition holds, else the second.
    Select,
    /// `a * b + c`, rounded once.
    Fma,
    /// The value, rounded: what a product at the top is not.
    Rounded,
}

impl Function {
    /// How many operands it takes.
    pub(crate) fn arity(self) -> usize {
        match self {
            Function::Unary(_) | Function::Rounded => 1,
            Function::Binary(_) => 2,
            Function::Select | Function::Fma => 3,
        }
    }

    /// Every name.
    pub(crate) fn all() -> impl Iterator<Item = (&'static str, Function)> {
        let unary = Unary::NAMED.iter().map(|&(name, op)| (name, Function::Unary(op)));
        let binary = Binary::NAMED.iter().map(|&(name, op)| (name, Function::Binary(op)));
        let others = [
            ("select", Function::Select),
            ("where", Function::Select),
            ("fma", Function::Fma),
            ("rounded", Function::Rounded),
        ];
        unary.chain(binary).chain(others)
    }

    /// The function of a name.
    pub(crate) fn named(name: &str) -> Option<Function> {
        Self::all().find(|(known, _)| *known == name).map(|(_, function)| function)
    }

    /// The name most like one that is none.
    pub(crate) fn nearest(name: &str) -> Option<&'static str> {
        let scored = Self::all().map(|(known, _)| (distance(known, name), known));
        scored
            .min_by_key(|&(distance, _)| distance)
            .filter(|&(d, known)| d * 3 <= known.len())
            .map(|(_, known)| known)
    }
}

/// How many letters must change to make one name of the other.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(40).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(40).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
