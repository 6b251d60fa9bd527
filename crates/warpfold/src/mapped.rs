//! The builder of reductions of expressions: several arrays, an expression of their elements, perhaps a condition and weights.

use warpfold_engine::HostArray;
use warpfold_engine::map::{Expr, Expressions, Map, Reduction, Results};
use warpfold_num::policy_methods;

use crate::partial::{Finish, Output};
use crate::{DType, Op, Policy, Result, Value};

/// What is taken for an expression: what [`map!`](crate::map!) gives, a text, or an expression that was read before.
pub trait Written: sealed::Sealed {
    /// It, read.
    ///
    /// # Errors
    /// [`Error::Map`](crate::Error::Map), with the column.
    fn read(self) -> Result<Expr>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for &str {}
    impl Sealed for &String {}
    impl Sealed for super::Expr {}
    impl Sealed for &super::Expr {}
    impl Sealed for super::Result<super::Expr> {}
}

impl Written for &str {
    fn read(self) -> Result<Expr> {
        Expr::parse(self)
    }
}

impl Written for &String {
    fn read(self) -> Result<Expr> {
        Expr::parse(self)
    }
}

impl Written for Expr {
    fn read(self) -> Result<Expr> {
        Ok(self)
    }
}

impl Written for &Expr {
    fn read(self) -> Result<Expr> {
        Ok(self.clone())
    }
}

impl Written for Result<Expr> {
    fn read(self) -> Result<Expr> {
        self
    }
}

/// Starts a reduction of an expression of the elements of some arrays, which have names and one length; see [`ReduceMap`].
///
/// ```
/// use warpfold::{map, reduce_map};
///
/// let (x, y) = ([1.0f32, 5.0, 2.0], [4.0f32, 3.0, 2.5]);
/// let distance = reduce_map(map!(|x: f32, y: f32| abs(x - y)), [("x", &x), ("y", &y)]);
/// assert_eq!(distance.sum()?, 5.5f32.into());
/// assert_eq!(distance.argmax()?, 0);
/// // The same as text.
/// assert_eq!(reduce_map("abs(x - y)", [("x", &x), ("y", &y)]).sum()?, 5.5f32.into());
/// # Ok::<(), warpfold::Error>(())
/// ```
pub fn reduce_map<'a, A: Into<HostArray<'a>>>(
    value: impl Written,
    arrays: impl IntoIterator<Item = (&'a str, A)>,
) -> ReduceMap<'a> {
    let inputs = arrays.into_iter().map(|(name, array)| (name, array.into())).collect();
    let expressions = value.read().map(Expressions::of);
    ReduceMap { inputs, expressions, condition: None, policy: Policy::default() }
}

/// A reduction of an expression being set up: choose, then call the reduction. Floats are rounded once, at the end; errors of expressions come then too.
///
/// ```
/// use warpfold::map::HostArray;
/// use warpfold::{map, reduce_map};
///
/// let (price, qty) = ([0.5f64, 19.5, 5.0], [3u32, 4, 1]);
/// let sales = [("price", HostArray::of(&price)), ("qty", HostArray::of(&qty))];
/// // A product at the top is not rounded.
/// let turnover = reduce_map(map!(|price: f64, qty: u32| price * f64(qty)), sales);
/// assert_eq!(turnover.sum()?, 84.5f64.into());
/// let many = turnover.clone().where_(map!(|qty: u32| qty > 2));
/// assert_eq!(many.mean()?, 39.75f64.into());
/// let mean = reduce_map("price", sales).weights(map!(|qty: u32| f64(qty))).mean()?;
/// assert_eq!(mean, 10.5625f64.into());
/// # Ok::<(), warpfold::Error>(())
/// ```
///
/// # Errors
/// Every reduction: [`Error::Map`](crate::Error::Map) where an expression is none or does not suit the arrays or the reduction, for an integer operation
/// without a value, with its index, and for weights that are none; those of the contract, such as [`Error::Empty`](crate::Error::Empty).
#[derive(Debug, Clone)]
#[must_use = "call a reduction, such as .sum()"]
pub struct ReduceMap<'a> {
    inputs: Vec<(&'a str, HostArray<'a>)>,
    expressions: Result<Expressions>,
    /// The condition as text, for several results.
    condition: Option<String>,
    policy: Policy,
}

