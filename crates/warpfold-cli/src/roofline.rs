//! `warpfold roofline`: what this device reads and adds at most, the bound that follows, and where each rung stands.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use warpfold::{DType, Op};
use warpfold_lab::cuda::report::Temperature;
use warpfold_lab::machine::Machine;
use warpfold_ladder::found::DeviceKind;
use warpfold_ladder::roofline::{self as lab, Roofline as Found};
use warpfold_ladder::{
    Case, LadderRequest, MOST_THREADS, Rung, Runs, Setting, Way, defined, find, natural_data, rungs,
};

use crate::args::block::whole_warps;
use crate::args::{choice, count};
use crate::bench::bar;
use crate::device::Device;
use crate::ladder::{Backend, fits};
use crate::sheet::{Format, Sheet, json};
use crate::{Failure, outfile, stage, streams};

/// A roofline as asked for on the command line.
#[derive(Debug, Args)]
pub(crate) struct Roofline {
    /// Elements
    #[arg(long, value_name = "N", value_parser = count::parse, default_value = "2^25")]
    n: u64,

    /// Element type
    #[arg(long = "type", value_name = "T", value_parser = choice::ladder_dtype(), default_value = "f32")]
    dtype: DType,

    /// Threads of a block: whole warps
    #[arg(long, value_name = "B", default_value = "256")]
    block: u32,

    /// A rung, by its name or number; may be given several times [default: all]
    #[arg(long = "rung", value_name = "NAME", value_parser = find)]
    rungs: Vec<&'static Rung>,

    /// Where to run: auto (a GPU if there is one, else the processor), cpu, cuda or cuda:N
    #[arg(long, value_name = "DEVICE", default_value = "auto")]
    device: Device,

    /// Write what was found to a JSON file too, for `warpfold report --from`
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,

    /// How to print it
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

/// Measures and prints.
pub(crate) fn roofline(args: &Roofline) -> Result<(), Failure> {
    let op = Op::Sum;
    defined(op, args.dtype).map_err(Failure::Usage)?;
    whole_warps(args.block, MOST_THREADS, "a block")?;
    if let Some(file) = &args.export {
        outfile::check(file)?;
    }
    let setting =
        Setting { revision: std::env::var("WARPFOLD_REVISION").ok(), ..Setting::default() };
    let mut stage = stage::open(clocked(args.device)?, &setting)?;
    let on_cpu = stage.device().kind == DeviceKind::Cpu;
    let case = Case { op, dtype: args.dtype, n: args.n, block: args.block };
    let bytes = 2 * u128::from(case.n) * case.dtype.size() as u128;
    fits(bytes, stage.free()?, case, "with what the rungs need")?;
    let all = || rungs().iter().filter(|rung| !on_cpu || !matches!(rung.way, Way::Kernel(_)));
    let request = LadderRequest {
        case,
        rungs: if args.rungs.is_empty() { all().collect() } else { args.rungs.clone() },
        data: natural_data(op, case.dtype),
        runs: Runs::Within(Duration::from_millis(500), 100),
        temperature: Temperature::Cold,
        grid: None,
    };
    let bar = bar();
    let found =
        lab::roofline(stage.as_mut(), &request, &mut |what| bar.set_message(what.to_owned()));
    bar.finish_and_clear();
    let found = found?.expect("a device with a clock was asked for");
    if let Some(file) = &args.export {
        outfile::replace(file, json(&found).as_bytes())?;
    }
    streams::print(args.format.print(&[sheet(&found)], &found).as_bytes())
}

/// The device, unless it is one whose time says nothing.
fn clocked(args: Device) -> Result<Device, Failure> {
    match args {
        Device::Simt => Err(Failure::Usage(
            "--device simt counts, and how long it takes says nothing; take --device cuda or --device cpu".into(),
        )),
        Device::Auto => Ok(match Backend::of(Device::Auto)? {
            Backend::Cuda(_) => Device::Cuda(0),
            Backend::Simt { why } => {
                if let Some(why) = why {
                    crate::say!("warpfold: of the processor: {why}");
                }
                Device::Cpu
            }
            Backend::Cpu => Device::Cpu,
        }),
        other => Ok(other),
    }
}

/// The limits, and the rungs beneath them.
pub(crate) fn sheet(found: &Found) -> Sheet {
    let n = if found.n.is_power_of_two() {
        format!("2^{}", found.n.ilog2())
    } else {
        found.n.to_string()
    };
    let mut sheet = Sheet::new(
        format!("Roofline of {}: sum of {n} {}", found.device.name, found.dtype),
        ["rung", "µs", "GB/s", "of the bound", "verified"],
    );
    let (bound, by) = found.bound(found.n);
    let mut above = vec![
        format!(
            "reading    {:.1} GB/s ({}): {:.2} µs",
            found.read.bytes_per_second / 1e9,
            found.read.how,
            found.reading(found.n)
        ),
        format!(
            "adding     {:.1} · 10⁹ additions a second ({}): {:.2} µs",
            found.adds_per_second / 1e9,
            found.adds_how,
            found.adding(found.n)
        ),
    ];
    above.extend(
        found.launch.map(|launch| format!("launching  {launch:.2} µs, a kernel that does nothing")),
    );
    above.push(format!(
        "bound      {bound:.2} µs, by {}; reading and adding would take equally long at {:.1} additions a byte, and a sum does {:.2}",
        by.name(),
        found.ridge(),
        1.0 / found.dtype.size() as f64
    ));
    if found.device.kind == DeviceKind::Cpu && Machine::here().profile != "release" {
        sheet.below.push(
            "this program was built without optimisation: what it measures of the processor is of no use".into(),
        );
    }
    sheet.above = vec![above.join("\n")];
    for row in &found.ladder.rungs {
        let time = row.time.map(|time| time.median);
        // A rung that folds less than was asked for has a bound of its own.
        let (bound, _) = found.bound(row.n);
        sheet.line([
            row.name.clone(),
            time.map_or_else(String::new, |time| format!("{time:.2}")),
            row.bytes_per_second.map_or_else(String::new, |rate| format!("{:.1}", rate / 1e9)),
            time.map_or_else(String::new, |time| format!("{:.1} %", 100.0 * bound / time)),
            match (row.verified, &row.obstacle) {
                (Some(true), _) => "yes".to_owned(),
                (Some(false), _) => "NO".to_owned(),
                (None, obstacle) => obstacle.clone().unwrap_or_default(),
            },
        ]);
    }
    sheet
}
