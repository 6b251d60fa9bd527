//! Atomics and fences: the operation, and what it lets other threads know.
//!
//! A fence followed by an atomic on the same thread publishes what came before the fence; an atomic
//! (or strong load) that reads a place learns what was published there, with or without a fence
//! after it. PTX asks for that second fence; CUDA's own examples leave it out, and so may kernels here.

use std::rc::Rc;

use super::access::Group;
use super::block::{Block, Fenced};
use super::cost;
use super::execute::{Issue, Worker};
use super::location::Location;
use super::touch::Deed;
use crate::alu::soft::{Format, Manner, Operation, Rounding, compute};
use crate::alu::{low_bits, sign_extend};
use crate::fault::Fault;
use crate::program::op::{Access, AtomicFunction, Scope, Slot, Strength};
use crate::ptx::{Space, Type};
use crate::race::clock::Knowledge;
use crate::race::shadow::{AccessKind, Manner as AccessManner};
use crate::race::world;

/// The value that a read-modify-write leaves, from the value it finds.
pub(crate) fn updated(
    function: AtomicFunction,
    ty: Type,
    old: u64,
    b: u64,
    c: u64,
    flush: bool,
) -> u64 {
    let bits = ty.bits();
    let signed = |v: u64| sign_extend(v, bits) as i64;
    let (old, b) = (old & low_bits(bits), b & low_bits(bits));
    let float = |format: Format, x: u64, y: u64| {
        let manner =
            Manner { format, rounding: Rounding::Nearest, flush, saturate: false, rectify: false };
        compute(Operation::Add, manner, [x, y, 0])
    };
    let packed = |format: Format| {
        float(format, old & 0xffff, b & 0xffff) | float(format, old >> 16, b >> 16) << 16
    };
    let new = match (function, ty) {
        (AtomicFunction::Add, Type::F16) => float(Format::F16, old, b),
        (AtomicFunction::Add, Type::Bf16) => float(Format::BF16, old, b),
        (AtomicFunction::Add, Type::F16x2) => packed(Format::F16),
        (AtomicFunction::Add, Type::Bf16x2) => packed(Format::BF16),
        (AtomicFunction::Add, Type::F32) => {
            let ready = |bits| if flush { Format::F32.flushed(bits) } else { bits };
            let sum = f32::from_bits(ready(old) as u32) + f32::from_bits(ready(b) as u32);
            ready(if sum.is_nan() { Format::F32.nan() } else { u64::from(sum.to_bits()) })
        }
        (AtomicFunction::Add, Type::F64) => float(Format::F64, old, b),
        (AtomicFunction::Add, _) => old.wrapping_add(b),
        (AtomicFunction::Min, ty) if ty.is_signed() => signed(old).min(signed(b)) as u64,
        (AtomicFunction::Max, ty) if ty.is_signed() => signed(old).max(signed(b)) as u64,
        (AtomicFunction::Min, _) => old.min(b),
        (AtomicFunction::Max, _) => old.max(b),
        (AtomicFunction::And, _) => old & b,
        (AtomicFunction::Or, _) => old | b,
        (AtomicFunction::Xor, _) => old ^ b,
        (AtomicFunction::Increment, _) => {
            if old >= b {
                0
            } else {
                old + 1
            }
        }
        (AtomicFunction::Decrement, _) => {
            if old == 0 || old > b {
                b
            } else {
                old - 1
            }
        }
        (AtomicFunction::Exchange, _) => b,
        (AtomicFunction::CompareAndSwap, _) => {
            if old == b {
                c
            } else {
                old
            }
        }
    };
    new & low_bits(bits)
}

/// Whether shared memory serves lanes of one word one after another, as an H200 counts (results/h200/counters.json): additions of 1 it counts together, and what ptxas
/// makes loops of goes another way.
fn takes_turns(function: AtomicFunction, ty: Type, values: &[u64; 32], on: u32) -> bool {
    let ones = (0..32).filter(|lane| on >> lane & 1 == 1).all(|lane| values[lane] == 1);
    ty.bits() <= 32 && !ty.is_float() && !(function == AtomicFunction::Add && ones)
}

