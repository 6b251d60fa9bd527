//! What cannot be done is said, and the GPU stays usable.

use warpfold::cuda::{Gpu, devices};
use warpfold::{Error, Op};

#[test]
fn without_a_driver_opening_says_why_and_what_to_do() {
    if let Err(error) = Gpu::open(0) {
        let Error::Device { obstacle, remedy, .. } = error.clone() else { panic!("{error:?}") };
        assert!(!obstacle.is_empty() && remedy.contains("CPU"), "{error}");
        assert_eq!(devices(), Err(error));
    }
}

#[test]
fn a_gpu_that_is_not_there() {
    if crate::gpu().is_none() {
        return;
    }
    let error = Gpu::open(1000).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("1000"), "{error}");
}

#[test]
fn out_of_memory_names_the_sizes_and_leaves_the_gpu_usable() {
    let Some(gpu) = crate::gpu() else { return };
    let error = gpu.alloc::<f64>(1 << 50).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains(&(8u64 << 50).to_string()) && error.contains("free"), "{error}");
    assert_eq!(gpu.reduce(&gpu.upload(&[1u8, 2]).unwrap()).sum(), Ok(3));
}

#[test]
fn what_has_no_exact_kernel_is_refused_by_name() {
    let Some(gpu) = crate::gpu() else { return };
    let x = gpu.upload(&[warpfold::Complex::new(1.0f32, 2.0)]).unwrap();
    let error = gpu.reduce(&x).partial(Op::L1).unwrap_err().to_string();
    assert!(error.contains("fast"), "{error}");
}
