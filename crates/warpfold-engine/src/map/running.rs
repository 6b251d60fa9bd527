//! Folds of tasks that keep their state from one piece of the arrays to the next.

use warpfold_cpu::Running;
use warpfold_exact::partial::Partial;
use warpfold_expr::{Id, Program, lanes};
use warpfold_num::limbs::Special;
use warpfold_num::{Accuracy, DType, Nan, Op, Policy};
use warpfold_plan::HostArray;

use super::exponents::Exponents;
use super::task::{Task, TaskPartial};

/// The folds of one task.
#[derive(Debug)]
pub(super) enum Folds {
    /// Of values, weights, or exact products.
    One(Running),
    /// Of weights with the upper and with the lower halves of squares, which lie 53 binades lower: a fold of both would move its window each time.
    Halves(Box<[Running; 2]>),
    /// Of pairs: products of the left with themselves, of both, of the right; and what was no finite number among the differences.
    Pairs(Box<[Running; 3]>, Special),
}

impl Folds {
    /// Those of a task; `None` if it has to be folded piece by piece.
    pub(super) fn start(task: Task, program: &Program, policy: Policy) -> Option<Self> {
        // What results are made of that are rounded in another way.
        let exact = Policy { accuracy: Accuracy::Exact, nan: Nan::Propagate, ..policy };
        let dtype = |id| program.ty(id).dtype();
        let dot = |id, policy| Running::start(Op::Dot, dtype(id), policy);
        match task {
            Task::Values(op, id) => Running::start(op, dtype(id), policy).map(Folds::One),
            Task::Conditions(_) | Task::Squares { halves: None, .. } => None,
            Task::Products(a, _) => dot(a, policy).map(Folds::One),
            Task::Weights(id) => Running::start(Op::Sum, dtype(id), policy).map(Folds::One),
            Task::Pairs(a, _) => {
                let folds = [dot(a, exact)?, dot(a, exact)?, dot(a, exact)?];
                Some(Folds::Pairs(Box::new(folds), Special::NONE))
            }
            Task::Squares { .. } => {
                let start = || Running::start(Op::Dot, DType::F64, exact);
                Some(Folds::Halves(Box::new([start()?, start()?])))
            }
            Task::Exponents { .. } => Running::start(Op::Sum, DType::F64, exact).map(Folds::One),
        }
    }

    /// Folds in the next values of expressions, the first of which has an index.
    pub(super) fn take<'a>(&mut self, task: Task, array: impl Fn(Id) -> HostArray<'a>, first: u64) {
        match (task, self) {
            (Task::Values(_, id) | Task::Weights(id), Folds::One(fold)) => {
                fold.take(array(id), first);
            }
            (Task::Exponents { power, .. }, Folds::One(fold)) => fold.take(array(power), first),
            (Task::Products(a, b), Folds::One(fold)) => fold.take_pair(array(a), array(b)),
            (Task::Squares { weight, halves: Some((upper, lower)), .. }, Folds::Halves(folds)) => {
                let [of_upper, of_lower] = &mut **folds;
                of_upper.take_pair(array(weight), array(upper));
                if lower != upper {
                    of_lower.take_pair(array(weight), array(lower));
                }
            }
            (Task::Pairs(a, b), Folds::Pairs(folds, differences)) => {
                let (a, b) = (array(a), array(b));
                let [left, both, right] = &mut **folds;
                left.take_pair(a, a);
                both.take_pair(a, b);
                right.take_pair(b, b);
                *differences = differences.union(of_differences(&a, &b));
            }
            (task, _) => unreachable!("{task:?} has other folds"),
        }
    }

    /// Adds the partials of all to a part of the task.
    pub(super) fn finish_into(self, part: &mut TaskPartial, task: Task) {
        match (self, part) {
            (Folds::One(fold), TaskPartial::Partial(partial)) => partial.merge(&fold.finish()),
            (Folds::Halves(folds), TaskPartial::Squares(squares)) => {
                folds.into_iter().for_each(|fold| squares.products.merge(&fold.finish()));
            }
            (Folds::One(fold), TaskPartial::Exponents(exponents)) => {
                // Others were put to zero.
                if let Some(Partial::Sum(sum)) = fold.finish().typed::<f64>() {
                    exponents.merge(&Exponents::near(&sum, false, false));
                }
            }
            (Folds::Pairs(folds, differences), TaskPartial::Pairs(pairs)) => {
                let [left, both, right] = folds.map(Running::finish);
                pairs.left.merge(&left);
                pairs.both.merge(&both);
                pairs.right.merge(&right);
                pairs.differences = pairs.differences.union(differences);
            }
            _ => unreachable!("{task:?} leaves another part"),
        }
    }
}

/// What is no finite number among the differences of pairs that are not both finite.
fn of_differences(x: &HostArray<'_>, y: &HostArray<'_>) -> Special {
    fn of<T: Copy + Into<f64>>(x: &[T], y: &[T]) -> Special {
        x.iter().zip(y).fold(Special::NONE, |all, (&x, &y)| {
            let (x, y): (f64, f64) = (x.into(), y.into());
            let is_special = !x.is_finite() || !y.is_finite();
            match x - y {
                _ if !is_special => all,
                d if d.is_nan() => all.union(Special::NAN),
                _ => all.union(Special::PLUS),
            }
        })
    }
    fn unless_finite<T: warpfold_num::Element + lanes::Float + Into<f64>>(
        x: &HostArray<'_>,
        y: &HostArray<'_>,
    ) -> Special {
        let (x, y) = (x.slice::<T>().unwrap_or_default(), y.slice::<T>().unwrap_or_default());
        if lanes::are_finite(x) && lanes::are_finite(y) { Special::NONE } else { of(x, y) }
    }
    match x.dtype() {
        DType::F32 => unless_finite::<f32>(x, y),
        DType::F64 => unless_finite::<f64>(x, y),
        _ => Special::NONE,
    }
}
