//! Reductions of arrays in the memory of GPUs, after the work that their library has given its stream.
//!
//! ```text
//! a value that kernels leave as the caller wants it   left in an array of the caller's library, in its stream: nothing waits
//! everything else: integers that may overflow, …      the exact partial read on the host, rounded once, sent back
//! ```

pub(crate) mod devices;
pub(crate) mod groups;
pub(crate) mod mapped;
pub(crate) mod mapped_parts;
pub(crate) mod masked;
mod on_device;
pub(crate) mod operators;
mod ranks;
pub(crate) mod rows;
pub(crate) mod segments;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use warpfold_exact::AnyPartial;
use warpfold_exact::partial::{Finish, Output};
use warpfold_gpu::cuda::{Gpu, KeepContext, Reduce, View};
use warpfold_gpu::kernel::value_bytes;
use warpfold_num::{DType, Element, Op, Policy, Result, ResultKind, Value, with_element};

use devices::For;

pub(crate) use devices::_gpus;
pub(crate) use ranks::_rank_sums;

use crate::convert::Wanted;
use crate::errors::raised;
use crate::followed;
use crate::names::name;
use crate::policy::{Axes, axes};
use crate::reduce::{Call, When, is_all, settled};
use crate::take::OnGpu;

/// Reduces an array on a GPU.
pub(crate) fn reduce<'py>(
    py: Python<'py>,
    call: &Call<'_, 'py>,
    x: &OnGpu,
) -> PyResult<Bound<'py, PyAny>> {
    let kept = KeepContext::new();
    let wanted = call.wanted(x.input.dtype, x.input.home)?;
    let ndim = x.input.shape.len();
    let over = match axes(call.axis)? {
        Axes::Some(axes) if !is_all(&axes, ndim) => Some(axes),
        _ => None,
    };
    let is_ordered = matches!(call.op, Op::ArgMin | Op::ArgMax | Op::Stats | Op::Prod);
    let given = match over {
        Some(axes) => rows::over(py, call, x, &axes, &wanted),
        None if !x.input.is_run(!is_ordered) => {
            let all: Vec<i64> = (0..ndim as i64).collect();
            rows::over(py, call, x, &all, &wanted)
        }
        None => whole(py, call, x, &wanted),
    };
    drop(kept);
    given
}

/// The dot product of two arrays on one GPU.
pub(crate) fn dot<'py>(
    py: Python<'py>,
    call: &Call<'_, 'py>,
    x: &OnGpu,
    y: &OnGpu,
) -> PyResult<Bound<'py, PyAny>> {
    let _kept = KeepContext::new();
    let (a, b) = (&x.input, &y.input);
    if a.shape != b.shape || a.dtype != b.dtype || x.gpu != y.gpu {
        return Err(PyValueError::new_err(format!(
            "dot takes two arrays of one shape and type on one GPU, and they have {:?} of {} and {:?} of {}",
            a.shape,
            name(a.dtype),
            b.shape,
            name(b.dtype)
        )));
    }
    if !a.is_run(false) || !b.is_run(false) {
        return Err(PyValueError::new_err(
            "arrays on a GPU must be contiguous for a dot product; give x.contiguous()",
        ));
    }
    let wanted = call.wanted(a.dtype, a.home)?;
    check_bools(py, call, y)?;
    one(py, call, x, Some(y), &wanted)
}

/// One result of all elements, which are one run of memory.
fn whole<'py>(
    py: Python<'py>,
    call: &Call<'_, 'py>,
    x: &OnGpu,
    wanted: &Wanted,
) -> PyResult<Bound<'py, PyAny>> {
    one(py, call, x, None, wanted)
}

/// The same, perhaps of a pair.
fn one<'py>(
    py: Python<'py>,
    call: &Call<'_, 'py>,
    x: &OnGpu,
    y: Option<&OnGpu>,
    wanted: &Wanted,
) -> PyResult<Bound<'py, PyAny>> {
    let shape = vec![1; if call.keepdims { x.input.shape.len() } else { 0 }];
    let read_as = x.input.read_as();
    if let Some(dtype) = type_on_device(call, x, wanted, x.input.len())
        && value_bytes(call.op, read_as, wanted.finish.round_to) == Some(dtype.size())
        && let Some((array, address)) = x.gpu.empty(py, dtype, &shape)?
    {
        with_element!(read_as, T => reduce_into::<T>(call, x, y, wanted.finish, address))?;
        return Ok(array);
    }
    if let Some(array) = deferred(py, call, x, &shape)? {
        return Ok(array);
    }
    check_bools(py, call, x)?;
    let output = with_element!(read_as, T => host::<T>(py, call, x, y, wanted))?;
    let output = settled(output, call.op, wanted, !x.input.is_empty())?;
    call.give(py, x.input.home, output, &shape, wanted)
}