/// Whether shared memory does it with 64 bits by itself.
fn is_native(function: AtomicFunction) -> bool {
    matches!(function, AtomicFunction::Exchange | AtomicFunction::CompareAndSwap)
}

impl Worker<'_, '_> {
    /// What is not native costs a load and a compare-and-swap, which takes twice the wavefronts; once more for lanes that another one of their address was
    /// before (as ptxas compiles it for an H200, and as it counts: results/h200/counters.json). Of the swaps `account` has counted one half of the first, whose atomics are counted
    /// with their collisions.
    fn account_swaps(&mut self, issue: Issue, group: &Group, bytes: u32) {
        let mut pending = group.on;
        while pending != 0 {
            let wavefronts = cost::wavefronts(&group.addresses, pending, bytes, false);
            let (taken, ideal) = (u64::from(wavefronts.taken), u64::from(wavefronts.ideal));
            let counted = u64::from(pending == group.on);
            let lanes = u64::from(pending.count_ones());
            let moved = u64::from(bytes) * lanes;
            self.tally.count(issue.step, |counts| {
                counts.shared_load_requests += 1;
                counts.shared_load_wavefronts += taken;
                counts.shared_load_ideal += ideal;
                counts.shared_bytes_read += moved;
                counts.atomics += (1 - counted) * lanes;
                counts.shared_atomic_wavefronts += (2 - counted) * taken;
                counts.shared_atomic_ideal += (2 - counted) * ideal;
            });
            let attempt = pending;
            let lanes = (0..32usize).filter(|lane| attempt >> lane & 1 == 1);
            let mut done: Vec<u64> = Vec::new();
            for lane in lanes {
                let address = group.addresses[lane];
                if !done.contains(&address) {
                    done.push(address);
                    pending &= !(1 << lane);
                }
            }
        }
    }

    #[allow(clippy::too_many_arguments)] // An atomic has that many operands.
    pub(crate) fn atomic(
        &mut self,
        block: &mut Block,
        issue: Issue,
        function: AtomicFunction,
        access: &Access,
        to: Option<Slot>,
        b: Slot,
        c: Slot,
    ) -> Result<(), Box<Fault>> {
        let deed = self.deed(block, issue, AccessKind::Update, AccessManner::Strong);
        let bytes = access.bytes();
        let registers = &block.warps[issue.w].registers;
        let value = b;
        let (b, c) = (registers[b as usize], registers[c as usize]);
        let mut out = [0; 32];
        let mut depths = [0; 32];
        let mut combined = 0;
        // The order of lanes is nobody's promise: start anywhere.
        let first = block.dice.below(32);
        for group in self.groups(block, issue, access) {
            self.account(issue, &group, bytes, AccessKind::Update);
            if group.space == Space::Shared && bytes == 8 && !is_native(function) {
                self.account_swaps(issue, &group, bytes);
            }
            if group.space == Space::Shared && takes_turns(function, access.ty, &b, group.on) {
                let turns = u64::from(cost::turns(&group.addresses, group.on));
                self.tally.count(issue.step, |counts| counts.shared_atomic_wavefronts += turns);
            }
            let mut distinct: Vec<u64> = Vec::new();
            for lane in (0..32).map(|i| (first + i) % 32).filter(|lane| group.on >> lane & 1 == 1) {
                let address = group.addresses[lane];
                if !distinct.contains(&address) {
                    distinct.push(address);
                }
                let deed = Deed { thread: deed.first_thread + lane as u32, ..deed };
                let location =
                    self.locate(block, (issue.pc, deed.thread), group.space, address, bytes)?;
                self.check_written(block, deed, location, bytes)?;
                self.touch(block, deed, location, bytes, |_| false)?;
                self.acquire(block, deed.thread, location, access.scope);
                self.release(block, deed.thread, location, access.strength, access.scope);
                let old = self.peek(block, issue.w, location, 0, bytes);
                // Atomic f32 sums in global memory flush subnormals; in shared memory they do not.
                let flush = access.ty == Type::F32 && group.space == Space::Global;
                let new = updated(function, access.ty, old, b[lane], c[lane], flush);
                self.poke(block, issue.w, location, 0, bytes, new);
                out[lane] = old;
                if self.follows_chains() {
                    let (there, mine) = (
                        self.depth_at(block, location),
                        block.warps[issue.w].depths[value as usize][lane],
                    );
                    let folds = there != 0 && mine != 0 && function != AtomicFunction::Exchange;
                    depths[lane] = there.max(mine) + u32::from(folds);
                    combined += u64::from(folds);
                    self.set_depth(block, location, bytes, depths[lane]);
                }
            }
            let lanes = u64::from(group.on.count_ones());
            let collisions = lanes - distinct.len() as u64;
            self.tally.count(issue.step, |counts| {
                counts.atomics += lanes;
                counts.atomic_collisions += collisions;
            });
        }
        self.combined(issue, combined, &depths);
        let warp = &mut block.warps[issue.w];
        warp.now += 1;
        if let Some(to) = to {
            warp.write(to, &out, issue.on);
        }
        Ok(())
    }

