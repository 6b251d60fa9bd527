//! A warp: its registers, and the paths its lanes are on.
//!
//! A warp that branches both ways becomes two paths that meet again at a *join*, which stands at the
//! branch's immediate post-dominator. Paths are scheduled one at a time. A path that waits (for lanes
//! a mask names, at a barrier) lets the others run; when nothing in the warp can go on, a join lets
//! go of the lanes it has, and likewise when the others take very long (they may spin until a lane
//! that waits here does something), so that every lane makes progress as on Volta and later.

use super::chain::Depths;
use crate::alu::Lanes;
use crate::program::op::{Condition, EXIT, Pc};
use crate::ptx::Sense;

/// What a path is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Ready,
    /// At a `.sync` instruction, for the other lanes of its mask.
    WarpSync {
        mask: u32,
    },
    /// At an aligned barrier, for the other lanes of its warp.
    Aligning,
    /// At a block barrier, counted in.
    Barrier {
        id: u32,
    },
}

/// Lanes that run together.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) pc: Pc,
    pub(crate) mask: u32,
    /// Where it meets others again; index into the warp's joins.
    pub(crate) join: Option<usize>,
    pub(crate) state: State,
    /// The instruction before, by which a loop's header knows a new entry from another pass.
    pub(crate) previous: Pc,
    /// For each loop, which pass this is.
    pub(crate) passes: Vec<u32>,
}

/// A place where paths of one branch meet.
#[derive(Clone, Debug)]
pub(crate) struct Join {
    pub(crate) pc: Pc,
    /// Lanes to come: none once it is done with.
    pub(crate) expected: u32,
    pub(crate) arrived: u32,
    pub(crate) parent: Option<usize>,
    previous: Pc,
    passes: Vec<u32>,
}

/// A warp.
#[derive(Clone, Debug)]
pub(crate) struct Warp {
    /// Its first thread's number in the block.
    pub(crate) first_thread: u32,
    pub(crate) registers: Vec<Lanes>,
    pub(crate) predicates: Vec<u32>,
    /// Each lane's carry flag.
    pub(crate) carry: u32,
    /// Lanes that have not exited.
    pub(crate) live: u32,
    pub(crate) paths: Vec<Path>,
    pub(crate) joins: Vec<Join>,
    /// Instructions issued since lanes last came to, or left, a join.
    pub(crate) since_join: u64,
    /// Instructions issued.
    pub(crate) issued: u64,
    /// The warp's stamp for the race detector.
    pub(crate) now: u32,
    /// Local memory, lane by lane.
    pub(crate) local: Vec<u8>,
    /// Each register's depths, where chains are followed.
    pub(crate) depths: Vec<Depths>,
}

impl Warp {
    /// Lanes where `condition` holds.
    pub(crate) fn holds(&self, condition: Condition) -> u32 {
        let mask = self.predicates[condition.slot as usize];
        match condition.sense {
            Sense::Plain => mask,
            Sense::Negated => !mask,
        }
    }

    /// Writes `values` to the lanes `on` of a register.
    pub(crate) fn write(&mut self, slot: u32, values: &Lanes, on: u32) {
        let register = &mut self.registers[slot as usize];
        if on == u32::MAX {
            *register = *values;
            return;
        }
        for lane in 0..32 {
            if on >> lane & 1 == 1 {
                register[lane] = values[lane];
            }
        }
    }

    /// Writes the lanes `on` of a register's depths.
    pub(crate) fn write_depths(&mut self, slot: u32, values: &Depths, on: u32) {
        let depths = &mut self.depths[slot as usize];
        for lane in (0..32).filter(|lane| on >> lane & 1 == 1) {
            depths[lane] = values[lane];
        }
    }

    /// Writes the lanes `on` of a predicate.
    pub(crate) fn write_predicate(&mut self, slot: u32, values: u32, on: u32) {
        let predicate = &mut self.predicates[slot as usize];
        *predicate = *predicate & !on | values & on;
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.paths.iter().any(|path| path.state == State::Ready)
    }

    /// A place for a new join.
    fn add_join(&mut self, join: Join) -> usize {
        match self.joins.iter().position(|j| j.expected == 0) {
            Some(at) => {
                self.joins[at] = join;
                at
            }
            None => {
                self.joins.push(join);
                self.joins.len() - 1
            }
        }
    }

