//! Reductions of one array, whole or over axes.

use std::sync::Arc;

use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use warpfold_engine::{self as engine, Columns, Parts, Request};
use warpfold_exact::AnyPartial;
use warpfold_exact::partial::Output;
use warpfold_num::{Column, DType, Error, Op, Policy, Result, Value};
use warpfold_plan::shape::{Folding, Form};

use crate::convert::{Wanted, asked};
use crate::errors::{cause, raised};
use crate::give;
use crate::policy::{Axes, Correction, axes};
use crate::run::run;
use crate::take::{Home, Input, Pairs};

/// A reduction with everything that the caller chose.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a, 'py> {
    pub(crate) op: Op,
    pub(crate) axis: Option<&'a Bound<'py, PyAny>>,
    pub(crate) dtype: Option<&'a Bound<'py, PyAny>>,
    pub(crate) out: Option<&'a Bound<'py, PyAny>>,
    pub(crate) keepdims: bool,
    pub(crate) ddof: Correction,
    pub(crate) policy: Policy,
    pub(crate) more: More<'a, 'py>,
    pub(crate) when: When,
    /// The stream that work on a GPU goes to, in place of its library's current one.
    pub(crate) stream: Option<&'a Bound<'py, PyAny>>,
}

/// When an integer result that does not fit is an error, where the result is left on a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// In the call, which waits for the result.
    Now,
    /// In `check()`.
    Later,
}

impl When {
    /// What a caller says of overflow.
    pub(crate) fn of(overflow: &str) -> Self {
        if overflow == "defer" { When::Later } else { When::Now }
    }
}

/// What else a call may choose: which elements count and how much, and the arrays of an expression.
#[derive(Clone, Copy, Default)]
pub(crate) struct More<'a, 'py> {
    pub(crate) initial: Option<&'a Bound<'py, PyAny>>,
    pub(crate) r#where: Option<&'a Bound<'py, PyAny>>,
    pub(crate) weights: Option<&'a Bound<'py, PyAny>>,
    pub(crate) names: Option<&'a Bound<'py, PyDict>>,
}

impl More<'_, '_> {
    pub(crate) fn is_any(&self) -> bool {
        self.initial.is_some() || self.r#where.is_some() || self.weights.is_some()
    }
}

impl<'a, 'py> Call<'a, 'py> {
    /// A reduction of a whole array under a policy.
    pub(crate) fn new(op: Op, policy: Policy) -> Self {
        Call {
            op,
            axis: None,
            dtype: None,
            out: None,
            keepdims: false,
            ddof: Correction::NONE,
            policy,
            more: More::default(),
            when: When::Now,
            stream: None,
        }
    }

    /// How the results of elements of a type are read.
    pub(crate) fn wanted(&self, dtype: DType, home: Home) -> PyResult<Wanted> {
        Wanted::new(self.op, dtype, self.ddof, self.policy, asked(self.dtype, home)?, home)
    }

