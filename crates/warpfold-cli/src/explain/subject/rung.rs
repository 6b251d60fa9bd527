//! The rungs of the ladder: the first of their launches, which folds the array.

use warpfold::plan::CudaFacts;
use warpfold::{DType, Op};
use warpfold_kernels::Module;
use warpfold_kernels::ladder::{self, Rung};
use warpfold_ladder::with_number;
use warpfold_ladder::{Addresses, Case, MOST_THREADS, Number, Plan, defined};
use warpfold_simt::{Argument, Dimensions, Launch, Memory};

use super::{NamedAllocation, Subject, failed, files, program, random};
use crate::Failure;
use crate::args::block::whole_warps;
use crate::explain::args::Explain;
use crate::explain::timed::Timed;

/// The rung of a name, with its number, without it, or by it alone.
pub(super) fn find(name: &str) -> Option<&'static Rung> {
    let found = warpfold_ladder::find(name).ok()?;
    ladder::rungs().iter().find(|rung| rung.name == found.name)
}

/// A launch of a rung.
pub(super) fn subject(rung: &'static Rung, args: &Explain) -> Result<Subject, Failure> {
    let (op, dtype) = (args.op.unwrap_or(Op::Sum), args.dtype.unwrap_or(DType::F32));
    defined(op, dtype).map_err(Failure::Usage)?;
    whole_warps(args.threads(), MOST_THREADS, &rung.name)?;
    if args.grid.is_some() {
        let message = format!(
            "--grid: the blocks of {} follow from --n and --block; leave it out",
            rung.name
        );
        return Err(Failure::Usage(message));
    }
    let case = Case { op, dtype, n: args.n, block: args.threads() };
    let facts = CudaFacts { compute: args.compute, multiprocessors: 132 };
    let x = random(dtype, args.n, 0)?;
    let plan = Plan::new(rung, case, facts)
        .map_err(|why| Failure::Usage(format!("{} of {op}: {why}", rung.name)))?;

    let mut memory = Memory::new();
    let mut allocations = Vec::new();
    let mut allocation = |name, buffer: warpfold_simt::Buffer| {
        allocations.push(NamedAllocation {
            name,
            address: buffer.address(),
            bytes: buffer.bytes(),
        });
        buffer.address()
    };
    let size = dtype.size() as u64;
    let folded = (plan.n * size) as usize;
    let identity = with_number!(dtype, T => bytemuck::bytes_of(&T::identity(op)).to_vec());
    let at = Addresses {
        input: allocation("x", memory.upload_bytes(&x[..folded])),
        result: allocation("result", memory.upload_bytes(&identity)),
        partials: [
            allocation("partial results", memory.allocate(plan.partials[0] * size)),
            allocation("partial results", memory.allocate(plan.partials[1] * size)),
        ],
        scratch: allocation("memory to work in", memory.allocate(plan.scratch * size)),
        ticket: allocation("ticket", memory.upload(&[0u32])),
    };
    let launches = plan.launches(at);
    let first = launches.first().expect("a plan has a launch");
    let launch = Launch {
        kernel: plan.entry.clone(),
        grid: Dimensions::from(first.pass.grid),
        block: Dimensions::from(first.pass.block),
        shared_bytes: first.pass.shared_bytes,
        arguments: first.parameters.iter().copied().map(Argument::from).collect(),
    };
    Ok(Subject {
        name: plan.entry.clone(),
        note: note(rung, launches.len()),
        timed: warpfold_ladder::find(&rung.name).ok().map(|rung| Timed::rung(rung, case)),
        module: plan.module.clone(),
        dtype,
        n: plan.n,
        program: program(&embedded(&plan.module)?)?,
        launch,
        memory,
        allocations,
        sources: files(),
    })
}

/// One of the pair that shows divergence, by its name.
pub(super) fn demonstration(name: &str) -> Option<&'static str> {
    ladder::DIVERGENCE.entries.iter().copied().find(|entry| *entry == name)
}

/// A launch of one of the pair.
pub(super) fn branches(entry: &'static str) -> Result<Subject, Failure> {
    const ROUNDS: u64 = 4;
    let mut memory = Memory::new();
    let (input, results) = (memory.upload(&[1u32, 2, 3, 4]), memory.allocate(16));
    let allocation = |name, buffer: warpfold_simt::Buffer| NamedAllocation {
        name,
        address: buffer.address(),
        bytes: buffer.bytes(),
    };
    let module = ladder::DIVERGENCE.module();
    Ok(Subject {
        name: entry.to_owned(),
        note: "Four branches, each of one thread: in one warp they are gone through one after the other, in four warps at once.".to_owned(),
        timed: None,
        program: program(&embedded(&module)?)?,
        module,
        dtype: DType::U32,
        n: 4,
        launch: Launch {
            kernel: entry.to_owned(),
            grid: Dimensions::from(1),
            block: Dimensions::from(128),
            shared_bytes: 0,
            arguments: vec![Argument::from(input), Argument::from(results), Argument::from(ROUNDS)],
        },
        allocations: vec![allocation("x", input), allocation("results", results)],
        memory,
        sources: files(),
    })
}

fn embedded(module: &str) -> Result<Module, Failure> {
    let missing = || failed(format!("loading {module}"), "it is not embedded".to_owned());
    warpfold_kernels::find(module).ok_or_else(missing)
}

/// What the rung is, and which of its launches this is.
fn note(rung: &Rung, launches: usize) -> String {
    let more = match launches {
        1 => String::new(),
        _ => format!(
            " This is the first of {launches} launches; the others fold what blocks have left."
        ),
    };
    format!("{}: {} What it mends: {}{more}", rung.name, rung.idea, rung.mends)
}
