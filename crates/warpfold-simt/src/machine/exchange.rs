//! What lanes of a warp do together: `bar.warp.sync`, `shfl`, `vote`, `match`, `redux`, `elect`.
//!
//! The lanes that a mask names may come on several paths; the operation happens when the last of
//! them has come.

use std::rc::Rc;

use super::atomics::updated;
use super::block::Block;
use super::execute::{Flow, Issue, Worker};
use super::warp::{State, Warp};
use crate::alu::{Lanes, low_bits};
use crate::counters::Step;
use crate::fault::{Fault, boxed};
use crate::program::op::{Op, Pc, Shuffle, Slot, Vote, VoteResult, WarpOp};
use crate::race::clock::joined;

impl Worker<'_, '_> {
    /// Executes, or begins to wait for, a `.sync` instruction.
    pub(crate) fn exchange(
        &mut self,
        block: &mut Block,
        issue: Issue,
        op: &WarpOp,
        mask: Slot,
    ) -> Result<Flow, Box<Fault>> {
        let Issue { w, p, pc, on, .. } = issue;
        let warp = &mut block.warps[w];
        let masks = warp.registers[mask as usize];
        let own = masks[on.trailing_zeros() as usize] as u32;
        for lane in (0..32).filter(|lane| on >> lane & 1 == 1) {
            let mask = masks[lane] as u32;
            if mask >> lane & 1 == 0 {
                return Err(boxed(Fault::LaneNotInMask {
                    site: self.context.kernel.site(pc).clone(),
                    thread: self.thread(block, w, lane),
                    mask,
                }));
            }
        }
        let agreed = (0..32)
            .filter(|lane| on >> lane & 1 == 1)
            .fold(0, |lanes, lane| lanes | u32::from(masks[lane] as u32 == own) << lane);
        if agreed != on {
            // Lanes that name different masks wait for different lanes: they part here.
            self.tally_split(warp, p, pc, [agreed, on & !agreed]);
            return Ok(Flow::Stop);
        }
        let needed = own & warp.live;
        if on == needed {
            self.exchange_depths(block, w, (pc, on), op);
            perform(block, w, &[(p, pc)], op);
            block.warps[w].paths[p].pc += 1;
            return Ok(Flow::Continue);
        }
        warp.paths[p].state = State::WarpSync { mask: own };
        self.meet(block, w, own);
        Ok(Flow::Stop)
    }

    fn tally_split(&mut self, warp: &mut Warp, p: usize, pc: Pc, groups: [u32; 2]) {
        let groups = groups.map(|mask| (mask, pc));
        warp.split(p, &groups, pc + 1);
    }

    /// Performs the operation that waits under `mask`, if all its lanes have come.
    pub(crate) fn meet(&mut self, block: &mut Block, w: usize, mask: u32) {
        let code = &self.context.kernel.code;
        let warp = &block.warps[w];
        let waiting: Vec<(usize, Pc)> = warp
            .paths
            .iter()
            .enumerate()
            .filter(|(_, path)| path.state == State::WarpSync { mask })
            .map(|(p, path)| (p, path.pc))
            .collect();
        // Only lanes at the same kind of instruction meet.
        for &(_, pc) in &waiting {
            let Op::Warp { op, .. } = &code[pc as usize].op else { continue };
            let alike: Vec<(usize, Pc)> = waiting
                .iter()
                .copied()
                .filter(|&(_, other)| match (&code[other as usize].op, op) {
                    (Op::Warp { op: WarpOp::Barrier, .. }, WarpOp::Barrier) => true,
                    _ => other == pc,
                })
                .collect();
            let come = alike.iter().fold(0, |lanes, &(p, _)| lanes | warp.paths[p].mask);
            if come == mask & warp.live {
                self.exchange_depths(block, w, (pc, come), op);
                perform(block, w, &alike, op);
                for (p, _) in alike {
                    let path = &mut block.warps[w].paths[p];
                    path.state = State::Ready;
                    path.pc += 1;
                }
                return;
            }
        }
    }

    /// Carries depths between lanes, where chains are followed.
    fn exchange_depths(&mut self, block: &mut Block, w: usize, (pc, on): (Pc, u32), op: &WarpOp) {
        if !self.follows_chains() {
            return;
        }
        let phase = block.phase;
        let warp = &mut block.warps[w];
        match op {
            WarpOp::Shuffle { mode, to, value, by, clamp, .. } => {
                let registers = &warp.registers;
                let (by, clamp) = (&registers[*by as usize], &registers[*clamp as usize]);
                let depths = warp.depths[*value as usize];
                let moved = std::array::from_fn(|lane| {
                    let (from, _) =
                        source_lane(*mode, lane as u32, by[lane] as u32, clamp[lane] as u32);
                    depths[from as usize]
                });
                warp.write_depths(*to, &moved, on);
            }
            WarpOp::Reduce { to, value, .. } => {
                let depths = warp.depths[*value as usize];
                let data =
                    (0..32).filter(|lane| on >> lane & 1 == 1 && depths[*lane] != 0).count() as u32;
                let deepest = depths.iter().max().copied().unwrap_or(0);
                // A warp folds its lanes as a tree.
                let folded = [deepest + data.next_power_of_two().trailing_zeros(); 32];
                warp.write_depths(*to, &folded, on);
                let step = Step { pc, phase, iteration: None };
                let issue = Issue { w, p: 0, pc, on, step };
                self.combined(issue, u64::from(data.saturating_sub(1)), &folded);
            }
            WarpOp::Barrier
            | WarpOp::Vote { .. }
            | WarpOp::MatchAny { .. }
            | WarpOp::MatchAll { .. }
            | WarpOp::Elect { .. } => {}
        }
    }

