//! What a rank contributed, read by the others.

use warpfold_exact::AnyPartial;
use warpfold_num::Op;

use crate::{Agreement, Error, Result};

/// Whether a part that lies on several ranks has a result only if ranks say where their elements stand in it, which none does: a product of floats.
pub(crate) fn is_cut_dependent(agreement: &Agreement) -> bool {
    agreement.op() == Op::Prod && agreement.dtype().is_float()
}

pub(crate) fn read(agreement: &Agreement, rank: usize, bytes: &[u8]) -> Result<AnyPartial> {
    let refused = |why: String| Error::Contribution { rank, why };
    let partial = AnyPartial::from_bytes_of(agreement.dtype(), bytes)
        .map_err(|error| refused(error.to_string()))?;
    match partial.serves(agreement.op()) {
        true => Ok(partial),
        false => Err(refused(format!("it is no partial of {}", agreement.op()))),
    }
}
