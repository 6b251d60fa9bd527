//! Loads and stores.

use super::block::Block;
use super::cost;
use super::execute::{Issue, Worker};
use super::touch::Deed;
use crate::Detail;
use crate::alu::{Lanes, low_bits, sign_extend};
use crate::fault::{Fault, Thread, boxed};
use crate::program::op::{Access, Address, Slot, Strength};
use crate::program::window;
use crate::ptx::Space;
use crate::race::shadow::{AccessKind, Manner};
use crate::trace::Touch;

/// Lanes of an access that lie in one space.
#[derive(Clone, Copy)]
pub(crate) struct Group {
    pub(crate) space: Space,
    pub(crate) on: u32,
    pub(crate) addresses: Lanes,
}

impl Worker<'_, '_> {
    /// Each lane's address.
    pub(crate) fn addresses(&self, block: &Block, issue: Issue, address: Address) -> Lanes {
        let base = &block.warps[issue.w].registers[address.base as usize];
        std::array::from_fn(|lane| base[lane].wrapping_add_signed(address.offset))
    }

    /// Lanes by the space their addresses lie in.
    pub(crate) fn groups(&self, block: &Block, issue: Issue, access: &Access) -> Vec<Group> {
        let addresses = self.addresses(block, issue, access.address);
        if access.space != Space::Generic {
            return vec![Group { space: access.space, on: issue.on, addresses }];
        }
        let mut groups: Vec<Group> = Vec::new();
        for lane in (0..32).filter(|lane| issue.on >> lane & 1 == 1) {
            let (space, address) = window::split(addresses[lane]);
            let at = groups.iter().position(|g| g.space == space).unwrap_or_else(|| {
                groups.push(Group { space, on: 0, addresses: [0; 32] });
                groups.len() - 1
            });
            groups[at].on |= 1 << lane;
            groups[at].addresses[lane] = address;
        }
        groups
    }

    pub(crate) fn thread(&self, block: &Block, w: usize, lane: usize) -> Thread {
        block.thread(self.context, block.warps[w].first_thread + lane as u32)
    }
    /// Counts what a group's access costs, and shows it to whoever watches.
    pub(crate) fn account(&mut self, issue: Issue, group: &Group, bytes: u32, kind: AccessKind) {
        let moved = u64::from(bytes) * u64::from(group.on.count_ones());
        let mut wavefronts = None;
        let mut sectors = None;
        match group.space {
            Space::Shared => {
                let waves =
                    cost::wavefronts(&group.addresses, group.on, bytes, kind == AccessKind::Write);
                wavefronts = Some((waves.taken, waves.ideal));
                let (taken, ideal) = (u64::from(waves.taken), u64::from(waves.ideal));
                self.tally.count(issue.step, |counts| match kind {
                    AccessKind::Read => {
                        counts.shared_load_requests += 1;
                        counts.shared_load_wavefronts += taken;
                        counts.shared_load_ideal += ideal;
                        counts.shared_bytes_read += moved;
                    }
                    AccessKind::Write => {
                        counts.shared_store_requests += 1;
                        counts.shared_store_wavefronts += taken;
                        counts.shared_store_ideal += ideal;
                        counts.shared_bytes_written += moved;
                    }
                    AccessKind::Update => {
                        counts.shared_atomic_wavefronts += taken;
                        counts.shared_atomic_ideal += ideal;
                    }
                });
            }
            Space::Global => {
                let count = cost::sectors(&group.addresses, group.on, bytes);
                sectors = Some(count);
                let count = u64::from(count);
                self.tally.count(issue.step, |counts| match kind {
                    AccessKind::Read => {
                        counts.global_load_requests += 1;
                        counts.global_load_sectors += count;
                        counts.global_bytes_read += moved;
                    }
                    AccessKind::Write => {
                        counts.global_store_requests += 1;
                        counts.global_store_sectors += count;
                        counts.global_bytes_written += moved;
                    }
                    AccessKind::Update => {}
                });
            }
            _ => {}
        }
        if self.watched() {
            let verb = match kind {
                AccessKind::Read => "reads",
                AccessKind::Write => "writes",
                AccessKind::Update => "updates",
            };
            let on = group.on;
            let addresses =
                std::array::from_fn(|lane| (on >> lane & 1 == 1).then_some(group.addresses[lane]));
            self.touches.push(Touch {
                space: group.space,
                verb,
                bytes,
                addresses,
                wavefronts,
                sectors,
            });
        }
    }
    pub(crate) fn load(
        &mut self,
        block: &mut Block,
        issue: Issue,
        access: &Access,
        to: &[Option<Slot>; 4],
    ) -> Result<(), Box<Fault>> {
        let manner = if access.strength == Strength::Weak { Manner::Plain } else { Manner::Strong };
        let deed = self.deed(block, issue, AccessKind::Read, manner);
        let (element, bytes) = (access.ty.bytes(), access.bytes());
        let mut out: [Lanes; 4] = [[0; 32]; 4];
        let mut depths = [0; 32];
        for group in self.groups(block, issue, access) {
            self.account(issue, &group, bytes, AccessKind::Read);
            for lane in (0..32).filter(|lane| group.on >> lane & 1 == 1) {
                let deed = Deed { thread: deed.first_thread + lane as u32, ..deed };
                let location = self.locate(
                    block,
                    (issue.pc, deed.thread),
                    group.space,
                    group.addresses[lane],
                    bytes,
                )?;
                self.check_written(block, deed, location, bytes)?;
                self.touch(block, deed, location, bytes, |_| false)?;
                if manner == Manner::Strong {
                    self.acquire(block, deed.thread, location, access.scope);
                }
                if self.follows_chains() && Self::holds_data(group.space) {
                    depths[lane] = self.depth_at(block, location);
                }
                for (i, values) in out.iter_mut().enumerate().take(access.count as usize) {
                    let raw = self.peek(block, issue.w, location, i as u32 * element, element);
                    values[lane] = if access.ty.is_signed() {
                        sign_extend(raw, 8 * element) & low_bits(access.register_bits)
                    } else {
                        raw
                    };
                }
            }
        }
        let warp = &mut block.warps[issue.w];
        for (to, values) in to.iter().zip(&out) {
            if let Some(to) = to {
                warp.write(*to, values, issue.on);
                if self.context.settings.chains == Detail::On {
                    warp.write_depths(*to, &depths, issue.on);
                }
            }
        }
        Ok(())
    }

