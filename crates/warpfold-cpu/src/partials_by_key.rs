//! [`PartialsByKey`]: exact partials of groups as their rows come, in memory for groups and not for rows.

mod kinds;
mod moments;
mod places;
mod results;
mod table;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::sync::Mutex;

use crate::Columns;
use crate::batch::{IntegerSums, Nonzero, Tally};
use crate::kernels::Kernels;
use crate::parts::allowed;
use crate::read::SumState;
use crate::threads::each;
use crate::{elements, facts};
use kinds::{Kind, LeastAndGreatest, Pairs};
use moments::{Nearly, SumAndSquares};
use places::FirstOfEach;
use table::Table;
use warpfold_exact::AnyPartial;
use warpfold_exact::partial::{Finish, Partial};
use warpfold_num::element::Ordered;
use warpfold_num::{
    DType, Element, Empty, Error, Nan, Op, PartialKind, Policy, Result, Value, bf16, f16,
};
use warpfold_plan::HostArray;
use warpfold_plan::plan::Isa;

/// Results that a thread reads at a time.
const CHUNK: usize = 1 << 14;

/// A reduction of real elements for each key, exact: the bits are the same in any order of the rows, and whatever shares of them were taken in apart.
///
/// Sums, means and norms, moments, extremes and where they stand first, and counts: all but products, and stats, which are several of these.
///
/// Keys are numbers of 64 bits, as their ranks ([`Key::rank`](warpfold_plan::group::Key)) are. A group takes 43 to 64 bytes (var, std, l2, sumsq, argmin and argmax: 85 to 128), and as much again
/// while the table grows; and some 300 more (900) where its numbers are spread over more bits than two f64 hold, or one is a NaN.
pub struct PartialsByKey {
    op: Op,
    dtype: DType,
    threads: usize,
    groups: Groups,
    rows: u64,
}

/// Elements are folded as the widest of their kind.
enum Groups {
    Floats(Tables<f64>),
    Signed(Tables<i64>),
    Unsigned(Tables<u64>),
}

/// The groups of elements of a type, by what is known of each.
enum Tables<T: Wide> {
    Totals(Table<T::Totals, T>),
    Moments(Table<T::Moments, T>),
    Ends(Table<LeastAndGreatest, T>),
    Counts(Table<T::Counts, T>),
    Places(Table<FirstOfEach, T>),
}

/// The widest type of a kind, and how its sums, moments and counts are kept.
trait Wide: Kernels<Component = Self> + Ordered {
    type Totals: Kind<Self, Small: SumState>;
    type Moments: Kind<Self, Small: Nearly>;
    type Counts: Kind<Self, Small = Tally>;

    /// Sums of values, or of magnitudes.
    fn totals(op: Op) -> Self::Totals;
    fn moments() -> Self::Moments;
    fn counts(nan: Nan) -> Self::Counts;
    /// The number that a magnitude is.
    fn size(magnitude: Self::Magnitude) -> Value;
}

macro_rules! wide {
    ($($ty:ty: $sums:ty, $magnitude:ident => $size:expr;)+) => {$(
        impl Wide for $ty {
            type Totals = $sums;
            type Moments = SumAndSquares;
            type Counts = Nonzero<u64, 1>;

            fn totals(op: Op) -> $sums {
                if op == Op::L1 { <$sums>::norm1() } else { <$sums>::values() }
            }

            fn moments() -> SumAndSquares {
                SumAndSquares
            }

            fn counts(nan: Nan) -> Nonzero<u64, 1> {
                let infinite = <$ty>::INFINITE.filter(|_| nan == Nan::Ignore);
                Nonzero { mask: u64::MAX >> u32::from(<$ty>::DTYPE.is_float()), infinite }
            }

            fn size($magnitude: u64) -> Value {
                $size
            }
        }
    )+};
}
wide! {
    f64: Pairs, bits => Value::F64(f64::from_bits(bits));
    i64: IntegerSums<i64>, size => Value::U64(size);
    u64: IntegerSums<u64>, size => Value::U64(size);
}

/// Runs an expression with a table, whatever is in it.
macro_rules! with_table {
    ($tables:expr, $table:ident => $body:expr) => {
        match $tables {
            Tables::Totals($table) => $body,
            Tables::Moments($table) => $body,
            Tables::Ends($table) => $body,
            Tables::Counts($table) => $body,
            Tables::Places($table) => $body,
        }
    };
}

