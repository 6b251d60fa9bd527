//! [`Job`]: what a task of a map is on a device: kernels, and how what they leave is read.

use std::collections::BTreeMap;

use warpfold_engine::map::{Exponents, Map, Pairs, Squares, Task, TaskPartial};
use warpfold_expr::{Id, Program, Type};
use warpfold_num::limbs::Special;

use super::read::{self, OfStats};
use super::shape::{Reports, Shape, Template, Values};
use crate::exact::Exact;
use crate::partial::{Count, Partial};
use crate::plan::DeviceFold;
use crate::{Accuracy, AnyPartial, DType, Error, Op, PartialKind, Result};

/// A kernel of a task, or of two.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Job {
    pub(super) shape: Shape,
    /// What its record holds, in that order.
    pub(super) results: Vec<JobResult>,
}

/// One thing that a kernel leaves, and the task that it is of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct JobResult {
    pub(super) task: usize,
    pub(super) what: What,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum What {
    /// The partial of an array's fold.
    Partial(DeviceFold),
    /// How many conditions hold, as the partial of a reduction of values.
    Conditions(Op),
    /// Of pairs: squares of the first values, products, squares of the second.
    Pair(usize),
    /// The sum of magnitudes, as the partial of l1.
    Norm1,
    /// The largest magnitude.
    Magnitude,
    /// A share of the fields of stats.
    Stats(OfStats),
    /// Exact products of weights with halves of squares.
    Squares,
    /// The sum of powers.
    Powers,
    /// The product along the canonical tree, of values that are written to memory.
    Product,
}

/// The kernels for a map's tasks.
///
/// # Errors
/// [`Error::Map`] for what no kernel folds, by name.
pub(super) fn jobs(map: &Map) -> Result<Vec<Job>> {
    if map.policy().accuracy == Accuracy::Fast {
        return Err(refused(
            "a map of fast accuracy on a device".into(),
            "its kernels are exact".into(),
            "leave the accuracy out",
        ));
    }
    let mut jobs: Vec<Job> = Vec::new();
    for (task, what) in map.tasks().iter().enumerate() {
        let shape = |template, values| Shape {
            template,
            values,
            keep: map.condition(),
            nans: map.nans_of(what),
            weight: None,
            reports: Reports::Nothing,
        };
        let mut add = |shape: Shape, results: Vec<What>| {
            let results = results.into_iter().map(|what| JobResult { task, what }).collect();
            jobs.push(Job { shape, results });
        };
        match *what {
            Task::Values(op, id) => values(map.program(), op, id, &shape, &mut add)?,
            Task::Conditions(id) => {
                add(
                    shape(Template::Count, Values::Condition(id)),
                    vec![What::Conditions(Op::Count)],
                );
            }
            Task::Products(a, b) => {
                let fold = dot_of(map.program().ty(a));
                add(shape(Template::Dot, Values::Two(a, b)), vec![What::Partial(fold)]);
            }
            Task::Weights(id) => {
                let fold = sum_of(map.program().ty(id));
                let shape = Shape { weight: Some(id), ..shape(Template::Sum, Values::One(id)) };
                weights(map.program(), &mut jobs, task, id, shape, fold);
            }
            Task::Pairs(a, b) => pairs(map.program().ty(a), (a, b), &shape, &mut add),
            Task::Squares { weight, value, halves: Some((upper, lower)) } => {
                let dot = |half| shape(Template::Dot, Values::Two(weight, half));
                let reports = match map.program().ty(value) {
                    Type::F64 => Reports::Halves(value),
                    _ => Reports::Nothing,
                };
                add(Shape { reports, ..dot(upper) }, vec![What::Squares]);
                if lower != upper {
                    add(dot(lower), vec![What::Squares]);
                }
            }
            Task::Squares { halves: None, .. } => {
                return Err(refused(
                    "a weighted variance or deviation of integers on a device".into(),
                    "no kernel folds weighted squares of integers".into(),
                    "say f64(…) of the value and of its weights",
                ));
            }
            Task::Exponents { exponent, power } => {
                let powers = shape(Template::Sum, Values::One(power));
                add(Shape { reports: Reports::Exponents(exponent), ..powers }, vec![What::Powers]);
            }
        }
    }
    Ok(jobs)
}

fn sum_of(ty: Type) -> DeviceFold {
    if ty.is_float() { DeviceFold::ExactSum } else { DeviceFold::Sum }
}

fn dot_of(ty: Type) -> DeviceFold {
    if ty.is_float() { DeviceFold::ExactDot } else { DeviceFold::Dot }
}