    pub(crate) fn store(
        &mut self,
        block: &mut Block,
        issue: Issue,
        access: &Access,
        from: &[Slot; 4],
    ) -> Result<(), Box<Fault>> {
        let manner = if access.strength == Strength::Weak { Manner::Plain } else { Manner::Strong };
        let deed = self.deed(block, issue, AccessKind::Write, manner);
        let (element, bytes) = (access.ty.bytes(), access.bytes());
        let values = from.map(|slot| block.warps[issue.w].registers[slot as usize]);
        for group in self.groups(block, issue, access) {
            self.account(issue, &group, bytes, AccessKind::Write);
            if matches!(group.space, Space::Const | Space::Param) {
                return Err(boxed(Fault::ReadOnly {
                    site: self.context.kernel.site(issue.pc).clone(),
                    thread: self.thread(block, issue.w, group.on.trailing_zeros() as usize),
                    space: group.space,
                }));
            }
            for lane in (0..32).filter(|lane| group.on >> lane & 1 == 1) {
                let deed = Deed { thread: deed.first_thread + lane as u32, ..deed };
                let location = self.locate(
                    block,
                    (issue.pc, deed.thread),
                    group.space,
                    group.addresses[lane],
                    bytes,
                )?;
                let count = access.count as usize;
                let same = |block: &Block| {
                    (0..count).all(|i| {
                        let there =
                            self.peek(block, issue.w, location, i as u32 * element, element);
                        there == values[i][lane] & low_bits(8 * element)
                    })
                };
                self.touch(block, deed, location, bytes, same)?;
                if manner == Manner::Strong {
                    self.release(block, deed.thread, location, access.strength, access.scope);
                }
                for (i, values) in values.iter().enumerate().take(count) {
                    self.poke(block, issue.w, location, i as u32 * element, element, values[lane]);
                }
                if self.follows_chains() {
                    let depth = from
                        .iter()
                        .take(count)
                        .map(|slot| block.warps[issue.w].depths[*slot as usize][lane])
                        .max();
                    self.set_depth(block, location, bytes, depth.unwrap_or(0));
                }
            }
        }
        Ok(())
    }
}
