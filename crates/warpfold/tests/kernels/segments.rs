//! Segments on a machine: empty ones, short and long ones, ends at every place of a tile, shares of one warp and of many blocks.

use warpfold::kernel::DeviceSegments;
use warpfold::partial::Finish;
use warpfold::{Accuracy, DType, Error, Op, bf16, f16, with_element};

use crate::batched::{check_exact_segments, check_segments, takes};
use crate::data::{Contents, Random, array};
use crate::sample::Sample;
use crate::{SCALE, machine};

/// Offsets of segments of given lengths, from element `first` on.
fn offsets(first: u64, lengths: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let mut all = vec![first];
    for length in lengths {
        all.push(all[all.len() - 1] + length);
    }
    all
}

/// Ways to cut about `n` elements.
fn cuts(n: u64, random: &mut Random) -> Vec<(&'static str, Vec<u64>)> {
    let mut random_lengths = |below: u64| {
        let mut left = n;
        let lengths: Vec<u64> = std::iter::from_fn(|| {
            let length = random.below(below).min(left);
            left -= length;
            (left > 0).then_some(length)
        })
        .collect();
        offsets(3, lengths)
    };
    let mixed = [1, 900, 0, 0, 260, 33, 1200, 64, 0, 3, 517].into_iter().cycle();
    let mut left = n;
    let mixed = mixed.map_while(|length: u64| {
        left = left.checked_sub(length)?;
        Some(length)
    });
    vec![
        ("long and short ones", offsets(5, mixed)),
        ("random up to 64", random_lengths(65)),
        ("random up to 3", random_lengths(4)),
        ("random up to 2000", random_lengths(2001)),
        ("ones", offsets(1, vec![1; n as usize])),
        ("one", offsets(0, [n])),
        ("none", vec![5]),
        ("empty ones", offsets(2, vec![0; 700])),
        ("one among empty ones", offsets(0, [vec![0; 300], vec![n], vec![0; 300]].concat())),
        ("one among tiny ones", offsets(0, [vec![1; 50], vec![n - 200], vec![2; 50]].concat())),
        ("thirty-one", offsets(0, vec![31; n as usize / 31])),
    ]
}

fn every_fold<T: Sample>() {
    assert!(takes(T::DTYPE));
    let mut random = Random(T::DTYPE as u64 + 7);
    let n = SCALE * 6000 / size_of::<T>() * 2 + 5;
    let kinds = [Contents::Plain, Contents::Specials, Contents::Ties, Contents::Zeros];
    for (case, (name, offsets)) in cuts(n as u64, &mut random).into_iter().enumerate() {
        let kind = kinds[case % kinds.len()];
        let memory = array::<T>(kind, n + 40, &mut random);
        let from = random.below(17) as usize;
        let x = &memory[from..from + n + 20];
        let seed = if case % 3 == 0 { 0 } else { random.next() };
        let Some(device) = machine(3, seed) else { return };
        let buffer = device.upload(&memory).unwrap();
        let view = buffer.slice(from..from + n + 20);
        let what = format!("{name}, {kind:?} from {from}, seed {seed}");
        let grid = [None, Some(1), Some(2), Some(7)][case % 4];
        if case % 2 == 0 {
            let on_device = device.upload(&offsets).unwrap();
            check_segments(
                &device,
                x,
                view,
                &offsets,
                || DeviceSegments::from(&on_device),
                grid,
                &what,
            );
        } else {
            let narrow: Vec<u32> = offsets.iter().map(|&offset| offset as u32).collect();
            let on_device = device.upload(&narrow).unwrap();
            check_segments(
                &device,
                x,
                view,
                &offsets,
                || DeviceSegments::from(&on_device),
                grid,
                &what,
            );
        }
    }
    for (length, from) in [(1, 0), (1, 1), (3, 0), (16, 1), (16, 0), (257, 3)] {
        let Some(device) = machine(3, random.next()) else { return };
        let n = n / length * length;
        let memory = array::<T>(Contents::Plain, n + from, &mut random);
        let x = &memory[from..];
        let buffer = device.upload(&memory).unwrap();
        let offsets = self::offsets(0, vec![length as u64; n / length]);
        let what = format!("every {length} from {from}");
        let every = || DeviceSegments::Every(length as u64);
        check_segments(
            &device,
            x,
            buffer.slice(from..from + n),
            &offsets,
            every,
            Some(length as u32 % 3 + 1),
            &what,
        );
    }
}