type Add<'a> = dyn FnMut(Shape, Vec<What>) + 'a;

/// The kernels of a reduction of values.
fn values(
    program: &Program,
    op: Op,
    id: Id,
    shape: &dyn Fn(Template, Values) -> Shape,
    add: &mut Add<'_>,
) -> Result<()> {
    let ty = program.ty(id);
    match op.partial() {
        PartialKind::Count => {
            add(shape(Template::Count, Values::Condition(id)), vec![What::Conditions(Op::Count)]);
        }
        PartialKind::Sum if ty == Type::Bool => {
            add(shape(Template::Count, Values::Condition(id)), vec![What::Conditions(Op::Sum)]);
        }
        _ if ty == Type::Bool => {
            return Err(refused(
                format!("{op} of `{}` on a device", program.text(id)),
                "it is a condition, and kernels count and sum these".into(),
                "say i64(…) of it",
            ));
        }
        PartialKind::Sum => {
            add(shape(Template::Sum, Values::One(id)), vec![What::Partial(sum_of(ty))]);
        }
        PartialKind::Moments => {
            let fold = if ty.is_float() { DeviceFold::ExactMoments } else { DeviceFold::Moments };
            add(shape(Template::Moments, Values::One(id)), vec![What::Partial(fold)]);
        }
        PartialKind::Extremes => {
            if !matches!(op, Op::Max | Op::ArgMax) {
                add(shape(Template::Min, Values::One(id)), vec![What::Partial(DeviceFold::ArgMin)]);
            }
            if !matches!(op, Op::Min | Op::ArgMin) {
                add(shape(Template::Max, Values::One(id)), vec![What::Partial(DeviceFold::ArgMax)]);
            }
        }
        PartialKind::Norm1 => add(shape(Template::Sum, Values::Magnitude(id)), vec![What::Norm1]),
        PartialKind::Magnitude => {
            add(shape(Template::Max, Values::Magnitude(id)), vec![What::Magnitude])
        }
        PartialKind::Stats => {
            let of = |what| vec![What::Stats(what)];
            add(shape(Template::Moments, Values::One(id)), of(OfStats::Moments));
            add(shape(Template::Sum, Values::Magnitude(id)), of(OfStats::Norm1));
            add(shape(Template::Min, Values::One(id)), of(OfStats::Extreme));
            add(shape(Template::Max, Values::One(id)), of(OfStats::Extreme));
            if ty.is_float() {
                // Of all for which the condition holds, those that are ignored as well.
                let nans = shape(Template::Count, Values::IsNan(id));
                add(Shape { nans: Vec::new(), ..nans }, of(OfStats::Nans));
            }
        }
        PartialKind::Product if ty.is_float() => {
            add(shape(Template::Values, Values::One(id)), vec![What::Product]);
        }
        PartialKind::Product => {
            add(shape(Template::Prod, Values::One(id)), vec![What::Partial(DeviceFold::Prod)])
        }
        PartialKind::Dot => unreachable!("an expression has no dot"),
    }
    Ok(())
}

/// Weights are summed beside their products with the values, where floats have those.
fn weights(
    program: &Program,
    jobs: &mut Vec<Job>,
    task: usize,
    weight: Id,
    shape: Shape,
    fold: DeviceFold,
) {
    let result = JobResult { task, what: What::Partial(fold) };
    let products = jobs.iter_mut().find(|job| {
        let is_weighted = matches!(job.shape.values, Values::Two(w, _) if w == weight);
        let is_alike = job.shape.nans == shape.nans;
        program.ty(weight).is_float()
            && job.shape.template == Template::Dot
            && is_weighted
            && is_alike
    });
    match products {
        Some(job) => {
            job.shape =
                Shape { template: Template::Weighted, weight: Some(weight), ..job.shape.clone() };
            job.results.insert(0, result);
        }
        None => jobs.push(Job { shape, results: vec![result] }),
    }
}

/// Squares and products: of f32 by one kernel, of f64 by two, of integers by three.
fn pairs(ty: Type, (a, b): (Id, Id), shape: &dyn Fn(Template, Values) -> Shape, add: &mut Add<'_>) {
    let both =
        |template| Shape { reports: Reports::Differences, ..shape(template, Values::Two(a, b)) };
    let dot = |x, y| shape(Template::Dot, Values::Two(x, y));
    match ty {
        Type::F32 => add(both(Template::Pairs), (0..3).map(What::Pair).collect()),
        Type::F64 => {
            add(both(Template::SquareDot), vec![What::Pair(0), What::Pair(1)]);
            add(dot(b, b), vec![What::Pair(2)]);
        }
        _ => {
            for (k, (x, y)) in [(a, a), (a, b), (b, b)].into_iter().enumerate() {
                add(dot(x, y), vec![What::Pair(k)]);
            }
        }
    }
}

