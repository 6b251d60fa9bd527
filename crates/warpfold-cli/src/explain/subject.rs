//! [`Subject`]: what is explained. Here and below, and only here, kernels are looked up and given arrays.

mod batched;
mod map;
mod operator;
mod production;
mod rung;

use warpfold::DType;
use warpfold::plan::DeviceFold;
use warpfold_kernels::{Module, ladder, sources};
use warpfold_simt::{Fault, Launch, Memory, Program};

use super::args::Explain;
use super::timed::Timed;
use crate::Failure;
use crate::input::{Distribution, Produce, Random};

/// PTX, its sources, memory and a launch over it.
pub(crate) struct Subject {
    /// What the kernel is called.
    pub(crate) name: String,
    /// What else is to be said of it; empty where there is nothing.
    pub(crate) note: String,
    /// What can be predicted of it, if anything.
    pub(crate) timed: Option<Timed>,
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
    pub(crate) allocations: Vec<NamedAllocation>,
    /// The CUDA files that the program's lines may name.
    pub(crate) sources: Vec<(String, String)>,
}

/// An allocation with a name.
pub(crate) struct NamedAllocation {
    pub(crate) name: &'static str,
    pub(crate) address: u64,
    pub(crate) bytes: u64,
}

impl Subject {
    /// The kernel that was asked for, with random arrays.
    ///
    /// # Errors
    /// [`Failure::Usage`]: there is no such kernel, or it cannot be launched so.
    pub(crate) fn of(args: &Explain) -> Result<Subject, Failure> {
        match (&args.expression, &*args.kernel) {
            (Some(text), map::NAME) => return map::subject(text, args),
            (Some(path), operator::NAME) => return operator::subject(path, args),
            (None, map::NAME) => {
                let message = "map takes an expression, as in warpfold explain map 'abs(x - y)'";
                return Err(Failure::Usage(message.into()));
            }
            (None, operator::NAME) => {
                let message =
                    "operator takes a file of its texts, as in warpfold explain operator FILE.toml";
                return Err(Failure::Usage(message.into()));
            }
            (Some(text), kernel) => {
                let message = format!(
                    "`{text}`: only map takes an expression; leave it out, or say map for {kernel:?}"
                );
                return Err(Failure::Usage(message));
            }
            (None, _) => {}
        }
        if let Some(rung) = rung::find(&args.kernel) {
            return rung::subject(rung, args);
        }
        if let Some(entry) = rung::demonstration(&args.kernel) {
            return rung::branches(entry);
        }
        if let Some(way) = batched::find(&args.kernel) {
            return batched::subject(way, args);
        }
        match production::find(&args.kernel) {
            Some(fold) => production::subject(fold, args),
            None => Err(unknown(&args.kernel)),
        }
    }

    /// Bytes of the arrays that are folded.
    pub(crate) fn array_bytes(&self) -> u64 {
        self.allocations
            .iter()
            .filter(|allocation| ["x", "y"].contains(&allocation.name))
            .map(|p| p.bytes)
            .sum()
    }

    /// Whose allocation an address of global memory is in, and its offset there.
    pub(crate) fn array_at(&self, address: u64) -> Option<(&'static str, u64)> {
        let holds = |allocation: &&NamedAllocation| {
            (allocation.address..allocation.address + allocation.bytes).contains(&address)
        };
        self.allocations
            .iter()
            .find(holds)
            .map(|allocation| (allocation.name, address - allocation.address))
    }

    /// The launch's fault as the program's.
    pub(crate) fn failed(&self, fault: &Fault) -> Failure {
        failed(format!("running {} over {} {}", self.name, self.n, self.dtype), fault.to_string())
    }
}

fn failed(requested: String, obstacle: String) -> Failure {
    let remedy = "report it: the kernel or the simulator is wrong";
    warpfold::Error::Device { requested, obstacle, remedy }.into()
}

/// A program with the source lines of its module.
fn program(module: &Module) -> Result<Program, Failure> {
    let mut program = Program::load(&module.ptx())
        .map_err(|error| failed(format!("loading {}", module.name), error.to_string()))?;
    let lines = module.lines();
    program.locate(|line| lines.of(line));
    Ok(program)
}

/// The sources that lines may name.
fn files() -> Vec<(String, String)> {
    sources().iter().map(|s| (s.name.to_owned(), s.text.to_owned())).collect()
}

/// Says what there is, and the nearest name.
fn unknown(name: &str) -> Failure {
    let folds: Vec<&str> = DeviceFold::ALL.iter().map(|fold| fold.name()).collect();
    let rungs: Vec<&str> = ladder::rungs().iter().map(|rung| &*rung.name).collect();
    let bare = name.rsplit_once('_').map_or(name, |(fold, _)| fold);
    let distance = |known: &&&str| {
        let to = |text: &str| strsim::osa_distance(known, text);
        let numbered = known.split_once('_').map(|(_, rest)| strsim::osa_distance(rest, name));
        to(name).min(to(bare)).min(numbered.unwrap_or(usize::MAX))
    };
    let ways = batched::names();
    let nearest =
        folds.iter().chain(&rungs).chain(&ways).min_by_key(distance).expect("there are kernels");
    Failure::Usage(format!(
        "no kernel is called {name:?}; did you mean {nearest:?}? There are {}, each alone or with an element type, as in sum_f32, for many reductions at once {}, and the rungs of the ladder, {}",
        folds.join(", "),
        ways.join(", "),
        rungs.join(", ")
    ))
}

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

/// Bytes of the largest array that is explained.
const MOST_BYTES: u64 = 64 << 20;
