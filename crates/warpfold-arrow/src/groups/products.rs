//! [`ProductsByKey`]: products of floats for each key, along the tree of their places among the rows of the key, and so in the order of rows.

use warpfold_exact::AnyPartial;
use warpfold_exact::partial::{Partial, Product, Reals, join_of};
use warpfold_exact::tree::{Interval, RUN};
use warpfold_num::{DType, Element, Error, Nan, Op, bf16, f16, with_element};

/// Products of keys that are numbers from 0 on.
#[derive(Debug)]
pub(super) struct ProductsByKey {
    dtype: DType,
    nan: Nan,
    operator: Reals,
    groups: Vec<Rows>,
    values: u64,
}

/// Rows of a key from its first on.
#[derive(Debug, Clone)]
struct Rows {
    /// Whole runs of the tree.
    runs: Interval<Reals>,
    /// Fewer than a run.
    last: Vec<f64>,
    /// Rows that have a value.
    values: u64,
}

impl ProductsByKey {
    /// Groups of nothing, of floats.
    pub(super) fn new(dtype: DType, nan: Nan) -> ProductsByKey {
        let join = with_element!(dtype, T => join_of::<T>());
        ProductsByKey { dtype, nan, operator: Reals { join }, groups: Vec::new(), values: 0 }
    }

    /// Values taken in so far.
    pub(super) fn values(&self) -> u64 {
        self.values
    }

    /// Takes in the next rows, of which some, ascending, have no value.
    pub(super) fn push(&mut self, numbers: &[u64], bytes: &[u8], none: &[u64]) {
        self.values += (numbers.len() - none.len()) as u64;
        let mut none = none.iter().peekable();
        for ((row, &number), leaf) in (0..).zip(numbers).zip(leaves(self.dtype, bytes)) {
            let number = number as usize;
            if number >= self.groups.len() {
                let nothing = Rows { runs: Interval::new(0), last: Vec::new(), values: 0 };
                self.groups.resize(number + 1, nothing);
            }
            let group = &mut self.groups[number];
            // Ones keep the places of what is ignored.
            let is_ignored = self.nan == Nan::Ignore && leaf.is_nan();
            group.last.push(if is_ignored { 1.0 } else { leaf });
            group.values += u64::from(none.next_if_eq(&&row).is_none());
            if group.last.len() as u64 == RUN {
                group.last.drain(..).for_each(|leaf| group.runs.leaf(self.operator, leaf));
            }
        }
    }

    /// Takes in the groups of others, of which one side has none.
    ///
    /// # Errors
    /// [`Error::Pieces`] if both have some: rows have to come in their order.
    pub(super) fn merge(&mut self, other: Self) -> Result<(), Error> {
        match (self.groups.is_empty(), other.groups.is_empty()) {
            (_, true) => Ok(()),
            (true, false) => {
                *self = other;
                Ok(())
            }
            (false, false) => Err(Error::Pieces {
                op: Op::Prod,
                dtype: self.dtype,
                obstacle:
                    "floats of a key are multiplied in the order of rows, and two parts have rows"
                        .into(),
                remedy: "group all rows in one call",
            }),
        }
    }

    /// The numbers of all keys.
    pub(super) fn numbers(&self) -> Vec<u64> {
        (0..self.groups.len() as u64).collect()
    }

    /// Whether a key has a value.
    pub(super) fn has_value(&self, number: u64) -> bool {
        self.groups[number as usize].values > 0
    }

    /// The partial of a key.
    pub(super) fn partial(&self, number: u64) -> AnyPartial {
        with_element!(self.dtype, T => self.product::<T>(number as usize).into())
    }

    fn product<T: Element>(&self, number: usize) -> Partial<T> {
        let Rows { runs, last, .. } = &self.groups[number];
        let mut rows = runs.clone();
        last.iter().for_each(|&leaf| rows.leaf(self.operator, leaf));
        Partial::Product(Box::new(Product::of_reals([rows])))
    }
}

/// Floats as leaves of the tree.
fn leaves(dtype: DType, bytes: &[u8]) -> Vec<f64> {
    macro_rules! of {
        ($($name:ident: $ty:ty),+) => {
            match dtype {
                $(DType::$name => super::elements::<$ty>(bytes).iter().map(|&x| x.into()).collect(),)+
                other => unreachable!("{other} is no float"),
            }
        };
    }
    of!(F16: f16, BF16: bf16, F32: f32, F64: f64)
}
