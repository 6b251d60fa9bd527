//! Block barriers: who has come, who is missing, and what they know of each other afterwards.

use std::rc::Rc;

use super::block::Block;
use super::execute::{Flow, Issue, Worker};
use super::warp::State;
use crate::fault::{Fault, boxed};
use crate::program::op::{Alignment, BarrierKind, Condition, Op, Pc, Slot};
use crate::race::clock::joined;

/// The barrier past a block's sixteen, for its cluster.
const CLUSTER: u32 = 16;

/// One of a block's named barriers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Barrier {
    /// Warps or parts of them that came: warp, lanes, where from.
    arrivals: Vec<(usize, u32, Pc)>,
    /// Threads that the barrier waits for, where it names a number.
    count: Option<u32>,
    /// Threads that came, by the barrier's own way of counting.
    arrived: u32,
    /// Lanes, by warp, that wait.
    waiting: Vec<(usize, u32)>,
    /// Threads whose predicate held, and threads asked.
    votes: (u32, u32),
}

impl Worker<'_, '_> {
    /// A path comes to a barrier.
    pub(crate) fn barrier(
        &mut self,
        block: &mut Block,
        issue: Issue,
        kind: &BarrierKind,
        alignment: Alignment,
        id: Slot,
        count: Option<Slot>,
    ) -> Result<Flow, Box<Fault>> {
        let Issue { w, p, pc, on, .. } = issue;
        let warp = &mut block.warps[w];
        if alignment == Alignment::Aligned && on != warp.live {
            warp.paths[p].state = State::Aligning;
            return self.align(block, w, pc);
        }
        let lane = on.trailing_zeros() as usize;
        let id = match kind {
            BarrierKind::Cluster => CLUSTER,
            _ => warp.registers[id as usize][lane] as u32,
        };
        let count = count.map(|slot| warp.registers[slot as usize][lane] as u32);
        let misuse = |worker: &Self, block: &Block, message: String| {
            boxed(Fault::BarrierMisuse {
                site: worker.context.kernel.site(pc).clone(),
                thread: worker.thread(block, w, lane),
                message,
            })
        };
        if id >= CLUSTER && !matches!(kind, BarrierKind::Cluster) {
            return Err(misuse(self, block, format!("a block has barriers 0 to 15, not {id}")));
        }
        if count.is_some_and(|count| count == 0 || count % 32 != 0) {
            return Err(misuse(self, block, "a thread count is a positive multiple of 32".into()));
        }
        self.tally.count(issue.step, |counts| counts.block_barriers += 1);
        let barrier = &mut block.barriers[id as usize];
        if let (Some(&(other, lanes, from)), None, Alignment::Aligned) =
            (barrier.arrivals.first(), count, alignment)
            && from != pc
        {
            let first = block.warps[other].first_thread + lanes.trailing_zeros();
            return Err(boxed(Fault::BarrierMismatch {
                block: block.coordinates,
                first: block.thread(self.context, first),
                first_site: self.context.kernel.site(from).clone(),
                second: self.thread(block, w, lane),
                second_site: self.context.kernel.site(pc).clone(),
            }));
        }
        barrier.count = count;
        barrier.arrivals.push((w, on, pc));
        // With a count, an aligned warp counts whole.
        let whole = count.is_some() && alignment == Alignment::Aligned;
        barrier.arrived += if whole { 32 } else { on.count_ones() };
        if let BarrierKind::Count { condition, .. }
        | BarrierKind::All { condition, .. }
        | BarrierKind::Any { condition, .. } = kind
        {
            let yes = block.warps[w].holds(Condition { ..*condition }) & on;
            barrier.votes.0 += yes.count_ones();
            barrier.votes.1 += on.count_ones();
        }
        let path = &mut block.warps[w].paths[p];
        if let BarrierKind::Arrive = kind {
            path.pc += 1;
        } else {
            path.state = State::Barrier { id };
            barrier.waiting.push((w, on));
        }
        self.complete(block, id as usize);
        Ok(Flow::Stop)
    }

