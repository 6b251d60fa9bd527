//! Times every reduction of rows and columns on a GPU beside reading the same bytes: a line of JSON a row.
//!
//! `cuda_parts [operations] [types] [MiB] [parts] [accuracy]`, such as `var,l2 f32,bf16 256 axes fast`. Each reduction is compared with the CPU's, all bits of it,
//! on a smaller array of the same shape first. Parts are `axes`, `segments` (by offsets of 64 bits) or `keys` (dense ones of 32 bits, of random order; the time is
//! that of the sort, where there is one, and of the reduction). Fast sums, of axes and segments, have the order of their kernels, and are compared within a part in
//! 10^4 of their elements. `bench/peers/cuda/parts_torch.py` does the same with torch, `parts_cub.cu` rows and segments with CUB.

use warpfold::cuda::{Buffer, Gpu};
use warpfold::kernel::{Machine, ReduceBatched};
use warpfold::partial::Finish;
use warpfold::{
    Accuracy, Columns, Complex, DType, Element, Error, Layout, Op, Segments, View, bf16, f16,
    group_dense, reduce_axes, reduce_segments, with_element,
};

/// Shapes of `n` elements, a power of two, and the axis that is folded.
fn shapes(n: u64) -> Vec<([u64; 2], i64)> {
    let rows = [4, 16, 64, 256, 1024, 4096, 16384].map(|length| ([n / length, length], 1));
    let columns = [4, 64, 2048].map(|rows| ([rows, n / rows], 0));
    let few = [([n / 4, 4], 0), ([n / 64, 64], 0)];
    let whole = ([1, n], 1);
    rows.into_iter().chain(columns).chain(few).chain([whole]).collect()
}

/// Microseconds of a call by the device's clock, the median of nine samples.
fn time(gpu: &Gpu, mut call: impl FnMut(&mut warpfold::cuda::Queue)) -> f64 {
    let mut queue = gpu.queue().expect("a stream");
    let mut sample = |calls: usize| {
        let start = queue.mark().expect("an event");
        (0..calls).for_each(|_| call(&mut queue));
        let end = queue.mark().expect("an event");
        end.microseconds_since(&start).expect("the device's clock") / calls as f64
    };
    sample(2);
    let calls = ((3000.0 / sample(2)) as usize).clamp(2, 200);
    let mut samples: Vec<f64> = (0..9).map(|_| sample(calls)).collect();
    samples.sort_by(f64::total_cmp);
    samples[4]
}

/// Whether columns are those of the CPU, all bits of them.
fn same(found: &Columns, expected: &Columns) -> bool {
    format!("{found:?}") == format!("{expected:?}")
}

/// Whether a reduction of a small array has the CPU's results.
fn agrees<T: Element>(
    reduce: &ReduceBatched<'_, Gpu, T>,
    op: Op,
    expected: &Columns,
    (accuracy, length): (Accuracy, f64),
) -> Result<bool, Error> {
    if op == Op::Stats {
        return Ok(same(&reduce.columns(op, Finish::default())?, expected));
    }
    with_element!(reduce.plan(op)?.output(), R => {
        let found = reduce.on_device::<R>(op)?.download()?;
        Ok((0..found.len()).all(|at| {
            let [expected, found] = [format!("{}", expected[0].1.get(at)), format!("{}", found[at])];
            expected == found || (accuracy == Accuracy::Fast && are_near(&expected, &found, length))
        }))
    })
}

/// Whether a fast result of so many elements between -1 and 1 is as near as a sum in their type should be.
fn are_near(expected: &str, found: &str, length: f64) -> bool {
    let [Ok(expected), Ok(found)] = [expected, found].map(str::parse::<f64>) else { return false };
    (expected - found).abs() <= 1e-4 * (expected.abs() + length)
}

/// Microseconds of a reduction, bytes of its results, and its kernels.
fn timed<T: Element>(
    gpu: &Gpu,
    reduce: &ReduceBatched<'_, Gpu, T>,
    op: Op,
) -> Result<(f64, usize, String), Error> {
    // Of stats that no kernel folds in one pass, a plan a column.
    let plans = reduce.plans(op)?;
    let (mut buffers, mut launches, mut kernels) = (Vec::new(), Vec::new(), Vec::new());
    for plan in &plans {
        let out = gpu.alloc::<u8>(plan.result_bytes() as usize)?;
        let mut workspace = gpu.alloc::<u8>(plan.workspace as usize)?;
        let tables: Vec<u8> = plan.tables().into_iter().flat_map(u64::to_le_bytes).collect();
        workspace.write(plan.workspace as usize - tables.len(), &tables)?;
        let faults = gpu.upload(&[0xffu8; ReduceBatched::<Gpu, f32>::FAULT_BYTES])?;
        let (to, scratch, wrong) = (out.address(), workspace.address(), faults.address());
        launches.extend(reduce.launches(plan.batch.op, to, scratch, wrong)?);
        kernels.push(plan.entry());
        buffers.push([out, workspace, faults]);
    }
    // SAFETY: input, outputs, workspaces and faults outlive the queue's work, which `time` waits for.
    let us = time(gpu, |queue| unsafe { queue.start_batched(&launches).expect("a launch") });
    let bytes = buffers.iter().map(|[out, ..]| out.len()).sum();
    Ok((us, bytes, kernels.join(" ")))
}