/// Runs an expression with the tables, of whatever type.
macro_rules! with_groups {
    ($groups:expr, $tables:ident => $body:expr) => {
        match $groups {
            Groups::Floats($tables) => $body,
            Groups::Signed($tables) => $body,
            Groups::Unsigned($tables) => $body,
        }
    };
}

impl<T: Wide> Tables<T> {
    fn new(op: Op, nan: Nan, isa: Isa) -> Option<Self> {
        Some(match op.partial() {
            PartialKind::Sum | PartialKind::Norm1 => {
                Tables::Totals(Table::new(T::totals(op), op, nan, isa))
            }
            PartialKind::Moments => Tables::Moments(Table::new(T::moments(), op, nan, isa)),
            PartialKind::Extremes if matches!(op, Op::ArgMin | Op::ArgMax) => {
                Tables::Places(Table::new(FirstOfEach, op, nan, isa))
            }
            PartialKind::Extremes | PartialKind::Magnitude => {
                Tables::Ends(Table::new(LeastAndGreatest, op, nan, isa))
            }
            PartialKind::Count => Tables::Counts(Table::new(T::counts(nan), op, nan, isa)),
            _ => return None,
        })
    }

    fn push(&mut self, ranks: &[u64], x: &[T], places: &[u64]) -> Result<()> {
        with_table!(self, table => table.push(ranks, x, places))
    }

    fn merge(&mut self, other: Self, rank: impl Fn(u64) -> u64) -> Result<()> {
        match (self, other) {
            (Tables::Totals(mine), Tables::Totals(others)) => mine.merge(others, rank),
            (Tables::Moments(mine), Tables::Moments(others)) => mine.merge(others, rank),
            (Tables::Ends(mine), Tables::Ends(others)) => mine.merge(others, rank),
            (Tables::Counts(mine), Tables::Counts(others)) => mine.merge(others, rank),
            (Tables::Places(mine), Tables::Places(others)) => mine.merge(others, rank),
            _ => panic!("groups of another reduction"),
        }
    }

    fn ranks(&self) -> Vec<u64> {
        with_table!(self, table => table.ranks().collect())
    }

    fn partial(&self, rank: u64) -> Partial<T> {
        with_table!(self, table => table.partial(rank))
    }

    fn size(&self, rank: u64) -> u64 {
        with_table!(self, table => table.size(rank))
    }
}

impl fmt::Debug for PartialsByKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} rows of {} by key", self.op, self.rows, self.dtype)
    }
}

impl PartialsByKey {
    /// Groups of nothing; `None` of complex elements, of products and of stats.
    pub fn new(op: Op, dtype: DType, policy: Policy) -> Option<Self> {
        if dtype.is_complex() {
            return None;
        }
        let (nan, isa) = (policy.nan, policy.isa.unwrap_or(facts().isa));
        let groups = match dtype {
            _ if dtype.is_float() => Groups::Floats(Tables::new(op, nan, isa)?),
            DType::Bool | DType::U8 | DType::U16 | DType::U32 | DType::U64 => {
                Groups::Unsigned(Tables::new(op, nan, isa)?)
            }
            _ => Groups::Signed(Tables::new(op, nan, isa)?),
        };
        Some(PartialsByKey { op, dtype, threads: allowed(policy), groups, rows: 0 })
    }

    /// Rows taken in so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Whether it asks for places of elements: their first ones are its results.
    pub fn is_placed(&self) -> bool {
        matches!(self.op, Op::ArgMin | Op::ArgMax)
    }

    /// Takes in the next rows; where it [asks for places](Self::is_placed), with the place of each.
    ///
    /// # Errors
    /// [`Error::Shape`] if there is no memory for so many groups.
    ///
    /// # Panics
    /// If there is not one key for each element, or these are of another type, or there is not a place for each that is asked for.
    pub fn push(&mut self, ranks: &[u64], x: HostArray<'_>, places: &[u64]) -> Result<()> {
        assert_eq!(ranks.len(), x.len(), "there is a key for each element");
        assert_eq!(x.dtype(), self.dtype, "elements are of the type that was named");
        assert!(!self.is_placed() || places.len() == x.len(), "there is a place for each element");
        self.rows += x.len() as u64;
        match &mut self.groups {
            Groups::Floats(tables) => tables.push(ranks, &widened(&x, floats), places),
            Groups::Signed(tables) => tables.push(ranks, &widened(&x, signed), places),
            Groups::Unsigned(tables) => tables.push(ranks, &widened(&x, unsigned), places),
        }
    }

