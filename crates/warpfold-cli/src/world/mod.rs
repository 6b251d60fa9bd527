//! `--world`: one reduction by all processes that a launcher started, each of which folds its share of the inputs.
//!
//! ```text
//! whole (ranges of elements; lines of texts) -> partials, merged -> report
//! mapped (the same of all inputs of an expression) -> partials of its results, merged -> report
//! batched  (axes, segments, keys)               -> results of whole outputs, partials of those that are cut -> table
//! columns  (row groups of Parquet, batches of Arrow) -> what was folded of each column, merged -> report, or table
//! alone (what is not shared out)             -> rank 0 does all of it, and the others end as it does
//! ```
//!
//! Every rank gets all partials, and rank 0 prints.

mod bar;
mod batched;
#[cfg(feature = "parquet")]
mod columns;
mod gpus;
mod lines;
mod mapped;
mod texts;
mod whole;

use warpfold::{DType, Op};
use warpfold_dist::{Agreement, Comm, Mpi, Nccl, Tcp, exchange};

use crate::args::{Launcher, Reduction, Verbosity};
use crate::device::{Device, cuda};
use crate::input::InputFormat;
use crate::input::text::{Column, Missing};
use crate::input::{Input, Name, Packing};
use crate::{Failure, data, opening, overview, run};
use bar::Bar;
use gpus::Gpus;

fn enter(launcher: Launcher, device: Device) -> Result<Box<dyn Comm>, Failure> {
    let is_set = |name: &&str| std::env::var_os(name).is_some();
    let mpi = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];
    Ok(match launcher {
        Launcher::Nccl => {
            let bootstrap = enter(Launcher::Auto, device)?;
            let ordinal = match device {
                Device::Cuda(number) if number > 0 => number,
                _ => local_rank(&*bootstrap),
            };
            Box::new(Gpus { nccl: Nccl::load(ordinal, &*bootstrap)?, met: bootstrap })
        }
        Launcher::Auto if is_set(&"WARPFOLD_RANK") => Box::new(Tcp::from_env()?),
        Launcher::Auto if mpi.iter().any(is_set) => Box::new(Mpi::load()?),
        Launcher::Auto | Launcher::Tcp => Box::new(Tcp::from_env()?),
        Launcher::Mpi => Box::new(Mpi::load()?),
    })
}

