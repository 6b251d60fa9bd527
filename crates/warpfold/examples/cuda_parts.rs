//! Times every reduction of rows and columns on a GPU beside reading the same bytes: a line of JSON a row.
//!
//! `cuda_parts [operations] [types] [MiB]`, such as `var,l2 f32,bf16 256`. Each reduction is compared with the CPU's, all bits of it,
//! on a smaller array of the same shape first. `bench/peers/cuda/parts_torch.py` does the same with torch.

use warpfold::cuda::{Buffer, Gpu};
use warpfold::kernel::{Machine, ReduceBatched};
use warpfold::partial::Finish;
use warpfold::{DType, Element, Layout, Op, View, bf16, f16, reduce_axes, with_element};

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

/// Whether a small array of the same kind has the CPU's results.
fn agrees<T: Element>(
    gpu: &Gpu,
    op: Op,
    x: &[T],
    shape: [u64; 2],
    axis: i64,
) -> Result<bool, warpfold::Error> {
    let n = (x.len() as u64).min(1 << 20);
    let shape = match axis {
        1 => [(n / shape[1]).max(1), shape[1]],
        _ => [shape[0].min(n), (n / shape[0]).max(1)],
    };
    let x = &x[..(shape[0] * shape[1]) as usize];
    let layout = Layout::c(&shape)?;
    let buffer = gpu.upload(x)?;
    let reduce = gpu.reduce_axes(buffer.view(), &layout, &[axis])?;
    let expected =
        reduce_axes(&View::of(x, layout.clone())?, &[axis])?.columns(op, Finish::default())?;
    if op == Op::Stats {
        let found = reduce.columns(op, Finish::default())?;
        return Ok(format!("{found:?}") == format!("{expected:?}"));
    }
    with_element!(reduce.plan(op)?.output(), R => {
        let found = reduce.on_device::<R>(op)?.download()?;
        Ok((0..found.len()).all(|at| format!("{}", expected[0].1.get(at)) == format!("{}", found[at])))
    })
}

fn one<T: Element>(gpu: &Gpu, op: Op, host: &[T], x: &Buffer<T>) -> Result<(), warpfold::Error> {
    for (shape, axis) in shapes(host.len() as u64) {
        let right = agrees(gpu, op, host, shape, axis)?;
        let layout = Layout::c(&shape)?;
        let reduce = gpu.reduce_axes(x.view(), &layout, &[axis])?;
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
        let bytes = size_of_val(host) + buffers.iter().map(|[out, ..]| out.len()).sum::<usize>();
        println!(
            r#"{{"library": "warpfold", "op": "{op}", "dtype": "{}", "shape": {shape:?}, "axis": {axis}, "right": {right}, "us": {us:.2}, "gb_per_s": {:.1}, "kernel": "{}"}}"#,
            T::DTYPE,
            bytes as f64 / us / 1e3,
            kernels.join(" "),
        );
    }
    Ok(())
}

fn main() -> Result<(), warpfold::Error> {
    let mut arguments = std::env::args().skip(1);
    let ops = arguments
        .next()
        .unwrap_or("sum,mean,var,std,l1,l2,linf,max,argmax,any,count,prod,stats".into());
    let types = arguments.next().unwrap_or("f16,bf16,f32,f64,i32".into());
    let mib: usize = arguments.next().map_or(256, |text| text.parse().expect("a number of MiB"));
    let gpu = Gpu::open(0)?;
    let unit = |at: usize| {
        let x = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 11) as f64 / 2f64.powi(52) - 1.0
    };
    for name in types.split(',') {
        macro_rules! of {
            ($ty:ty, $make:expr) => {{
                let host: Vec<$ty> = (0..(mib << 20) / size_of::<$ty>()).map($make).collect();
                let x = gpu.upload(&host)?;
                for op in ops.split(',') {
                    let op: Op = op.parse().expect("a reduction");
                    if let Err(error) = one(&gpu, op, &host, &x) {
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
            _ => of!(i32, |at| (unit(at) * 1e6) as i32),
        }
    }
    Ok(())
}
