//! [`SumsByKey`]: exact sums of groups as their rows come, in memory for groups and not for rows.

mod table;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use crate::batch::{FloatSums, IntegerSums, IntoPartial, LaneOperation, Read};
use crate::kernels::Kernels;
use crate::parts::allowed;
use crate::read::{Collect, Sum, SumState, Values};
use crate::threads::{each, map};
use crate::{elements, facts};
use table::Table;
use warpfold_exact::AnyPartial;
use warpfold_exact::partial::Finish;
use warpfold_num::error::At;
use warpfold_num::{Column, DType, Element, Error, Op, Policy, Result, Scalar, bf16, f16};
use warpfold_plan::HostArray;

/// Results that a thread reads at a time.
const CHUNK: usize = 1 << 14;

/// The sum or the mean of real elements for each key, exact: the bits are the same in any order of the rows, and whatever shares of them were taken in apart.
///
/// Keys are numbers of 64 bits, as their ranks ([`Key::rank`](warpfold_plan::group::Key)) are. A group takes 43 to 64 bytes, and as much again while the table grows; and
/// some 300 more where its numbers are spread over more bits than two f64 hold.
pub struct SumsByKey {
    op: Op,
    dtype: DType,
    threads: usize,
    sums: Sums,
    rows: u64,
}

/// Sums of narrower elements are those of the widest of their kind.
enum Sums {
    Floats(Table<FloatSums<f64, 1, 1, 32>, f64>),
    Signed(Table<IntegerSums<i64>, i64>),
    Unsigned(Table<IntegerSums<u64>, u64>),
}

impl fmt::Debug for SumsByKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} rows of {} by key", self.op, self.rows, self.dtype)
    }
}

impl SumsByKey {
    /// Sums of nothing; `None` of complex elements, and of all reductions but sum and mean.
    pub fn new(op: Op, dtype: DType, policy: Policy) -> Option<Self> {
        if !matches!(op, Op::Sum | Op::Mean) || dtype.is_complex() {
            return None;
        }
        let (nan, isa) = (policy.nan, policy.isa.unwrap_or(facts().isa));
        let sums = match dtype {
            _ if dtype.is_float() => Sums::Floats(Table::new(FloatSums::values(), op, nan, isa)),
            DType::Bool | DType::U8 | DType::U16 | DType::U32 | DType::U64 => {
                Sums::Unsigned(Table::new(IntegerSums::values(), op, nan, isa))
            }
            _ => Sums::Signed(Table::new(IntegerSums::values(), op, nan, isa)),
        };
        Some(SumsByKey { op, dtype, threads: allowed(policy), sums, rows: 0 })
    }

