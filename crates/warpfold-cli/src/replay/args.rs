//! What `warpfold replay` takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use warpfold_ladder::model::Device as Gpu;
use warpfold_ladder::replay::{Paper, paper};

use crate::device::Device;
use crate::sheet::Format;

/// A replay as asked for on the command line.
#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// The document
    pub(crate) document: Document,

    /// Where to run: auto (a GPU if there is one, else the simulator), cuda, cuda:N or simt
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    pub(crate) device: Device,

    /// Other libraries' figures of the same day, a JSON object a line, as bench/peers/cuda makes them
    #[arg(long, value_name = "FILE")]
    pub(crate) peers: Option<PathBuf>,

    /// Seed of the arrays
    #[arg(long, value_name = "S", default_value = "1")]
    pub(crate) seed: u64,

    /// Run nothing: predict the times of a GPU that is not here, from counts: g80, rtx3070, rtx3090, rtx4090, a100, h100 or h200
    #[arg(long, value_name = "GPU", value_parser = crate::predict::device, conflicts_with_all = ["peers", "device"])]
    pub(crate) predict: Option<&'static Gpu>,

    /// Write what was found to a JSON file too, for `warpfold report --from`
    #[arg(long, value_name = "FILE")]
    pub(crate) export: Option<PathBuf>,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
}

/// The documents that rungs come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Document {
    /// Embarrassingly Parallel Reduction in CUDA
    Blog,
    /// Reduction Kernels with Shared vs Global Memory
    Lesson,
    /// Parallel Reduce with CUDA
    Slides,
    /// GPU code optimizations and the tree reduction algorithm
    Thesis,
    /// FastCuda's Reduce Optimization Guide
    Guide,
    /// Optimizing Parallel Reduction in CUDA, 2007
    Harris,
}

impl Document {
    /// What it published.
    pub(crate) fn paper(self) -> &'static Paper {
        let name = match self {
            Document::Blog => "blog",
            Document::Lesson => "lesson",
            Document::Slides => "slides",
            Document::Thesis => "thesis",
            Document::Guide => "guide",
            Document::Harris => "harris",
        };
        paper(name).expect("every document is known")
    }
}
