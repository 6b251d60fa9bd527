//! [`ColumnReducer`]: one reduction of one column, array after array.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use warpfold_engine::{HostArray, Request};
use warpfold_exact::AnyPartial;
use warpfold_exact::partial::{Finish, Output, Partial, Stats};
use warpfold_num::{Accuracy, DType, Element, Empty, Error as Reduction, Op, Policy, Value, f16};

use crate::cell::{Cell, Fields};
use crate::decimal::Decimals;
use crate::form::Form;
use crate::masked::{Nulls, each_run};
use crate::saved::{Reader, Saved, check_counts};
use crate::{Error, Result};

/// Rows of a dictionary that are looked up at once.
const LOOKED_UP: usize = 1 << 16;

/// One reduction of one column, array after array; the result is that of the arrays joined, without their nulls.
///
/// Sums of floats are always exact: `Accuracy::Fast` of the policy changes nothing.
#[derive(Debug, Clone)]
pub struct ColumnReducer {
    op: Op,
    dtype: DataType,
    form: Form,
    policy: Policy,
    state: State,
    /// The number of the next row.
    row: u64,
    values: u64,
}

#[derive(Debug, Clone)]
enum State {
    Engine(Box<Engine>),
    Decimals(Decimals),
}

#[derive(Debug, Clone, Default)]
struct Engine {
    partial: Option<AnyPartial>,
    /// Of stats: where the extremes stand, as their own fold would count rows without a value.
    extremes: Option<AnyPartial>,
}

/// Reduces the arrays of a column to a result.
///
/// # Errors
/// [`Error::Type`], [`Error::Mixed`], and what the reduction itself may say.
pub fn reduce(op: Op, arrays: &[ArrayRef]) -> Result<Fields> {
    let dtype = arrays.first().map_or(DataType::Float64, |array| array.data_type().clone());
    let mut fold = ColumnReducer::new(op, &dtype, Policy::default())?;
    arrays.iter().try_for_each(|array| fold.push(array))?;
    fold.finish(Finish::default())
}

/// What a dictionary stands for.
pub(crate) fn values_type(dtype: &DataType) -> &DataType {
    match dtype {
        DataType::Dictionary(_, values) => values_type(values),
        other => other,
    }
}

/// Looks up what a dictionary stands for.
pub(crate) fn look_up(array: &dyn Array) -> Result<ArrayRef> {
    let dictionary = array.as_any_dictionary();
    let taken = arrow_select::take::take(dictionary.values(), dictionary.keys(), None);
    taken.map_err(|error| Error::File { path: "a dictionary".into(), why: error.to_string() })
}

impl ColumnReducer {
    /// A fold of nothing, of a column of a type.
    ///
    /// # Errors
    /// [`Error::Type`] where columns of the type have no such reduction.
    pub fn new(op: Op, dtype: &DataType, policy: Policy) -> Result<ColumnReducer> {
        let form = Form::of(op, dtype)?;
        if let Some(dtype) = form.dtype() {
            warpfold_engine::check(op, dtype)?;
        }
        let state = match form {
            Form::Decimals(_) => State::Decimals(Decimals::default()),
            _ => State::Engine(Box::default()),
        };
        let policy = Policy { accuracy: Accuracy::Exact, ..policy };
        let dtype = values_type(dtype).clone();
        Ok(ColumnReducer { op, dtype, form, policy, state, row: 0, values: 0 })
    }

    /// Says which row of the whole the next array begins with: indices count from the whole's start.
    #[must_use]
    pub fn starting_at(mut self, row: u64) -> ColumnReducer {
        self.go_to(row);
        self
    }

    /// The same between two arrays.
    pub(crate) fn go_to(&mut self, row: u64) {
        self.row = row;
    }

    /// Takes in the extremes of rows up to one, of which so many are values, in place of the rows.
    #[cfg(feature = "parquet")]
    pub(crate) fn push_extremes(
        &mut self,
        [min, max]: [&dyn Array; 2],
        end: u64,
        values: u64,
    ) -> Result<()> {
        let before = self.values;
        self.push(min)?;
        self.push(max)?;
        (self.row, self.values) = (end, before + values);
        Ok(())
    }

