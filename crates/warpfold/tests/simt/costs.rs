//! What many reductions cost: instructions of PTX for each element, counted, so that no change makes short segments dear unseen.

use warpfold::kernel::{DeviceSegments, ReduceBatched};
use warpfold::plan::CudaFacts;
use warpfold::simt::{Detail, Device, Settings};
use warpfold::{Accuracy, Op};

use crate::data::Random;

const N: u64 = 1 << 17;

/// Sums of f32, by each accuracy: instructions an element.
fn costs(cut: &dyn Fn(&Device) -> Result<Cut, warpfold::Error>) -> [f64; 2] {
    let settings =
        Settings { races: Detail::Off, uninitialised: Detail::Off, ..Settings::default() };
    let facts = CudaFacts { compute: 90, multiprocessors: 1 };
    let device = Device::with(facts, settings);
    let x: Vec<f32> = (0..N).map(|k| (k % 1000) as f32 / 8.0).collect();
    let x = device.upload(&x).unwrap();
    let cut = cut(&device).unwrap();
    [Accuracy::Fast, Accuracy::Exact].map(|accuracy| {
        let reduce: ReduceBatched<'_, _, f32> = match &cut {
            Cut::Every(length) => device.reduce_segments(&x, DeviceSegments::Every(*length)),
            Cut::Offsets(offsets) => device.reduce_segments(&x, offsets),
        };
        let reduce = reduce.accuracy(accuracy).grid(1);
        let plan = reduce.plan(Op::Sum).unwrap();
        let out = device.alloc::<f32>(plan.batch.outputs() as usize).unwrap();
        let workspace = device.alloc::<u8>(plan.workspace as usize).unwrap();
        let faults = device.upload(&[0xff_u8; ReduceBatched::<Device, f32>::FAULT_BYTES]).unwrap();
        let launches =
            reduce.launches(Op::Sum, out.address(), workspace.address(), faults.address());
        let counters = device.launch_batched(&launches.unwrap()).unwrap();
        let instructions: u64 = counters.iter().map(|c| c.total.warp_instructions).sum();
        instructions as f64 / (N / 32) as f64
    })
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