    /// Reduces an array, all of whose elements count once.
    pub(crate) fn plain(&self, py: Python<'py>, input: &Input) -> PyResult<Bound<'py, PyAny>> {
        let wanted = self.wanted(input.dtype, input.home)?;
        check_bools(py, self.op, input, self.policy)?;
        let ndim = input.shape.len();
        match axes(self.axis)? {
            Axes::Some(axes) if !is_all(&axes, ndim) => self.over(py, input, &axes, &wanted),
            Axes::Some(_) | Axes::All => {
                let output = whole(py, input, self.op, self.policy, &wanted)?;
                let shape = vec![1; if self.keepdims { ndim } else { 0 }];
                self.give(py, input.home, output, &shape, &wanted)
            }
        }
    }

    /// The reduction over some axes; the others are kept.
    fn over(
        &self,
        py: Python<'py>,
        input: &Input,
        axes: &[i64],
        wanted: &Wanted,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (memory, layout) = input.layout()?;
        let folding = Folding::of(layout, axes).map_err(|error| raised(&error))?;
        let form = folding.form().map_err(|error| raised(&error))?;
        let shape = if self.keepdims { folding.shape_kept() } else { folding.shape() };
        let inputs = form.inputs;
        if let Some(missing) = self.missing(&form, wanted)? {
            return self.give_columns(py, input.home, missing, &shape, wanted);
        }
        let request = Request::new(self.op, memory)
            .policy(self.policy)
            .parts(Arc::new(Parts::Axes(form, folding)));
        if let Some(given) = self.at_once(py, input, &request, wanted, &shape)? {
            return Ok(given);
        }
        let columns = columns(py, input.bytes(), &request, wanted, inputs > 0)?;
        self.give_columns(py, input.home, columns, &shape, wanted)
    }

    /// Has results of an array's parts written to where they stay, as they are found; `None` where they are few, or are converted first, or some part may have none.
    pub(crate) fn at_once(
        &self,
        py: Python<'py>,
        input: &Input,
        request: &Request<'_>,
        wanted: &Wanted,
        shape: &[u64],
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some((found, given)) = wanted.as_found() else { return Ok(None) };
        let beforehand = give::beforehand(py, input.home, self.out, given, shape)?;
        let Some((array, mut destination)) = beforehand else { return Ok(None) };
        if !request.is_apart_from(destination.addresses()) {
            return Ok(None);
        }
        let mut memory = destination.memory(found);
        let done =
            run(py, input.bytes(), || engine::columns_into(request, wanted.finish, &mut memory));
        match done {
            Ok(_) => Ok(Some(array)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(raised(&error)),
        }
    }

    /// The results where each is of too few elements, if that is NaN.
    pub(crate) fn missing(&self, form: &Form, wanted: &Wanted) -> PyResult<Option<Columns>> {
        let is_moment = self.op.is_spread();
        let is_missing = form.inputs == 0 || is_moment && self.ddof.takes_all(form.inputs);
        let (true, true, Some(nan)) = (is_missing, is_moment || self.op == Op::Mean, wanted.nan())
        else {
            return Ok(None);
        };
        let mut values = Vec::new();
        let reserved =
            usize::try_from(form.outputs).map(|outputs| values.try_reserve_exact(outputs));
        if !matches!(reserved, Ok(Ok(()))) {
            return Err(PyMemoryError::new_err(format!(
                "there is no memory for {} results; check the shape",
                form.outputs
            )));
        }
        values.resize(form.outputs as usize, nan);
        Ok(Some(vec![(self.op.name(), wanted.typed(Column::of_values(values)))]))
    }

    /// One output, as an array if it has axes.
    pub(crate) fn give(
        &self,
        py: Python<'py>,
        home: Home,
        output: Output,
        shape: &[u64],
        wanted: &Wanted,
    ) -> PyResult<Bound<'py, PyAny>> {
        match output {
            Output::One(value) if shape.is_empty() && self.out.is_none() => {
                give::scalar(py, home, wanted.value(value)?)
            }
            Output::Summary(summary) => crate::stats::summary(py, home, *summary, wanted, shape),
            Output::One(value) => self.give_columns(
                py,
                home,
                vec![("", Column::of_values(vec![value]))],
                shape,
                wanted,
            ),
            Output::Pair(min, max) => {
                let columns = [("min", min), ("max", max)];
                let columns = columns.map(|(name, value)| (name, Column::of_values(vec![value])));
                self.give_columns(py, home, columns.into(), shape, wanted)
            }
        }
    }

    /// Outputs as arrays.
    pub(crate) fn give_columns(
        &self,
        py: Python<'py>,
        home: Home,
        columns: Columns,
        shape: &[u64],
        wanted: &Wanted,
    ) -> PyResult<Bound<'py, PyAny>> {
        if self.op == Op::Stats {
            return crate::stats::columns(py, home, columns, wanted, shape);
        }
        let give = |column: Column| {
            let column = wanted.convert(column)?;
            match self.out {
                Some(out) => give::into(out, &column, shape),
                None => give::array(py, home, &column, shape),
            }
        };
        let mut given =
            columns.into_iter().map(|(_, column)| give(column)).collect::<PyResult<Vec<_>>>()?;
        match self.op {
            Op::MinMax => Ok((given.remove(0), given.remove(0)).into_pyobject(py)?.into_any()),
            _ => Ok(given.remove(0)),
        }
    }
}

pub(crate) fn is_all(axes: &[i64], ndim: usize) -> bool {
    matches!((axes, ndim), ([0 | -1], 1))
}

/// The exact partial of a whole array.
pub(crate) fn partial(
    py: Python<'_>,
    input: &Input,
    op: Op,
    policy: Policy,
) -> PyResult<AnyPartial> {
    // Indices count in C order, and so do the factors of a product.
    let is_ordered = matches!(op, Op::ArgMin | Op::ArgMax | Op::Prod | Op::Stats);
    let partial = match input.contiguous(!is_ordered) {
        Some(x) => {
            let request = Request::new(op, x).policy(policy);
            run(py, input.bytes(), || engine::reduce(&request))
        }
        None => {
            let (memory, layout) = input.layout()?;
            let all: Vec<i64> = (0..input.shape.len() as i64).collect();
            let folding = Folding::of(layout, &all).map_err(|error| raised(&error))?;
            let form = folding.form().map_err(|error| raised(&error))?;
            let request =
                Request::new(op, memory).policy(policy).parts(Arc::new(Parts::Axes(form, folding)));
            let partials = run(py, input.bytes(), || engine::partials(&request));
            partials.map(|mut partials| partials.swap_remove(0))
        }
    };
    partial.map_err(|error| raised(&error))
}

/// The exact partial of an array that starts at some index of a whole.
pub(crate) fn partial_from(
    py: Python<'_>,
    input: &Input,
    op: Op,
    policy: Policy,
    start: u64,
) -> PyResult<AnyPartial> {
    let x = input.run("an array with indices")?;
    let request = Request::new(op, x).policy(policy).starting_at(start);
    run(py, input.bytes(), || engine::reduce(&request)).map_err(|error| raised(&error))
}

/// The result of a whole array.
pub(crate) fn whole(
    py: Python<'_>,
    input: &Input,
    op: Op,
    policy: Policy,
    wanted: &Wanted,
) -> PyResult<Output> {
    finish(&partial(py, input, op, policy)?, op, wanted, !input.is_empty())
}