    /// Rows taken in so far, and those before the first.
    pub fn rows(&self) -> u64 {
        self.row
    }

    /// Values taken in so far: rows that are not null.
    pub fn values(&self) -> u64 {
        self.values
    }

    /// Takes in the next array.
    ///
    /// # Errors
    /// [`Error::Mixed`] for an array of another type.
    pub fn push(&mut self, array: &dyn Array) -> Result<()> {
        if let DataType::Dictionary(..) = array.data_type() {
            for start in (0..array.len()).step_by(LOOKED_UP) {
                let rows = LOOKED_UP.min(array.len() - start);
                self.push(&look_up(&*array.slice(start, rows))?)?;
            }
            return Ok(());
        }
        if *array.data_type() != self.dtype {
            let (found, before) = (array.data_type().clone(), self.dtype.clone());
            return Err(Error::Mixed { found, before });
        }
        let (data, n, nulls) = (array.to_data(), array.len(), array.nulls());
        macro_rules! numbers {
            ($($name:ident: $ty:ty),+) => {
                match (&self.form, self.form.dtype()) {
                    $((Form::Numbers(_), Some(DType::$name)) => self.numbers(&data.buffer::<$ty>(0)[..n], nulls)?,)+
                    (Form::Numbers(_), _) => self.bools(array)?,
                    (Form::Instants(DType::I32, _), _) => self.widened(&data.buffer::<i32>(0)[..n], nulls)?,
                    (Form::Instants(..) | Form::Durations(_), _) => self.numbers(&data.buffer::<i64>(0)[..n], nulls)?,
                    (Form::Decimals(_), _) => match array.data_type() {
                        DataType::Decimal32(..) => self.decimals(&data.buffer::<i32>(0)[..n], nulls),
                        DataType::Decimal64(..) => self.decimals(&data.buffer::<i64>(0)[..n], nulls),
                        _ => self.decimals(&data.buffer::<i128>(0)[..n], nulls),
                    },
                }
            };
        }
        // An array of no rows may have no buffer either.
        if n > 0 {
            numbers!(I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64, F16: f16, F32: f32, F64: f64);
        }
        self.row += n as u64;
        self.values += (n - array.null_count()) as u64;
        Ok(())
    }

    fn decimals<T: Copy + Into<i128>>(&mut self, values: &[T], nulls: Option<&NullBuffer>) {
        let State::Decimals(state) = &mut self.state else { unreachable!("made for decimals") };
        state.push(self.row, values, nulls);
    }

    fn bools(&mut self, array: &dyn Array) -> Result<()> {
        const TILE: usize = 1 << 16;
        let (bits, nulls, row) = (array.as_boolean().values(), array.nulls(), self.row);
        let mut tile = Vec::with_capacity(TILE.min(array.len()));
        for start in (0..array.len()).step_by(TILE) {
            let n = TILE.min(array.len() - start);
            let nulls = nulls.map(|nulls| nulls.slice(start, n));
            tile.clear();
            tile.extend(bits.slice(start, n).iter());
            self.row = row + start as u64;
            self.numbers(&tile, nulls.as_ref())?;
        }
        self.row = row;
        Ok(())
    }

