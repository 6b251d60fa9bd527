//! Reductions over axes of arrays on GPUs whose results pass through the host.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use warpfold_engine::Columns;
use warpfold_engine::map::Expressions;
use warpfold_exact::partial::{Finish, Output};
use warpfold_gpu::cuda::{Gpu, View};
use warpfold_gpu::kernel::{DeviceSegments, Machine, MapParts, ReduceBatched};
use warpfold_num::ties::is_tie;
use warpfold_num::{Column, DType, Element, Op, Policy, Result, Value, bf16, f16, with_element};
use warpfold_plan::shape::{Folding, Form, Layout};

use super::{Location, devices, exact, mapped, natural, on_device};
use crate::convert::Wanted;
use crate::errors::raised;
use crate::kept::Kept;
use crate::reduce::{Call, is_missing};
use crate::take::OnGpu;

/// The reduction over some axes; the others are kept.
pub(crate) fn over<'py>(
    py: Python<'py>,
    call: &Call<'_, 'py>,
    x: &OnGpu,
    axes: &[i64],
    wanted: &Wanted,
) -> PyResult<Bound<'py, PyAny>> {
    let (first, len, layout) = x.input.span()?;
    let folding = Folding::of(layout.clone(), axes).map_err(|error| raised(&error))?;
    let form = folding.form().map_err(|error| raised(&error))?;
    let shape = if call.keepdims { folding.shape_kept() } else { folding.shape() };
    if let Some(missing) = call.missing(&form, wanted)? {
        return call.give_columns(py, x.input.home, missing, &shape, wanted);
    }
    if wanted.is_corrected() {
        return Err(PyTypeError::new_err(
            "a correction that is no whole number is for arrays on the host, or whole ones; copy it to the host first",
        ));
    }
    let location = Location { first: first.addr() as u64, len, stream: x.stream };
    let parts = on_device::Parts::Axes { layout: &layout, axes, inputs: form.inputs };
    if let Some(array) = on_device::results(py, call, x, (location, parts), &shape, wanted)? {
        return Ok(array);
    }
    let op = call.op;
    let is_widened = wanted.finish.round_to == Some(DType::F64)
        && matches!(x.input.dtype, DType::F16 | DType::BF16 | DType::F32);
    // As f64 the elements have the same values, and results of that type. Products are rounded on the way, as their type does.
    if is_widened && op != Op::Prod && x.input.is_run(false) {
        let widened = Expressions::value("f64(x)").map_err(|error| raised(&error))?;
        let (shape, reduced) = (&x.input.shape, Kept::new(call, &x.input.shape)?.axes());
        if MapParts::axes(shape, &reduced).is_ok() {
            return mapped::reduce(py, call, &widened, &[("x", x)], None);
        }
    }
    let gpu = devices::gpu(x.gpu.number)?;
    let policy = call.policy;
    let rows = Rows { gpu, op, policy, wanted, location, cut: Cut::Axes { layout, axes, form } };
    let columns = with_element!(x.input.read_as(), T => py.detach(|| rows.columns::<T>()));
    let columns = columns.map_err(|error| raised(&error))?;
    call.give_columns(py, x.input.home, columns, &shape, wanted)
}

/// Rows of an array: whatever is reduced to one result each.
pub(crate) struct Rows<'a> {
    pub(crate) gpu: Gpu,
    pub(crate) op: Op,
    pub(crate) policy: Policy,
    pub(crate) wanted: &'a Wanted,
    /// The memory that the rows lie in.
    pub(crate) location: Location,
    pub(crate) cut: Cut<'a>,
}

/// Which elements are a row.
pub(crate) enum Cut<'a> {
    /// Those along some axes.
    Axes { layout: Layout, axes: &'a [i64], form: Form },
    /// Segments of one length.
    Every { length: u64, segments: u64 },
    /// Segments between offsets, which lie on the GPU, and here.
    Offsets { there: Location, size: usize, here: Vec<u64> },
}