fn exact<T: Sample>() {
    let mut random = Random(T::DTYPE as u64 + 70);
    let n = SCALE * 4000;
    let kinds = [Contents::Plain, Contents::Wide, Contents::Specials, Contents::Zeros];
    for (case, (name, offsets)) in cuts(n as u64, &mut random).into_iter().enumerate() {
        // Two kinds each, so that every cut is met by data of one scale and by others.
        for kind in [kinds[case % 4], kinds[(case + 1) % 4]] {
            let x = array::<T>(kind, n + 20, &mut random);
            let seed = random.next();
            let Some(device) = machine(3, seed) else { return };
            let buffer = device.upload(&x).unwrap();
            let on_device = device.upload(&offsets).unwrap();
            let what = format!("{name}, {kind:?}, seed {seed}");
            let grid = [None, Some(1), Some(2), Some(7)][case % 4];
            let segments = || DeviceSegments::from(&on_device);
            let ops = [(Op::Sum, 0), ([Op::L1, Op::Mean][case % 2], 0)];
            let ops = if offsets.len() > 1000 { &ops[..1] } else { &ops[..] };
            check_exact_segments(&device, &x, buffer.view(), &offsets, segments, grid, ops, &what);
        }
    }
}

/// Means, norms, variances and deviations: a few segments, as some take a block each.
fn moments<T: Sample>() {
    let mut random = Random(T::DTYPE as u64 + 700);
    let n = SCALE * 600;
    let kinds =
        [Contents::Plain, Contents::Wide, Contents::Specials, Contents::Ties, Contents::Zeros];
    let cuts = [
        offsets(2, [300, 1, 2, 3, 60, 34, 129]),
        offsets(0, [5, 0, 7]),
        offsets(1, [n as u64 / 2, 2]),
        offsets(0, vec![2; 40]),
    ];
    for (case, offsets) in cuts.into_iter().enumerate() {
        for kind in [kinds[case], kinds[(case + 2) % 5]] {
            let x = array::<T>(kind, n, &mut random);
            let Some(device) = machine(2, random.next()) else { return };
            let buffer = device.upload(&x).unwrap();
            let on_device = device.upload(&offsets).unwrap();
            let segments = || DeviceSegments::from(&on_device);
            let grid = [None, Some(1), Some(3)][case % 3];
            let ops = [
                (Op::Mean, 0),
                (Op::L1, 0),
                (Op::L2, 0),
                (Op::Sumsq, 0),
                (Op::Var, 0),
                (Op::Std, 1),
                (Op::Var, 3),
            ];
            let what = format!("cut {case}, {kind:?}");
            check_exact_segments(&device, &x, buffer.view(), &offsets, segments, grid, &ops, &what);
        }
    }
}

macro_rules! exactly {
    ($($sums:ident $moments:ident: $ty:ty;)+) => {$(
        #[test]
        fn $sums() {
            exact::<$ty>();
        }

        #[test]
        fn $moments() {
            moments::<$ty>();
        }
    )+};
}
exactly! {
    exact_f16 moments_f16: f16;
    exact_bf16 moments_bf16: bf16;
    exact_f32 moments_f32: f32;
    exact_f64 moments_f64: f64;
}

macro_rules! for_each_type {
    ($($name:ident: $dtype:ident;)+) => {$(
        #[test]
        fn $name() {
            with_element!(DType::$dtype, T => every_fold::<T>());
        }
    )+};
}
for_each_type! {
    bool_: Bool;
    i8_: I8;
    i16_: I16;
    i32_: I32;
    i64_: I64;
    u8_: U8;
    u16_: U16;
    u32_: U32;
    u64_: U64;
    f16_: F16;
    bf16_: BF16;
    f32_: F32;
    f64_: F64;
}

