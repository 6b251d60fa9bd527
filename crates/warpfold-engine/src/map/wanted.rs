//! From reductions as they were said to what is computed and folded.

use warpfold_expr::{Expr, Id, Program, Root, Type};
use warpfold_num::{DType, Nan, Op, Policy, Result, Value};

use super::reduction::{Measure, Reduction};
use super::task::Task;
use super::{Map, refused};
use crate::check;

/// Reductions at most of one reading.
const MOST: usize = 64;

/// A result: which tasks it is read from, and how.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub(super) name: String,
    pub(super) measure: Measure,
    /// The type of the values.
    pub(super) dtype: DType,
    pub(super) kind: Source,
    pub(super) tasks: Vec<usize>,
    pub(super) ddof: Option<u64>,
    pub(super) initial: Option<Value>,
}

/// How a result is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// From a partial of the values.
    Values,
    /// From the exact products of two values: a product that is summed, or weights and values.
    Products,
    /// From products of weights and values, the weights and, of variances, weights and squares.
    Weighted,
    /// From squares and products of two values.
    Pairs,
    /// From powers of e.
    Exponents,
}

/// A reduction whose expressions have types: what is computed for it.
struct Typed<'r> {
    reduction: &'r Reduction,
    /// The type of the values.
    ty: Type,
    expressions: Vec<Expr>,
}

pub(super) fn map(
    reductions: &[Reduction],
    keep: Option<&Expr>,
    inputs: &[(&str, DType)],
    policy: Policy,
) -> Result<Map> {
    made(reductions, keep, inputs, policy, false)
}

/// The same with one input more, which says of each element whether it is there.
pub(super) fn map_of_present(
    reductions: &[Reduction],
    keep: Option<&Expr>,
    inputs: &[(&str, DType)],
    policy: Policy,
) -> Result<Map> {
    made(reductions, keep, inputs, policy, true)
}

fn made(
    reductions: &[Reduction],
    keep: Option<&Expr>,
    inputs: &[(&str, DType)],
    policy: Policy,
    is_of_present: bool,
) -> Result<Map> {
    if reductions.len() > MOST {
        let obstacle =
            format!("{} reductions are asked for, and {MOST} are allowed", reductions.len());
        return Err(refused("map", obstacle, "read twice"));
    }
    let typed =
        reductions.iter().map(|reduction| typed(reduction, inputs)).collect::<Result<Vec<_>>>()?;
    let of_typed = || typed.iter().flat_map(|typed| &typed.expressions);
    let program = match is_of_present {
        true => Program::of_present(keep, &of_typed().collect::<Vec<_>>(), inputs)?,
        false => Program::new(&keep.into_iter().chain(of_typed()).collect::<Vec<_>>(), inputs)?,
    };
    if let Some(keep) = keep
        && program.result(0) != Type::Bool
    {
        let obstacle =
            format!("`{}` is {}, and wants to be a condition", keep.text(), program.result(0));
        return Err(refused("where", obstacle, "compare it, as in x > 0"));
    }
    let present = is_of_present.then_some("what is there");
    let names = inputs.iter().map(|(name, _)| *name).chain(present).map(str::to_owned).collect();
    let has_keep = keep.is_some() || is_of_present;
    let mut map = Map {
        policy,
        program,
        names,
        has_keep,
        tasks: Vec::new(),
        wanted: Vec::new(),
        reductions: reductions.to_vec(),
        keep: keep.cloned(),
    };
    let mut first = usize::from(has_keep);
    for typed in typed {
        let wanted = wanted(&mut map, &typed, first)?;
        map.wanted.push(wanted);
        first += typed.expressions.len();
    }
    if map.wanted.len() > 1 && map.drops_nans() && policy.nan == Nan::Ignore {
        let obstacle =
            "NaNs are ignored, and those of pairs and of weights take other values with them";
        return Err(refused(
            "map",
            obstacle.into(),
            "ask for weighted results by themselves, or add a condition: not isnan(…)",
        ));
    }
    Ok(map)
}

/// Finds the types of a reduction's expressions, and says what is computed for it.
fn typed<'r>(reduction: &'r Reduction, inputs: &[(&str, DType)]) -> Result<Typed<'r>> {
    let said: Vec<&Expr> = reduction.expressions().collect();
    let is_weighted_square = reduction.weights.is_some()
        && matches!(reduction.measure, Measure::Op(op) if op.is_spread());
    let parsed = |texts: &[String]| texts.iter().map(|text| Expr::parse(text)).collect();
    let program = Program::new(&said, inputs)?;
    let ty = program.result(0);
    let value = reduction.value.text();
    let expressions: Result<Vec<Expr>> = match (reduction.measure, &reduction.weights) {
        (Measure::LogSumExp, _) => parsed(&[format!("f64({value})"), format!("exp(f64({value}))")]),
        (_, Some(weights)) if is_weighted_square => {
            let (w, x) = (weights.text(), value);
            match ty {
                // Squares of f32 fit f64.
                Type::F32 => parsed(&[
                    format!("f64({w})"),
                    format!("f64({x})"),
                    format!("rounded(f64({x}) * f64({x}))"),
                ]),
                Type::F64 => parsed(&[
                    format!("({w})"),
                    format!("({x})"),
                    format!("rounded(({x}) * ({x}))"),
                    format!("fma(({x}), ({x}), -(({x}) * ({x})))"),
                ]),
                _ => Ok(vec![weights.clone(), reduction.value.clone()]),
            }
        }
        (_, Some(weights)) => Ok(vec![weights.clone(), reduction.value.clone()]),
        (_, None) => Ok(said.iter().map(|&expr| expr.clone()).collect()),
    };
    checked(reduction, &program, &said)?;
    Ok(Typed { reduction, ty, expressions: expressions? })
}

