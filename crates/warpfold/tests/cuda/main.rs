//! Every reduction and element type on a GPU, against the CPU and the oracle: lengths at every boundary, alignments, specials, shapes.
//!
//! `cargo test -p warpfold --features cuda-tests --test cuda`. On a machine without a GPU each test says so and passes; with `WARPFOLD_REQUIRE_CUDA=1` it
//! fails instead.

#[path = "../kernels/axes.rs"]
mod axes;
#[path = "../kernels/batched.rs"]
mod batched;
mod batched_large;
#[path = "../kernels/bound.rs"]
mod bound;
#[path = "../kernels/check.rs"]
mod check;
#[path = "../kernels/compare.rs"]
mod compare;
#[path = "../kernels/counted.rs"]
mod counted;
#[path = "../kernels/data.rs"]
mod data;
#[path = "../kernels/devices.rs"]
mod devices;
mod errors;
#[path = "../kernels/gaps.rs"]
mod gaps;
#[path = "../kernels/groups.rs"]
mod groups;
mod interplay;
#[path = "../kernels/lanes.rs"]
mod lanes;
#[path = "../kernels/launches.rs"]
mod launches;
#[path = "../kernels/maps.rs"]
mod maps;
#[path = "../kernels/named.rs"]
mod named;
#[path = "../kernels/on_device.rs"]
mod on_device;
#[path = "../kernels/operators.rs"]
mod operators;
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
mod soak;
mod soak_exact;
#[path = "../kernels/spread.rs"]
mod spread;
#[path = "../kernels/stats.rs"]
mod stats;
mod stream;
#[path = "../kernels/tables.rs"]
mod tables;
mod threads;
#[path = "../kernels/truth.rs"]
mod truth;
#[path = "../kernels/windows.rs"]
mod windows;

use std::cell::RefCell;
use std::sync::OnceLock;

use warpfold::cuda::{Buffer, Gpu, Queue, Reduce};
use warpfold::kernel::value_bytes;
use warpfold::partial::Finish;
use warpfold::{Element, Op, Result};

/// The GPU, or `None` with a line that says why.
fn gpu() -> Option<Gpu> {
    static GPU: OnceLock<Option<Gpu>> = OnceLock::new();
    GPU.get_or_init(|| match Gpu::open(0) {
        Ok(gpu) => Some(gpu),
        Err(error) if std::env::var_os("WARPFOLD_REQUIRE_CUDA").is_some() => panic!("{error}"),
        Err(error) => {
            eprintln!("skipped: {error}");
            None
        }
    })
    .clone()
}

/// Elements of the arrays of many reductions, against those of the simulator.
const SCALE: usize = 16;

/// The GPU, whatever is asked of simulated ones.
fn machine(_: u32, _: u64) -> Option<Gpu> {
    gpu()
}

impl on_device::OnDevice for Gpu {
    fn on_device<T: Element>(
        &self,
        reduce: &Reduce<'_, T>,
        op: Op,
        finish: Finish,
    ) -> Result<Vec<u8>> {
        thread_local! {
            static QUEUE: RefCell<Option<(Queue, Buffer<u64>)>> = const { RefCell::new(None) };
        }
        QUEUE.with_borrow_mut(|own| {
            let (queue, value) = match own {
                Some(own) => own,
                none => none.insert((self.queue()?, self.alloc(3)?)),
            };
            // SAFETY: the array and the value, as large as any is, outlive the work, which is waited for.
            unsafe { queue.start_as(reduce, op, finish, value.address())? };
            queue.synchronize()?;
            let words = value.download()?;
            let len = value_bytes(op, T::DTYPE, finish.round_to).expect("a single value");
            Ok(words.iter().flat_map(|word| word.to_le_bytes()).take(len).collect())
        })
    }
}
