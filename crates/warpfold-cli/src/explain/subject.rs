//! [`Subject`]: what is explained. Here, and only here, production kernels are looked up and given arrays.

use warpfold::DType;
use warpfold::kernel::{
    Arguments, Kernel, Launch as Production, RECORD_WORDS, WORKSPACE_HEADER, workspace_bytes,
};
use warpfold::plan::Fold;
use warpfold_kernels::sources;
use warpfold_simt::{Argument, Dimensions, Fault, Launch, Memory, Program};

use super::args::Explain;
use crate::Failure;
use crate::args::block::whole_warps;
use crate::input::{Distribution, Produce, Random};

/// PTX, its sources, memory and a launch over it.
pub(crate) struct Subject {
    /// What the kernel is called.
    pub(crate) name: String,
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
    /// The kernel that was asked for, with random arrays.
    ///
    /// # Errors
    /// [`Failure::Usage`]: there is no such kernel, or it cannot be launched so.
    pub(crate) fn of(asked: &Explain) -> Result<Subject, Failure> {
        let kernel = kernel(asked)?;
        whole_warps(asked.block, kernel.fold.most_threads(kernel.dtype), &kernel.entry())?;
        let module = kernel.module(asked.compute)?;
        let mut program = Program::load(&module.ptx())
            .map_err(|error| failed(format!("loading {}", module.name), error.to_string()))?;
        let lines = module.lines();
        program.locate(|line| lines.of(line));

        let mut memory = Memory::new();
        let mut places = Vec::new();
        let mut place = |name, buffer: warpfold_simt::Buffer| {
            places.push(Place { name, address: buffer.address(), bytes: buffer.bytes() });
            buffer.address()
        };
        let x = place("x", memory.upload_bytes(&random(kernel.dtype, asked.n, 0)?));
        let y = match kernel.fold {
            Fold::Dot | Fold::ExactDot => {
                place("y", memory.upload_bytes(&random(kernel.dtype, asked.n, 1)?))
            }
            _ => 0,
        };
        let packs = asked.n.saturating_mul(kernel.dtype.size() as u64).div_ceil(16);
        let grid = asked.grid.unwrap_or(packs.div_ceil(u64::from(asked.block)).clamp(1, 8) as u32);
        let workspace = memory.allocate(workspace_bytes(grid));
        let header = vec![0u8; WORKSPACE_HEADER as usize];
        memory.write(workspace, &header).expect("a workspace begins with its header");
        let arguments = Arguments {
            x,
            y,
            n: asked.n,
            workspace: place("workspace", workspace),
            record: place("record", memory.upload(&[0u64; RECORD_WORDS])),
            done: place("done", memory.upload(&[0u64])),
            stamp: 1,
            value: 0,
            options: 0,
        };
        let production = Production { kernel, grid, block: asked.block, arguments };
        let launch = Launch {
            kernel: kernel.entry(),
            grid: Dimensions::from(production.grid),
            block: Dimensions::from(production.block),
            shared_bytes: 0,
            arguments: arguments.words().into_iter().map(Argument::from).collect(),
        };
        let sources = sources().iter().map(|s| (s.name.to_owned(), s.text.to_owned())).collect();
        Ok(Subject {
            name: kernel.entry(),
            module: module.name.to_owned(),
            dtype: kernel.dtype,
            n: asked.n,
            program,
            launch,
            memory,
            places,
            sources,
        })
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
        failed(format!("running {} over {} {}", self.name, self.n, self.dtype), fault.to_string())
    }
}

fn failed(asked: String, obstacle: String) -> Failure {
    let remedy = "report it: the kernel or the simulator is wrong";
    warpfold::Error::Device { asked, obstacle, remedy }.into()
}

/// The kernel of that name: a fold, with the type beside it or in it.
fn kernel(asked: &Explain) -> Result<Kernel, Failure> {
    let (name, skips_nan) = match asked.kernel.strip_suffix("_skip_nan") {
        Some(name) => (name, true),
        None => (asked.kernel.as_str(), false),
    };
    // The names of exact folds hold an underscore themselves.
    let is_fold = Fold::ALL.iter().any(|fold| fold.name() == name);
    let (fold, named) = match name.rsplit_once('_') {
        Some((fold, dtype)) if !is_fold => (fold, Some(dtype)),
        _ => (name, None),
    };
    let fold = Fold::ALL.iter().copied().find(|f| f.name() == fold).ok_or_else(|| {
        let names: Vec<_> = Fold::ALL.iter().map(|fold| fold.name()).collect();
        let nearest = names.iter().min_by_key(|name| strsim::osa_distance(name, fold));
        Failure::Usage(format!(
            "no kernel is called {:?}; did you mean {:?}? There are {}, each alone or with an element type, as in sum_f32",
            asked.kernel,
            nearest.expect("there are kernels"),
            names.join(", ")
        ))
    })?;
    let dtype = match (named.map(str::parse::<DType>), asked.dtype) {
        (None, dtype) => dtype.unwrap_or(DType::F32),
        (Some(Ok(named)), None) => named,
        (Some(Ok(named)), Some(dtype)) if named == dtype => named,
        (Some(Ok(_)), Some(dtype)) => {
            let message = format!(
                "{} names its element type, and --type {dtype} is another; leave one out",
                asked.kernel
            );
            return Err(Failure::Usage(message));
        }
        (Some(Err(_)), _) => {
            let names: Vec<_> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
            let message = format!(
                "{} names no element type after the fold; there are {}",
                asked.kernel,
                names.join(", ")
            );
            return Err(Failure::Usage(message));
        }
    };
    if skips_nan && !dtype.is_float() {
        let message =
            format!("{} would skip NaNs, and {dtype} has none; leave _skip_nan out", asked.kernel);
        return Err(Failure::Usage(message));
    }
    Ok(Kernel { fold, dtype, skips_nan })
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
