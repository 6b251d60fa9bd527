//! Loads and stores: where an address lies, whether it may be touched, what it costs.

use super::block::Block;
use super::cost;
use super::execute::{Issue, Worker};
use crate::Detail;
use crate::alu::{Lanes, low_bits, sign_extend};
use crate::fault::{Fault, Racer, Thread, boxed};
use crate::memory::{Allocation, PAGE_BYTES};
use crate::program::op::{Access, Address, Pc, Slot, Strength};
use crate::program::window;
use crate::ptx::Space;
use crate::race::View;
use crate::race::clock::Knowledge;
use crate::race::shadow::{self, Conflict, Kind, Manner};
use crate::trace::Touch;

/// A checked place in memory.
#[derive(Clone, Copy)]
pub(crate) enum Place<'m> {
    Global {
        allocation: &'m Allocation,
        index: usize,
        offset: u64,
    },
    Shared {
        offset: u64,
    },
    /// Bytes of the warp's local memory.
    Local {
        at: usize,
    },
    Parameter {
        at: usize,
    },
    Constant {
        at: usize,
    },
}

/// Lanes of an access that lie in one space.
#[derive(Clone, Copy)]
pub(crate) struct Group {
    pub(crate) space: Space,
    pub(crate) on: u32,
    pub(crate) addresses: Lanes,
}

/// One lane's part of an access: who, where, how.
#[derive(Clone, Copy)]
pub(crate) struct Deed<'a> {
    pub(crate) pc: Pc,
    /// The thread's number in the block, or an agent's past them.
    pub(crate) thread: u32,
    pub(crate) first_thread: u32,
    pub(crate) now: u32,
    pub(crate) instance: u32,
    pub(crate) kind: Kind,
    pub(crate) manner: Manner,
    /// What orders it; the thread's own knowledge where none is given.
    pub(crate) knowledge: Option<&'a Knowledge>,
}