/// An integer result of 64 bits that is left on the GPU, and whether it fits, for `check()` to look at; `None` where nothing is put off.
fn deferred<'py>(
    py: Python<'py>,
    call: &Call<'_, 'py>,
    x: &OnGpu,
    shape: &[u64],
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let dtype = match x.input.dtype {
        dtype if dtype.is_signed() => DType::I64,
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => DType::U64,
        _ => return Ok(None),
    };
    let stays = call.when == When::Later
        && matches!(call.op, Op::Sum | Op::Prod)
        && call.out.is_none()
        && call.dtype.is_none()
        && !x.input.is_empty();
    if !stays {
        return Ok(None);
    }
    // The exact sum in 128 bits; of a product 64, and whether that is all of it.
    let Some((pair, address)) = x.gpu.empty(py, dtype, &[2])? else { return Ok(None) };
    with_element!(x.input.read_as(), T => reduce_into::<T>(call, x, None, Finish::default(), address))?;
    let given = (followed::name(call.op), name(x.input.dtype), pair, shape);
    py.import("warpfold._deferred")?.getattr("note")?.call1(given).map(Some)
}

/// The type of a result of so many elements that the kernels leave as the caller wants it; `None` where it is read on the host.
pub(crate) fn type_on_device(
    call: &Call<'_, '_>,
    x: &OnGpu,
    wanted: &Wanted,
    inputs: u64,
) -> Option<DType> {
    let (op, dtype) = (call.op, x.input.dtype);
    let round_to = wanted.finish.round_to;
    let is_typed = match round_to {
        Some(to) => to == dtype || natural(dtype) == Some(to),
        None => call.dtype.is_none(),
    };
    let is_plain = call.out.is_none() && is_typed && !wanted.is_corrected() && inputs > 0;
    if !is_plain || dtype == DType::Bool && !matches!(op, Op::Any | Op::All | Op::Count) {
        return None;
    }
    use ResultKind::{Index, Magnitude, Pair, RealTotal, Total};
    match op.result() {
        _ if op.is_spread() && wanted.finish.ddof >= inputs => None,
        _ if op.is_ordered() && dtype.is_complex() => None,
        // Whether those of integers fit is seen on the host.
        Total | RealTotal | Magnitude if !dtype.is_float() => None,
        Pair => None,
        // An index or a count of things in memory, or one: far below 2^63.
        Index => Some(DType::I64),
        _ => op.result_dtype(dtype, round_to),
    }
}

/// The type that kernels round floats to, if nothing else is asked for.
fn natural(dtype: DType) -> Option<DType> {
    match dtype {
        DType::F16 | DType::BF16 | DType::F32 => Some(DType::F32),
        DType::F64 => Some(DType::F64),
        _ => None,
    }
}

/// Where an array lies, as the work without the interpreter takes it; whoever makes one holds the array meanwhile.
#[derive(Clone, Copy)]
pub(crate) struct Location {
    pub(crate) first: u64,
    pub(crate) len: u64,
    pub(crate) stream: Option<usize>,
}

impl Location {
    /// Of elements that are one run of memory: in Fortran's order too the first one is that of all indices 0.
    pub(crate) fn of(x: &OnGpu) -> Self {
        Location { first: x.input.address().addr() as u64, len: x.input.len(), stream: x.stream }
    }