    fn device_address(
        &self,
        block: &Block,
        location: Location<'_>,
        scope: Scope,
    ) -> Option<world::AtomicLocation> {
        Some(match (location, scope) {
            (Location::Shared { offset }, _) => {
                world::AtomicLocation::Block { block: block.index, address: offset }
            }
            (Location::Global { index, offset, .. }, scope) => {
                let address = (index as u64) << 40 | 1 << 63 | offset;
                match scope {
                    Scope::Block => world::AtomicLocation::Block { block: block.index, address },
                    Scope::Device => world::AtomicLocation::Device { address },
                }
            }
            _ => return None,
        })
    }

    /// A thread learns what was released at a place.
    pub(crate) fn acquire(
        &mut self,
        block: &mut Block,
        thread: u32,
        location: Location<'_>,
        scope: Scope,
    ) {
        if self.world.is_empty() {
            return;
        }
        for scope in [Scope::Block, scope] {
            let Some(location) = self.device_address(block, location, scope) else { return };
            let Some((own, foreign)) = self.world.acquire(location, block.index) else { continue };
            let knowledge = Rc::make_mut(&mut block.knowledge[thread as usize]);
            if let Some(own) = own {
                knowledge.learn_clock(own);
            }
            knowledge.learn_foreign(&foreign);
        }
    }

    /// A thread's atomic publishes what its last fence covered, or all, where the atomic itself releases.
    pub(crate) fn release(
        &mut self,
        block: &mut Block,
        thread: u32,
        location: Location<'_>,
        strength: Strength,
        scope: Scope,
    ) {
        let Fenced { block: of_block, device: of_device } = &block.fenced[thread as usize];
        if !strength.releases() && of_block.is_none() && of_device.is_none() {
            return;
        }
        let now = block.warps[(thread / 32) as usize].now;
        let own = (block.knowledge[thread as usize].clone(), now);
        let fenced = block.fenced[thread as usize].clone();
        let all = |covered: Option<(Rc<Knowledge>, u32)>| {
            if strength.releases() { Some(own.clone()) } else { covered }
        };
        let device = if scope == Scope::Device { all(fenced.device) } else { None };
        for (covered, scope) in [(all(fenced.block), Scope::Block), (device, Scope::Device)] {
            let Some((knowledge, now)) = covered else { continue };
            let Some(location) = self.device_address(block, location, scope) else { continue };
            let mut released = (*knowledge).clone();
            released.learn(thread, now);
            self.world.release(location, block.index, &released);
        }
    }

    /// `membar`, `fence`: what came before may be published by the next atomic.
    pub(crate) fn fence(&mut self, block: &mut Block, issue: Issue, scope: Scope) {
        let warp = &mut block.warps[issue.w];
        let now = warp.now;
        warp.now += 1;
        for lane in (0..32).filter(|lane| issue.on >> lane & 1 == 1) {
            let thread = (warp.first_thread + lane) as usize;
            let covered = Some((block.knowledge[thread].clone(), now));
            let Fenced { block: own, device } = &mut block.fenced[thread];
            *own = covered.clone();
            if scope == Scope::Device {
                *device = covered;
            }
        }
    }
}
