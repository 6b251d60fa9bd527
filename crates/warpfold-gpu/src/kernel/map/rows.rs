//! [`AnyMapRows`]: reductions of an expression of rows, a result for each.
//!
//! Lanes share rows in kernels of their own (`walk/map_rows.cuh`), whose results are correctly rounded or known to be missed. A row that was missed,
//! and each row of what has no such kernel, is reduced as a whole array is.

use warpfold_engine::map::{Each, Folded, Map, fits};
use warpfold_engine::{Columns, HostArray, Indices};

use super::given::Given;
use super::kernel::{COUNTS, Kernel};
use super::reduce::AnyMap;
use super::row_jobs::{RowJob, row_job};
use super::shape::Reads;
use super::splice::Input;
use super::{Spliced, folded};
use crate::error::At;
use crate::kernel::array::AnyBuffer;
use crate::kernel::batched::{BatchedLaunch, Code};
use crate::kernel::executor::{Executor, Memory};
use crate::partial::{Finish, Output};
use crate::{Column, Error, Op, Result, Value, with_element};

/// Threads of a block, and the most lanes that share a row.
const THREADS: u64 = 256;
/// Steps that a lane loads at once.
const FLIGHT: u64 = 4;
/// Steps that a lane should have of a row, and the part of the warps that should have work at any time.
const STEPS_OF_A_LANE: u64 = 16;
const BUSY: f64 = 0.85;
/// Words of what was wrong (`parts.cuh`), behind what is counted; the one of rows that were missed.
const FAULTS: usize = 6;
const MISSED: usize = 4;
/// Elements of rows that whole grids reduce, one row after another, where they are fewer than multiprocessors.
const LONG: u64 = 1 << 18;
/// Elements of a row that a lane's 32 bits count.
const LONGEST: u64 = 1 << 30;

/// A reduction of an expression of rows, being set up: say which inputs have one value for each column or row, then call for a reduction.
#[derive(Clone)]
#[must_use = "call for a reduction"]
pub struct AnyMapRows<'a> {
    map: AnyMap<'a>,
    length: u64,
    each: Vec<Each>,
}

/// The launch of a kernel of rows, with the memory that it leaves its results in.
pub struct MapRowsLaunch {
    launch: BatchedLaunch,
    out: AnyBuffer,
    record: Memory,
}

impl MapRowsLaunch {
    /// The launch, to time it: it may run again and again.
    pub fn launches(&self) -> &[BatchedLaunch] {
        std::slice::from_ref(&self.launch)
    }

    /// The module that it runs.
    pub fn module(&self) -> &Spliced {
        match &self.launch.code {
            Code::Spliced(spliced) => spliced,
            Code::Shipped(name) => unreachable!("{name} has no map in it"),
        }
    }
}

/// An expression's arrays as rows.
struct Rows<'a> {
    machine: &'a dyn Executor,
    inputs: Vec<Given<'a>>,
    rows: u64,
    length: u64,
}

impl<'a> AnyMapRows<'a> {
    pub(super) fn new(map: AnyMap<'a>, length: u64) -> Self {
        let each = vec![Each::Element; map.inputs.len()];
        AnyMapRows { map, length, each }
    }

    fn each(mut self, name: &str, each: Each) -> Self {
        for ((known, _), of) in self.map.inputs.iter().zip(&mut self.each) {
            if known == name {
                *of = each;
            }
        }
        self
    }

    /// An input has one value for each column, the same for all rows.
    pub fn per_column(self, name: &str) -> Self {
        self.each(name, Each::Column)
    }

    /// An input has one value for each row.
    pub fn per_row(self, name: &str) -> Self {
        self.each(name, Each::Row)
    }

