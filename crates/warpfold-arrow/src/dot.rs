//! [`Dot`]: the dot product of two columns, array after array.

use std::borrow::Cow;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use warpfold_engine::{HostArray, Request};
use warpfold_exact::AnyPartial;
use warpfold_exact::partial::Finish;
use warpfold_num::{Accuracy, DType, Op, Policy, f16};

use crate::cell::Fields;
use crate::fold::{look_up, plain, values_type};
use crate::form::number_type;
use crate::saved::{Reader, Saved, check_counts};
use crate::{Error, Result};

/// The dot product of two columns, array after array: of the rows in which both have a value.
///
/// Columns of one type are multiplied as they are. Integers of two types are multiplied as `i64`, or `u64` where both have no sign, and a float with anything
/// else as `f64`; a value that these do not hold exactly is an error.
#[derive(Debug, Clone)]
pub struct Dot {
    columns: [DataType; 2],
    types: [DType; 2],
    common: DType,
    policy: Policy,
    partial: Option<AnyPartial>,
    row: u64,
    values: u64,
}

impl Dot {
    /// A dot product of nothing, of columns of these types.
    ///
    /// # Errors
    /// [`Error::Type`] where they hold no numbers, or one holds booleans and the other does not.
    pub fn new(x: &DataType, y: &DataType, policy: Policy) -> Result<Dot> {
        let columns = [values_type(x).clone(), values_type(y).clone()];
        let refuse =
            |dtype: &DataType, remedy| Error::Type { op: Op::Dot, dtype: dtype.clone(), remedy };
        let number = |dtype: &DataType| {
            let why = "it takes two columns of integers or floats; cast this one to float64, or choose another";
            number_type(dtype).ok_or_else(|| refuse(dtype, why))
        };
        let types = [number(&columns[0])?, number(&columns[1])?];
        let is_float = types.iter().any(|dtype| dtype.is_float());
        let is_signed = types.iter().any(|dtype| dtype.is_signed());
        let common = match types {
            [x, y] if x == y => x,
            [DType::Bool, _] | [_, DType::Bool] => {
                let why = "booleans are multiplied with booleans; cast the column to integers";
                return Err(refuse(&DataType::Boolean, why));
            }
            _ if is_float => DType::F64,
            _ if is_signed => DType::I64,
            _ => DType::U64,
        };
        warpfold_engine::check(Op::Dot, common)?;
        let policy = Policy { accuracy: Accuracy::Exact, ..policy };
        Ok(Dot { columns, types, common, policy, partial: None, row: 0, values: 0 })
    }

    /// Says which row of the whole the next arrays begin with.
    #[must_use]
    pub fn starting_at(mut self, row: u64) -> Dot {
        self.row = row;
        self
    }

    /// The type as which values are multiplied.
    pub fn dtype(&self) -> DType {
        self.common
    }

    /// Rows taken in so far, and those before the first.
    pub fn rows(&self) -> u64 {
        self.row
    }

    /// Products taken in so far: rows in which both have a value.
    pub fn values(&self) -> u64 {
        self.values
    }

    /// Takes in the next arrays.
    ///
    /// # Errors
    /// [`Error::Mixed`] for an array of another type, [`Error::Inexact`].
    ///
    /// # Panics
    /// If one is longer than the other.
    pub fn push(&mut self, x: &ArrayRef, y: &ArrayRef) -> Result<()> {
        assert_eq!(x.len(), y.len(), "arrays of one length are multiplied");
        let plain = |array: &ArrayRef| match array.data_type() {
            DataType::Dictionary(..) => look_up(array),
            _ => Ok(array.clone()),
        };
        let (x, y) = (plain(x)?, plain(y)?);
        for (array, before) in [&x, &y].into_iter().zip(&self.columns) {
            if array.data_type() != before {
                let (found, before) = (array.data_type().clone(), before.clone());
                return Err(Error::Mixed { found, before });
            }
        }
        let n = x.len();
        let nulls = NullBuffer::union(x.nulls(), y.nulls()).filter(|nulls| nulls.null_count() > 0);
        let runs: Vec<(usize, usize)> = match &nulls {
            Some(nulls) => nulls.valid_slices().collect(),
            None if n > 0 => vec![(0, n)],
            None => Vec::new(),
        };
        if !runs.is_empty() {
            let found = self.fold([&x, &y], &runs)?;
            match &mut self.partial {
                Some(all) => all.merge(&found),
                none => *none = Some(found),
            }
        }
        self.row += n as u64;
        self.values += runs.iter().map(|(start, end)| (end - start) as u64).sum::<u64>();
        Ok(())
    }

