//! What a reduction is asked with on the command line, and the values of options that other commands take as well.

pub(crate) mod block;
pub(crate) mod choice;
mod columns;
pub(crate) mod count;
pub(crate) mod elsewhere;
mod launcher;
mod maps;
mod measures;
mod parts;
mod plot;
mod written;

pub(crate) use launcher::Launcher;
pub(crate) use maps::Maps;
pub(crate) use measures::{Bench, BenchCuda, BenchSegments, BenchTarget, FirstUses, Tune};
pub(crate) use parts::{Empty, Parts};
pub(crate) use plot::Plot;
pub(crate) use written::Written;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use warpfold::partial::Finish;
use warpfold::{Accuracy, DType, Nan, Op, Overflow, Policy};

use crate::Failure;
use crate::device::Device;
use crate::format::{FileFormat, Format};
use crate::input::text::Column;
use crate::input::{Distribution, InputFormat};
use crate::tuning::Source;

/// A reduction as asked for on the command line.
#[derive(Debug, Args)]
pub(crate) struct Reduction {
    /// What to compute
    #[arg(value_name = "REDUCTION", value_parser = choice::op(), required = true)]
    op: Option<Op>,

    /// Files (.npy, .csv, .tsv, .txt; .parquet, .arrow, .feather where built to read them; any other name is raw elements), or - for
    /// standard input
    #[arg(value_name = "INPUT", required_unless_present = "random")]
    pub(crate) inputs: Vec<PathBuf>,

    /// Whether only a file was named.
    #[arg(skip)]
    pub(crate) is_overview: bool,

    /// How to read the inputs, whatever their names
    #[arg(long, value_name = "KIND", help_heading = "Input")]
    pub(crate) input: Option<InputFormat>,

    /// Element type of raw input (required), text (f64 unless given) and random numbers (f32 unless given)
    #[arg(long, value_name = "T", value_parser = choice::dtype(), help_heading = "Input")]
    pub(crate) dtype: Option<DType>,

    /// Column of text or of Parquet and Arrow files, array of an .npz file or field of records in a .npy file, by name or by number from 1; of text all cells count without it. Repeat it for a table of
    /// several columns; '*' takes all numeric ones
    #[arg(long, value_name = "NAME|INDEX", allow_negative_numbers = true, help_heading = "Input")]
    pub(crate) column: Vec<Column>,

    /// Reduce N random numbers (1e8 is understood) in place of inputs; two arrays of them for dot
    #[arg(long, value_name = "N", value_parser = count::parse, conflicts_with_all = ["inputs", "input", "column"], help_heading = "Input")]
    random: Option<u64>,

    /// How the random numbers are spread [default: uniform]
    #[arg(long, value_name = "DIST", help_heading = "Input")]
    dist: Option<Distribution>,

    /// Seed of the random numbers: the same seed gives the same numbers everywhere [default: 0]
    #[arg(long, value_name = "S", help_heading = "Input")]
    seed: Option<u64>,

    #[command(flatten)]
    pub(crate) written: Written,

    #[command(flatten)]
    pub(crate) maps: Maps,

    #[command(flatten)]
    pub(crate) parts: Parts,

    /// Round the exact result to this float type, where the reduction rounds one
    #[arg(long = "as", value_name = "T", value_parser = choice::float(), help_heading = "Result")]
    round_to: Option<DType>,

    /// How float sums are computed
    #[arg(long, value_name = "HOW", value_parser = choice::accuracy(), default_value = "exact", help_heading = "Result")]
    pub(crate) accuracy: Accuracy,

    /// What a NaN in the input does
    #[arg(long, value_name = "HOW", value_parser = choice::nan(), default_value = "propagate", help_heading = "Result")]
    pub(crate) nan: Nan,

    /// What an integer result too large for 64 bits does
    #[arg(long, value_name = "HOW", value_parser = choice::overflow(), default_value = "error", help_heading = "Result")]
    pub(crate) overflow: Overflow,

    /// Delta degrees of freedom of var and std: divide by n - K
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = ddof, help_heading = "Result")]
    ddof: Option<u64>,

    /// How to print the result [default: text; of many results with --out, one line that says where they are]
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    pub(crate) format: Option<Format>,

    /// Print all of many results as text on a terminal, which else shows the first and the last
    #[arg(long, help_heading = "Output")]
    pub(crate) full: bool,

    /// Write the result to a file too (.npy, .json or .csv, .parquet or .arrow where built to; many results also .npz), which is replaced as a whole or not at all
    #[arg(long, value_name = "FILE", value_parser = FileFormat::of, help_heading = "Output")]
    pub(crate) out: Option<(PathBuf, FileFormat)>,

    /// Draw many results: in the terminal, or as an SVG file
    #[arg(long, value_name = "FILE.svg", value_parser = Plot::of, num_args = 0..=1, require_equals = true, default_missing_value = "", help_heading = "Output")]
    pub(crate) plot: Option<Plot>,

    /// Show no progress bar
    #[arg(long, help_heading = "Output")]
    no_progress: bool,

    /// Print inputs, plan and time on standard error
    #[arg(long, short, help_heading = "Output")]
    verbose: bool,

    /// Threads at most; all that the machine has unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096), help_heading = "Machine")]
    threads: Option<u64>,

    /// Where to compute: auto (the faster way to the data), cpu, cuda, cuda:N for the GPU of a number, or simt for the GPU's kernels
    /// in a simulator: slow, every access checked
    #[arg(long, value_name = "DEVICE", default_value = "auto", help_heading = "Machine")]
    pub(crate) device: Device,

    /// Share the inputs out among all processes that mpirun, torchrun or srun started: the same bits at any number of them; rank 0 prints.
    /// By MPI, by TCP (with WARPFOLD_TOKEN), or by what the launcher has
    #[arg(long, value_name = "BY", num_args = 0..=1, require_equals = true, default_missing_value = "auto", help_heading = "Machine")]
    pub(crate) world: Option<Launcher>,

    /// What `warpfold tune` measured: another file than the user's own, or none
    #[arg(long, value_name = "FILE|none", help_heading = "Machine")]
    tuning: Option<PathBuf>,
}