    fn rows(&self, map: &Map) -> Result<Rows<'a>> {
        let inputs = self.map.inputs.iter().zip(&self.each);
        let inputs: Vec<Given<'a>> =
            inputs.map(|((_, view), &each)| Given { view: *view, each }).collect();
        let given = |given: &Given<'_>| (given.view.dtype, given.view.len, given.each);
        let n = map.length_of(&inputs.iter().map(given).collect::<Vec<_>>())? as u64;
        let length = self.length;
        if n > 0 && n.checked_rem(length) != Some(0) {
            return Err(Error::Segments {
                requested: format!("rows of {n} elements on a device"),
                obstacle: format!("their length {length} does not divide it"),
                remedy: "take a length that divides the array",
            });
        }
        let rows = n.checked_div(length).unwrap_or(0);
        for (given, name) in inputs.iter().zip(map.inputs()) {
            given.view.check(self.map.machine)?;
            fits(name, given.each, given.view.len, rows as usize, length as usize)?;
        }
        Ok(Rows { machine: self.map.machine, inputs, rows, length })
    }

    /// The launch of the kernel of rows, not run yet; `None` where each row is reduced as a whole array.
    ///
    /// # Errors
    /// As [`columns`](Self::columns), before anything runs.
    pub fn launch(&self, op: Op, ddof: u64) -> Result<Option<MapRowsLaunch>> {
        let map = self.map.map(op)?;
        let rows = self.rows(&map)?;
        let job = row_job(&map, op, ddof).filter(|_| rows.has_kernel(ddof));
        job.map(|job| rows.launch(&map, job)).transpose()
    }

    /// The results of a reduction, left in the machine's memory.
    ///
    /// # Errors
    /// As [`columns`](Self::columns); [`Error::Unsupported`] for minmax, whose results are two of each row.
    pub fn on_device(&self, op: Op, ddof: u64) -> Result<AnyBuffer> {
        let map = self.map.map(op)?;
        let rows = self.rows(&map)?;
        if let Some(job) = row_job(&map, op, ddof).filter(|_| rows.has_kernel(ddof)) {
            return rows.left(&map, job, ddof);
        }
        let columns = rows.by_one(&map, op, Finish { ddof, ..Finish::default() })?;
        let [(_, column)] = &columns[..] else {
            return Err(Error::Unsupported {
                option: "leaving the results on the device",
                op,
                dtype: map.dtype(),
                why: "they are two for each row; ask for min and for max",
            });
        };
        let dtype = column.dtype().unwrap_or_else(|| unreachable!("results are numbers"));
        with_element!(dtype, T => {
            let elements: &[T] = column.slice().unwrap_or_default();
            AnyBuffer::upload(self.map.machine, dtype, bytemuck::cast_slice(elements))
        })
    }

    /// The results of a reduction, a number for each row, or two of minmax; indices count from the start of each row.
    ///
    /// # Errors
    /// Those of [`AnyMap::output`], as [`Error::Output`] with the first row that has no result; [`Error::Map`] for inputs that have not one value for each
    /// element, column or row; [`Error::Segments`] where rows are not the whole array.
    pub fn columns(&self, op: Op, finish: Finish) -> Result<Columns> {
        let map = self.map.map(op)?;
        let rows = self.rows(&map)?;
        let job = row_job(&map, op, finish.ddof);
        match job.filter(|_| rows.has_kernel(finish.ddof) && finish.round_to.is_none()) {
            Some(job) => Ok(vec![(op.name(), rows.left(&map, job, finish.ddof)?.column()?)]),
            None => rows.by_one(&map, op, finish),
        }
    }

    fn column(&self, op: Op, ddof: u64) -> Result<Column> {
        let columns = self.columns(op, Finish { ddof, ..Finish::default() })?;
        let (_, column) =
            columns.into_iter().next().unwrap_or_else(|| unreachable!("{op} has one"));
        Ok(column)
    }

    /// The sum of each row; a product at the top is not rounded before.
    ///
    /// # Errors
    /// As [`columns`](Self::columns).
    pub fn sum(&self) -> Result<Column> {
        self.column(Op::Sum, 0)
    }

    /// The mean of each row.
    ///
    /// # Errors
    /// As [`columns`](Self::columns).
    pub fn mean(&self) -> Result<Column> {
        self.column(Op::Mean, 0)
    }

    /// The variance of each row.
    ///
    /// # Errors
    /// As [`columns`](Self::columns).
    pub fn var(&self, ddof: u64) -> Result<Column> {
        self.column(Op::Var, ddof)
    }

    /// The greatest value of each row.
    ///
    /// # Errors
    /// As [`columns`](Self::columns).
    pub fn max(&self) -> Result<Column> {
        self.column(Op::Max, 0)
    }
}