    /// Splits path `p`: its lanes go to several places and meet again at `meet`. The first group stays
    /// the path's own.
    pub(crate) fn split(&mut self, p: usize, groups: &[(u32, Pc)], meet: Pc) {
        let path = &self.paths[p];
        let shared = path.join.filter(|&join| self.joins[join].pc == meet);
        let join = match shared {
            Some(join) => Some(join),
            // Nothing meets after the end: exits alone take lanes away.
            None if meet == EXIT => path.join,
            None => {
                let join = Join {
                    pc: meet,
                    expected: path.mask,
                    arrived: 0,
                    parent: path.join,
                    previous: path.pc,
                    passes: path.passes.clone(),
                };
                Some(self.add_join(join))
            }
        };
        let previous = self.paths[p].pc;
        for (i, &(mask, pc)) in groups.iter().enumerate() {
            let passes = self.paths[p].passes.clone();
            let path = Path { pc, mask, join, state: State::Ready, previous, passes };
            if i == 0 {
                self.paths[p] = path;
            } else {
                self.paths.push(path);
            }
        }
    }

    /// Path `p` has come to its join: it ends there, and a path of all goes on once they are complete.
    pub(crate) fn arrive(&mut self, p: usize) {
        let path = self.paths.swap_remove(p);
        self.since_join = 0;
        let Some(at) = path.join else { return };
        let join = &mut self.joins[at];
        join.arrived |= path.mask;
        join.previous = path.previous;
        for (mine, theirs) in join.passes.iter_mut().zip(&path.passes) {
            *mine = (*mine).max(*theirs);
        }
        self.complete(at);
    }

    fn complete(&mut self, at: usize) {
        let join = &mut self.joins[at];
        if join.expected != 0 && join.arrived == join.expected {
            self.let_go(at);
        }
    }

    /// Lets the lanes that wait at a join go on by themselves; the rest may still meet there.
    fn let_go(&mut self, at: usize) {
        let join = &mut self.joins[at];
        let mask = join.arrived;
        self.since_join = 0;
        join.expected &= !mask;
        join.arrived = 0;
        let path = Path {
            pc: join.pc,
            mask,
            join: join.parent,
            state: State::Ready,
            previous: join.previous,
            passes: join.passes.clone(),
        };
        self.paths.push(path);
    }

    /// Lets one join go of its lanes, innermost first. False where none holds any.
    pub(crate) fn yield_join(&mut self) -> bool {
        let holding = (0..self.joins.len()).filter(|&at| self.joins[at].arrived != 0);
        // The join that is no other's ancestor is the innermost; later ones are deeper, mostly.
        match holding.max_by_key(|&at| self.depth(at)) {
            Some(at) => {
                self.let_go(at);
                true
            }
            None => false,
        }
    }

    fn depth(&self, mut at: usize) -> u32 {
        let mut depth = 0;
        while let Some(parent) = self.joins[at].parent {
            depth += 1;
            at = parent;
        }
        depth
    }

    /// Lanes that wait at joins.
    pub(crate) fn at_joins(&self) -> impl Iterator<Item = (u32, Pc)> {
        self.joins.iter().filter(|join| join.arrived != 0).map(|join| (join.arrived, join.pc))
    }

    /// The lanes `gone` of path `p` exit.
    pub(crate) fn exit(&mut self, p: usize, gone: u32) {
        self.live &= !gone;
        let path = &mut self.paths[p];
        path.mask &= !gone;
        if path.mask == 0 {
            self.paths.swap_remove(p);
        }
        for join in &mut self.joins {
            join.expected &= !gone;
        }
        for at in 0..self.joins.len() {
            self.complete(at);
        }
    }

    /// Gathers every live lane into one path, where they all stand at `pc`.
    pub(crate) fn gather(&mut self, pc: Pc) {
        let mut all = self.paths.swap_remove(0);
        for path in self.paths.drain(..) {
            all.mask |= path.mask;
        }
        all.pc = pc;
        all.join = None;
        self.joins.clear();
        self.paths.push(all);
    }
}
