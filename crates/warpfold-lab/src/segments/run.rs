//! The run on the processor: make, verify, time beside the flat reduction.

use std::hint::black_box;
use std::io;
use std::time::Duration;

use regex_lite::Regex;
use warpfold::plan::Isa;
use warpfold::{Accuracy, Column, DType, Element, Op, OutputArray, Policy, with_element};

use super::numbers::numbers;
use super::report::{Report, Row, SCHEMA};
use super::sample::Sample;
use super::{Case, Cut, Truth, cases};
use crate::array::{Buffer, Data, Draw, fill};
use crate::cpu;
use crate::machine::Machine;
use crate::oracle::Split;
use crate::report::Header;
use crate::sampler::{Monotonic, Sampler, Sampling};

/// What to measure and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// Elements of arrays of f32; those of other types have as many bytes.
    pub n: u64,
    /// Reductions.
    pub ops: Vec<Op>,
    /// Element types.
    pub types: Vec<DType>,
    /// Threads; `None` takes what the library takes by itself.
    pub threads: Option<usize>,
    /// Kernels of this instruction set; `None` takes the widest.
    pub isa: Option<Isa>,
    /// Whether results are written to memory that is used again and again; reductions of several columns are left out then.
    pub into: bool,
    /// Rows whose name matches, such as `sum/f32/fast/every 16`.
    pub filter: Regex,
    /// How to time.
    pub sampling: Sampling,
    /// The seed of the numbers.
    pub seed: u64,
    /// The revision of the sources, to be kept in the report.
    pub revision: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            n: 1 << 26,
            ops: vec![Op::Sum],
            types: vec![DType::F32],
            threads: None,
            isa: None,
            into: false,
            filter: Regex::new("").expect("the empty expression matches everything"),
            sampling: Sampling { budget: Duration::from_millis(300), ..Sampling::default() },
            seed: 1,
            revision: None,
        }
    }
}

impl Options {
    /// Elements of an array of a type.
    pub fn elements(&self, dtype: DType) -> u64 {
        4 * self.n / dtype.size() as u64
    }

    fn policy(&self, accuracy: Accuracy) -> Policy {
        Policy { accuracy, threads: self.threads, isa: self.isa, ..Policy::default() }
    }

    /// The names of the rows that will be measured.
    pub fn names(&self) -> Vec<String> {
        let arrays = self.arrays().into_iter();
        let rows = arrays.flat_map(|(dtype, _, ops)| self.rows(dtype, &ops));
        rows.flat_map(|(_, wanted)| wanted.into_iter().map(|wanted| wanted.name)).collect()
    }

    /// The reductions of each type by the arrays that they read.
    fn arrays(&self) -> Vec<(DType, Data, Vec<Op>)> {
        let mut arrays: Vec<(DType, Data, Vec<Op>)> = Vec::new();
        for &dtype in &self.types {
            let is_there = |op: &Op| {
                *op != Op::Dot
                    && !(dtype.is_complex() && op.is_ordered())
                    && !(self.into && matches!(op, Op::MinMax | Op::Stats))
            };
            for op in self.ops.iter().copied().filter(is_there) {
                let data = data(op, dtype);
                match arrays.iter_mut().find(|array| (array.0, array.1) == (dtype, data)) {
                    Some((_, _, ops)) => ops.push(op),
                    None => arrays.push((dtype, data, vec![op])),
                }
            }
        }
        arrays
    }

    /// The rows of an array, by the ways of cutting it.
    fn rows(&self, dtype: DType, ops: &[Op]) -> Vec<(Case, Vec<Wanted>)> {
        let rows = cases(self.elements(dtype)).into_iter().map(|case| {
            let accuracies = |&op: &Op| {
                // What another accuracy would change is looked at for sums of f32.
                let has_fast = (op, dtype) == (Op::Sum, DType::F32);
                let fast = has_fast.then_some((op, Accuracy::Fast, "fast"));
                [(op, Accuracy::Exact, "exact")].into_iter().chain(fast)
            };
            let wanted = ops.iter().flat_map(accuracies).map(|(op, accuracy, word)| Wanted {
                name: format!("{op}/{dtype}/{word}/{}", case.name),
                op,
                accuracy,
            });
            let wanted = wanted.filter(|wanted| self.filter.is_match(&wanted.name)).collect();
            (case, wanted)
        });
        rows.filter(|(_, wanted): &(_, Vec<_>)| !wanted.is_empty()).collect()
    }
}

