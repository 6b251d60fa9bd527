//! The kernels of many reductions at once, by the way that arrays are parted: the launch that reads the array, as the library plans it.

use warpfold::kernel::{AnyBuffer, AnyDenseSort, AnyReduceBatched, AnySegments, BatchedLaunch};
use warpfold::simt::Device;
use warpfold::{DType, Layout, Op, Overflow, Policy};
use warpfold_simt::{Argument, Dimensions, Launch, Memory};

use super::{NamedAllocation, Subject, files, program, random};
use crate::Failure;
use crate::explain::args::Explain;

/// How an array is parted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Segments,
    Rows,
    Columns,
    Strided,
    Scatter,
}

impl Way {
    const ALL: [Way; 5] = [Way::Segments, Way::Rows, Way::Columns, Way::Strided, Way::Scatter];

    /// What it is asked for by.
    pub(super) fn name(self) -> &'static str {
        match self {
            Way::Segments => "segments",
            Way::Rows => "rows",
            Way::Columns => "columns",
            Way::Strided => "strided",
            Way::Scatter => "scatter",
        }
    }

    fn idea(self) -> &'static str {
        match self {
            Way::Segments => {
                "Segments of 0 to 64 elements, by offsets: every warp takes an equal share of elements and ends."
            }
            Way::Rows => "Rows of 16 elements: they lie side by side in lanes.",
            Way::Columns => "The columns of a matrix of 64: a lane owns neighbouring columns.",
            Way::Strided => {
                "Blocks of 4 by 4 of which the first and the last axis are folded: loops over memory."
            }
            Way::Scatter => {
                "Keys below 256, uniform: the pass of the radix sort that brings values of equal keys together. What was counted before it is not told."
            }
        }
    }
}

/// The way of a name.
pub(super) fn find(name: &str) -> Option<Way> {
    Way::ALL.into_iter().find(|way| way.name() == name)
}

/// What can be asked for.
pub(super) fn names() -> [&'static str; 5] {
    Way::ALL.map(Way::name)
}

/// A launch of a way's kernel.
pub(super) fn subject(way: Way, args: &Explain) -> Result<Subject, Failure> {
    for (flag, given) in [("--block", args.block.is_some()), ("--grid", args.grid.is_some())] {
        if given {
            let message = format!("{flag}: launches of {} are planned; leave it out", way.name());
            return Err(Failure::Usage(message));
        }
    }
    of(way, args, args.dtype.unwrap_or(DType::F32))
}

/// A number below a limit that an index decides.
fn below(limit: u64, index: u64) -> u64 {
    warpfold::random::word(0, index) % limit
}

fn of(way: Way, args: &Explain, dtype: DType) -> Result<Subject, Failure> {
    let unit = match way {
        Way::Segments | Way::Scatter => 1,
        Way::Rows | Way::Strided => 16,
        Way::Columns => 64,
    };
    let n = args.n / unit * unit;
    if n == 0 {
        let message = format!("--n {}: {} takes {unit} elements at least", args.n, way.name());
        return Err(Failure::Usage(message));
    }
    let device = Device::new();
    let x = AnyBuffer::upload(&device, dtype, &random(dtype, n, 0)?)?;
    let mut allocations = vec![allocation("x", &x)];
    let op = args.op.unwrap_or(Op::Sum);
    let batched = |reduce: AnyReduceBatched<'_>, allocations: &mut Vec<NamedAllocation>| {
        let policy = Policy { overflow: Overflow::Wrap, ..Policy::default() };
        launches(&device, &reduce.policy(policy), op, allocations)
    };
    let segments = |cut| AnyReduceBatched::segments(&device, x.view(), cut);
    let axes =
        |layout: &Layout, axes: &[i64]| AnyReduceBatched::axes(&device, x.view(), layout, axes);
    // What launches read has to be there until the memory is taken.
    let (launch, memory) = match way {
        Way::Segments => {
            let mut offsets = vec![0u32];
            while u64::from(offsets[offsets.len() - 1]) < n {
                let end = u64::from(offsets[offsets.len() - 1]) + below(65, offsets.len() as u64);
                offsets.push(end.min(n) as u32);
            }
            let offsets = device.upload(&offsets)?;
            allocations.push(allocation("offsets", offsets.untyped()));
            batched(segments(AnySegments::Offsets(offsets.untyped().view())), &mut allocations)?
        }
        Way::Rows => batched(segments(AnySegments::Every(16)), &mut allocations)?,
        Way::Columns => {
            let layout = Layout::c(&[n / 64, 64])?;
            batched(axes(&layout, &[0])?, &mut allocations)?
        }
        Way::Strided => {
            let layout = Layout::c(&[n / 16, 4, 4])?;
            batched(axes(&layout, &[0, 2])?, &mut allocations)?
        }
        Way::Scatter => {
            let keys: Vec<u32> = (0..n).map(|at| below(256, at) as u32).collect();
            let keys = device.upload(&keys)?;
            allocations.push(allocation("keys", keys.untyped()));
            let sort = AnyDenseSort::new(&device, keys.untyped().view(), 256, x.view())?;
            let is_scatter = |launch: &&BatchedLaunch| launch.entry.starts_with("sort");
            let launches = sort.launches();
            let before = launches.iter().take_while(|launch| !is_scatter(launch));
            device.launch_batched(&before.cloned().collect::<Vec<_>>())?;
            let launch = launches.iter().find(is_scatter).expect("256 groups are sorted").clone();
            (launch, device.take_memory())
        }
    };
    let module = launch.module(args.compute)?;
    Ok(Subject {
        name: launch.entry.clone(),
        note: way.idea().to_owned(),
        timed: None,
        module: module.name.to_owned(),
        dtype,
        n,
        program: program(&module)?,
        launch: Launch {
            kernel: launch.entry,
            grid: Dimensions::from(launch.grid),
            block: Dimensions::from(launch.block),
            shared_bytes: launch.shared_bytes,
            arguments: launch.words.into_iter().map(Argument::from).collect(),
        },
        memory,
        allocations,
        sources: files(),
    })
}

fn allocation(name: &'static str, buffer: &AnyBuffer) -> NamedAllocation {
    let bytes = (buffer.len() * buffer.dtype().size()) as u64;
    NamedAllocation { name, address: buffer.address(), bytes }
}

/// The first launch of a reduction, and the memory it works on.
fn launches(
    device: &Device,
    reduce: &AnyReduceBatched<'_>,
    op: Op,
    allocations: &mut Vec<NamedAllocation>,
) -> Result<(BatchedLaunch, Memory), Failure> {
    let plan = reduce.plan(op)?;
    let tables: Vec<u8> = plan.tables().into_iter().flat_map(u64::to_le_bytes).collect();
    let mut bytes = vec![0u8; plan.workspace as usize - tables.len()];
    bytes.extend(tables);
    let (out, workspace) =
        (device.alloc::<u64>(2 * plan.batch.outputs() as usize)?, device.upload(&bytes)?);
    let faults = device.upload(&[0xff_u8; AnyReduceBatched::FAULT_BYTES])?;
    allocations.extend([
        allocation("results", out.untyped()),
        allocation("workspace", workspace.untyped()),
    ]);
    allocations.push(allocation("faults", faults.untyped()));
    let all = reduce.launches(op, out.address(), workspace.address(), faults.address())?;
    let first = all.into_iter().next().expect("there are elements, so there is a launch");
    Ok((first, device.take_memory()))
}
