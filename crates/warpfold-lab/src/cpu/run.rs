//! The run: fill, verify, time.

use std::hint::black_box;
use std::io;
use std::time::Duration;

use regex_lite::Regex;
use warpfold::partial::{Finish, Output};
use warpfold::plan::Isa;
use warpfold::{Element, Op, Policy, Stream, with_element};

use super::ceiling::Reading;
use super::target::target;
use super::target::{LARGE, SMALL};
use super::{Case, cases};
use crate::array::{Buffer, Draw, fill};
use crate::machine::Machine;
use crate::oracle::{self, Split, Truth};
use crate::report::{Ceiling, Failure, Header, Report, Row, SCHEMA};
use crate::sampler::{Monotonic, Sampler, Sampling};

/// What to measure and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// Working sets in bytes.
    pub sizes: Vec<u64>,
    /// Threads; `None` takes what the library takes by itself.
    pub threads: Option<usize>,
    /// Kernels of this instruction set; `None` takes the widest.
    pub isa: Option<Isa>,
    /// Rows whose name matches, such as `sum/f32/natural/256MiB`.
    pub filter: Regex,
    /// How to time.
    pub sampling: Sampling,
    /// The seed of all arrays.
    pub seed: u64,
    /// The revision of the sources, to be kept in the report.
    pub revision: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            sizes: vec![LARGE, 1 << 20],
            threads: None,
            isa: None,
            filter: Regex::new("").expect("the empty expression matches everything"),
            sampling: Sampling { budget: Duration::from_millis(150), ..Sampling::default() },
            seed: 1,
            revision: None,
        }
    }
}

impl Options {
    /// The rows that will be measured.
    pub fn cases(&self) -> Vec<Case> {
        cases(&self.sizes).into_iter().filter(|case| self.filter.is_match(&case.name())).collect()
    }
}

/// Is told of the run as it goes; `()` listens to nothing.
pub trait Observer {
    /// So many rows will be measured.
    fn planned(&mut self, rows: usize) {
        let _ = rows;
    }

    /// An array is being made and its truth computed, or a ceiling searched for: no rows for a while.
    fn preparing(&mut self, what: &str) {
        let _ = what;
    }

    /// A ceiling was found.
    fn ceiling(&mut self, ceiling: &Ceiling) {
        let _ = ceiling;
    }

    /// A row was measured.
    fn row(&mut self, row: &Row) {
        let _ = row;
    }

    /// A row was not timed.
    fn failed(&mut self, failure: &Failure) {
        let _ = failure;
    }
}

impl Observer for () {}

/// Measures. Wrong results are not timed: they are in the report's failures.
///
/// # Errors
/// If the system has no memory for the largest working set.
pub fn run(options: &Options, observer: &mut dyn Observer) -> io::Result<Report> {
    let header = Header::now(SCHEMA, options.revision.clone());
    let cases = options.cases();
    observer.planned(cases.len());
    let mut bench = Bench {
        options,
        readings: Vec::new(),
        ceilings: Vec::new(),
        rows: Vec::new(),
        failures: Vec::new(),
    };
    for group in cases.chunk_by(|a, b| (a.dtype, a.data, a.bytes) == (b.dtype, b.data, b.bytes)) {
        with_element!(group[0].dtype, T => bench.group::<T>(group, observer)?);
    }
    Ok(Report {
        header,
        machine: Machine::here().with_isa(options.isa),
        sampling: options.sampling,
        seed: options.seed,
        ceilings: bench.ceilings,
        rows: bench.rows,
        failures: bench.failures,
        peers: Vec::new(),
    })
}

/// One reduction of a whole array, or of its first half with its second (dot).
///
/// # Errors
/// The library's.
pub fn reduce<T: Element>(op: Op, policy: Policy, x: &[T]) -> warpfold::Result<Output> {
    let finish = Finish { overflow: policy.overflow, ..Finish::default() };
    if op == Op::Dot {
        let (left, right) = halves(x);
        let mut stream = Stream::new(op, policy)?;
        stream.push_pair(left, right)?;
        return stream.finish(finish);
    }
    warpfold::reduce(x).policy(policy).partial(op)?.finish(op, finish)
}