/// Fails for what a reduction is not made of.
fn checked(reduction: &Reduction, program: &Program, said: &[&Expr]) -> Result<()> {
    let Reduction { measure, value, second, weights, initial, .. } = reduction;
    let ty = program.result(0);
    let is_product = program.roots()[0].factors.is_some() && ty.is_float();
    let unrounded = |what: &str| {
        let obstacle = format!("`{}` is a product that nothing rounds, and {what}", value.text());
        Err(refused("map", obstacle, format!("say `rounded({})`", value.text())))
    };
    if let Some(weights) = weights {
        let weight = program.result(said.len() - 1);
        check_weights(*measure, (weights.text(), weight), (value.text(), ty))?;
        if is_product {
            return unrounded("is weighted");
        }
    }
    match measure {
        Measure::Op(Op::Dot) => {
            return Err(refused(
                "map",
                "dot takes two arrays".into(),
                "sum a product: `x * y`, which is not rounded on the way",
            ));
        }
        Measure::Op(Op::Sum | Op::Mean | Op::Min | Op::Max | Op::MinMax) => {}
        measure if is_product => return unrounded(&format!("{measure} takes rounded values")),
        _ => {}
    }
    if let Some(second) = second {
        let other = program.result(1);
        if other != ty || ty == Type::Bool {
            let obstacle = format!("`{}` is {ty} and `{}` is {other}", value.text(), second.text());
            let remedy = "give two numbers of one type, as f64(…) of both";
            return Err(refused(&measure.to_string(), obstacle, remedy));
        }
    }
    if let Some(initial) = initial {
        if !matches!(measure, Measure::Op(Op::Sum | Op::Prod | Op::Min | Op::Max))
            || weights.is_some()
        {
            let obstacle = format!("{measure} has no initial value here");
            return Err(refused(
                "initial",
                obstacle,
                "take sum, prod, min or max, without weights",
            ));
        }
        if initial.dtype() != Some(ty.dtype()) {
            let obstacle = format!("it is {initial:?}, and `{}` is {ty}", value.text());
            return Err(refused("initial", obstacle, "give a value of the type of the others"));
        }
    }
    Ok(())
}

fn check_weights(
    measure: Measure,
    (weights, weight): (&str, Type),
    (value, ty): (&str, Type),
) -> Result<()> {
    if !matches!(measure, Measure::Op(Op::Sum | Op::Mean | Op::Var | Op::Std)) {
        let obstacle = format!("{measure} takes none");
        return Err(refused("weights", obstacle, "take sum, mean, var or std"));
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
    Ok(())
}

/// The tasks of a reduction whose expressions are those of the program from the first on.
fn wanted(map: &mut Map, typed: &Typed<'_>, first: usize) -> Result<Wanted> {
    let Typed { reduction, ty, .. } = *typed;
    let count = typed.expressions.len();
    let roots: Vec<Root> = map.program.roots()[first..first + count].to_vec();
    let id = |k: usize| -> Id { roots[k].value };
    let (kind, tasks) = match (reduction.measure, reduction.weights.is_some()) {
        (Measure::LogSumExp, _) => {
            (Source::Exponents, vec![Task::Exponents { exponent: id(0), power: id(1) }])
        }
        (Measure::Rmse | Measure::Cosine, _) => (Source::Pairs, vec![Task::Pairs(id(0), id(1))]),
        (Measure::Op(Op::Sum), true) => (Source::Products, vec![Task::Products(id(0), id(1))]),
        (Measure::Op(Op::Mean), true) => {
            (Source::Weighted, vec![Task::Products(id(0), id(1)), Task::Weights(id(0))])
        }
        (Measure::Op(_), true) => {
            let halves = match count {
                2 => None,
                3 => Some((id(2), id(2))),
                _ => Some((id(2), id(3))),
            };
            let squares = Task::Squares { weight: id(0), value: id(1), halves };
            (Source::Weighted, vec![Task::Products(id(0), id(1)), Task::Weights(id(0)), squares])
        }
        (Measure::Op(op), false) => {
            check(op, ty.dtype())?;
            match roots[0].factors {
                Some(_) if matches!(op, Op::Sum | Op::Mean) => {
                    let factors = map.program.keep_factors(first);
                    let (left, right) = factors.unwrap_or((id(0), id(0)));
                    (Source::Products, vec![Task::Products(left, right)])
                }
                _ => (Source::Values, vec![Task::values(op, id(0), ty)]),
            }
        }
    };
    if kind == Source::Products {
        check(Op::Dot, ty.dtype())?;
    }
    let tasks = tasks.into_iter().map(|task| {
        map.tasks.iter().position(|known| *known == task).unwrap_or_else(|| {
            map.tasks.push(task);
            map.tasks.len() - 1
        })
    });
    Ok(Wanted {
        name: reduction.name.clone(),
        measure: reduction.measure,
        dtype: ty.dtype(),
        kind,
        tasks: tasks.collect(),
        ddof: reduction.ddof,
        initial: reduction.initial,
    })
}
