//! A block: its warps, its shared memory, what its threads know of each other, whose turn it is.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::barrier::Barrier;
use super::bulk::{Copying, Mbarrier};
use super::execute::{Flow, Worker};
use super::grid::Context;
use super::order::Dice;
use super::warp::{Path, State, Warp};
use crate::alu::Lanes;
use crate::fault::{Fault, Thread, Waiter, boxed};
use crate::program::Special;
use crate::race::clock::Knowledge;
use crate::race::shadow::Page;

/// What a thread had done by its last fences, for its next atomic to publish.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fenced {
    pub(crate) block: Option<(Rc<Knowledge>, u32)>,
    pub(crate) device: Option<(Rc<Knowledge>, u32)>,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Running,
    Finished,
}

/// A block that runs.
pub(crate) struct Block {
    pub(crate) index: u32,
    pub(crate) coordinates: [u32; 3],
    pub(crate) warps: Vec<Warp>,
    pub(crate) shared: Vec<u8>,
    /// A bit for every byte of shared memory: whether it was written.
    pub(crate) written: Vec<u64>,
    pub(crate) shadow: Vec<Page>,
    /// By thread number, warps padded to 32.
    pub(crate) knowledge: Vec<Rc<Knowledge>>,
    pub(crate) fenced: Vec<Fenced>,
    pub(crate) barriers: Vec<Barrier>,
    pub(crate) mbarriers: BTreeMap<u64, Mbarrier>,
    pub(crate) copies: Vec<Copying>,
    /// Block barriers passed.
    pub(crate) phase: u32,
    /// Executions of memory instructions so far.
    pub(crate) instance: u32,
    pub(crate) clock: u64,
    /// Depths of shared memory's words, where chains are followed.
    pub(crate) depths: Vec<u32>,
    pub(crate) dice: Dice,
}

/// Named barriers of a block, and one for its cluster of one.
const BARRIERS: usize = 17;

impl Block {
    /// A block about to run; a finished one's memory may be reused.
    pub(crate) fn begin(context: &Context<'_>, index: u32, spare: Option<Block>) -> Block {
        let (kernel, launch) = (context.kernel, context.launch);
        let threads = launch.block.count() as u32;
        let warps = threads.div_ceil(32);
        let shared = (kernel.dynamic_shared + launch.shared_bytes) as usize;
        let slots = warps as usize * 32;
        let nothing = Rc::new(Knowledge::default());
        let (old_warps, mut pages) = match spare {
            Some(block) => (block.warps, block.shadow),
            None => (Vec::new(), Vec::new()),
        };
        pages.iter_mut().for_each(Page::clear);
        pages.resize_with(shared.div_ceil(4096), Page::new);
        let mut block = Block {
            index,
            coordinates: launch.grid.coordinates(u64::from(index)),
            warps: old_warps,
            shared: vec![0; shared],
            written: vec![0; shared.div_ceil(64)],
            shadow: pages,
            knowledge: vec![nothing; slots],
            fenced: vec![Fenced::default(); slots],
            barriers: (0..BARRIERS).map(|_| Barrier::default()).collect(),
            mbarriers: BTreeMap::new(),
            copies: Vec::new(),
            phase: 0,
            instance: 0,
            clock: 0,
            depths: Vec::new(),
            dice: Dice::new(context.settings.seed, u64::from(index)),
        };
        if block.warps.is_empty() {
            block.warps = (0..warps).map(|warp| Warp::new(context, warp)).collect();
        }
        for warp in 0..warps {
            block.warps[warp as usize].begin(context, warp, block.coordinates);
        }
        block
    }

    /// The thread of that number.
    pub(crate) fn thread(&self, context: &Context<'_>, number: u32) -> Thread {
        Thread {
            block: self.coordinates,
            thread: context.launch.block.coordinates(u64::from(number)),
        }
    }