macro_rules! results {
    ($($(#[$doc:meta])+ $name:ident($($ddof:ident)?), $op:ident;)+) => { $(
        $(#[$doc])+
        ///
        /// # Errors
        /// As [`ReduceMap`] says.
        pub fn $name(&self $(, $ddof: u64)?) -> Result<Value> {
            #[allow(unused_mut, reason = "most have no such choice")]
            let mut finish = Finish::default();
            $(finish.ddof = $ddof;)?
            self.value(Op::$op, finish)
        }
    )+ };
}

macro_rules! indices {
    ($($(#[$doc:meta])+ $name:ident, $op:ident;)+) => { $(
        $(#[$doc])+
        ///
        /// # Errors
        /// As [`ReduceMap`] says.
        pub fn $name(&self) -> Result<u64> {
            match self.value(Op::$op, Finish::default())? {
                Value::U64(value) => Ok(value),
                other => unreachable!("{} is an index or a count, not {other:?}", Op::$op),
            }
        }
    )+ };
}

impl ReduceMap<'_> {
    policy_methods!(
        "NaN propagates (the default) or is ignored; beside weights it takes its element with it."
    );

    /// Leaves out, wholly, the elements for which a condition does not hold.
    pub fn where_(mut self, condition: impl Written) -> Self {
        let read = condition.read();
        self.condition = read.as_ref().ok().map(|expr| expr.text().to_owned());
        self.expressions = self.expressions.and_then(|all| Ok(all.keep_if(read?)));
        self
    }

    /// Weights the values, in sums, means, variances and deviations.
    pub fn weights(mut self, weights: impl Written) -> Self {
        let read = weights.read();
        self.expressions = self.expressions.and_then(|all| Ok(all.weighted_by(read?)));
        self
    }

    fn types(&self) -> Vec<(&str, DType)> {
        self.inputs.iter().map(|(name, array)| (*name, array.dtype())).collect()
    }

    fn arrays(&self) -> Vec<HostArray<'_>> {
        self.inputs.iter().map(|(_, array)| *array).collect()
    }

    /// The result of any reduction.
    ///
    /// # Errors
    /// As [`ReduceMap`] says.
    pub fn output(&self, op: Op, finish: Finish) -> Result<Output> {
        let expressions = self.expressions.as_ref().map_err(Clone::clone)?;
        let map = Map::new(op, expressions, &self.types(), self.policy)?;
        map.finish(&map.fold(&self.arrays(), 0)?, finish)
    }

    /// Several reductions in one reading, of the elements for which the condition holds, as `sum(abs(x - y))`, `far = count(x > 3)` or `cosine(x, y)`;
    /// the map's own expression and weights are left out.
    ///
    /// # Errors
    /// As [`ReduceMap`] says, and for a text that is no reduction.
    pub fn all(&self, reductions: &[&str]) -> Result<Results> {
        self.expressions.as_ref().map_err(Clone::clone)?;
        let reductions: Vec<Reduction> =
            reductions.iter().map(|text| text.parse()).collect::<Result<_>>()?;
        let map = Map::all(&reductions, self.condition.as_deref(), &self.types(), self.policy)?;
        Ok(map.results(&map.fold(&self.arrays(), 0)?, Finish::default()))
    }

    fn value(&self, op: Op, finish: Finish) -> Result<Value> {
        match self.output(op, finish)? {
            Output::One(value) => Ok(value),
            other => unreachable!("{op} is one value, not {other:?}"),
        }
    }

    results! {
        /// The sum; a product at the top is not rounded before.
        sum(), Sum;
        /// The mean.
        mean(), Mean;
        /// The variance over `n - ddof`.
        var(ddof), Var;
        /// The standard deviation over `n - ddof`.
        std(ddof), Std;
        /// The sum of magnitudes.
        l1(), L1;
        /// The Euclidean norm.
        l2(), L2;
        /// The sum of squares.
        sumsq(), Sumsq;
        /// The largest magnitude.
        linf(), Linf;
        /// The product.
        prod(), Prod;
        /// The least value.
        min(), Min;
        /// The greatest value.
        max(), Max;
    }

    indices! {
        /// For how many elements the value is not zero, or the condition holds.
        count, Count;
        /// Where the least value stands first.
        argmin, ArgMin;
        /// Where the greatest value stands first.
        argmax, ArgMax;
    }
}
