//! The same by a GPU's kernels: the input and what parts it are copied there, results back.

use warpfold::kernel::{
    self, AnyBuffer, AnyGroups, AnyOperand, AnyReduceBatched, AnyReduceDense, AnySegments, AnyView,
    MapGroups, MapParts,
};
use warpfold::partial::Finish;
use warpfold::segment::Bounds;
use warpfold::shape::{Folding, Layout};
use warpfold::{Column, Columns, Error, Segments};
use warpfold_engine::{HostArray, Parts, Request};
use warpfold_lab::machine::available_memory;

use super::mapped::Mapped;
use super::{BatchedResults, Parted, fits};
use crate::Failure;
use crate::args::Reduction;
use crate::device::Executor;
use crate::input::Whole;
use crate::table::Labels;

/// Folds the parts of an input on a device that is not the processor.
pub(super) fn fold(
    args: &Reduction,
    whole: &Whole,
    parted: &Parted,
    executor: &Executor,
    finish: Finish,
) -> Result<BatchedResults, Failure> {
    on(machine(executor), args, whole, parted, finish)
}

fn machine(executor: &Executor) -> &dyn kernel::Executor {
    match executor {
        Executor::Cpu => unreachable!("the processor has its own way"),
        #[cfg(feature = "cuda")]
        Executor::Cuda(gpu) => gpu,
        #[cfg(not(feature = "cuda"))]
        Executor::Cuda(gpu) => gpu.absent(),
        Executor::Simt(device) => device,
    }
}

/// The results of a share of an input: of some of its axes or segments, all of which lie in there.
///
/// # Panics
/// For keys, whose partials do not leave the device.
pub(crate) fn columns(
    executor: &Executor,
    request: &Request<'_>,
    finish: Finish,
) -> Result<Columns, Error> {
    let machine = machine(executor);
    let upload = |x: HostArray<'_>| AnyBuffer::upload(machine, x.dtype(), x.bytes());
    let Request { op, x, policy, .. } = *request;
    match &*request.parts {
        Parts::Axes(_, folding) => {
            // From the first of its elements in memory to the last.
            let layout = folding.layout();
            let extent = layout.extent()?;
            let strides: Vec<i64> = layout.axes().iter().map(|axis| axis.stride).collect();
            let start = layout.start() - extent.start;
            let own = Layout::strided(&layout.shape(), &strides, start)?;
            let folded = (0..).zip(folding.folded()).filter(|(_, is_folded)| **is_folded);
            let axes: Vec<i64> = folded.map(|(axis, _)| axis).collect();
            let x = upload(x.part(extent.start as usize..extent.end as usize))?;
            let batched = AnyReduceBatched::axes(machine, x.view(), &own, &axes)?;
            batched.policy(policy).columns(op, finish)
        }
        Parts::Segments(bounds, _) => {
            let x = upload(x)?;
            let offsets = offsets(machine, bounds)?;
            let segments = segments_on_device(bounds, offsets.as_ref());
            let batched = AnyReduceBatched::segments(machine, x.view(), segments);
            batched.policy(policy).columns(op, finish)
        }
        Parts::Whole | Parts::Groups(..) => unreachable!("neither axes nor segments"),
    }
}

/// Segments as kernels have them, with their offsets on the device.
fn segments_on_device<'a>(bounds: &Bounds<'_>, offsets: Option<&'a AnyBuffer>) -> AnySegments<'a> {
    match (offsets, bounds) {
        (Some(offsets), _) => AnySegments::Offsets(offsets.view()),
        (None, Bounds::Every { length, .. }) => AnySegments::Every(*length),
        (None, _) => unreachable!("offsets were uploaded"),
    }
}

