//! Accesses as the race detector sees them, and the races it reports.

use super::block::Block;
use super::execute::{Issue, Worker};
use super::location::Location;
use crate::Detail;
use crate::fault::{Fault, Racer, Thread, boxed};
use crate::memory::PAGE_BYTES;
use crate::program::op::Pc;
use crate::program::window;
use crate::ptx::Space;
use crate::race::View;
use crate::race::clock::Knowledge;
use crate::race::shadow::{self as side_tables, AccessKind, Conflict, Manner};

/// One lane's part of an access: who, where, how.
#[derive(Clone, Copy)]
pub(crate) struct Deed<'a> {
    pub(crate) pc: Pc,
    /// The thread's number in the block, or an agent's past them.
    pub(crate) thread: u32,
    pub(crate) first_thread: u32,
    pub(crate) now: u32,
    pub(crate) instance: u32,
    pub(crate) kind: AccessKind,
    pub(crate) manner: Manner,
    /// What orders it; the thread's own knowledge where none is given.
    pub(crate) knowledge: Option<&'a Knowledge>,
}

impl Worker<'_, '_> {
    /// What the lanes of an instruction have in common as accesses.
    pub(crate) fn deed(
        &self,
        block: &mut Block,
        issue: Issue,
        kind: AccessKind,
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
    /// Tells the race detector of an access; a race is a fault, unless `same_value` says that lanes
    /// of one instruction wrote the same.
    pub(crate) fn touch(
        &self,
        block: &mut Block,
        deed: Deed<'_>,
        location: Location<'_>,
        bytes: u32,
        same_value: impl Fn(&Block) -> bool,
    ) -> Result<(), Box<Fault>> {
        let undo = |side: &mut super::shadow::Side| {
            if let (Location::Global { allocation, offset, .. }, true) =
                (location, deed.kind != AccessKind::Read)
            {
                self.context.sides.before_write(side, allocation, offset);
            }
        };
        if self.context.settings.races == Detail::Off {
            if let (Location::Global { index, offset, .. }, true) =
                (location, deed.kind != AccessKind::Read)
            {
                undo(&mut self.context.sides.page(index, offset));
            }
            return Ok(());
        }
        let access = side_tables::Access {
            block: block.index,
            first_thread: deed.first_thread,
            now: deed.now,
            pc: deed.pc,
            instance: deed.instance,
            manner: deed.manner,
        };
        // Its own knowledge is read while the shadow is written: two fields of the block.
        let Block { index: number, knowledge, shadow, .. } = &mut *block;
        let knowledge = match deed.knowledge {
            Some(knowledge) => knowledge,
            None => &knowledge[deed.thread as usize],
        };
        let view = View { block: *number, thread: deed.thread, knowledge, world: &self.world };
        let bytes = u64::from(bytes);
        let (outcome, space, address) = match location {
            Location::Global { index, offset, .. } => {
                let mut side = self.context.sides.page(index, offset);
                undo(&mut side);
                let page = &mut side.shadow;
                (
                    page.touch(offset % PAGE_BYTES, bytes, deed.kind, access, &view),
                    Space::Global,
                    offset,
                )
            }
            Location::Shared { offset } => {
                let page = &mut shadow[(offset / PAGE_BYTES) as usize];
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
                    && conflict.earlier == AccessKind::Write
                    && same_value(block) =>
            {
                Ok(())
            }
            Err(conflict) => Err(self.race(block, deed, conflict, (space, address), location)),
        }
    }

    fn race(
        &self,
        block: &Block,
        deed: Deed<'_>,
        conflict: Conflict,
        (space, offset): (Space, u64),
        location: Location<'_>,
    ) -> Box<Fault> {
        let context = self.context;
        let threads = context.launch.block.count() as u32;
        let named = |number: u32, of: u32| Thread {
            block: context.launch.grid.coordinates(u64::from(of)),
            thread: context.launch.block.coordinates(u64::from(block.issuer(number, threads))),
        };
        let verb = |kind: AccessKind| match kind {
            AccessKind::Read => "reads",
            AccessKind::Write => "writes",
            AccessKind::Update => "updates",
        };
        let (address, location) = match location {
            Location::Global { index: 0, .. } => {
                (window::MODULE + offset, format!("byte {offset} of the module's variables"))
            }
            Location::Global { index, .. } => (
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
            location,
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
}
