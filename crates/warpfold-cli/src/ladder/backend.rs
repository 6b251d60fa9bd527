//! Where a climb takes place, and what it is asked for there.

use std::time::Duration;

use warpfold::{DType, Op};
use warpfold_lab::cuda::report::Temperature;
use warpfold_lab::machine::available_memory;
use warpfold_ladder::with_number;
use warpfold_ladder::{Case, Options, Runs, Simulator, Target};

use super::args::{Ladder, Step};
use super::gpu;
use crate::Failure;
use crate::args::block::whole_warps;
use crate::bench::read_peers;
use crate::device::{self, Device};

/// What rungs run on.
pub(crate) enum Backend {
    Cuda(device::cuda::Gpu),
    /// In the simulator; where no one asked for it, because of that.
    Simt {
        why: Option<String>,
    },
    Cpu,
}

impl Backend {
    /// What was asked for, or the best there is.
    pub(crate) fn of(args: Device) -> Result<Backend, Failure> {
        match args {
            Device::Cpu => Ok(Backend::Cpu),
            Device::Simt => Ok(Backend::Simt { why: None }),
            Device::Cuda(_) => device::open_gpu(args, None).map(Backend::Cuda),
            Device::Auto => {
                let opened = device::cuda::available().and_then(|()| device::cuda::open(0, None));
                Ok(match opened {
                    Ok(gpu) => Backend::Cuda(gpu),
                    Err(error) => Backend::Simt { why: Some(error.to_string()) },
                })
            }
        }
    }

    /// Elements, unless told.
    fn default_n(&self) -> u64 {
        match self {
            Backend::Cuda(_) | Backend::Cpu => 1 << 25,
            Backend::Simt { .. } => 1 << 16,
        }
    }

    /// Climbs.
    pub(super) fn climb(
        self,
        args: &Ladder,
        mut options: Options,
        observer: &mut dyn warpfold_ladder::Observer,
    ) -> Result<warpfold_ladder::Ladder, Failure> {
        let demonstrate =
            args.rungs.is_empty() || args.rungs.iter().any(|s| matches!(s, Step::Divergence));
        let dtype = options.case.dtype;
        match self {
            Backend::Cuda(gpu) => gpu::climb(&gpu, options, demonstrate, observer),
            Backend::Cpu => {
                check_cpu(&mut options)?;
                // The tree works in a copy.
                fits(
                    2 * array(options.case),
                    available_memory(),
                    options.case,
                    "on this computer",
                )?;
                options.method = Some("the monotonic clock around each call".to_owned());
                Ok(with_number!(dtype, T => warpfold_ladder::climb_cpu::<T>(&options, observer))?)
            }
            Backend::Simt { why } => {
                let mut target = Simulator::default();
                let needed = warpfold_ladder::bytes(&options, target.machine().facts());
                fits(needed, target.free()?, options.case, "in the simulator")?;
                tell(why.as_deref());
                let mut found = with_number!(dtype, T => warpfold_ladder::climb::<T, _>(&mut target, &options, observer))?;
                if demonstrate {
                    found.divergence =
                        Some(warpfold_ladder::divergence(&mut target, 1000, options.runs)?);
                }
                Ok(found)
            }
        }
    }
}

/// Leaves out what does not run without a GPU, unless it was all that was asked for.
fn check_cpu(options: &mut Options) -> Result<(), Failure> {
    let kernel = options.rungs.iter().find(|rung| rung.number().is_some());
    let kernel = kernel.map(|rung| rung.name);
    options.rungs.retain(|rung| rung.number().is_none());
    match (options.rungs.is_empty(), kernel) {
        (true, Some(name)) => Err(Failure::Usage(format!(
            "--device cpu does not run {name}, a kernel; take --device cuda or --device simt"
        ))),
        (true, None) => Err(Failure::Usage(
            "--device cpu does not run the demonstration, which is kernels; take --device cuda or --device simt".into(),
        )),
        _ => Ok(()),
    }
}

/// Says on standard error that the simulator stands in for a GPU, and why.
pub(crate) fn tell(why: Option<&str>) {
    if let Some(why) = why {
        crate::say!("warpfold: in the simulator, counted and not timed: {why}");
    }
}

/// Bytes of an array.
pub(super) fn array(case: Case) -> u128 {
    u128::from(case.n) * case.dtype.size() as u128
}

/// Whether so much memory is free.
pub(crate) fn fits(bytes: u128, free: u64, case: Case, backend: &str) -> Result<(), Failure> {
    if bytes <= free.into() {
        return Ok(());
    }
    let Case { n, dtype, .. } = case;
    let gibibytes = |bytes: u128| format!("{:.1} GiB", bytes as f64 / 2f64.powi(30));
    Err(Failure::Usage(format!(
        "--n {n} of {dtype} takes {} {backend}, and arrays may take {} ({} bytes) of the memory that is free; take fewer elements",
        gibibytes(bytes),
        gibibytes(free.into()),
        free
    )))
}

/// What was asked for, whole.
pub(super) fn options(args: &Ladder, backend: &Backend) -> Result<Options, Failure> {
    let op = args.op.unwrap_or(Op::Sum);
    let dtype = args.dtype.unwrap_or(DType::F32);
    warpfold_ladder::defined(op, dtype).map_err(Failure::Usage)?;
    let block = args.block.unwrap_or(256);
    whole_warps(block, warpfold_ladder::MOST_THREADS, "a block")?;
    let case = Case { op, dtype, n: args.n.unwrap_or_else(|| backend.default_n()), block };
    let rungs = match args.rungs.is_empty() {
        true => warpfold_ladder::rungs().iter().collect(),
        false => warpfold_ladder::rungs()
            .iter()
            .filter(|rung| {
                args.rungs
                    .iter()
                    .any(|step| matches!(step, Step::Rung(wanted) if wanted.name == rung.name))
            })
            .collect(),
    };
    let new = Options::new(case);
    Ok(Options {
        rungs,
        data: args.data.map_or(new.data, super::args::Contents::data),
        seed: args.seed,
        runs: args.runs.map_or(Runs::Within(Duration::from_secs(1), 100), Runs::Exactly),
        temperature: if args.hot { Temperature::Hot } else { Temperature::Cold },
        peers: args.peers.as_deref().map_or(Ok(Vec::new()), read_peers)?,
        revision: std::env::var("WARPFOLD_REVISION").ok(),
        ..new
    })
}
