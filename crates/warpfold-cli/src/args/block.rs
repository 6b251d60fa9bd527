//! Sizes of block.

use crate::Failure;

/// Checks that a block is made of whole warps and no larger than what `whose` takes.
pub(crate) fn whole_warps(block: u32, most: u32, whose: &str) -> Result<(), Failure> {
    if block > most {
        return Err(Failure::Usage(format!(
            "--block {block}: {whose} takes at most {most} threads"
        )));
    }
    let less = block / 32 * 32;
    match (block % 32, less) {
        (0, 32..) => Ok(()),
        (_, 0) => {
            Err(Failure::Usage(format!("--block {block} is no whole number of warps; take 32")))
        }
        _ => Err(Failure::Usage(format!(
            "--block {block} is no whole number of warps; take {less} or {}",
            less + 32
        ))),
    }
}
