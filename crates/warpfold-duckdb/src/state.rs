//! The exact state of a group: a few floats, or integers, as long as they hold everything, and a wide accumulator for what does not fit.

use std::marker::PhantomData;

use warpfold_engine::{HostArray, Request};
use warpfold_exact::exact::{Expansion, Pair};
use warpfold_exact::partial::Partial;
use warpfold_exact::{Exact, Moments};
use warpfold_num::{Element, Error, Op, Policy, Result};

use crate::function::Function;

/// Bits of the least unit of a DOUBLE.
const UNIT: i32 = -1074;

/// What a function keeps of the rows of a group.
pub(crate) trait State: Default {
    /// What a row gives.
    type Item: Element;

    fn add(&mut self, x: Self::Item);

    /// Adds many rows of one group.
    fn add_all(&mut self, x: &[Self::Item]);

    fn merge(&mut self, other: &Self);
}

/// A state that gives results of a type.
pub(crate) trait Gives<O>: State {
    /// The result, rounded once; `None` is NULL.
    fn give(&self, function: Function) -> Result<Option<O>>;
}

/// The engine's partial; DuckDB has threads of its own.
fn fold<T: Element>(op: Op, x: &[T]) -> Option<Partial<T>> {
    let request = Request::new(op, HostArray::of(x));
    let request = request.policy(Policy { threads: Some(1), ..Policy::default() });
    warpfold_engine::reduce(&request).ok()?.typed()
}

/// A sum of DOUBLE: 106 bits, and what they do not hold.
#[derive(Default)]
pub(crate) struct FloatSum {
    small: Expansion<2>,
    count: u64,
    wide: Option<Box<Exact<f64>>>,
}

impl FloatSum {
    /// The result of two floats, where they hold all.
    fn quick(&self, function: Function) -> Option<f64> {
        let &[high, low] = self.small.terms();
        // Added up, they must be far from overflow.
        if self.wide.is_some() || self.count == 0 || high.abs().max(low.abs()) >= 1e300 {
            return None;
        }
        let sum = Pair { high, low };
        match function {
            Function::Sum => Some(sum.round::<f64>()),
            _ => sum.mean::<f64>(self.count),
        }
    }

    fn combined(&self) -> Exact<f64> {
        let mut all = self.wide.as_deref().cloned().unwrap_or_default();
        all.count += self.count;
        self.small.add_to(&mut all.parts.as_mut()[0], UNIT);
        all
    }
}

impl State for FloatSum {
    type Item = f64;

    #[inline(always)]
    fn add(&mut self, x: f64) {
        match self.small.add(x) {
            true => self.count += 1,
            false => self.wide.get_or_insert_default().add(x),
        }
    }

    fn add_all(&mut self, x: &[f64]) {
        match fold(Op::Sum, x) {
            Some(Partial::Sum(sum)) => self.wide.get_or_insert_default().merge(&sum),
            _ => x.iter().for_each(|&x| self.add(x)),
        }
    }

    fn merge(&mut self, other: &Self) {
        let mut small = self.small;
        if other.wide.is_none() && other.small.terms().iter().all(|&term| small.add(term)) {
            (self.small, self.count) = (small, self.count + other.count);
        } else {
            self.wide.get_or_insert_default().merge(&other.combined());
        }
    }
}

impl Gives<f64> for FloatSum {
    fn give(&self, function: Function) -> Result<Option<f64>> {
        if let Some(given) = self.quick(function) {
            return Ok(Some(given));
        }
        let all = self.combined();
        match function {
            _ if all.count == 0 => Ok(None),
            Function::Sum => Ok(Some(all.round())),
            _ => all.mean().map(Some),
        }
    }
}

/// Sum and sum of squares of DOUBLE.
#[derive(Default)]
pub(crate) struct FloatMoments {
    sum: Expansion<2>,
    squares: Expansion<3>,
    count: u64,
    wide: Option<Box<Moments<f64>>>,
}

impl FloatMoments {
    fn combined(&self) -> Moments<f64> {
        let mut all = self.wide.as_deref().cloned().unwrap_or_default();
        all.count += self.count;
        self.sum.add_to(&mut all.sum.as_mut()[0], UNIT);
        self.squares.add_to(&mut all.squares, 2 * UNIT);
        all
    }
}

impl State for FloatMoments {
    type Item = f64;

    #[inline(always)]
    fn add(&mut self, x: f64) {
        let (mut sum, mut squares) = (self.sum, self.squares);
        if sum.add(x) && squares.add_product(x, x) {
            (self.sum, self.squares, self.count) = (sum, squares, self.count + 1);
        } else {
            self.wide.get_or_insert_default().add(x);
        }
    }

