//! How fast the machine runs the naive reduction: lane-instructions a second.
//!
//! `cargo run --release --example speed [log2 of n] [threads] [kernel]`

use std::time::Instant;

use warpfold_simt::{Argument, Detail, Dimensions, Launch, Memory, Program, Settings};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let log: u32 = words.next().map_or(Ok(20), |word| word.parse())?;
    let threads: usize = words.next().map_or(Ok(1), |word| word.parse())?;
    let only = words.next();
    let text = include_str!("../tests/kernels/trees.ptx");
    let program = Program::load(text)?;
    let n = 1u64 << log;
    let data: Vec<f32> = (0..n).map(|i| (i % 17) as f32).collect();
    for kernel in ["interleaved", "sequential", "shuffle", "single_pass", "atomic_sum"] {
        if only.as_deref().is_some_and(|only| only != kernel) {
            continue;
        }
        for races in [Detail::On, Detail::Off] {
            let mut memory = Memory::new();
            let block = 256;
            let blocks = n.div_ceil(block) as u32;
            let grid =
                if matches!(kernel, "shuffle" | "single_pass") { blocks.min(1024) } else { blocks };
            let input = memory.upload(&data);
            let out = if kernel == "atomic_sum" {
                memory.upload(&[0f32])
            } else {
                memory.allocate(4 * u64::from(grid))
            };
            let mut arguments = vec![Argument::from(input), out.into()];
            if kernel == "single_pass" {
                arguments.push(memory.upload(&[0u32]).into());
                arguments.push(memory.allocate(4).into());
            }
            arguments.push(n.into());
            let launch = Launch {
                kernel: kernel.to_owned(),
                grid: Dimensions::from(grid),
                block: Dimensions::from(block as u32),
                shared_bytes: 4 * block as u32,
                arguments,
            };
            let settings = Settings { threads, races, ..Settings::default() };
            let start = Instant::now();
            let counters = launch.run(&program, &mut memory, &settings)?;
            let seconds = start.elapsed().as_secs_f64();
            println!(
                "{kernel:12} n 2^{log} races {races:?}: {seconds:.3} s, {:.0} M lane-instructions/s (active), {:.1} M warp instructions/s",
                counters.total.active_lanes as f64 / seconds / 1e6,
                counters.total.warp_instructions as f64 / seconds / 1e6,
            );
        }
    }
    Ok(())
}
