//! The thesis's pair as subjects: four branches in one warp, and in four.

use warpfold::DType;
use warpfold_kernels::ladder::DIVERGENCE;
use warpfold_simt::{Argument, Dimensions, Launch, Memory};

use super::{Place, Subject};
use crate::Failure;
use crate::explain::args::Explain;

/// Threads of a block: the kernels' own.
const BLOCK: u32 = 128;

/// The entry of a name: `horrific`, `good_kernel`.
pub(super) fn entry(name: &str) -> Option<&'static str> {
    let of = |entry: &&&str| **entry == name || entry.strip_suffix("_kernel") == Some(name);
    DIVERGENCE.entries.iter().find(of).copied()
}

/// One block of it, `--n` rounds in each branch.
///
/// # Errors
/// [`Failure::Usage`]: too many rounds to look at.
pub(super) fn subject(entry: &'static str, asked: &Explain) -> Result<Subject, Failure> {
    if asked.op.is_some() || asked.dtype.is_some() || asked.block != BLOCK {
        let message = format!(
            "{entry} has blocks of {BLOCK} threads and neither --op nor --type; leave them out"
        );
        return Err(Failure::Usage(message));
    }
    const MOST: u64 = 100_000;
    if asked.n > MOST {
        let message =
            format!("--n {} rounds are too many to explain; take {MOST} at most", asked.n);
        return Err(Failure::Usage(message));
    }
    let name = DIVERGENCE.module();
    let module = warpfold_kernels::find(&name).expect("the pair's module is embedded");
    let mut memory = Memory::new();
    let input = memory.upload(&[1u32, 2, 3, 4]);
    let output = memory.allocate(16);
    let places = [("x", input), ("results", output)].map(|(name, buffer)| Place {
        name,
        address: buffer.address(),
        bytes: buffer.bytes(),
    });
    let arguments = [input.address(), output.address(), asked.n];
    Ok(Subject {
        name: entry.to_owned(),
        over: format!("four branches of {} rounds", asked.n),
        program: super::loaded(module)?,
        module: name,
        dtype: DType::U32,
        n: 4,
        launch: Launch {
            kernel: entry.to_owned(),
            grid: Dimensions::from(asked.grid.unwrap_or(1)),
            block: Dimensions::from(BLOCK),
            shared_bytes: 0,
            arguments: arguments.into_iter().map(Argument::from).collect(),
        },
        memory,
        places: places.into(),
        sources: super::all_sources(),
    })
}