/// An array that begins within a vector of memory and ends within another, both in segments, by lanes of a tile and by lanes of their own.
fn up_to_both_ends<T: Sample>() {
    let mut random = Random(T::DTYPE as u64 + 170);
    for kind in [Contents::Plain, Contents::Ties, Contents::Specials] {
        let memory = array::<T>(kind, 2052, &mut random);
        let (x, n) = (&memory[1..], 2051);
        for offsets in [
            offsets(0, [1, 330, 0, 1700, 20]),
            offsets(0, [n]),
            offsets(0, [17; 120]),
            offsets(9, [n - 9]),
        ] {
            let mut offsets = offsets;
            offsets.push(n);
            let Some(device) = machine(1, random.next()) else { return };
            let buffer = device.upload(&memory).unwrap();
            let on_device = device.upload(&offsets).unwrap();
            // Of integers squares alone have lanes of their own. An empty segment has no variance.
            let ops = [(Op::Sum, 0), (Op::L1, 0), (Op::L2, 0), (Op::Var, 0)];
            let is_empty = offsets.windows(2).any(|ends| ends[0] == ends[1]);
            let from = if T::DTYPE.is_float() { 0 } else { 2 };
            let ops = &ops[from..if is_empty { 3 } else { 4 }];
            let segments = || DeviceSegments::from(&on_device);
            let what = format!("{} segments up to the end, {kind:?}", offsets.len() - 1);
            check_exact_segments(
                &device,
                x,
                buffer.slice(1..),
                &offsets,
                segments,
                None,
                ops,
                &what,
            );
        }
    }
}

#[test]
fn segments_up_to_both_ends_of_an_array() {
    for dtype in
        [DType::F16, DType::BF16, DType::F32, DType::F64, DType::I16, DType::I32, DType::I64]
    {
        with_element!(dtype, T => up_to_both_ends::<T>());
    }
}

/// By the lanes of a tile, and by lanes of their own, where states are large and where segments are long.
#[test]
fn offsets_on_the_device_that_are_none_are_told_and_nothing_beyond_the_array_is_read() {
    let x = vec![1.0f32; 5000];
    let Some(device) = machine(3, 3) else { return };
    let buffer = device.upload(&x).unwrap();
    let mut random = Random(5);
    for (op, accuracy, length, segments) in [
        (Op::Sum, Accuracy::Fast, 5, 900),
        (Op::Sum, Accuracy::Exact, 312, 16),
        (Op::Var, Accuracy::Exact, 5, 900),
        (Op::Stats, Accuracy::Exact, 5, 900),
        (Op::Stats, Accuracy::Exact, 70, 70),
    ] {
        let good = offsets(0, vec![length; segments]);
        for case in 0..60 {
            let mut bad = good.clone();
            let at = random.below(segments as u64 + 1) as usize;
            bad[at] = match case % 3 {
                0 => random.next(),
                1 => 5001 + random.below(100),
                _ => bad[at.saturating_sub(1)].wrapping_sub(1),
            };
            if bad.windows(2).all(|pair| pair[0] <= pair[1]) && bad[segments] <= 5000 {
                continue;
            }
            let offsets = device.upload(&bad).unwrap();
            let reduce = device.reduce_segments(&buffer, &offsets).accuracy(accuracy);
            let found = reduce.grid(case % 4 + 1).columns(op, Finish::default());
            let what = format!("{op} of {length} each, {at}: {}", bad[at]);
            assert!(matches!(found, Err(Error::Segments { .. })), "{what} gives {found:?}");
        }
    }
}

/// Empty segments take no room in a tile, so that more of them end there than the kernels number at once: with 8 bits where results wait in place, else with 16.
#[test]
fn a_tile_may_have_more_ends_than_a_round_numbers() {
    let Some(device) = machine(1, 9) else { return };
    const EVERY: usize = 9001;
    let lengths: Vec<u64> = (0..1_200_000).map(|k| (k % EVERY == EVERY - 1).into()).collect();
    let offsets = offsets(0, lengths.iter().copied());
    let x: Vec<f32> = (0..offsets[lengths.len()]).map(|k| k as f32 + 1.0).collect();
    let (x, offsets) = (device.upload(&x).unwrap(), device.upload(&offsets).unwrap());
    // Each of a block's eight warps has 150,000 of them.
    for accuracy in [Accuracy::Fast, Accuracy::Exact] {
        let sums = device.reduce_segments(&x, &offsets).accuracy(accuracy).grid(1).sum().unwrap();
        let right = |(k, &sum): (usize, &f32)| sum == (k / EVERY + 1) as f32 * lengths[k] as f32;
        assert_eq!(sums.iter().enumerate().find(|&(k, sum)| !right((k, sum))), None);
    }
}
