//! [`Paths`]: how long the first warp of a block takes when it has the machine to itself, from its dependences.
//!
//! Each instruction waits for its operands: a scoreboard over registers, fed by the simulator's trace. Between two barriers or branches an assembler orders instructions
//! so that loads come first; so a value that is waited for holds up nothing but what needs it, until the next of those. Loads that do not depend on each other overlap, which is
//! what several elements a thread are good for (V. Volkov, *Better Performance at Lower Occupancy*, 2010).

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use warpfold::DType;
use warpfold_simt::ptx::Space;
use warpfold_simt::{Observer, Step};

use super::code::{Code, Wait};
use super::device::{Device, Latency};

/// The paths of the first warps of all blocks of a launch.
pub(super) struct Paths<'a> {
    code: &'a Code,
    latency: Latency,
    /// Addresses that come from memory, and those that the block has written itself and finds in its first cache; all others are in L2.
    cold: Range<u64>,
    own: Range<u64>,
    /// Atomic operations by address. Assemblers fold integers of a warp by one instruction where there is one, and send one operation for all lanes.
    atomics: HashMap<u64, u64>,
    together: bool,
    /// Warps of a block.
    warps: f64,
    blocks: BTreeMap<u32, Path>,
}

struct Path {
    clock: f64,
    /// When the last instruction since the last branch begins.
    begun: f64,
    issued: f64,
    ready: Vec<f64>,
}

impl<'a> Paths<'a> {
    pub(super) fn new(
        code: &'a Code,
        device: &Device,
        dtype: DType,
        block: u32,
        cold: Range<u64>,
        own: Range<u64>,
    ) -> Paths<'a> {
        let together = device.compute >= 80 && dtype.size() == 4 && !dtype.is_float();
        let warps = f64::from(block.div_ceil(32));
        let (atomics, blocks) = (HashMap::new(), BTreeMap::new());
        Paths { code, latency: device.latency, cold, own, atomics, together, warps, blocks }
    }

    /// Atomic operations at the address that has most.
    pub(super) fn most_contended(&self) -> f64 {
        self.atomics.values().copied().max().unwrap_or(0) as f64
    }

    /// Clocks that each block waits, beside those in which its warp issues, in the order of their numbers.
    pub(super) fn waits(&self) -> Vec<f64> {
        self.blocks.values().map(|path| (path.end() - path.issued).max(0.0)).collect()
    }
}

impl Paths<'_> {
    /// Clocks that the first warp of the block that is last to end takes beyond that of the block that is first to: with nobody else there, it waits for what it issues too.
    pub(super) fn last(&self) -> f64 {
        let ends = || self.blocks.values().map(Path::end);
        (ends().fold(0.0, f64::max) - ends().fold(f64::INFINITY, f64::min)).max(0.0)
    }
}

impl Path {
    /// When all that was begun is there.
    fn end(&self) -> f64 {
        self.ready.iter().fold(self.clock, |a, b| a.max(*b))
    }
}

impl Observer for Paths<'_> {
    fn step(&mut self, step: &Step<'_>) {
        for touch in step.touches.iter().filter(|touch| touch.verb == "updates") {
            if touch.space != Space::Global {
                continue;
            }
            let mut seen = None;
            for address in touch.addresses.iter().flatten() {
                if !self.together || seen != Some(address) {
                    *self.atomics.entry(*address).or_default() += 1;
                }
                seen = Some(address);
            }
        }
        if step.warp != 0 {
            return;
        }
        let machine = &self.code.machine[step.index as usize];
        let path = self.blocks.entry(step.first_thread.block[0]).or_insert_with(|| Path {
            clock: 0.0,
            begun: 0.0,
            issued: 0.0,
            ready: vec![0.0; self.code.registers],
        });
        let Latency {
            arithmetic,
            f64,
            xu,
            shared,
            shuffle,
            l1,
            l2,
            memory,
            barrier,
            arrival,
            branch,
            atomic,
            fence,
        } = self.latency;
        let touches = |range: &Range<u64>| {
            let mut addresses = step.touches.iter().flat_map(|t| t.addresses.iter().flatten());
            addresses.any(|address| range.contains(address))
        };
        let wait = match machine.wait {
            Wait::Nothing | Wait::Barrier | Wait::Fence => 0.0,
            Wait::Arithmetic(times) => arithmetic * f64::from(times),
            Wait::F64 => f64,
            Wait::Xu => xu,
            Wait::Remainder => 3.0 * xu + 10.0 * arithmetic,
            Wait::Shared => shared,
            Wait::Shuffle => shuffle,
            Wait::Global if touches(&self.cold) => memory,
            Wait::Global if touches(&self.own) => l1,
            Wait::Global => l2,
            Wait::Atomic => atomic,
        };
        let wavefronts = step.touches.iter().filter_map(|touch| touch.wavefronts);
        let conflicts: u32 = wavefronts.map(|(taken, _)| taken.saturating_sub(1)).sum();
        let wait = wait + f64::from(conflicts);
        let issues = machine.issues();
        path.issued += issues;
        match machine.wait {
            // All that came before is there.
            Wait::Barrier => path.clock = path.end() + issues + barrier + arrival * self.warps,
            Wait::Fence => path.clock = path.end() + issues + fence,
            _ => path.clock += issues,
        }
        let operands = machine.from.iter().map(|&register| path.ready[register as usize]);
        let at = operands.fold(path.clock, f64::max);
        path.begun = path.begun.max(at);
        if machine.decides {
            path.clock = path.begun + branch;
        }
        for &register in &machine.to {
            path.ready[register as usize] = at + wait;
        }
        // A store to shared memory is there before the barrier ends.
        if machine.to.is_empty() && conflicts > 0 {
            path.clock += f64::from(conflicts);
        }
    }
}