/// The same of an expression: the inputs are copied to the device, one of which has a value for each element.
pub(super) fn fold_mapped(
    args: &Reduction,
    mapped: &Mapped<'_>,
    whole: &Whole,
    parted: &Parted,
    executor: &Executor,
    finish: Finish,
) -> Result<BatchedResults, Failure> {
    let machine = machine(executor);
    let buffers = mapped.operands.iter().map(|operand| upload(machine, operand.array));
    let buffers = buffers.collect::<Result<Vec<_>, _>>()?;
    let both = buffers.iter().zip(&mapped.operands);
    let inputs: Vec<AnyOperand<'_>> = both
        .map(|(buffer, operand)| AnyOperand { view: buffer.view(), each: operand.each })
        .collect();
    let found = |parts: &MapParts<'_>, labels, flat: Option<Flat<'_>>| {
        let columns = kernel::map::columns(machine, mapped.map, args.op(), &inputs, parts, finish);
        let mut columns = columns.map_err(unmapped)?;
        count_in_array(&mut columns, flat);
        let plan = "an expression's kernel of parts".into();
        Ok(BatchedResults {
            elements: whole.len(),
            plan,
            labels,
            columns,
            names: Vec::new(),
            gaps: Vec::new(),
        })
    };
    if let Parted::Keys(keys) = parted {
        let keys = upload(machine, keys.array()?)?;
        let groups = match (args.parts.groups, args.parts.sorted) {
            (Some(groups), _) => {
                fits(groups, available_memory())?;
                MapGroups::dense(machine, &keys, groups)?
            }
            (None, true) => MapGroups::runs(machine, &keys)?,
            (None, false) => MapGroups::by(machine, &keys)?,
        };
        let labels = groups.keys()?.map_or(Labels::Numbers, Labels::key);
        return found(&groups.parts(), labels, None);
    }
    let Some(segments) = parted.segments() else {
        let axes = &args.parts.axis;
        let folding = Folding::of(whole.layout()?.clone(), axes)?;
        let shape = if args.parts.keepdims { folding.shape_kept() } else { folding.shape() };
        let flat = |output: u64, arg_index: u64| folding.flat(output, arg_index);
        let flat = args.parts.flat.then_some(&flat as Flat<'_>);
        return found(
            &MapParts::axes(&whole.shape(), axes).map_err(unmapped)?,
            Labels::Axes(shape),
            flat,
        );
    };
    let bounds = Segments::check(segments, whole.len())?;
    let offsets = offsets(machine, &bounds)?;
    let parts = match (&offsets, &bounds) {
        (Some(offsets), _) => MapParts::segments(offsets.view())?,
        (None, Bounds::Every { length, .. }) => MapParts::rows(*length),
        (None, _) => unreachable!("offsets were uploaded"),
    };
    let flat = |segment, arg_index| start(&bounds, segment) + arg_index;
    let flat = counts_all(args, parted).then_some(&flat as Flat<'_>);
    found(&parts, Labels::Segments, flat)
}

/// What kernels do not map, whatever the elements are, is a wrong use of the program.
fn unmapped(error: Error) -> Failure {
    match error {
        Error::Map { .. } => Failure::Usage(error.to_string()),
        other => other.into(),
    }
}

/// Offsets of segments, where they have some.
fn offsets(
    machine: &dyn kernel::Executor,
    bounds: &Bounds<'_>,
) -> Result<Option<AnyBuffer>, Error> {
    let upload = |x: HostArray<'_>| AnyBuffer::upload(machine, x.dtype(), x.bytes()).map(Some);
    match bounds {
        Bounds::Every { .. } => Ok(None),
        Bounds::Offsets32(offsets) => upload(HostArray::of::<u32>(offsets)),
        Bounds::Offsets64(offsets) => upload(HostArray::of::<u64>(offsets)),
    }
}

/// Whether indices count in the whole array: those within segments of the data follow from those within what is kept of it.
fn counts_all(args: &Reduction, parted: &Parted) -> bool {
    args.parts.flat || matches!(parted, Parted::Cut(_))
}

/// Where a segment begins.
fn start(bounds: &Bounds<'_>, segment: u64) -> u64 {
    bounds.range(segment as usize).start as u64
}

fn on(
    machine: &dyn kernel::Executor,
    args: &Reduction,
    whole: &Whole,
    parted: &Parted,
    finish: Finish,
) -> Result<BatchedResults, Failure> {
    let array = whole.array()?;
    if let Parted::Keys(keys) = parted {
        let x = upload(machine, array)?;
        return by_key(machine, args, keys.array()?, x.view(), finish);
    }
    let Some(segments) = parted.segments() else {
        let (layout, axes) = (whole.layout()?, &args.parts.axis);
        let folding = Folding::of(layout.clone(), axes)?;
        let shape = if args.parts.keepdims { folding.shape_kept() } else { folding.shape() };
        let x = upload(machine, array)?;
        let batched = AnyReduceBatched::axes(machine, x.view(), layout, axes)?;
        let flat = |output: u64, arg_index: u64| folding.flat(output, arg_index);
        let flat = args.parts.flat.then_some(&flat as Flat<'_>);
        return found(args, batched, Labels::Axes(shape), finish, flat);
    };
    let bounds = Segments::check(segments, array.len() as u64)?;
    let x = upload(machine, array)?;
    let offsets = offsets(machine, &bounds)?;
    let flat = |segment, arg_index| start(&bounds, segment) + arg_index;
    let flat = counts_all(args, parted).then_some(&flat as Flat<'_>);
    let segments = segments_on_device(&bounds, offsets.as_ref());
    let batched = AnyReduceBatched::segments(machine, x.view(), segments);
    found(args, batched, Labels::Segments, finish, flat)
}

fn upload(machine: &dyn kernel::Executor, x: HostArray<'_>) -> Result<AnyBuffer, Failure> {
    Ok(AnyBuffer::upload(machine, x.dtype(), x.bytes())?)
}

fn by_key(
    machine: &dyn kernel::Executor,
    args: &Reduction,
    keys: HostArray<'_>,
    x: AnyView<'_>,
    finish: Finish,
) -> Result<BatchedResults, Failure> {
    if let Some(groups) = args.parts.groups {
        fits(groups, available_memory())?;
        let keys = upload(machine, keys)?;
        let reduce = AnyReduceDense::new(machine, keys.view(), groups, x).policy(args.policy());
        let (columns, plan) = reduce.columns(args.op(), finish)?;
        return Ok(BatchedResults {
            elements: x.len() as u64,
            plan,
            labels: Labels::Numbers,
            columns,
            names: Vec::new(),
            gaps: Vec::new(),
        });
    }
    let keys = upload(machine, keys)?;
    let groups = match args.parts.sorted {
        true => AnyGroups::runs(machine, keys.view(), x)?,
        false => AnyGroups::by(machine, keys.view(), x)?,
    };
    let labels = groups.keys()?.expect("groups are called by their keys");
    let found = found(args, groups.reduce(), Labels::key(labels), finish, None)?;
    Ok(BatchedResults { plan: format!("{}; then {}", groups.plan(), found.plan), ..found })
}

/// The index within the whole array of the element at a place of an output's input.
type Flat<'a> = &'a dyn Fn(u64, u64) -> u64;

fn found(
    args: &Reduction,
    batched: AnyReduceBatched<'_>,
    labels: Labels,
    finish: Finish,
    flat: Option<Flat<'_>>,
) -> Result<BatchedResults, Failure> {
    let batched = batched.policy(args.policy());
    let mut columns: Columns = batched.columns(args.op(), finish)?;
    count_in_array(&mut columns, flat);
    let plans = batched.plans(args.op())?;
    let elements = plans.first().map_or(0, |plan| plan.elements());
    let plan = plans.iter().map(ToString::to_string).collect::<Vec<_>>().join("; then ");
    Ok(BatchedResults { elements, plan, labels, columns, names: Vec::new(), gaps: Vec::new() })
}

/// Has indices count in the whole array, if that is asked for.
fn count_in_array(columns: &mut Columns, flat: Option<Flat<'_>>) {
    let Some(flat) = flat else { return };
    for (name, column) in columns {
        if let ("argmin" | "argmax", Column::U64(arg_indices)) = (*name, column) {
            (0..)
                .zip(arg_indices)
                .for_each(|(output, arg_index)| *arg_index = flat(output, *arg_index));
        }
    }
}
