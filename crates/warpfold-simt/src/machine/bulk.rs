//! mbarriers, and the bulk copies that complete on them.
//!
//! A bulk load is an agent of its own: it writes shared memory some time after it was issued, knowing
//! what its issuer knew, and what it wrote is known to whoever waits on its mbarrier. So a thread that
//! reads too early, or reuses a buffer too soon, races with it.

use std::rc::Rc;

use super::block::Block;
use super::execute::{Issue, Worker};
use super::touch::Deed;
use crate::fault::{Fault, boxed};
use crate::program::op::{Address, MbarrierOp, Pc, Slot};
use crate::ptx::Space;
use crate::race::clock::Knowledge;
use crate::race::shadow::{AccessKind, Manner};

/// An mbarrier object. Its bits are opaque to kernels, so they are kept here.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mbarrier {
    /// Arrivals that complete a phase.
    expected: u32,
    /// Arrivals still to come in this phase.
    pending: u32,
    /// Bytes still to come in this phase; negative where they came before they were expected.
    bytes: i64,
    /// Phases completed.
    phase: u64,
    /// Its agent for copies: a number past the threads'.
    agent: u32,
    /// The agent's stamp.
    now: u32,
    /// The thread that issued its latest copy.
    issuer: u32,
    /// What the arrivals of this phase knew, and of the last one.
    gathering: Knowledge,
    published: Rc<Knowledge>,
}

impl Mbarrier {
    fn complete(&mut self) {
        if self.pending == 0 && self.bytes == 0 {
            self.phase += 1;
            self.pending = self.expected;
            self.published = Rc::new(self.gathering.clone());
        }
    }
}

/// A bulk load that has been issued.
#[derive(Clone, Debug)]
pub(crate) struct Copying {
    pc: Pc,
    w: usize,
    thread: u32,
    to: u64,
    from: u64,
    bytes: u32,
    mbarrier: u64,
    knowledge: Rc<Knowledge>,
}

/// What is wrong with an mbarrier that was never made.
const UNMADE: &str = "no mbarrier was initialised at this address";

/// Bytes a copy moves at a time.
const STEP: u32 = 8;

impl Block {
    /// The thread behind a number: past the threads' own come the agents that copy for them.
    pub(crate) fn issuer(&self, number: u32, threads: u32) -> u32 {
        let agent = self.mbarriers.values().find(|object| object.agent == number);
        agent.map_or(number, |object| object.issuer).min(threads - 1)
    }
}

impl Worker<'_, '_> {
    fn misuse(&self, block: &Block, issue: Issue, lane: usize, message: &str) -> Box<Fault> {
        boxed(Fault::Mbarrier {
            site: self.context.kernel.site(issue.pc).clone(),
            thread: self.thread(block, issue.w, lane),
            message: message.to_owned(),
        })
    }

    /// An address in shared memory, given as such or generic.
    fn in_shared(address: u64) -> u64 {
        match crate::program::window::split(address) {
            (Space::Shared, offset) => offset,
            _ => address,
        }
    }

