//! The command line, declared once: help, completions and the man page come from here too.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use warpfold::Op;

use crate::args::{
    Bench, BenchCuda, BenchSegments, BenchTarget, FirstUses, Reduction, Tune, elsewhere,
};
use crate::device::ListFormat;
use crate::explain::Explain;
use crate::input::InputFormat;
use crate::input::text::Column;
use crate::ladder::Ladder;
use crate::page::Page;
use crate::replay::Replay;
use crate::roofline::Roofline;
use crate::sweep::Sweep;
use crate::{Failure, arrays, data, overview};

const ABOUT: &str = "Reduces arrays to correctly rounded, reproducible numbers: one, or one for each row, segment or key";

const EXAMPLES: &str = "\
Examples:
  warpfold data.csv                         statistics of every column of a file
  warpfold sum x.npy                        the correctly rounded sum of a NumPy array
  warpfold mean a.npy b.npy                 several files are one array
  warpfold var --ddof 1 data.csv --column price
  warpfold argmax x.f32 --dtype f32         raw little-endian elements
  seq 1000000 | warpfold sum - --input text --dtype i64
  warpfold dot x.npy y.npy --as f64 --format json
  warpfold stats --random 1e8 --dist normal --verbose
  warpfold mean x.npy --axis 0 --out m.npy  the mean of each column, and of all others over axis 0
  warpfold sum values.npy --by keys.npy --out groups.npz
  warpfold max x.npy --with y=y.npy --map 'abs(x - y)'
  warpfold sum sales.csv --map 'price * qty' --where 'qty > 3'
  warpfold max x.npy --segments offsets.npy one result a segment
  warpfold argmax x.npy --device cuda       on an NVIDIA GPU
  warpfold ladder --type i32 --op max       the kernels that lead there, one by one

Exit codes: 0 a result, 1 bad data, 2 bad usage or no such device, 130 or 143 ended by
SIGINT (Ctrl-C) or SIGTERM.";

/// What the process is asked to do.
pub(crate) enum Invocation {
    /// Reduce.
    Reduction(Box<Reduction>),
    /// Print something about itself.
    Text(Vec<u8>),
    /// Measure the processor.
    Bench(Bench),
    /// Measure a GPU.
    BenchCuda(BenchCuda),
    /// Measure segments, axes and keys.
    BenchSegments(BenchSegments),
    /// Measure first uses of kernels in this process.
    FirstUses(FirstUses),
    /// Find the best launches for a GPU.
    Tune(Tune),
    /// List the devices.
    Devices(ListFormat),
    /// Explain a kernel.
    Explain(Explain),
    /// Climb the ladder.
    Ladder(Ladder),
    /// Climb it at many places.
    Sweep(Sweep),
    /// Repeat a document's experiment.
    Replay(Replay),
    /// Measure a device's limits.
    Roofline(Roofline),
    /// Make a page of everything.
    Page(Page),
}

#[derive(Debug, Parser)]
#[command(
    name = "warpfold",
    version,
    about = ABOUT,
    long_about = None,
    after_help = EXAMPLES,
    max_term_width = 110,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
struct Cli {
    #[command(flatten)]
    reduction: Reduction,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, for man(1)
    Man,
    /// List what there is to compute on, and why a GPU cannot be used
    Devices {
        /// How to print the list
        #[arg(long, value_name = "FORMAT", default_value = "text")]
        format: ListFormat,
    },
    /// Measure how fast reductions run on this machine
    #[command(subcommand)]
    Bench(BenchTarget),
    /// Find the fastest launches for the GPU at hand, and keep them for --device cuda and auto
    Tune(Tune),
    /// Run a kernel in the simulator and tell what it does and costs, step by step
    Explain(Explain),
    /// Climb from one atomic an element to the read ceiling: every kernel that teaches, verified, timed or counted
    Ladder(Ladder),
    /// Rungs over many blocks, sizes, types, or elements a thread, as tables and charts
    Sweep(Sweep),
    /// A document's own experiment: its kernels, size, type and runs, its published figures beside this machine's
    Replay(Replay),
    /// What this device reads and adds at most, the bound that follows for a sum, and where each rung stands
    Roofline(Roofline),
    /// One page of everything: machine, ladder, charts, each rung explained, documents replayed; measured here or read from files
    Report(Page),
}