/// The number of this rank on its machine, as the launcher has it; else that in the world.
fn local_rank(comm: &dyn Comm) -> usize {
    ["OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "LOCAL_RANK", "SLURM_LOCALID"]
        .iter()
        .find_map(|name| std::env::var(name).ok()?.trim().parse().ok())
        .unwrap_or_else(|| comm.rank())
}

/// The device of this rank: `cuda` is the GPU of its number on its machine, from the first again where there are fewer.
fn device(args: &Reduction, comm: &dyn Comm) -> Result<Device, Failure> {
    Ok(match args.device {
        Device::Cuda(0) => {
            let gpus = cuda::count().map_err(Failure::NoDevice)?;
            Device::Cuda(local_rank(comm) % gpus.max(1))
        }
        // Each rank on the same machine would measure the same link, and take the same GPU.
        Device::Auto => Device::Cpu,
        other => other,
    })
}

/// Runs a reduction as one rank of many.
pub(crate) fn reduction(args: &Reduction) -> Result<(), Failure> {
    check(args)?;
    let comm = enter(args.world.unwrap_or(Launcher::Auto), args.device)?;
    let bar = Bar::agree(args, &*comm)?;
    if let Some(why) = not_shared(args) {
        return alone(args, &*comm, why);
    }
    #[cfg(feature = "parquet")]
    if data::takes(args) {
        return columns::reduction(args, &*comm);
    }
    match args.parts.any() {
        true if args.maps.any() => batched::of_expression(args, &*comm),
        true => batched::reduction(args, &*comm),
        false if args.maps.any() => mapped::reduction(args, &*comm, &bar),
        false => whole::reduction(args, &*comm, &bar),
    }
}

/// Fails for what makes no sense whatever the inputs hold.
fn check(args: &Reduction) -> Result<(), Failure> {
    let gives_indices = matches!(args.op(), Op::ArgMin | Op::ArgMax | Op::Stats);
    if gives_indices && skips(args) {
        return Err(Failure::Usage(
            "--world shares out inputs whose elements have indices, and not yet where --missing skip leaves rows out; leave one of them out".into(),
        ));
    }
    if let (Some((_, format)), false) = (&args.out, args.parts.any() || args.is_table()) {
        format.check_one()?;
    }
    args.finish().map(drop)
}

fn skips(args: &Reduction) -> bool {
    args.written.dialect(false).missing == Missing::Skip
}

/// Whether an input is a text, by its name or as the options say.
fn has_text(args: &Reduction) -> bool {
    let kind = |path: &std::path::PathBuf| {
        args.input.unwrap_or_else(|| InputFormat::of(&Name::of(path.clone())))
    };
    args.inputs.iter().any(|path| kind(path) == InputFormat::Text)
}

/// Whether an input is unpacked while it is read, so that nobody can begin in the middle of it.
fn has_packed(args: &Reduction) -> bool {
    args.inputs.iter().any(|path| Packing::of(&Name::of(path.clone())).is_some())
}

/// Whether an input is a file's array or field among others: no rank gets to its elements but through those before them.
fn has_members(args: &Reduction) -> bool {
    let is_member = |path: &std::path::PathBuf| {
        let name = Name::of(path.clone());
        args.input.unwrap_or_else(|| InputFormat::of(&name)) == InputFormat::Npy
            && (!args.column.is_empty() || crate::input::extension(path) == "npz")
    };
    args.inputs.iter().any(is_member)
}

/// What is not shared out, in a few words.
fn not_shared(args: &Reduction) -> Option<&'static str> {
    let (op, parts) = (args.op(), &args.parts);
    let is_on_cpu = args.device.is_processor();
    match () {
        () if data::takes(args) && args.maps.any() => {
            Some("expressions of columns of Parquet and Arrow files")
        }
        () if data::takes(args) => {
            parts.any().then_some("columns of Parquet and Arrow files by keys")
        }
        () if parts.any() && !args.maps.of.is_empty() => Some("several results of parts"),
        () if args.maps.operator.is_some() => Some("an operator of one's own"),
        () if args.inputs.iter().any(|path| path.as_os_str() == "-") => Some("standard input"),
        () if overview::takes(args) => Some("the statistics of every column"),
        () if !parts.any() && has_packed(args) => Some("packed files (.gz, .zst)"),
        () if !parts.any() && !args.maps.any() && has_members(args) => {
            Some("arrays of .npz files and fields of records")
        }
        () if op == Op::Dot && has_text(args) && !args.is_dot_of_columns() => {
            Some("dot of two texts")
        }
        () if is_on_cpu || !parts.any() => None,
        () if args.maps.any() => Some("an expression in parts on a GPU"),
        () if !parts.by.is_empty() && !parts.sorted => Some("an input by keys on a GPU"),
        () => None,
    }
}

/// What ranks have to agree on, whatever they find.
fn agreement(args: &Reduction, dtype: DType) -> Result<Agreement, Failure> {
    let finish = args.finish()?;
    let round_to = finish.round_to.map_or(String::new(), |to| format!("as {to}"));
    let ddof = if finish.ddof == 0 { String::new() } else { format!("ddof {}", finish.ddof) };
    let agreement = Agreement::new(args.op(), dtype).policy(&args.policy());
    Ok(agreement.and(&round_to).and(&ddof).and(&read(args)?))
}

