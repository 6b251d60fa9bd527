//! Counts that can be worked out by hand.

mod bench;

use bench::{Bench, load};
use warpfold_simt::{Argument, Class, Counters, Detail, Memory, Settings};

fn run(kernel: &str, n: u64, grid: u32, block: u32) -> Counters {
    let program = load("trees");
    let mut memory = Memory::new();
    let data: Vec<f32> = (0..n).map(|i| (i % 9) as f32).collect();
    let input = memory.upload(&data);
    let out = memory.allocate(4 * u64::from(grid));
    let bench = Bench::new(kernel, grid, block).shared(4 * block).arguments([
        Argument::from(input),
        out.into(),
        n.into(),
    ]);
    let settings = Settings { chains: Detail::On, seed: 6, ..Settings::default() };
    bench.run(&program, &mut memory, &settings)
}

#[test]
fn interleaved_diverges_and_sequential_does_not_conflict() {
    let counters = run("interleaved", 256, 1, 256);
    // Steps s = 1 … 128; a warp diverges where some but not all of its lanes work: s = 1 … 16 in each of 8 warps,
    // then one lane in the warps that still work (4, 2 and 1 of them), and once more where thread 0 writes.
    assert_eq!(counters.total.divergent_branches, 5 * 8 + 4 + 2 + 1 + 1);
    // One barrier before the loop, one a step, by each warp.
    assert_eq!(counters.total.block_barriers, 9 * 8);
    assert_eq!(counters.phases.len(), 10);
    assert_eq!(counters.classes[&Class::BlockBarrier], 72);
    assert_eq!(counters.total.global_load_requests, 8);
    assert_eq!(counters.total.global_load_sectors, 32);
    assert_eq!(counters.total.global_bytes_read, 1024);
    assert_eq!(counters.total.bank_conflicts(), 0);
    let strided = run("strided", 256, 1, 256);
    assert!(strided.total.divergent_branches < counters.total.divergent_branches);
    assert!(strided.total.bank_conflicts() > 0);
    let sequential = run("sequential", 256, 1, 256);
    assert_eq!(sequential.total.bank_conflicts(), 0);
}

#[test]
fn strided_conflicts_by_step() {
    let counters = run("strided", 1024, 1, 1024);
    // Each pass of the loop is a step s = 2^k: stride 2s words, min(2s, 32)-way conflicts while a
    // warp is full, two loads and a store each.
    let passes = &counters.loops[0];
    assert_eq!(passes.len(), 10);
    for (k, pass) in passes.iter().enumerate() {
        let working = 512u64 >> k;
        let lanes = working.min(32);
        let warps = working.div_ceil(32);
        let ways = (2u64 << k).min(lanes).min(32);
        assert_eq!(pass.shared_load_wavefronts, 2 * warps * ways, "step {k}");
        assert_eq!(pass.shared_store_wavefronts, warps * ways, "step {k}");
        assert_eq!(pass.shared_load_ideal, 2 * warps, "step {k}");
        assert_eq!(pass.combinations, working, "step {k}");
    }
}

#[test]
fn work_and_steps() {
    for (kernel, n, grid, block, steps) in [
        ("interleaved", 256, 1, 256, 8),
        ("sequential", 1000, 4, 256, 8),
        ("add_on_load", 512, 1, 256, 9),
        // Each of 64 threads adds 16 elements one after another, then two warps fold in five
        // steps, and one more folds the two.
        ("shuffle", 1024, 1, 64, 15 + 5 + 1),
    ] {
        let counters = run(kernel, n, grid, block);
        assert_eq!(counters.longest_chain, steps, "{kernel}");
        if kernel != "shuffle" {
            assert_eq!(counters.total.combinations, n - u64::from(grid), "{kernel}: n − 1 a block");
        }
    }
}

#[test]
fn lines_add_up_to_the_total() {
    let counters = run("vector_grid", 5000, 3, 128);
    let mut sum = warpfold_simt::Counts::default();
    for line in &counters.lines {
        sum += &line.counts;
    }
    assert_eq!(sum, counters.total);
    let mut phases = warpfold_simt::Counts::default();
    for phase in &counters.phases {
        phases += phase;
    }
    assert_eq!(phases, counters.total);
    assert_eq!(counters.classes.values().sum::<u64>(), counters.total.warp_instructions);
    assert_eq!((counters.blocks, counters.warps), (3, 12));
    assert_eq!(counters.total.global_bytes_read, 20_000);
}
