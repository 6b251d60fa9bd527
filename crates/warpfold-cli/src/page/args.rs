//! What `warpfold report` takes.

use std::path::PathBuf;

use clap::Args;
use warpfold::DType;
use warpfold_ladder::model::Device as Gpu;

use crate::args::{choice, count};
use crate::device::Device;

/// A report as asked for on the command line.
#[derive(Debug, Args)]
pub(crate) struct Page {
    /// The page to write
    #[arg(long, value_name = "FILE.html", default_value = "report.html")]
    pub(crate) out: PathBuf,

    /// Make the page from these files, as ladder, replay, sweep, roofline and report write them, and measure nothing
    #[arg(long, value_name = "FILE.json", num_args = 1.., conflicts_with_all = ["n", "dtype", "device"])]
    pub(crate) from: Vec<PathBuf>,

    /// Elements of the ladder [default: 2^25; in the simulator 2^14]
    #[arg(long, value_name = "N", value_parser = count::parse)]
    pub(crate) n: Option<u64>,

    /// Element type of the ladder [default: f32]
    #[arg(long = "type", value_name = "T", value_parser = choice::ladder_dtype())]
    pub(crate) dtype: Option<DType>,

    /// Where to run: auto (a GPU if there is one, else the simulator), cuda, cuda:N or simt [default: auto]
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: Option<Device>,

    /// Predict too how long everything takes on a GPU that is not here: g80, rtx3070, rtx3090, rtx4090, a100, h100 or h200
    #[arg(long, value_name = "GPU", value_parser = crate::predict::device)]
    pub(crate) predict: Option<&'static Gpu>,

    /// Write everything that the page is made from to a file too
    #[arg(long, value_name = "FILE.json")]
    pub(crate) export: Option<PathBuf>,
}
