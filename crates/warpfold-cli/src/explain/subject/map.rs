//! Kernels with the code of an expression in them.

use warpfold::kernel::{AnyBuffer, BatchedLaunch, Code, MapGrid, MapLaunches, Spliced};
use warpfold::map::{Expressions, Map};
use warpfold::simt::Device;
use warpfold::{DType, Op, Policy};
use warpfold_simt::{Argument, Dimensions, Launch, Program};

use super::{NamedAllocation, Subject, failed, files, random};
use crate::Failure;
use crate::args::block::whole_warps;
use crate::explain::args::Explain;

/// What it is asked for by.
pub(super) const NAME: &str = "map";

/// Threads that the largest of these kernels' blocks have.
const MOST_THREADS: u32 = 512;

/// The first launch of a reduction of an expression of random arrays.
pub(super) fn subject(text: &str, args: &Explain) -> Result<Subject, Failure> {
    let usage = |error: warpfold::Error| match error {
        error @ warpfold::Error::Map { .. } => Failure::Usage(error.to_string()),
        other => other.into(),
    };
    let dtype = args.dtype.unwrap_or(DType::F32);
    let (op, threads) = (args.op.unwrap_or(Op::Sum), args.threads());
    whole_warps(threads, MOST_THREADS, NAME)?;
    if args.n == 0 {
        return Err(Failure::Usage(
            "--n 0: there is nothing to launch for; take 1 at least".into(),
        ));
    }
    let expressions = Expressions::value(text).map_err(usage)?;
    let names: Vec<(&str, DType)> =
        expressions.names().into_iter().map(|name| (name, dtype)).collect();
    let map = Map::new(op, &expressions, &names, Policy::default()).map_err(usage)?;
    let device = Device::new();
    let buffers = random_arrays(&device, dtype, args.n, names.len())?;
    let views: Vec<_> = buffers.iter().map(AnyBuffer::view).collect();
    let blocks = args.n.div_ceil(4 * u64::from(threads)).clamp(1, 8) as u32;
    let grid = MapGrid { blocks: args.grid.unwrap_or(blocks), threads };
    let launches = MapLaunches::new(&device, &map, &views, Some(grid)).map_err(usage)?;
    let launch = launches.launches().first();
    let Some((launch, Code::Spliced(spliced))) = launch.map(|launch| (launch, &launch.code)) else {
        return Err(Failure::Usage(format!("`{text}` names no input; name one")));
    };
    let note =
        format!("{op} of {text}, whose code stands where the template's pseudo-instructions do.");
    of_template(args, dtype, (launch, spliced), note, (&device, named(&names, &buffers)))
}

/// Arrays of random elements.
pub(super) fn random_arrays(
    device: &Device,
    dtype: DType,
    n: u64,
    count: usize,
) -> Result<Vec<AnyBuffer>, Failure> {
    let upload =
        |array| AnyBuffer::upload(device, dtype, &random(dtype, n, array)?).map_err(Failure::from);
    (0..count as u64).map(upload).collect()
}

/// What the arrays are called.
pub(super) fn named(names: &[(&str, DType)], buffers: &[AnyBuffer]) -> Vec<NamedAllocation> {
    let allocation = |(buffer, (name, dtype)): (&AnyBuffer, &(&str, DType))| NamedAllocation {
        name: if *name == "y" { "y" } else { "x" },
        address: buffer.address(),
        bytes: (buffer.len() * dtype.size()) as u64,
    };
    buffers.iter().zip(names).map(allocation).collect()
}

/// A launch of a template with code in it.
pub(super) fn of_template(
    args: &Explain,
    dtype: DType,
    (launch, spliced): (&BatchedLaunch, &Spliced),
    note: String,
    (device, allocations): (&Device, Vec<NamedAllocation>),
) -> Result<Subject, Failure> {
    let template = launch.module(args.compute)?;
    let mut program = Program::load(spliced.ptx())
        .map_err(|error| failed(format!("loading {}", spliced.entry()), error.to_string()))?;
    let lines = template.lines();
    program.locate(|line| lines.of(spliced.template_line(line)));
    Ok(Subject {
        name: launch.entry.clone(),
        note,
        timed: None,
        module: template.name.to_owned(),
        dtype,
        n: args.n,
        program,
        launch: Launch {
            kernel: launch.entry.clone(),
            grid: Dimensions::from(launch.grid),
            block: Dimensions::from(launch.block),
            shared_bytes: launch.shared_bytes,
            arguments: launch.words.iter().copied().map(Argument::from).collect(),
        },
        memory: device.take_memory(),
        allocations,
        sources: files(),
    })
}
