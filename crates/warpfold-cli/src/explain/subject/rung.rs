//! Rungs of the ladder as subjects: the first launch of the rung's plan.

use warpfold::plan::CudaFacts;
use warpfold::{DType, Op};
use warpfold_lab::ladder::{Addresses, Case, Plan, Rung, Way, defined};
use warpfold_simt::{Argument, Buffer, Dimensions, Launch, Memory};

use super::{Place, Subject, random};
use crate::Failure;
use crate::explain::args::Explain;

/// Multiprocessors of the machine that a rung is explained on: few, so that grids that fill a machine are to be seen.
const MULTIPROCESSORS: u32 = 4;

/// The first launch of a rung, over random elements.
///
/// # Errors
/// [`Failure::Usage`]: the rung has no kernel, or none of that type, size of block or grid.
pub(super) fn subject(rung: &Rung, asked: &Explain) -> Result<Subject, Failure> {
    let Way::Kernel(kernel) = rung.way else {
        let message = match rung.way {
            Way::Host(_) => format!("{} runs on the host and has no kernel", rung.name),
            _ => format!("{} runs the library's kernels; explain sum or exact_sum", rung.name),
        };
        return Err(Failure::Usage(message));
    };
    let op = asked.op.unwrap_or(Op::Sum);
    let dtype = asked.dtype.unwrap_or(DType::F32);
    defined(op, dtype).map_err(Failure::Usage)?;
    let case = Case { op, dtype, n: asked.n, block: asked.block };
    let facts = CudaFacts { compute: asked.compute, multiprocessors: MULTIPROCESSORS };
    let plan = Plan::on_grid(kernel, case, facts, asked.grid)
        .map_err(|why| Failure::Usage(format!("{}: {why}", rung.name)))?;
    let module = warpfold_kernels::find(&plan.module).expect("every rung's module is embedded");
    let program = super::loaded(module)?;

    let mut memory = Memory::new();
    let mut places = Vec::new();
    let mut place = |name, buffer: Buffer| {
        places.push(Place { name, address: buffer.address(), bytes: buffer.bytes() });
        buffer.address()
    };
    let size = dtype.size() as u64;
    let x = place("x", memory.upload_bytes(&random(dtype, plan.n, 0)?));
    // Atomics fold into what is there: zero is as good as anything to look at, and no other rung reads it.
    let zero = vec![0u8; dtype.size()];
    let at = Addresses {
        input: x,
        result: place("result", memory.upload_bytes(&zero)),
        partials: [
            place("partials", memory.allocate(size * plan.partials[0])),
            place("partials", memory.allocate(size * plan.partials[1])),
        ],
        room: place("workspace", memory.allocate(size * plan.room)),
        ticket: place("ticket", memory.upload(&[0u32])),
    };
    let first = plan.launches(at).swap_remove(0);
    let launch = Launch {
        kernel: plan.entry.clone(),
        grid: Dimensions::from(first.pass.grid),
        block: Dimensions::from(first.pass.block),
        shared_bytes: first.pass.shared_bytes,
        arguments: first.parameters.into_iter().map(Argument::from).collect(),
    };
    let over = match plan.passes.len() {
        1 => format!("{} {dtype}", plan.n),
        launches => format!("{} {dtype}, the first of {launches} launches", plan.n),
    };
    Ok(Subject {
        name: plan.entry,
        over,
        module: plan.module,
        dtype,
        n: plan.n,
        program,
        launch,
        memory,
        places,
        sources: super::all_sources(),
    })
}