    fn add_all(&mut self, x: &[f64]) {
        match fold(Op::Var, x) {
            Some(Partial::Moments(all)) => self.wide.get_or_insert_default().merge(&all),
            _ => x.iter().for_each(|&x| self.add(x)),
        }
    }

    fn merge(&mut self, other: &Self) {
        let (mut sum, mut squares) = (self.sum, self.squares);
        if other.wide.is_none()
            && other.sum.terms().iter().all(|&term| sum.add(term))
            && other.squares.terms().iter().all(|&term| squares.add(term))
        {
            (self.sum, self.squares, self.count) = (sum, squares, self.count + other.count);
        } else {
            self.wide.get_or_insert_default().merge(&other.combined());
        }
    }
}

impl Gives<f64> for FloatMoments {
    fn give(&self, function: Function) -> Result<Option<f64>> {
        spread(&self.combined(), function)
    }
}

/// A variance, or its root.
fn spread<T: Element<Round = f64>>(all: &Moments<T>, function: Function) -> Result<Option<f64>> {
    let ddof = function.ddof();
    match function {
        _ if all.count <= ddof => Ok(None),
        Function::Var | Function::VarPop => all.var(ddof).map(Some),
        _ => all.std(ddof).map(Some),
    }
}

/// An integer that columns have.
pub(crate) trait Integer:
    Element<Round = f64, With<f64> = f64> + Into<i128> + TryFrom<i128>
{
}

impl Integer for i64 {}
impl Integer for u64 {}

/// A sum of integers of 64 bits, of which fewer than 2^63 cannot fill 128. Two words, as DuckDB aligns states to one.
pub(crate) struct IntegerSum<T> {
    sum: [u64; 2],
    count: u64,
    element: PhantomData<T>,
}

impl<T> Default for IntegerSum<T> {
    fn default() -> Self {
        IntegerSum { sum: [0; 2], count: 0, element: PhantomData }
    }
}

impl<T> IntegerSum<T> {
    fn sum(&self) -> i128 {
        (u128::from(self.sum[1]) << 64 | u128::from(self.sum[0])) as i128
    }

    fn plus(&mut self, sum: i128, count: u64) {
        let sum = self.sum() + sum;
        (self.sum, self.count) = ([sum as u64, (sum >> 64) as u64], self.count + count);
    }
}

impl<T: Integer> State for IntegerSum<T> {
    type Item = T;

    #[inline(always)]
    fn add(&mut self, x: T) {
        self.plus(x.into(), 1);
    }

    fn add_all(&mut self, x: &[T]) {
        self.plus(x.iter().map(|&x| x.into()).sum(), x.len() as u64);
    }

    fn merge(&mut self, other: &Self) {
        self.plus(other.sum(), other.count);
    }
}

impl<T: Integer> Gives<T> for IntegerSum<T> {
    fn give(&self, _: Function) -> Result<Option<T>> {
        let overflow = |_| Error::Overflow {
            op: Op::Sum,
            dtype: T::DTYPE,
            value: self.sum().to_string(),
            result: T::DTYPE.name(),
            remedy: "cast the column to DOUBLE",
        };
        match self.count {
            0 => Ok(None),
            _ => T::try_from(self.sum()).map(Some).map_err(overflow),
        }
    }
}

impl<T: Integer> Gives<f64> for IntegerSum<T> {
    fn give(&self, _: Function) -> Result<Option<f64>> {
        if self.count == 0 {
            return Ok(None);
        }
        let mut all: Exact<T> = Exact { count: self.count, ..Exact::default() };
        all.parts.as_mut()[0].fixed.add_signed(self.sum(), 0);
        all.mean_as::<f64>().map(Some)
    }
}

/// Sum and sum of squares of integers: a wide state for each group.
pub(crate) struct IntegerMoments<T: Element>(Box<Moments<T>>);

impl<T: Element> Default for IntegerMoments<T> {
    fn default() -> Self {
        IntegerMoments(Box::default())
    }
}

impl<T: Integer> State for IntegerMoments<T> {
    type Item = T;

    fn add(&mut self, x: T) {
        self.0.add(x);
    }

    fn add_all(&mut self, x: &[T]) {
        match fold(Op::Var, x) {
            Some(Partial::Moments(all)) => self.0.merge(&all),
            _ => x.iter().for_each(|&x| self.0.add(x)),
        }
    }

    fn merge(&mut self, other: &Self) {
        self.0.merge(&other.0);
    }
}

impl<T: Integer> Gives<f64> for IntegerMoments<T> {
    fn give(&self, function: Function) -> Result<Option<f64>> {
        spread(&self.0, function)
    }
}
