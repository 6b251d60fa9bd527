//! Other libraries on the same arrays in the same run: `bench/peers/cpu/run.sh` is the way to call it.
//!
//! First the project's own benchmark, then the contests: each array is made once, written as .npy, read by Python, and all
//! contestants call in turn on it. Nobody's result is trusted: each is compared with the exact one, and its error recorded.

mod contestant;
mod npy;
mod python;
mod rust;

use std::cell::RefCell;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use clap::Parser;
use warpfold::{DType, Element, Op, with_element};
use warpfold_lab::array::{Buffer, Data, Draw, fill};
use warpfold_lab::cpu::{self, Reading};
use warpfold_lab::oracle::{self, Exact, Nearest, Split, Truth};
use warpfold_lab::report::{self, Contest, Deviation, Entry, Failure, Report, Row};
use warpfold_lab::sampler::Sampling;
use warpfold_lab::{Regex, table};

use crate::contestant::{Contestant, Outcome, contest};
use crate::python::Python;

/// Benchmarks warpfold and its peers on this machine's CPU.
#[derive(Parser)]
struct Arguments {
    /// A Python interpreter with the packages of requirements.txt.
    #[arg(long)]
    python: PathBuf,
    /// The folder in which <machine>/cpu.json is written.
    #[arg(long)]
    results: PathBuf,
    /// Rows and contests whose name matches, such as sum/f32/natural/256MiB.
    #[arg(long, default_value = "")]
    filter: String,
    /// Bytes of each contest's array.
    #[arg(long, default_value_t = 256 << 20)]
    bytes: u64,
}

/// What is contested: reductions that several libraries have, on types that they share.
const CONTESTS: &[(Op, &[DType], Data)] = {
    use DType::{F16, F32, F64, I8, I32, I64};
    &[
        (Op::Sum, &[F16, F32, F64, I8, I32, I64], Data::Natural),
        (Op::Sum, &[F32, F64], Data::LogUniform),
        (Op::Sum, &[F32, F64], Data::Cancelling),
        (Op::Max, &[F16, F32, F64, I8, I32], Data::Natural),
        (Op::ArgMax, &[F32, F64, I8], Data::Natural),
        (Op::Prod, &[F32, F64], Data::Reciprocal),
        (Op::Var, &[F32, F64], Data::Natural),
        (Op::L2, &[F32, F64], Data::Natural),
        (Op::Dot, &[F32, F64], Data::Natural),
    ]
};

const SEED: u64 = 1;

struct Print;

impl cpu::Observer for Print {
    fn row(&mut self, row: &Row) {
        eprint!("{}", table::line(row));
    }

    fn failed(&mut self, failure: &Failure) {
        eprintln!("FAILED {}: {}", failure.name, failure.error);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let filter = Regex::new(&arguments.filter)?;
    let revision = std::env::var("WARPFOLD_REVISION").ok();
    let options =
        cpu::Options { filter: filter.clone(), revision, seed: SEED, ..Default::default() };
    let mut report = cpu::run(&options, &mut Print)?;
    // Contests take long; what is measured so far is kept as it comes.
    save(&report, &arguments.results)?;

    let python = Python::start(&arguments.python)?;
    let arrays = std::env::temp_dir().join(format!("warpfold-peers-{}", std::process::id()));
    std::fs::create_dir_all(&arrays)?;
    let contests = CONTESTS
        .iter()
        .flat_map(|(op, dtypes, data)| dtypes.iter().map(|dtype| (*op, *dtype, *data)));
    for (op, dtype, data) in contests {
        if filter.is_match(&report::name(op, dtype, data, arguments.bytes)) {
            let file = arrays.join("array.npy");
            let contest =
                with_element!(dtype, T => hold::<T>(op, data, arguments.bytes, &file, &python))?;
            print(&contest);
            report.peers.push(contest);
            save(&report, &arguments.results)?;
        }
    }
    std::fs::remove_dir_all(&arrays)?;
    print!("{}", table::text(&report));
    match report.failures.len() {
        0 => Ok(()),
        failures => Err(format!("{failures} rows of ours were wrong and not timed").into()),
    }
}

fn save(report: &Report, results: &Path) -> std::io::Result<()> {
    report.save(&results.join(report.machine.slug()).join("cpu.json"))
}

/// One contest.
fn hold<T: Element>(
    op: Op,
    data: Data,
    bytes: u64,
    file: &Path,
    python: &Rc<RefCell<Python>>,
) -> Result<Contest, Box<dyn Error>>
where
    T::Component: Draw + Split,
{
    let mut buffer = Buffer::new(bytes)?;
    fill::<T>(&mut buffer, data, SEED);
    npy::write(file, T::DTYPE, buffer.bytes())?;
    let x = buffer.as_slice::<T>();
    let exact = exact(op, &Truth::of(x, data), x);
    let (reading, _) = Reading::fastest(
        buffer.words(),
        rayon::current_num_threads(),
        Sampling { budget: Duration::from_millis(150), ..Sampling::default() },
    );

    let mut contestants = rust::ours(op, x);
    contestants.extend(rust::peers(op, x));
    contestants.extend(Python::contestants(python, op, file)?);
    // The reading loop takes its turn with the others: its rate is the ceiling of this very contest.
    contestants.push(Contestant::here("", "read", || {
        Outcome::Integer(reading.read(buffer.words()).into())
    }));
    let mut outcomes = contest(&mut contestants);
    let read = outcomes.pop().expect("the reading loop was pushed last");
    let ceiling = read.map(|(_, seconds)| bytes as f64 / seconds.median)?;

    let n = if op == Op::Dot { x.len() / 2 } else { x.len() } as u64;
    let mut entries = Vec::new();
    for (Contestant { library, call, .. }, outcome) in contestants.into_iter().zip(outcomes) {
        match outcome {
            Ok((outcome, seconds)) => {
                let bytes_per_second = bytes as f64 / seconds.median;
                let error = deviation::<T>(&exact, &outcome);
                entries.push(Entry {
                    library,
                    call,
                    seconds,
                    bytes_per_second,
                    value: outcome.to_string(),
                    error,
                });
            }
            Err(error) => eprintln!("{library}, {call}: {error}"),
        }
    }
    let exact = exact.to_string();
    Ok(Contest { op, dtype: T::DTYPE, data, n, bytes, exact, ceiling, entries })
}

/// The right answer.
enum Right {
    /// A rational number, to be rounded to the result's type.
    Number(Exact),
    /// The square root of one.
    Root(Exact),
    /// An index.
    Index(u64),
}

impl std::fmt::Display for Right {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Right::Number(exact) => match exact.to_integer() {
                Some(integer) if integer.bits() <= 64 => write!(f, "{integer}"),
                _ => write!(f, "{:?}", exact.approximate()),
            },
            Right::Root(square) => write!(f, "{:?}", square.approximate().sqrt()),
            Right::Index(index) => write!(f, "{index}"),
        }
    }
}

