//! [`Comm`]: what carries bytes between ranks.

use crate::Result;

/// What rank 0 does while it waits for others, with the sum of what they have reported.
pub type Meanwhile = Box<dyn FnMut(u64)>;

/// A world of ranks that call the same functions in the same order.
///
/// After an error the world is of no more use: other ranks may be in the middle of a call.
pub trait Comm {
    /// The number of this rank, below [`size`](Self::size).
    fn rank(&self) -> usize;

    /// How many ranks there are, at least one.
    fn size(&self) -> usize;

    /// Gathers bytes of one length from every rank, in rank order; `all` has room for [`size`](Self::size) times as many.
    ///
    /// # Errors
    /// An [`Error`](crate::Error) that names the rank that did not answer, left, or came with another length.
    fn all_gather(&self, mine: &[u8], all: &mut [u8]) -> Result<()>;

    /// Replaces each number by its sum over all ranks, modulo 2^64.
    ///
    /// # Errors
    /// As [`all_gather`](Self::all_gather).
    fn sum_u64(&self, numbers: &mut [u64]) -> Result<()> {
        let mine: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let mut all = vec![0; mine.len() * self.size()];
        self.all_gather(&mine, &mut all)?;
        numbers.fill(0);
        for rank in all.chunks_exact(mine.len().max(1)) {
            for (number, bytes) in numbers.iter_mut().zip(rank.as_chunks().0) {
                *number = number.wrapping_add(u64::from_le_bytes(*bytes));
            }
        }
        Ok(())
    }

    /// Sends one block of bytes to each rank and receives one from each: `mine` holds [`size`](Self::size) blocks of one length in the order of
    /// those that they go to, `theirs` those of all ranks for this one.
    ///
    /// # Errors
    /// As [`all_gather`](Self::all_gather).
    fn all_to_all(&self, mine: &[u8], theirs: &mut [u8]) -> Result<()> {
        let block = mine.len() / self.size();
        let mut all = vec![0; mine.len() * self.size()];
        self.all_gather(mine, &mut all)?;
        if block > 0 {
            let mine = self.rank() * block..(self.rank() + 1) * block;
            let sent = all.chunks_exact(block * self.size());
            for (to, from) in theirs.chunks_exact_mut(block).zip(sent) {
                to.copy_from_slice(&from[mine.clone()]);
            }
        }
        Ok(())
    }

    /// Has rank 0 do something now and then while it waits for others in gathers. All ranks call it, or none; only rank 0's is ever done. Where the
    /// transport cannot, as here by default, nothing is done.
    fn while_waiting(&self, _meanwhile: Meanwhile) {}

    /// Tells rank 0 how far this rank is, where [`while_waiting`](Self::while_waiting) was called. This is no exchange, and nobody waits for it: the
    /// latest report replaces those before, one that cannot leave at once is dropped, and none comes where the transport has no such messages.
    fn report(&self, _done: u64) {}

    /// On rank 0, the sum of the latest reports of all other ranks.
    fn reported(&self) -> u64 {
        0
    }
}

impl<C: Comm + ?Sized> Comm for Box<C> {
    fn rank(&self) -> usize {
        (**self).rank()
    }

    fn size(&self) -> usize {
        (**self).size()
    }

    fn all_gather(&self, mine: &[u8], all: &mut [u8]) -> Result<()> {
        (**self).all_gather(mine, all)
    }

    fn sum_u64(&self, numbers: &mut [u64]) -> Result<()> {
        (**self).sum_u64(numbers)
    }

    fn all_to_all(&self, mine: &[u8], theirs: &mut [u8]) -> Result<()> {
        (**self).all_to_all(mine, theirs)
    }

    fn while_waiting(&self, meanwhile: Meanwhile) {
        (**self).while_waiting(meanwhile);
    }

    fn report(&self, done: u64) {
        (**self).report(done);
    }

    fn reported(&self) -> u64 {
        (**self).reported()
    }
}