/// A row to be measured.
struct Wanted {
    name: String,
    op: Op,
    accuracy: Accuracy,
}

/// Who is told what happens.
pub trait Observer {
    /// So many rows will be measured.
    fn planned(&mut self, rows: usize) {
        let _ = rows;
    }

    /// An array is being cut and its truth computed.
    fn preparing(&mut self, what: &str) {
        let _ = what;
    }

    /// A row was measured, or is wrong.
    fn row(&mut self, row: &Row) {
        let _ = row;
    }
}

impl Observer for () {}

/// Measures the reductions of the types over every cut, sums of f32 exact and fast. Wrong results are not timed.
///
/// # Errors
/// If the system has no memory for the array.
pub fn run(options: &Options, observer: &mut dyn Observer) -> io::Result<Report> {
    let header = Header::now(SCHEMA, options.revision.clone());
    observer.planned(options.names().len());
    let mut buffer = Buffer::new(4 * options.n)?;
    let mut rows = Vec::new();
    for (dtype, data, ops) in options.arrays() {
        with_element!(dtype, T => {
            make::<T>(&mut buffer, data, options.seed);
            let x = &buffer.as_slice::<T>()[..options.elements(dtype) as usize];
            measure(options, &ops, x, data, observer, &mut rows);
        });
    }
    Ok(Report {
        header,
        slug: Machine::here().slug(),
        machine: Machine::here().with_isa(options.isa),
        n: options.n,
        device: None,
        into_kept_memory: options.into,
        baseline: "the flat reduction of the same elements, of the same accuracy".into(),
        rows,
    })
}

/// Data on which a reduction has to read everything, and of which products of any elements neither vanish nor overflow.
fn data(op: Op, dtype: DType) -> Data {
    match op {
        Op::Prod if dtype.is_float() && !dtype.is_complex() => Data::Factors,
        _ => cpu::data(op, dtype),
    }
}

fn make<T: Element<Component: Draw>>(buffer: &mut Buffer, data: Data, seed: u64) {
    if T::DTYPE == DType::F32 && data == Data::Natural {
        // Numbers whose sums are known.
        return numbers(bytemuck::cast_slice_mut(buffer.bytes_mut()), seed);
    }
    fill::<T>(buffer, data, seed);
}

