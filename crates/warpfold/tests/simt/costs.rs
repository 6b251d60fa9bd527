//! What many reductions cost: instructions of PTX for each element, counted, so that no change makes short segments dear unseen.

use warpfold::kernel::{AnyMapBatched, DeviceSegments, Machine as _, MapParts, ReduceBatched};
use warpfold::plan::CudaFacts;
use warpfold::simt::{Detail, Device, Settings};
use warpfold::{Accuracy, Complex, DType, Element, Layout, Op, bf16};

use crate::data::Random;

const N: u64 = 1 << 17;

/// A machine that counts.
fn counting() -> Device {
    let settings =
        Settings { races: Detail::Off, uninitialised: Detail::Off, ..Settings::default() };
    Device::with(CudaFacts { compute: 90, multiprocessors: 1 }, settings)
}

/// Sums of f32, by each accuracy: instructions an element.
fn costs(cut: &dyn Fn(&Device) -> Result<Cut, warpfold::Error>) -> [f64; 2] {
    let device = counting();
    let x: Vec<f32> = (0..N).map(|k| (k % 1000) as f32 / 8.0).collect();
    let x = device.upload(&x).unwrap();
    let cut = cut(&device).unwrap();
    [Accuracy::Fast, Accuracy::Exact].map(|accuracy| {
        let reduce: ReduceBatched<'_, _, f32> = match &cut {
            Cut::Every(length) => device.reduce_segments(&x, DeviceSegments::Every(*length)),
            Cut::Offsets(offsets) => device.reduce_segments(&x, offsets),
        };
        instructions(&device, &reduce.accuracy(accuracy).grid(1), Op::Sum)
    })
}

/// Instructions an element of a reduction.
fn instructions<T: Element>(device: &Device, reduce: &ReduceBatched<'_, Device, T>, op: Op) -> f64 {
    let plan = reduce.plan(op).unwrap();
    let out = device.alloc::<u8>(plan.result_bytes() as usize).unwrap();
    let mut workspace = device.alloc::<u8>(plan.workspace as usize).unwrap();
    let tables: Vec<u8> = plan.tables().into_iter().flat_map(u64::to_le_bytes).collect();
    workspace.write(plan.workspace as usize - tables.len(), &tables).unwrap();
    let faults = device.upload(&[0xff_u8; ReduceBatched::<Device, f32>::FAULT_BYTES]).unwrap();
    let launches = reduce.launches(op, out.address(), workspace.address(), faults.address());
    let counters = device.launch_batched(&launches.unwrap()).unwrap();
    let instructions: u64 = counters.iter().map(|c| c.total.warp_instructions).sum();
    instructions as f64 / (plan.elements() as f64 / 32.0)
}

enum Cut {
    Every(u64),
    Offsets(warpfold::simt::Buffer<u64>),
}

fn lengths(mut next: impl FnMut() -> u64) -> impl Fn(&Device) -> Result<Cut, warpfold::Error> {
    let mut offsets = vec![0];
    while offsets[offsets.len() - 1] < N {
        let end = offsets[offsets.len() - 1] + next();
        offsets.push(end.min(N));
    }
    move |device| Ok(Cut::Offsets(device.upload(&offsets)?))
}

#[test]
fn short_segments_stay_cheap() {
    let mut random = Random(1);
    let mut most = Vec::new();
    let mut check = |name: &str, [fast, exact]: [f64; 2], at_most: [f64; 2]| {
        let dear = fast > at_most[0] || exact > at_most[1];
        let reported = format!("{name}: {fast:.1} fast, {exact:.1} exact; at most {at_most:?}");
        most.extend(dear.then_some(reported));
    };
    let every = |length| move |_: &Device| Ok(Cut::Every(length));
    check("rows of 1", costs(&every(1)), [18.0, 50.0]);
    check("rows of 16", costs(&every(16)), [23.0, 31.0]);
    check("rows of 256", costs(&every(256)), [19.0, 33.0]);
    check("segments of 16", costs(&lengths(|| 16)), [31.0, 49.0]);
    check("segments of 256", costs(&lengths(|| 256)), [25.0, 56.0]);
    check("random up to 64", costs(&lengths(|| random.below(65))), [31.0, 58.0]);
    check("segments of 8192", costs(&lengths(|| 8192)), [12.0, 26.0]);
    assert!(most.is_empty(), "{}", most.join("\n"));
}

#[test]
fn stats_in_one_pass_take_fewer_instructions_than_their_columns() {
    let device = counting();
    let x: Vec<f32> = (0..N).map(|k| (k % 1000) as f32 / 8.0).collect();
    let x = device.upload(&x).unwrap();
    for (shape, axis) in [([1 << 13, 16], 1), ([1 << 9, 256], 1), ([64, 1 << 11], 0)] {
        let layout = Layout::c(&shape).unwrap();
        let reduce = device.reduce_axes(x.view(), &layout, &[axis]).unwrap();
        let together = instructions(&device, &reduce, Op::Stats);
        let apart: f64 =
            Op::of_stats(DType::F32).map(|op| instructions(&device, &reduce, op)).sum();
        let what = format!("{shape:?}, axis {axis}: {together:.1} together, {apart:.1} apart");
        println!("{what}");
        assert!(together * 1.5 < apart, "{what}");
    }
    let x: Vec<i32> = (0..N as i32).map(|k| k % 1000 - 300).collect();
    let x = device.upload(&x).unwrap();
    for (shape, axis) in [([1 << 13, 16], 1), ([1 << 9, 256], 1), ([64, 1 << 11], 0)] {
        let layout = Layout::c(&shape).unwrap();
        let reduce = device.reduce_axes(x.view(), &layout, &[axis]).unwrap();
        let together = instructions(&device, &reduce, Op::Stats);
        let apart: f64 =
            Op::of_stats(DType::I32).map(|op| instructions(&device, &reduce, op)).sum();
        let what =
            format!("integers, {shape:?}, axis {axis}: {together:.1} together, {apart:.1} apart");
        println!("{what}");
        assert!(together * 1.5 < apart, "{what}");
    }
}

