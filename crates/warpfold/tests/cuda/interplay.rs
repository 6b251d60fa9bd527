//! With what else uses the GPU: graphs, another library's streams and arrays, kernels of one's own.

use cudarc::driver::CudaContext;
use cudarc::driver::sys::{CUgraphInstantiate_flags_enum, CUstreamCaptureMode_enum};
use warpfold::Op;
use warpfold::cuda::{Buffer, RawKernel};
use warpfold::plan::{CudaFacts, Shape, TUNING_SCHEMA, TunedGpu, TunedRow, Tuning};

#[test]
fn a_graph_replays_reductions_on_what_the_array_holds_then() {
    let Some(gpu) = crate::gpu() else { return };
    let stream = CudaContext::new(0).unwrap().new_stream().unwrap();
    // SAFETY: the stream is of the primary context, and is dropped after the queue.
    let mut queue = unsafe { gpu.queue_on(stream.cu_stream().cast()) }.unwrap();
    let n = 100_003;
    let mut x = gpu.upload(&vec![1i32; n]).unwrap();
    let results = gpu.alloc::<i64>(4).unwrap();
    let (sum, max, mean) = (results.address(), results.address() + 16, results.address() + 24);
    let mut start_all = |x: &Buffer<i32>| {
        // SAFETY: array and results outlive the queue's work, which is waited for, and the graph is launched while both live.
        unsafe {
            queue.start(&gpu.reduce(x), Op::Sum, sum).unwrap();
            queue.start(&gpu.reduce(x), Op::Max, max).unwrap();
            queue.start(&gpu.reduce(x), Op::Mean, mean).unwrap();
        }
    };
    // Kernels are loaded before the capture.
    start_all(&x);
    stream.synchronize().unwrap();
    assert_eq!(results.download().unwrap(), [n as i64, 0, 1, 1f64.to_bits() as i64]);
    stream.begin_capture(CUstreamCaptureMode_enum::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).unwrap();
    start_all(&x);
    let graph = stream.end_capture(CUgraphInstantiate_flags_enum(0)).unwrap().expect("work");
    for value in [2, -3, 7] {
        x.write(0, &vec![value; n]).unwrap();
        graph.launch().unwrap();
        stream.synchronize().unwrap();
        let found = results.download().unwrap();
        let all = value as i64 * n as i64;
        assert_eq!((found[0], found[1]), (all, all >> 63), "128 bits of the sum of {value}");
        assert_eq!(found[2] as i32, value);
        assert_eq!(
            f64::from_bits(found[3] as u64),
            f64::from(value),
            "what a second launch finishes"
        );
    }
}

#[test]
fn a_graph_replays_reductions_of_the_length_that_is_there_then() {
    let Some(gpu) = crate::gpu() else { return };
    let stream = CudaContext::new(0).unwrap().new_stream().unwrap();
    // SAFETY: the stream is of the primary context, and is dropped after the queue.
    let mut queue = unsafe { gpu.queue_on(stream.cu_stream().cast()) }.unwrap();
    let n = 1_000_003;
    let x: Vec<f32> = (0..n).map(|k| (k % 1009) as f32 / 7.0 - 70.0).collect();
    let (on, mut length) = (gpu.upload(&x).unwrap(), gpu.upload(&[n as u64]).unwrap());
    let results = gpu.alloc::<u64>(6).unwrap();
    let ops = [Op::Sum, Op::Mean, Op::Var, Op::Max, Op::ArgMin, Op::L2];
    let mut start_all = |length: &Buffer<u64>| {
        for (k, op) in ops.into_iter().enumerate() {
            let reduce = gpu.reduce(&on).len_on_device(length);
            // SAFETY: arrays, length and results outlive the queue's work, which is waited for, and the graph is launched while all live.
            unsafe { queue.start(&reduce, op, results.address() + 8 * k as u64).unwrap() };
        }
    };
    // Kernels are loaded before the capture.
    start_all(&length);
    stream.synchronize().unwrap();
    stream.begin_capture(CUstreamCaptureMode_enum::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).unwrap();
    start_all(&length);
    let graph = stream.end_capture(CUgraphInstantiate_flags_enum(0)).unwrap().expect("work");
    // More than there are counts as all.
    for requested in [5u64, n as u64, 77_777, 1, 2_000_000] {
        length.write(0, &[requested]).unwrap();
        graph.launch().unwrap();
        stream.synchronize().unwrap();
        let found = results.download().unwrap();
        let kept = &x[..(requested as usize).min(n)];
        let float = |k: usize| f32::from_bits(found[k] as u32);
        let here = warpfold::reduce(kept);
        assert_eq!(float(0), here.sum().unwrap(), "{requested}");
        assert_eq!(float(1), here.mean().unwrap(), "{requested}");
        assert_eq!(float(2), here.var(0).unwrap(), "{requested}");
        assert_eq!(float(3), here.max().unwrap(), "{requested}");
        assert_eq!(found[4], here.argmin().unwrap(), "{requested}");
        assert_eq!(float(5), here.l2(), "{requested}");
    }
}