    fn is_finished(&self) -> bool {
        self.warps.iter().all(|warp| warp.live == 0)
    }
}

impl Warp {
    fn new(context: &Context<'_>, number: u32) -> Warp {
        let kernel = context.kernel;
        Warp {
            first_thread: number * 32,
            registers: vec![[0; 32]; kernel.registers as usize],
            predicates: vec![0; kernel.predicates as usize],
            carry: 0,
            live: 0,
            since_join: 0,
            issued: 0,
            paths: Vec::new(),
            joins: Vec::new(),
            now: 1,
            local: vec![0; kernel.local_bytes as usize * 32],
            depths: match context.settings.chains {
                crate::Detail::On => vec![[0; 32]; kernel.registers as usize],
                crate::Detail::Off => Vec::new(),
            },
        }
    }

    /// Back to a warp's first state: zeros, constants, special registers, every lane at the start.
    fn begin(&mut self, context: &Context<'_>, number: u32, block: [u32; 3]) {
        let (kernel, launch) = (context.kernel, context.launch);
        let threads = launch.block.count() as u32;
        let lanes = (threads - number * 32).min(32);
        self.live = crate::alu::low_bits(lanes) as u32;
        self.registers.fill([0; 32]);
        self.predicates.fill(0);
        self.local.fill(0);
        self.depths.fill([0; 32]);
        self.carry = 0;
        self.since_join = 0;
        self.issued = 0;
        self.now = 1;
        self.joins.clear();
        self.paths.clear();
        self.paths.push(Path {
            pc: 0,
            mask: self.live,
            join: None,
            state: State::Ready,
            previous: crate::program::op::EXIT,
            passes: vec![0; kernel.loops.len()],
        });
        for &(slot, value) in &kernel.immediates {
            self.registers[slot as usize] = [value; 32];
        }
        for &(slot, special) in &kernel.specials {
            self.registers[slot as usize] = special_register(context, special, number, block);
        }
    }
}

fn special_register(context: &Context<'_>, special: Special, warp: u32, block: [u32; 3]) -> Lanes {
    let launch = context.launch;
    let axis = |d: crate::Dimensions, axis: u8| u64::from([d.x, d.y, d.z][usize::from(axis)]);
    let each = |f: &dyn Fn(u64) -> u64| std::array::from_fn(|lane| f(lane as u64));
    match special {
        Special::Thread(a) => each(&|lane| {
            let location = launch.block.coordinates(u64::from(warp) * 32 + lane);
            u64::from(location[usize::from(a)])
        }),
        Special::BlockSize(a) => [axis(launch.block, a); 32],
        Special::Block(a) => [u64::from(block[usize::from(a)]); 32],
        Special::GridSize(a) => [axis(launch.grid, a); 32],
        Special::Lane => each(&|lane| lane),
        Special::Warp => [u64::from(warp); 32],
        Special::Warps => [launch.block.count().div_ceil(32); 32],
        Special::LaneMaskEqual => each(&|lane| 1 << lane),
        Special::LaneMaskLess => each(&|lane| (1 << lane) - 1),
        Special::LaneMaskLessEqual => each(&|lane| (2 << lane) - 1),
        Special::LaneMaskGreater => each(&|lane| 0xffff_ffff & !((2 << lane) - 1)),
        Special::LaneMaskGreaterEqual => each(&|lane| 0xffff_ffff & !((1 << lane) - 1)),
        Special::DynamicShared => [u64::from(launch.shared_bytes); 32],
        Special::TotalShared => {
            [u64::from(context.kernel.dynamic_shared + launch.shared_bytes); 32]
        }
        Special::Fixed(value) => [u64::from(value); 32],
    }
}

/// One of those that are ready, each as likely as the others.
fn pick(dice: &mut Dice, ready: impl Iterator<Item = bool> + Clone) -> Option<usize> {
    let count = ready.clone().filter(|ready| *ready).count();
    let chosen = match count {
        0 => return None,
        1 => 0,
        _ => dice.below(count),
    };
    ready.enumerate().filter(|(_, ready)| *ready).nth(chosen).map(|(at, _)| at)
}