    pub(crate) fn mbarrier(
        &mut self,
        block: &mut Block,
        issue: Issue,
        op: &MbarrierOp,
        address: Address,
    ) -> Result<(), Box<Fault>> {
        let addresses = self.addresses(block, issue, address);
        let agents = block.warps.len() as u32 * 32;
        for lane in (0..32).filter(|lane| issue.on >> lane & 1 == 1) {
            let at = Self::in_shared(addresses[lane]);
            let warp = &block.warps[issue.w];
            let thread = warp.first_thread + lane as u32;
            let now = warp.now;
            let register = |slot: &Slot| warp.registers[*slot as usize][lane];
            self.locate(block, (issue.pc, thread), Space::Shared, at, 8)?;
            if let MbarrierOp::Init { count } = op {
                let count = register(count) as u32;
                if count == 0 || count >= 1 << 20 {
                    return Err(self.misuse(
                        block,
                        issue,
                        lane,
                        "the count is between 1 and 2^20 - 1",
                    ));
                }
                let known = block.mbarriers.len() as u32;
                let agent = block.mbarriers.get(&at).map_or(agents + known, |old| old.agent);
                let now = block.mbarriers.get(&at).map_or(1, |old| old.now);
                let fresh =
                    Mbarrier { expected: count, pending: count, agent, now, ..Mbarrier::default() };
                block.mbarriers.insert(at, fresh);
                continue;
            }
            let knowledge = block.knowledge[thread as usize].clone();
            let Some(object) = block.mbarriers.get_mut(&at) else {
                return Err(self.misuse(block, issue, lane, UNMADE));
            };
            match op {
                MbarrierOp::Init { .. } => {}
                MbarrierOp::Invalidate => object.expected = 0,
                MbarrierOp::ExpectBytes { bytes } => object.bytes += register(bytes) as u32 as i64,
                MbarrierOp::CompleteBytes { bytes } => {
                    object.bytes -= register(bytes) as u32 as i64;
                    object.complete();
                }
                MbarrierOp::Arrive { state, count, expect, drop } => {
                    let count = count.as_ref().map_or(1, |slot| register(slot) as u32);
                    let token = object.phase;
                    if let Some(expect) = expect {
                        object.bytes += register(expect) as u32 as i64;
                    }
                    if count > object.pending {
                        return Err(self.misuse(
                            block,
                            issue,
                            lane,
                            "more arrivals than the phase expects",
                        ));
                    }
                    object.gathering.learn_all(&knowledge);
                    object.gathering.learn(thread, now);
                    object.pending -= count;
                    if *drop {
                        object.expected -= count.min(object.expected);
                    }
                    object.complete();
                    if let Some(state) = state {
                        block.warps[issue.w].registers[*state as usize][lane] = token;
                    }
                }
                MbarrierOp::WaitParity { done, parity } => {
                    let ready = object.phase & 1 != register(parity) & 1;
                    self.waited(block, issue, lane, at, *done, ready);
                }
                MbarrierOp::WaitState { done, state } => {
                    let ready = object.phase != register(state);
                    self.waited(block, issue, lane, at, *done, ready);
                }
            }
        }
        block.warps[issue.w].now += 1;
        Ok(())
    }

    fn waited(
        &mut self,
        block: &mut Block,
        issue: Issue,
        lane: usize,
        at: u64,
        done: u32,
        ready: bool,
    ) {
        let warp = &mut block.warps[issue.w];
        warp.write_predicate(done, if ready { u32::MAX } else { 0 }, 1 << lane);
        let thread = (warp.first_thread + lane as u32) as usize;
        if let (true, Some(object)) = (ready, block.mbarriers.get(&at)) {
            Rc::make_mut(&mut block.knowledge[thread]).learn_all(&object.published);
        }
    }

    pub(crate) fn bulk_load(
        &mut self,
        block: &mut Block,
        issue: Issue,
        [to, from, mbarrier]: [Address; 3],
        bytes: Slot,
    ) -> Result<(), Box<Fault>> {
        let [to, from, mbarrier] =
            [to, from, mbarrier].map(|address| self.addresses(block, issue, address));
        for lane in (0..32).filter(|lane| issue.on >> lane & 1 == 1) {
            let warp = &block.warps[issue.w];
            let bytes = warp.registers[bytes as usize][lane] as u32;
            let thread = warp.first_thread + lane as u32;
            let (to, mbarrier) = (Self::in_shared(to[lane]), Self::in_shared(mbarrier[lane]));
            self.check_copy(block, issue, lane, to, from[lane], bytes)?;
            let Some(object) = block.mbarriers.get_mut(&mbarrier) else {
                return Err(self.misuse(block, issue, lane, UNMADE));
            };
            object.issuer = thread;
            let mut knowledge = (*block.knowledge[thread as usize]).clone();
            knowledge.learn(thread, warp.now);
            let knowledge = Rc::new(knowledge);
            let copy = Copying {
                pc: issue.pc,
                w: issue.w,
                thread,
                to,
                from: from[lane],
                bytes,
                mbarrier,
                knowledge,
            };
            block.copies.push(copy);
            self.tally.count(issue.step, |counts| counts.bulk_bytes += u64::from(bytes));
        }
        block.warps[issue.w].now += 1;
        Ok(())
    }