fn halves<T>(x: &[T]) -> (&[T], &[T]) {
    let half = x.len() / 2;
    (&x[..half], &x[half..2 * half])
}

/// Computes the result once and compares it with the truth.
fn verify<T: Element<Component: Split>>(
    op: Op,
    policy: Policy,
    x: &[T],
    truth: &Truth<T>,
) -> Result<(), String> {
    let got = reduce(op, policy, x).map_err(|error| error.to_string())?;
    let verdict = match op {
        Op::Dot => {
            let (left, right) = halves(x);
            Truth::<T>::check_dot(&oracle::dot(left, right), left.len() as u64, &got)
        }
        _ => truth.check(op, &got),
    };
    verdict.map_err(|wrong| wrong.to_string())
}

struct Bench<'a> {
    options: &'a Options,
    readings: Vec<(u64, Reading)>,
    ceilings: Vec<Ceiling>,
    rows: Vec<Row>,
    failures: Vec<Failure>,
}

impl Bench<'_> {
    /// All rows over one array.
    fn group<T: Element>(&mut self, group: &[Case], observer: &mut dyn Observer) -> io::Result<()>
    where
        T::Component: Draw + Split,
    {
        let Case { dtype, data, bytes, .. } = group[0];
        observer.preparing(&format!("{} of {data} {dtype}", crate::report::size(bytes)));
        let mut buffer = Buffer::new(bytes)?;
        fill::<T>(&mut buffer, data, self.options.seed);
        let x = buffer.as_slice::<T>();
        let truth = Truth::of(x, data);
        let reading = (bytes != SMALL.bytes).then(|| self.reading(bytes, buffer.words(), observer));
        for &case in group {
            match verify(case.op, self.policy(), x, &truth) {
                Ok(()) => {
                    let row = self.row(case, x, buffer.words(), reading.as_ref());
                    observer.row(&row);
                    self.rows.push(row);
                }
                Err(error) => {
                    let failure = Failure { name: case.name(), error };
                    observer.failed(&failure);
                    self.failures.push(failure);
                }
            }
        }
        Ok(())
    }

    fn policy(&self) -> Policy {
        Policy { threads: self.options.threads, isa: self.options.isa, ..Policy::default() }
    }

    /// The fastest reading for a working set, searched for once.
    fn reading(&mut self, bytes: u64, words: &[u64], observer: &mut dyn Observer) -> Reading {
        if let Some((_, reading)) = self.readings.iter().find(|(size, _)| *size == bytes) {
            return reading.clone();
        }
        let threads = self.options.threads.unwrap_or_else(rayon::current_num_threads);
        let (reading, ceiling) = Reading::fastest(words, threads, self.options.sampling);
        observer.ceiling(&ceiling);
        self.ceilings.push(ceiling);
        self.readings.push((bytes, reading.clone()));
        reading
    }

    fn row<T: Element>(
        &self,
        case: Case,
        x: &[T],
        words: &[u64],
        reading: Option<&Reading>,
    ) -> Row {
        let Case { op, dtype, data, .. } = case;
        let policy = self.policy();
        let mut sampler = Sampler { sampling: self.options.sampling, clock: Monotonic::default() };
        let mut subject = || {
            black_box(reduce(op, policy, black_box(x)).is_ok());
        };
        let (seconds, ceiling) = match reading {
            None => (sampler.measure(subject), None),
            Some(reading) => {
                let mut read = || {
                    black_box(reading.read(black_box(words)));
                };
                let [seconds, read] = sampler.alternate([&mut subject, &mut read]);
                (seconds, Some(size_of_val(words) as f64 / read.median))
            }
        };
        let n = if op == Op::Dot { x.len() / 2 } else { x.len() } as u64;
        let bytes = if op == Op::Dot { 2 } else { 1 } * n * size_of::<T>() as u64;
        let threads = Stream::<T>::new(op, policy).map_or(1, |stream| stream.plan(n).threads);
        let bytes_per_second = bytes as f64 / seconds.median;
        let target = target(case);
        Row { op, dtype, data, n, bytes, threads, seconds, bytes_per_second, ceiling, target }
    }
}
