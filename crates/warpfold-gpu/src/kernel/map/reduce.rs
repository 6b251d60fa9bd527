//! [`AnyMap`]: the builder of a map's reductions on a machine.

use std::sync::Arc;

use warpfold_engine::map::{Expressions, Map, Reduction, Results};

use super::given::Given;
use super::launches::{MapGrid, MapLaunches};
use super::{Spliced, folded};
use crate::kernel::array::AnyView;
use crate::kernel::batched::Code;
use crate::kernel::executor::Executor;
use crate::partial::{Finish, Output};
use crate::{DType, Nan, Op, Policy, Result, Value};

/// An expression of arrays in a machine's memory, being set up: choose, then call for a reduction of its values. Nothing is written to memory:
/// the kernel that reads the arrays has the expression's code in it.
#[derive(Clone)]
#[must_use = "call for a reduction"]
pub struct AnyMap<'a> {
    pub(super) machine: &'a dyn Executor,
    pub(super) inputs: Vec<(String, AnyView<'a>)>,
    value: String,
    keep: Option<String>,
    weights: Option<String>,
    policy: Policy,
    grid: Option<MapGrid>,
    first: u64,
}

impl<'a> AnyMap<'a> {
    /// An expression of arrays by their names.
    pub fn new<V: Into<AnyView<'a>>>(
        machine: &'a dyn Executor,
        value: &str,
        inputs: impl IntoIterator<Item = (&'a str, V)>,
    ) -> Self {
        let inputs =
            inputs.into_iter().map(|(name, view)| (name.to_owned(), view.into())).collect();
        AnyMap {
            machine,
            inputs,
            value: value.into(),
            keep: None,
            weights: None,
            policy: Policy::default(),
            grid: None,
            first: 0,
        }
    }

    /// With a condition: elements for which it does not hold are left out, whatever they are.
    pub fn where_(mut self, condition: &str) -> Self {
        self.keep = Some(condition.into());
        self
    }

    /// With an expression of weights, for sums and means.
    pub fn weights(mut self, weights: &str) -> Self {
        self.weights = Some(weights.into());
        self
    }

    /// What becomes of NaNs.
    pub fn nan(mut self, nan: Nan) -> Self {
        self.policy.nan = nan;
        self
    }

    /// All choices.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Another grid of the launches than the planner's, to measure or test it.
    pub fn grid(mut self, grid: MapGrid) -> Self {
        self.grid = Some(grid);
        self
    }

    /// The same of a piece of the arrays, whose first elements have this index in the whole.
    pub fn starting_at(mut self, first: u64) -> Self {
        self.first = first;
        self
    }

    fn names(&self) -> Vec<(&str, DType)> {
        self.inputs.iter().map(|(name, view)| (name.as_str(), view.dtype)).collect()
    }