impl<'c> Worker<'c, '_> {
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

    /// Where `address` lies; checks bounds and alignment.
    pub(crate) fn locate(
        &self,
        block: &Block,
        (pc, thread): (Pc, u32),
        space: Space,
        address: u64,
        bytes: u32,
    ) -> Result<Place<'c>, Box<Fault>> {
        let context = self.context;
        let site = || context.kernel.site(pc).clone();
        if !address.is_multiple_of(u64::from(bytes.next_power_of_two())) {
            return Err(boxed(Fault::Misaligned {
                site: site(),
                thread: block.thread(context, thread),
                space,
                address,
                bytes,
            }));
        }
        let within = |size: usize| {
            address.checked_add(u64::from(bytes)).is_some_and(|end| end <= size as u64)
        };
        let lane = (thread % 32) as usize;
        let local_bytes = context.kernel.local_bytes as usize;
        let place = match space {
            Space::Shared => {
                within(block.shared.len()).then_some(Place::Shared { offset: address })
            }
            Space::Local => within(local_bytes)
                .then_some(Place::Local { at: lane * local_bytes + address as usize }),
            Space::Param => within(context.parameters.len())
                .then_some(Place::Parameter { at: address as usize }),
            Space::Const => within(context.program.constants.len())
                .then_some(Place::Constant { at: address as usize }),
            Space::Global | Space::Generic => {
                match context.memory.resolve(context.program, address) {
                    Some((allocation, index, offset))
                        if offset + u64::from(bytes) <= allocation.bytes() =>
                    {
                        Some(Place::Global { allocation, index, offset })
                    }
                    _ => None,
                }
            }
        };
        place.ok_or_else(|| {
            let place = match space {
                Space::Shared => format!("the block has {} bytes", block.shared.len()),
                Space::Local => format!("the thread has {local_bytes} bytes"),
                Space::Param => format!("the parameters take {} bytes", context.parameters.len()),
                Space::Const => format!("the module has {} bytes", context.program.constants.len()),
                Space::Global | Space::Generic => context.memory.describe(context.program, address),
            };
            boxed(Fault::OutOfBounds {
                site: site(),
                thread: block.thread(context, thread),
                space,
                address,
                bytes,
                place,
            })
        })
    }

    /// Tells the race detector of an access; a race is a fault, unless `same_value` says that lanes
    /// of one instruction wrote the same.
    pub(crate) fn touch(
        &self,
        block: &mut Block,
        deed: Deed<'_>,
        place: Place<'_>,
        bytes: u32,
        same_value: impl Fn(&Block) -> bool,
    ) -> Result<(), Box<Fault>> {
        let undo = |side: &mut super::shadow::Side| {
            if let (Place::Global { allocation, offset, .. }, true) =
                (place, deed.kind != Kind::Read)
            {
                self.context.sides.before_write(side, allocation, offset);
            }
        };
        if self.context.settings.races == Detail::Off {
            if let (Place::Global { index, offset, .. }, true) = (place, deed.kind != Kind::Read) {
                undo(&mut self.context.sides.page(index, offset));
            }
            return Ok(());
        }
        let access = shadow::Access {
            block: block.index,
            first_thread: deed.first_thread,
            now: deed.now,
            pc: deed.pc,
            instance: deed.instance,
            manner: deed.manner,
        };
        let own;
        let knowledge = match deed.knowledge {
            Some(knowledge) => knowledge,
            None => {
                own = block.knowledge[deed.thread as usize].clone();
                &own
            }
        };
        let view = View { block: block.index, thread: deed.thread, knowledge, world: &self.world };
        let bytes = u64::from(bytes);
        let (outcome, space, address) = match place {
            Place::Global { index, offset, .. } => {
                let mut side = self.context.sides.page(index, offset);
                undo(&mut side);
                let outcome =
                    side.shadow.touch(offset % PAGE_BYTES, bytes, deed.kind, access, &view);
                (outcome, Space::Global, offset)
            }
            Place::Shared { offset } => {
                let page = &mut block.shadow[(offset / PAGE_BYTES) as usize];
                (
                    page.touch(offset % PAGE_BYTES, bytes, deed.kind, access, &view),
                    Space::Shared,
                    offset,
                )
            }
            _ => return Ok(()),
        };
        match outcome {
            Ok(()) => Ok(()),
            Err(conflict)
                if conflict.same_instruction
                    && conflict.earlier == Kind::Write
                    && same_value(block) =>
            {
                Ok(())
            }
            Err(conflict) => Err(self.race(block, deed, conflict, (space, address), place)),
        }
    }

    fn race(
        &self,
        block: &Block,
        deed: Deed<'_>,
        conflict: Conflict,
        (space, offset): (Space, u64),
        place: Place<'_>,
    ) -> Box<Fault> {
        let context = self.context;
        let threads = context.launch.block.count() as u32;
        let named = |number: u32, of: u32| Thread {
            block: context.launch.grid.coordinates(u64::from(of)),
            // An agent copies on behalf of a thread; its number lies past the threads'.
            thread: context.launch.block.coordinates(u64::from(number.min(threads - 1))),
        };
        let verb = |kind: Kind| match kind {
            Kind::Read => "reads",
            Kind::Write => "writes",
            Kind::Update => "updates",
        };
        let (address, place) = match place {
            Place::Global { index: 0, .. } => {
                (window::MODULE + offset, format!("byte {offset} of the module's variables"))
            }
            Place::Global { index, .. } => (
                (window::FIRST_ALLOCATION + index as u64 - 1) << window::WINDOW_BITS | offset,
                format!("byte {offset} of allocation {}", index - 1),
            ),
            _ => (
                offset,
                format!("byte {offset} of the block's shared memory, bank {}", offset / 4 % 32),
            ),
        };
        boxed(Fault::Race {
            space,
            address,
            place,
            first: Box::new(Racer {
                verb: verb(conflict.earlier),
                site: context.kernel.site(conflict.access.pc).clone(),
                thread: named(conflict.thread, conflict.access.block),
            }),
            second: Box::new(Racer {
                verb: verb(deed.kind),
                site: context.kernel.site(deed.pc).clone(),
                thread: named(deed.thread, block.index),
            }),
        })
    }

    /// The bytes at a place, up to eight.
    pub(crate) fn peek(
        &self,
        block: &Block,
        w: usize,
        place: Place<'_>,
        plus: u32,
        bytes: u32,
    ) -> u64 {
        let from = |data: &[u8], at: usize| {
            let at = at + plus as usize;
            let mut own = [0; 8];
            own[..bytes as usize].copy_from_slice(&data[at..at + bytes as usize]);
            u64::from_le_bytes(own)
        };
        match place {
            Place::Global { allocation, offset, .. } => {
                allocation.load(offset + u64::from(plus), bytes)
            }
            Place::Shared { offset } => from(&block.shared, offset as usize),
            Place::Local { at } => from(&block.warps[w].local, at),
            Place::Parameter { at } => from(&self.context.parameters, at),
            Place::Constant { at } => from(&self.context.program.constants, at),
        }
    }

    /// Writes up to eight bytes.
    pub(crate) fn poke(
        &self,
        block: &mut Block,
        w: usize,
        place: Place<'_>,
        plus: u32,
        bytes: u32,
        value: u64,
    ) {
        let into = |data: &mut [u8], at: usize| {
            let at = at + plus as usize;
            data[at..at + bytes as usize].copy_from_slice(&value.to_le_bytes()[..bytes as usize]);
        };
        match place {
            Place::Global { allocation, offset, .. } => {
                allocation.store(offset + u64::from(plus), bytes, value)
            }
            Place::Shared { offset } => {
                into(&mut block.shared, offset as usize);
                for byte in offset + u64::from(plus)..offset + u64::from(plus + bytes) {
                    block.written[(byte / 64) as usize] |= 1 << (byte % 64);
                }
            }
            Place::Local { at } => into(&mut block.warps[w].local, at),
            Place::Parameter { .. } | Place::Constant { .. } => {}
        }
    }

    /// Checks that bytes about to be read were written.
    pub(crate) fn check_written(
        &self,
        block: &Block,
        deed: Deed<'_>,
        place: Place<'_>,
        bytes: u32,
    ) -> Result<(), Box<Fault>> {
        if self.context.settings.uninitialised == Detail::Off {
            return Ok(());
        }
        let (written, space, address) = match place {
            Place::Global { allocation, offset, .. } => {
                (allocation.is_written(offset, bytes), Space::Global, offset)
            }
            Place::Shared { offset } => {
                let bits = (((1u128 << bytes) - 1) << (offset % 64)) as u64;
                (block.written[(offset / 64) as usize] & bits == bits, Space::Shared, offset)
            }
            _ => return Ok(()),
        };
        if written {
            return Ok(());
        }
        let place = match place {
            Place::Global { index, .. } if index > 0 => {
                format!("byte {address} of allocation {}", index - 1)
            }
            _ => format!("byte {address}"),
        };
        Err(boxed(Fault::Uninitialised {
            site: self.context.kernel.site(deed.pc).clone(),
            thread: block.thread(self.context, deed.thread),
            space,
            address,
            bytes,
            place,
        }))
    }

    /// Counts what a group's access costs, and shows it to whoever watches.
    pub(crate) fn account(&mut self, issue: Issue, group: &Group, bytes: u32, kind: Kind) {
        let moved = u64::from(bytes) * u64::from(group.on.count_ones());
        let mut wavefronts = None;
        let mut sectors = None;
        match group.space {
            Space::Shared => {
                let waves = cost::wavefronts(&group.addresses, group.on, bytes);
                wavefronts = Some((waves.taken, waves.ideal));
                let (taken, ideal) = (u64::from(waves.taken), u64::from(waves.ideal));
                self.tally.count(issue.step, |counts| match kind {
                    Kind::Read => {
                        counts.shared_load_requests += 1;
                        counts.shared_load_wavefronts += taken;
                        counts.shared_load_ideal += ideal;
                        counts.shared_bytes_read += moved;
                    }
                    Kind::Write => {
                        counts.shared_store_requests += 1;
                        counts.shared_store_wavefronts += taken;
                        counts.shared_store_ideal += ideal;
                        counts.shared_bytes_written += moved;
                    }
                    Kind::Update => {}
                });
            }
            Space::Global => {
                let count = cost::sectors(&group.addresses, group.on, bytes);
                sectors = Some(count);
                let count = u64::from(count);
                self.tally.count(issue.step, |counts| match kind {
                    Kind::Read => {
                        counts.global_load_requests += 1;
                        counts.global_load_sectors += count;
                        counts.global_bytes_read += moved;
                    }
                    Kind::Write => {
                        counts.global_store_requests += 1;
                        counts.global_store_sectors += count;
                        counts.global_bytes_written += moved;
                    }
                    Kind::Update => {}
                });
            }
            _ => {}
        }
        if self.watched() {
            let verb = match kind {
                Kind::Read => "reads",
                Kind::Write => "writes",
                Kind::Update => "updates",
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

    /// What the lanes of an instruction have in common as accesses.
    pub(crate) fn deed(
        &self,
        block: &mut Block,
        issue: Issue,
        kind: Kind,
        manner: Manner,
    ) -> Deed<'static> {
        block.instance = block.instance.wrapping_add(1);
        let warp = &block.warps[issue.w];
        Deed {
            pc: issue.pc,
            thread: warp.first_thread,
            first_thread: warp.first_thread,
            now: warp.now,
            instance: block.instance,
            kind,
            manner,
            knowledge: None,
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
        let deed = self.deed(block, issue, Kind::Read, manner);
        let (element, bytes) = (access.ty.bytes(), access.bytes());
        let mut out: [Lanes; 4] = [[0; 32]; 4];
        let mut depths = [0; 32];
        for group in self.groups(block, issue, access) {
            self.account(issue, &group, bytes, Kind::Read);
            for lane in (0..32).filter(|lane| group.on >> lane & 1 == 1) {
                let deed = Deed { thread: deed.first_thread + lane as u32, ..deed };
                let place = self.locate(
                    block,
                    (issue.pc, deed.thread),
                    group.space,
                    group.addresses[lane],
                    bytes,
                )?;
                self.check_written(block, deed, place, bytes)?;
                self.touch(block, deed, place, bytes, |_| false)?;
                if manner == Manner::Strong {
                    self.acquire(block, deed.thread, place, access.scope);
                }
                if self.follows_chains() && Self::holds_data(group.space) {
                    depths[lane] = self.depth_at(block, place);
                }
                for (i, values) in out.iter_mut().enumerate().take(access.count as usize) {
                    let raw = self.peek(block, issue.w, place, i as u32 * element, element);
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
        let deed = self.deed(block, issue, Kind::Write, manner);
        let (element, bytes) = (access.ty.bytes(), access.bytes());
        let values = from.map(|slot| block.warps[issue.w].registers[slot as usize]);
        for group in self.groups(block, issue, access) {
            self.account(issue, &group, bytes, Kind::Write);
            if matches!(group.space, Space::Const | Space::Param) {
                return Err(boxed(Fault::ReadOnly {
                    site: self.context.kernel.site(issue.pc).clone(),
                    thread: self.thread(block, issue.w, group.on.trailing_zeros() as usize),
                    space: group.space,
                }));
            }
            for lane in (0..32).filter(|lane| group.on >> lane & 1 == 1) {
                let deed = Deed { thread: deed.first_thread + lane as u32, ..deed };
                let place = self.locate(
                    block,
                    (issue.pc, deed.thread),
                    group.space,
                    group.addresses[lane],
                    bytes,
                )?;
                let count = access.count as usize;
                let same = |block: &Block| {
                    (0..count).all(|i| {
                        let there = self.peek(block, issue.w, place, i as u32 * element, element);
                        there == values[i][lane] & low_bits(8 * element)
                    })
                };
                self.touch(block, deed, place, bytes, same)?;
                if manner == Manner::Strong {
                    self.release(block, deed.thread, place, access.strength, access.scope);
                }
                for (i, values) in values.iter().enumerate().take(count) {
                    self.poke(block, issue.w, place, i as u32 * element, element, values[lane]);
                }
                if self.follows_chains() {
                    let depth = from
                        .iter()
                        .take(count)
                        .map(|slot| block.warps[issue.w].depths[*slot as usize][lane])
                        .max();
                    self.set_depth(block, place, bytes, depth.unwrap_or(0));
                }
            }
        }
        Ok(())
    }
}
