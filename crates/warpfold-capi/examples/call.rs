//! What a call costs: the sum of 1,000 f32 by the engine and through the interface, and by a loop of C's kind for scale.
//!
//! `cargo run --release -p warpfold-capi --example call`; `examples-c/call.c` is the same in C, through the shared library.

use std::hint::black_box;
use std::time::Instant;

use warpfold_c::short::wf_sum_f32;
use warpfold_c::status::wf_status;
use warpfold_engine::{HostArray, Request, output};
use warpfold_exact::partial::{Finish, Output};
use warpfold_num::{Op, Value};

const CALLS: u32 = 20_000;
const ROUNDS: usize = 25;

/// The median of nanoseconds a call.
fn time(mut call: impl FnMut() -> f32) -> f64 {
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..CALLS {
                black_box(call());
            }
            start.elapsed().as_nanos() as f64 / f64::from(CALLS)
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    rounds[ROUNDS / 2]
}

fn main() {
    let x: Vec<f32> = (0..1000).map(|k| k as f32 * 0.1).collect();
    let engine = || {
        let request = Request::new(Op::Sum, HostArray::of(black_box(&x[..])));
        match output(&request, Finish::default()) {
            Ok(Output::One(Value::F32(sum))) => sum,
            other => unreachable!("{other:?}"),
        }
    };
    let interface = || {
        let (x, mut sum) = (black_box(&x[..]), 0.0);
        // SAFETY: the slice and the local are what the call says.
        assert_eq!(unsafe { wf_sum_f32(x.as_ptr(), x.len(), &mut sum) }, wf_status::WF_OK);
        sum
    };
    assert_eq!(engine(), interface());
    println!("ns a call, medians of {ROUNDS} rounds of {CALLS}");
    for _ in 0..3 {
        println!("engine {:.0}, C interface {:.0}", time(engine), time(interface));
    }
}
