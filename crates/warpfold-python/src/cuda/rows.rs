//! Reductions over axes of arrays on GPUs whose results pass through the host.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use warpfold_engine::Columns;
use warpfold_exact::partial::{Finish, Output};
use warpfold_gpu::cuda::{Gpu, View};
use warpfold_gpu::kernel::Machine;
use warpfold_num::{Column, DType, Element, Op, Policy, Result, Value, bf16, f16, with_element};
use warpfold_plan::shape::{Folding, Form, Layout};

use super::{Place, devices, exact, is_missing, left};
use crate::convert::Wanted;
use crate::errors::raised;
use crate::reduce::Call;
use crate::take::OnGpu;

/// The reduction over some axes; the others are kept.
pub(super) fn over<'py>(
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
    let is_moment = matches!(call.op, Op::Var | Op::Std);
    let is_missing_all = form.inputs == 0 || is_moment && call.ddof.takes_all(form.inputs);
    if let (Op::Mean | Op::Var | Op::Std, true, Some(nan)) = (call.op, is_missing_all, wanted.nan())
    {
        let column = wanted.typed(Column::of_values(vec![nan; form.outputs as usize]));
        return call.give_columns(py, x.input.home, vec![("", column)], &shape, wanted);
    }
    if wanted.is_corrected() {
        return Err(PyTypeError::new_err(
            "a correction that is no whole number is for arrays on the host, or whole ones; copy it to the host first",
        ));
    }
    let place = Place { first: first.addr() as u64, len, stream: x.stream };
    let rows = left::Rows { place, layout: &layout, axes, inputs: form.inputs };
    if let Some(array) = left::results(py, call, x, rows, &shape, wanted)? {
        return Ok(array);
    }
    let gpu = devices::gpu(x.gpu.number)?;
    let (op, policy) = (call.op, call.policy);
    let rows = Rows { gpu, op, policy, wanted, place, layout, axes, form };
    let columns = with_element!(x.input.read_as(), T => py.detach(|| rows.columns::<T>()));
    let columns = columns.map_err(|error| raised(&error))?;
    call.give_columns(py, x.input.home, columns, &shape, wanted)
}

/// Rows of an array: whatever is reduced to one result each.
struct Rows<'a> {
    gpu: Gpu,
    op: Op,
    policy: Policy,
    wanted: &'a Wanted,
    /// The memory that the rows lie in.
    place: Place,
    layout: Layout,
    axes: &'a [i64],
    form: Form,
}

