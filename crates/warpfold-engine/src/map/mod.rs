//! Reductions of expressions: several arrays, an expression of their elements, perhaps a condition on which of them count, and weights.
//!
//! ```
//! use warpfold_engine::HostArray;
//! use warpfold_engine::map::{Expressions, Map};
//! use warpfold_exact::partial::Finish;
//! use warpfold_num::{DType, Op, Policy};
//!
//! let (x, y) = ([1.0f64, 5.0, 2.0], [4.0f64, 3.0, 2.0]);
//! let expressions = Expressions::value("abs(x - y)")?.keep("x != y")?;
//! let map = Map::new(Op::Mean, &expressions, &[("x", DType::F64), ("y", DType::F64)], Policy::default())?;
//! let folded = map.fold(&[HostArray::of(&x), HostArray::of(&y)], 0)?;
//! assert_eq!(map.finish(&folded, Finish::default())?, warpfold_exact::partial::Output::One(2.5f64.into()));
//! # Ok::<(), warpfold_num::Error>(())
//! ```

mod buffer;
mod finish;
mod fold;
mod spread;

use warpfold_exact::AnyPartial;
use warpfold_exact::partial::{Finish, Output};
use warpfold_expr::{Expr, Program, Type};
use warpfold_num::{DType, Error, Op, Policy, Result};
pub use warpfold_plan::HostArray;

use crate::check;

/// What is reduced, as it was said.
#[derive(Debug, Clone)]
pub struct Expressions {
    value: Expr,
    keep: Option<Expr>,
    weights: Option<Expr>,
}

impl Expressions {
    /// The expression whose values are reduced.
    ///
    /// # Errors
    /// [`Error::Map`], with the column.
    pub fn value(text: &str) -> Result<Self> {
        Ok(Expressions { value: Expr::parse(text)?, keep: None, weights: None })
    }

    /// With a condition: elements for which it does not hold are left out, whatever they are.
    ///
    /// # Errors
    /// [`Error::Map`], with the column.
    pub fn keep(mut self, text: &str) -> Result<Self> {
        self.keep = Some(Expr::parse(text)?);
        Ok(self)
    }

    /// With an expression of weights, for sums, means, variances and deviations.
    ///
    /// # Errors
    /// [`Error::Map`], with the column.
    pub fn weights(mut self, text: &str) -> Result<Self> {
        self.weights = Some(Expr::parse(text)?);
        Ok(self)
    }

    /// Every input that is named, once.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        let all = [Some(&self.value), self.keep.as_ref(), self.weights.as_ref()];
        for name in all.into_iter().flatten().flat_map(Expr::names) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }
}

/// What is folded of the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The values.
    Values,
    /// Exact products of two values: a product that is summed, or weights and values.
    Products,
    /// The same, and the sum of the weights.
    Weighted,
    /// Weights, weighted values and their weighted squares.
    Spread,
}

/// A reduction of expressions, ready for arrays of some types.
#[derive(Debug)]
pub struct Map {
    op: Op,
    policy: Policy,
    program: Program,
    names: Vec<String>,
    has_keep: bool,
    kind: Kind,
    /// The values that are folded: one, or two whose products are.
    left: warpfold_expr::Id,
    right: warpfold_expr::Id,
}

/// What is left of some elements: merged with that of others, then [finished](Map::finish).
#[derive(Debug, Clone, PartialEq)]
pub struct Folded {
    /// The partial of the values, or of their products.
    value: AnyPartial,
    /// The sum of the weights.
    weights: Option<AnyPartial>,
    /// What a weighted variance is read from.
    spread: Option<Box<spread::Spread>>,
}

impl Folded {
    /// Takes in what is left of later elements.
    pub fn merge(&mut self, other: &Self) {
        self.value.merge(&other.value);
        if let (Some(mine), Some(theirs)) = (&mut self.weights, &other.weights) {
            mine.merge(theirs);
        }
        if let (Some(mine), Some(theirs)) = (&mut self.spread, &other.spread) {
            mine.merge(theirs);
        }
    }
}

