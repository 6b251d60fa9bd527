//! Compares every function of one `f32` with several hundred bits, over all 2^32 inputs:
//! `cargo run --release -p warpfold-expr --example all_f32 [STEP [FUNCTION…]]`, one line of JSON a function.
//!
//! The standard library's function of `f64` decides wherever it lies farther from the middle of two `f32` than 2^-44 of it, some
//! hundred times its documented error; what lies nearer, and every 100,003rd input, is computed in integers of 640 bits.
//! Powers, whose significands repeat, are compared for each exponent over all significands at several exponents.

#[allow(dead_code, reason = "distances in ulps are for the tests of f64")]
#[path = "../tests/oracle/mod.rs"]
mod oracle;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use oracle::{Function, ROWS, Row, wide};
use warpfold_expr::math::{LARGEST, SMALLEST, single};

/// Inputs of a chunk.
const CHUNK: u64 = 1 << 22;
/// Every so many inputs the integers are asked whatever the standard library says.
const ANYWAY: u64 = 100_003;

#[derive(Default)]
struct Found {
    inputs: AtomicU64,
    requested: AtomicU64,
    wrong: AtomicU64,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let step: u64 = arguments.next().map_or(1, |step| step.parse().expect("a step is a number"));
    let names: Vec<String> = arguments.collect();
    let is_asked = |name: &str| names.is_empty() || names.iter().any(|requested| requested == name);
    for Row { name, function, single: ours, standard: theirs, .. } in ROWS {
        if is_asked(name) {
            let all = (0..1u64 << 32).step_by(step as usize);
            report(name, step, all.end_chunks(), |bits| {
                let x = f32::from_bits(bits);
                (ours(x), theirs(f64::from(x)), function, x)
            });
        }
    }
    if is_asked("power") {
        for n in SMALLEST..=LARGEST {
            powers(n, step);
        }
    }
}

/// All significands at seven exponents, and a sample of everything.
fn powers(n: i8, step: u64) {
    let by = |x: f32| (single::power(x, n), f64::from(x).powi(i32::from(n)), Function::Power(n), x);
    // Near the ends of what an f32 holds, too.
    let of = |exponent: i32| (exponent + 127) as u32;
    let edge = (127 / i32::from(n).abs().max(1)).max(1);
    let mut exponents =
        [0, -1, 1, edge, -edge, -edge - 1, -140 / i32::from(n).abs().max(2)].map(of).to_vec();
    exponents.sort_unstable();
    exponents.dedup();
    for exponent in exponents {
        let chunks = vec![(u64::from(exponent) << 23, (u64::from(exponent) + 1) << 23, step)];
        report(&format!("power {n}, exponent {}", exponent as i32 - 127), step, chunks, |bits| {
            by(f32::from_bits(bits))
        });
    }
    let chunks = (0..1u64 << 32).step_by(509 * step as usize).end_chunks();
    report(&format!("power {n}, sample"), step, chunks, |bits| by(f32::from_bits(bits)));
}

/// Ranges of bits: from, to, step.
trait EndChunks {
    fn end_chunks(self) -> Vec<(u64, u64, u64)>;
}

impl EndChunks for std::iter::StepBy<std::ops::Range<u64>> {
    fn end_chunks(mut self) -> Vec<(u64, u64, u64)> {
        let (first, second) = (self.next(), self.next());
        let step = second.unwrap_or(1) - first.unwrap_or(0);
        (0..(1u64 << 32).div_ceil(CHUNK * step))
            .map(|k| (k * CHUNK * step, ((k + 1) * CHUNK * step).min(1 << 32), step))
            .collect()
    }
}

fn report(
    name: &str,
    step: u64,
    chunks: Vec<(u64, u64, u64)>,
    of: impl Fn(u32) -> (f32, f64, Function, f32) + Sync,
) {
    let (start, found, next) = (Instant::now(), Found::default(), AtomicU64::new(0));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let k = next.fetch_add(1, Ordering::Relaxed) as usize;
                    let Some(&(from, to, by)) = chunks.get(k) else { break };
                    chunk(name, from, to, by, &of, &found);
                }
            });
        }
    });
    let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    println!(
        "{{\"function\":\"{name}\",\"step\":{step},\"inputs\":{},\"by_integers\":{},\"wrong\":{},\"seconds\":{:.1}}}",
        of(&found.inputs),
        of(&found.requested),
        of(&found.wrong),
        start.elapsed().as_secs_f64()
    );
}

fn chunk(
    name: &str,
    from: u64,
    to: u64,
    by: u64,
    of: &impl Fn(u32) -> (f32, f64, Function, f32),
    found: &Found,
) {
    let (mut inputs, mut requested, mut wrong) = (0, 0, 0);
    for bits in (from..to).step_by(by as usize) {
        let (ours, theirs, function, x) = of(bits as u32);
        inputs += 1;
        let margin = theirs.abs() * 2f64.powi(-44);
        let (low, high) = ((theirs - margin) as f32, (theirs + margin) as f32);
        let is_sure = low.to_bits() == high.to_bits() || theirs.is_nan() || theirs.is_infinite();
        let is_ordinary = x.is_finite() && x != 0.0 && (1e-46..1e39).contains(&theirs.abs());
        let expected = if is_ordinary && (!is_sure || bits % ANYWAY == 0) {
            requested += 1;
            wide(function, f64::from(x)).single()
        } else if theirs.is_nan() {
            f32::from_bits(0x7fc0_0000)
        } else {
            theirs as f32
        };
        if ours.to_bits() != expected.to_bits() {
            wrong += 1;
            eprintln!(
                "{name} of {:#010x} ({x:e}): {:#010x}, expected {:#010x}",
                x.to_bits(),
                ours.to_bits(),
                expected.to_bits()
            );
        }
    }
    found.inputs.fetch_add(inputs, Ordering::Relaxed);
    found.requested.fetch_add(requested, Ordering::Relaxed);
    found.wrong.fetch_add(wrong, Ordering::Relaxed);
}
