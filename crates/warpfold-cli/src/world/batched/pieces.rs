//! Pieces of outputs that are cut between ranks, merged in the order of ranks.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use warpfold_dist::{Agreement, Comm, Error, exchange};

/// What all ranks have of outputs, merged: `cut` is what this one has, as bytes that `read` reads.
///
/// # Errors
/// As [`exchange`], and [`Error::Contribution`] for what is no piece of such an output.
pub(super) fn merged<P>(
    comm: &dyn Comm,
    agreement: &Agreement,
    outputs: usize,
    cut: &[(usize, Vec<u8>)],
    read: impl Fn(&[u8]) -> Result<P, warpfold::Error>,
    merge: impl Fn(&mut P, &P),
) -> Result<BTreeMap<usize, P>, Error> {
    let mut bytes = Vec::new();
    for (output, piece) in cut {
        bytes.extend_from_slice(&(*output as u64).to_le_bytes());
        bytes.extend_from_slice(&(piece.len() as u64).to_le_bytes());
        bytes.extend_from_slice(piece);
    }
    let all = exchange(comm, agreement.clone().and("pieces").text(), Ok(&bytes))?;
    let mut pieces = BTreeMap::new();
    for (rank, bytes) in all.iter().enumerate() {
        let refused = |why: String| Error::Contribution { rank, why };
        let mut rest = &bytes[..];
        while let Some((words, after)) = rest.split_first_chunk::<16>() {
            let word =
                |at: usize| u64::from_le_bytes(words[at..at + 8].try_into().expect("eight bytes"));
            let (output, length) = (word(0) as usize, word(8) as usize);
            let (piece, after) = after
                .split_at_checked(length)
                .ok_or_else(|| refused("its pieces end too early".into()))?;
            let piece = read(piece).map_err(|error| refused(error.to_string()))?;
            if output >= outputs {
                return Err(refused("its piece is none of this reduction".into()));
            }
            match pieces.entry(output) {
                Entry::Occupied(mut one) => merge(one.get_mut(), &piece),
                Entry::Vacant(none) => drop(none.insert(piece)),
            }
            rest = after;
        }
        if !rest.is_empty() {
            return Err(refused("its pieces end too early".into()));
        }
    }
    Ok(pieces)
}
