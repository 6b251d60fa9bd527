//! Maps and operators of one's own in the simulator. What a GPU is given in `tests/cuda`, on machines that have none.
#![cfg(feature = "simt")]

#[path = "../kernels/compare.rs"]
#[allow(dead_code, reason = "other tests look at more")]
mod compare;
#[path = "../kernels/data.rs"]
#[allow(dead_code, reason = "other tests look at more")]
mod data;
#[path = "../kernels/maps.rs"]
mod maps;
#[path = "../kernels/operators.rs"]
mod operators;
#[allow(dead_code, unreachable_pub, unused_imports, reason = "the contract's tests use the rest")]
#[path = "../oracle/mod.rs"]
mod oracle;
#[allow(dead_code, unreachable_pub, unused_macros, reason = "the contract's tests use the rest")]
#[path = "../contract/sample.rs"]
mod sample;

use warpfold::plan::CudaFacts;
use warpfold::simt::{Device, Settings};

/// A device of few multiprocessors, so that grids stay small.
fn machine(multiprocessors: u32, seed: u64) -> Option<Device> {
    let facts = CudaFacts { compute: 90, multiprocessors };
    Some(Device::with(facts, Settings { seed, ..Settings::default() }))
}