/// Instructions of a warp after which lanes that wait at a join wait no longer.
const PATIENCE: u64 = 1 << 18;

/// Instructions between two looks at the budget and at who goes next, at most.
const LONGEST_TURN: usize = 64;

impl Worker<'_, '_> {
    /// Runs a block to its end.
    pub(crate) fn run_alone(&mut self, block: &mut Block) -> Result<(), Box<Fault>> {
        while self.turn(block)? == Progress::Running {}
        Ok(())
    }

    /// Lets one path of one warp run for a while, both chosen by the dice.
    pub(crate) fn turn(&mut self, block: &mut Block) -> Result<Progress, Box<Fault>> {
        if !block.copies.is_empty() && block.dice.below(4) == 0 {
            self.finish_copy(block)?;
        }
        let Some(w) = pick(&mut block.dice, block.warps.iter().map(Warp::is_ready)) else {
            return self.unblock(block);
        };
        let ready = block.warps[w].paths.iter().map(|path| path.state == State::Ready);
        let Some(p) = pick(&mut block.dice, ready) else { return Ok(Progress::Running) };
        let length = 1 + block.dice.below(LONGEST_TURN);
        let mut spent = 0;
        let mut last = block.warps[w].paths[p].pc;
        while spent < length {
            spent += 1;
            last = block.warps[w].paths[p].pc;
            if self.step(block, w, p)? == Flow::Stop {
                break;
            }
        }
        block.clock += spent as u64;
        let warp = &mut block.warps[w];
        warp.since_join += spent as u64;
        if warp.since_join > PATIENCE {
            warp.yield_join();
            warp.since_join = 0;
        }
        self.charge(block, w, last, spent as u64)?;
        if block.warps[w].live == 0 && block.is_finished() {
            self.tally.blocks += 1;
            self.tally.warps += block.warps.len() as u64;
            let longest = block.warps.iter().map(|warp| warp.issued).max().unwrap_or(0);
            self.tally.longest_warp = self.tally.longest_warp.max(longest);
            return Ok(Progress::Finished);
        }
        Ok(Progress::Running)
    }

    /// Nothing is ready: completes a copy, lets a join go, or says why nothing can.
    fn unblock(&mut self, block: &mut Block) -> Result<Progress, Box<Fault>> {
        if !block.copies.is_empty() {
            self.finish_copy(block)?;
            return Ok(Progress::Running);
        }
        for w in 0..block.warps.len() {
            self.check_divergence(block, w)?;
        }
        // Lanes that wait for lanes at a join need the join to let go.
        let let_go = block.warps.iter_mut().any(|warp| {
            warp.paths.iter().any(|path| matches!(path.state, State::WarpSync { .. }))
                && warp.yield_join()
        });
        let let_go = let_go || block.warps.iter_mut().any(Warp::yield_join);
        if let_go { Ok(Progress::Running) } else { Err(self.deadlock(block)) }
    }

    fn deadlock(&self, block: &Block) -> Box<Fault> {
        let mut waiters = Vec::new();
        for warp in &block.warps {
            for path in &warp.paths {
                let reason = match path.state {
                    State::Ready => continue,
                    State::WarpSync { .. } => "the other lanes of its mask",
                    State::Aligning => "the other lanes of its warp",
                    State::Barrier { .. } => "the other warps at the barrier",
                };
                if waiters.len() < 4 {
                    waiters.push(Waiter {
                        thread: block
                            .thread(self.context, warp.first_thread + path.mask.trailing_zeros()),
                        lanes: path.mask.count_ones(),
                        site: self.context.kernel.site(path.pc).clone(),
                        reason,
                    });
                }
            }
        }
        boxed(Fault::Deadlock { waiters })
    }
}