    /// Hands the array to a function, to be read after what its stream has been given so far.
    fn read<T: Element, R>(self, gpu: &Gpu, read: impl FnOnce(View<'_, T>) -> R) -> R {
        // SAFETY: the exporter vouches for these elements in its GPU's memory while it is held; bytes of a bool are read as such.
        let view = unsafe { View::from_raw(self.first, self.len as usize) };
        // SAFETY: the stream is the library's, which keeps it while the call lasts.
        let stream = self.stream.map(|stream| unsafe { gpu.borrow_stream(stream as *mut _) });
        match &stream {
            Some(stream) => read(view.after(stream)),
            None => read(view),
        }
    }
}

/// Hands a reduction of an array, or of a pair, to a function, to be run behind the stream of the first.
fn reducing<T: Element, R>(
    gpu: &Gpu,
    policy: Policy,
    x: Location,
    y: Option<Location>,
    run: impl FnOnce(Result<Reduce<'_, T>>) -> R,
) -> R {
    let here = Location { stream: None, ..x };
    here.read::<T, _>(gpu, |a| match y {
        None => run(Ok(gpu.reduce(a).policy(policy))),
        Some(y) => {
            // The first one's stream waits for the second one's, where that is another.
            let y = Location { stream: y.stream.filter(|_| y.stream != x.stream), ..y };
            y.read::<T, _>(gpu, |b| run(gpu.reduce_two(a, b).map(|two| two.policy(policy))))
        }
    })
}

/// Has the value left at an address, in the stream of the array's library.
pub(crate) fn reduce_into<T: Element>(
    call: &Call<'_, '_>,
    x: &OnGpu,
    y: Option<&OnGpu>,
    finish: Finish,
    value: u64,
) -> PyResult<()> {
    let (gpu, stream) = (devices::gpu(x.gpu.number)?, x.stream.unwrap_or(0));
    let (a, b) = (Location::of(x), y.map(Location::of));
    let started = reducing::<T, _>(&gpu, call.policy, a, b, |reduce| {
        let reduce = reduce?;
        // SAFETY: the stream is the library's own. What it is given later comes after this: also what frees or overwrites the array, or reads
        // the value, for which there is room.
        unsafe {
            devices::on_stream(&gpu, x.gpu.number, stream, For::Leaving, |ready| {
                ready.queue.start_as(&reduce, call.op, finish, value)
            })
        }
    });
    started.map_err(|error| raised(&error))
}

/// The result, read on the host, while other Python threads run.
fn host<T: Element>(
    py: Python<'_>,
    call: &Call<'_, '_>,
    x: &OnGpu,
    y: Option<&OnGpu>,
    wanted: &Wanted,
) -> PyResult<Result<Output>> {
    let gpu = devices::gpu(x.gpu.number)?;
    let read = Read { gpu, number: x.gpu.number, op: call.op, policy: call.policy, wanted };
    let (a, b) = (Location::of(x), y.map(Location::of));
    Ok(py.detach(|| read.result::<T>(a, b)))
}

/// The same without the interpreter.
pub(crate) fn finished<T: Element>(
    call: &Call<'_, '_>,
    x: &OnGpu,
    y: Option<&OnGpu>,
    wanted: &Wanted,
) -> PyResult<Result<Output>> {
    let gpu = devices::gpu(x.gpu.number)?;
    let read = Read { gpu, number: x.gpu.number, op: call.op, policy: call.policy, wanted };
    Ok(read.result::<T>(Location::of(x), y.map(Location::of)))
}

/// A result that the host waits for.
struct Read<'a> {
    gpu: Gpu,
    number: i32,
    op: Op,
    policy: Policy,
    wanted: &'a Wanted,
}

impl Read<'_> {
    fn result<T: Element>(&self, x: Location, y: Option<Location>) -> Result<Output> {
        let Read { gpu, number, op, policy, wanted } = self;
        match x.stream {
            // Behind the work of the array's own stream: nothing else has to be waited for.
            Some(stream) if !wanted.is_corrected() => {
                reducing::<T, _>(gpu, *policy, x, y, |reduce| {
                    let reduce = reduce?;
                    // SAFETY: the stream is the library's own, and the result is waited for.
                    unsafe {
                        devices::on_stream(gpu, *number, stream, For::Reading, |ready| {
                            ready.queue.output(&reduce, *op, wanted.finish)
                        })
                    }
                })
            }
            _ if y.is_some() => {
                reducing::<T, _>(gpu, *policy, x, y, |reduce| reduce?.output(*op, wanted.finish))
            }
            _ => x.read::<T, _>(gpu, |view| exact(gpu, view, *op, *policy, wanted)),
        }
    }
}

/// The result of a view, rounded once.
fn exact<T: Element>(
    gpu: &Gpu,
    view: View<'_, T>,
    op: Op,
    policy: Policy,
    wanted: &Wanted,
) -> Result<Output> {
    let reduce = gpu.reduce(view).policy(policy);
    match wanted.is_corrected() {
        true => wanted.read(&reduce.partial(op)?.untyped(), op),
        false => reduce.output(op, wanted.finish),
    }
}

/// The exact partial of all elements, which are one run of memory.
pub(crate) fn partial(py: Python<'_>, x: &OnGpu, op: Op, policy: Policy) -> PyResult<AnyPartial> {
    let _kept = KeepContext::new();
    // The factors of a product are in C order.
    if !x.input.is_run(op != Op::Prod) {
        return Err(PyValueError::new_err(
            "an array on a GPU must be contiguous for an exact partial, which initial and Exact take; give x.contiguous()",
        ));
    }
    check_bools(py, &Call::new(op, policy), x)?;
    let (gpu, location, dtype) = (devices::gpu(x.gpu.number)?, Location::of(x), x.input.read_as());
    let partial = py.detach(|| {
        with_element!(dtype, T => location.read::<T, _>(&gpu, |view| {
            gpu.reduce(view).policy(policy).partial(op).map(|partial| partial.untyped())
        }))
    });
    partial.map_err(|error| raised(&error))
}

/// Refuses bools with bytes other than 0 and 1, where those would count as numbers.
fn check_bools(py: Python<'_>, call: &Call<'_, '_>, x: &OnGpu) -> PyResult<()> {
    let is_counted = matches!(call.op, Op::Any | Op::All | Op::Count);
    if x.input.dtype != DType::Bool || is_counted || x.input.is_empty() {
        return Ok(());
    }
    let largest = Call::new(Op::Max, call.policy);
    let wanted = largest.wanted(DType::U8, x.input.home)?;
    match host::<u8>(py, &largest, x, None, &wanted)? {
        Ok(Output::One(Value::U8(2..))) => Err(PyValueError::new_err(
            "bytes of this bool array are neither 0 nor 1; make it one with x != 0",
        )),
        Ok(_) => Ok(()),
        Err(error) => Err(raised(&error)),
    }
}
