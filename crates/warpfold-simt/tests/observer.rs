//! A watched run tells the same story as its counters.

mod bench;

use bench::{Bench, load};
use warpfold_simt::{Argument, Counts, Memory, Observer, Settings, Step, ptx::Space};

/// Adds up what it sees, and keeps the divergent step of a warp.
#[derive(Default)]
struct Witness {
    counts: Counts,
    steps_by_phase: Vec<u64>,
    first_halving: Vec<(u32, u32)>,
}

impl Observer for Witness {
    fn step(&mut self, step: &Step<'_>) {
        self.counts.warp_instructions += 1;
        self.counts.active_lanes += u64::from(step.active.count_ones());
        self.counts.predicated_on_lanes += u64::from(step.on.count_ones());
        let phase = step.phase as usize;
        self.steps_by_phase.resize(self.steps_by_phase.len().max(phase + 1), 0);
        self.steps_by_phase[phase] += 1;
        for touch in step.touches {
            let lanes = touch.addresses.iter().flatten().count() as u64;
            match (touch.space, touch.verb) {
                (Space::Shared, "reads") => {
                    self.counts.shared_load_requests += 1;
                    self.counts.shared_load_wavefronts +=
                        u64::from(touch.wavefronts.expect("shared").0);
                    self.counts.shared_bytes_read += lanes * u64::from(touch.bytes);
                    if step.phase == 1 && step.warp == 0 {
                        self.first_halving.push((step.active, touch.banks()[0].unwrap_or(99)));
                    }
                }
                (Space::Global, "reads") => {
                    self.counts.global_load_requests += 1;
                    self.counts.global_load_sectors += u64::from(touch.sectors.expect("global"));
                }
                _ => {}
            }
        }
    }
}

#[test]
fn the_witness_agrees_with_the_counters() {
    let program = load("trees");
    let mut memory = Memory::new();
    let input = memory.upload(&[1f32; 300]);
    let out = memory.allocate(12);
    let bench = Bench::new("interleaved", 3, 128).shared(512).arguments([
        Argument::from(input),
        out.into(),
        300u64.into(),
    ]);
    let settings = Settings { seed: 11, ..Settings::default() };
    let mut witness = Witness::default();
    let watched = bench
        .0
        .run_observed(&program, &mut memory, &settings, &mut witness)
        .expect("a right kernel");
    let counters = bench.run(&program, &mut memory, &settings);
    assert_eq!(watched, counters, "watching changes nothing");
    let (seen, total) = (witness.counts, counters.total);
    assert_eq!(seen.warp_instructions, total.warp_instructions);
    assert_eq!(seen.active_lanes, total.active_lanes);
    assert_eq!(seen.predicated_on_lanes, total.predicated_on_lanes);
    assert_eq!(seen.shared_load_wavefronts, total.shared_load_wavefronts);
    assert_eq!(seen.shared_bytes_read, total.shared_bytes_read);
    assert_eq!(seen.global_load_sectors, total.global_load_sectors);
    let phases: Vec<u64> = counters.phases.iter().map(|phase| phase.warp_instructions).collect();
    assert_eq!(witness.steps_by_phase, phases);
    // In the first step every second lane works: two loads a block, lane 0 at banks 0 and 1.
    witness.first_halving.sort_unstable();
    assert_eq!(
        witness.first_halving,
        [
            (0x5555_5555, 0),
            (0x5555_5555, 0),
            (0x5555_5555, 0),
            (0x5555_5555, 1),
            (0x5555_5555, 1),
            (0x5555_5555, 1)
        ]
    );
}