    fn fold(&self, [x, y]: [&ArrayRef; 2], runs: &[(usize, usize)]) -> Result<AnyPartial> {
        let reduce = |x: HostArray<'_>, y: HostArray<'_>| {
            let request = Request::new(Op::Dot, x).pair(y).policy(self.policy);
            Ok(warpfold_engine::reduce(&request)?)
        };
        macro_rules! same {
            ($($name:ident: $ty:ty),+) => {
                match self.types[0] {
                    $(DType::$name => {
                        let (x, y) = (x.to_data(), y.to_data());
                        let (x, y) = (gathered(x.buffer::<$ty>(0), runs), gathered(y.buffer::<$ty>(0), runs));
                        reduce(HostArray::of(&x[..]), HostArray::of(&y[..]))
                    })+
                    _ => {
                        let bits = |array: &ArrayRef| -> Vec<bool> { rows(runs).map(|row| array.as_boolean().value(row)).collect() };
                        reduce(HostArray::of(&bits(x)[..]), HostArray::of(&bits(y)[..]))
                    }
                }
            };
        }
        if self.types[0] == self.types[1] {
            return same!(I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64, F16: f16, F32: f32, F64: f64);
        }
        let [dx, dy] = self.types;
        match self.common {
            DType::F64 => reduce(
                HostArray::of(&self.floats(x, dx, runs)?[..]),
                HostArray::of(&self.floats(y, dy, runs)?[..]),
            ),
            DType::U64 => reduce(
                HostArray::of(&self.integers::<u64>(x, dx, runs)?[..]),
                HostArray::of(&self.integers::<u64>(y, dy, runs)?[..]),
            ),
            _ => reduce(
                HostArray::of(&self.integers::<i64>(x, dx, runs)?[..]),
                HostArray::of(&self.integers::<i64>(y, dy, runs)?[..]),
            ),
        }
    }

    /// The values of some rows as floats of 64 bits.
    fn floats(&self, array: &ArrayRef, dtype: DType, runs: &[(usize, usize)]) -> Result<Vec<f64>> {
        let data = array.to_data();
        Ok(match dtype {
            DType::F16 => gathered(data.buffer::<f16>(0), runs).iter().map(|&x| x.into()).collect(),
            DType::F32 => gathered(data.buffer::<f32>(0), runs).iter().map(|&x| x.into()).collect(),
            DType::F64 => gathered(data.buffer::<f64>(0), runs).into_owned(),
            integer => {
                let exact = |(row, value): (usize, i128)| {
                    // Every integer of 64 bits has a nearest float, which may be another integer.
                    let float = value as f64;
                    if float as i128 == value { Ok(float) } else { Err(self.inexact(row, value)) }
                };
                rows(runs).zip(wide(array, integer, runs)).map(exact).collect::<Result<_>>()?
            }
        })
    }

    /// The values of some rows as integers of 64 bits.
    fn integers<T: TryFrom<i128>>(
        &self,
        array: &ArrayRef,
        dtype: DType,
        runs: &[(usize, usize)],
    ) -> Result<Vec<T>> {
        let exact = |(row, value)| T::try_from(value).map_err(|_| self.inexact(row, value));
        rows(runs).zip(wide(array, dtype, runs)).map(exact).collect()
    }

    fn inexact(&self, row: usize, value: i128) -> Error {
        Error::Inexact { row: self.row + row as u64, value, dtype: self.common }
    }

    /// Takes in what another dot product of the columns has taken in.
    pub fn merge(&mut self, other: Dot) {
        match (&mut self.partial, other.partial) {
            (Some(all), Some(one)) => all.merge(&one),
            (none, one) => *none = none.take().or(one),
        }
        self.row = self.row.max(other.row);
        self.values = self.values.saturating_add(other.values);
    }

    /// What it has taken in as bytes, for [`merge_bytes`](Self::merge_bytes) in another process.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut saved = Saved::of(self.row, self.values);
        saved.partial(self.partial.as_ref());
        saved.into_bytes()
    }

    /// Takes in what another dot product of columns of the same types has taken in, of which these are the bytes.
    ///
    /// # Errors
    /// [`BadPartial`](warpfold_num::Error::BadPartial) if they are none.
    pub fn merge_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let mut saved = Reader::of(bytes)?;
        let (row, values) = (saved.number()?, saved.number()?);
        let partial = saved.partial(Op::Dot, self.common)?;
        saved.end()?;
        check_counts(values, row)?;
        let (columns, types) = (self.columns.clone(), self.types);
        let Dot { common, policy, .. } = *self;
        self.merge(Dot { columns, types, common, policy, partial, row, values });
        check_counts(self.values, self.row)
    }

    /// The result.
    ///
    /// # Errors
    /// As the contract has it: integers that overflow.
    pub fn finish(self, finish: Finish) -> Result<Fields> {
        let finish = Finish { overflow: self.policy.overflow, ..finish };
        let partial = self.partial.unwrap_or_else(|| AnyPartial::empty(Op::Dot, self.common));
        Ok(plain(partial.finish(Op::Dot, finish)?))
    }
}

fn rows(runs: &[(usize, usize)]) -> impl Iterator<Item = usize> {
    runs.iter().flat_map(|&(start, end)| start..end)
}

/// Values of some rows, which are valid.
fn gathered<'a, T: Copy>(values: &'a [T], runs: &[(usize, usize)]) -> Cow<'a, [T]> {
    match runs {
        &[(start, end)] => values[start..end].into(),
        runs => runs.iter().flat_map(|&(start, end)| values[start..end].iter().copied()).collect(),
    }
}

/// The same of integers of any type.
fn wide(array: &ArrayRef, dtype: DType, runs: &[(usize, usize)]) -> Vec<i128> {
    let data = array.to_data();
    macro_rules! widened {
        ($($name:ident: $ty:ty),+) => {
            match dtype {
                $(DType::$name => gathered(data.buffer::<$ty>(0), runs).iter().map(|&x| x.into()).collect(),)+
                other => unreachable!("{other} holds no integers"),
            }
        };
    }
    widened!(I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64)
}
