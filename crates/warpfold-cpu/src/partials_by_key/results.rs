//! From what slots hold to columns of results; what a slot does not tell is read of a partial.

use std::sync::Mutex;

use super::kinds::{Ends, Kind};
use super::moments::Nearly;
use super::table::Table;
use super::{CHUNK, PartialsByKey, Tables, Wide};
use crate::Columns;
use crate::batch::{Approximate, Ending, Read};
use crate::kernels::Kernels;
use crate::read::{
    Collect, CollectMoments, CountTrue, Moment, MomentState, Sum, SumState, Values, Whether,
};
use crate::threads::map;
use warpfold_exact::partial::{Finish, Output};
use warpfold_num::double_double::DoubleDouble;
use warpfold_num::error::At;
use warpfold_num::{Column, DType, Empty, Error, Op, Result, Scalar, Value, bf16, f16};

impl PartialsByKey {
    /// The results of keys that there are.
    pub(super) fn columns<T: Wide>(
        &self,
        op: Op,
        tables: &Tables<T>,
        ranks: &[u64],
        finish: Finish,
        (empty, gaps): (Empty, &Mutex<Vec<u64>>),
    ) -> Result<Columns> {
        let to = op.result_dtype(self.dtype, finish.round_to);
        // The table's elements would be rounded to the widest of their kind.
        let round_to = to.filter(|to| to.is_float() && op.is_rounded());
        let of_partials = Finish { round_to: finish.round_to.or(round_to), ..finish };
        let ending = &Ending::of::<T>(op, of_partials, empty);
        let column = match tables {
            Tables::Totals(table) => {
                let groups = || Groups { op, table, ranks, ending, gaps, all: self };
                let rounded = if self.is_narrow() { DType::F32 } else { DType::F64 };
                let sum = Sum::of(op).unwrap_or_else(|| unreachable!("{op} is no sum"));
                let column = SumState::column(sum, finish.round_to, [rounded, T::DTYPE], groups());
                column.unwrap_or_else(|| groups().by_value(|_, _| None).map(Column::of_values))?
            }
            Tables::Moments(table) => {
                let groups = || Groups { op, table, ranks, ending, gaps, all: self };
                let what = Moment::new(op, finish.ddof);
                let to = to.unwrap_or(self.dtype);
                let column = Approximate::<DoubleDouble, 1>::column(what, to, false, groups());
                column.unwrap_or_else(|| groups().by_value(|_, _| None).map(Column::of_values))?
            }
            Tables::Counts(table) => {
                let groups = Groups { op, table, ranks, ending, gaps, all: self };
                match op {
                    Op::Count => groups.collect(CountTrue)?,
                    _ => groups.collect(Whether(op))?,
                }
            }
            Tables::Places(table) => {
                let groups = Groups { op, table, ranks, ending, gaps, all: self };
                let values = groups.by_value(|small, _| {
                    let ([least, greatest], places) = (small.values::<T>(), small.places());
                    Some(match op {
                        Op::ArgMin => places[0],
                        Op::ArgMax => places[1],
                        Op::Min => least,
                        _ => greatest,
                    })
                })?;
                let is_place = matches!(op, Op::ArgMin | Op::ArgMax);
                let own = |value| if is_place { value } else { self.narrow(op, value) };
                Column::of_values(values.into_iter().map(own).collect())
            }
            Tables::Ends(table) => {
                let groups = Groups { op, table, ranks, ending, gaps, all: self };
                return self.extremes(&groups, finish);
            }
        };
        Ok(vec![(op.name(), column)])
    }

