//! Every reduction and element type on a GPU, against the CPU: lengths at every boundary, alignments, specials, shapes.
//!
//! On a machine without a GPU each test says so and passes; with `WARPFOLD_REQUIRE_CUDA=1` it fails instead.
#![cfg(feature = "cuda")]

#[path = "../kernels/check.rs"]
mod check;
#[path = "../kernels/compare.rs"]
mod compare;
#[path = "../kernels/data.rs"]
mod data;
mod errors;
mod interplay;
mod reductions;
mod soak;
mod soak_exact;
mod stream;
mod threads;

use std::sync::OnceLock;

use warpfold::cuda::Gpu;

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
