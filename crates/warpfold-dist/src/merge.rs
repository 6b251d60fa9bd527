//! Partials of all ranks, merged.

use warpfold_exact::AnyPartial;

use crate::contribution::read;
use crate::exchange::exchange_agreed;
use crate::{Agreement, Comm, Result};

/// Up to so many ranks a scalar's partials are gathered; beyond, those that are sums are summed as digits, whose bytes do not grow with the world.
const GATHERED: usize = 16;

/// Merges the partials of all ranks: everyone gets the partial of all data, with the same bits.
///
/// `mine` is this rank's partial ([`AnyPartial::empty`] of no data), or its message that there is none. Where indices matter (argmin,
/// argmax, stats, products of floats), the partial was folded with `starting_at` the index of the share in the whole.
///
/// # Errors
/// As [`exchange`](crate::exchange); [`Error::Contribution`](crate::Error::Contribution) where a partial is none of the agreed reduction, and for products of floats that do not know
/// the indices of their elements (those of devices, and those saved by earlier versions).
pub fn all_merge<C: Comm + ?Sized>(
    comm: &C,
    agreement: &Agreement,
    mine: Result<&AnyPartial, &str>,
) -> Result<AnyPartial> {
    if comm.size() > GATHERED
        && let Some(summed) = crate::batched::summed(comm, agreement, mine)?
    {
        return Ok(summed);
    }
    let bytes = mine.map(AnyPartial::to_compact);
    let outcome = bytes.as_deref().map_err(|why| *why);
    let outcome = match outcome {
        Ok(_) if comm.size() > 1 && mine.is_ok_and(AnyPartial::is_ordered) => Err(
            "the product of floats does not know the indices of its elements; fold it again on the processor",
        ),
        outcome => outcome,
    };
    let all = exchange_agreed(comm, agreement, outcome)?;
    let mut total = AnyPartial::empty(agreement.op(), agreement.dtype());
    for (rank, bytes) in all.iter().enumerate() {
        let partial = read(agreement, rank, bytes)?;
        match rank {
            0 => total = partial,
            _ => total.merge(&partial),
        }
    }
    Ok(total)
}
