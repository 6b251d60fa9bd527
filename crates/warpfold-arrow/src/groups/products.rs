//! [`ProductsByKey`]: products of each key. Those of integers come in any order; those of floats along the tree of their places among the rows of the key, and so in
//! the order of rows.

use warpfold_exact::AnyPartial;
use warpfold_exact::partial::{IntegerProduct, Partial, Product, Reals, join_of};
use warpfold_exact::tree::Interval;
use warpfold_num::{DType, Element, Nan, bf16, f16, with_element};

/// Products of keys that are numbers from 0 on.
#[derive(Debug)]
pub(super) struct ProductsByKey {
    dtype: DType,
    nan: Nan,
    groups: Groups,
    values: u64,
}

#[derive(Debug)]
enum Groups {
    Integers(Vec<IntegerProduct>),
    Reals(Reals, Vec<RealGroup>),
}

/// Rows of a key from its first on, and how many of them have a value.
#[derive(Debug, Clone)]
struct RealGroup {
    rows: Interval<Reals>,
    values: u64,
}

impl ProductsByKey {
    /// Groups of nothing, of real elements.
    pub(super) fn new(dtype: DType, nan: Nan) -> ProductsByKey {
        let groups = match dtype.is_float() {
            false => Groups::Integers(Vec::new()),
            true => {
                let join = with_element!(dtype, T => join_of::<T>());
                Groups::Reals(Reals { join }, Vec::new())
            }
        };
        ProductsByKey { dtype, nan, groups, values: 0 }
    }

    /// Whether rows have to come in their order.
    pub(super) fn is_ordered(&self) -> bool {
        matches!(self.groups, Groups::Reals(..))
    }

    /// Values taken in so far.
    pub(super) fn values(&self) -> u64 {
        self.values
    }

    /// Takes in the next rows, of which some, ascending, have no value.
    pub(super) fn push(&mut self, numbers: &[u64], bytes: &[u8], none: &[u64]) {
        self.values += (numbers.len() - none.len()) as u64;
        let ProductsByKey { dtype, nan, groups, .. } = self;
        let numbers = numbers.iter().map(|&number| number as usize);
        match groups {
            Groups::Integers(all) => {
                for (number, factor) in numbers.zip(factors(*dtype, bytes)) {
                    at(all, number, IntegerProduct::ONE).merge(&factor);
                }
            }
            Groups::Reals(operator, all) => {
                let mut none = none.iter().peekable();
                for ((row, number), leaf) in (0..).zip(numbers).zip(leaves(*dtype, bytes)) {
                    let nothing = RealGroup { rows: Interval::new(0), values: 0 };
                    let group = at(all, number, nothing);
                    // Ones keep the places of what is ignored.
                    let is_ignored = *nan == Nan::Ignore && leaf.is_nan();
                    group.rows.leaf(*operator, if is_ignored { 1.0 } else { leaf });
                    group.values += u64::from(none.next_if_eq(&&row).is_none());
                }
            }
        }
    }

    /// Takes in the groups of others, whose keys have other numbers here.
    ///
    /// # Panics
    /// If rows have to come in their order, and there are some.
    pub(super) fn merge(&mut self, other: Self, number: impl Fn(u64) -> u64) {
        self.values += other.values;
        match (&mut self.groups, other.groups) {
            (Groups::Integers(mine), Groups::Integers(others)) => {
                for (old, factor) in (0..).zip(others) {
                    at(mine, number(old) as usize, IntegerProduct::ONE).merge(&factor);
                }
            }
            (_, Groups::Reals(_, others)) if others.is_empty() => {}
            _ => panic!("rows of floats are multiplied in their order"),
        }
    }

    /// The numbers of all keys.
    pub(super) fn numbers(&self) -> Vec<u64> {
        let n = match &self.groups {
            Groups::Integers(all) => all.len(),
            Groups::Reals(_, all) => all.len(),
        };
        (0..n as u64).collect()
    }

    /// Whether a key has a value.
    pub(super) fn has_value(&self, number: u64) -> bool {
        match &self.groups {
            Groups::Integers(_) => true,
            Groups::Reals(_, all) => all[number as usize].values > 0,
        }
    }

    /// The partial of a key.
    pub(super) fn partial(&self, number: u64) -> AnyPartial {
        with_element!(self.dtype, T => AnyPartial::from(self.product::<T>(number as usize)))
    }

    fn product<T: Element>(&self, number: usize) -> Partial<T> {
        Partial::Product(Box::new(match &self.groups {
            Groups::Integers(all) => Product::integer(all[number]),
            Groups::Reals(_, all) => Product::of_reals([all[number].rows.clone()]),
        }))
    }
}

/// The group of a number, behind which those up to it are made.
fn at<G: Clone>(groups: &mut Vec<G>, number: usize, nothing: G) -> &mut G {
    if number >= groups.len() {
        groups.resize(number + 1, nothing);
    }
    &mut groups[number]
}

/// Integers as products of one.
fn factors(dtype: DType, bytes: &[u8]) -> Vec<IntegerProduct> {
    let factor = |x: i128| {
        let magnitude = x.unsigned_abs();
        IntegerProduct { magnitude, low: magnitude as u64, negative: x < 0 }
    };
    macro_rules! of {
        ($($name:ident: $ty:ty),+) => {
            match dtype {
                $(DType::$name => super::elements::<$ty>(bytes).iter().map(|&x| factor(x.into())).collect(),)+
                other => unreachable!("{other} is no integer"),
            }
        };
    }
    of!(Bool: bool, I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64)
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
