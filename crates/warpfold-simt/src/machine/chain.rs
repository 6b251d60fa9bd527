//! Work and steps: how many operations fold two pieces of data into one, and the longest chain of
//! them in which each waits for the one before.
//!
//! Data is what comes out of global memory; numbers made of indices and constants are none. So an
//! addition to an index, or of a zero that pads, is no work. Each register lane and each word of
//! memory carries its *depth*: zero for no data, else one more than the chain that made it.

use super::block::Block;
use super::execute::{Issue, Worker};
use super::location::Location;
use crate::Detail;
use crate::memory::{PAGE_BYTES, PAGE_WORDS};
use crate::program::op::{Combines, Op, Slot};
use crate::ptx::Space;

/// Depths of one register's lanes.
pub(crate) type Depths = [u32; 32];

/// The depth of data that nothing was folded into.
pub(crate) const FRESH: u32 = 1;

/// The registers an operation reads and the one it writes, where data may flow through it.
fn operands(op: &Op) -> (Option<Slot>, [Option<Slot>; 3]) {
    let one = |to: Slot, a: Slot| (Some(to), [Some(a), None, None]);
    let two = |to: Slot, a: Slot, b: Slot| (Some(to), [Some(a), Some(b), None]);
    let three = |to: Slot, a: Slot, b: Slot, c: Slot| (Some(to), [Some(a), Some(b), Some(c)]);
    match *op {
        Op::Copy { to, from } => one(to, from),
        Op::Unary { to, a, .. } | Op::Convert { to, a, .. } => one(to, a),
        Op::Binary { to, a, b, .. }
        | Op::Flushed { to, a, b, .. }
        | Op::HalfExtreme { to, a, b, .. }
        | Op::ConvertPair { to, upper: a, lower: b, .. } => two(to, a, b),
        Op::Ternary { to, a, b, c, .. } | Op::MultiplyAdd { to, a, b, c, .. } => three(to, a, b, c),
        Op::Soft { to, operands: [a, b, c], operation, .. } => {
            use crate::alu::soft::Operation::{Fused, Reciprocal, SquareRoot};
            match operation {
                Fused => three(to, a, b, c),
                Reciprocal | SquareRoot => one(to, a),
                _ => two(to, a, b),
            }
        }
        Op::Extended { to, operands: [a, b, c], kind, .. } => {
            use crate::alu::integer::Extended::{Add, Subtract};
            if matches!(kind, Add | Subtract) { two(to, a, b) } else { three(to, a, b, c) }
        }
        Op::Insert { to, operands: [a, b, ..], .. } => two(to, a, b),
        Op::Logic3 { to, operands: [a, b, c], .. } => three(to, a, b, c),
        Op::SelectBySign { to, a, b, .. } => two(to, a, b),
        Op::Pack { to, ref parts, .. } => {
            (Some(to), [parts.first().copied(), parts.get(1).copied(), parts.get(2).copied()])
        }
        Op::Set { to, .. } | Op::Clock { to } | Op::ActiveMask { to } => (Some(to), [None; 3]),
        _ => (None, [None; 3]),
    }
}

impl Worker<'_, '_> {
    pub(crate) fn follows_chains(&self) -> bool {
        self.context.settings.chains == Detail::On
    }

    /// Carries depths through an operation on registers.
    pub(crate) fn follow(&mut self, block: &mut Block, issue: Issue, op: &Op) {
        let warp = &mut block.warps[issue.w];
        let mut depths: Depths = [0; 32];
        let to = match op {
            Op::Unpack { to, from, .. } => {
                let from = warp.depths[*from as usize];
                to.iter().flatten().for_each(|to| warp.write_depths(*to, &from, issue.on));
                return;
            }
            Op::Select { to, a, b, condition } => {
                let chosen = warp.holds(*condition);
                let (a, b) = (&warp.depths[*a as usize], &warp.depths[*b as usize]);
                depths = std::array::from_fn(|i| if chosen >> i & 1 == 1 { a[i] } else { b[i] });
                *to
            }
            op => {
                let (Some(to), sources) = operands(op) else { return };
                let folds = self.context.kernel.code[issue.pc as usize].combines == Combines::Yes;
                let mut combined = 0;
                for (lane, depth) in depths.iter_mut().enumerate() {
                    let of = |slot: &Slot| warp.depths[*slot as usize][lane];
                    let data = sources.iter().flatten().filter(|slot| of(slot) != 0).count();
                    *depth = sources.iter().flatten().map(of).max().unwrap_or(0);
                    if folds && data >= 2 && issue.on >> lane & 1 == 1 {
                        *depth += 1;
                        combined += 1;
                    }
                }
                self.combined(issue, combined, &depths);
                to
            }
        };
        block.warps[issue.w].write_depths(to, &depths, issue.on);
    }

    /// Counts `count` combinations, whose results have the given depths.
    pub(crate) fn combined(&mut self, issue: Issue, count: u64, depths: &Depths) {
        if count == 0 {
            return;
        }
        self.tally.count(issue.step, |counts| counts.combinations += count);
        let deepest = depths
            .iter()
            .enumerate()
            .filter(|(lane, _)| issue.on >> lane & 1 == 1)
            .map(|(_, d)| *d)
            .max();
        let chain = u64::from(deepest.unwrap_or(FRESH).saturating_sub(FRESH));
        self.tally.longest_chain = self.tally.longest_chain.max(chain);
    }

    /// The depth of the word at a place.
    pub(crate) fn depth_at(&self, block: &Block, location: Location<'_>) -> u32 {
        match location {
            // What the host wrote is data.
            Location::Global { index, offset, .. } => {
                let side = self.context.sides.page(index, offset);
                let at = (offset % PAGE_BYTES / 4) as usize;
                side.depths.as_ref().map_or(FRESH, |depths| depths[at])
            }
            Location::Shared { offset } => {
                block.depths.get((offset / 4) as usize).copied().unwrap_or(0)
            }
            Location::Local { .. } | Location::Parameter { .. } | Location::Constant { .. } => 0,
        }
    }

    /// Sets the depth of the words of a place.
    pub(crate) fn set_depth(
        &self,
        block: &mut Block,
        location: Location<'_>,
        bytes: u32,
        depth: u32,
    ) {
        match location {
            Location::Global { index, offset, .. } => {
                let mut side = self.context.sides.page(index, offset);
                let depths = side.depths.get_or_insert_with(|| vec![FRESH; PAGE_WORDS]);
                let at = (offset % PAGE_BYTES / 4) as usize;
                depths[at..at + bytes.div_ceil(4) as usize].fill(depth);
            }
            Location::Shared { offset } => {
                let (first, end) =
                    ((offset / 4) as usize, (offset + u64::from(bytes)).div_ceil(4) as usize);
                if block.depths.len() < end {
                    block.depths.resize(end, 0);
                }
                block.depths[first..end].fill(depth);
            }
            Location::Local { .. } | Location::Parameter { .. } | Location::Constant { .. } => {}
        }
    }

    /// Carries the depth of a place along with its bytes.
    pub(crate) fn carry_depth(
        &self,
        block: &mut Block,
        from: Location<'_>,
        to: Location<'_>,
        bytes: u32,
    ) {
        if self.follows_chains() {
            let depth = self.depth_at(block, from);
            self.set_depth(block, to, bytes, depth);
        }
    }

    /// Whether loads from `space` bring data.
    pub(crate) fn holds_data(space: Space) -> bool {
        matches!(space, Space::Global | Space::Shared)
    }
}