impl Rows<'_> {
    fn columns<T: Element>(&self) -> Result<Columns> {
        // Kernels round to the accumulator's type; what is narrower is rounded from there, or anew where that would be a second rounding.
        let (to, natural) = (self.wanted.finish.round_to, natural(T::DTYPE));
        let is_narrower = matches!(to, Some(DType::F16 | DType::BF16));
        let finish = Finish {
            round_to: to.filter(|&to| !is_narrower && Some(to) != natural),
            ..self.wanted.finish
        };
        let columns = self.run::<T>(finish);
        let nan = self.wanted.nan();
        let columns = match (columns, nan) {
            (Err(error), Some(nan))
                if is_missing(&error)
                    && matches!(self.op, Op::Mean | Op::Var | Op::Std | Op::Min | Op::Max) =>
            {
                self.one_by_one::<T>(nan)
            }
            (columns, _) => columns,
        };
        match (columns, to) {
            (Ok(columns), Some(to)) if is_narrower => self.narrowed::<T>(columns, to),
            (columns, _) => columns,
        }
    }

    fn run<T: Element>(&self, finish: Finish) -> Result<Columns> {
        self.place.read::<T, _>(&self.gpu, |view| {
            let many = self.gpu.reduce_axes(view, &self.layout, self.axes)?.policy(self.policy);
            many.ddof(finish.ddof).columns(self.op, finish)
        })
    }

    /// Each result alone; of one that does not exist, NaN.
    fn one_by_one<T: Element>(&self, nan: Value) -> Result<Columns> {
        let mut values = Vec::new();
        for output in 0..self.form.outputs {
            match self.alone::<T>(output) {
                Err(error) if is_missing(&error) => values.push(nan),
                value => values.push(value?),
            }
        }
        Ok(vec![("", Column::of_values(values))])
    }

    /// One result, from its elements alone: where they lie if they are one run, else from a copy.
    fn alone<T: Element>(&self, output: u64) -> Result<Value> {
        let mut runs = Vec::new();
        let start = self.form.locate(output);
        self.form.gather(start, 0, self.form.inputs, |first, step, count| {
            runs.push((first, step, count));
        });
        let result = self.place.read::<T, _>(&self.gpu, |all| match runs[..] {
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

    /// Results of 32 bits rounded to 16. One that lies between two neighbours, as near to either, may have been rounded to there: it is folded
    /// again, alone.
    fn narrowed<T: Element>(&self, columns: Columns, to: DType) -> Result<Columns> {
        columns
            .into_iter()
            .map(|(name, column)| {
                let Column::F32(values) = column else { return Ok((name, column)) };
                let again = |output: usize| self.alone::<T>(output as u64);
                let column = match to {
                    DType::F16 => Column::F16(narrow(
                        &values,
                        f16::from_f32,
                        is_tie_of_f16,
                        |k| match again(k)? {
                            Value::F16(value) => Ok(value),
                            other => unreachable!("it was to be rounded to f16: {other:?}"),
                        },
                    )?),
                    _ => Column::BF16(narrow(&values, bf16::from_f32, is_tie_of_bf16, |k| {
                        match again(k)? {
                            Value::BF16(value) => Ok(value),
                            other => unreachable!("it was to be rounded to bf16: {other:?}"),
                        }
                    })?),
                };
                Ok((name, column))
            })
            .collect()
    }
}

/// The type that kernels round floats to.
fn natural(dtype: DType) -> Option<DType> {
    match dtype {
        DType::F16 | DType::BF16 | DType::F32 => Some(DType::F32),
        DType::F64 => Some(DType::F64),
        _ => None,
    }
}

fn narrow<N>(
    values: &[f32],
    round: impl Fn(f32) -> N,
    is_tie: impl Fn(f32) -> bool,
    mut again: impl FnMut(usize) -> Result<N>,
) -> Result<Vec<N>> {
    let one = |(k, &value): (usize, &f32)| if is_tie(value) { again(k) } else { Ok(round(value)) };
    values.iter().enumerate().map(one).collect()
}

/// Whether a number lies in the middle between two neighbours of f16.
fn is_tie_of_f16(value: f32) -> bool {
    let size = f64::from(value).abs();
    if !size.is_finite() || size > 65520.0 {
        return false;
    }
    // Of numbers from 2^k on neighbours are 2^(k - 10) apart, and never less than 2^-24.
    let exponent = if size == 0.0 { -14 } else { (size.to_bits() >> 52) as i32 - 1023 };
    let half = 2f64.powi(exponent.max(-14) - 11);
    (size / half).fract() == 0.0 && (size / half) % 2.0 == 1.0
}

/// The same of bf16, which has the exponents of f32.
fn is_tie_of_bf16(value: f32) -> bool {
    value.is_finite() && value.to_bits() & 0xffff == 0x8000
}

/// The elements of runs, copied to the host in their order.
fn gather<T: Element>(gpu: &Gpu, all: View<'_, T>, runs: &[(u64, i64, u64)]) -> Result<Vec<T>> {
    let places = || {
        runs.iter().flat_map(|&(first, step, count)| {
            (0..count as i64).map(move |k| first.wrapping_add_signed(step * k) as usize)
        })
    };
    let (Some(least), Some(most)) = (places().min(), places().max()) else {
        return Ok(Vec::new());
    };
    let copied = gpu.download(all.slice(least..=most))?;
    Ok(places().map(|place| copied[place - least]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_are_those_that_rounding_twice_would_hide() {
        for bits in (0..0x7c00u16).step_by(7) {
            let (low, high) = (f16::from_bits(bits), f16::from_bits(bits + 1));
            let next = if high.is_finite() { f64::from(high) } else { 65536.0 };
            let middle = ((f64::from(low) + next) / 2.0) as f32;
            assert!(is_tie_of_f16(middle) && is_tie_of_f16(-middle), "{middle}");
            assert!(!is_tie_of_f16(f32::from(low)) && !is_tie_of_f16(middle.next_up()));
        }
        assert!(!is_tie_of_f16(f32::INFINITY) && !is_tie_of_bf16(f32::NAN));
        assert!(is_tie_of_bf16(f32::from_bits(0x3f80_8000)) && !is_tie_of_bf16(1.0));
    }
}