/// What a kernel wrote: its record, and what it counted.
pub(super) struct KernelRecord<'r> {
    pub(super) record: &'r [u64],
    pub(super) kept: u64,
    pub(super) flags: u64,
}

/// What the kernels of a map leave of each task, indices from one on.
pub(super) fn parts(
    map: &Map,
    jobs: &[Job],
    found: &[KernelRecord<'_>],
    first: u64,
) -> Vec<TaskPartial> {
    let mut parts: Vec<TaskPartial> =
        map.tasks().iter().map(|task| task.empty(map.program())).collect();
    let mut pairs: BTreeMap<usize, [Option<AnyPartial>; 3]> = BTreeMap::new();
    for (job, found) in jobs.iter().zip(found) {
        let dtype = job.shape.dtype(map.program());
        let mut words = read::Words::new(found.record);
        for result in &job.results {
            match result.what {
                What::Partial(fold) => {
                    let partial = words.partial(fold, dtype, found.kept, first);
                    merge(&mut parts[result.task], partial);
                }
                What::Norm1 | What::Magnitude | What::Stats(_) => {
                    let TaskPartial::Partial(part) = &mut parts[result.task] else {
                        unreachable!("values leave a partial")
                    };
                    let of = match result.what {
                        What::Norm1 => OfStats::Norm1,
                        What::Stats(of) => of,
                        _ => OfStats::Magnitude,
                    };
                    words.add_to(part, of, found.kept, first);
                }
                What::Squares => {
                    let products = words.partial(DeviceFold::ExactDot, dtype, found.kept, first);
                    let more = TaskPartial::Squares(Box::new(Squares::of_halves(products)));
                    parts[result.task].merge(&more);
                }
                What::Powers => {
                    let powers = words.partial(DeviceFold::ExactSum, dtype, found.kept, first);
                    let sum: Exact<f64> = match powers.typed::<f64>() {
                        Some(Partial::Sum(sum)) => sum,
                        other => unreachable!("{other:?} is no sum of f64"),
                    };
                    let reports = |flag| found.flags & flag != 0;
                    let [nan, infinity] = [Reports::NAN, Reports::INFINITY].map(reports);
                    let more = Exponents::near(&sum, nan, infinity);
                    parts[result.task].merge(&TaskPartial::Exponents(Box::new(more)));
                }
                What::Product => unreachable!("it is folded from memory"),
                What::Conditions(op) => {
                    let Task::Values(_, id) = map.tasks()[result.task] else {
                        let count = Count { seen: found.kept, nonzero: found.record[0] };
                        merge(&mut parts[result.task], read::count(DType::Bool, count));
                        continue;
                    };
                    let dtype = map.program().ty(id).dtype();
                    let partial = match op {
                        Op::Sum => read::sum_of_conditions(found.record[0], found.kept),
                        _ => {
                            read::count(dtype, Count { seen: found.kept, nonzero: found.record[0] })
                        }
                    };
                    merge(&mut parts[result.task], partial);
                }
                What::Pair(k) => {
                    let fold =
                        if dtype.is_float() { DeviceFold::ExactDot } else { DeviceFold::Dot };
                    let partial = words.partial(fold, dtype, found.kept, first);
                    pairs.entry(result.task).or_default()[k] = Some(partial);
                    if let (TaskPartial::Pairs(pairs), flags @ 1..) =
                        (&mut parts[result.task], found.flags)
                    {
                        let special = if flags & 1 != 0 { Special::NAN } else { Special::PLUS };
                        pairs.differences = pairs.differences.union(special);
                    }
                }
            }
        }
    }
    for (task, found) in pairs {
        let [Some(left), Some(both), Some(right)] = found else {
            unreachable!("pairs leave three sums")
        };
        if let TaskPartial::Pairs(part) = &mut parts[task] {
            **part = Pairs { left, both, right, differences: part.differences };
        }
    }
    parts
}

fn merge(part: &mut TaskPartial, partial: AnyPartial) {
    match part {
        TaskPartial::Partial(mine) => mine.merge(&partial),
        other => unreachable!("{other:?} is no partial"),
    }
}

pub(super) fn refused(requested: String, obstacle: String, remedy: &str) -> Error {
    Error::Map { requested, obstacle, remedy: remedy.into() }
}