impl Rows<'_> {
    pub(crate) fn columns<T: Element>(&self) -> Result<Columns> {
        // Kernels round to the accumulator's type and to that of elements of 16 bits; what is narrower is rounded from there, or anew where that would be
        // a second rounding.
        let (to, natural) = (self.wanted.finish.round_to, natural(T::DTYPE));
        let is_own = to == Some(T::DTYPE) && self.wanted.finish.ddof <= u16::MAX.into();
        let is_narrower = !is_own && to.zip(natural).is_some_and(is_narrowed);
        // Of whole and complex numbers they have but one type.
        let is_kernels = natural.is_some() && (to == natural || is_own || is_narrower);
        if to.is_some() && !is_kernels {
            return self.one_by_one::<T>(self.wanted.nan());
        }
        let finish = Finish {
            round_to: to.filter(|&to| !is_narrower && Some(to) != natural),
            ..self.wanted.finish
        };
        let columns = self.run::<T>(finish);
        let nan = self.wanted.nan();
        let columns = match (columns, nan) {
            (Err(error), Some(nan))
                if is_missing(&error)
                    && (self.op.divides() || matches!(self.op, Op::Min | Op::Max)) =>
            {
                // Each is rounded to its type there.
                return self.one_by_one::<T>(Some(nan));
            }
            (columns, _) => columns,
        };
        match (columns, to) {
            (Ok(columns), Some(to)) if is_narrower => self.narrowed::<T>(columns, to),
            (columns, _) => columns,
        }
    }

    fn run<T: Element>(&self, finish: Finish) -> Result<Columns> {
        let finished = |batched: ReduceBatched<'_, Gpu, T>| {
            batched.policy(self.policy).ddof(finish.ddof).columns(self.op, finish)
        };
        self.location.read::<T, _>(&self.gpu, |view| match &self.cut {
            Cut::Axes { layout, axes, .. } => finished(self.gpu.reduce_axes(view, layout, axes)?),
            Cut::Every { length, .. } => {
                finished(self.gpu.reduce_segments(view, DeviceSegments::Every(*length)))
            }
            Cut::Offsets { there, size: 4, .. } => there.read::<u32, _>(&self.gpu, |offsets| {
                finished(self.gpu.reduce_segments(view, DeviceSegments::Offsets32(offsets)))
            }),
            Cut::Offsets { there, .. } => there.read::<u64, _>(&self.gpu, |offsets| {
                finished(self.gpu.reduce_segments(view, DeviceSegments::Offsets64(offsets)))
            }),
        })
    }

    /// How many results there are.
    pub(crate) fn outputs(&self) -> u64 {
        match &self.cut {
            Cut::Axes { form, .. } => form.outputs,
            Cut::Every { segments, .. } => *segments,
            Cut::Offsets { here, .. } => here.len() as u64 - 1,
        }
    }

    /// The runs of memory that a row is: the first element, the step, and how many.
    fn runs(&self, output: u64) -> Vec<(u64, i64, u64)> {
        match &self.cut {
            Cut::Axes { form, .. } => {
                let mut runs = Vec::new();
                let start = form.locate(output);
                form.gather(start, 0, form.inputs, |first, step, count| {
                    runs.push((first, step, count));
                });
                runs
            }
            Cut::Every { length, .. } => vec![(output * length, 1, *length)],
            Cut::Offsets { here, .. } => {
                let [start, end] = [here[output as usize], here[output as usize + 1]];
                vec![(start, 1, end.saturating_sub(start))]
            }
        }
    }

    /// Each result alone; of one that does not exist, NaN where its type has one.
    fn one_by_one<T: Element>(&self, nan: Option<Value>) -> Result<Columns> {
        let mut values = Vec::new();
        for output in 0..self.outputs() {
            match (self.alone::<T>(output), nan) {
                (Err(error), Some(nan)) if is_missing(&error) => values.push(nan),
                (value, _) => values.push(value?),
            }
        }
        Ok(vec![("", Column::of_values(values))])
    }

    /// One result, from its elements alone: where they lie if they are one run, else from a copy.
    fn alone<T: Element>(&self, output: u64) -> Result<Value> {
        let runs = self.runs(output);
        let result = self.location.read::<T, _>(&self.gpu, |all| match runs[..] {
            [(first, step, count)] if step == 1 || count == 1 => {
                let row = all.slice(first as usize..(first + count) as usize);
                exact(&self.gpu, row, self.op, self.policy, self.wanted)
            }
            _ => {
                let gathered = gather(&self.gpu, all, &runs)?;
                let copy = self.gpu.upload(&gathered)?;
                exact(&self.gpu, copy.view(), self.op, self.policy, self.wanted)
            }
        })?;
        match result {
            Output::One(value) => Ok(value),
            other => unreachable!("{} has one result, not {other:?}", self.op),
        }
    }

    /// Results of 32 bits rounded to 16, or of 64 to 32. One that lies between two neighbours, as near to either, may have been rounded to there: it is
    /// folded again, alone.
    fn narrowed<T: Element>(&self, columns: Columns, to: DType) -> Result<Columns> {
        macro_rules! narrowed {
            ($variant:ident, $values:expr, $rounded:expr) => {{
                let mut all: Vec<_> = $values.iter().map(|&value| $rounded(value)).collect();
                let ties =
                    $values.iter().enumerate().filter(|(_, value)| is_tie((**value).into(), to));
                for (k, _) in ties {
                    all[k] = match self.alone::<T>(k as u64)? {
                        Value::$variant(exact) => exact,
                        other => unreachable!("it was to be rounded to {to}: {other:?}"),
                    };
                }
                Column::$variant(all)
            }};
        }
        let narrowed = |(name, column)| match (column, to) {
            (Column::F32(values), DType::F16) => Ok((name, narrowed!(F16, values, f16::from_f32))),
            (Column::F32(values), DType::BF16) => {
                Ok((name, narrowed!(BF16, values, bf16::from_f32)))
            }
            (Column::F64(values), DType::F32) => {
                Ok((name, narrowed!(F32, values, |value| value as f32)))
            }
            (column, _) => Ok((name, column)),
        };
        columns.into_iter().map(narrowed).collect()
    }
}

/// Whether results of a type are rounded to a narrower one here.
fn is_narrowed((to, from): (DType, DType)) -> bool {
    match from {
        DType::F64 => to == DType::F32,
        _ => to.size() < from.size(),
    }
}

/// The elements of runs, copied to the host in their order.
fn gather<T: Element>(gpu: &Gpu, all: View<'_, T>, runs: &[(u64, i64, u64)]) -> Result<Vec<T>> {
    let locations = || {
        runs.iter().flat_map(|&(first, step, count)| {
            (0..count as i64).map(move |k| first.wrapping_add_signed(step * k) as usize)
        })
    };
    let (Some(least), Some(most)) = (locations().min(), locations().max()) else {
        return Ok(Vec::new());
    };
    let copied = gpu.download(all.slice(least..=most))?;
    Ok(locations().map(|location| copied[location - least]).collect())
}
