//! Compares every function of one `f64` with several hundred bits, on random inputs and hard ones:
//! `cargo run --release -p warpfold-expr --example random_f64 [MILLIONS [FUNCTION…]]`, one line of JSON a function.
//!
//! Where the bits are those of the standard library's function, that one's error is the error; the integers are asked of all other inputs, and of every
//! [`ANYWAY`]th, and say how many ulps the result is away.

#[allow(dead_code, reason = "results of f32 are for the comparison of f32")]
#[path = "../tests/oracle/mod.rs"]
mod oracle;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use oracle::inputs::{hard_and_random, has_value};
use oracle::{ROWS, Row, wide};

/// Inputs of a chunk.
const CHUNK: usize = 1 << 16;
/// Every so many inputs the integers are asked whatever the standard library says.
const ANYWAY: usize = 10_007;

/// What was found of a function.
#[derive(Debug, Clone, Copy, Default)]
struct Found {
    inputs: u64,
    by_integers: u64,
    most_ulps: f64,
    at: f64,
}

impl Found {
    fn join(self, other: Found) -> Found {
        let worst = if self.most_ulps >= other.most_ulps { self } else { other };
        Found {
            inputs: self.inputs + other.inputs,
            by_integers: self.by_integers + other.by_integers,
            ..worst
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let millions: usize =
        arguments.next().map_or(100, |n| n.parse().expect("a number of millions"));
    let names: Vec<String> = arguments.collect();
    for row in &ROWS {
        if names.is_empty() || names.iter().any(|name| name == row.name) {
            report(row, (millions * 1_000_000).div_ceil(CHUNK) as u64);
        }
    }
}

fn report(row: &Row, chunks: u64) {
    let (start, next) = (Instant::now(), AtomicU64::new(0));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = || {
        let mut found = Found::default();
        loop {
            let k = next.fetch_add(1, Ordering::Relaxed);
            if k >= chunks {
                return found;
            }
            found = found.join(chunk(row, k));
        }
    };
    let found = std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(share)).collect();
        let all = all.into_iter().map(|thread| thread.join().expect("no thread panics"));
        all.fold(Found::default(), Found::join)
    });
    println!(
        "{{\"function\":\"{}\",\"inputs\":{},\"by_integers\":{},\"most_ulps\":{:.4},\"at\":\"{:e}\",\"seconds\":{:.1}}}",
        row.name,
        found.inputs,
        found.by_integers,
        found.most_ulps,
        found.at,
        start.elapsed().as_secs_f64()
    );
}

fn chunk(row: &Row, seed: u64) -> Found {
    let Row { function, double: ours, standard: theirs, .. } = *row;
    let mut found = Found::default();
    for (k, x) in hard_and_random(CHUNK, seed).enumerate() {
        if !has_value(function, x) {
            continue;
        }
        found.inputs += 1;
        let y = ours(x);
        if y.to_bits() != theirs(x).to_bits() || k % ANYWAY == 0 {
            found.by_integers += 1;
            let ulps = wide(function, x).ulps(y);
            if ulps > found.most_ulps {
                (found.most_ulps, found.at) = (ulps, x);
            }
        }
    }
    found
}
