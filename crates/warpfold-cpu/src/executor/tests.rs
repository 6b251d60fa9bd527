//! One to eight threads, each of which truly takes part, leave the same partials.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::{ArrayFold, run};
use crate::Input;
use crate::isa::Target;
use crate::kernels::Kernels;
use crate::{Accuracy, Nan, Op, Policy, f16};
use warpfold_num::Complex;
use warpfold_plan::plan::{Plan, Problem, choose};

const MOST: usize = 8;
/// Elements: whole blocks of the fast sums, which are what their bits depend on.
const GRAIN: usize = 8192;

const OPS: [Op; 11] = [
    Op::Sum,
    Op::Var,
    Op::L1,
    Op::Linf,
    Op::MinMax,
    Op::ArgMin,
    Op::Count,
    Op::Any,
    Op::Prod,
    Op::Dot,
    Op::Stats,
];

/// Works in a pool of eight threads, however many the machine has.
fn in_pool(work: impl FnOnce() + Send) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(MOST).build().expect("threads start");
    pool.install(work);
}

fn plan<T: Kernels>(op: Op, n: usize, policy: Policy, threads: usize) -> Plan {
    let problem = Problem { op, dtype: T::DTYPE, n: n as u64, policy };
    Plan { threads, grain: GRAIN as u64, ..choose(problem, crate::facts()) }
}

/// Lists the grains it takes, and ends none of the first before all threads have one.
struct Roll<'a> {
    begun: &'a AtomicUsize,
    threads: usize,
    firsts: Vec<u64>,
}

impl ArrayFold<&[u8]> for Roll<'_> {
    type Partial = Vec<u64>;

    fn take<C: Target>(&mut self, _piece: &[u8], first: u64) {
        self.begun.fetch_add(1, Ordering::Relaxed);
        let start = Instant::now();
        while self.begun.load(Ordering::Relaxed) < self.threads {
            assert!(start.elapsed() < Duration::from_secs(60), "{} threads", self.threads);
            std::thread::yield_now();
        }
        self.firsts.push(first);
    }

    fn finish(self) -> Vec<u64> {
        self.firsts
    }
}

#[test]
fn every_thread_takes_part_and_no_grain_is_lost() {
    let x = vec![0u8; 50 * GRAIN + 500];
    in_pool(|| {
        for threads in 1..=MOST {
            let plan = plan::<u8>(Op::Sum, x.len(), Policy::default(), threads);
            // Alone, a fold takes all as one piece where order does not matter.
            let grains = if threads == 1 { 1 } else { 51 };
            let expected: Vec<u64> = (0..grains).map(|k| k * GRAIN as u64).collect();
            let begun = AtomicUsize::new(0);
            let start = || Roll { begun: &begun, threads, firsts: Vec::new() };
            let merge = |all: &mut Vec<u64>, one| all.extend::<Vec<u64>>(one);
            let mut firsts = run(&plan, &x[..], 0, start, merge);
            firsts.sort_unstable();
            assert_eq!(firsts, expected, "{threads} threads");
        }
    });
}

fn agree<T: Kernels>(x: &[T], policies: &[Policy]) {
    let y: Vec<T> = x.iter().rev().copied().collect();
    for &policy in policies {
        for op in OPS.into_iter().filter(|&op| crate::check(op, T::DTYPE).is_ok()) {
            let input = if op == Op::Dot { Input::Two(x, &y) } else { Input::One(x) };
            let partial = |threads| {
                let plan = plan::<T>(op, x.len(), policy, threads);
                crate::run(&plan, input, 0).expect("it is defined").to_bytes()
            };
            let alone = partial(1);
            for threads in 2..=MOST {
                assert!(partial(threads) == alone, "{op} of {}: {threads} threads", T::DTYPE);
            }
        }
    }
}

/// Values over many binades; those of a few places are special.
fn value(i: usize, special: f64) -> f64 {
    match i % 9973 {
        9001 => special,
        _ => (i as f64 * 0.37).sin() * f64::from(i as u32 % 13).exp2(),
    }
}

#[test]
fn any_number_of_threads_leaves_the_same_partial() {
    in_pool(|| {
        let policies: Vec<Policy> = [Nan::Propagate, Nan::Ignore]
            .into_iter()
            .flat_map(|nan| {
                [Accuracy::Exact, Accuracy::Fast].map(|accuracy| Policy {
                    nan,
                    accuracy,
                    ..Policy::default()
                })
            })
            .collect();
        for special in [0.0, 1e30, f64::INFINITY, f64::NAN] {
            let x: Vec<f64> = (0..12 * GRAIN + 3).map(|i| value(i, special)).collect();
            let narrow: Vec<f32> = x.iter().map(|&x| x as f32).collect();
            agree(&x, &policies);
            agree(&narrow, &policies);
            agree(&x.iter().map(|&x| f16::from_f64(x)).collect::<Vec<_>>(), &policies);
            let complex = |pair: &[f32]| Complex::new(pair[0], pair[1]);
            agree(&narrow.chunks_exact(2).map(complex).collect::<Vec<_>>(), &policies);
        }
        let integers: Vec<i32> = (0..12 * GRAIN + 3).map(|i| value(i, 1e9) as i32).collect();
        agree(&integers, &policies[..1]);
        agree(&integers.iter().map(|&x| x as u8).collect::<Vec<_>>(), &policies[..1]);
    });
}
