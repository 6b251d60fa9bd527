//! Blocks to workers.
//!
//! Where blocks cannot communicate (no atomic, no strong access to global memory) they run on every
//! host thread, each block's turns decided by the seed and its own number, so that the outcome does
//! not depend on who ran it. Such a run is a wager: should it fault, its writes are undone and the
//! launch is run again on one thread, whose fault is the one reported. Where blocks may communicate
//! they run on one thread, several resident at once, interleaved as the seed decides.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};

use super::block::{Block, Progress};
use super::execute::Worker;
use super::order::{Dice, block_order};
use super::shadow::{Sides, Undo};
use crate::counters::{Counters, Tally};
use crate::fault::Fault;
use crate::launch::{Launch, Settings};
use crate::memory::Memory;
use crate::program::{Communication, Kernel, Program};
use crate::trace::Observer;

/// What every block of a launch shares.
pub(crate) struct Context<'a> {
    pub(crate) program: &'a Program,
    pub(crate) kernel: &'a Kernel,
    pub(crate) launch: &'a Launch,
    pub(crate) memory: &'a Memory,
    pub(crate) settings: &'a Settings,
    pub(crate) sides: Sides,
    /// The arguments, as parameter space holds them.
    pub(crate) parameters: Vec<u8>,
    /// Warp instructions issued so far.
    pub(crate) spent: AtomicU64,
    /// Some worker found a fault.
    stop: AtomicBool,
}

impl<'a> Context<'a> {
    fn new(
        program: &'a Program,
        kernel: &'a Kernel,
        launch: &'a Launch,
        memory: &'a Memory,
        settings: &'a Settings,
        undo: Undo,
    ) -> Context<'a> {
        let mut parameters = vec![0; kernel.parameter_bytes as usize];
        for (argument, parameter) in launch.arguments.iter().zip(&kernel.parameters) {
            let start = parameter.offset as usize;
            parameters[start..start + argument.0.len()].copy_from_slice(&argument.0);
        }
        Context {
            program,
            kernel,
            launch,
            memory,
            settings,
            sides: Sides::new(memory, program, undo),
            parameters,
            spent: AtomicU64::new(0),
            stop: AtomicBool::new(false),
        }
    }

    fn tally(&self) -> Tally {
        Tally::new(self.kernel.code.len(), self.kernel.loops.len())
    }
}

/// Runs a checked launch.
pub(super) fn run(
    program: &Program,
    kernel: &Kernel,
    launch: &Launch,
    memory: &Memory,
    settings: &Settings,
    observer: Option<&mut dyn Observer>,
) -> Result<Counters, Box<Fault>> {
    let order = block_order(launch.grid.count() as u32, settings.seed);
    let alone = kernel.communication == Communication::None;
    if alone && observer.is_none() && settings.threads > 1 && order.len() > 1 {
        let context = Context::new(program, kernel, launch, memory, settings, Undo::Possible);
        if let Some(tally) = spread(&context, &order) {
            return Ok(tally.finish(kernel));
        }
        context.sides.restore(memory, program);
    }
    let context = Context::new(program, kernel, launch, memory, settings, Undo::Never);
    let resident = if alone { 1 } else { settings.resident_blocks.max(1) as usize };
    let mut worker = Worker::new(&context, context.tally(), observer);
    interleave(&mut worker, &order, resident)?;
    Ok(worker.tally.finish(kernel))
}

/// Independent blocks on every host thread; `None` where any of them faulted, or there are no threads.
fn spread(context: &Context<'_>, order: &[u32]) -> Option<Tally> {
    let next = AtomicUsize::new(0);
    let workers = context.settings.threads.min(order.len());
    let tallies: Vec<Option<Tally>> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..workers)
            .map_while(|_| {
                // As many threads as the system grants.
                let worker = std::thread::Builder::new().spawn_scoped(scope, || {
                    let mut worker = Worker::new(context, context.tally(), None);
                    let mut spare = None;
                    while let Some(&index) = order.get(next.fetch_add(1, Relaxed)) {
                        if context.stop.load(Relaxed) {
                            return None;
                        }
                        let mut block = Block::begin(context, index, spare.take());
                        if worker.run_alone(&mut block).is_err() {
                            context.stop.store(true, Relaxed);
                            return None;
                        }
                        spare = Some(block);
                    }
                    Some(worker.tally)
                });
                worker.ok()
            })
            .collect();
        handles.into_iter().map(|handle| handle.join().unwrap_or(None)).collect()
    });
    if tallies.is_empty() {
        return None;
    }
    let mut all = context.tally();
    for tally in tallies {
        all.merge(&tally?);
    }
    Some(all)
}

/// Blocks on one thread, up to `resident` of them in turns.
fn interleave(
    worker: &mut Worker<'_, '_>,
    order: &[u32],
    resident: usize,
) -> Result<(), Box<Fault>> {
    let context = worker.context;
    let mut dice = Dice::new(context.settings.seed, u64::MAX - 1);
    let mut waiting = order.iter();
    let mut blocks: Vec<Block> = Vec::new();
    let mut spare = None;
    loop {
        while blocks.len() < resident {
            let Some(&index) = waiting.next() else { break };
            blocks.push(Block::begin(context, index, spare.take()));
        }
        if blocks.is_empty() {
            return Ok(());
        }
        let at = if blocks.len() == 1 { 0 } else { dice.below(blocks.len()) };
        let block = &mut blocks[at];
        // A turn of a block is some turns of its warps.
        let turns = if resident == 1 { usize::MAX } else { 1 + dice.below(32) };
        for _ in 0..turns {
            if worker.turn(block)? == Progress::Finished {
                spare = Some(blocks.swap_remove(at));
                break;
            }
        }
    }
}
