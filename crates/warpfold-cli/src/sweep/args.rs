//! What `warpfold sweep` takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use warpfold::{DType, Op};
use warpfold_lab::cuda::report::Temperature;
use warpfold_ladder::Rung;
use warpfold_ladder::model::Device as Gpu;
use warpfold_ladder::sweep::Over;

use crate::args::{choice, count};
use crate::device::Device;
use crate::sheet::Format;

/// A sweep as asked for on the command line.
#[derive(Debug, Args)]
pub(crate) struct Sweep {
    /// What varies
    pub(crate) over: What,

    /// A rung, by its name or number; may be given several times [default: some that differ]
    #[arg(long = "rung", value_name = "NAME", value_parser = warpfold_ladder::find)]
    pub(crate) rungs: Vec<&'static Rung>,

    /// Elements, the most of them for a sweep over sizes [default: 2^25, over sizes 2^28; in the simulator 2^13, 2^16]
    #[arg(long, value_name = "N", value_parser = count::parse)]
    pub(crate) n: Option<u64>,

    /// Element type [default: f32]
    #[arg(long = "type", value_name = "T", value_parser = choice::ladder_dtype(), default_value = "f32")]
    pub(crate) dtype: DType,

    /// Operation
    #[arg(long, value_name = "OP", value_parser = choice::ladder_op(), default_value = "sum")]
    pub(crate) op: Op,

    /// Threads of a block: whole warps
    #[arg(long, value_name = "B", default_value = "256")]
    pub(crate) block: u32,

    /// Runs that are timed at each place; as many as fit in a fifth of a second, and 100 at most, unless given
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) runs: Option<u32>,

    /// Where to run: auto (a GPU if there is one, else the simulator), cpu, cuda, cuda:N or simt
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    pub(crate) device: Device,

    /// Only arrays that no cache holds [default: both]
    #[arg(long, conflicts_with = "hot")]
    pub(crate) cold: bool,

    /// Only arrays that the cache holds
    #[arg(long)]
    pub(crate) hot: bool,

    /// Seed of the arrays
    #[arg(long, value_name = "S", default_value = "1")]
    pub(crate) seed: u64,

    /// Run nothing: predict the times of a GPU that is not here, from counts: g80, rtx3070, rtx3090, rtx4090, a100, h100 or h200
    #[arg(long, value_name = "GPU", value_parser = crate::predict::device, conflicts_with_all = ["runs", "device", "export"])]
    pub(crate) predict: Option<&'static Gpu>,

    /// Write what was found to a file too: .json, .csv or .svg, a chart; may be given several times
    #[arg(long, value_name = "FILE", value_parser = Export::of)]
    pub(crate) export: Vec<Export>,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

impl Sweep {
    /// Where arrays are to be.
    pub(crate) fn temperatures(&self) -> Vec<Temperature> {
        let all = [(Temperature::Cold, !self.hot), (Temperature::Hot, !self.cold)];
        all.into_iter().filter(|(_, wanted)| *wanted).map(|(temperature, _)| temperature).collect()
    }
}

/// What varies, as asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    /// Threads of a block: 32 to 1024
    Block,
    /// Elements: powers of two up to --n
    Size,
    /// Element types: the ladder's six
    Type,
    /// Elements a thread: the rung's own, or what the grid leaves each thread to do
    Items,
}

impl From<What> for Over {
    fn from(what: What) -> Over {
        match what {
            What::Block => Over::Block,
            What::Size => Over::Size,
            What::Type => Over::Type,
            What::Items => Over::Items,
        }
    }
}

/// A file to write, and what its name says it is to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Export {
    pub(crate) path: PathBuf,
    pub(crate) kind: ExportFormat,
}

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExportFormat {
    Json,
    Csv,
    Svg,
}

impl Export {
    /// Reads the extension of a path.
    pub(crate) fn of(text: &str) -> Result<Export, String> {
        let path = PathBuf::from(text);
        let kind = match crate::input::extension(&path).as_str() {
            "json" => ExportFormat::Json,
            "csv" => ExportFormat::Csv,
            "svg" => ExportFormat::Svg,
            _ => {
                return Err(
                    "the name must end in .json, .csv or .svg, which says what to write".into()
                );
            }
        };
        Ok(Export { path, kind })
    }
}
