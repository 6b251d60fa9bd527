//! More than 2^32 elements in segments, and a quarter of a billion segments: only a GPU is fast enough.

use warpfold::Accuracy;
use warpfold::kernel::DeviceSegments;

use crate::data::Random;
use crate::gpu;

/// Elements; their indices do not fit 32 bits.
const N: usize = (1 << 32) + 7;

#[test]
fn more_elements_than_32_bits_count() {
    let Some(gpu) = gpu() else { return };
    // Remainders modulo a prime: every stretch of 251 has the same sum, so expected sums need no second pass over 4 GiB.
    let mut x = (0..251).collect::<Vec<u8>>().repeat(N.div_ceil(251));
    x.truncate(N);
    let before = |k: usize| {
        let (whole, rest) = (k as u64 / 251, k as u64 % 251);
        whole * (250 * 251 / 2) + rest * rest.saturating_sub(1) / 2
    };
    let buffer = gpu.upload(&x).unwrap();
    let mut random = Random(11);
    // Short segments on both sides of 2^32 and at the start, long ones between; some are empty.
    let mut offsets = vec![3u64];
    while let Some(&end) = offsets.last().filter(|&&end| end < N as u64) {
        let near = end < 100_000 || end.abs_diff(1 << 32) < 100_000;
        let length = random.below(if near { 9 } else { 50_000_000 });
        offsets.push((end + length).min(N as u64));
    }
    let on_device = gpu.upload(&offsets).unwrap();
    let expected =
        offsets.windows(2).map(|pair| before(pair[1] as usize) - before(pair[0] as usize));
    let expected: Vec<u64> = expected.collect();
    assert_eq!(gpu.reduce_segments(&buffer, &on_device).sum().unwrap(), expected);
    // One of all, in one segment and in equal ones.
    let one = gpu.reduce_segments(&buffer, DeviceSegments::Every(N as u64));
    assert_eq!(one.sum().unwrap(), [before(N)]);
    let part = N - N % 1009;
    let every =
        gpu.reduce_segments(buffer.slice(..part), DeviceSegments::Every(1009)).sum().unwrap();
    let wrong = every
        .iter()
        .zip((0..part).step_by(1009))
        .position(|(&sum, from)| sum != before(from + 1009) - before(from));
    assert_eq!(wrong, None);
}

#[test]
fn more_keys_than_32_bits_count() {
    let Some(gpu) = gpu() else { return };
    let mut x = (0..251).collect::<Vec<u8>>().repeat(N.div_ceil(251));
    x.truncate(N);
    let buffer = gpu.upload(&x).unwrap();
    let count = |key: u64| (N as u64 - key).div_ceil(251);
    let groups = gpu.group_dense(&buffer, 300, &buffer).unwrap();
    let expected: Vec<u64> =
        (0..300).map(|key| if key < 251 { key * count(key) } else { 0 }).collect();
    assert_eq!(groups.reduce().sum().unwrap(), expected);
    drop(groups);
    let groups = gpu.group_by(&buffer, &buffer).unwrap();
    assert_eq!(groups.keys().unwrap(), (0..251).collect::<Vec<u8>>());
    assert_eq!(groups.reduce().sum().unwrap(), expected[..251]);
}

#[test]
fn as_many_keys_as_a_quarter_of_the_elements() {
    let Some(gpu) = gpu() else { return };
    let (n, groups) = (1usize << 26, 1u64 << 24);
    let mut random = Random(12);
    let x: Vec<f32> = (0..n).map(|_| (random.next() >> 40) as f32 / 1e3).collect();
    let keys: Vec<u32> = (0..n).map(|_| random.below(groups) as u32).collect();
    let expected = warpfold::group_dense(&keys, groups, &x).unwrap().sum().unwrap();
    let (keys, x) = (gpu.upload(&keys).unwrap(), gpu.upload(&x).unwrap());
    let found = gpu.group_dense(&keys, groups, &x).unwrap().reduce().sum().unwrap();
    assert_eq!(found, expected);
    let by = gpu.group_by(&keys, &x).unwrap();
    let labels = by.keys().unwrap();
    let sums = by.reduce().sum().unwrap();
    assert_eq!(labels.len(), sums.len());
    assert!(labels.iter().zip(&sums).all(|(&key, &sum)| sum == expected[key as usize]));
}

#[test]
fn a_quarter_of_a_billion_segments() {
    let Some(gpu) = gpu() else { return };
    let n = 1usize << 28;
    let x: Vec<f32> = (0..n).map(|k| (k % 8191) as f32).collect();
    let buffer = gpu.upload(&x).unwrap();
    for accuracy in [Accuracy::Fast, Accuracy::Exact] {
        let found = gpu
            .reduce_segments(&buffer, DeviceSegments::Every(1))
            .accuracy(accuracy)
            .sum()
            .unwrap();
        assert!(found == x, "{accuracy:?}");
    }
}