fn exact<T: Element<Component: Split>>(op: Op, truth: &Truth<T>, x: &[T]) -> Right {
    match op {
        Op::Sum => Right::Number(truth.sum[0].clone()),
        Op::Var => Right::Number(truth.variance()),
        Op::L2 => Right::Root(truth.squares.clone()),
        Op::Prod => {
            // Known to a hundred bits, less what a long product loses: as good as exact to a format of 53.
            let product = truth.product.expect("products are contested on data that has one");
            let [product, _] = product.value();
            Right::Number(Exact::of(product.high) + Exact::of(product.low))
        }
        Op::Dot => {
            let half = x.len() / 2;
            let parts = oracle::dot(&x[..half], &x[half..2 * half]);
            Right::Number(parts.into_iter().next().expect("a real dot product has one part"))
        }
        Op::Max => Right::Number(Exact::of(truth.max.expect("the array is not empty").0)),
        Op::ArgMax => Right::Index(truth.max.expect("the array is not empty").1),
        _ => unreachable!("{op} is not contested"),
    }
}

/// How far a result is from the right one, in units of the last place of the type that the contract gives the reduction.
fn deviation<T: Element>(right: &Right, got: &Outcome) -> Deviation {
    let double = T::DTYPE == DType::F64 || !T::DTYPE.is_float();
    match (right, got) {
        (Right::Index(index), Outcome::Integer(got)) if i128::from(*index) == *got => {
            Deviation::None
        }
        (Right::Number(exact), Outcome::Integer(got))
            if exact.to_integer() == Some((*got).into()) =>
        {
            Deviation::None
        }
        (Right::Index(_), _) | (_, Outcome::Integer(_)) => Deviation::Lost,
        (right, Outcome::Float(got)) if double => float(right, *got),
        (right, Outcome::Float(got)) => float(right, *got as f32),
    }
}

fn float<F: Nearest>(right: &Right, got: F) -> Deviation {
    let ulps = match right {
        Right::Number(exact) if exact.rounds_to(got) => return Deviation::None,
        Right::Root(square) if square.root_rounds_to(got) => return Deviation::None,
        Right::Number(exact) => exact.ulps(got),
        Right::Root(square) => Exact::of(square.approximate().sqrt()).ulps(got),
        Right::Index(_) => f64::INFINITY,
    };
    match ulps {
        0.0 => Deviation::None,
        ulps if ulps.is_finite() => Deviation::Ulps(ulps),
        _ => Deviation::Lost,
    }
}

fn print(contest: &Contest) {
    let name = report::name(contest.op, contest.dtype, contest.data, contest.bytes);
    eprintln!(
        "{name}: exact {}, ceiling {} GB/s",
        contest.exact,
        table::gigabytes(contest.ceiling)
    );
    for Entry { library, call, seconds, bytes_per_second, value, error } in &contest.entries {
        let (time, rate) = (table::time(seconds.median), table::gigabytes(*bytes_per_second));
        eprintln!(
            "  {library:<15} {call:<28} {time:>9} {rate:>7} GB/s  {value:<24} {}",
            table::error(*error)
        );
    }
}