    /// Widens values of 32 bits a tile at a time; the slots of nulls get a zero, and stay nulls.
    fn widened(&mut self, values: &[i32], nulls: Option<&NullBuffer>) -> Result<()> {
        const TILE: usize = 1 << 15;
        let row = self.row;
        for (tile, values) in values.chunks(TILE).enumerate() {
            let start = tile * TILE;
            let nulls = nulls.map(|nulls| nulls.slice(start, values.len()));
            let is_valid = |k: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(k));
            let wide = |k: usize| if is_valid(k) { i64::from(values[k]) } else { 0 };
            let wide: Vec<i64> = (0..values.len()).map(wide).collect();
            self.row = row + start as u64;
            self.numbers(&wide, nulls.as_ref())?;
        }
        self.row = row;
        Ok(())
    }

    fn numbers<T: Element>(&mut self, values: &[T], nulls: Option<&NullBuffer>) -> Result<()> {
        let (op, policy, row) = (self.op, self.policy, self.row);
        let State::Engine(engine) = &mut self.state else { unreachable!("made for numbers") };
        if op == Op::Prod
            && let Some(nulls) = nulls.filter(|nulls| nulls.null_count() > 0)
            && let Some(one) = one_of::<T>()
        {
            // Elements are multiplied by where they stand: ones stand for nulls.
            for start in (0..values.len()).step_by(LOOKED_UP) {
                let rows = start..values.len().min(start + LOOKED_UP);
                let value = |k: usize| if nulls.is_valid(k) { values[k] } else { one };
                let filled: Vec<T> = rows.map(value).collect();
                let request = Request::new(op, HostArray::of(&filled)).policy(policy);
                let found = warpfold_engine::reduce(&request.starting_at(row + start as u64))?;
                merge(&mut engine.partial, found);
            }
            return Ok(());
        }
        let fold = |into: &mut Option<AnyPartial>, op: Op, gaps: Nulls| {
            each_run(values, nulls, gaps, |start, run| {
                let request = Request::new(op, HostArray::of(run)).policy(policy);
                let found = warpfold_engine::reduce(&request.starting_at(row + start as u64))?;
                merge(into, found);
                Ok::<_, Error>(())
            })
        };
        use Op::{ArgMax, ArgMin, Max, Min, MinMax};
        if matches!(op, Min | Max | MinMax | ArgMin | ArgMax) {
            return fold(&mut engine.partial, op, Nulls::Filled);
        }
        if op == Op::Stats {
            fold(&mut engine.extremes, MinMax, Nulls::Filled)?;
        }
        fold(&mut engine.partial, op, Nulls::Closed)
    }

    /// Takes in what another fold of the column has taken in.
    ///
    /// # Errors
    /// [`Error::Mixed`] if it is that of a column of another type.
    pub fn merge(&mut self, mut other: ColumnReducer) -> Result<()> {
        if self.dtype != other.dtype {
            return Err(Error::Mixed { found: other.dtype, before: self.dtype.clone() });
        }
        match (&mut self.state, &mut other.state) {
            (State::Engine(all), State::Engine(one)) => {
                one.partial.take().into_iter().for_each(|one| merge(&mut all.partial, one));
                one.extremes.take().into_iter().for_each(|one| merge(&mut all.extremes, one));
            }
            (State::Decimals(all), State::Decimals(one)) => all.merge(one),
            _ => unreachable!("one type has one kind of state"),
        }
        self.row = self.row.max(other.row);
        self.values = self.values.saturating_add(other.values);
        Ok(())
    }

    /// What it has taken in as bytes, for [`merge_bytes`](Self::merge_bytes) in another process.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut saved = Saved::of(self.row, self.values);
        match &self.state {
            State::Engine(engine) => {
                saved.partial(engine.partial.as_ref());
                saved.partial(engine.extremes.as_ref());
            }
            State::Decimals(state) => state.save(&mut saved),
        }
        saved.into_bytes()
    }

    /// Takes in what another fold of the same reduction of a column of the same type has taken in, of which these are the bytes.
    ///
    /// # Errors
    /// [`BadPartial`](Reduction::BadPartial) if they are none.
    pub fn merge_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let mut saved = Reader::of(bytes)?;
        let mut other = ColumnReducer::new(self.op, &self.dtype, self.policy)?;
        (other.row, other.values) = (saved.number()?, saved.number()?);
        match (&mut other.state, self.folded_as()) {
            (State::Engine(engine), Some(dtype)) => {
                engine.partial = saved.partial(self.op, dtype)?;
                engine.extremes = saved.partial(Op::MinMax, dtype)?;
            }
            (State::Decimals(state), _) => *state = Decimals::read(&mut saved)?,
            _ => unreachable!("the engine folds what it has a type for"),
        }
        saved.end()?;
        check_counts(other.values, other.row)?;
        self.merge(other)?;
        check_counts(self.values, self.row)
    }

    /// The engine's type of what is folded, unless that is decimals: times of 32 bits are widened.
    fn folded_as(&self) -> Option<DType> {
        if matches!(self.form, Form::Instants(..)) { Some(DType::I64) } else { self.form.dtype() }
    }

    /// The result, or what stands for it where it does not exist.
    ///
    /// # Errors
    /// As [`finish`](Self::finish); with [`Empty::Nan`], for types that have none.
    pub fn finish_or(self, finish: Finish, empty: Empty) -> Result<Fields> {
        let (op, form) = (self.op, self.form.clone());
        or_stand_in(self.finish(finish), (op, &form), finish, empty)
    }

    /// The result, or the results of minmax and stats.
    ///
    /// # Errors
    /// As the contract has it for the reduction.
    pub fn finish(mut self, finish: Finish) -> Result<Fields> {
        let (op, policy, folded_as) = (self.op, self.policy, self.folded_as());
        let finish = Finish { overflow: policy.overflow, ..finish };
        let state = match &mut self.state {
            State::Decimals(state) => {
                let Form::Decimals(scale) = self.form else { unreachable!("made for decimals") };
                return state.finish(op, scale, finish);
            }
            State::Engine(state) => state,
        };
        let dtype = folded_as.expect("the engine folds it");
        let partial = state.partial.take().unwrap_or_else(|| AnyPartial::empty(op, dtype));
        if let (Op::Count, Form::Instants(..)) = (op, &self.form) {
            return Ok(Fields(vec![("value", Some(Cell::Value(Value::U64(self.values))))]));
        }
        let mut fields = cells(&partial, op, &self.form, finish).map_err(|error| match error {
            Error::Reduction(Reduction::Empty { .. }) => {
                Reduction::Empty { op, ignored: self.values > 0 }.into()
            }
            other => other,
        })?;
        if let Some(extremes) = &state.extremes {
            for (name, op) in [("argmin", Op::ArgMin), ("argmax", Op::ArgMax)] {
                let found = extremes.finish(op, finish).ok();
                let field = fields.0.iter_mut().find(|(field, _)| *field == name);
                if let (Some((_, cell)), Some(Output::One(index))) = (field, found) {
                    *cell = Some(Cell::Value(index));
                }
            }
        }
        Ok(fields)
    }
}

