//! [`State`]: what the groups of a reduction are so far.

use warpfold_engine::PartialsByKey;
use warpfold_exact::partial::IntegerProduct;
use warpfold_num::{DType, Op, Policy};

use super::products::ProductsByKey;
use super::ranked::Ranked;
use super::stats::StatsByKey;
use crate::Result;
use crate::decimal::Decimals;
use crate::form::Form;

/// What groups are so far, by what their results need.
#[derive(Debug)]
pub(super) enum State {
    Partials(PartialsByKey),
    Stats(Box<StatsByKey>),
    Decimals(Ranked<Decimals>),
    Integers(DType, Ranked<IntegerProduct>),
    Products(ProductsByKey),
}

impl State {
    pub(super) fn of(op: Op, form: &Form, policy: Policy) -> State {
        let Some(dtype) = form.dtype() else { return State::Decimals(Ranked::new()) };
        const REAL: &str = "elements of columns are real";
        match op {
            Op::Prod if dtype.is_float() => State::Products(ProductsByKey::new(dtype, policy.nan)),
            Op::Prod => State::Integers(dtype, Ranked::new()),
            Op::Stats => State::Stats(StatsByKey::new(dtype, policy).expect(REAL).into()),
            op => State::Partials(PartialsByKey::new(op, dtype, policy).expect(REAL)),
        }
    }

    /// Whether it asks for the row of each value.
    pub(super) fn asks_for_rows(&self) -> bool {
        match self {
            State::Partials(partials) => partials.is_placed(),
            State::Stats(_) | State::Decimals(_) => true,
            State::Integers(..) | State::Products(_) => false,
        }
    }

    /// Values taken in so far.
    pub(super) fn values(&self) -> u64 {
        match self {
            State::Partials(partials) => partials.rows(),
            State::Stats(stats) => stats.rows(),
            State::Decimals(decimals) => decimals.rows(),
            State::Integers(_, products) => products.rows(),
            State::Products(products) => products.values(),
        }
    }

    /// Takes in the groups of others, whose keys have other ranks here.
    pub(super) fn merge(&mut self, other: State, rank: impl Fn(u64) -> u64) -> Result<()> {
        match (self, other) {
            (State::Partials(mine), State::Partials(others)) => mine.merge(others, rank)?,
            (State::Stats(mine), State::Stats(others)) => mine.merge(*others, rank)?,
            (State::Decimals(mine), State::Decimals(others)) => mine.merge(others, rank),
            (State::Integers(_, mine), State::Integers(_, others)) => mine.merge(others, rank),
            (State::Products(mine), State::Products(others)) => mine.merge(others)?,
            _ => panic!("groups of another reduction"),
        }
        Ok(())
    }
}
