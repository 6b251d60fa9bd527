//! How fast maps are reduced, beside the flat reduction of the same bytes: `cargo run --release --example maps`.
//!
//! One line of JSON a cell: gigabytes of input a second, medians of runs that take turns.

use std::time::Instant;

use warpfold_engine::map::{Expressions, Map};
use warpfold_engine::{HostArray, Request, reduce};
use warpfold_num::{DType, Element, Op, Policy};

/// A cell: a name, a reduction, an expression, a condition and weights.
type Cell = (&'static str, Op, &'static str, Option<&'static str>, Option<&'static str>);

const CELLS: &[Cell] = &[
    ("sum of |x - y|", Op::Sum, "abs(x - y)", None, None),
    ("sum of x * y", Op::Sum, "x * y", None, None),
    ("weighted mean", Op::Mean, "x", None, Some("w")),
    ("count of x > 0.3", Op::Count, "x > 0.3", None, None),
    ("argmax of |x|", Op::ArgMax, "abs(x)", None, None),
    ("mean where y > 0", Op::Mean, "x", Some("y > 0"), None),
    (
        "sum of eleven operations",
        Op::Sum,
        "sqrt(select(y > 0, select(abs(x - y) < 1, (x - y) * (x - y) * 0.5, abs(x - y) - 0.5), 0)) * 2",
        None,
        None,
    ),
    ("var of x - y", Op::Var, "x - y", None, None),
    ("weighted var", Op::Var, "x", None, Some("w")),
    ("sum of exp(x)", Op::Sum, "exp(x)", None, None),
    ("sum of log1p(abs(x))", Op::Sum, "log1p(abs(x))", None, None),
    ("sum of tanh(x)", Op::Sum, "tanh(x)", None, None),
    ("sum of sin(x)", Op::Sum, "sin(x)", None, None),
    ("sum of x**3", Op::Sum, "x**3", None, None),
];

fn main() {
    let bytes: usize = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(256 << 20);
    let threads = std::env::args().nth(2).and_then(|n| n.parse().ok());
    cells(bytes / 4, threads, |k| k as f32);
    cells(bytes / 8, threads, |k| k);
}

fn cells<T: Element>(n: usize, threads: Option<usize>, of: fn(f64) -> T) {
    let policy = Policy { threads, ..Policy::default() };
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
    for &(name, op, value, keep, weights) in CELLS {
        let mut expressions = Expressions::value(value).expect("it is an expression");
        if let Some(keep) = keep {
            expressions = expressions.keep(keep).expect("it is an expression");
        }
        if let Some(weights) = weights {
            expressions = expressions.weights(weights).expect("it is an expression");
        }
        let names = expressions.names();
        let given: Vec<(&str, DType)> = names.iter().map(|name| (*name, T::DTYPE)).collect();
        let map = Map::new(op, &expressions, &given, policy).expect("it suits the types");
        let inputs: Vec<HostArray<'_>> = names
            .iter()
            .map(|name| arrays.iter().find(|(known, _)| known == name).expect("it is there"))
            .map(|(_, values)| HostArray::of(values))
            .collect();
        let (mut mapped, mut flat) = (Vec::new(), Vec::new());
        for _ in 0..9 {
            let start = Instant::now();
            std::hint::black_box(map.fold(&inputs, 0).expect("every element has a value"));
            mapped.push(start.elapsed().as_secs_f64());
            let start = Instant::now();
            for input in &inputs {
                std::hint::black_box(
                    reduce(&Request::new(op, *input).policy(policy)).expect("it is known"),
                );
            }
            flat.push(start.elapsed().as_secs_f64());
        }
        let rate = |mut seconds: Vec<f64>| {
            seconds.sort_by(f64::total_cmp);
            (n * T::DTYPE.size() * inputs.len()) as f64 / seconds[seconds.len() / 2] / 1e9
        };
        let (mapped, flat) = (rate(mapped), rate(flat));
        println!(
            "{{\"cell\":\"{name}\",\"dtype\":\"{}\",\"bytes\":{},\"threads\":{},\"mapped_gb_s\":{mapped:.2},\"flat_gb_s\":{flat:.2},\"percent\":{:.0}}}",
            T::DTYPE,
            n * T::DTYPE.size(),
            threads.unwrap_or(0),
            100.0 * mapped / flat
        );
    }
}
