//! What `warpfold explain` takes.

use clap::{Args, ValueEnum};
use warpfold::{DType, Op};
use warpfold_ladder::model::Device as Gpu;

use crate::args::{choice, count};

/// An explanation as asked for on the command line.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The kernel: sum, min, argmax, moments, … or by its full name, such as sum_f32_skip_nan; of many reductions at once segments, rows, columns, strided, scatter; map, of an expression; operator, of a file; or a rung of the ladder: 06_interleaved
    pub(crate) kernel: String,

    /// The expression that map is of, such as 'abs(x - y)', or the TOML file that operator is of: their names are random arrays
    pub(crate) expression: Option<String>,

    /// Elements of the array, which are random
    #[arg(long, value_name = "N", value_parser = count::parse, default_value = "1000")]
    pub(crate) n: u64,

    /// Threads of a block: whole warps [default: 128, or as many as the kernel takes]
    #[arg(long, value_name = "B")]
    pub(crate) block: Option<u32>,

    /// Operation of a rung, of many reductions at once, or of map [default: sum]
    #[arg(long, value_name = "OP", value_parser = choice::ladder_op())]
    pub(crate) op: Option<Op>,

    /// Blocks; as many as give each thread 16 bytes, and 8 at most, unless given
    #[arg(long, value_name = "G", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub(crate) grid: Option<u32>,

    /// Element type [default: that of the kernel's full name, else f32]
    #[arg(long = "type", value_name = "T", value_parser = choice::dtype())]
    pub(crate) dtype: Option<DType>,

    /// Compute capability times ten, which decides the build of the kernel
    #[arg(long, value_name = "C", default_value = "90")]
    pub(crate) compute: u32,

    /// The GPU whose time a rung's next step is predicted for: g80, rtx3070, rtx3090, rtx4090, a100, h100 or h200
    #[arg(long, value_name = "GPU", value_parser = crate::predict::device, default_value = "h200")]
    pub(crate) predict: &'static Gpu,

    /// Schedule of blocks and warps: the same seed gives the same run
    #[arg(long, value_name = "S", default_value = "0")]
    pub(crate) seed: u64,

    /// How to print the explanation
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

impl Explain {
    /// Threads of a block.
    pub(crate) fn threads(&self) -> u32 {
        self.block.unwrap_or(128)
    }
}

/// How to print an explanation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Verdicts, steps and the annotated source, for a terminal
    Text,
    /// All of it as one object
    Json,
    /// One page that needs nothing else: to be played step by step in a browser
    Html,
}
