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
//!
//! Several results come of one reading:
//!
//! ```
//! use warpfold_engine::HostArray;
//! use warpfold_engine::map::{Map, Reduction};
//! use warpfold_exact::partial::{Finish, Output};
//! use warpfold_num::{DType, Policy};
//!
//! let (x, y) = ([1.0f64, 5.0, 2.0], [4.0f64, 3.0, 2.0]);
//! let wanted = ["sum(abs(x - y))", "far = count(abs(x - y) > 2)", "rmse(x, y)"];
//! let wanted = wanted.map(|text| text.parse::<Reduction>().expect("it is a reduction"));
//! let map = Map::all(&wanted, None, &[("x", DType::F64), ("y", DType::F64)], Policy::default())?;
//! let results = map.results(&map.fold(&[HostArray::of(&x), HostArray::of(&y)], 0)?, Finish::default());
//! assert_eq!(results.get("far"), Some(&Ok(Output::One(1u64.into()))));
//! assert_eq!(results[0], Ok(Output::One(5.0f64.into())));
//! # Ok::<(), warpfold_num::Error>(())
//! ```

mod arrays;
mod bytes;
mod choose;
mod evaluate;
mod exponents;
mod finish;
mod fold;
mod operand;
mod parts;
mod reduction;
mod results;
mod running;
mod task;
mod wanted;
mod weights;

use warpfold_exact::partial::{Finish, Output};
pub use warpfold_expr::Expr;
use warpfold_expr::{Buffering, Id, Program, TILE, Tiles};
use warpfold_num::{DType, Empty, Error, Op, Policy, Result, Value};
pub use warpfold_plan::HostArray;
use warpfold_plan::{Indices, Parts};

use crate::Columns;
pub(crate) use arrays::slice;
pub use evaluate::evaluate;
pub use exponents::{Exponents, HALF};
pub use operand::{Each, Operand, fits};
pub use parts::{ColumnsOf, Share, columns_of_stats};
pub(crate) use parts::{Elements, array, gathered};
pub use reduction::{Measure, Reduction};
pub use results::Results;
pub use task::{Pairs, Squares, Task, TaskPartial};
use wanted::Wanted;

/// What is reduced, as it was said.
#[derive(Debug, Clone)]
pub struct Expressions {
    value: Expr,
    keep: Option<Expr>,
    weights: Option<Expr>,
    initial: Option<Value>,
}

impl Expressions {
    /// The expression whose values are reduced, such as one of [`map!`](crate::map!).
    pub fn of(value: Expr) -> Self {
        Expressions { value, keep: None, weights: None, initial: None }
    }

    /// The expression whose values are reduced.
    ///
    /// # Errors
    /// [`Error::Map`], with the column.
    pub fn value(text: &str) -> Result<Self> {
        Expr::parse(text).map(Self::of)
    }

    /// With a condition: elements for which it does not hold are left out, whatever they are.
    #[must_use]
    pub fn keep_if(mut self, condition: Expr) -> Self {
        self.keep = Some(condition);
        self
    }

    /// With an expression of weights, for sums, means, variances and deviations.
    #[must_use]
    pub fn weighted_by(mut self, weights: Expr) -> Self {
        self.weights = Some(weights);
        self
    }

    /// With a condition: elements for which it does not hold are left out, whatever they are.
    ///
    /// # Errors
    /// [`Error::Map`], with the column.
    pub fn keep(self, text: &str) -> Result<Self> {
        Ok(self.keep_if(Expr::parse(text)?))
    }

    /// With an expression of weights, for sums, means, variances and deviations.
    ///
    /// # Errors
    /// [`Error::Map`], with the column.
    pub fn weights(self, text: &str) -> Result<Self> {
        Ok(self.weighted_by(Expr::parse(text)?))
    }

    /// With a value that is reduced as one element more, before all others; of sums, products and extremes.
    #[must_use]
    pub fn initial(mut self, value: Value) -> Self {
        self.initial = Some(value);
        self
    }

    /// Every input that is named, once.
    pub fn names(&self) -> Vec<&str> {
        names([Some(&self.value), self.keep.as_ref(), self.weights.as_ref()].into_iter().flatten())
    }
}

/// Every input that some expressions name, once.
fn names<'e>(expressions: impl Iterator<Item = &'e Expr>) -> Vec<&'e str> {
    let mut names: Vec<&str> = Vec::new();
    for name in expressions.flat_map(Expr::names) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

/// Reductions of expressions, ready for arrays of some types.
#[derive(Debug)]
pub struct Map {
    policy: Policy,
    program: Program,
    names: Vec<String>,
    has_keep: bool,
    /// What is folded; results share what they have in common.
    tasks: Vec<Task>,
    wanted: Vec<Wanted>,
    /// As it was said.
    reductions: Vec<Reduction>,
    keep: Option<Expr>,
}

