//! Watching a run, instruction by instruction.

use crate::fault::Thread;
use crate::program::Site;
use crate::ptx::Space;

/// What a memory instruction did.
#[derive(Clone, Debug, PartialEq)]
pub struct Touch {
    /// The space, resolved where the instruction's address was generic.
    pub space: Space,
    /// Whether it read, wrote or updated.
    pub verb: &'static str,
    /// Bytes each lane moved.
    pub bytes: u32,
    /// Each lane's address in that space; `None` for lanes that took no part.
    pub addresses: [Option<u64>; 32],
    /// Wavefronts taken and ideal, in shared memory.
    pub wavefronts: Option<(u32, u32)>,
    /// Sectors touched, in global memory.
    pub sectors: Option<u32>,
}

impl Touch {
    /// The shared-memory bank of each lane's first word.
    pub fn banks(&self) -> [Option<u32>; 32] {
        self.addresses.map(|address| address.map(|a| (a / 4 % 32) as u32))
    }
}

/// One instruction, done.
#[derive(Clone, Debug)]
pub struct Step<'a> {
    /// Lane 0 of the warp.
    pub first_thread: Thread,
    /// The warp's number in its block.
    pub warp: u32,
    /// Index of the instruction in the kernel.
    pub index: u32,
    /// Where it comes from.
    pub site: &'a Site,
    /// Lanes on the path.
    pub active: u32,
    /// Of those, the lanes whose guard held.
    pub on: u32,
    /// Block barriers the block has passed.
    pub phase: u32,
    /// The innermost loop, and which pass through it.
    pub iteration: Option<(u32, u32)>,
    /// What it did in memory; a generic access to several spaces comes as several.
    pub touches: &'a [Touch],
}

/// Someone who watches. Watched runs go on one host thread, in the order that the seed decides.
pub trait Observer {
    /// Called after each instruction.
    fn step(&mut self, step: &Step<'_>);
}
