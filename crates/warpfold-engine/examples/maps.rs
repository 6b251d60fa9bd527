//! How fast maps are reduced, beside the flat reduction of the same bytes, as one JSON document:
//! `cargo run --release -p warpfold-engine --example maps -- [BYTES OF AN ARRAY] [THREADS] [RUNS] [PART OF A CELL'S NAME] [avx2]`.
//!
//! Gigabytes of input a second. Both take turns, in many short runs, of which the fastest and the median are told: on a machine that others use, the
//! fastest is what the code can do.

use std::hint::black_box;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use warpfold_engine::map;
use warpfold_engine::map::{Expr, Expressions, Map, Reduction};
use warpfold_engine::{HostArray, Request, facts, reduce};
use warpfold_num::{DType, Element, Isa, Op, Policy, Result};

/// A cell: reductions of maps, a condition, the flat reduction beside it, and what is asked: percent of that, or gigabytes a second.
struct Cell {
    name: &'static str,
    wanted: &'static [&'static str],
    keep: Option<&'static str>,
    /// The same sum as a body in Rust, of f32 and of f64.
    bodies: Option<[Body; 2]>,
    flat: Op,
    target: Target,
}

/// An expression in Rust, read.
type Body = fn() -> Result<Expr>;

#[derive(Clone, Copy)]
enum Target {
    Percent(u32),
    Rate(f64),
    Nothing,
}
use Target::{Nothing, Percent, Rate};

const fn cell(
    name: &'static str,
    wanted: &'static [&'static str],
    flat: Op,
    target: Target,
) -> Cell {
    Cell { name, wanted, keep: None, bodies: None, flat, target }
}

const ELEVEN: &str = "sum(sqrt(select(y > 0, select(abs(x - y) < 1, (x - y) * (x - y) * 0.5, abs(x - y) - 0.5), 0)) * 2)";

/// A cell whose expression is written in Rust, for both types.
macro_rules! in_rust {
    ($name:literal, $text:expr, $target:expr, |$x:ident, $y:ident| $body:expr) => {
        Cell {
            bodies: Some([|| map!(|$x: f32, $y: f32| $body), || map!(|$x: f64, $y: f64| $body)]),
            ..cell($name, &[$text], Op::Sum, $target)
        }
    };
}

const CELLS: &[Cell] = &[
    in_rust!("map!: sum of abs(x - y)", "sum(abs(x - y))", Percent(85), |x, y| abs(x - y)),
    in_rust!("map!: sum of eleven operations", ELEVEN, Nothing, |x, y| sqrt(select(
        y > 0,
        select(abs(x - y) < 1, (x - y) * (x - y) * 0.5, abs(x - y) - 0.5),
        0
    )) * 2),
    cell("sum of abs(x - y)", &["sum(abs(x - y))"], Op::Sum, Percent(65)),
    cell("sum of x * y", &["sum(x * y)"], Op::Sum, Nothing),
    cell("weighted mean", &["mean(x, weights=w)"], Op::Mean, Percent(60)),
    cell("cosine", &["cosine(x, y)"], Op::Sum, Percent(60)),
    cell("rmse", &["rmse(x, y)"], Op::Sum, Nothing),
    cell("count of x > 0.3", &["count(x > 0.3)"], Op::Count, Percent(85)),
    cell("two counts", &["count(x > 0.3)", "low = count(x < -0.3)"], Op::Count, Nothing),
    cell("argmax of abs(x)", &["argmax(abs(x))"], Op::ArgMax, Percent(85)),
    Cell { keep: Some("y > 0"), ..cell("mean where y > 0", &["mean(x)"], Op::Mean, Nothing) },
    cell("sum of eleven operations", &[ELEVEN], Op::Sum, Nothing),
    cell("var of x - y", &["var(x - y)"], Op::Var, Nothing),
    cell("weighted var", &["var(x, weights=w)"], Op::Var, Nothing),
    cell("sum of exp(x)", &["sum(exp(x))"], Op::Sum, Rate(3.0)),
    cell("logsumexp", &["logsumexp(x)"], Op::Sum, Rate(2.5)),
    cell("sum of log1p(abs(x))", &["sum(log1p(abs(x)))"], Op::Sum, Nothing),
    cell("sum of tanh(x)", &["sum(tanh(x))"], Op::Sum, Nothing),
    cell("sum of sin(x)", &["sum(sin(x))"], Op::Sum, Nothing),
    cell("sum of x**3", &["sum(x**3)"], Op::Sum, Nothing),
];

/// What the command line says.
struct Given {
    bytes: usize,
    threads: Option<usize>,
    runs: usize,
    part: String,
    /// Whether folds have no wider instructions than AVX2; loops over tiles have those of the machine.
    is_short: bool,
}

