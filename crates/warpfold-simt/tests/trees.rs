//! The classical reductions, each right for every length, under many schedules.

mod bench;

use bench::{Bench, load};
use warpfold_simt::{Argument, Detail, Memory, Settings};

const LENGTHS: [usize; 14] = [0, 1, 2, 31, 32, 33, 63, 64, 127, 255, 256, 257, 1000, 4099];

/// Small integers, whose sums are exact in any order.
fn values(n: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 37 + 11) % 101) as f32 - 50.0).collect()
}

/// Runs `kernel(in, out, n)` over every length, block size and seed, and compares the partials' sum.
fn check(file: &str, kernel: &str, blocks: &[u32], per_thread: usize, dynamic: bool) {
    let program = load(file);
    for n in LENGTHS {
        let data = values(n);
        for &block in blocks {
            for seed in [0, 1, 77] {
                let mut memory = Memory::new();
                let grid = n.div_ceil(block as usize * per_thread).clamp(1, 9) as u32;
                let grid = if per_thread > 2 {
                    grid
                } else {
                    n.div_ceil(block as usize * per_thread).max(1) as u32
                };
                let input = memory.upload(&data);
                let out = memory.allocate(4 * u64::from(grid));
                let bench = Bench::new(kernel, grid, block)
                    .shared(if dynamic { 4 * block } else { 0 })
                    .arguments([Argument::from(input), out.into(), (n as u64).into()]);
                let settings = Settings { seed, threads: 2, ..Settings::default() };
                bench.run(&program, &mut memory, &settings);
                let partials: Vec<f32> = memory.read(out).expect("every block writes its partial");
                let sum: f32 = partials.iter().sum();
                assert_eq!(
                    sum,
                    data.iter().sum::<f32>(),
                    "{kernel}, n {n}, block {block}, seed {seed}"
                );
            }
        }
    }
}

#[test]
fn interleaved() {
    check("trees", "interleaved", &[32, 64, 256], 1, true);
}

#[test]
fn strided() {
    check("trees", "strided", &[32, 128], 1, true);
}

#[test]
fn sequential() {
    check("trees", "sequential", &[32, 128, 1024], 1, true);
}

#[test]
fn add_on_load() {
    check("trees", "add_on_load", &[32, 256], 2, true);
}

#[test]
fn last_warp() {
    check("trees", "last_warp", &[32, 64, 256], 2, true);
}

#[test]
fn unrolled() {
    check("trees", "unrolled_256", &[256], 2, false);
}

#[test]
fn shuffle() {
    check("trees", "shuffle", &[32, 96, 256], 8, false);
}

#[test]
fn vector_grid() {
    check("trees", "vector_grid", &[32, 96, 256], 8, false);
}

#[test]
fn bulk_copy() {
    let program = load("bulk");
    for n in [0usize, 1, 511, 512, 513, 5000, 20_001] {
        let data = values(n);
        for seed in 0..4 {
            let mut memory = Memory::new();
            let input = memory.upload(&data);
            let out = memory.allocate(8);
            let bench = Bench::new("bulk_copy", 2, 128).shared(3 * 2048).arguments([
                Argument::from(input),
                out.into(),
                (n as u64).into(),
            ]);
            bench.run(&program, &mut memory, &Settings { seed, ..Settings::default() });
            let partials: Vec<f32> = memory.read(out).expect("both blocks write");
            assert_eq!(
                partials.iter().sum::<f32>(),
                data.iter().sum::<f32>(),
                "n {n}, seed {seed}"
            );
        }
    }
}

#[test]
fn single_pass() {
    let program = load("trees");
    for n in LENGTHS {
        let data = values(n);
        for (grid, block, seed) in [(1, 32, 0), (3, 64, 1), (7, 96, 2), (12, 128, 3)] {
            let mut memory = Memory::new();
            let input = memory.upload(&data);
            let partial = memory.allocate(4 * u64::from(grid));
            let ticket = memory.upload(&[0u32]);
            let out = memory.allocate(4);
            let bench = Bench::new("single_pass", grid, block).arguments([
                Argument::from(input),
                partial.into(),
                ticket.into(),
                out.into(),
                (n as u64).into(),
            ]);
            // Twice: the ticket resets itself.
            for again in 0..2 {
                bench.run(
                    &program,
                    &mut memory,
                    &Settings { seed: seed + again, ..Settings::default() },
                );
                let sum = memory.read::<f32>(out).expect("the last block writes")[0];
                assert_eq!(sum, data.iter().sum::<f32>(), "n {n}, {grid} × {block}, seed {seed}");
            }
            assert_eq!(memory.read::<u32>(ticket), Ok(vec![0]));
        }
    }
}

#[test]
fn global_tree() {
    let program = load("trees");
    for n in LENGTHS.into_iter().filter(|n| *n > 0) {
        let data = values(n);
        let mut memory = Memory::new();
        let buffer = memory.upload(&data);
        let bench = Bench::new("global_sequential", 1, 64)
            .arguments([Argument::from(buffer), (n as u32).into()]);
        bench.run(&program, &mut memory, &Settings::default());
        assert_eq!(
            memory.read::<f32>(buffer).expect("written")[0],
            data.iter().sum::<f32>(),
            "n {n}"
        );
    }
}

#[test]
fn atomic_sum() {
    let program = load("trees");
    let data = values(1000);
    let mut memory = Memory::new();
    let input = memory.upload(&data);
    let out = memory.upload(&[0f32]);
    let bench = Bench::new("atomic_sum", 4, 256).arguments([
        Argument::from(input),
        out.into(),
        1000u64.into(),
    ]);
    let counters = bench.run(&program, &mut memory, &Settings { seed: 5, ..Settings::default() });
    assert_eq!(memory.read::<f32>(out).expect("written")[0], data.iter().sum::<f32>());
    assert_eq!(counters.total.atomics, 1000);
    assert_eq!(counters.total.atomic_collisions, 1000 - 32);
}

#[test]
fn counters_do_not_depend_on_host_threads() {
    let program = load("trees");
    let data = values(10_000);
    let run = |threads, races| {
        let mut memory = Memory::new();
        let input = memory.upload(&data);
        let out = memory.allocate(4 * 40);
        let bench = Bench::new("interleaved", 40, 256).shared(1024).arguments([
            Argument::from(input),
            out.into(),
            10_000u64.into(),
        ]);
        bench.run(
            &program,
            &mut memory,
            &Settings { seed: 9, threads, races, ..Settings::default() },
        )
    };
    let one = run(1, Detail::On);
    assert_eq!(one, run(2, Detail::On));
    assert_eq!(one, run(5, Detail::Off));
}