    fn check_copy(
        &self,
        block: &Block,
        issue: Issue,
        lane: usize,
        shared: u64,
        global: u64,
        bytes: u32,
    ) -> Result<(), Box<Fault>> {
        if [u64::from(bytes), shared, global].iter().all(|size| size.is_multiple_of(16)) {
            return Ok(());
        }
        Err(boxed(Fault::BulkCopy {
            site: self.context.kernel.site(issue.pc).clone(),
            thread: self.thread(block, issue.w, lane),
            message: format!(
                "{bytes} bytes between global {global:#x} and shared {shared:#x}: all three must be multiples of 16"
            ),
        }))
    }

    /// Lets one issued copy, chosen by the dice, take place.
    pub(crate) fn finish_copy(&mut self, block: &mut Block) -> Result<(), Box<Fault>> {
        let at = block.dice.below(block.copies.len());
        let copy = block.copies.swap_remove(at);
        let Some(object) = block.mbarriers.get_mut(&copy.mbarrier) else { return Ok(()) };
        let (agent, now) = (object.agent, object.now);
        object.now += 1;
        block.instance = block.instance.wrapping_add(1);
        let read = Deed {
            pc: copy.pc,
            thread: agent,
            first_thread: agent,
            now,
            instance: block.instance,
            kind: AccessKind::Read,
            manner: Manner::Plain,
            knowledge: Some(&copy.knowledge),
        };
        let write = Deed { kind: AccessKind::Write, ..read };
        for moved in (0..copy.bytes).step_by(STEP as usize) {
            let offset = u64::from(moved);
            let from = self.locate(
                block,
                (copy.pc, copy.thread),
                Space::Global,
                copy.from + offset,
                STEP,
            )?;
            let to =
                self.locate(block, (copy.pc, copy.thread), Space::Shared, copy.to + offset, STEP)?;
            self.check_written(block, Deed { thread: copy.thread, ..read }, from, STEP)?;
            self.touch(block, read, from, STEP, |_| false)?;
            self.touch(block, write, to, STEP, |_| false)?;
            let value = self.peek(block, copy.w, from, 0, STEP);
            self.poke(block, copy.w, to, 0, STEP, value);
            self.carry_depth(block, from, to, STEP);
        }
        if let Some(object) = block.mbarriers.get_mut(&copy.mbarrier) {
            object.gathering.learn(agent, now);
            object.bytes -= i64::from(copy.bytes);
            object.complete();
        }
        Ok(())
    }

    /// A bulk store: done when issued, as its issuer.
    pub(crate) fn bulk_store(
        &mut self,
        block: &mut Block,
        issue: Issue,
        to: Address,
        from: Address,
        bytes: Slot,
    ) -> Result<(), Box<Fault>> {
        let [to, from] = [to, from].map(|address| self.addresses(block, issue, address));
        let deed = self.deed(block, issue, AccessKind::Read, Manner::Plain);
        for lane in (0..32).filter(|lane| issue.on >> lane & 1 == 1) {
            let bytes = block.warps[issue.w].registers[bytes as usize][lane] as u32;
            let from = Self::in_shared(from[lane]);
            self.check_copy(block, issue, lane, from, to[lane], bytes)?;
            let read = Deed { thread: deed.first_thread + lane as u32, ..deed };
            let write = Deed { kind: AccessKind::Write, ..read };
            for moved in (0..bytes).step_by(STEP as usize) {
                let offset = u64::from(moved);
                let from = self.locate(
                    block,
                    (issue.pc, read.thread),
                    Space::Shared,
                    from + offset,
                    STEP,
                )?;
                let to = self.locate(
                    block,
                    (issue.pc, read.thread),
                    Space::Global,
                    to[lane] + offset,
                    STEP,
                )?;
                self.check_written(block, read, from, STEP)?;
                self.touch(block, read, from, STEP, |_| false)?;
                self.touch(block, write, to, STEP, |_| false)?;
                let value = self.peek(block, issue.w, from, 0, STEP);
                self.poke(block, issue.w, to, 0, STEP, value);
                self.carry_depth(block, from, to, STEP);
            }
            self.tally.count(issue.step, |counts| counts.bulk_bytes += u64::from(bytes));
        }
        Ok(())
    }
}
