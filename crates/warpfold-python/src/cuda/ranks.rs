//! Rows of ranks on a GPU: the sums of their columns, in the stream of their library.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use warpfold_gpu::cuda::KeepContext;
use warpfold_gpu::kernel::RankSums;

use super::{Location, devices};
use crate::errors::raised;
use crate::take::{OnGpu, Taken, take_any};

/// Writes the sums of the columns of `rows`, each rounded once, to `out`: `rows` holds a row of every rank. Both lie on one GPU; nothing waits.
#[pyfunction]
pub(crate) fn _rank_sums(rows: &Bound<'_, PyAny>, out: &Bound<'_, PyAny>) -> PyResult<()> {
    let _kept = KeepContext::new();
    let (rows, out) = (on_gpu(rows)?, on_gpu(out)?);
    let [ranks, columns] = rows.input.shape[..] else {
        return Err(PyValueError::new_err("rows of ranks have two axes; give them as such"));
    };
    out.check_results(rows.input.dtype, &[columns])?;
    if ranks == 0 || rows.gpu.number != out.gpu.number {
        return Err(PyValueError::new_err(
            "rows of ranks are one at least, and their sums lie on the same GPU; give such arrays",
        ));
    }
    let gpu = devices::gpu(rows.gpu.number)?;
    let sums = RankSums {
        dtype: rows.input.dtype,
        rows: Location::of(&rows).first,
        pitch: columns,
        ranks,
        columns,
        own: None,
        out: Location::of(&out).first,
    };
    let launch = sums.launch(gpu.facts().multiprocessors).map_err(|error| raised(&error))?;
    let stream = rows.stream.unwrap_or(0);
    // SAFETY: the stream is the library's own. What it is given later comes after this: also what frees or overwrites the rows, or reads the sums.
    let started = unsafe {
        devices::on_stream(&gpu, rows.gpu.number, stream, devices::For::Leaving, |ready| {
            ready.queue.start_batched(&[launch])
        })
    };
    started.map_err(|error| raised(&error))
}

/// An array on a GPU whose elements lie one behind the other.
fn on_gpu(x: &Bound<'_, PyAny>) -> PyResult<OnGpu> {
    match take_any(x)? {
        Taken::Gpu(x) if x.input.is_run(false) => Ok(x),
        _ => Err(PyTypeError::new_err(
            "rows of ranks and their sums are contiguous arrays on a GPU; give such",
        )),
    }
}