#[test]
fn arrays_of_cudarc_are_reduced_after_what_their_stream_was_given() {
    let Some(gpu) = crate::gpu() else { return };
    let stream = CudaContext::new(0).unwrap().new_stream().unwrap();
    for round in 0..20 {
        let host: Vec<i32> = (0..1 << 20).map(|i| i % 1000 + round).collect();
        let slice = stream.clone_htod(&host).unwrap();
        assert_eq!(gpu.reduce(&slice).sum(), warpfold::reduce(&host).sum());
        let view = slice.slice(3..77_777);
        assert_eq!(gpu.reduce(&view).sum(), warpfold::reduce(&host[3..77_777]).sum());
        assert_eq!(gpu.reduce(&view).argmax(), warpfold::reduce(&host[3..77_777]).argmax());
        let dot = gpu.reduce_two(&view, &slice.slice(0..77_774)).unwrap().dot();
        assert_eq!(dot, warpfold::dot(&host[3..77_777], &host[..77_774]));
    }
}

#[test]
fn a_queue_on_an_outside_stream_keeps_its_order() {
    let Some(gpu) = crate::gpu() else { return };
    let stream = CudaContext::new(0).unwrap().new_stream().unwrap();
    // SAFETY: the stream is of the primary context, and is dropped after the queue.
    let mut queue = unsafe { gpu.queue_on(stream.cu_stream().cast()) }.unwrap();
    let mut device = stream.clone_htod(&vec![0u32; 1 << 22]).unwrap();
    let result = gpu.alloc::<u64>(2).unwrap();
    for value in 1..10u32 {
        let host = vec![value; 1 << 22];
        stream.memcpy_htod(&host, &mut device).unwrap();
        // SAFETY: array and result outlive the queue's work, which is waited for.
        unsafe { queue.start(&gpu.reduce(&device), Op::Sum, result.address()) }.unwrap();
        stream.synchronize().unwrap();
        assert_eq!(result.download().unwrap(), [u64::from(value) << 22, 0]);
    }
}

#[test]
fn kernels_of_ones_own_run_in_the_same_queue() {
    let Some(gpu) = crate::gpu() else { return };
    let ptx = "
        .version 8.0
        .target sm_70
        .address_size 64
        .visible .entry store(.param .u64 to, .param .u64 value) {
            .reg .u64 %a, %v;
            ld.param.u64 %a, [to];
            ld.param.u64 %v, [value];
            cvta.to.global.u64 %a, %a;
            st.global.u64 [%a], %v;
            ret;
        }";
    let store = RawKernel::load(&gpu, ptx, "store").unwrap();
    let x = gpu.upload(&[1u64, 2]).unwrap();
    let mut queue = gpu.queue().unwrap();
    // SAFETY: the kernel takes an address and a value, and the array outlives the queue's work.
    unsafe { queue.start_raw(&store, [1, 1, 0], &[x.address(), 40]) }.unwrap();
    queue.synchronize().unwrap();
    assert_eq!(gpu.reduce(&x).sum(), Ok(42));
    assert!(RawKernel::load(&gpu, ptx, "load").is_err());
    assert!(RawKernel::load(&gpu, "no PTX", "store").is_err());
    assert_eq!(gpu.reduce(&x).sum(), Ok(42), "the GPU stays usable");
}

#[test]
fn measured_shapes_are_taken_and_impossible_ones_refused() {
    let Some(gpu) = crate::gpu() else { return };
    let facts: CudaFacts = gpu.facts();
    let shape = Shape { block: 64, per_multiprocessor: 1, vectors: 1, alone: 0 };
    let x = gpu.upload(&vec![3u16; 100_000]).unwrap();
    let plan = gpu.reduce(&x).plan(Op::Sum).unwrap();
    let row = TunedRow {
        fold: plan.fold,
        dtype: plan.problem.dtype,
        from: 0,
        below: u64::MAX,
        shape,
        bytes: 200_000,
        microseconds: 1.0,
        rule_microseconds: 2.0,
    };
    let (name, driver) = (gpu.description().name.clone(), gpu.description().driver);
    let tuned = TunedGpu { name, facts, driver, link: None, rows: vec![row] };
    let tuning = Tuning {
        schema: TUNING_SCHEMA,
        warpfold: String::new(),
        date: String::new(),
        gpus: vec![tuned],
    };
    let tuned = warpfold::cuda::Gpu::open_tuned(0, Some(&tuning)).unwrap();
    let plan = tuned.reduce(&x).plan(Op::Sum).unwrap();
    assert_eq!((plan.block, plan.grid), (64, facts.multiprocessors.min(196)));
    assert_eq!(tuned.reduce(&x).sum(), Ok(300_000));
    let impossible = Shape { per_multiprocessor: 1000, ..shape };
    let error = gpu.reduce(&x).shape(impossible).sum().unwrap_err().to_string();
    assert!(error.contains("1000"), "{error}");
}