fn merge(all: &mut Option<AnyPartial>, one: AnyPartial) {
    match all {
        Some(all) => all.merge(&one),
        none => *none = Some(one),
    }
}

/// One, of a type of floats.
fn one_of<T: Element>() -> Option<T> {
    fn first<T: Element>(x: HostArray<'_>) -> Option<T> {
        x.slice::<T>().and_then(|x| x.first().copied())
    }
    match T::DTYPE {
        DType::F16 => first(HostArray::of(&[f16::ONE])),
        DType::F32 => first(HostArray::of(&[1f32])),
        DType::F64 => first(HostArray::of(&[1f64])),
        _ => None,
    }
}

/// What a partial of the engine's says of a column.
pub(crate) fn cells(partial: &AnyPartial, op: Op, form: &Form, finish: Finish) -> Result<Fields> {
    let (dtype, is_duration) = match form {
        Form::Instants(_, dtype) => (dtype, false),
        Form::Durations(dtype) => (dtype, true),
        Form::Numbers(_) | Form::Decimals(_) => {
            return Ok(plain(partial.finish(op, finish)?));
        }
    };
    let time = |ticks: i64| Cell::Time(ticks, dtype.clone());
    let one = |cell| Ok(Fields(vec![("value", Some(cell))]));
    if finish.round_to.is_some() {
        let remedy = "times are rounded to their own unit; leave the rounding out";
        return Err(Error::Type { op, dtype: dtype.clone(), remedy });
    }
    match partial.typed_ref::<i64>() {
        Some(Partial::Sum(sum)) if op == Op::Mean => match mean(sum.wide()?, sum.count()) {
            Some(mean) => one(time(mean)),
            None => Err(Reduction::Empty { op, ignored: false }.into()),
        },
        Some(Partial::Stats(stats)) => times(stats, is_duration, time, finish),
        _ => Ok(Fields(
            plain(partial.finish(op, finish)?)
                .0
                .into_iter()
                .map(|(name, cell)| match cell {
                    Some(Cell::Value(Value::I64(ticks))) => (name, Some(time(ticks))),
                    other => (name, other),
                })
                .collect(),
        )),
    }
}

