//! The run on the processor: make, verify, time beside the flat reduction.

use std::hint::black_box;
use std::io;
use std::time::Duration;

use regex_lite::Regex;
use warpfold::{Accuracy, Policy};

use super::numbers::numbers;
use super::report::{Report, Row, SCHEMA};
use super::{Cut, Truth, cases};
use crate::array::Buffer;
use crate::machine::Machine;
use crate::report::Header;
use crate::sampler::{Monotonic, Sampler, Sampling};

/// What to measure and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// Elements.
    pub n: u64,
    /// Threads; `None` takes what the library takes by itself.
    pub threads: Option<usize>,
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
            threads: None,
            filter: Regex::new("").expect("the empty expression matches everything"),
            sampling: Sampling { budget: Duration::from_millis(300), ..Sampling::default() },
            seed: 1,
            revision: None,
        }
    }
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

/// Measures sums of f32, exact and fast, over every cut. Wrong results are not timed.
///
/// # Errors
/// If the system has no memory for the array.
pub fn run(options: &Options, observer: &mut dyn Observer) -> io::Result<Report> {
    let header = Header::now(SCHEMA, options.revision.clone());
    let names = |case: &super::Case| {
        [Accuracy::Exact, Accuracy::Fast].map(|accuracy| {
            let word = if accuracy == Accuracy::Exact { "exact" } else { "fast" };
            (accuracy, format!("sum/f32/{word}/{}", case.name))
        })
    };
    let wanted: Vec<_> = cases(options.n)
        .into_iter()
        .map(|case| {
            let names = names(&case).into_iter();
            let names: Vec<_> = names.filter(|(_, name)| options.filter.is_match(name)).collect();
            (case, names)
        })
        .filter(|(_, names)| !names.is_empty())
        .collect();
    observer.planned(wanted.iter().map(|(_, names)| names.len()).sum());
    let mut buffer = Buffer::new(4 * options.n)?;
    let bytes = 4 * options.n as usize;
    numbers(bytemuck::cast_slice_mut(&mut buffer.bytes_mut()[..bytes]), options.seed);
    let x: &[f32] = &buffer.as_slice()[..options.n as usize];
    let mut rows: Vec<Row> = Vec::new();
    for (case, names) in wanted {
        observer.preparing(&case.name);
        let cut = case.cut();
        let truth = Truth::of(x, &cut);
        for (accuracy, name) in names {
            let policy = Policy { accuracy, threads: options.threads, ..Policy::default() };
            let mut row = row(x, &cut, &truth, policy, options.sampling);
            (row.name, row.target) = (name, case.target);
            observer.row(&row);
            rows.push(row);
        }
    }
    Ok(Report {
        header,
        slug: Machine::here().slug(),
        machine: Machine::here(),
        n: options.n,
        device: None,
        baseline: "the flat sum of the same elements, of the same accuracy".into(),
        rows,
    })
}

/// A cut verified, then timed in alternation with one sum of all its elements.
fn row(x: &[f32], cut: &Cut, truth: &Truth, policy: Policy, sampling: Sampling) -> Row {
    let (elements, segments) = (cut.elements(x.len() as u64), truth.parts());
    let flat = &x[..elements as usize];
    let mut row = Row {
        name: String::new(),
        elements,
        segments,
        bytes: 4 * (elements + segments) + cut.label_bytes(),
        microseconds: 0.0,
        spread: 0.0,
        bytes_per_second: 0.0,
        baseline: 0.0,
        target: None,
        plan: cut.plan(x, policy).unwrap_or_default(),
        wrong: None,
        peers: Vec::new(),
    };
    let verdict = match cut.sums(x, policy) {
        Ok(sums) => truth.check(&sums, policy.accuracy),
        Err(error) => Err(error.to_string()),
    };
    if let Err(wrong) = verdict {
        row.wrong = Some(wrong);
        return row;
    }
    let mut sampler = Sampler { sampling, clock: Monotonic::default() };
    let mut parts = || {
        black_box(cut.sums(black_box(x), policy).is_ok());
    };
    let mut whole = || {
        black_box(warpfold::reduce(black_box(flat)).policy(policy).sum().is_ok());
    };
    let [parts, whole] = sampler.alternate([&mut parts, &mut whole]);
    row.microseconds = parts.median * 1e6;
    row.spread = parts.spread();
    row.bytes_per_second = row.bytes as f64 / parts.median;
    row.baseline = 4.0 * elements as f64 / whole.median;
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_right_and_timed() {
        let once = Sampling {
            warm_up: Duration::ZERO,
            budget: Duration::ZERO,
            min_samples: 1,
            shortest_sample: Duration::ZERO,
            ..Sampling::default()
        };
        let options = Options { n: 70_001, sampling: once, ..Options::default() };
        let report = run(&options, &mut ()).unwrap();
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
    }
}
