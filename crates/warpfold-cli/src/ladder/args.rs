//! What `warpfold ladder` takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use warpfold::{DType, Op};
use warpfold_lab::array::Data;
use warpfold_ladder::Rung;
use warpfold_ladder::model::Device as Gpu;

use crate::args::{choice, count};
use crate::device::Device;
use crate::sheet::Format;

/// A climb as asked for on the command line.
#[derive(Debug, Args)]
pub(crate) struct Ladder {
    /// Elements of the array [default: 2^25 on a GPU and the processor, 2^16 in the simulator]
    #[arg(long, value_name = "N", value_parser = count::parse)]
    pub(crate) n: Option<u64>,

    /// Element type [default: f32]
    #[arg(long = "type", value_name = "T", value_parser = choice::ladder_dtype())]
    pub(crate) dtype: Option<DType>,

    /// Operation [default: sum]
    #[arg(long, value_name = "OP", value_parser = choice::ladder_op())]
    pub(crate) op: Option<Op>,

    /// Threads of a block: whole warps [default: 256]
    #[arg(long, value_name = "B")]
    pub(crate) block: Option<u32>,

    /// Runs that are timed; as many as fit in a second, and 100 at most, unless given
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) runs: Option<u32>,

    /// Where to run: auto (a GPU if there is one, else the simulator), cpu, cuda, cuda:N or simt
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    pub(crate) device: Device,

    /// Only this rung, by its name or number, or `divergence` for the demonstration; may be given several times
    #[arg(long = "rung", value_name = "NAME", value_parser = step)]
    pub(crate) rungs: Vec<Step>,

    /// Time arrays that no cache holds: copies in rotation, more than the cache of the GPU takes [the default]
    #[arg(long, conflicts_with = "hot")]
    pub(crate) cold: bool,

    /// Time the same array again and again, from the cache if it fits
    #[arg(long)]
    pub(crate) hot: bool,

    /// What the array holds [default: natural; for integers and products factors, which neither vanish nor overflow]
    #[arg(long, value_name = "DATA")]
    pub(crate) data: Option<Contents>,

    /// Seed of the array, and of schedules and samples
    #[arg(long, value_name = "S", default_value = "1")]
    pub(crate) seed: u64,

    /// Other libraries' figures to stand beside, a JSON object a line, as bench/peers/cuda makes them
    #[arg(long, value_name = "FILE")]
    pub(crate) peers: Option<PathBuf>,

    /// Run nothing: predict the times of a GPU that is not here, from counts: g80, rtx3070, rtx3090, rtx4090, a100, h100 or h200
    #[arg(long, value_name = "GPU", value_parser = crate::predict::device, conflicts_with_all = ["verify_all", "peers", "data", "runs", "device"])]
    pub(crate) predict: Option<&'static Gpu>,

    /// Write what was found to a JSON file too
    #[arg(long, value_name = "FILE")]
    pub(crate) export: Option<PathBuf>,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,

    /// Time nothing, but verify every rung, operation, type, length and size of block; --n, --type, --op, --block and --rung narrow it
    #[arg(long)]
    pub(crate) verify_all: bool,

    /// Of these verify only so many, chosen by the seed
    #[arg(long, value_name = "COUNT", value_parser = count::parse, requires = "verify_all")]
    pub(crate) sample: Option<u64>,
}

/// Something to run: a rung, or the demonstration.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    Rung(&'static Rung),
    Divergence,
}

fn step(name: &str) -> Result<Step, String> {
    match name.eq_ignore_ascii_case("divergence") {
        true => Ok(Step::Divergence),
        false => {
            warpfold_ladder::find(name).map(Step::Rung).map_err(|error| error + ", and divergence")
        }
    }
}

/// What an array holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Contents {
    /// Normal floats; integers over their type, 64-bit ones over 38 bits
    Natural,
    /// Ones
    Ones,
    /// 0 to 255
    Bytes,
    /// Odd integers over their type; floats near one
    Factors,
}

impl Contents {
    pub(crate) fn data(self) -> Data {
        match self {
            Contents::Natural => Data::Natural,
            Contents::Ones => Data::Ones,
            Contents::Bytes => Data::Bytes,
            Contents::Factors => Data::Factors,
        }
    }
}