fn times(
    stats: &Stats<i64>,
    is_duration: bool,
    time: impl Fn(i64) -> Cell,
    finish: Finish,
) -> Result<Fields> {
    let (count, sum) = (stats.count(), stats.to_sum());
    let number = |n| Some(Cell::Value(Value::U64(n)));
    let total = is_duration.then(|| stats.sum(finish.overflow)).transpose()?;
    Ok(Fields(vec![
        ("count", number(count)),
        ("nan_count", number(0)),
        ("sum", total.map(&time)),
        ("mean", mean(sum.wide()?, count).map(&time)),
        ("var", None),
        ("std", None),
        ("min", stats.min().ok().map(&time)),
        ("max", stats.max().ok().map(&time)),
        ("argmin", stats.argmin().ok().and_then(number)),
        ("argmax", stats.argmax().ok().and_then(number)),
        ("l1", None),
        ("l2", None),
    ]))
}

/// The nearest integer to the mean, ties to even; it lies between the smallest value and the largest.
fn mean(sum: i128, n: u64) -> Option<i64> {
    let n = i128::from(n);
    let (floor, rest) = (sum.checked_div_euclid(n)?, sum.checked_rem_euclid(n)?);
    let is_up = match (2 * rest).cmp(&n) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal => floor % 2 != 0,
        std::cmp::Ordering::Greater => true,
    };
    i64::try_from(floor + i128::from(is_up)).ok()
}

/// What was found, or what stands for a result that does not exist, where `empty` makes that no error: NaN, of numbers that have it, or nothing.
pub(crate) fn or_stand_in(
    found: Result<Fields>,
    (op, form): (Op, &Form),
    finish: Finish,
    empty: Empty,
) -> Result<Fields> {
    let is_missing =
        matches!(found, Err(Error::Reduction(Reduction::Empty { .. } | Reduction::TooFew { .. })));
    match (empty, form) {
        (Empty::None, _) if is_missing => {
            let names: &[&str] = if op == Op::MinMax { &["min", "max"] } else { &["value"] };
            Ok(Fields(names.iter().map(|&name| (name, None)).collect()))
        }
        (Empty::Nan, Form::Numbers(dtype)) if is_missing => {
            let stand_in = warpfold_engine::stand_in(op, *dtype, finish, empty);
            stand_in.map(plain).map_or(found, Ok)
        }
        _ => found,
    }
}

/// The engine's output as results by name.
pub(crate) fn plain(output: Output) -> Fields {
    let cell = |value: Value| Some(Cell::Value(value));
    Fields(match output {
        Output::One(value) => vec![("value", cell(value))],
        Output::Pair(min, max) => vec![("min", cell(min)), ("max", cell(max))],
        Output::Summary(s) => vec![
            ("count", cell(s.count.into())),
            ("nan_count", cell(s.nan_count.into())),
            ("sum", cell(s.sum)),
            ("mean", s.mean.and_then(cell)),
            ("var", s.var.and_then(cell)),
            ("std", s.std.and_then(cell)),
            ("min", s.min.and_then(cell)),
            ("max", s.max.and_then(cell)),
            ("argmin", s.argmin.map(Value::from).and_then(cell)),
            ("argmax", s.argmax.map(Value::from).and_then(cell)),
            ("l1", cell(s.l1)),
            ("l2", cell(s.l2)),
        ],
    })
}
