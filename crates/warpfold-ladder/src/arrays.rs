//! The arrays of a climb in a target's memory: the input, as often as it takes to keep caches cold, and what plans need besides.

use warpfold::kernel::{Buffer, View};
use warpfold::{Op, Result};

use crate::number::Number;
use crate::plan::{Addresses, Launch, Plan};
use crate::target::Target;

/// Elements that every copy of the array begins on a multiple of: whole sectors, and whole vectors of 16 bytes.
const ALIGNMENT: u64 = 256;

/// Bytes that are written at once.
const BLOCK: usize = 32 << 20;

/// One array, several times one after another.
pub(super) struct Inputs<G: Target, T: Number> {
    buffer: Buffer<G::Machine, T>,
    n: u64,
    copies: usize,
}

impl<G: Target, T: Number> Inputs<G, T> {
    /// Copies an array so many times.
    pub(super) fn new(target: &G, x: &[T], copies: usize) -> Result<Self> {
        use warpfold::kernel::Machine as _;
        let n = x.len() as u64;
        if copies <= 1 {
            return Ok(Inputs { buffer: target.machine().upload(x)?, n, copies: 1 });
        }
        let stride = n.next_multiple_of(ALIGNMENT) as usize;
        let mut buffer = target.unwritten((stride * copies) as u64)?;
        // Small arrays are written many at a time.
        let together = (BLOCK / (stride * size_of::<T>())).clamp(1, copies);
        let mut block = vec![T::identity(Op::Sum); stride * together];
        block.chunks_exact_mut(stride).for_each(|chunk| chunk[..x.len()].copy_from_slice(x));
        for first in (0..copies).step_by(together) {
            let count = together.min(copies - first);
            buffer.write(first * stride, &block[..count * stride])?;
        }
        Ok(Inputs { buffer, n, copies })
    }

    /// The `k`-th array, counted round; its first `n` elements.
    pub(super) fn view(&self, k: usize, n: u64) -> View<'_, G::Machine, T> {
        let first = (k % self.copies) as u64 * self.n.next_multiple_of(ALIGNMENT);
        let first = if self.copies == 1 { 0 } else { first as usize };
        self.buffer.slice(first..first + n as usize)
    }

    fn address(&self, k: usize) -> u64 {
        let stride = self.n.next_multiple_of(ALIGNMENT) * size_of::<T>() as u64;
        self.buffer.address() + (k % self.copies) as u64 * stride
    }
}

/// What a plan needs besides its input.
pub(super) struct Workspace<G: Target, T: Number> {
    results: Buffer<G::Machine, T>,
    partials: [Buffer<G::Machine, T>; 2],
    scratch: Buffer<G::Machine, T>,
    ticket: Buffer<G::Machine, u32>,
    slots: usize,
}

impl<G: Target, T: Number> Workspace<G, T> {
    /// For any of the plans, one at a time; so many results can be left beside each other.
    pub(super) fn new<'p>(
        target: &G,
        plans: impl Iterator<Item = &'p Plan> + Clone,
        op: Op,
        slots: usize,
    ) -> Result<Self> {
        use warpfold::kernel::Machine as _;
        let most = |of: fn(&Plan) -> u64| plans.clone().map(of).max().unwrap_or(0);
        Ok(Workspace {
            // Atomics fold into what is there; for all others it is as good as anything.
            results: target.machine().upload(&vec![T::identity(op); slots])?,
            partials: [
                target.unwritten(most(|plan| plan.partials[0]))?,
                target.unwritten(most(|plan| plan.partials[1]))?,
            ],
            scratch: target.unwritten(most(|plan| plan.scratch))?,
            ticket: target.machine().upload(&[0u32])?,
            slots,
        })
    }

    /// As it was at first, for another plan; what is not to be written first keeps what it holds.
    pub(super) fn clear(&mut self, op: Op) -> Result<()> {
        self.results.write(0, &vec![T::identity(op); self.slots])?;
        self.ticket.write(0, &[0u32])
    }

    /// The launches of the `k`-th run, which leaves its result in the `k`-th slot, counted round.
    pub(super) fn launches<'p>(
        &self,
        plan: &'p Plan,
        inputs: &Inputs<G, T>,
        k: usize,
    ) -> Vec<Launch<'p>> {
        plan.launches(Addresses {
            input: inputs.address(k),
            result: self.results.address() + (k % self.slots * size_of::<T>()) as u64,
            partials: [self.partials[0].address(), self.partials[1].address()],
            scratch: self.scratch.address(),
            ticket: self.ticket.address(),
        })
    }

    /// The result of run 0.
    pub(super) fn result(&self) -> Result<T> {
        Ok(self.results.download()?[0])
    }
}