impl Rows<'_> {
    /// Whether rows are as kernels of rows have them, and each has a result.
    fn has_kernel(&self, ddof: u64) -> bool {
        let few = self.rows < u64::from(self.machine.facts().multiprocessors);
        self.rows > 0
            && self.length > ddof
            && self.length <= LONGEST
            && !(few && self.length >= LONG)
            && self.machine.facts().compute >= warpfold_kernels::catalog::BASE
    }

    /// As a kernel reads an input whose steps are of so many elements.
    fn input(&self, place: usize, elements: u64) -> Input {
        let Given { view, each } = self.inputs[place];
        let size = view.dtype.size() as u64;
        let apart = if each == Each::Element { self.length * size } else { 0 };
        let is_aligned = (view.address | apart).is_multiple_of((elements * size).min(16));
        let reads = if is_aligned { Reads::Vectors } else { Reads::Elements };
        Input { place, reads, each }
    }

    fn launch(&self, map: &Map, job: RowJob) -> Result<MapRowsLaunch> {
        let Rows { machine, rows, length, .. } = *self;
        let dtype = job.shape.dtype(map.program());
        // A step's values are 32 bytes.
        let elements = 32 / dtype.size() as u64;
        let kernel =
            Kernel::reading(map.program(), &job.shape, |place| self.input(place, elements))?;
        let out =
            AnyBuffer::new(machine.zeros(rows as usize * dtype.size())?, dtype, rows as usize);
        let record = machine.copy_of(bytemuck::cast_slice(&Self::fresh()))?;
        let most = machine.facts().multiprocessors * kernel.entry.min_blocks.unwrap_or(1);
        let lanes = lanes(length.div_ceil(elements), rows, u64::from(most) * THREADS / 32);
        let grid = (rows * lanes).div_ceil(THREADS).clamp(1, most.into()) as u32;
        let mut words = kernel.addresses(&self.inputs);
        let faults = record.address() + 8 * COUNTS as u64;
        words.extend([rows, length, out.address(), record.address(), faults, job.options, lanes]);
        let launch = BatchedLaunch {
            entry: kernel.spliced.entry().into(),
            code: Code::Spliced(kernel.spliced.clone()),
            grid,
            block: THREADS as u32,
            shared_bytes: 0,
            words,
        };
        Ok(MapRowsLaunch { launch, out, record })
    }

    fn fresh() -> [u64; COUNTS + FAULTS] {
        let mut fresh = [u64::MAX; COUNTS + FAULTS];
        fresh[2..COUNTS].fill(0);
        fresh
    }

    /// The results of the kernel of rows, and of those that it missed.
    fn left(&self, map: &Map, job: RowJob, ddof: u64) -> Result<AnyBuffer> {
        let MapRowsLaunch { launch, mut out, record } = self.launch(map, job)?;
        let ready: Vec<_> = self.inputs.iter().map(|given| given.view.ready).collect();
        self.machine.run_batched(&[launch], &ready)?;
        let mut words = [0u64; COUNTS + FAULTS];
        record.read(bytemuck::cast_slice_mut(&mut words))?;
        let finish = Finish { ddof, ..Finish::default() };
        if words[0] != u64::MAX {
            // An operation has no value at that element: its row says so.
            let row = words[0] / self.length;
            self.row(map, row, finish)?;
            return Err(Error::Device {
                requested: format!("a map of the elements of row {row}"),
                obstacle: "its kernel says that an operation has no value, and the row has one"
                    .into(),
                remedy: "report it with the expression",
            });
        }
        if words[COUNTS + MISSED] != u64::MAX {
            for row in missed(&out.column()?) {
                let bytes = match self.row(map, row, finish)? {
                    Output::One(Value::F32(value)) => value.to_ne_bytes().to_vec(),
                    Output::One(Value::F64(value)) => value.to_ne_bytes().to_vec(),
                    other => unreachable!("kernels of rows leave floats, not {other:?}"),
                };
                let at = row as usize * bytes.len();
                out.memory_mut().write(at, &bytes)?;
            }
        }
        Ok(out)
    }

    /// Each row as a whole array.
    fn by_one(&self, map: &Map, op: Op, finish: Finish) -> Result<Columns> {
        if op == Op::Stats {
            let remedy = "ask for the results that are wanted, one by one";
            let obstacle = "stats of an expression's parts are not there".into();
            return Err(Error::Map { requested: "map".into(), obstacle, remedy: remedy.into() });
        }
        if self.rows == 0 {
            return self.none(map, finish);
        }
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for row in 0..self.rows {
            match self.row(map, row, finish)? {
                Output::One(value) => first.push(value),
                Output::Pair(least, greatest) => {
                    first.push(least);
                    second.push(greatest);
                }
                Output::Summary(_) => unreachable!("stats are refused"),
            }
        }
        if op == Op::MinMax {
            return Ok(vec![("min", Column::of_values(first)), ("max", Column::of_values(second))]);
        }
        Ok(vec![(op.name(), Column::of_values(first))])
    }

    /// No results, of the type that some would have.
    fn none(&self, map: &Map, finish: Finish) -> Result<Columns> {
        let empty = self
            .inputs
            .iter()
            .map(|given| with_element!(given.view.dtype, T => HostArray::of::<T>(&[])));
        let empty: Vec<HostArray<'_>> = empty.collect();
        let every = warpfold_plan::segment::Segments::every(self.length.max(1));
        let parts = warpfold_engine::segments(every, 0, map.policy())?;
        let named = map.columns(&empty, &parts, Indices::OfInput, finish)?;
        Ok(named.into_iter().next().map(|(_, columns)| columns).unwrap_or_default())
    }

    fn row(&self, map: &Map, row: u64, finish: Finish) -> Result<Output> {
        let inputs = self.inputs.iter();
        let inputs: Vec<_> =
            inputs.map(|given| given.of_row(row as usize, self.length as usize)).collect();
        let found = folded(self.machine, map, &inputs, 0, None);
        let found = found.and_then(|folded: Folded| map.finish(&folded, finish));
        found.map_err(|error| Error::Output { output: At::Segment(row), error: Box::new(error) })
    }
}

