//! Digits of partials, summed by the communicator: what a rank sends and receives does not grow with the number of ranks.
//!
//! # Layout, version 1
//! Numbers of 64 bits, [`NUMBERS`] in the first sum whatever the reduction, so that ranks that disagree can still say so.
//!
//! | numbers | content |
//! |---|---|
//! | 0–5 | a signature: three parts h of 21 bits of the agreement's hash, each as Σh and Σh². W ranks agree if W·Σh² = (Σh)² for each |
//! | 6 | how many ranks have failed |
//! | 7– | digits of the partial ([`digits`]), if they have room there; else they follow in further sums |
//!
//! If ranks disagree or one has failed, all of them see it, and gather frames that say who and why.

use warpfold_exact::partial::bytes::digits;

use crate::{Agreement, Comm, Error, Result};

/// Numbers of the first sum: 2 KiB, which hold the digits of every partial of a real type.
const NUMBERS: usize = 256;
/// Numbers before the digits.
const HEADER: usize = 7;
/// Numbers that are summed at once, of many outputs.
pub(crate) const AT_ONCE: usize = 1 << 17;

const VERSION: u64 = 1;

/// Three numbers below 2^21 that stand for an agreement.
fn signature(agreement: &Agreement) -> [u64; 3] {
    let low = u64::from_le_bytes(*agreement.hash().first_chunk().expect("sixteen bytes"));
    let low = low.wrapping_add(VERSION);
    [0, 1, 2].map(|part| low >> (21 * part) & digits::MOST)
}

/// Sums digits over all ranks, once they agree; `mine` are as many on all of them. A rank that has none says why.
pub(crate) fn sum_agreed<C: Comm + ?Sized>(
    comm: &C,
    agreement: &Agreement,
    mine: Result<&mut [u64], &str>,
) -> Result<()> {
    let mut numbers = [0; NUMBERS];
    for (pair, h) in numbers.chunks_exact_mut(2).zip(signature(agreement)) {
        pair.copy_from_slice(&[h, h * h]);
    }
    numbers[HEADER - 1] = u64::from(mine.is_err());
    let inline = NUMBERS - HEADER;
    if let Ok(mine) = &mine
        && mine.len() <= inline
    {
        numbers[HEADER..HEADER + mine.len()].copy_from_slice(mine);
    }
    comm.sum_u64(&mut numbers)?;
    let world = comm.size() as u128;
    let agrees =
        |pair: &[u64]| world * u128::from(pair[1]) == u128::from(pair[0]) * u128::from(pair[0]);
    if numbers[HEADER - 1] > 0 || !numbers[..HEADER - 1].chunks_exact(2).all(agrees) {
        let outcome = mine.map(|_| &[][..]);
        crate::exchange::exchange_agreed(comm, agreement, outcome)?;
        // Every rank says that it agrees and has not failed.
        let why = "its signature and its words do not go together".into();
        return Err(Error::Contribution { rank: 0, why });
    }
    let Ok(mine) = mine else { unreachable!("a rank that failed was counted") };
    if mine.len() <= inline {
        mine.copy_from_slice(&numbers[HEADER..HEADER + mine.len()]);
        return Ok(());
    }
    mine.chunks_mut(AT_ONCE).try_for_each(|some| comm.sum_u64(some))
}
