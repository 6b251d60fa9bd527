//! The same by a GPU's kernels: the input and what parts it are copied there, results back.

use warpfold::kernel::{Buffer, DeviceSegments, Groups, Machine, ReduceMany};
use warpfold::partial::Finish;
use warpfold::segment::Bounds;
use warpfold::shape::Folding;
use warpfold::{Column, Columns, Element, Key, Ordered, Segments};
use warpfold_lab::machine::available_memory;

use super::keys::{self, with_key};
use super::{Found, Parted, fits};
use crate::Failure;
use crate::args::Reduction;
use crate::device::Executor;
use crate::input::Whole;
use crate::table::Labels;

/// Folds the parts of an input on a device that is not the processor.
pub(super) fn fold<T: Element>(
    asked: &Reduction,
    whole: &Whole,
    parted: &Parted,
    executor: &Executor,
    finish: Finish,
) -> Result<Found, Failure> {
    match executor {
        Executor::Cpu => unreachable!("the processor has its own way"),
        #[cfg(feature = "cuda")]
        Executor::Cuda(gpu) => on::<_, T>(gpu, asked, whole, parted, finish),
        #[cfg(not(feature = "cuda"))]
        Executor::Cuda(gpu) => gpu.absent(),
        Executor::Simt(device) => on::<_, T>(device, asked, whole, parted, finish),
    }
}

fn on<M: Machine, T: Element>(
    machine: &M,
    asked: &Reduction,
    whole: &Whole,
    parted: &Parted,
    finish: Finish,
) -> Result<Found, Failure> {
    if let Parted::Keys(keys) = parted {
        let x = machine.upload(whole.elements::<T>()?)?;
        return with_key!(keys, K, keys => by_key::<M, K, T>(machine, asked, keys, &x, finish));
    }
    let Some(segments) = parted.segments() else {
        let view = whole.view::<T>()?;
        let axes = &asked.parts.axis;
        let folding = Folding::of(view.layout().clone(), axes)?;
        let shape = if asked.parts.keepdims { folding.shape_kept() } else { folding.shape() };
        let x = machine.upload(view.memory())?;
        let many = machine.reduce_axes(&x, view.layout(), axes)?;
        let flat = |output: u64, place: u64| folding.flat(output, place);
        let flat = asked.parts.flat.then_some(&flat as Flat<'_>);
        return found(asked, many, Labels::Axes(shape), finish, flat);
    };
    let x = whole.elements::<T>()?;
    let bounds = Segments::check(segments, x.len() as u64)?;
    let x = machine.upload(x)?;
    let (narrow, wide);
    let on_device = match &bounds {
        Bounds::Every { length, .. } => DeviceSegments::Every(*length),
        Bounds::Offsets32(offsets) => {
            narrow = machine.upload::<u32>(offsets)?;
            DeviceSegments::from(&narrow)
        }
        Bounds::Offsets64(offsets) => {
            wide = machine.upload::<u64>(offsets)?;
            DeviceSegments::from(&wide)
        }
    };
    let flat = |segment: u64, place: u64| bounds.range(segment as usize).start as u64 + place;
    // Indices within segments of the data follow from those within what is kept.
    let counts_all = asked.parts.flat || matches!(parted, Parted::Cut(_));
    let flat = counts_all.then_some(&flat as Flat<'_>);
    found(asked, machine.reduce_segments(&x, on_device), Labels::Segments, finish, flat)
}

fn by_key<M: Machine, K: Key + Ordered, T: Element>(
    machine: &M,
    asked: &Reduction,
    keys: &[K],
    x: &Buffer<M, T>,
    finish: Finish,
) -> Result<Found, Failure> {
    if let Some(groups) = asked.parts.groups {
        fits(groups, available_memory())?;
        let keys = machine.upload(keys)?;
        let reduce = machine.reduce_dense(&keys, groups, x).policy(asked.policy());
        let (columns, plan) = reduce.columns(asked.op(), finish)?;
        return Ok(Found { elements: x.len() as u64, plan, labels: Labels::Numbers, columns });
    }
    let keys = machine.upload(keys)?;
    let groups = match asked.parts.sorted {
        true => machine.reduce_by_key(&keys, x)?,
        false => machine.group_by(&keys, x)?,
    };
    let labels = Labels::Keys(keys::column(&groups.keys()?).into());
    grouped(asked, &groups, labels, finish)
}

fn grouped<M: Machine, K: Key + Element, T: Element>(
    asked: &Reduction,
    groups: &Groups<'_, M, K, T>,
    labels: Labels,
    finish: Finish,
) -> Result<Found, Failure> {
    let found = found(asked, groups.reduce(), labels, finish, None)?;
    Ok(Found { plan: format!("{}; then {}", groups.plan(), found.plan), ..found })
}

/// The index within the whole array of the element at a place of an output's input.
type Flat<'a> = &'a dyn Fn(u64, u64) -> u64;

fn found<M: Machine, T: Element>(
    asked: &Reduction,
    many: ReduceMany<'_, M, T>,
    labels: Labels,
    finish: Finish,
    flat: Option<Flat<'_>>,
) -> Result<Found, Failure> {
    let many = many.policy(asked.policy());
    let mut columns: Columns = many.columns(asked.op(), finish)?;
    if let Some(flat) = flat {
        for (name, column) in &mut columns {
            if let ("argmin" | "argmax", Column::U64(places)) = (*name, column) {
                (0..).zip(places).for_each(|(output, place)| *place = flat(output, *place));
            }
        }
    }
    let plans = many.plans(asked.op())?;
    let elements = plans.first().map_or(0, |plan| plan.elements());
    let plan = plans.iter().map(ToString::to_string).collect::<Vec<_>>().join("; then ");
    Ok(Found { elements, plan, labels, columns })
}
