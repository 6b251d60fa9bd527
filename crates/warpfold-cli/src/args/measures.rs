//! The commands that look at the machine: devices, bench, tune.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use warpfold::plan::Isa;
use warpfold::{DType, Op};
use warpfold_lab::Regex;

use super::{choice, count};
use crate::device::Device;
use crate::sheet::Format;

#[derive(Debug, Subcommand)]
pub(crate) enum BenchTarget {
    /// Every reduction and element type on the processor, beside the read ceiling of the same run
    Cpu(Bench),
    /// Every reduction and element type on an NVIDIA GPU, cold and hot, beside the read ceiling of the same run
    Cuda(BenchCuda),
    /// Reductions of segments, axes and groups, beside the flat ones on the processor; sums beside the read ceiling on an NVIDIA GPU
    Segments(BenchSegments),
    /// What the first use of a kernel costs in a process; for `bench cuda`, which starts it
    #[command(hide = true)]
    FirstUses(FirstUses),
}

/// A benchmark of a GPU as asked for on the command line.
#[derive(Debug, Args)]
pub(crate) struct BenchCuda {
    /// Write the report, with every figure and the device, to a JSON file
    #[arg(long, value_name = "FILE")]
    pub(crate) export: Option<PathBuf>,

    /// Measure only the rows whose name matches, such as sum/f32/fast/2GiB/cold
    #[arg(long, value_name = "REGEX", default_value = "")]
    pub(crate) filter: Regex,

    /// The GPU: cuda, or cuda:N for that of a number
    #[arg(long, value_name = "DEVICE", default_value = "cuda")]
    pub(crate) device: Device,

    /// Figures of another library in the same run, a JSON object a line, to be kept in the report
    #[arg(long, value_name = "FILE")]
    pub(crate) peers: Option<PathBuf>,
}

/// A benchmark of segments, axes and keys as asked for on the command line.
#[derive(Debug, Args)]
pub(crate) struct BenchSegments {
    /// cpu, or cuda or cuda:N for an NVIDIA GPU
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    pub(crate) device: Device,

    /// Elements of arrays of f32; those of other types have as many bytes [default: 2^26 on the processor, 2^28 on a GPU]
    #[arg(long, value_name = "N", value_parser = count::parse)]
    pub(crate) n: Option<u64>,

    /// Reductions, by names with commas between
    #[arg(long = "ops", value_name = "REDUCTIONS", value_delimiter = ',', value_parser = choice::op(), default_value = "sum")]
    pub(crate) ops: Vec<Op>,

    /// Element types, with commas between
    #[arg(long = "dtypes", value_name = "TYPES", value_delimiter = ',', value_parser = choice::dtype(), default_value = "f32")]
    pub(crate) dtypes: Vec<DType>,

    /// Milliseconds for which each row is timed, and the flat reduction beside it for as long; five calls at least [default: 300]
    #[arg(long, value_name = "MS")]
    pub(crate) time: Option<u64>,

    /// Kernels of this instruction set; the widest that the machine has unless given
    #[arg(long, value_name = "ISA", value_parser = choice::isa())]
    pub(crate) isa: Option<Isa>,

    /// Write results to memory that is used again and again, as sum_into and out= do, and not to new memory each time; leaves out minmax and stats
    #[arg(long)]
    pub(crate) into: bool,

    /// Write the report, with every figure and the machine, to a JSON file
    #[arg(long, value_name = "FILE")]
    pub(crate) export: Option<PathBuf>,

    /// Measure only the rows whose name matches, such as 'exact/every 16$'
    #[arg(long, value_name = "REGEX", default_value = "")]
    pub(crate) filter: Regex,

    /// Threads of the processor; all that the machine has unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub(crate) threads: Option<u64>,

    /// Figures of other libraries on the GPU in the same run, a JSON object a line, to be kept in the report
    #[arg(long, value_name = "FILE")]
    pub(crate) peers: Option<PathBuf>,

    /// How to print the rows
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

/// First uses as asked for by `bench cuda`.
#[derive(Debug, Args)]
pub(crate) struct FirstUses {
    /// The GPU
    #[arg(long, value_name = "DEVICE", default_value = "cuda")]
    pub(crate) device: Device,

    /// What the driver's cache is, in words
    #[arg(long, value_name = "TEXT", default_value = "as the driver has it")]
    pub(crate) cache: String,
}

/// Tuning as asked for on the command line.
#[derive(Debug, Args)]
pub(crate) struct Tune {
    /// The GPU: cuda, or cuda:N for that of a number
    #[arg(long, value_name = "DEVICE", default_value = "cuda")]
    pub(crate) device: Device,

    /// The tuning file to write, in place of the user's own
    #[arg(long, value_name = "FILE")]
    pub(crate) tuning: Option<PathBuf>,

    /// Write every launch that was tried, with its time, to a JSON file
    #[arg(long, value_name = "FILE")]
    pub(crate) export: Option<PathBuf>,
}

/// A benchmark as asked for on the command line.
#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// Write the report, with every figure and the machine, to a JSON file
    #[arg(long, value_name = "FILE")]
    pub(crate) export: Option<PathBuf>,

    /// Measure only the rows whose name matches, such as sum/f32/natural/256MiB
    #[arg(long, value_name = "REGEX", default_value = "")]
    pub(crate) filter: Regex,

    /// Threads; all that the machine has unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub(crate) threads: Option<u64>,

    /// Kernels of this instruction set; the widest that the machine has unless given
    #[arg(long, value_name = "ISA", value_parser = choice::isa())]
    pub(crate) isa: Option<Isa>,
}