/// All rows of an array.
fn measure<T: Element<Component: Split>>(
    options: &Options,
    ops: &[Op],
    x: &[T],
    data: Data,
    observer: &mut dyn Observer,
    rows: &mut Vec<Row>,
) {
    for (case, wanted) in options.rows(T::DTYPE, ops) {
        observer.preparing(&format!("{}, {}", T::DTYPE, case.name));
        let cut = case.cut();
        let sample = Sample::of(x, &cut, data);
        let sums = (T::DTYPE == DType::F32 && ops.contains(&Op::Sum))
            .then(|| Truth::of(bytemuck::checked::cast_slice(x), &cut));
        for Wanted { name, op, accuracy } in wanted {
            let policy = options.policy(accuracy);
            let check = |found: &[(&'static str, Column)]| match (op, &sums, found) {
                (Op::Sum, Some(truth), [(_, Column::F32(sums))]) => truth.check(sums, accuracy),
                _ => sample.check(op, found),
            };
            let how = How { policy, sampling: options.sampling, into: options.into };
            let mut row = row(op, x, &cut, how, check);
            (row.name, row.segments) = (name, sample.results() as u64);
            row.target = case.target(op);
            observer.row(&row);
            rows.push(row);
        }
    }
}

/// How a row is measured.
struct How {
    policy: Policy,
    sampling: Sampling,
    /// Into memory that is there.
    into: bool,
}

/// A cut verified, then timed in alternation with one reduction of all its elements.
fn row<T: Element>(
    op: Op,
    x: &[T],
    cut: &Cut,
    How { policy, sampling, into }: How,
    check: impl Fn(&[(&'static str, Column)]) -> Result<(), String>,
) -> Row {
    let elements = cut.elements(x.len() as u64);
    let flat = &x[..elements as usize];
    let input = size_of_val(flat) as u64;
    let mut row = Row {
        name: String::new(),
        elements,
        segments: 0,
        bytes: input + cut.label_bytes(),
        input_bytes: Some(input),
        microseconds: 0.0,
        spread: 0.0,
        bytes_per_second: 0.0,
        baseline: 0.0,
        target: None,
        plan: cut.plan(op, x, policy).unwrap_or_default(),
        wrong: None,
        peers: Vec::new(),
    };
    let mut found = match cut.columns(op, x, policy) {
        Ok(found) => found,
        Err(error) => {
            row.wrong = Some(error.to_string());
            return row;
        }
    };
    row.bytes += found.iter().map(|(_, column)| bytes(column)).sum::<u64>();
    // The first results lie where the next are written.
    let again = |column: &mut Column| match OutputArray::of_column(column) {
        Some(mut out) => cut.column_into(op, black_box(x), policy, &mut out).is_ok(),
        None => false,
    };
    let mut verdict = check(&found);
    if let (Ok(()), [(_, column)], true) = (&verdict, &mut found[..], into) {
        clear(column);
        let is_written = again(column);
        verdict = check(&found).and(is_written.then_some(()).ok_or("the library refuses".into()));
    }
    if let Err(wrong) = verdict {
        row.wrong = Some(wrong);
        return row;
    }
    let mut kept = found.first_mut().filter(|_| into);
    let mut sampler = Sampler { sampling, clock: Monotonic::default() };
    let mut parts = || {
        black_box(match &mut kept {
            Some((_, column)) => again(column),
            None => cut.columns(op, black_box(x), policy).is_ok(),
        });
    };
    let mut whole = || {
        black_box(cpu::reduce(op, policy, black_box(flat)).is_ok());
    };
    let [parts, whole] = sampler.alternate([&mut parts, &mut whole]);
    row.microseconds = parts.median * 1e6;
    row.spread = parts.spread();
    row.bytes_per_second = row.bytes as f64 / parts.median;
    row.baseline = input as f64 / whole.median;
    row
}

/// Takes results away, so that those which are not written again are missed.
fn clear(column: &mut Column) {
    if let Some(dtype) = column.dtype() {
        with_element!(dtype, R => {
            column.slice_mut::<R>().into_iter().for_each(|all| all.fill(bytemuck::Zeroable::zeroed()));
        });
    }
}

fn bytes(column: &Column) -> u64 {
    // Results that are no elements have twice the bytes of those that are.
    let size = column.dtype().map_or(16, DType::size);
    (size * column.len()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn once() -> Options {
        let sampling = Sampling {
            warm_up: Duration::ZERO,
            budget: Duration::ZERO,
            min_samples: 1,
            shortest_sample: Duration::ZERO,
            ..Sampling::default()
        };
        Options { n: 70_001, sampling, ..Options::default() }
    }

    #[test]
    fn every_row_is_right_and_timed() {
        let report = run(&once(), &mut ()).unwrap();
        assert_eq!(report.rows.len(), 2 * cases(70_001).len());
        for row in &report.rows {
            assert_eq!(row.wrong, None, "{}", row.name);
            assert!(row.microseconds > 0.0 && row.baseline > 0.0 && row.segments > 0, "{row:?}");
        }
        let every: Row = report.rows[2].clone();
        assert_eq!((every.name.as_str(), every.segments), ("sum/f32/exact/every 3", 23_333));
        assert_eq!(every.bytes, 4 * (69_999 + 23_333));
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
        let names: Vec<_> = report.rows.into_iter().map(|row| row.name).collect();
        assert_eq!(once().names(), names);
    }

    #[test]
    fn every_reduction_of_every_type_is_right() {
        let options = Options {
            n: 1 << 13,
            ops: Op::ALL.to_vec(),
            types: DType::ALL.to_vec(),
            filter: Regex::new("every 31$|^[^/]+/[^/]+/exact/.2048, .*axis 0|2\\^8 any keys, Zipf")
                .unwrap(),
            ..once()
        };
        let report = run(&options, &mut ()).unwrap();
        assert!(report.rows.len() > 600, "{}", report.rows.len());
        for row in &report.rows {
            assert_eq!(row.wrong, None, "{}", row.name);
        }
        let kept = run(&Options { into: true, ..options }, &mut ()).unwrap();
        assert!(kept.into_kept_memory && kept.rows.len() > 500, "{}", kept.rows.len());
        assert!(kept.rows.iter().all(|row| row.wrong.is_none()), "{kept:?}");
        let stats = report.rows.iter().find(|row| row.name == "stats/i16/exact/every 31").unwrap();
        assert_eq!((stats.elements, stats.segments), (16368, 528));
        // Two counts, sum, two indices and l1 of 64 bits each, four moments of f64, and two extremes.
        assert_eq!(stats.bytes, 2 * 16368 + 528 * (6 * 8 + 4 * 8 + 2 * 2));
    }
}