#[test]
fn stats_of_complex_numbers_in_one_pass_take_fewer_instructions_than_their_columns() {
    fn check<T: Element>(x: &[T], at_most: [f64; 3]) {
        let device = counting();
        let x = device.upload(x).unwrap();
        let shapes = [([1 << 13, 16], 1, 32), ([1 << 9, 256], 1, 32), ([64, 1 << 11], 0, 1)];
        for ((shape, axis, fewer), at_most) in shapes.into_iter().zip(at_most) {
            let reduce = |shape: [u64; 2]| {
                let layout = Layout::c(&shape).unwrap();
                device.reduce_axes(x.view(), &layout, &[axis]).unwrap()
            };
            let together = instructions(&device, &reduce(shape), Op::Stats);
            // A block an output, as each reduction alone takes, is long to simulate.
            let few = reduce([shape[0] / fewer, shape[1] * fewer / 32]);
            let apart: f64 = Op::of_stats(T::DTYPE).map(|op| instructions(&device, &few, op)).sum();
            let what = format!(
                "{}, {shape:?}, axis {axis}: {together:.1} together, {apart:.1} apart",
                T::DTYPE
            );
            println!("{what}");
            assert!(together < at_most && together * 1.5 < apart, "{what}");
        }
    }
    // Of which hardly any result is missed.
    let mut random = Random(3);
    let mut part = || (random.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
    let x: Vec<Complex<f64>> = (0..N).map(|_| Complex::new(part(), part())).collect();
    // A near quotient or root is nine instructions of PTX, where one that is rounded correctly is one, and a call.
    check(&x, [250.0, 125.0, 128.0]);
    let narrow = |z: &Complex<f64>| Complex::new(z.re as f32, z.im as f32);
    check(&x.iter().map(narrow).collect::<Vec<Complex<f32>>>(), [140.0, 54.0, 66.0]);
}

/// Sectors of memory that a map's kernel loads for each that its array has, and instructions an element.
fn costs_of_map(device: &Device, map: &AnyMapBatched<'_>, bytes: u64) -> [f64; 2] {
    let launch = map.launch(Op::Sum, 0).unwrap().expect("it has a kernel");
    let counters = device.launch_batched(launch.launches()).unwrap();
    let sectors: u64 = counters.iter().map(|c| c.total.global_load_sectors).sum();
    let instructions: u64 = counters.iter().map(|c| c.total.warp_instructions).sum();
    [sectors as f64 * 32.0 / bytes as f64, instructions as f64 / (N / 32) as f64]
}

#[test]
fn maps_of_parts_load_what_lies_together() {
    let device = counting();
    let x: Vec<f32> = (0..N).map(|k| (k % 1000) as f32 / 8.0).collect();
    let x = device.upload(&x).unwrap();
    let narrow: Vec<bf16> = (0..N).map(|k| bf16::from_f32((k % 250) as f32 / 8.0)).collect();
    let narrow = device.upload(&narrow).unwrap();
    let mut most = Vec::new();
    let mut check = |name: &str, parts: MapParts<'_>, at_most: [[f64; 2]; 2]| {
        let of = [
            (device.map("abs(x)", [("x", &x)]), 4 * N),
            (device.map("abs(x)", [("x", &narrow)]), 2 * N),
        ];
        for ((map, bytes), at_most) in of.into_iter().zip(at_most) {
            let costs = costs_of_map(&device, &map.parts(parts.clone()), bytes);
            let reported =
                format!("{name}: {costs:.2?} sectors and instructions, at most {at_most:?}");
            let is_dear = costs[0] > at_most[0] || costs[1] > at_most[1];
            most.extend(is_dear.then_some(reported));
        }
    };
    let mut columns = |width: u64, at_most| {
        let parts = MapParts::axes(&[N / width, width], &[0]).unwrap();
        check(&format!("{width} columns"), parts, at_most);
    };
    columns(1024, [[1.01, 29.0], [1.01, 34.0]]);
    columns(64, [[1.02, 30.0], [1.04, 37.0]]);
    // Lanes load 8 bytes of 16, and in turn.
    columns(8, [[1.01, 33.0], [2.02, 40.0]]);
    let mut segments = |length: u64, at_most| {
        let ends = (0..=N.div_ceil(length)).map(|k| (k * length).min(N) as u32);
        let offsets = device.upload(&ends.collect::<Vec<_>>()).unwrap();
        let parts = MapParts::segments((&offsets).into()).unwrap();
        check(&format!("segments of {length}"), parts, at_most);
    };
    // A lane loads several vectors that lie together, which the first cache holds; offsets come to it.
    segments(16, [[2.3, 62.0], [2.5, 62.0]]);
    segments(100, [[2.15, 69.0], [2.3, 69.0]]);
    segments(4096, [[2.05, 40.0], [2.06, 43.0]]);
    assert!(most.is_empty(), "{}", most.join("\n"));
}
