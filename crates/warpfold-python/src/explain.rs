//! What would run, and where: the plan that the engine makes, as Python has it.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use warpfold_engine::{self as engine, Parts, Request};
use warpfold_num::Op;
use warpfold_plan::shape::Folding;

use crate::errors::raised;
use crate::kept::Kept;
use crate::masked::mask;
use crate::names::name;
use crate::policy::policy;
use crate::reduce::Call;
use crate::take::{BLOCK, Views, take};

/// The processor: its instruction set and its threads.
#[pyfunction]
pub(crate) fn _processor() -> (String, usize) {
    let facts = engine::facts();
    (facts.isa.to_string(), facts.threads)
}

/// Starts the threads and chooses the instruction set, which the first reduction would do otherwise.
///
/// It may be called any number of times, and after a fork again. No result depends on it.
///
/// Examples
/// --------
/// >>> import warpfold as wf
/// >>> wf.warm()
#[pyfunction]
pub(crate) fn warm(py: Python<'_>) {
    let _ = engine::facts();
    crate::run::start(py);
}

fn op(text: &str) -> PyResult<Op> {
    if text == "count_nonzero" {
        return Ok(Op::Count);
    }
    let known = text.parse().ok().filter(|op| !matches!(op, Op::Count | Op::Dot));
    known.ok_or_else(|| {
        let names = Op::ALL.iter().filter(|op| !matches!(op, Op::Count | Op::Dot));
        let names: Vec<_> = names.map(|op| op.name()).chain(["count_nonzero"]).collect();
        PyValueError::new_err(format!(
            "no reduction of an array is called {text:?}; there are {}",
            names.join(", ")
        ))
    })
}

/// The plan of a reduction, by name.
#[pyfunction]
#[pyo3(signature = (op_name, x, axis, r#where, accuracy, nan, threads))]
#[allow(clippy::too_many_arguments, reason = "keywords")]
pub(crate) fn _explain<'py>(
    py: Python<'py>,
    op_name: &str,
    x: &Bound<'py, PyAny>,
    axis: Option<&Bound<'py, PyAny>>,
    r#where: Option<&Bound<'py, PyAny>>,
    accuracy: &str,
    nan: &str,
    threads: Option<i64>,
) -> PyResult<Bound<'py, PyDict>> {
    let op = op(op_name)?;
    let policy = policy(accuracy, nan, "raise", threads)?;
    let input = take(x)?;
    engine::check(op, input.read_as()).map_err(|error| raised(&error))?;
    let kept = Kept::new(&Call { axis, ..Call::new(op, policy) }, &input.shape)?;
    let mask = mask(r#where)?;
    let outputs: u64 = kept.outer.iter().product();
    let plan = PyDict::new(py);
    plan.set_item("op", op_name)?;
    plan.set_item("dtype", name(input.dtype))?;
    plan.set_item("elements", input.len())?;
    plan.set_item("outputs", outputs)?;
    let is_ordered = matches!(op, Op::ArgMin | Op::ArgMax | Op::Prod | Op::Stats);
    let set = |isa: String, threads: usize, bytes: u64, kernel: &str, why: &str, workspace: u64| {
        plan.set_item("device", "cpu")?;
        plan.set_item("isa", isa)?;
        plan.set_item("threads", threads)?;
        plan.set_item("bytes", bytes)?;
        plan.set_item("kernel", kernel)?;
        plan.set_item("why", why)?;
        plan.set_item("workspace", workspace)
    };
    if let Some(mask) = &mask {
        let inputs = [("x", &input), ("where", mask)];
        let views = Views::new(&input.shape, &kept.is_reduced, &inputs)?;
        let threads = crate::fold::threads_of(&views, policy.threads);
        let block = BLOCK * (input.dtype.size() + 1) * threads;
        let isa = engine::facts().isa.to_string();
        set(
            isa,
            threads,
            views.bytes(),
            "masked blocks",
            "elements that count are copied together first",
            block as u64,
        )?;
    } else if kept.is_whole
        && let Some(array) = input.contiguous(!is_ordered)
    {
        let made = engine::plan(&Request::new(op, array).policy(policy));
        set(
            made.isa.to_string(),
            made.threads,
            input.bytes(),
            "flat",
            "the elements are one run of memory",
            0,
        )?;
    } else {
        let (memory, layout) = input.layout()?;
        let axes = kept.axes();
        let folding = Folding::of(layout, &axes).map_err(|error| raised(&error))?;
        let form = folding.form().map_err(|error| raised(&error))?;
        let request = Request::new(op, memory).policy(policy);
        let request = request.parts(Arc::new(Parts::Axes(form, folding)));
        if let Some(made) = engine::plan_parts(&request) {
            let (isa, way) = (made.isa.to_string(), made.way);
            set(isa, made.threads, input.bytes(), &way.to_string(), way.why(), made.workspace)?;
        }
    }
    Ok(plan)
}
