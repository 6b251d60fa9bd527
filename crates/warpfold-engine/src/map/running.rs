//! Folds of tasks that keep their state from one piece of the arrays to the next.

use std::ops::Range;

use warpfold_cpu::{PairSums, Running};
use warpfold_exact::partial::Partial;
use warpfold_expr::{Id, Maker, Node, Program, Slice, Unary, lanes};
use warpfold_num::limbs::Special;
use warpfold_num::{Accuracy, DType, Nan, Op, Policy};
use warpfold_plan::HostArray;

use super::arrays::part;
use super::exponents::Exponents;
use super::task::{Task, TaskPartial};

/// How many bytes ahead of those that are read the inputs are asked for.
const AHEAD: usize = 1 << 10;

/// The folds of one task.
#[derive(Debug)]
pub(super) enum Folds {
    /// Of values, weights, or exact products.
    One(Running),
    /// Of weights with the upper and with the lower halves of squares, which lie 53 binades lower: a fold of both would move its window each time.
    Halves(Box<[Running; 2]>),
    /// Of pairs: products of the left with themselves, of both, of the right; and what was no finite number among the differences.
    Pairs(PairSums, Special),
    /// Of exact products with weights, and of the weights, whose task stands at an index.
    Weighted(PairSums, usize),
    /// Of weights that the fold of their products takes.
    Beside,
    /// Of the magnitudes of an input.
    Magnitudes(Running, usize),
    /// Of values that a loop makes of the inputs as they are folded.
    Made(Running, Maker),
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
                PairSums::squares(dtype(a), exact).map(|sums| Folds::Pairs(sums, Special::NONE))
            }
            Task::Squares { .. } => {
                let start = || Running::start(Op::Dot, DType::F64, exact);
                Some(Folds::Halves(Box::new([start()?, start()?])))
            }
            Task::Exponents { .. } => Running::start(Op::Sum, DType::F64, exact).map(Folds::One),
        }
    }

    /// That of values which are made of the inputs while they are folded, so that nothing is held.
    pub(super) fn straight(task: Task, program: &Program, policy: Policy) -> Option<Self> {
        let Task::Values(op, id) = task else { return None };
        let dtype = program.ty(id).dtype();
        if let Node::Unary(Unary::Abs, a) = program.nodes()[usize::from(id)]
            && let Node::Input(input) = program.nodes()[usize::from(a)]
            && program.inputs()[usize::from(input)] == dtype
            && let Some(fold) = Running::of_magnitudes(op, dtype, policy)
        {
            return Some(Folds::Magnitudes(fold, input.into()));
        }
        // NaNs that are ignored are looked for in values that are there.
        if policy.nan == Nan::Ignore {
            return None;
        }
        let fold = Running::start(op, dtype, policy).filter(Running::takes_made)?;
        Maker::of(program, id).map(|maker| Folds::Made(fold, maker))
    }

    /// Has the fold of products with weights take the weights too, as both are read at once.
    pub(super) fn join_weights(
        folds: &mut [Option<Self>],
        tasks: &[Task],
        program: &Program,
        policy: Policy,
    ) {
        for (products, task) in tasks.iter().enumerate() {
            let Task::Products(weight, _) = *task else { continue };
            let Some(weights) = tasks.iter().position(|task| *task == Task::Weights(weight)) else {
                continue;
            };
            let are_alone =
                [products, weights].iter().all(|&k| matches!(folds[k], Some(Folds::One(_))));
            let sums = PairSums::weighted(program.ty(weight).dtype(), policy);
            if let Some(sums) = sums.filter(|_| are_alone) {
                folds[products] = Some(Folds::Weighted(sums, weights));
                folds[weights] = Some(Folds::Beside);
            }
        }
    }

    /// Folds in the next values of expressions, the first of which has an index. Returns whether they are known to be weights where it reads such.
    pub(super) fn take<'a>(
        &mut self,
        task: Task,
        array: impl Fn(Id) -> HostArray<'a>,
        first: u64,
    ) -> bool {
        match (task, self) {
            (_, Folds::Beside) => return true,
            (Task::Products(a, b), Folds::Weighted(sums, _)) => {
                return sums.take(array(a), array(b));
            }
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
            (Task::Pairs(a, b), Folds::Pairs(sums, differences)) => {
                let (a, b) = (array(a), array(b));
                if !sums.take(a, b) {
                    *differences = differences.union(of_differences(&a, &b));
                }
            }
            (task, _) => unreachable!("{task:?} has other folds"),
        }
        !matches!(task, Task::Weights(_))
    }

    /// Folds in the elements of some range of the inputs, the first of which has an index; `false` if it is no fold that reads them itself.
    pub(super) fn take_inputs(
        &mut self,
        arrays: &[HostArray<'_>],
        inputs: &[Slice<'_>],
        range: Range<usize>,
        first: u64,
    ) -> bool {
        match self {
            Folds::Magnitudes(fold, input) => fold.take(part(&arrays[*input], range), first),
            Folds::Made(fold, maker) => {
                let (bound, start) = (maker.bind(inputs), range.start);
                let read: Vec<(&[u8], usize)> =
                    bound.inputs().iter().map(|x| (x.bytes(), x.dtype().size())).collect();
                let make = |at: Range<usize>, values: &mut [u8]| {
                    let at = start + at.start..start + at.end;
                    for &(bytes, size) in &read {
                        let [from, to] =
                            [at.start, at.end].map(|k| bytes.len().min(k * size + AHEAD));
                        warpfold_cpu::ask_for(&bytes[from..to]);
                    }
                    bound.make(at, values);
                };
                fold.take_made(range.len(), first, &make);
            }
            _ => return false,
        }
        true
    }

    /// Adds the partials of all to the parts of the tasks, of which this is one.
    pub(super) fn finish_into(self, parts: &mut [TaskPartial], task: usize) {
        if let Folds::Weighted(sums, weights) = self {
            for (task, sum) in [weights, task].into_iter().zip(sums.finish()) {
                parts[task].merge(&TaskPartial::Partial(sum));
            }
            return;
        }
        match (self, &mut parts[task]) {
            (Folds::Beside, _) => {}
            (
                Folds::One(fold) | Folds::Magnitudes(fold, _) | Folds::Made(fold, _),
                TaskPartial::Partial(partial),
            ) => partial.merge(&fold.finish()),
            (Folds::Halves(folds), TaskPartial::Squares(squares)) => {
                folds.into_iter().for_each(|fold| squares.products.merge(&fold.finish()));
            }
            (Folds::One(fold), TaskPartial::Exponents(exponents)) => {
                // Others were put to zero.
                if let Some(Partial::Sum(sum)) = fold.finish().typed::<f64>() {
                    exponents.merge(&Exponents::near(&sum, false, false));
                }
            }
            (Folds::Pairs(sums, differences), TaskPartial::Pairs(pairs)) => {
                let mine = [&mut pairs.left, &mut pairs.both, &mut pairs.right];
                mine.into_iter().zip(sums.finish()).for_each(|(mine, sum)| mine.merge(&sum));
                pairs.differences = pairs.differences.union(differences);
            }
            _ => unreachable!("a task leaves its own part"),
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
