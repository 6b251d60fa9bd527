//! The kernels that ship, by their folds.

use warpfold::DType;
use warpfold::kernel::{Arguments, FoldKernel, RECORD_WORDS, WORKSPACE_HEADER, workspace_bytes};
use warpfold::plan::DeviceFold;
use warpfold_ladder::model::reduction_of;
use warpfold_simt::{Argument, Dimensions, Launch, Memory};

use super::{NamedAllocation, Subject, files, program, random};
use crate::Failure;
use crate::args::block::whole_warps;
use crate::explain::args::Explain;
use crate::explain::timed::Timed;

/// A launch of a fold's kernel.
pub(super) fn subject(fold: DeviceFold, args: &Explain) -> Result<Subject, Failure> {
    if let Some(op) = args.op {
        let message = format!(
            "--op {op} is for rungs of the ladder; {} says itself what it computes",
            fold.name()
        );
        return Err(Failure::Usage(message));
    }
    let kernel = kernel(fold, args)?;
    let most = kernel.fold.most_threads(kernel.dtype);
    // A default is no larger than what the kernel takes.
    let threads = args.block.unwrap_or(args.threads().min(most));
    whole_warps(threads, most, &kernel.entry())?;
    let module = kernel.module(args.compute).map_err(|error| {
        let of_type = |&dtype: &DType| FoldKernel { dtype, ..kernel }.module(args.compute);
        let taken: Vec<_> = DType::ALL.iter().filter(|d| of_type(d).is_ok()).collect();
        match taken.is_empty() {
            true => error.into(),
            false => Failure::Usage(lacking(&kernel, &taken)),
        }
    })?;
    let mut memory = Memory::new();
    let mut allocations = Vec::new();
    let mut allocation = |name, buffer: warpfold_simt::Buffer| {
        allocations.push(NamedAllocation {
            name,
            address: buffer.address(),
            bytes: buffer.bytes(),
        });
        buffer.address()
    };
    let x = allocation("x", memory.upload_bytes(&random(kernel.dtype, args.n, 0)?));
    let y = match kernel.fold {
        DeviceFold::Dot | DeviceFold::ExactDot => {
            allocation("y", memory.upload_bytes(&random(kernel.dtype, args.n, 1)?))
        }
        _ => 0,
    };
    let vectors = args.n.saturating_mul(kernel.dtype.size() as u64).div_ceil(16);
    let grid = args.grid.unwrap_or(vectors.div_ceil(u64::from(threads)).clamp(1, 8) as u32);
    let workspace = memory.allocate(workspace_bytes(grid));
    let header = vec![0u8; WORKSPACE_HEADER as usize];
    memory.write(workspace, &header).expect("a workspace begins with its header");
    let arguments = Arguments {
        x,
        y,
        n: args.n,
        workspace: allocation("workspace", workspace),
        record: allocation("record", memory.upload(&[0u64; RECORD_WORDS])),
        done: allocation("done", memory.upload(&[0u64])),
        stamp: 1,
        value: 0,
        options: 0,
    };
    let launch = Launch {
        kernel: kernel.entry(),
        grid: Dimensions::from(grid),
        block: Dimensions::from(threads),
        shared_bytes: 0,
        arguments: arguments.words().into_iter().map(Argument::from).collect(),
    };
    let reduction = reduction_of(kernel.fold, kernel.dtype).filter(|_| !kernel.skips_nan);
    let timed = reduction.map(|(op, accuracy)| Timed::library(op, accuracy, kernel.dtype, args.n));
    Ok(Subject {
        name: kernel.entry(),
        note: String::new(),
        timed,
        module: module.name.to_owned(),
        dtype: kernel.dtype,
        n: args.n,
        program: program(&module)?,
        launch,
        memory,
        allocations,
        sources: files(),
    })
}

/// Says which element types a fold's kernels are for, and the exact fold of its name if that takes the one asked for.
fn lacking(kernel: &FoldKernel, taken: &[&DType]) -> String {
    let (name, dtype) = (kernel.fold.name(), kernel.dtype);
    let names: Vec<_> = taken.iter().map(|dtype| dtype.name()).collect();
    let exact =
        DeviceFold::ALL.iter().find(|fold| fold.name().strip_prefix("exact_") == Some(name));
    let instead = match exact {
        Some(fold) if dtype.is_float() => format!("; {} folds {dtype}", fold.name()),
        _ => String::new(),
    };
    format!("{name} folds no {dtype}; --type takes {}{instead}", names.join(", "))
}

/// The fold that a name begins with, if any does.
pub(super) fn find(name: &str) -> Option<DeviceFold> {
    let (fold, _) = parts(name);
    DeviceFold::ALL.iter().copied().find(|known| known.name() == fold)
}

/// A name's fold, and the element type after it.
fn parts(name: &str) -> (&str, Option<&str>) {
    let name = name.strip_suffix("_skip_nan").unwrap_or(name);
    // The names of exact folds hold an underscore themselves.
    let is_fold = DeviceFold::ALL.iter().any(|fold| fold.name() == name);
    match name.rsplit_once('_') {
        Some((fold, dtype)) if !is_fold => (fold, Some(dtype)),
        _ => (name, None),
    }
}

/// The kernel of a fold: the type is in the name or beside it.
fn kernel(fold: DeviceFold, args: &Explain) -> Result<FoldKernel, Failure> {
    let skips_nan = args.kernel.ends_with("_skip_nan");
    let (_, named) = parts(&args.kernel);
    let dtype = match (named.map(str::parse::<DType>), args.dtype) {
        (None, dtype) => dtype.unwrap_or(DType::F32),
        (Some(Ok(named)), None) => named,
        (Some(Ok(named)), Some(dtype)) if named == dtype => named,
        (Some(Ok(_)), Some(dtype)) => {
            let message = format!(
                "{} names its element type, and --type {dtype} is another; leave one out",
                args.kernel
            );
            return Err(Failure::Usage(message));
        }
        (Some(Err(_)), _) => {
            let names: Vec<_> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
            let message = format!(
                "{} names no element type after the fold; there are {}",
                args.kernel,
                names.join(", ")
            );
            return Err(Failure::Usage(message));
        }
    };
    if skips_nan && !dtype.is_float() {
        let message =
            format!("{} would skip NaNs, and {dtype} has none; leave _skip_nan out", args.kernel);
        return Err(Failure::Usage(message));
    }
    Ok(FoldKernel { fold, dtype, skips_nan })
}