    /// Rows taken in so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Takes in the next rows.
    ///
    /// # Errors
    /// [`Error::Shape`] if there is no memory for so many groups.
    ///
    /// # Panics
    /// If there is not one key for each element, or these are of another type.
    pub fn push(&mut self, ranks: &[u64], x: HostArray<'_>) -> Result<()> {
        assert_eq!(ranks.len(), x.len(), "there is a key for each element");
        assert_eq!(x.dtype(), self.dtype, "elements are of the type that was named");
        self.rows += x.len() as u64;
        match &mut self.sums {
            Sums::Floats(table) => {
                table.push(ranks, &widened(&x, floats), |x| bytemuck::cast_slice(x))
            }
            Sums::Signed(table) => table.push(ranks, &widened(&x, signed), |x| x),
            Sums::Unsigned(table) => table.push(ranks, &widened(&x, unsigned), |x| x),
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
        match (&mut self.sums, other.sums) {
            (Sums::Floats(mine), Sums::Floats(others)) => mine.merge(others, rank),
            (Sums::Signed(mine), Sums::Signed(others)) => mine.merge(others, rank),
            (Sums::Unsigned(mine), Sums::Unsigned(others)) => mine.merge(others, rank),
            _ => panic!("sums of {} are none of {}", other.dtype, self.dtype),
        }
    }

    /// The ranks of all keys, ascending.
    pub fn ranks(&self) -> Vec<u64> {
        let mut ranks: Vec<u64> = match &self.sums {
            Sums::Floats(table) => table.ranks().collect(),
            Sums::Signed(table) => table.ranks().collect(),
            Sums::Unsigned(table) => table.ranks().collect(),
        };
        let share = ranks.len().div_ceil(self.threads).max(CHUNK);
        each(self.threads, ranks.chunks_mut(share), <[u64]>::sort_unstable);
        // A stable sort merges what is sorted already.
        ranks.sort();
        ranks
    }

    /// The results of keys that there are, in the order of these ranks.
    ///
    /// # Errors
    /// [`Error::Output`] with the place among these of the first that has none; [`Error::Unsupported`].
    pub fn finish(&self, ranks: &[u64], finish: Finish) -> Result<Column> {
        // Refused for none as for many, and by the type that was asked for.
        if finish.round_to.is_some()
            && let Err(error @ Error::Unsupported { .. }) =
                AnyPartial::empty(self.op, self.dtype).finish(self.op, finish)
        {
            return Err(error);
        }
        match &self.sums {
            Sums::Floats(table) => self.column(table, DType::F64, ranks, finish),
            Sums::Signed(table) => self.column(table, DType::I64, ranks, finish),
            Sums::Unsigned(table) => self.column(table, DType::U64, ranks, finish),
        }
    }

    fn column<K, T>(
        &self,
        table: &Table<K, T>,
        integer: DType,
        ranks: &[u64],
        finish: Finish,
    ) -> Result<Column>
    where
        K: LaneOperation<Small: IntoPartial<T> + SumState>,
        T: Kernels,
    {
        let sum = if self.op == Op::Sum { Sum::Total } else { Sum::Mean };
        let is_narrow = matches!(self.dtype, DType::F16 | DType::BF16 | DType::F32);
        let rounded = if is_narrow { DType::F32 } else { DType::F64 };
        let is_integer = sum == Sum::Total && !self.dtype.is_float();
        let natural = (!is_integer).then_some(rounded);
        // The table's elements would be rounded to the widest of their kind.
        let of_partials = Finish { round_to: finish.round_to.or(natural), ..finish };
        let groups = || Groups { table, ranks, finish: of_partials, sums: self };
        let column = K::Small::column(sum, finish.round_to, [rounded, integer], groups());
        column.unwrap_or_else(|| Ok(Column::of_values(groups().read(&Values)?)))
    }
}

/// Groups whose results are read.
struct Groups<'g, K: LaneOperation, T: Kernels> {
    table: &'g Table<K, T>,
    ranks: &'g [u64],
    finish: Finish,
    sums: &'g SumsByKey,
}

impl<K: LaneOperation<Small: IntoPartial<T>>, T: Kernels> Groups<'_, K, T> {
    fn read<D: Read<K::Small>>(&self, reader: &D) -> Result<Vec<D::Result>> {
        let parts = map(self.sums.threads, self.ranks.chunks(CHUNK).enumerate(), |(k, ranks)| {
            let read = |(at, &rank)| {
                let failed = |error| self.sums.failed(k * CHUNK + at, error);
                self.table.read(rank, reader, self.finish).map_err(failed)
            };
            ranks.iter().enumerate().map(read).collect::<Result<Vec<_>>>()
        });
        let mut all = Vec::with_capacity(self.ranks.len());
        for part in parts {
            all.extend(part?);
        }
        Ok(all)
    }
}

impl<K: LaneOperation<Small: IntoPartial<T>>, T: Kernels> Collect<K::Small> for Groups<'_, K, T> {
    fn collect<D: Read<K::Small, Result: Scalar>>(self, reader: D) -> Result<Column> {
        Ok(Column::of(self.read(&reader)?))
    }
}

impl SumsByKey {
    /// The error of a group, which names the type that was asked for.
    fn failed(&self, at: usize, error: Error) -> Error {
        let error = match error {
            Error::Overflow { op, value, result, remedy, .. } => {
                Error::Overflow { op, dtype: self.dtype, value, result, remedy }
            }
            other => other,
        };
        Error::Output { output: At::Group(at.to_string()), error: Box::new(error) }
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