/// `warpfold help sum` as `warpfold sum --help`.
fn with_help_last(mut args: Vec<OsString>) -> Vec<OsString> {
    if let [_, help, op] = &args[..]
        && help == "help"
        && is_op(op)
    {
        args[1] = "--help".into();
        args.swap(1, 2);
    }
    args
}

/// Whether an argument names a reduction.
fn is_op(arg: &OsString) -> bool {
    Op::ALL.iter().any(|op| arg.eq_ignore_ascii_case(op.name()))
}

/// Reads the arguments of this process.
///
/// # Errors
/// [`Failure::Usage`], in one line. Help and version are printed here, and end the process with success.
pub(crate) fn parse() -> Result<Invocation, Failure> {
    let (args, is_overview) =
        overview::completed::<Cli>(with_help_last(std::env::args_os().collect()));
    let missing = overview::missing(&args);
    let is_reduction = args.get(1).is_some_and(is_op);
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) if !error.use_stderr() => {
            // Written here, so that a pipe closed early (`warpfold --help | head -1`) is met quietly.
            let text = shown(&error.render());
            return Ok(Invocation::Text(text.into_bytes()));
        }
        Err(error) => {
            let said = || one_line(&error.render().to_string());
            if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
                return Err(Failure::Usage(
                    "bench measures one of cpu, cuda and segments; see warpfold bench --help"
                        .into(),
                ));
            }
            let known = if is_reduction { elsewhere::option(&error) } else { None };
            return Err(Failure::Usage(missing.or(known).unwrap_or_else(said)));
        }
    };
    match cli.command {
        None => {
            let mut reduction = Box::new(cli.reduction);
            reduction.is_overview = is_overview;
            if reduction.input.is_none() && reduction.says_text() {
                reduction.input = Some(InputFormat::Text);
            }
            data::expand_patterns(&mut reduction)?;
            // Files of columns have several, and so have archives of arrays.
            let has_several = || data::takes(&reduction) || arrays::are_several(&reduction);
            if is_overview && reduction.column.is_empty() && has_several() {
                reduction.column.push(Column::Name("*".into()));
            }
            reduction.check_empty()?;
            reduction.check_world()?;
            Ok(Invocation::Reduction(reduction))
        }
        Some(Command::Bench(BenchTarget::Cpu(bench))) => Ok(Invocation::Bench(bench)),
        Some(Command::Bench(BenchTarget::Cuda(bench))) => Ok(Invocation::BenchCuda(bench)),
        Some(Command::Bench(BenchTarget::Segments(bench))) => Ok(Invocation::BenchSegments(bench)),
        Some(Command::Bench(BenchTarget::FirstUses(uses))) => Ok(Invocation::FirstUses(uses)),
        Some(Command::Tune(tune)) => Ok(Invocation::Tune(tune)),
        Some(Command::Devices { format }) => Ok(Invocation::Devices(format)),
        Some(Command::Explain(explain)) => Ok(Invocation::Explain(explain)),
        Some(Command::Ladder(ladder)) => Ok(Invocation::Ladder(ladder)),
        Some(Command::Sweep(sweep)) => Ok(Invocation::Sweep(sweep)),
        Some(Command::Replay(replay)) => Ok(Invocation::Replay(replay)),
        Some(Command::Roofline(roofline)) => Ok(Invocation::Roofline(roofline)),
        Some(Command::Report(page)) => Ok(Invocation::Page(page)),
        Some(Command::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "warpfold", &mut script);
            Ok(Invocation::Text(script))
        }
        Some(Command::Man) => {
            let mut page = Vec::new();
            let rendered = clap_mangen::Man::new(Cli::command()).render(&mut page);
            rendered.expect("a vector takes every byte");
            Ok(Invocation::Text(page))
        }
    }
}

/// Help with its colours, which the output stream strips where they are not wanted.
fn shown(text: &StyledStr) -> String {
    let mut text = text.ansi().to_string();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// clap's message in one line: what is wrong and its tips, without the usage summary.
fn one_line(message: &str) -> String {
    let lines = message.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let kept = lines.filter(|line| !line.is_empty() && !line.starts_with("For more information"));
    let mut text = String::new();
    for line in kept {
        let line = line.strip_prefix("error: ").unwrap_or(line);
        let separator = match text.as_str() {
            "" => "",
            _ if text.ends_with(':') => " ",
            _ => "; ",
        };
        text.push_str(separator);
        text.push_str(line);
    }
    text.push_str("; see warpfold --help");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_declaration_is_consistent() {
        Cli::command().debug_assert();
    }
}