    /// Lanes have exited: whoever waited for them need not.
    pub(crate) fn after_exit(&mut self, block: &mut Block, w: usize) -> Result<(), Box<Fault>> {
        let masks: Vec<u32> = block.warps[w]
            .paths
            .iter()
            .filter_map(|path| match path.state {
                State::WarpSync { mask } => Some(mask),
                _ => None,
            })
            .collect();
        for mask in masks {
            self.meet(block, w, mask);
        }
        self.barriers_after_exit(block, w)
    }
}

/// Does the operation for the lanes of `paths`, which all stand at instructions of one kind.
fn perform(block: &mut Block, w: usize, paths: &[(usize, Pc)], op: &WarpOp) {
    let warp = &mut block.warps[w];
    let on = paths.iter().fold(0, |lanes, &(p, _)| lanes | warp.paths[p].mask);
    if let WarpOp::Barrier = op {
        order(block, w, on);
        return;
    }
    let value_of = |slot: &Slot| warp.registers[*slot as usize];
    match op {
        WarpOp::Barrier => {}
        WarpOp::Shuffle { mode, to, valid, value, by, clamp } => {
            let (value, by, clamp) = (value_of(value), value_of(by), value_of(clamp));
            let mut inside = 0;
            let out: Lanes = std::array::from_fn(|lane| {
                let (from, ok) =
                    source_lane(*mode, lane as u32, by[lane] as u32, clamp[lane] as u32);
                inside |= u32::from(ok) << lane;
                // A lane that is not there gives an undefined value; zero serves.
                if on >> from & 1 == 1 { value[from as usize] & 0xffff_ffff } else { 0 }
            });
            warp.write(*to, &out, on);
            if let Some(valid) = valid {
                warp.write_predicate(*valid, inside, on);
            }
        }
        WarpOp::Vote { mode, to, condition } => {
            let yes = warp.holds(*condition) & on;
            match (mode, to) {
                (Vote::Ballot, VoteResult::Register(to)) => {
                    warp.write(*to, &[u64::from(yes); 32], on)
                }
                (mode, VoteResult::Predicate(to)) => {
                    let result = match mode {
                        Vote::All => yes == on,
                        Vote::Any => yes != 0,
                        _ => yes == on || yes == 0,
                    };
                    warp.write_predicate(*to, if result { u32::MAX } else { 0 }, on);
                }
                _ => {}
            }
        }
        WarpOp::MatchAny { to, value, bits } => {
            let value = value_of(value).map(|v| v & low_bits(*bits));
            let out = std::array::from_fn(|lane| {
                (0..32)
                    .filter(|other| on >> other & 1 == 1 && value[*other] == value[lane])
                    .fold(0, |mask, other| mask | 1 << other)
            });
            warp.write(*to, &out, on);
        }
        WarpOp::MatchAll { to, all, value, bits } => {
            let value = value_of(value).map(|v| v & low_bits(*bits));
            let first = value[on.trailing_zeros() as usize];
            let same = (0..32).filter(|lane| on >> lane & 1 == 1).all(|lane| value[lane] == first);
            warp.write(*to, &[if same { u64::from(on) } else { 0 }; 32], on);
            if let Some(all) = all {
                warp.write_predicate(*all, if same { u32::MAX } else { 0 }, on);
            }
        }
        WarpOp::Reduce { function, ty, to, value } => {
            let value = value_of(value);
            let folded = (0..32)
                .filter(|lane| on >> lane & 1 == 1)
                .map(|lane| value[lane])
                .reduce(|a, b| updated(*function, *ty, a, b, 0, false));
            warp.write(*to, &[folded.unwrap_or(0); 32], on);
        }
        WarpOp::Elect { to, leader } => {
            let first = on.trailing_zeros();
            if let Some(to) = to {
                warp.write(*to, &[u64::from(first); 32], on);
            }
            warp.write_predicate(*leader, 1 << first, on);
        }
    }
}

/// The lane that `shfl` reads from, and whether it lies inside the segment (PTX ISA, `shfl.sync`).
fn source_lane(mode: Shuffle, lane: u32, by: u32, clamp: u32) -> (u32, bool) {
    let by = by & 31;
    let bound = clamp & 31;
    let segment = clamp >> 8 & 31;
    let highest = lane & segment | bound & !segment;
    let lowest = lane & segment;
    let (from, inside) = match mode {
        Shuffle::Up => (lane.wrapping_sub(by), lane as i32 - by as i32 >= highest as i32),
        Shuffle::Down => (lane + by, lane + by <= highest),
        Shuffle::Butterfly => (lane ^ by, lane ^ by <= highest),
        Shuffle::Index => {
            let from = lowest | by & !segment;
            (from, from <= highest)
        }
    };
    if inside { (from & 31, true) } else { (lane, false) }
}

/// A warp barrier orders the memory accesses of its lanes.
fn order(block: &mut Block, w: usize, on: u32) {
    let warp = &mut block.warps[w];
    let (first, now) = (warp.first_thread, warp.now);
    let lanes = (0..32).filter(|lane| on >> lane & 1 == 1);
    let knowledge = Rc::new(joined(
        lanes.clone().map(|lane| (first + lane, now, &block.knowledge[(first + lane) as usize])),
    ));
    for lane in lanes {
        block.knowledge[(first + lane) as usize] = knowledge.clone();
    }
    warp.now += 1;
}