/// The partial of some elements: merged with that of others, then [finished](Map::finish).
#[derive(Debug, Clone, PartialEq)]
pub struct Folded {
    /// That of each task.
    parts: Vec<TaskPartial>,
}

impl Folded {
    /// The partials of another machine for each of a map's [tasks](Map::tasks).
    pub fn of(parts: Vec<TaskPartial>) -> Self {
        Folded { parts }
    }

    /// Takes in the partial of later elements.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.parts.iter_mut().zip(&other.parts) {
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
        let Expressions { value, keep, weights, initial } = expressions.clone();
        let reduction = Reduction::of(Measure::Op(op), value);
        let reduction = Reduction { weights, initial, ..reduction };
        wanted::map(&[reduction], keep.as_ref(), inputs, policy)
    }

    /// Several reductions in one reading, of the elements for which one condition holds.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn all(
        reductions: &[Reduction],
        keep: Option<&str>,
        inputs: &[(&str, DType)],
        policy: Policy,
    ) -> Result<Self> {
        let keep = keep.map(Expr::parse).transpose()?;
        if reductions.is_empty() {
            return Err(refused("map", "nothing is asked for".into(), "name a reduction"));
        }
        wanted::map(reductions, keep.as_ref(), inputs, policy)
    }

    /// The same reductions of inputs some of whose elements are not there: one input more, the last, is of bools that say which are. What other inputs hold
    /// where it says no does not count, and is no error, whatever it is. Its partials are those of this map, and merge with them.
    ///
    /// # Errors
    /// [`Error::Map`], never of expressions that have made a map.
    pub fn of_present(&self) -> Result<Self> {
        let names = self.names.iter().map(String::as_str);
        let types = self.program.inputs().iter().copied();
        let inputs: Vec<(&str, DType)> = names.zip(types).collect();
        let Map { reductions, keep, policy, .. } = self;
        wanted::map_of_present(reductions, keep.as_ref(), &inputs, *policy)
    }

    /// Every input that reductions and a condition name, once.
    ///
    /// # Errors
    /// [`Error::Map`], with the column, of the condition.
    pub fn names(reductions: &[Reduction], keep: Option<&str>) -> Result<Vec<String>> {
        let keep = keep.map(Expr::parse).transpose()?;
        let all = reductions.iter().flat_map(Reduction::expressions).chain(&keep);
        Ok(names(all).into_iter().map(str::to_owned).collect())
    }

    /// The type of the values, those of the first reduction.
    pub fn dtype(&self) -> DType {
        self.wanted[0].dtype
    }

    /// The operations, one a line.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// What is folded; results share what they have in common.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// The choices.
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// The condition on which elements count, if there is one.
    pub fn condition(&self) -> Option<Id> {
        self.has_keep.then(|| self.program.roots()[0].value)
    }

    /// The values whose NaNs, as they are ignored, take an element out of a task.
    pub fn nans_of(&self, task: &Task) -> Vec<Id> {
        if self.policy.nan == warpfold_num::Nan::Propagate {
            return Vec::new();
        }
        let all = self.drops_nans().then(|| self.tasks.iter().flat_map(|task| task.given()));
        let mut ids: Vec<Id> = all.into_iter().flatten().chain(task.given()).collect();
        ids.retain(|&id| self.program.ty(id).is_float());
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// The one length of arrays of such types and lengths.
    ///
    /// # Errors
    /// [`Error::Map`] if they are not the inputs that the map was made for, or not of one length.
    pub fn length(&self, given: &[(DType, usize)]) -> Result<usize> {
        arrays::length(self, given)
    }

    /// The same where only inputs that have a value for each element are of one length; the others are looked at by [`fits`].
    ///
    /// # Errors
    /// As [`length`](Self::length), and if no input has a value for each element.
    pub fn length_of(&self, given: &[(DType, usize, Each)]) -> Result<usize> {
        arrays::length_of(self, given)
    }

    /// The inputs' names.
    pub fn inputs(&self) -> &[String] {
        &self.names
    }

    /// The partial of no elements.
    pub fn empty(&self) -> Folded {
        Folded { parts: self.tasks.iter().map(|task| task.empty(&self.program)).collect() }
    }

    /// Folds arrays, or pieces of them whose first elements stand at an index of the whole.
    ///
    /// # Errors
    /// [`Error::Map`] for arrays that are not of one length or not of the types, for an integer operation without a value, and for
    /// weights of a mean, variance or deviation that are negative or not finite.
    pub fn fold(&self, inputs: &[HostArray<'_>], start: u64) -> Result<Folded> {
        fold::fold(self, inputs, start)
    }

    /// The result, the first of several.
    ///
    /// # Errors
    /// As [`AnyPartial::finish`](warpfold_exact::AnyPartial::finish); a mean whose weights sum to zero is [`Error::Empty`].
    pub fn finish(&self, folded: &Folded, finish: Finish) -> Result<Output> {
        finish::finish(self, &self.wanted[0], folded, self.with_overflow(finish))
    }

    /// A variance, or its root, with a correction that may be fractional or negative.
    ///
    /// # Errors
    /// As [`finish`](Self::finish); [`Error::Map`] for another reduction.
    pub fn finish_corrected(
        &self,
        folded: &Folded,
        correction: f64,
        round_to: Option<DType>,
    ) -> Result<Output> {
        finish::corrected(&self.wanted[0], folded, correction, round_to)
    }

    /// All results, each as it would be alone.
    pub fn results(&self, folded: &Folded, finish: Finish) -> Results {
        let result = |wanted: &Wanted| {
            let finish = self.with_overflow(finish);
            (wanted.name.clone(), finish::finish(self, wanted, folded, finish))
        };
        Results::new(self.wanted.iter().map(result).collect())
    }

    fn with_overflow(&self, finish: Finish) -> Finish {
        Finish { overflow: self.policy.overflow, ..finish }
    }

    /// The results of each part of arrays, by the name of each reduction: columns, as [`crate::columns`] has them. Axes are those of arrays whose
    /// elements lie in C order.
    ///
    /// # Errors
    /// As [`fold`](Self::fold); [`Error::Output`] with the first output that has no value.
    pub fn columns(
        &self,
        inputs: &[HostArray<'_>],
        parts: &Parts<'_>,
        indices: Indices,
        finish: Finish,
    ) -> Result<Vec<(String, Columns)>> {
        let operands: Vec<Operand<'_>> = inputs.iter().map(|&input| input.into()).collect();
        self.columns_of(&operands, parts, indices, finish)
    }

    /// The same of rows, some of whose inputs have one value for each column or for each row: `sum((x * w)**2)` where `w` is one value a
    /// column, `sum(exp(x - m))` where `m` is one value a row. Rows are parts of one length whose elements lie one behind the other: the last
    /// axis of arrays in C order, or segments of one length.
    ///
    /// # Errors
    /// As [`columns`](Self::columns); [`Error::Map`] for such inputs of other parts, or that have other lengths.
    pub fn columns_of(
        &self,
        inputs: &[Operand<'_>],
        parts: &Parts<'_>,
        indices: Indices,
        finish: Finish,
    ) -> Result<Vec<(String, Columns)>> {
        let all = self.columns_and_gaps(inputs, parts, indices, Empty::Error, finish)?;
        Ok(all.into_iter().map(|of| (of.name, of.columns)).collect())
    }

    /// [`columns_of`](Self::columns_of) where outputs without a value may be no error: NaN, or left out, as `empty` has it.
    ///
    /// # Errors
    /// As [`columns`](Self::columns); with [`Empty::Nan`], for outputs whose type has no NaN.
    pub fn columns_and_gaps(
        &self,
        inputs: &[Operand<'_>],
        parts: &Parts<'_>,
        indices: Indices,
        empty: Empty,
        finish: Finish,
    ) -> Result<Vec<ColumnsOf>> {
        parts::columns(self, inputs, parts, (indices, empty), finish)
    }

    /// The partial of a share of the elements of parts: the first of the two numbers of as many as the second, which are even in elements and follow one
    /// another in the order of outputs. Of a map with one result.
    ///
    /// # Errors
    /// As [`columns_and_gaps`](Self::columns_and_gaps), but for outputs without a value, which the share names.
    pub fn share(
        &self,
        inputs: &[HostArray<'_>],
        parts: &Parts<'_>,
        number: (usize, usize),
        empty: Empty,
        finish: Finish,
    ) -> Result<Share> {
        parts::share(self, inputs, parts, number, empty, finish)
    }

    /// The result of an output that shares have cut, from the partials of all of them, merged in their order; none where `empty` says so.
    ///
    /// # Errors
    /// [`Error::Output`] if it has no value, and `empty` has nothing for it.
    pub fn finish_output(
        &self,
        parts: &Parts<'_>,
        output: usize,
        folded: Folded,
        empty: Empty,
        finish: Finish,
    ) -> Result<Option<Output>> {
        parts::rest(self, parts, output, folded, empty, finish)
    }

    /// Tiles for a thread that folds so many elements.
    fn tiles(&self, elements: usize) -> Tiles<'_> {
        let elements = elements.min(fold::capacity(self));
        let held = Buffering { capacity: elements + TILE, leaves_out: self.is_masked() };
        Tiles::holding(&self.program, self.has_keep, held)
    }

    /// Whether some elements may be left out.
    fn is_masked(&self) -> bool {
        self.has_keep || self.drops_nans()
    }

    /// Whether NaNs that are ignored take weights, or the other value of a pair, with them.
    fn drops_nans(&self) -> bool {
        let ignores = self.policy.nan == warpfold_num::Nan::Ignore;
        ignores && self.tasks.iter().any(|task| task.is_of_pairs())
    }
}

fn refused(requested: &str, obstacle: String, remedy: impl Into<String>) -> Error {
    Error::Map { requested: requested.into(), obstacle, remedy: remedy.into() }
}
