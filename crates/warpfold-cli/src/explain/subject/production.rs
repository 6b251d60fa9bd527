//! Production kernels as subjects: looked up by name, and given arrays.

use warpfold::DType;
use warpfold::kernel::{
    Arguments, Kernel, Launch as Production, RECORD_WORDS, WORKSPACE_HEADER, workspace_bytes,
};
use warpfold::plan::Fold;
use warpfold_simt::{Argument, Dimensions, Launch, Memory};

use super::{Place, Subject, random};
use crate::Failure;
use crate::explain::args::Explain;

/// The kernel that was asked for, with random arrays.
///
/// # Errors
/// [`Failure::Usage`]: there is no such kernel, or it cannot be launched so.
pub(super) fn subject(asked: &Explain) -> Result<Subject, Failure> {
    if let Some(op) = asked.op {
        let message = format!(
            "--op {op} is for the rungs of the ladder; {} is what it computes",
            asked.kernel
        );
        return Err(Failure::Usage(message));
    }
    let kernel = kernel(asked)?;
    let most = kernel.fold.most_threads(kernel.dtype);
    if asked.block > most {
        let message = format!("--block {}: {} takes at most {most}", asked.block, kernel.entry());
        return Err(Failure::Usage(message));
    }
    let module = kernel.module(asked.compute)?;
    let program = super::loaded(module)?;
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
    Ok(Subject {
        name: kernel.entry(),
        over: format!("{} {}", asked.n, kernel.dtype),
        module: module.name.to_owned(),
        dtype: kernel.dtype,
        n: asked.n,
        program,
        launch,
        memory,
        places,
        sources: super::all_sources(),
    })
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
        let rungs = warpfold_lab::ladder::rungs().iter().filter(|rung| rung.number().is_some());
        let rungs: Vec<_> = rungs.map(|rung| rung.name).collect();
        let folds = names.iter().map(|name| (strsim::osa_distance(name, fold), name));
        let steps = rungs.iter().map(|name| (strsim::osa_distance(name, &asked.kernel), name));
        let nearest = folds.chain(steps).min_by_key(|(distance, _)| *distance).map(|(_, name)| name);
        Failure::Usage(format!(
            "no kernel is called {:?}; did you mean {:?}? There are {}, each alone or with an element type, as in sum_f32; the rungs of \
             the ladder, {}; and horrific and good",
            asked.kernel,
            nearest.expect("there are kernels"),
            names.join(", "),
            rungs.join(", ")
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