impl Map {
    /// A reduction of expressions of inputs of these names and types.
    ///
    /// # Errors
    /// [`Error::Map`] where the expressions do not suit the types or the reduction; [`Error::Undefined`] where the contract knows no such
    /// reduction for the values.
    pub fn new(
        op: Op,
        expressions: &Expressions,
        inputs: &[(&str, DType)],
        policy: Policy,
    ) -> Result<Self> {
        let Expressions { value, keep, weights } = expressions;
        let all: Vec<&Expr> =
            [keep.as_ref(), weights.as_ref(), Some(value)].into_iter().flatten().collect();
        let mut program = Program::new(&all, inputs)?;
        let root = program.roots()[all.len() - 1];
        let ty = program.ty(root.value);
        if keep.is_some() && program.result(0) != Type::Bool {
            return Err(refused(
                "where",
                format!(
                    "`{}` is {}, and wants to be a condition",
                    all[0].text(),
                    program.result(0)
                ),
                "compare it, as in x > 0",
            ));
        }
        if op == Op::Dot {
            return Err(refused(
                "map",
                "dot takes two arrays".into(),
                "sum a product: `x * y`, which is not rounded on the way",
            ));
        }
        let is_sum = matches!(op, Op::Sum | Op::Mean);
        let mut kind = Kind::Values;
        let (mut left, mut right) = (root.value, root.value);
        if let Some(weights) = weights {
            let weight = program.roots()[all.len() - 2].value;
            check_weights(
                op,
                (weights.text(), program.ty(weight)),
                (value.text(), ty),
                root.factors.is_some(),
            )?;
            (left, right) = (weight, root.value);
            kind = match op {
                Op::Mean => Kind::Weighted,
                Op::Var | Op::Std => Kind::Spread,
                _ => Kind::Products,
            };
        } else if let Some(factors) = root.factors {
            if is_sum {
                (left, right) = program.keep_factors(all.len() - 1).unwrap_or(factors);
                kind = Kind::Products;
            } else if ty.is_float() && !matches!(op, Op::Min | Op::Max | Op::MinMax) {
                let obstacle = format!(
                    "`{}` is a product that nothing rounds, and {op} takes rounded values",
                    value.text()
                );
                return Err(refused("map", obstacle, format!("say `rounded({})`", value.text())));
            }
        }
        check(if kind == Kind::Values { op } else { Op::Dot }, ty.dtype())?;
        let names = inputs.iter().map(|(name, _)| (*name).into()).collect();
        Ok(Map { op, policy, program, names, has_keep: keep.is_some(), kind, left, right })
    }

    /// The type of the values.
    pub fn dtype(&self) -> DType {
        self.program.ty(self.right).dtype()
    }

    /// The operations, one a line.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// What is left of nothing.
    pub fn empty(&self) -> Folded {
        let dtype = self.dtype();
        let value =
            AnyPartial::empty(if self.kind == Kind::Values { self.op } else { Op::Dot }, dtype);
        let weights = (self.kind == Kind::Weighted).then(|| AnyPartial::empty(Op::Sum, dtype));
        let spread = (self.kind == Kind::Spread).then(Box::default);
        Folded { value, weights, spread }
    }

    /// Folds arrays, or pieces of them whose first elements stand at an index of the whole.
    ///
    /// # Errors
    /// [`Error::Map`] for arrays that are not of one length or not of the types, for an integer operation without a value, and for
    /// weights of a mean that are negative or not finite.
    pub fn fold(&self, inputs: &[HostArray<'_>], start: u64) -> Result<Folded> {
        fold::fold(self, inputs, start)
    }

    /// The result.
    ///
    /// # Errors
    /// As [`AnyPartial::finish`]; a mean or a variance whose weights sum to zero is [`Error::Empty`].
    pub fn finish(&self, folded: &Folded, finish: Finish) -> Result<Output> {
        finish::finish(self, folded, Finish { overflow: self.policy.overflow, ..finish })
    }

    /// A variance, or its root, with a correction that may be fractional or negative.
    ///
    /// # Errors
    /// As [`finish`](Self::finish); as [`AnyPartial::finish_corrected`].
    pub fn finish_corrected(
        &self,
        folded: &Folded,
        correction: f64,
        round_to: Option<DType>,
    ) -> Result<Output> {
        finish::corrected(self, folded, correction, round_to)
    }
}

fn check_weights(
    op: Op,
    (weights, weight): (&str, Type),
    (value, ty): (&str, Type),
    is_product: bool,
) -> Result<()> {
    if !matches!(op, Op::Sum | Op::Mean | Op::Var | Op::Std) {
        return Err(refused("weights", format!("{op} takes none"), "take sum, mean, var or std"));
    }
    if weight != ty {
        let obstacle = format!("`{weights}` is {weight} and `{value}` is {ty}");
        let wider =
            if ty.is_float() && !(weight == Type::F64 && ty == Type::F32) { ty } else { weight };
        let (of, to) = if wider == ty { (weights, ty) } else { (value, weight) };
        return Err(refused("weights", obstacle, format!("say `{to}({of})`")));
    }
    if ty == Type::Bool {
        return Err(refused("weights", "conditions have none".into(), "say f64(…) of both"));
    }
    if is_product && ty.is_float() {
        return Err(refused(
            "map",
            format!("`{value}` is a product that nothing rounds, and is weighted"),
            format!("say `rounded({value})`"),
        ));
    }
    Ok(())
}

fn refused(asked: &str, obstacle: String, remedy: impl Into<String>) -> Error {
    Error::Map { asked: asked.into(), obstacle, remedy: remedy.into() }
}