/// How many lanes share rows of so many steps, where so many warps run at once: as `lanes_of_rows` of the planner has it, whose figures are those of rows
/// without a map.
fn lanes(steps: u64, rows: u64, warps: u64) -> u64 {
    let least = match steps / STEPS_OF_A_LANE {
        0 => 1,
        lanes => 1 << lanes.ilog2(),
    };
    let least: u64 = least.clamp(steps.next_power_of_two().min(4), 32);
    let busy = |lanes: u64| {
        let rounds = (rows * lanes) as f64 / 32.0 / warps as f64;
        rounds / rounds.ceil()
    };
    let all = std::iter::successors(Some(least), |lanes| Some(lanes * 2));
    let possible = |&lanes: &u64| lanes <= THREADS && (lanes <= 32 || steps / lanes >= FLIGHT);
    let lanes: Vec<u64> = all.take_while(possible).collect();
    let enough = lanes.iter().copied().find(|&lanes| busy(lanes) >= BUSY);
    let busiest = lanes.into_iter().max_by(|&a, &b| busy(a).total_cmp(&busy(b)));
    enough.or(busiest).unwrap_or(least)
}

/// The rows whose results are marks (`part_exact.cuh`).
fn missed(column: &Column) -> Vec<u64> {
    const MARKS: (u32, u64) = (0x7fc0_dead, 0x7ff8_0000_0000_dead);
    let is_mark: Vec<bool> = match column {
        Column::F32(values) => values.iter().map(|value| value.to_bits() == MARKS.0).collect(),
        Column::F64(values) => values.iter().map(|value| value.to_bits() == MARKS.1).collect(),
        other => unreachable!("kernels of rows leave no {:?}", other.dtype()),
    };
    (0..).zip(is_mark).filter(|(_, is_mark)| *is_mark).map(|(row, _)| row).collect()
}