    fn extremes<K, T>(&self, groups: &Groups<'_, K, T>, finish: Finish) -> Result<Columns>
    where
        K: Kind<T, Small = Ends<T::Key>>,
        T: Wide,
    {
        let op = self.op;
        let both = |small: &Ends<T::Key>, _| Some(small.values::<T>().map(|x| self.narrow(op, x)));
        let of_output = |output| match output {
            Output::Pair(least, greatest) => [least, greatest].map(|x| self.narrow(op, x)),
            Output::One(value) => [self.narrow(op, value); 2],
            other => unreachable!("extremes are one number or two, not {other:?}"),
        };
        if op == Op::Linf {
            let is_natural = finish.round_to.is_none();
            let values = groups.by_value(|small, _| {
                is_natural.then(|| self.narrow(op, T::size(small.magnitude::<T>())))
            })?;
            return Ok(vec![(op.name(), Column::of_values(values))]);
        }
        let found = groups.read(both, of_output)?;
        let end = |at: usize| Column::of_values(found.iter().map(|ends| ends[at]).collect());
        Ok(match op {
            Op::Min => vec![(op.name(), end(0))],
            Op::Max => vec![(op.name(), end(1))],
            _ => vec![("min", end(0)), ("max", end(1))],
        })
    }

    fn is_narrow(&self) -> bool {
        matches!(self.dtype, DType::F16 | DType::BF16 | DType::F32)
    }

    /// An element of the widest type of its kind as what it was; the largest magnitude as what it is rounded to, which is exact.
    fn narrow(&self, op: Op, value: Value) -> Value {
        let to = op.result_dtype(self.dtype, None).unwrap_or(self.dtype);
        match (value, to) {
            (Value::F64(x), DType::F32) => Value::F32(x as f32),
            (Value::F64(x), DType::F16) => Value::F16(f16::from_f64(x)),
            (Value::F64(x), DType::BF16) => Value::BF16(bf16::from_f64(x)),
            (Value::I64(x), DType::I8) => Value::I8(x as i8),
            (Value::I64(x), DType::I16) => Value::I16(x as i16),
            (Value::I64(x), DType::I32) => Value::I32(x as i32),
            (Value::U64(x), DType::Bool) => Value::Bool(x != 0),
            (Value::U64(x), DType::U8) => Value::U8(x as u8),
            (Value::U64(x), DType::U16) => Value::U16(x as u16),
            (Value::U64(x), DType::U32) => Value::U32(x as u32),
            (value, _) => value,
        }
    }

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

/// Groups whose results are read.
struct Groups<'g, K: Kind<T>, T: Kernels> {
    op: Op,
    table: &'g Table<K, T>,
    ranks: &'g [u64],
    ending: &'g Ending,
    /// Places without a result, where that is no error and nothing stands for it.
    gaps: &'g Mutex<Vec<u64>>,
    all: &'g PartialsByKey,
}

impl<K: Kind<T>, T: Kernels> Groups<'_, K, T> {
    /// Reads slots, and partials where these do not tell.
    fn read<R: Copy + Send>(
        &self,
        small: impl Fn(&K::Small, u64) -> Option<R> + Sync,
        finished: impl Fn(Output) -> R + Sync,
    ) -> Result<Vec<R>> {
        let parts = map(self.all.threads, self.ranks.chunks(CHUNK).enumerate(), |(k, ranks)| {
            let read = |(at, &rank)| {
                let known = self.table.small(rank).and_then(|(slot, count)| small(slot, count));
                let place = k * CHUNK + at;
                known.map_or_else(|| self.output(place, rank).map(&finished), Ok)
            };
            ranks.iter().enumerate().map(read).collect::<Result<Vec<_>>>()
        });
        let mut all = Vec::with_capacity(self.ranks.len());
        for part in parts {
            all.extend(part?);
        }
        Ok(all)
    }

    /// The result of a group by its partial, or what stands for it.
    fn output(&self, place: usize, rank: u64) -> Result<Output> {
        let Ending { finish, empty, stand_in, .. } = self.ending;
        let error = match self.table.finish(self.op, rank, *finish) {
            Ok(output) => return Ok(output),
            Err(error) => error,
        };
        match (&error, stand_in) {
            (Error::Empty { .. } | Error::TooFew { .. }, Some(stand_in)) => {
                if *empty == Empty::None {
                    let mut gaps = self.gaps.lock().unwrap_or_else(|poison| poison.into_inner());
                    gaps.push(place as u64);
                }
                Ok(stand_in.clone())
            }
            _ => Err(self.all.failed(place, error)),
        }
    }

    /// The same of results whose type is known at run time.
    fn by_value(
        &self,
        small: impl Fn(&K::Small, u64) -> Option<Value> + Sync,
    ) -> Result<Vec<Value>> {
        self.read(small, |output| Read::<()>::finished(&Values, output))
    }
}

impl<K: Kind<T>, T: Kernels> Collect<K::Small> for Groups<'_, K, T> {
    type Of = Result<Column>;

    fn collect<D: Read<K::Small, Result: Scalar> + 'static>(self, reader: D) -> Result<Column> {
        let read = |small: &K::Small, count| reader.small(small, count);
        Ok(Column::of(self.read(read, |output| reader.finished(output))?))
    }
}

impl<K: Kind<T, Small: Nearly>, T: Kernels>
    CollectMoments<Approximate<f64, 1>, Approximate<DoubleDouble, 1>> for Groups<'_, K, T>
{
    type Of = Result<Column>;

    fn in_turn<D>(self, reader: D) -> Result<Column>
    where
        D: Read<Approximate<f64, 1>, Result: Scalar>
            + Read<Approximate<DoubleDouble, 1>, Result = <D as Read<Approximate<f64, 1>>>::Result>
            + 'static,
    {
        self.second::<D>(reader)
    }

    fn second<D: Read<Approximate<DoubleDouble, 1>, Result: Scalar> + 'static>(
        self,
        reader: D,
    ) -> Result<Column> {
        let read = |small: &K::Small, count| reader.small(&small.nearly(), count);
        Ok(Column::of(self.read(read, |output| reader.finished(output))?))
    }
}