/// Whether to show a progress bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgressBar {
    /// On a terminal, for work over a second.
    Auto,
    /// Never.
    Off,
}

/// How much to tell on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verbosity {
    /// Errors only.
    Quiet,
    /// Inputs, plan and time.
    Verbose,
}

impl Reduction {
    /// The reduction asked for.
    pub(crate) fn op(&self) -> Op {
        self.op.expect("clap requires it")
    }

    /// How a partial is to be read.
    pub(crate) fn finish(&self) -> Result<Finish, Failure> {
        let (ddof, round_to) = (self.ddof()?, self.round_to()?);
        Ok(Finish { ddof, overflow: self.overflow, round_to })
    }

    /// The choices of the contract.
    pub(crate) fn policy(&self) -> Policy {
        let Reduction { accuracy, nan, overflow, .. } = *self;
        Policy { accuracy, nan, overflow, threads: self.threads(), ..Policy::default() }
    }

    /// The float type to round to, if the reduction has a rounded result.
    fn round_to(&self) -> Result<Option<DType>, Failure> {
        match (self.round_to, self.op().is_rounded()) {
            (Some(to), false) => Err(Failure::Usage(format!(
                "--as {to} chooses what a result is rounded to, and {} rounds none; {} take it",
                self.op(),
                ops(Op::is_rounded)
            ))),
            (to, _) => Ok(to),
        }
    }

    /// The delta degrees of freedom, if the reduction has any.
    fn ddof(&self) -> Result<u64, Failure> {
        match (self.ddof, has_ddof(self.op())) {
            (Some(ddof), false) => Err(Failure::Usage(format!(
                "--ddof {ddof} does not apply to {}; {} take it",
                self.op(),
                ops(has_ddof)
            ))),
            (ddof, _) => Ok(ddof.unwrap_or(0)),
        }
    }

    /// Fails where what `--empty` asks for is no index.
    pub(crate) fn check_stand_in(&self) -> Result<(), Failure> {
        match (self.parts.empty, self.op()) {
            (Empty::Nan, op @ (Op::ArgMin | Op::ArgMax)) => Err(Failure::Usage(format!(
                "--empty nan is for results that are floats, and those of {op} are indices; take --empty none"
            ))),
            _ => Ok(()),
        }
    }

    /// Fails where nothing would be there to stand beside what `--empty` stands for.
    pub(crate) fn check_empty(&self) -> Result<(), Failure> {
        match self.parts.empty != Empty::Error && !self.parts.any() && !self.is_table() {
            false => Ok(()),
            true => Err(Failure::Usage(
                "--empty says what stands for one of many results that does not exist, and a single one that does not is an error; leave --empty out, or ask for axes, segments, groups or several columns".into(),
            )),
        }
    }

    /// Fails where the value of `--world` was taken for an input, as it stands behind a blank.
    pub(crate) fn check_world(&self) -> Result<(), Failure> {
        let is_value = |path: &&PathBuf| {
            let text = path.to_str().unwrap_or_default();
            Launcher::from_str(text, false).is_ok() && !path.exists()
        };
        match self.inputs.iter().find(is_value).filter(|_| self.world.is_some()) {
            None => Ok(()),
            Some(value) => Err(Failure::Usage(format!(
                "there is no file {0}, and --world takes a value behind an equals sign; say --world={0}",
                value.display()
            ))),
        }
    }

    /// How the random numbers are made: their number, spread and seed.
    pub(crate) fn random(&self) -> Result<Option<(u64, Distribution, u64)>, Failure> {
        let spread = self.dist.unwrap_or_default();
        match (self.random, self.dist, self.seed) {
            (Some(n), _, seed) => Ok(Some((n, spread, seed.unwrap_or(0)))),
            (None, None, None) => Ok(None),
            // clap's own `requires` is silent where the required option conflicts with what is there.
            (None, ..) => Err(Failure::Usage(
                "--dist and --seed are for random numbers; add --random N or leave them out".into(),
            )),
        }
    }

    /// Where to read what was measured on this machine.
    pub(crate) fn tuning(&self) -> Source {
        Source::of(self.tuning.as_deref())
    }

    /// The limit on threads.
    pub(crate) fn threads(&self) -> Option<usize> {
        self.threads.map(|threads| threads as usize)
    }

    pub(crate) fn progress(&self) -> ProgressBar {
        if self.no_progress { ProgressBar::Off } else { ProgressBar::Auto }
    }

    pub(crate) fn verbosity(&self) -> Verbosity {
        if self.verbose { Verbosity::Verbose } else { Verbosity::Quiet }
    }
}

/// Parses delta degrees of freedom.
fn ddof(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "it is a whole number from 0; 1 gives the variance of a sample".into())
}

fn has_ddof(op: Op) -> bool {
    op.is_spread() || op == Op::Stats
}

fn ops(is_one: fn(Op) -> bool) -> String {
    let names: Vec<_> = Op::ALL.iter().filter(|&&op| is_one(op)).map(|op| op.name()).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.join(""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_who_takes_an_option() {
        assert_eq!(ops(has_ddof), "var, std and stats");
    }
}