/// What a partial says, of a whole array that was empty or not.
pub(crate) fn finish(
    partial: &AnyPartial,
    op: Op,
    wanted: &Wanted,
    is_any: bool,
) -> PyResult<Output> {
    settled(wanted.read(partial, op), op, wanted, is_any)
}

/// A result, or what stands for none.
pub(crate) fn settled(
    output: Result<Output>,
    op: Op,
    wanted: &Wanted,
    is_any: bool,
) -> PyResult<Output> {
    match (output, wanted.nan()) {
        (Err(Error::Empty { .. } | Error::TooFew { .. }), Some(nan)) if op.divides() => {
            Ok(Output::One(nan))
        }
        (Err(Error::Empty { op, .. }), _) => Err(raised(&Error::Empty { op, ignored: is_any })),
        (output, _) => output.map_err(|error| raised(&error)),
    }
}

/// Whether an output has no value.
pub(crate) fn is_missing(error: &Error) -> bool {
    matches!(cause(error), Error::Empty { .. } | Error::TooFew { .. })
}

/// The results of an array's parts. A part without a value has NaN, where the type has one and parts of no elements are not all there are.
pub(crate) fn columns(
    py: Python<'_>,
    bytes: u64,
    request: &Request<'_>,
    wanted: &Wanted,
    may_be_nan: bool,
) -> PyResult<Columns> {
    run(py, bytes, || columns_of(request, wanted, may_be_nan)).map_err(|error| raised(&error))
}

/// The same, wherever it runs.
pub(crate) fn columns_of(
    request: &Request<'_>,
    wanted: &Wanted,
    may_be_nan: bool,
) -> Result<Columns> {
    if let (true, Some(nan)) = (wanted.is_corrected(), wanted.nan()) {
        return one_by_one(request, wanted, nan);
    }
    let columns = engine::columns(request, wanted.finish);
    let may_be_nan = may_be_nan && !matches!(request.op, Op::ArgMin | Op::ArgMax | Op::Stats);
    match (columns, wanted.nan()) {
        (Err(error), Some(nan)) if may_be_nan && is_missing(&error) => {
            one_by_one(request, wanted, nan)
        }
        (columns, _) => columns,
    }
}

/// The same from partials, of which each is read alone.
fn one_by_one(request: &Request<'_>, wanted: &Wanted, nan: Value) -> Result<Columns> {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for partial in engine::partials(request)? {
        match wanted.read(&partial, request.op) {
            Ok(Output::One(value)) => first.push(value),
            Ok(Output::Pair(min, max)) => {
                first.push(min);
                second.push(max);
            }
            Ok(Output::Summary(_)) => unreachable!("stats have no NaN of their own"),
            Err(error) if is_missing(&error) => {
                first.push(nan);
                second.push(nan);
            }
            Err(error) => return Err(error),
        }
    }
    let mut columns = vec![("first", Column::of_values(first))];
    if request.op == Op::MinMax {
        columns.push(("second", Column::of_values(second)));
    }
    Ok(columns)
}

/// Refuses bools with bytes other than 0 and 1, where those would count as numbers.
pub(crate) fn check_bools(py: Python<'_>, op: Op, input: &Input, policy: Policy) -> PyResult<()> {
    if input.dtype != DType::Bool || matches!(op, Op::Any | Op::All | Op::Count) || input.is_empty()
    {
        return Ok(());
    }
    let largest = partial(py, input, Op::Max, policy)?.finish(Op::Max, Default::default());
    match largest {
        Ok(Output::One(Value::U8(2..))) => Err(PyValueError::new_err(
            "bytes of this bool array are neither 0 nor 1; make it one with x.view(numpy.uint8) != 0",
        )),
        _ => Ok(()),
    }
}

/// The exact dot product of two arrays of one shape.
pub(crate) fn pair(py: Python<'_>, x: &Input, y: &Input, policy: Policy) -> PyResult<AnyPartial> {
    let op = Op::Dot;
    if x.shape != y.shape {
        return Err(PyValueError::new_err(format!(
            "dot takes two arrays of one shape, and they have {:?} and {:?}; it sums the products of all pairs",
            x.shape, y.shape
        )));
    }
    check_bools(py, op, x, policy)?;
    check_bools(py, op, y, policy)?;
    let partial = match (x.contiguous(false), y.contiguous(false)) {
        (Some(a), Some(b)) => {
            let request = Request::new(op, a).pair(b).policy(policy);
            run(py, x.bytes(), || engine::reduce(&request))
        }
        // Views are read through blocks.
        _ => {
            let pairs = Pairs::new(x, y);
            let mut all = AnyPartial::empty(op, x.read_as());
            run(py, x.bytes(), || {
                pairs.each(|a, b| {
                    let request = Request::new(op, a).pair(b).policy(policy);
                    engine::reduce(&request).map(|partial| all.merge(&partial))
                })?;
                Ok(all)
            })
        }
    };
    partial.map_err(|error| raised(&error))
}
