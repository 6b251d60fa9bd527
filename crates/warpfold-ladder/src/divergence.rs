//! The demonstration beside the ladder: four branches in one warp against four warps.

use warpfold::Result;
use warpfold::kernel::Machine as _;
use warpfold_kernels::ladder::DIVERGENCE;

use crate::found::{Branching, Divergence};
use crate::host::Runs;
use crate::target::Target;
use crate::{Launch, Pass};

/// Where the branches start.
const STARTS: [u32; 4] = [1, 2, 3, 4];

/// Blocks and their threads, which the kernels have in common.
const SHAPE: Pass = Pass { n: 4, grid: 1, block: 128, shared_bytes: 0 };

/// Runs, verifies and times the pair, each branch of so many rounds.
///
/// # Errors
/// [`Error::Device`](warpfold::Error::Device).
pub fn divergence<G: Target>(target: &mut G, rounds: u32, runs: Runs) -> Result<Divergence> {
    let input = target.machine().upload(&STARTS)?;
    let module = DIVERGENCE.module();
    let mut kernels = Vec::new();
    for &entry in DIVERGENCE.entries {
        let results = target.machine().upload(&[0u32; 4])?;
        let parameters = vec![input.address(), results.address(), rounds.into()];
        let launches = |_| {
            vec![Launch { module: &module, entry, pass: SHAPE, parameters: parameters.clone() }]
        };
        // SAFETY: the kernels read four numbers, write four a block, and take these three parameters.
        let counters = unsafe { target.run(&launches(0))? };
        let verified = results.download()? == expected(rounds);
        // SAFETY: as above; every run writes the same.
        let time = unsafe { target.time(&launches, runs)? };
        let total = counters.first().map(|counters| counters.total);
        kernels.push(Branching {
            name: entry.to_owned(),
            verified,
            time,
            divergent_branches: total.map(|total| total.divergent_branches),
            warp_instructions: total.map(|total| total.warp_instructions),
            longest_warp: counters.first().map(|counters| counters.longest_warp),
        });
    }
    Ok(Divergence { device: target.device(), rounds: rounds.into(), kernels })
}

/// The branches of `cuda/ladder/divergence.cu`, on the host.
fn expected(rounds: u32) -> Vec<u32> {
    let branches: [fn(u32) -> u32; 4] = [
        |x| x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223),
        |x| (x ^ (x << 13)).wrapping_add(7),
        |x| (x ^ (x >> 17)).wrapping_mul(3),
        |x| x.wrapping_add(x << 5) ^ 5,
    ];
    let ends = branches.iter().zip(STARTS).map(|(step, x)| (0..rounds).fold(x, |x, _| step(x)));
    ends.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Simulator;

    #[test]
    fn the_four_branches_take_one_warp_four_times_as_long() {
        let found = divergence(&mut Simulator::default(), 100, Runs::Exactly(1)).unwrap();
        let [horrific, good] = &found.kernels[..] else { panic!("two kernels") };
        assert!(horrific.verified && good.verified);
        let ratio = horrific.longest_warp.unwrap() as f64 / good.longest_warp.unwrap() as f64;
        assert!((2.5..4.5).contains(&ratio), "{found:?}");
    }
}