    /// Lanes of an aligned barrier gather; once the warp is whole, it arrives.
    fn align(&mut self, block: &mut Block, w: usize, pc: Pc) -> Result<Flow, Box<Fault>> {
        let warp = &mut block.warps[w];
        let here = warp
            .paths
            .iter()
            .filter(|path| path.state == State::Aligning && path.pc == pc)
            .fold(0, |lanes, path| lanes | path.mask);
        if here != 0 && here == warp.live {
            warp.gather(pc);
            warp.paths[0].state = State::Ready;
        }
        Ok(Flow::Stop)
    }

    /// Opens a barrier that everyone has come to.
    fn complete(&mut self, block: &mut Block, id: usize) {
        let live: u32 = block.warps.iter().map(|warp| warp.live.count_ones()).sum();
        let barrier = &block.barriers[id];
        if barrier.arrivals.is_empty() || barrier.arrived < barrier.count.unwrap_or(live) {
            return;
        }
        let barrier = std::mem::take(&mut block.barriers[id]);
        let threads = barrier.arrivals.iter().flat_map(|&(w, lanes, _)| {
            let warp = &block.warps[w];
            let (first, now) = (warp.first_thread, warp.now);
            (0..32).filter(move |lane| lanes >> lane & 1 == 1).map(move |lane| (first + lane, now))
        });
        let known = threads.map(|(thread, now)| (thread, now, &block.knowledge[thread as usize]));
        let knowledge = Rc::new(joined(known));
        for &(w, lanes, _) in &barrier.arrivals {
            block.warps[w].now += 1;
            let _ = lanes;
        }
        for &(w, lanes) in &barrier.waiting {
            let warp = &mut block.warps[w];
            for lane in (0..32).filter(|lane| lanes >> lane & 1 == 1) {
                block.knowledge[(warp.first_thread + lane) as usize] = knowledge.clone();
            }
            let mut results = Vec::new();
            for path in
                warp.paths.iter_mut().filter(|path| path.state == State::Barrier { id: id as u32 })
            {
                results.push((path.pc, path.mask));
                path.state = State::Ready;
                path.pc += 1;
            }
            for (pc, mask) in results {
                let (yes, requested) = barrier.votes;
                match self.context.kernel.code[pc as usize].op {
                    Op::Barrier { kind: BarrierKind::Count { to, .. }, .. } => {
                        warp.write(to, &[u64::from(yes); 32], mask)
                    }
                    Op::Barrier { kind: BarrierKind::All { to, .. }, .. } => {
                        warp.write_predicate(to, if yes == requested { u32::MAX } else { 0 }, mask);
                    }
                    Op::Barrier { kind: BarrierKind::Any { to, .. }, .. } => {
                        warp.write_predicate(to, if yes != 0 { u32::MAX } else { 0 }, mask);
                    }
                    _ => {}
                }
            }
        }
        block.phase += u32::from(id == 0);
    }

    /// Lanes have exited: a barrier may be complete without them.
    pub(crate) fn barriers_after_exit(
        &mut self,
        block: &mut Block,
        w: usize,
    ) -> Result<(), Box<Fault>> {
        let aligning: Vec<Pc> = block.warps[w]
            .paths
            .iter()
            .filter(|path| path.state == State::Aligning)
            .map(|path| path.pc)
            .collect();
        for pc in aligning {
            self.align(block, w, pc)?;
        }
        for id in 0..block.barriers.len() {
            self.complete(block, id);
        }
        Ok(())
    }

    /// A warp that cannot go on because part of it is at an aligned barrier and part is not.
    pub(crate) fn check_divergence(&self, block: &Block, w: usize) -> Result<(), Box<Fault>> {
        let warp = &block.warps[w];
        let Some(path) = warp.paths.iter().find(|path| path.state == State::Aligning) else {
            return Ok(());
        };
        let others = warp.live & !path.mask;
        let elsewhere = warp
            .at_joins()
            .chain(
                warp.paths
                    .iter()
                    .filter(|other| other.pc != path.pc)
                    .map(|other| (other.mask, other.pc)),
            )
            .map(|(_, pc)| pc)
            .next()
            .unwrap_or(path.pc);
        Err(boxed(Fault::BarrierDivergence {
            site: self.context.kernel.site(path.pc).clone(),
            thread: self.thread(block, w, path.mask.trailing_zeros() as usize),
            lanes: path.mask.count_ones(),
            others: others.count_ones(),
            elsewhere: self.context.kernel.site(elsewhere).clone(),
        }))
    }
}
