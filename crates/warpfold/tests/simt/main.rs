//! Every kernel and element type in the simulator, against the CPU: lengths at every boundary, alignments, specials, shapes, schedules,
//! with every check on. What a GPU is given in `tests/cuda`, on machines that have none.
#![cfg(feature = "simt")]

mod axes;
#[path = "../kernels/check.rs"]
mod check;
#[path = "../kernels/compare.rs"]
mod compare;
#[path = "../kernels/data.rs"]
mod data;
mod device;
#[path = "../kernels/left.rs"]
mod left;
#[path = "../kernels/many.rs"]
mod many;
mod reductions;
mod segments;

use warpfold::simt::{Device, Reduce};
use warpfold::{Element, Op, Result};

impl left::Leaves for Device {
    fn left<T: Element>(&self, reduce: &Reduce<'_, T>, op: Op, ddof: u64) -> Result<Vec<u8>> {
        self.leave(reduce, op, ddof)
    }
}
