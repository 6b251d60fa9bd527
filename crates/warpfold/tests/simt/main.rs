//! Every kernel and element type in the simulator, against the CPU and the oracle: lengths at every boundary, alignments, specials, shapes, schedules,
//! with every check on. What a GPU is given in `tests/cuda`, on machines that have none.
#![cfg(feature = "simt")]

#[path = "../kernels/axes.rs"]
mod axes;
#[path = "../kernels/batched.rs"]
mod batched;
#[path = "../kernels/bound.rs"]
mod bound;
#[path = "../kernels/check.rs"]
mod check;
#[path = "../kernels/compare.rs"]
mod compare;
mod costs;
#[path = "../kernels/counted.rs"]
mod counted;
#[path = "../kernels/data.rs"]
mod data;
mod device;
#[path = "../kernels/devices.rs"]
mod devices;
#[path = "../kernels/gaps.rs"]
mod gaps;
#[path = "../kernels/groups.rs"]
mod groups;
#[path = "../kernels/lanes.rs"]
mod lanes;
#[path = "../kernels/launches.rs"]
mod launches;
#[path = "../kernels/named.rs"]
mod named;
#[path = "../kernels/on_device.rs"]
mod on_device;
#[path = "../kernels/ops.rs"]
mod ops;
#[allow(dead_code, unreachable_pub, unused_imports, reason = "the contract's tests use the rest")]
#[path = "../oracle/mod.rs"]
mod oracle;
#[path = "../kernels/products.rs"]
mod products;
#[path = "../kernels/rank_sums.rs"]
mod rank_sums;
mod reductions;
#[allow(dead_code, unreachable_pub, unused_macros, reason = "the contract's tests use the rest")]
#[path = "../contract/sample.rs"]
mod sample;
#[path = "../kernels/segments.rs"]
mod segments;
#[path = "../kernels/spread.rs"]
mod spread;
#[path = "../kernels/stats.rs"]
mod stats;
#[path = "../kernels/tables.rs"]
mod tables;
#[path = "../kernels/truth.rs"]
mod truth;
#[path = "../kernels/windows.rs"]
mod windows;

use warpfold::partial::Finish;
use warpfold::plan::CudaFacts;
use warpfold::simt::{Device, Reduce, Settings};
use warpfold::{Element, Op, Result};

/// Elements of the arrays of many reductions, against those of the simulator.
const SCALE: usize = 1;

/// A device of few multiprocessors, so that grids stay small.
fn machine(multiprocessors: u32, seed: u64) -> Option<Device> {
    let facts = CudaFacts { compute: 90, multiprocessors };
    Some(Device::with(facts, Settings { seed, ..Settings::default() }))
}

impl on_device::OnDevice for Device {
    fn on_device<T: Element>(
        &self,
        reduce: &Reduce<'_, T>,
        op: Op,
        finish: Finish,
    ) -> Result<Vec<u8>> {
        self.leave(reduce, op, finish)
    }
}
