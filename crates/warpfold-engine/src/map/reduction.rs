//! [`Reduction`]: an expression and what is made of its values, as it was said.

use std::fmt;
use std::str::FromStr;

use warpfold_expr::Expr;
use warpfold_num::{Error, Op, Result, Value};

use super::refused;

/// What is made of the values of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// A reduction of arrays.
    Op(Op),
    /// The root of the mean of squares of the differences of two values, rounded once.
    Rmse,
    /// The sum of products of two values over the root of the product of the sums of their squares, rounded once; NaN of zeros alone.
    Cosine,
    /// The logarithm of the sum of powers of e, each of which is rounded to an `f64`: within 2^-51 of the larger of 1 and itself.
    LogSumExp,
}

const NAMED: [(&str, Measure); 3] =
    [("rmse", Measure::Rmse), ("cosine", Measure::Cosine), ("logsumexp", Measure::LogSumExp)];

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Measure {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Op(op) => op.name(),
            other => {
                NAMED.iter().find(|(_, measure)| *measure == other).map_or("", |(name, _)| name)
            }
        }
    }

    fn named(name: &str) -> Option<Self> {
        let op = Op::ALL.iter().find(|op| op.name() == name && **op != Op::Dot);
        let of_pairs = NAMED.iter().find(|(known, _)| *known == name);
        op.map(|&op| Measure::Op(op)).or(of_pairs.map(|&(_, measure)| measure))
    }

    fn operands(self) -> usize {
        if matches!(self, Measure::Rmse | Measure::Cosine) { 2 } else { 1 }
    }
}

/// A reduction of an expression, with a name: one of several that share a reading.
///
/// ```
/// use warpfold_engine::map::Reduction;
///
/// let reduction: Reduction = "far = count(abs(x - y) > 3)".parse()?;
/// assert_eq!(reduction.name(), "far");
/// let reduction: Reduction = "mean(price, weights=qty)".parse()?;
/// assert_eq!(reduction.name(), "mean(price, weights=qty)");
/// # Ok::<(), warpfold_num::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Reduction {
    pub(super) name: String,
    pub(super) measure: Measure,
    pub(super) value: Expr,
    pub(super) second: Option<Expr>,
    pub(super) weights: Option<Expr>,
    pub(super) ddof: Option<u64>,
    pub(super) initial: Option<Value>,
}

impl Reduction {
    /// What is made of the values.
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// A reduction of an expression's values, or of pairs of values of two: `cosine` of `x, y`.
    ///
    /// # Errors
    /// [`Error::Map`], with the column.
    pub fn new(measure: Measure, text: &str) -> Result<Self> {
        let mut operands = split(text).into_iter();
        let value = Expr::parse(operands.next().unwrap_or_default())?;
        let mut reduction =
            Reduction::of(measure, value).named(&format!("{measure}({})", text.trim()));
        for operand in operands {
            reduction.take(operand)?;
        }
        if reduction.second.is_none() && measure.operands() == 2 {
            let obstacle = format!("{measure} takes two expressions, and here is one");
            return Err(refused(&shown(text), obstacle, format!("say {measure}(x, y)")));
        }
        Ok(reduction)
    }

    pub(super) fn of(measure: Measure, value: Expr) -> Self {
        Reduction {
            name: String::new(),
            measure,
            value,
            second: None,
            weights: None,
            ddof: None,
            initial: None,
        }
    }

    /// Takes in what follows the first expression.
    fn take(&mut self, operand: &str) -> Result<()> {
        let option = operand.split_once('=').filter(|(name, rest)| {
            !rest.starts_with('=') && ["weights", "ddof"].contains(&name.trim())
        });
        let is_there = |of: &Self, name: &str| match name {
            "weights" => of.weights.is_some(),
            _ => of.ddof.is_some(),
        };
        match option {
            Some((name, _)) if is_there(self, name.trim()) => {
                let obstacle = format!("{} is there twice", name.trim());
                return Err(refused(&shown(&self.name), obstacle, "say it once"));
            }
            Some((name, text)) if name.trim() == "weights" => {
                self.weights = Some(Expr::parse(text)?);
            }
            Some((_, text)) => {
                let Ok(ddof) = text.trim().parse() else {
                    let obstacle = format!("ddof is `{}`", shown(text));
                    return Err(refused(
                        &shown(&self.name),
                        obstacle,
                        "give a whole number, as ddof=1",
                    ));
                };
                if !matches!(self.measure, Measure::Op(op) if op.is_spread()) {
                    let obstacle = format!("{} has no ddof", self.measure);
                    return Err(refused(&shown(&self.name), obstacle, "leave it out"));
                }
                self.ddof = Some(ddof);
            }
            None if self.measure.operands() == 2 && self.second.is_none() => {
                self.second = Some(Expr::parse(operand)?);
            }
            None => {
                let obstacle = format!("`{}` is one expression more than it takes", shown(operand));
                return Err(refused(
                    &shown(&self.name),
                    obstacle,
                    "leave it out, or say weights=…",
                ));
            }
        }
        Ok(())
    }

    /// With another name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = name.into();
        self
    }

    /// With a value that is reduced as one element more, before all others; of sums, products and extremes.
    #[must_use]
    pub fn initial(mut self, value: Value) -> Self {
        self.initial = Some(value);
        self
    }

    /// What its result is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn expressions(&self) -> impl Iterator<Item = &Expr> {
        [Some(&self.value), self.second.as_ref(), self.weights.as_ref()].into_iter().flatten()
    }
}

/// `sum(x * y)`, `far = count(x > 3)`, `rmse(x, y)`, `var(x, weights=w, ddof=1)`.
impl FromStr for Reduction {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let whole = text.trim();
        let shown = shown(whole);
        let is_name =
            |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let (name, call) = match whole.split_once('=') {
            Some((name, rest)) if is_name(name.trim()) => (Some(name.trim()), rest.trim()),
            _ => (None, whole),
        };
        let parts = call.split_once('(').and_then(|(measure, rest)| {
            rest.strip_suffix(')').map(|inside| (measure.trim(), inside))
        });
        let Some((measure, inside)) = parts else {
            let obstacle = "this is no reduction of an expression".into();
            return Err(refused(&shown, obstacle, "say sum(x * y), or far = count(x > 3)"));
        };
        let Some(known) = Measure::named(measure) else {
            let all: Vec<_> = Op::ALL
                .iter()
                .filter(|op| **op != Op::Dot)
                .map(|op| op.name())
                .chain(NAMED.iter().map(|(name, _)| *name))
                .collect();
            let obstacle = format!("`{}` is no reduction", self::shown(measure));
            return Err(refused(&shown, obstacle, format!("there are {}", all.join(", "))));
        };
        let reduction = Reduction::new(known, inside)?;
        Ok(match name {
            Some(name) => reduction.named(name),
            None => reduction.named(call),
        })
    }
}

/// A text on one line, shortened.
fn shown(text: &str) -> String {
    text.trim().chars().take(60).flat_map(char::escape_debug).collect()
}

/// The operands of a call, parted at commas outside brackets and quotes.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut quote, mut first, mut all) = (0i32, None, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            (_, Some(_)) => {}
            ('"' | '`', None) => quote = Some(c),
            ('(', None) => depth += 1,
            (')', None) => depth -= 1,
            (',', None) if depth == 0 => {
                all.push(&text[first..at]);
                first = at + 1;
            }
            _ => {}
        }
    }
    all.push(&text[first..]);
    all.into_iter().map(str::trim).collect()
}