fn main() {
    let mut words = std::env::args().skip(1);
    let mut number = || words.next().and_then(|word| word.parse::<usize>().ok());
    let (bytes, threads, runs) = (number(), number(), number());
    let given = Given {
        bytes: bytes.unwrap_or(32 << 20),
        threads,
        runs: runs.unwrap_or(25),
        part: words.next().unwrap_or_default(),
        is_short: words.next().is_some_and(|word| word == "avx2"),
    };
    let mut rows = cells(given.bytes / 4, &given, |k| k as f32);
    rows.extend(cells(given.bytes / 8, &given, |k| k));
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let info = read("/proc/cpuinfo");
    let cpu = info.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    println!("{{");
    println!("  \"date\": \"{}\",", date());
    println!("  \"machine\": \"{}\",", cpu.unwrap_or("a processor"));
    println!("  \"cores\": {},", facts().threads);
    println!("  \"isa\": \"{:?}\",", if given.is_short { Isa::Avx2 } else { facts().isa });
    let load = read("/proc/loadavg");
    let load: Vec<&str> = load.split(' ').take(3).collect();
    println!("  \"load\": \"{}\",", load.join(" "));
    println!(
        "  \"command\": \"cargo run --release -p warpfold-engine --example maps -- {} {} {}\",",
        given.bytes,
        threads.unwrap_or(0),
        given.runs
    );
    println!("  \"rows\": [\n{}\n  ]\n}}", rows.join(",\n"));
}

/// Today, in UTC.
fn date() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    // Days from the first of March of the year 0, as years that begin in March have their odd day last.
    let days = seconds / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) =
        (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    format!("{}-{month:02}-{day:02}", era * 400 + year + u64::from(month <= 2))
}

fn cells<T: Element>(n: usize, given: &Given, of: fn(f64) -> T) -> Vec<String> {
    let policy = Policy {
        threads: given.threads.filter(|&threads| threads > 0),
        isa: given.is_short.then_some(Isa::Avx2),
        ..Policy::default()
    };
    let mut state = 7u64;
    let mut numbers = |shift: f64| -> Vec<T> {
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        (0..n).map(|_| of(next() - shift)).collect()
    };
    let arrays = [("x", numbers(0.5)), ("y", numbers(0.5)), ("w", numbers(0.0))];
    let cells = CELLS.iter().filter(|cell| cell.name.contains(&given.part));
    cells.map(|cell| row(cell, &arrays, policy, given.runs)).collect()
}

fn row<T: Element>(cell: &Cell, arrays: &[(&str, Vec<T>)], policy: Policy, runs: usize) -> String {
    let wanted = cell.wanted.iter().map(|text| text.parse().expect("it is a reduction"));
    let wanted: Vec<Reduction> = wanted.collect();
    // The arrays that are named; no name is part of another word but of functions'.
    let texts = cell.wanted.concat() + cell.keep.unwrap_or_default();
    let is_named = |name: &str| {
        let mut words = texts.split(|c: char| !c.is_alphanumeric());
        words.any(|word| word == name)
    };
    let arrays: Vec<_> = arrays.iter().filter(|(name, _)| is_named(name)).collect();
    let types: Vec<_> = arrays.iter().map(|(name, _)| (*name, T::DTYPE)).collect();
    let map = match cell.bodies {
        None => Map::all(&wanted, cell.keep, &types, policy),
        Some(bodies) => {
            let body = bodies[usize::from(T::DTYPE == DType::F64)];
            body().and_then(|body| Map::new(Op::Sum, &Expressions::of(body), &types, policy))
        }
    };
    let map = map.expect("it suits the types");
    let inputs: Vec<_> = arrays.iter().map(|(_, values)| HostArray::of(values)).collect();
    let (mut mapped, mut flat) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        let start = Instant::now();
        black_box(map.fold(&inputs, 0).expect("every element has a value"));
        mapped.push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        for input in &inputs {
            let request = Request::new(cell.flat, *input).policy(policy);
            black_box(reduce(&request).expect("it is known"));
        }
        flat.push(start.elapsed().as_secs_f64());
    }
    let bytes: usize = inputs.iter().map(|input| input.len() * T::DTYPE.size()).sum();
    let rates = |mut seconds: Vec<f64>| {
        seconds.sort_by(f64::total_cmp);
        [0, seconds.len() / 2].map(|k| bytes as f64 / seconds[k] / 1e9)
    };
    let ([mapped, mapped_median], [flat, flat_median]) = (rates(mapped), rates(flat));
    let (percent, rate) = match cell.target {
        Percent(percent) => (percent, 0.0),
        Rate(rate) => (0, rate),
        Nothing => (0, 0.0),
    };
    format!(
        "    {{ \"cell\": \"{}\", \"dtype\": \"{}\", \"bytes\": {bytes}, \"mapped_gb_s\": {mapped:.2}, \"flat_gb_s\": {flat:.2}, \
         \"mapped_median_gb_s\": {mapped_median:.2}, \"flat_median_gb_s\": {flat_median:.2}, \"percent\": {:.0}, \
         \"asked_percent\": {percent}, \"asked_gb_s\": {rate} }}",
        cell.name,
        T::DTYPE,
        100.0 * mapped / flat
    )
}
