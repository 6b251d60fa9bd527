//! Where an address lies, whether it may be touched, and the bytes there.

use super::block::Block;
use super::execute::Worker;
use super::touch::Deed;
use crate::Detail;
use crate::fault::{Fault, boxed};
use crate::memory::Allocation;
use crate::program::op::Pc;
use crate::ptx::Space;

/// A checked place in memory.
#[derive(Clone, Copy)]
pub(crate) enum Location<'m> {
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

impl<'c> Worker<'c, '_> {
    /// Where `address` lies; checks bounds and alignment.
    #[inline]
    pub(crate) fn locate(
        &self,
        block: &Block,
        (pc, thread): (Pc, u32),
        space: Space,
        address: u64,
        bytes: u32,
    ) -> Result<Location<'c>, Box<Fault>> {
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
        let location = match space {
            Space::Shared => {
                within(block.shared.len()).then_some(Location::Shared { offset: address })
            }
            Space::Local => within(local_bytes)
                .then_some(Location::Local { at: lane * local_bytes + address as usize }),
            Space::Param => within(context.parameters.len())
                .then_some(Location::Parameter { at: address as usize }),
            Space::Const => within(context.program.constants.len())
                .then_some(Location::Constant { at: address as usize }),
            Space::Global | Space::Generic => {
                match context.memory.resolve(context.program, address) {
                    Some((allocation, index, offset))
                        if offset + u64::from(bytes) <= allocation.bytes() =>
                    {
                        Some(Location::Global { allocation, index, offset })
                    }
                    _ => None,
                }
            }
        };
        location.ok_or_else(|| {
            let location = match space {
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
                location,
            })
        })
    }
    /// The bytes at a place, up to eight.
    #[inline]
    pub(crate) fn peek(
        &self,
        block: &Block,
        w: usize,
        location: Location<'_>,
        plus: u32,
        bytes: u32,
    ) -> u64 {
        let from = |data: &[u8], at: usize| {
            let at = at + plus as usize;
            let mut own = [0; 8];
            own[..bytes as usize].copy_from_slice(&data[at..at + bytes as usize]);
            u64::from_le_bytes(own)
        };
        match location {
            Location::Global { allocation, offset, .. } => {
                allocation.load(offset + u64::from(plus), bytes)
            }
            Location::Shared { offset } => from(&block.shared, offset as usize),
            Location::Local { at } => from(&block.warps[w].local, at),
            Location::Parameter { at } => from(&self.context.parameters, at),
            Location::Constant { at } => from(&self.context.program.constants, at),
        }
    }

    /// Writes up to eight bytes.
    #[inline]
    pub(crate) fn poke(
        &self,
        block: &mut Block,
        w: usize,
        location: Location<'_>,
        plus: u32,
        bytes: u32,
        value: u64,
    ) {
        let into = |data: &mut [u8], at: usize| {
            let at = at + plus as usize;
            data[at..at + bytes as usize].copy_from_slice(&value.to_le_bytes()[..bytes as usize]);
        };
        match location {
            Location::Global { allocation, offset, .. } => {
                allocation.store(offset + u64::from(plus), bytes, value)
            }
            Location::Shared { offset } => {
                into(&mut block.shared, offset as usize);
                for byte in offset + u64::from(plus)..offset + u64::from(plus + bytes) {
                    block.written[(byte / 64) as usize] |= 1 << (byte % 64);
                }
            }
            Location::Local { at } => into(&mut block.warps[w].local, at),
            Location::Parameter { .. } | Location::Constant { .. } => {}
        }
    }

    /// Checks that bytes about to be read were written.
    #[inline]
    pub(crate) fn check_written(
        &self,
        block: &Block,
        deed: Deed<'_>,
        location: Location<'_>,
        bytes: u32,
    ) -> Result<(), Box<Fault>> {
        if self.context.settings.uninitialised == Detail::Off {
            return Ok(());
        }
        let (written, space, address) = match location {
            Location::Global { allocation, offset, .. } => {
                (allocation.is_written(offset, bytes), Space::Global, offset)
            }
            Location::Shared { offset } => {
                let bits = (((1u128 << bytes) - 1) << (offset % 64)) as u64;
                (block.written[(offset / 64) as usize] & bits == bits, Space::Shared, offset)
            }
            _ => return Ok(()),
        };
        if written {
            return Ok(());
        }
        let location = match location {
            Location::Global { index, .. } if index > 0 => {
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
            location,
        }))
    }
}