    /// Takes in the groups of others, whose keys have other ranks here.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    ///
    /// # Panics
    /// If these are of another type.
    pub fn merge(&mut self, other: Self, rank: impl Fn(u64) -> u64) -> Result<()> {
        self.rows += other.rows;
        match (&mut self.groups, other.groups) {
            (Groups::Floats(mine), Groups::Floats(others)) => mine.merge(others, rank),
            (Groups::Signed(mine), Groups::Signed(others)) => mine.merge(others, rank),
            (Groups::Unsigned(mine), Groups::Unsigned(others)) => mine.merge(others, rank),
            _ => panic!("groups of {} are none of {}", other.dtype, self.dtype),
        }
    }

    /// The ranks of all keys, ascending.
    pub fn ranks(&self) -> Vec<u64> {
        let mut ranks = with_groups!(&self.groups, tables => tables.ranks());
        let share = ranks.len().div_ceil(self.threads).max(CHUNK);
        each(self.threads, ranks.chunks_mut(share), <[u64]>::sort_unstable);
        // A stable sort merges what is sorted already.
        ranks.sort();
        ranks
    }

    /// The results of keys that there are, by name, in the order of these ranks, and the places of those that have none where `empty` makes gaps of them.
    ///
    /// # Errors
    /// [`Error::Output`] with the place among these of the first that has none; [`Error::Unsupported`].
    pub fn finish(
        &self,
        ranks: &[u64],
        finish: Finish,
        empty: Empty,
    ) -> Result<(Columns, Vec<u64>)> {
        self.finish_as(self.op, ranks, finish, empty)
    }

    /// The results of another reduction that the same partials tell: the mean beside the sum, the deviation beside the variance.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    ///
    /// # Panics
    /// If they do not tell it.
    pub fn finish_as(
        &self,
        op: Op,
        ranks: &[u64],
        finish: Finish,
        empty: Empty,
    ) -> Result<(Columns, Vec<u64>)> {
        assert_eq!(op.partial(), self.op.partial(), "{} tells nothing of {op}", self.op);
        // Refused for none as for many, and by the type that was asked for.
        if finish.round_to.is_some()
            && let Err(error @ Error::Unsupported { .. }) =
                AnyPartial::empty(op, self.dtype).finish(op, finish)
        {
            return Err(error);
        }
        let gaps = Mutex::new(Vec::new());
        let columns = with_groups!(&self.groups, tables => self.columns(op, tables, ranks, finish, (empty, &gaps)))?;
        let mut gaps = gaps.into_inner().unwrap_or_else(|poison| poison.into_inner());
        gaps.sort_unstable();
        Ok((columns, gaps))
    }

    /// The partial of a key that there is, of the widest type of the elements' kind.
    pub fn partial(&self, rank: u64) -> AnyPartial {
        with_groups!(&self.groups, tables => tables.partial(rank).into())
    }

    /// Elements of a key that there is, NaN among them.
    pub fn size(&self, rank: u64) -> u64 {
        with_groups!(&self.groups, tables => tables.size(rank))
    }
}

/// Elements as the widest of their kind.
fn widened<'a, T: Kernels>(x: &HostArray<'a>, widen: fn(&HostArray<'_>) -> Vec<T>) -> Cow<'a, [T]> {
    x.slice().map_or_else(|| Cow::Owned(widen(x)), Cow::Borrowed)
}

/// A function that widens elements of some types.
macro_rules! widen {
    ($name:ident to $wide:ty: $($ty:ty),+) => {
        fn $name(x: &HostArray<'_>) -> Vec<$wide> {
            match x.dtype() {
                $(<$ty as Element>::DTYPE => elements::<$ty>(x).iter().map(|&x| x.into()).collect(),)+
                other => unreachable!("{other} is widened to another type"),
            }
        }
    };
}
widen!(floats to f64: f16, bf16, f32);
widen!(signed to i64: i8, i16, i32);
widen!(unsigned to u64: bool, u8, u16, u32);
