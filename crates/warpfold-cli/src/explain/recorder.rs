//! [`Recorder`]: watches a run and keeps what each block did, in order.

use std::collections::BTreeMap;

use warpfold_simt::{Observer, Step, Touch};

/// One instruction of one warp.
pub(crate) struct Event {
    pub(crate) warp: u32,
    /// The instruction's index in the kernel.
    pub(crate) index: u32,
    /// Lanes on its path.
    pub(crate) active: u32,
    /// Of those, the lanes whose guard held.
    pub(crate) on: u32,
    /// Block barriers passed before.
    pub(crate) phase: u32,
    pub(crate) touches: Vec<Touch>,
}

/// What the blocks did; of long runs only what the first of them did.
#[derive(Default)]
pub(crate) struct Recorder {
    blocks: BTreeMap<u32, Vec<Event>>,
    kept: usize,
}

/// Instructions kept. A block that begins when so many are kept is not recorded.
const MOST: usize = 300_000;

impl Observer for Recorder {
    fn step(&mut self, step: &Step<'_>) {
        let block = step.first_thread.block[0];
        if self.kept >= MOST && !self.blocks.contains_key(&block) {
            return;
        }
        self.kept += 1;
        self.blocks.entry(block).or_default().push(Event {
            warp: step.warp,
            index: step.index,
            active: step.active,
            on: step.on,
            phase: step.phase,
            touches: step.touches.to_vec(),
        });
    }
}

impl Recorder {
    /// The block that did most (the first of several), which in a launch that finishes itself is the one that does so.
    pub(crate) fn busiest(self) -> (u32, Vec<Event>) {
        let most = self
            .blocks
            .into_iter()
            .max_by_key(|(block, events)| (events.len(), std::cmp::Reverse(*block)));
        most.unwrap_or_default()
    }
}
