//! The device itself: memory, schedules, faults, counts.

use warpfold::kernel::{AnyBuffer, AnyGroups, AnyReduce, DeviceSegments, Outcome, read};
use warpfold::partial::{Finish, Output};
use warpfold::plan::{CudaFacts, choose_cuda};
use warpfold::simt::{AnyStream, Device, Settings};
use warpfold::{Accuracy, Column, DType, Error, Op, Policy, group_by, group_dense};

#[test]
fn arrays_come_back_as_they_were_and_parts_can_be_written() {
    let device = Device::new();
    let mut x = device.upload(&[1.5f32, -0.0, 3.0]).unwrap();
    x.write(1, &[7.0]).unwrap();
    assert_eq!(x.download().unwrap(), [1.5, 7.0, 3.0]);
    assert_eq!(device.alloc::<u8>(3).unwrap().download().unwrap(), [0; 3]);
    assert_eq!(device.reduce(x.slice(1..)).max(), Ok(7.0));
}

#[test]
fn the_same_seed_gives_the_same_counts_and_every_seed_the_same_sum() {
    let x: Vec<u32> = (0..5000).map(|k| k * 77_777).collect();
    let facts = CudaFacts { compute: 90, multiprocessors: 4 };
    let runs: Vec<_> = [1, 1, 2]
        .into_iter()
        .map(|seed| {
            let device = Device::with(facts, Settings { seed, ..Settings::default() });
            let buffer = device.upload(&x).unwrap();
            let plan = device.reduce(&buffer).plan(Op::Sum).unwrap();
            device.launch(&plan, buffer.view(), None, None).unwrap()
        })
        .collect();
    assert_eq!(runs[0].counters, runs[1].counters);
    assert!(runs.iter().all(|run| run.record == runs[0].record));
    // Every element is read once, by whole vectors but for a tail.
    assert_eq!(runs[0].counters[0].total.global_bytes_read, 4 * 5000);
}

#[test]
fn plans_are_those_of_an_h200() {
    let device = Device::new();
    let buffer = device.upload(&vec![1i8; 1 << 17]).unwrap();
    let plan = device.reduce(&buffer).plan(Op::Count).unwrap();
    let h200 = CudaFacts { compute: 90, multiprocessors: 132 };
    assert_eq!(plan, choose_cuda(plan.problem, h200).unwrap());
    let run = device.launch(&plan, buffer.view(), None, None).unwrap();
    let Outcome::Exact(partial) = read(&plan, &run.record) else { panic!("counts are exact") };
    let here = warpfold::reduce(&[1i8; 1 << 17]).partial(Op::Count).unwrap();
    assert_eq!(partial, here.untyped());
    assert_eq!(run.counters[0].blocks, u64::from(plan.grid));
}

#[test]
fn an_endless_run_ends_in_an_error_that_names_the_line() {
    let settings = Settings { budget: 100, ..Settings::default() };
    let device = Device::new().under(settings);
    let x = device.upload(&[1u8; 1000]).unwrap();
    let Err(Error::Device { requested, obstacle, .. }) = device.reduce(&x).sum() else {
        panic!("100 instructions are too few")
    };
    assert!(requested.contains("sum of 1000 u8"), "{requested}");
    assert!(obstacle.contains("budget of 100") && obstacle.contains("PTX line"), "{obstacle}");
}

#[test]
fn an_array_that_was_freed_is_out_of_bounds() {
    let device = Device::new();
    let x = device.upload(&[1.0f64; 64]).unwrap();
    // SAFETY: the simulator checks every access, which is what this test is about.
    let dangling = unsafe { warpfold::simt::View::<f64>::from_raw(x.address(), 64) };
    assert_eq!(device.reduce(dangling).accuracy(Accuracy::Fast).sum(), Ok(64.0));
    drop(x);
    let error = device.reduce(dangling).max().unwrap_err().to_string();
    assert!(error.contains("freed") && error.contains("PTX line"), "{error}");
}

#[test]
fn an_array_of_another_device_is_refused_by_every_kind_of_reduction() {
    let (here, there) = (Device::new(), Device::new());
    let (x, keys) = (there.upload(&[1.0f32, 2.0]).unwrap(), there.upload(&[0u32, 1]).unwrap());
    let (own, offsets) = (here.upload(&[1.0f32, 2.0]).unwrap(), there.upload(&[0u64, 2]).unwrap());
    let refused = [
        here.reduce(&x).sum().unwrap_err(),
        here.reduce_two(&own, &x).unwrap().dot().unwrap_err(),
        here.reduce_segments(&x, DeviceSegments::Every(1)).sum().unwrap_err(),
        here.reduce_segments(&own, &offsets).sum().unwrap_err(),
        here.group_by(&keys, &own).err().unwrap(),
        here.group_dense(&keys, 2, &own).err().unwrap(),
        here.reduce_dense(&keys, 2, &own).sum().unwrap_err(),
        here.reduce_by_key(&keys, &own).err().unwrap(),
    ];
    for error in refused {
        assert!(error.to_string().contains("memory of another simulated device"), "{error}");
    }
    // Clones share their memory.
    assert_eq!(there.clone().reduce(&x).sum(), Ok(3.0));
}

