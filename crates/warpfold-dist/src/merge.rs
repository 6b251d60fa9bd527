//! Partials of all ranks, merged.

use warpfold_exact::AnyPartial;
use warpfold_num::Op;

use crate::exchange::exchange_agreed;
use crate::{Agreement, Comm, Error, Result};

/// Merges the partials of all ranks: everyone gets the partial of all data, with the same bits.
///
/// `mine` is this rank's partial ([`AnyPartial::empty`] of no data), or its message that there is none. Where indices matter (argmin,
/// argmax, stats), the partial was folded with `starting_at` the index of the share in the whole.
///
/// # Errors
/// As [`exchange`](crate::exchange); [`Error::Contribution`] where a partial is none of the agreed reduction, and for products of floats, whose partials
/// depend on how the array is cut: [`all_merge_blocks`] serves those.
pub fn all_merge<C: Comm + ?Sized>(
    comm: &C,
    agreement: &Agreement,
    mine: Result<&AnyPartial, &str>,
) -> Result<AnyPartial> {
    let bytes = mine.map(AnyPartial::to_bytes);
    let outcome = bytes.as_deref().map_err(|why| *why);
    let outcome = match outcome {
        Ok(_) if comm.size() > 1 && is_cut_dependent(agreement) => Err(
            "the product of floats depends on how the array is cut; hand over blocks of one grid",
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

/// Whether partials of a reduction depend on the cuts between them.
fn is_cut_dependent(agreement: &Agreement) -> bool {
    let dtype = agreement.dtype();
    agreement.op() == Op::Prod && (dtype.is_float() || dtype.is_complex())
}

fn read(agreement: &Agreement, rank: usize, bytes: &[u8]) -> Result<AnyPartial> {
    let refused = |why: String| Error::Contribution { rank, why };
    let partial = AnyPartial::from_bytes_of(agreement.dtype(), bytes)
        .map_err(|error| refused(error.to_string()))?;
    match partial.serves(agreement.op()) {
        true => Ok(partial),
        false => Err(refused(format!("it is no partial of {}", agreement.op()))),
    }
}

/// The partial of a range of the whole array.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// The index of its first element.
    pub first: u64,
    /// How many elements it has.
    pub len: u64,
    /// What was folded of them.
    pub partial: AnyPartial,
}

/// Merges blocks of all ranks in the order of their indices, whichever rank folded them: the same bits as one rank that folded the same
/// blocks. The result is that of one grid of blocks, which the caller chooses; it is part of what ranks agree on.
///
/// # Errors
/// As [`all_merge`]; [`Error::Contribution`] if two blocks overlap, or some elements are in none.
pub fn all_merge_blocks<C: Comm + ?Sized>(
    comm: &C,
    agreement: &Agreement,
    mine: Result<&[Block], &str>,
) -> Result<AnyPartial> {
    let bytes = mine.map(write_blocks);
    let all = exchange_agreed(comm, agreement, bytes.as_deref().map_err(|why| *why))?;
    let mut blocks = Vec::new();
    for (rank, bytes) in all.iter().enumerate() {
        read_blocks(agreement, rank, bytes, &mut blocks)?;
    }
    blocks.sort_by_key(|(_, block)| (block.first, block.len));
    let mut total: Option<AnyPartial> = None;
    let mut end = 0;
    for (rank, Block { first, len, partial }) in blocks {
        let refused = |why| Err(Error::Contribution { rank, why });
        if first < end {
            return refused(format!(
                "its block from {first} on overlaps another, which ends at {end}"
            ));
        }
        if first > end {
            return refused(format!(
                "elements {end} to {first}, before its block, are in no block"
            ));
        }
        end = match first.checked_add(len) {
            Some(end) => end,
            None => return refused("its block ends beyond 2^64".into()),
        };
        match &mut total {
            Some(total) => total.merge(&partial),
            none => *none = Some(partial),
        }
    }
    Ok(total.unwrap_or_else(|| AnyPartial::empty(agreement.op(), agreement.dtype())))
}

/// First index, length, bytes of the partial and the partial, one block after another.
fn write_blocks(blocks: &[Block]) -> Vec<u8> {
    let mut out = Vec::new();
    for block in blocks {
        let partial = block.partial.to_bytes();
        for word in [block.first, block.len, partial.len() as u64] {
            out.extend_from_slice(&word.to_le_bytes());
        }
        out.extend_from_slice(&partial);
    }
    out
}

fn read_blocks(
    agreement: &Agreement,
    rank: usize,
    mut bytes: &[u8],
    blocks: &mut Vec<(usize, Block)>,
) -> Result<()> {
    let short = || Error::Contribution { rank, why: "its blocks end too early".into() };
    let word = |bytes: &mut &[u8]| {
        let (word, rest) = bytes.split_first_chunk().ok_or_else(short)?;
        *bytes = rest;
        Ok(u64::from_le_bytes(*word))
    };
    while !bytes.is_empty() {
        let (first, len, length) = (word(&mut bytes)?, word(&mut bytes)?, word(&mut bytes)?);
        let length = usize::try_from(length).map_err(|_| short())?;
        let (partial, rest) = bytes.split_at_checked(length).ok_or_else(short)?;
        bytes = rest;
        let partial = read(agreement, rank, partial)?;
        // Blocks of no elements say nothing, and would stand in the way of their neighbours.
        if len > 0 {
            blocks.push((rank, Block { first, len, partial }));
        }
    }
    Ok(())
}