    fn views(&self) -> Vec<AnyView<'a>> {
        self.inputs.iter().map(|(_, view)| *view).collect()
    }

    fn given(&self) -> Vec<Given<'a>> {
        self.inputs.iter().map(|(_, view)| (*view).into()).collect()
    }

    pub(super) fn map(&self, op: Op) -> Result<Map> {
        let mut expressions = Expressions::value(&self.value)?;
        if let Some(condition) = &self.keep {
            expressions = expressions.keep(condition)?;
        }
        if let Some(weights) = &self.weights {
            expressions = expressions.weights(weights)?;
        }
        Map::new(op, &expressions, &self.names(), self.policy)
    }

    /// The launches of a reduction, not run yet.
    ///
    /// # Errors
    /// As [`output`](Self::output), before anything runs.
    pub fn launches(&self, op: Op) -> Result<MapLaunches<'a>> {
        MapLaunches::new(self.machine, &self.map(op)?, &self.views(), self.grid)
    }

    /// The modules that a reduction runs, with the expression's code in them.
    ///
    /// # Errors
    /// As [`output`](Self::output), before anything runs.
    pub fn modules(&self, op: Op) -> Result<Vec<Arc<Spliced>>> {
        let launches = self.launches(op)?;
        let spliced = launches.launches().iter().filter_map(|launch| match &launch.code {
            Code::Spliced(spliced) => Some(spliced.clone()),
            Code::Shipped(_) => None,
        });
        Ok(spliced.collect())
    }

    /// The result of a reduction.
    ///
    /// # Errors
    /// [`Error::Map`](crate::Error::Map) where expressions do not suit the types or the reduction, for an integer operation without a value, and, by its name, for what no
    /// kernel folds; those of the contract, as [`AnyPartial::finish`](crate::AnyPartial::finish) has them; [`Error::Device`](crate::Error::Device).
    pub fn output(&self, op: Op, finish: Finish) -> Result<Output> {
        let map = self.map(op)?;
        let folded = folded(self.machine, &map, &self.given(), self.first, self.grid)?;
        map.finish(&folded, finish)
    }

    /// Several reductions, of the elements for which the condition holds, as `sum(abs(x - y))`, `far = count(x > 3)` or `cosine(x, y)`; the map's own
    /// expression and weights are left out.
    ///
    /// # Errors
    /// As [`output`](Self::output); [`Error::Map`](crate::Error::Map) for a text that is no reduction.
    pub fn all(&self, reductions: &[&str]) -> Result<Results> {
        let reductions: Vec<Reduction> =
            reductions.iter().map(|text| text.parse()).collect::<Result<_>>()?;
        let map = Map::all(&reductions, self.keep.as_deref(), &self.names(), self.policy)?;
        let folded = folded(self.machine, &map, &self.given(), self.first, self.grid)?;
        Ok(map.results(&folded, Finish::default()))
    }

    fn value(&self, op: Op, ddof: u64) -> Result<Value> {
        match self.output(op, Finish { ddof, ..Finish::default() })? {
            Output::One(value) => Ok(value),
            other => unreachable!("{op} is one value, not {other:?}"),
        }
    }

    fn index(&self, op: Op) -> Result<u64> {
        match self.value(op, 0)? {
            Value::U64(value) => Ok(value),
            other => unreachable!("{op} is an index or a count, not {other:?}"),
        }
    }

    /// The sum of the values; a product at the top is not rounded before.
    ///
    /// # Errors
    /// As [`output`](Self::output).
    pub fn sum(&self) -> Result<Value> {
        self.value(Op::Sum, 0)
    }

    /// The mean of the values.
    ///
    /// # Errors
    /// As [`output`](Self::output).
    pub fn mean(&self) -> Result<Value> {
        self.value(Op::Mean, 0)
    }

    /// The variance of the values.
    ///
    /// # Errors
    /// As [`output`](Self::output).
    pub fn var(&self, ddof: u64) -> Result<Value> {
        self.value(Op::Var, ddof)
    }

    /// The standard deviation of the values.
    ///
    /// # Errors
    /// As [`output`](Self::output).
    pub fn std(&self, ddof: u64) -> Result<Value> {
        self.value(Op::Std, ddof)
    }

    /// The root of the sum of squares.
    ///
    /// # Errors
    /// As [`output`](Self::output).
    pub fn l2(&self) -> Result<Value> {
        self.value(Op::L2, 0)
    }

    /// For how many elements the value is not zero, or the condition holds.
    ///
    /// # Errors
    /// As [`output`](Self::output).
    pub fn count(&self) -> Result<u64> {
        self.index(Op::Count)
    }

    /// The least value.
    ///
    /// # Errors
    /// As [`output`](Self::output).
    pub fn min(&self) -> Result<Value> {
        self.value(Op::Min, 0)
    }

    /// The greatest value.
    ///
    /// # Errors
    /// As [`output`](Self::output).
    pub fn max(&self) -> Result<Value> {
        self.value(Op::Max, 0)
    }

    /// Where the least value stands first.
    ///
    /// # Errors
    /// As [`output`](Self::output).
    pub fn argmin(&self) -> Result<u64> {
        self.index(Op::ArgMin)
    }

    /// Where the greatest value stands first.
    ///
    /// # Errors
    /// As [`output`](Self::output).
    pub fn argmax(&self) -> Result<u64> {
        self.index(Op::ArgMax)
    }
}
