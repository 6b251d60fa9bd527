//! Shuffles, votes, matches, warp reductions, and lanes that go their own ways.

mod bench;

use bench::{Bench, load};
use warpfold_simt::{Fault, Memory, Settings};

fn values() -> Vec<u32> {
    (0..32u32).map(|i| i.wrapping_mul(2_654_435_761) >> 26).collect()
}

fn run(file: &str, kernel: &str, each: usize) -> Vec<u32> {
    let program = load(file);
    let mut memory = Memory::new();
    let input = memory.upload(&values());
    let out = memory.allocate(32 * 4 * each as u64);
    let bench = Bench::new(kernel, 1, 32).arguments([input.into(), out.into()]);
    bench.run(&program, &mut memory, &Settings { seed: 2, ..Settings::default() });
    memory.read(out).expect("written")
}

#[test]
fn shuffles() {
    let a = values();
    let got = run("warps", "shuffles", 12);
    for t in 0..32usize {
        let at = |lane: usize, inside: bool| if inside { a[lane] } else { a[t] };
        let expected = [
            at((t + 3) % 32, t + 3 < 32),
            at(t.wrapping_sub(5) % 32, t >= 5),
            a[t ^ 9],
            a[(a[t] & 31) as usize],
            at((t + 2) % 32, t % 8 + 2 < 8),
            at(t.wrapping_sub(1) % 32, !t.is_multiple_of(16)),
            // Within segments of 16 a partner 16 away lies outside.
            if t < 16 { a[t] } else { a[t - 16] },
            a[t / 4 * 4 + 1],
            at((t + 4) % 32, t % 8 + 4 < 8),
            u32::from(t % 8 + 4 < 8),
            a[t ^ 1],
            if t % 2 == 1 { a[31] } else { a[0] },
        ];
        let mut expected = expected;
        if t >= 16 {
            // `lane ^ 16` lies below the segment: PTX reads any lane at or below its end.
            expected[6] = a[t ^ 16];
        }
        assert_eq!(got[12 * t..12 * t + 12], expected, "lane {t}");
    }
}

#[test]
fn votes() {
    let a = values();
    let got = run("warps", "votes", 10);
    let odd = (0..32).fold(0u32, |mask, i| mask | (a[i] & 1) << i);
    for t in 0..32 {
        let alike = |same: &dyn Fn(u32) -> bool| {
            (0..32).fold(0u32, |mask, i| mask | u32::from(same(a[i])) << i)
        };
        let expected = [
            odd,
            u32::from(a.contains(&5)),
            1,
            alike(&|v| v & 3 == a[t] & 3),
            u32::MAX,
            1,
            odd.count_ones(),
            1,
            u32::from(a.contains(&63)),
            alike(&|v| v & 1 == a[t] & 1),
        ];
        assert_eq!(got[10 * t..10 * t + 10], expected, "lane {t}");
    }
}

#[test]
fn warp_reductions() {
    let a = values();
    let got = run("redux", "redux", 7);
    let expected = [
        a.iter().sum(),
        *a.iter().min().expect("some"),
        *a.iter().max().expect("some"),
        a.iter().fold(u32::MAX, |x, y| x & y),
        a.iter().fold(0, |x, y| x | y),
        a.iter().fold(0, |x, y| x ^ y),
        *a.iter().min().expect("some"),
    ];
    for t in 0..32 {
        assert_eq!(got[7 * t..7 * t + 7], expected);
    }
}

#[test]
fn lanes_meet_from_two_sides_of_a_branch() {
    let a = values();
    let program = load("warps");
    for seed in 0..8 {
        let mut memory = Memory::new();
        let input = memory.upload(&a);
        let out = memory.allocate(128);
        let bench = Bench::new("across_paths", 1, 32).arguments([input.into(), out.into()]);
        bench.run(&program, &mut memory, &Settings { seed, ..Settings::default() });
        let got: Vec<u32> = memory.read(out).expect("written");
        for t in 0..32 {
            assert_eq!(
                got[t],
                if t < 16 { a[t + 16] * 2 } else { a[t - 16] },
                "lane {t}, seed {seed}"
            );
        }
    }
}

#[test]
fn every_lane_gets_the_lock() {
    let program = load("warps");
    for seed in 0..8 {
        let mut memory = Memory::new();
        let mutex = memory.upload(&[0u32]);
        let value = memory.upload(&[0u32]);
        let bench = Bench::new("lock", 3, 64).arguments([mutex.into(), value.into()]);
        bench.run(
            &program,
            &mut memory,
            &Settings { seed, budget: 10_000_000, ..Settings::default() },
        );
        assert_eq!(memory.read::<u32>(value), Ok(vec![192]), "seed {seed}");
    }
}

#[test]
fn lanes_that_wait_at_a_join_do_not_starve_the_others() {
    let program = load("warps");
    let mut memory = Memory::new();
    let mutex = memory.upload(&[0u32]);
    let value = memory.upload(&[0u32]);
    let bench = Bench::new("spin", 1, 4).arguments([mutex.into(), value.into()]);
    bench.run(&program, &mut memory, &Settings { budget: 1 << 22, ..Settings::default() });
    assert_eq!(memory.read::<u32>(value), Ok(vec![4]));
}

#[test]
fn broadcasts() {
    let a = values();
    let program = load("warps");
    let mut memory = Memory::new();
    let input = memory.upload(&a);
    let out = memory.allocate(4 * 1024);
    let bench = Bench::new("broadcast", 1, 1024).arguments([input.into(), out.into()]);
    bench.run(&program, &mut memory, &Settings { seed: 1, ..Settings::default() });
    let sum: u32 = (0..200).map(|k| a[k % 32]).sum();
    assert_eq!(memory.read::<u32>(out), Ok(vec![sum; 1024]));
}

#[test]
fn grid_barrier_needs_resident_blocks() {
    let program = load("warps");
    let run = |resident_blocks| {
        let mut memory = Memory::new();
        let count = memory.upload(&[0u32]);
        let data = memory.allocate(4 * 6);
        let out = memory.allocate(4 * 6);
        let bench =
            Bench::new("grid_barrier", 6, 32).arguments([count.into(), data.into(), out.into()]);
        let settings =
            Settings { resident_blocks, seed: 1, budget: 100_000, ..Settings::default() };
        bench.0.run(&program, &mut memory, &settings).map(|_| memory.read::<u32>(out))
    };
    assert_eq!(run(6).expect("all are resident"), Ok(vec![21; 6]));
    assert!(matches!(*run(5).expect_err("one never starts"), Fault::Budget { .. }));
}