#[test]
fn what_is_asked_of_arrays_with_their_types_inside_is_the_same() {
    let device = Device::new();
    let bytes = |x: &[f64]| bytemuck::cast_slice::<_, u8>(x).to_vec();
    let x = AnyBuffer::upload(&device, DType::F64, &bytes(&[1e300, 1.0, -1e300])).unwrap();
    let keys = AnyBuffer::upload(&device, DType::I8, &[7, 255, 7]).unwrap();
    let finish = Finish::default();
    let sum = AnyReduce::new(&device, x.view()).output(Op::Sum, finish);
    assert_eq!(sum, Ok(Output::One(1f64.into())));
    let groups = AnyGroups::by(&device, keys.view(), x.view()).unwrap();
    assert_eq!(groups.keys().unwrap(), Some(Column::I8(vec![-1, 7])));
    let sums = groups.reduce().columns(Op::Sum, finish).unwrap();
    assert_eq!(sums, [("sum", Column::F64(vec![1.0, 0.0]))]);
    // Floats name no groups.
    let error = AnyGroups::by(&device, x.view(), keys.view()).err().unwrap();
    assert!(error.to_string().contains("keys of f64"), "{error}");
    let mut stream = AnyStream::new(&device, Op::ArgMax, DType::F64, Policy::default()).unwrap();
    stream.push(&bytes(&[1.0, 3.0])).unwrap();
    stream.push(&bytes(&[2.0])).unwrap();
    assert!(stream.push_pair(&[], &[]).is_err());
    assert_eq!((stream.seen(), stream.finish(finish)), (3, Ok(Output::One(1u64.into()))));
}

#[test]
fn what_the_contract_leaves_undefined_is_refused_by_name() {
    let device = Device::new();
    let z = device.upload(&[warpfold::Complex::new(3.0f32, 4.0)]).unwrap();
    assert_eq!((device.reduce(&z).l1(), device.reduce(&z).linf()), (Ok(5.0), Ok(5.0)));
    let error = device.reduce(&z).output(Op::Max, Finish::default()).unwrap_err();
    assert!(matches!(error, Error::Undefined { .. }), "{error}");
    let x = device.upload(&[1.0f32]).unwrap();
    let y = device.upload(&[1.0f32; 2]).unwrap();
    assert!(matches!(device.reduce_two(&x, &y), Err(Error::LengthMismatch { .. })));
    assert_eq!(device.facts().multiprocessors, 132);
}

#[test]
fn groups_are_sorted_in_as_much_shared_memory_as_there_is() {
    let n = 9001;
    let keys: Vec<u64> = (0..n).map(|k| k * 0x9E37_79B9 % 3001).collect();
    let wide: Vec<u64> = keys.iter().map(|key| key << 40).collect();
    let floats: Vec<f32> = (0..n).map(|k| k as f32 / 8.0).collect();
    let doubles: Vec<f64> = (0..n).map(|k| k as f64 / 3.0).collect();
    // Turing, and what is neither that nor a GPU of a data centre.
    for compute in [75, 89] {
        let facts = CudaFacts { compute, multiprocessors: 1 };
        let device = Device::with(facts, Settings::default());
        let [keys_there, wide_there] = [&keys, &wide].map(|keys| device.upload(keys).unwrap());
        let (floats_there, doubles_there) =
            (device.upload(&floats).unwrap(), device.upload(&doubles).unwrap());
        for (there, keys) in [(&keys_there, &keys), (&wide_there, &wide)] {
            let found = device.group_by(there, &floats_there).unwrap();
            let sums = group_by(keys, &floats).unwrap().sum().unwrap();
            assert_eq!(found.reduce().sum().unwrap(), sums.values, "{compute}");
        }
        let found = device.group_dense(&keys_there, 3001, &doubles_there).unwrap();
        let sums = group_dense(&keys, 3001, &doubles).unwrap().sum().unwrap();
        assert_eq!(found.reduce().sum().unwrap(), sums, "{compute}");
    }
}
