//! The rungs of the host: the loop, and the tree as it would be told to one core.

use std::hint::black_box;
use std::time::{Duration, Instant};

use warpfold::Op;

use crate::found::Times;
use crate::number::Number;
use crate::rung::Host;

/// How often to run what is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// So often, however long it takes.
    Exactly(u32),
    /// As often as fits in the time, but three times at least and so often at most.
    Within(Duration, u32),
}

impl Runs {
    /// The number for runs of so many microseconds.
    pub fn count(self, microseconds: f64) -> u32 {
        match self {
            Runs::Exactly(runs) => runs.max(1),
            Runs::Within(budget, most) => {
                let fit = budget.as_secs_f64() * 1e6 / microseconds.max(0.1);
                (fit as u32).clamp(3, most.max(3))
            }
        }
    }
}

/// Folds an array on one core.
pub fn fold<T: Number>(host: Host, op: Op, x: &[T]) -> T {
    match host {
        Host::Serial => serial(op, x),
        Host::Tree => tree(op, x),
    }
}

// The book shows what stands between anchors.

// ANCHOR: serial
fn serial<T: Number>(op: Op, x: &[T]) -> T {
    let mut value = T::identity(op);
    for &x in x {
        value = Number::fold(op, value, x);
    }
    value
}
// ANCHOR_END: serial

// ANCHOR: tree
fn tree<T: Number>(op: Op, x: &[T]) -> T {
    let mut values = x.to_vec();
    while values.len() > 1 {
        // Rounded up: of an odd number, the one in the middle waits for the next level.
        let half = values.len().div_ceil(2);
        let (lower, upper) = values.split_at_mut(half);
        for (lower, upper) in lower.iter_mut().zip(upper) {
            *lower = Number::fold(op, *lower, *upper);
        }
        values.truncate(half);
    }
    values.first().copied().unwrap_or(T::identity(op))
}
// ANCHOR_END: tree

/// Work and steps: `[W, S]`.
pub(super) fn complexity(host: Host, n: u64) -> [f64; 2] {
    let work = n.saturating_sub(1) as f64;
    match host {
        Host::Serial => [work, work],
        Host::Tree => [work, (n.max(1) as f64).log2().ceil()],
    }
}

/// The formulas of work and steps.
pub(super) fn formulas(host: Host) -> [String; 2] {
    let steps = match host {
        Host::Serial => "n - 1",
        Host::Tree => "lg(n)",
    };
    ["n - 1".to_owned(), steps.to_owned()]
}

/// Times a call on this computer.
pub(super) fn time<R>(runs: Runs, mut call: impl FnMut() -> R) -> Times {
    let mut once = || {
        let start = Instant::now();
        black_box(call());
        start.elapsed().as_secs_f64() * 1e6
    };
    let first = once();
    let runs = runs.count(first);
    Times::of((0..runs).map(|_| once()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loop_and_tree_agree_for_every_length() {
        for n in 0..70 {
            let x: Vec<i64> = (0..n).map(|k| 3 * k - 50).collect();
            for op in [Op::Sum, Op::Min, Op::Max, Op::Prod] {
                assert_eq!(fold(Host::Serial, op, &x), fold(Host::Tree, op, &x), "{op} of {n}");
            }
        }
        assert_eq!(fold(Host::Tree, Op::Sum, &[1i32, 2, 3]), 6);
        assert!(fold(Host::Tree, Op::Max, &[1.0f32, f32::NAN, 3.0]).is_nan());
    }

    #[test]
    fn runs_fit_the_time_that_there_is() {
        let within = Runs::Within(Duration::from_secs(1), 100);
        assert_eq!([1e3, 1e4, 2e4, 1e9].map(|us| within.count(us)), [100, 100, 50, 3]);
        assert_eq!(Runs::Exactly(7).count(1e9), 7);
    }
}
