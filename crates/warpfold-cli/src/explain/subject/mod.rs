//! [`Subject`]: what is explained. Kernels are looked up and given arrays here, and nowhere else.

mod divergence;
mod production;
mod rung;

use warpfold::DType;
use warpfold_kernels::{Module, sources};
use warpfold_lab::ladder;
use warpfold_simt::{Fault, Launch, Memory, Program};

use super::args::Explain;
use crate::Failure;
use crate::input::{Distribution, Produce, Random};

/// PTX, its sources, memory and a launch over it.
pub(crate) struct Subject {
    /// What the kernel is called.
    pub(crate) name: String,
    /// What the launch is over: `1000 f32`.
    pub(crate) over: String,
    /// The module it is in.
    pub(crate) module: String,
    /// What it folds.
    pub(crate) dtype: DType,
    /// Elements of each array.
    pub(crate) n: u64,
    pub(crate) program: Program,
    pub(crate) launch: Launch,
    pub(crate) memory: Memory,
    /// What the allocations are called, by address and size.
    pub(crate) places: Vec<Place>,
    /// The CUDA files that the program's lines may name.
    pub(crate) sources: Vec<(String, String)>,
}

/// An allocation with a name.
pub(crate) struct Place {
    pub(crate) name: &'static str,
    pub(crate) address: u64,
    pub(crate) bytes: u64,
}

impl Subject {
    /// What was asked for: a rung of the ladder, one of the pair beside it, or a production kernel.
    ///
    /// # Errors
    /// [`Failure::Usage`]: there is no such kernel, or it cannot be launched so.
    pub(crate) fn of(asked: &Explain) -> Result<Subject, Failure> {
        if !asked.block.is_multiple_of(32) {
            let (block, less) = (asked.block, asked.block / 32 * 32);
            let message = format!(
                "--block {block} is no whole number of warps; take {less} or {}",
                less + 32
            );
            return Err(Failure::Usage(message));
        }
        match (ladder::find(&asked.kernel), divergence::entry(&asked.kernel)) {
            (Ok(rung), _) => rung::subject(rung, asked),
            (_, Some(entry)) => divergence::subject(entry, asked),
            _ => production::subject(asked),
        }
    }

    /// Bytes of the arrays that are folded.
    pub(crate) fn array_bytes(&self) -> u64 {
        self.places.iter().filter(|place| ["x", "y"].contains(&place.name)).map(|p| p.bytes).sum()
    }

    /// Whose allocation an address of global memory is in, and its offset there.
    pub(crate) fn place_of(&self, address: u64) -> Option<(&'static str, u64)> {
        let holds =
            |place: &&Place| (place.address..place.address + place.bytes).contains(&address);
        self.places.iter().find(holds).map(|place| (place.name, address - place.address))
    }

    /// The launch's fault as the program's.
    pub(crate) fn failed(&self, fault: &Fault) -> Failure {
        failed(format!("running {} over {}", self.name, self.over), fault.to_string())
    }
}

fn failed(asked: String, obstacle: String) -> Failure {
    let remedy = "report it: the kernel or the simulator is wrong";
    warpfold::Error::Device { asked, obstacle, remedy }.into()
}

/// A module whose lines know where in the sources they come from.
fn loaded(module: Module) -> Result<Program, Failure> {
    let mut program = Program::load(&module.ptx())
        .map_err(|error| failed(format!("loading {}", module.name), error.to_string()))?;
    let lines = module.lines();
    program.locate(|line| lines.of(line));
    Ok(program)
}

fn all_sources() -> Vec<(String, String)> {
    sources().iter().map(|s| (s.name.to_owned(), s.text.to_owned())).collect()
}

/// Bytes of the largest array that is explained.
const MOST_BYTES: u64 = 64 << 20;

/// Random elements.
fn random(dtype: DType, n: u64, array: u64) -> Result<Vec<u8>, Failure> {
    let bytes = n.checked_mul(dtype.size() as u64).filter(|&bytes| bytes <= MOST_BYTES);
    let Some(bytes) = bytes else {
        return Err(Failure::Usage(format!(
            "--n {n} of {dtype} is too much to explain; take {} at most",
            MOST_BYTES / dtype.size() as u64
        )));
    };
    let mut elements = vec![0; bytes as usize];
    Random::new(dtype, n, Distribution::Uniform, 0, array)?.fill(&mut elements)?;
    Ok(elements)
}