/// What a line says of an accuracy that is not the one that goes without saying.
fn named(accuracy: Accuracy) -> &'static str {
    if accuracy == Accuracy::Fast { r#", "accuracy": "fast""# } else { "" }
}

/// A line of what a reduction took, of so many bytes in and out.
fn print<T: Element>(op: Op, parts: &str, right: bool, us: f64, bytes: usize, kernel: &str) {
    println!(
        r#"{{"library": "warpfold", "op": "{op}", "dtype": "{}", {parts}, "right": {right}, "us": {us:.2}, "gb_per_s": {:.1}, "kernel": "{kernel}"}}"#,
        T::DTYPE,
        bytes as f64 / us / 1e3,
    );
}

fn axes<T: Element>(
    gpu: &Gpu,
    (op, accuracy): (Op, Accuracy),
    host: &[T],
    x: &Buffer<T>,
) -> Result<(), Error> {
    for (shape, axis) in shapes(host.len() as u64) {
        let n = (host.len() as u64).min(1 << 20);
        let small = match axis {
            1 => [(n / shape[1]).max(1), shape[1]],
            _ => [shape[0].min(n), (n / shape[0]).max(1)],
        };
        let layout = Layout::c(&small)?;
        let few = &host[..(small[0] * small[1]) as usize];
        let expected = reduce_axes(&View::of(few, layout.clone())?, &[axis])?
            .columns(op, Finish::default())?;
        let of_few = gpu.upload(few)?;
        let reduce = gpu.reduce_axes(of_few.view(), &layout, &[axis])?.accuracy(accuracy);
        let length = small[axis.unsigned_abs() as usize] as f64;
        let right = agrees(&reduce, op, &expected, (accuracy, length))?;
        let reduce = gpu.reduce_axes(x.view(), &Layout::c(&shape)?, &[axis])?.accuracy(accuracy);
        let (us, written, kernels) = timed(gpu, &reduce, op)?;
        let parts = format!(r#""shape": {shape:?}, "axis": {axis}{}"#, named(accuracy));
        print::<T>(op, &parts, right, us, size_of_val(host) + written, &kernels);
    }
    Ok(())
}

/// Ends of segments of `n` elements: of one length, or of random ones up to that.
fn offsets(n: u64, length: u64, is_random: bool) -> Vec<u64> {
    let mut all = vec![0];
    while let Some(&end) = all.last().filter(|&&end| end < n) {
        let of_this = if is_random { 1 + random(end) % length } else { length };
        all.push((end + of_this).min(n));
    }
    all
}

fn segments<T: Element>(
    gpu: &Gpu,
    (op, accuracy): (Op, Accuracy),
    host: &[T],
    x: &Buffer<T>,
) -> Result<(), Error> {
    let every = [4, 16, 64, 256, 1024, 16384].map(|length| (length, false));
    for (length, is_random) in every.into_iter().chain([(64, true), (1024, true)]) {
        let few = &host[..host.len().min(1 << 20)];
        let ends = offsets(few.len() as u64, length, is_random);
        let expected =
            reduce_segments(few, Segments::offsets(&ends))?.columns(op, Finish::default())?;
        let (of_few, on_device) = (gpu.upload(few)?, gpu.upload(&ends)?);
        let reduce = gpu.reduce_segments(&of_few, &on_device).accuracy(accuracy);
        let right = agrees(&reduce, op, &expected, (accuracy, length as f64))?;
        let ends = offsets(host.len() as u64, length, is_random);
        let on_device = gpu.upload(&ends)?;
        let reduce = gpu.reduce_segments(x, &on_device).accuracy(accuracy);
        let (us, written, kernels) = timed(gpu, &reduce, op)?;
        let name = format!("{} {length}", if is_random { "random up to" } else { "every" });
        let bytes = size_of_val(host) + size_of_val(&ends[..]) + written;
        let parts = format!(r#""segments": "{name}"{}"#, named(accuracy));
        print::<T>(op, &parts, right, us, bytes, &kernels);
    }
    Ok(())
}

fn keys<T: warpfold::Ordered>(gpu: &Gpu, op: Op, host: &[T], x: &Buffer<T>) -> Result<(), Error> {
    for bits in [8, 16, 20] {
        let keys = |n: usize| -> Vec<u32> {
            (0..n as u64).map(|at| (random(at) >> 20) as u32 & ((1 << bits) - 1)).collect()
        };
        let few = &host[..host.len().min(1 << 20)];
        let of_few = keys(few.len());
        // Groups that have no element of a few numbers have no result of some reductions.
        let groups = 1u64 << bits.min(12);
        let of_few: Vec<u32> = of_few.iter().map(|&key| key % groups as u32).collect();
        let expected = group_dense(&of_few, groups, few)?.columns(op, Finish::default())?;
        let (k, v) = (gpu.upload(&of_few)?, gpu.upload(few)?);
        let (found, _) = gpu.reduce_dense(&k, groups, &v).columns(op, Finish::default())?;
        let right = same(&found, &expected);
        let groups = 1u64 << bits;
        let on_device = gpu.upload(&keys(host.len()))?;
        let input = size_of_val(host) + 4 * host.len();
        let parts = format!(r#""keys": "2^{bits}""#);
        let reduce = gpu.reduce_dense(&on_device, groups, x);
        if let Some(tables) = reduce.tables(op)? {
            let launches = tables.launches();
            // SAFETY: keys, values and what the tables hold outlive the queue's work, which `time` waits for.
            let us = time(gpu, |queue| unsafe { queue.start_batched(launches).expect("a launch") });
            print::<T>(op, &parts, right, us, input + 8 * groups as usize, "tables");
            continue;
        }
        let sort = gpu.sort_dense(&on_device, groups, x)?;
        // SAFETY: keys, values and what the sort holds outlive the queue's work, which `time` waits for.
        let sorted =
            time(gpu, |queue| unsafe { queue.start_batched(sort.launches()).expect("a launch") });
        let groups = sort.finish()?;
        let (us, written, kernels) = timed(gpu, &groups.reduce(), op)?;
        print::<T>(op, &parts, right, sorted + us, input + written, &format!("sort {kernels}"));
    }
    Ok(())
}

/// Complex numbers, which have no order, are not grouped here.
fn no_keys<T: Element>(_: &Gpu, op: Op, _: &[T], _: &Buffer<T>) -> Result<(), Error> {
    let why = "complex numbers are not grouped here";
    Err(Error::Undefined { op, dtype: T::DTYPE, why })
}

/// A number of 64 bits from an index.
fn random(at: u64) -> u64 {
    let x = (at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let ops = arguments
        .next()
        .unwrap_or("sum,mean,var,std,l1,l2,linf,max,argmax,any,count,prod,stats".into());
    let types = arguments.next().unwrap_or("f16,bf16,f32,f64,i32".into());
    let mib: usize = arguments.next().map_or(256, |text| text.parse().expect("a number of MiB"));
    let parts = arguments.next().unwrap_or("axes".into());
    let accuracy = match arguments.next().as_deref() {
        None | Some("exact") => Accuracy::Exact,
        Some("fast") => Accuracy::Fast,
        Some(other) => panic!("{other} is no accuracy: exact or fast"),
    };
    assert!(accuracy == Accuracy::Exact || parts != "keys", "keys are measured exactly alone");
    let gpu = Gpu::open(0)?;
    let unit = |at: usize| (random(at as u64) >> 11) as f64 / 2f64.powi(52) - 1.0;
    for name in types.split(',') {
        macro_rules! of {
            ($ty:ty, $make:expr) => {
                of!($ty, $make, keys)
            };
            ($ty:ty, $make:expr, $keys:expr) => {{
                let host: Vec<$ty> = (0..(mib << 20) / size_of::<$ty>()).map($make).collect();
                let x = gpu.upload(&host)?;
                for op in ops.split(',') {
                    let op: Op = op.parse().expect("a reduction");
                    let done = match parts.as_str() {
                        "axes" => axes(&gpu, (op, accuracy), &host, &x),
                        "segments" => segments(&gpu, (op, accuracy), &host, &x),
                        "keys" => $keys(&gpu, op, &host, &x),
                        other => panic!("{other} are no parts: axes, segments or keys"),
                    };
                    if let Err(error) = done {
                        println!(r#"{{"library": "warpfold", "op": "{op}", "dtype": "{name}", "refused": {:?}}}"#, error.to_string());
                    }
                }
            }};
        }
        match name.parse().expect("a type") {
            DType::F16 => of!(f16, |at| f16::from_f64(unit(at))),
            DType::BF16 => of!(bf16, |at| bf16::from_f64(unit(at))),
            DType::F32 => of!(f32, |at| unit(at) as f32),
            DType::F64 => of!(f64, unit),
            DType::I16 => of!(i16, |at| (unit(at) * 3e4) as i16),
            DType::I64 => of!(i64, |at| (unit(at) * 1e12) as i64),
            DType::Complex64 => of!(
                Complex<f32>,
                |at| Complex::new(unit(2 * at) as f32, unit(2 * at + 1) as f32),
                no_keys
            ),
            DType::Complex128 => {
                of!(Complex<f64>, |at| Complex::new(unit(2 * at), unit(2 * at + 1)), no_keys)
            }
            DType::I32 => of!(i32, |at| (unit(at) * 1e6) as i32),
            other => panic!("{other} is not measured here"),
        }
    }
    Ok(())
}
