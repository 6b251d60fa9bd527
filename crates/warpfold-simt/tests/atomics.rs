//! Atomics of every kind, under many schedules.

mod bench;

use bench::{Bench, load};
use warpfold_simt::{Memory, Settings};

#[test]
fn atomics32() {
    let program = load("atomics");
    let data: Vec<i32> = (0..256).map(|i: i32| i.wrapping_mul(77_777_777) ^ 0x55aa).collect();
    for seed in 0..4 {
        let mut memory = Memory::new();
        let input = memory.upload(&data);
        let start = [0, 0, 0, i32::MAX, i32::MIN, -1, 0, -1, 0, 0, 0, 0, 0, 0, 0];
        let out = memory.upload(&start);
        let old = memory.allocate(4 * 256);
        let bench =
            Bench::new("atomics32", 4, 64).arguments([input.into(), out.into(), old.into()]);
        let counters = bench.run(&program, &mut memory, &Settings { seed, ..Settings::default() });
        let got: Vec<i32> = memory.read(out).expect("written");
        let sum = data.iter().fold(0i32, |x, y| x.wrapping_add(*y));
        let unsigned =
            |f: fn(u32, u32) -> u32| data.iter().map(|v| *v as u32).reduce(f).expect("some") as i32;
        assert_eq!(got[0], 256);
        assert_eq!(got[1], sum);
        assert_eq!(got[2], 0i32.wrapping_sub(sum));
        assert_eq!(got[3], *data.iter().min().expect("some"));
        assert_eq!(got[4], *data.iter().max().expect("some"));
        assert_eq!(got[5], unsigned(u32::min));
        assert_eq!(got[6], unsigned(u32::max));
        assert_eq!(got[7], data.iter().fold(-1, |x, y| x & y));
        assert_eq!(got[8], data.iter().fold(0, |x, y| x | y));
        assert_eq!(got[9], data.iter().fold(0, |x, y| x ^ y));
        assert_eq!((got[10], got[11]), (0, 0), "256 steps modulo 8");
        assert!(data.contains(&got[12]));
        assert_eq!(got[13], 42);
        assert_eq!(got[14], sum);
        let mut old: Vec<u32> = memory.read(old).expect("written");
        old.sort_unstable();
        assert_eq!(old, (0..256).collect::<Vec<u32>>(), "each thread drew its own ticket");
        assert_eq!(counters.total.atomics, 256 * 15 + 4);
    }
}

#[test]
fn atomics64() {
    let program = load("atomics");
    let data: Vec<u64> = (1..=128u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
    let mut memory = Memory::new();
    let input = memory.upload(&data);
    let out =
        memory.upload(&[0u64, u64::MAX, 0, u64::MAX, 0, 0, i64::MAX as u64, i64::MIN as u64, 0, 0]);
    let bench = Bench::new("atomics64", 2, 64).arguments([input.into(), out.into()]);
    // Its first read of out[9] is an ordinary one and races with the swaps: watch values only.
    let settings = Settings { races: warpfold_simt::Detail::Off, seed: 3, ..Settings::default() };
    bench.run(&program, &mut memory, &settings);
    let got: Vec<u64> = memory.read(out).expect("written");
    let sum = data.iter().fold(0u64, |x, y| x.wrapping_add(*y));
    let signed: Vec<i64> = data.iter().map(|v| *v as i64).collect();
    let expected = [
        sum,
        *data.iter().min().expect("some"),
        *data.iter().max().expect("some"),
        data.iter().fold(u64::MAX, |x, y| x & y),
        data.iter().fold(0, |x, y| x | y),
        data.iter().fold(0, |x, y| x ^ y),
        *signed.iter().min().expect("some") as u64,
        *signed.iter().max().expect("some") as u64,
        42,
        sum,
    ];
    assert_eq!(got, expected);
}

#[test]
fn float_atomics_depend_on_the_seed_alone() {
    let program = load("atomics");
    let data: Vec<f32> = (0..128).map(|i| 1.0 / (i as f32 + 1.0)).collect();
    let run = |seed, threads| {
        let mut memory = Memory::new();
        let input = memory.upload(&data);
        let out = memory.upload(&[0f32, 0.0]);
        let wide = memory.upload(&[0f64]);
        let bench =
            Bench::new("atomics_float", 4, 32).arguments([input.into(), out.into(), wide.into()]);
        bench.run(&program, &mut memory, &Settings { seed, threads, ..Settings::default() });
        let narrow: Vec<u32> = memory.read(out).expect("written");
        (narrow, memory.read::<u64>(wide).expect("written"))
    };
    let all: Vec<_> = (0..6).map(|seed| run(seed, 1)).collect();
    for (seed, one) in all.iter().enumerate() {
        assert_eq!(*one, run(seed as u64, 4), "seed {seed}");
        let sum = f32::from_bits(one.0[0]);
        // Any order of n additions of positive numbers is within n - 1 halves of an ulp of 1, relative to the sum (Higham, 4.4).
        let exact: f64 = data.iter().map(|&x| f64::from(x)).sum();
        let bound = (data.len() - 1) as f64 * f64::from(f32::EPSILON) / 2.0 * exact;
        assert!((f64::from(sum) - exact).abs() <= bound, "{sum} for {exact}");
    }
    assert!(all.iter().any(|one| *one != all[0]), "the order of additions varies with the seed");
}
