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
    /// A power of e. This and the following ones are [`math`](crate::math)'s, of floats.
    Exp,
    /// A power of 2.
    Exp2,
    /// A power of e less 1.
    Expm1,
    /// The natural logarithm.
    Log,
    /// The logarithm to base 2.
    Log2,
    /// The natural logarithm of 1 more.
    Log1p,
    /// The hyperbolic tangent.
    Tanh,
    /// 1 / (1 + e^-x).
    Sigmoid,
    /// The sine.
    Sin,
    /// The cosine.
    Cos,
    /// The power with a whole exponent, of floats.
    Power(i8),
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
        ("exp", Unary::Exp),
        ("exp2", Unary::Exp2),
        ("expm1", Unary::Expm1),
        ("log", Unary::Log),
        ("log2", Unary::Log2),
        ("log1p", Unary::Log1p),
        ("tanh", Unary::Tanh),
        ("sigmoid", Unary::Sigmoid),
        ("sin", Unary::Sin),
        ("cos", Unary::Cos),
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

    /// Whether it is of floats alone, and gives their type.
    pub(crate) fn is_of_floats(self) -> bool {
        use Unary::{Cos, Exp, Exp2, Expm1, Log, Log1p, Log2, Power, Sigmoid, Sin, Sqrt, Tanh};
        matches!(
            self,
            Sqrt | Exp | Exp2 | Expm1 | Log | Log2 | Log1p | Tanh | Sigmoid | Sin | Cos | Power(_)
        )
    }
}

/// As it is written or called.
impl std::fmt::Display for Unary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Unary::Neg => f.write_str("-"),
            Unary::Not => f.write_str("not"),
            Unary::Power(n) => write!(f, "**{n}"),
            named => {
                let known = Unary::NAMED.iter().find(|(_, op)| *op == named);
                f.write_str(known.map_or("", |(name, _)| name))
            }
        }
    }
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
    pub(crate) const NAMED: &[(&str, Binary)] =
        &[("min", Binary::Min), ("max", Binary::Max), ("floor_div", Binary::FloorDiv)];

    /// Whether integers may have no result of it.
    pub(crate) const fn is_checked(self) -> bool {
        matches!(self, Binary::Add | Binary::Sub | Binary::Mul | Binary::FloorDiv | Binary::Rem)
    }

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
    /// `a ** n`.
    Power,
    /// The value, rounded: what a product at the top is not.
    Rounded,
}

impl Function {
    /// How many operands it takes.
    pub(crate) fn arity(self) -> usize {
        match self {
            Function::Unary(_) | Function::Rounded => 1,
            Function::Binary(_) | Function::Power => 2,
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
            ("pow", Function::Power),
            ("rounded", Function::Rounded),
        ];
        unary.chain(binary).chain(others)
    }

    /// The function of a name.
    pub(crate) fn named(name: &str) -> Option<Function> {
        Self::all().find(|(known, _)| *known == name).map(|(_, function)| function)
    }

    /// The name most like one that is none.
    fn nearest(name: &str) -> Option<&'static str> {
        let scored = Self::all().map(|(known, _)| (distance(known, name), known));
        scored
            .min_by_key(|&(distance, _)| distance)
            .filter(|&(d, known)| d * 3 <= known.len())
            .map(|(_, known)| known)
    }
}

/// What other languages call a function, and what is to be done here.
const ELSEWHERE: &[(&[&str], &str)] = &[
    (&["ln"], "write `log`"),
    (&["log10"], "write `log(x) / 2.302585092994046`, which is rounded twice, or `log2`"),
    (&["square"], "write `x ** 2`"),
    (&["power"], "write `pow`"),
    (&["ceiling"], "write `ceil`"),
    (&["fabs", "absolute"], "write `abs`"),
    (&["truncate", "fix"], "write `trunc`"),
    (&["if", "iif", "ifelse"], "write `select(condition, x, y)`"),
    (&["coalesce", "ifnull", "nvl", "fillna"], "write `select(isnan(x), 0, x)`"),
];

/// What to do about a name that is no function.
pub(crate) fn remedy(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    if let Some((_, written)) = ELSEWHERE.iter().find(|(names, _)| names.contains(&lower.as_str()))
    {
        return (*written).into();
    }
    if let Some((known, _)) = Function::all().find(|(known, _)| *known == lower) {
        return format!("write `{known}`");
    }
    match Function::nearest(name) {
        Some(nearest) => format!("nearest: `{nearest}`"),
        None => {
            let names: Vec<_> = Function::all().map(|(name, _)| name).collect();
            format!("there are {}", names.join(", "))
        }
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