/// What a rank reads, and how: the names of files without their folders, which may differ from one machine to another, columns, the options of text, and
/// random numbers.
fn read(args: &Reduction) -> Result<String, Failure> {
    let name = |path: &std::path::PathBuf| {
        path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
    };
    let mut all: Vec<String> = args.inputs.iter().map(name).collect();
    all.extend(args.column.iter().map(|column| match column {
        Column::Index(index) => format!("column {index}"),
        Column::Name(name) => format!("column {name:?}"),
    }));
    if args.written.any() {
        all.push(format!("{:?}", args.written.dialect(false)));
    }
    if let Some(random) = args.random()? {
        all.push(format!("random numbers {random:?}"));
    }
    Ok(all.join(" "))
}

/// Rank 0 does all of it.
fn alone(args: &Reduction, comm: &dyn Comm, what: &str) -> Result<(), Failure> {
    let text = agreement(args, args.dtype.unwrap_or(DType::F64))?.and(what).text().to_string();
    exchange(comm, &text, Ok(&[]))?;
    let outcome = match comm.rank() {
        0 => {
            if comm.size() > 1 {
                crate::say!("warpfold: --world does not share out {what}; rank 0 does all of it");
            }
            match () {
                () if data::takes(args) => data::reduction(args),
                () if overview::takes(args) => overview::reduction(args),
                () => run::reduction(args),
            }
        }
        _ => Ok(()),
    };
    let reported = outcome.as_ref().map(|()| &[][..]).map_err(ToString::to_string);
    let met = exchange(comm, &text, reported.as_ref().map(|bytes| *bytes).map_err(String::as_str));
    outcome?;
    met?;
    Ok(())
}

/// Opens the inputs; rank 0 looks at the result file too.
fn open(args: &Reduction, comm: &dyn Comm) -> Result<Vec<Input>, Failure> {
    if comm.rank() == 0 {
        opening::check_result_file(args)?;
    }
    opening::open(args)
}

/// Says what a rank takes, if that is asked for.
fn tell(args: &Reduction, comm: &dyn Comm, input: &Input, part: &str) {
    if args.verbosity() == Verbosity::Verbose {
        let (rank, size) = (comm.rank(), comm.size());
        crate::say!("rank {rank} of {size}: {}: {}; {part}", input.name(), input.describe());
    }
}

/// Why there is no merged result.
enum Merged {
    /// Between ranks.
    World(warpfold_dist::Error),
    /// All partials came, and have no result: every rank finds the same.
    Result(Failure),
}

impl From<warpfold_dist::Error> for Merged {
    fn from(error: warpfold_dist::Error) -> Merged {
        Merged::World(error)
    }
}

/// Whether a rank has met what another has: the same, or in another line of the same text.
fn is_alike(theirs: &str, own: &str) -> bool {
    let in_text = |told: &str| told.find(": line ").map(|at| told[..at].to_string());
    theirs.starts_with(own) || in_text(theirs).is_some() && in_text(theirs) == in_text(own)
}

/// What a rank ends with, from its own part and what became of all of them.
fn settle<M, F>(
    comm: &dyn Comm,
    merged: Result<M, Merged>,
    own: Result<F, Failure>,
) -> Result<(M, F), Failure> {
    match (merged, own) {
        (Ok(merged), Ok(own)) => Ok((merged, own)),
        // What another rank says is said once, as its part comes first.
        (Err(Merged::World(warpfold_dist::Error::Failed { rank, why })), Err(own))
            if rank < comm.rank() && is_alike(&why, &own.to_string()) =>
        {
            Err(Failure::Reported(own.exit_code()))
        }
        // A rank that failed tells its own story; the others name it.
        (Err(Merged::World(_)) | Ok(_), Err(own)) => Err(own),
        (Err(Merged::World(error)), Ok(_)) => Err(error.into()),
        (Err(Merged::Result(failure)), _) if comm.rank() == 0 => Err(failure),
        (Err(Merged::Result(failure)), _) => Err(Failure::Reported(failure.exit_code())),
    }
}
