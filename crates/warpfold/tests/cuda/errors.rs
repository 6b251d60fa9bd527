//! What cannot be done is said, and the GPU stays usable.

use warpfold::cuda::{Gpu, devices};
use warpfold::partial::Finish;
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
fn what_is_no_single_value_is_not_left_on_the_device() {
    let Some(gpu) = crate::gpu() else { return };
    let (x, value) = (gpu.upload(&[1.0f32, 2.0]).unwrap(), gpu.alloc::<u64>(3).unwrap());
    let mut queue = gpu.queue().unwrap();
    // SAFETY: arrays and value outlive the queue's work, which is waited for; nothing is started.
    let mut start = |x, op, ddof| unsafe {
        queue.start_as(&gpu.reduce(x), op, Finish { ddof, ..Finish::default() }, value.address())
    };
    let error = start(x.view(), Op::Stats, 0).unwrap_err().to_string();
    assert!(error.contains("on the device") && error.contains("single value"), "{error}");
    assert!(matches!(start(x.view(), Op::Var, 2), Err(Error::TooFew { n: 2, ddof: 2, .. })));
    assert!(matches!(start(x.slice(..0), Op::Max, 0), Err(Error::Empty { .. })));
    queue.synchronize().unwrap();
}

/// In a process of its own, for a kernel that fails takes the process's GPU with it.
#[test]
fn a_pointer_that_is_no_device_memory() {
    if crate::gpu().is_none() {
        return;
    }
    let program = std::env::current_exe().unwrap();
    let arguments = ["--ignored", "--exact", "--nocapture", "errors::reads_what_is_not_there"];
    let output = std::process::Command::new(program).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let line = text.lines().find(|line| line.contains("bad pointer: ")).expect(&text);
    for word in ["sum of 1000 i32", "CUDA_ERROR_ILLEGAL_ADDRESS", "check the pointers", "CUDA 1"] {
        assert!(line.contains(word), "{word:?} is missing in: {line}");
    }
}

#[test]
#[ignore = "takes the process's GPU with it; a_pointer_that_is_no_device_memory runs it"]
fn reads_what_is_not_there() {
    let Some(gpu) = crate::gpu() else { return };
    // SAFETY: none: this is what the promise is for. The device's memory management finds the lie, and the error is what is tested.
    let nothing = unsafe { warpfold::cuda::View::<i32>::from_raw(0x7000_0000_0000, 1000) };
    let error = gpu.reduce(nothing).sum().unwrap_err();
    println!("bad pointer: {error}");
    // Whatever comes after says so as well, and nothing hangs or panics.
    let later = gpu.upload(&[1i32]).and_then(|x| gpu.reduce(&x).sum()).unwrap_err();
    println!("then: {later}");
}

#[test]
fn the_largest_array_that_is_too_large_leaves_no_trace() {
    let Some(gpu) = crate::gpu() else { return };
    let memory = gpu.description().memory as usize;
    for bytes in [memory, usize::MAX, usize::MAX / 2] {
        assert!(matches!(gpu.alloc::<u8>(bytes), Err(Error::Device { .. })), "{bytes} bytes");
    }
    let x = gpu.alloc::<u8>(1 << 20).unwrap();
    assert_eq!(gpu.reduce(&x).count(), Ok(0));
}
