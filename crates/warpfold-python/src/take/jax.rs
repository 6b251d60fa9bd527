//! JAX's arrays in host memory, and arrays for results. Those in a GPU's memory are reduced by XLA's call of this library, in its stream.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use super::{Followed, Home, Taken, dlpack, imported};

struct Jax {
    array: Py<PyAny>,
    tracer: Py<PyAny>,
    asarray: Py<PyAny>,
    config: Py<PyAny>,
}

static JAX: PyOnceLock<Jax> = PyOnceLock::new();

impl Jax {
    fn of(jax: &Bound<'_, PyAny>) -> PyResult<Jax> {
        Ok(Jax {
            array: jax.getattr("Array")?.unbind(),
            tracer: jax.getattr("core")?.getattr("Tracer")?.unbind(),
            asarray: jax.getattr("numpy")?.getattr("asarray")?.unbind(),
            config: jax.getattr("config")?.unbind(),
        })
    }
}

/// JAX, if the program has imported it.
fn loaded(py: Python<'_>) -> Option<&'static Jax> {
    if let Some(jax) = JAX.get(py) {
        return Some(jax);
    }
    let jax = imported(py, "jax", "numpy")?;
    JAX.get_or_try_init(py, || Jax::of(&jax)).ok()
}

/// An array of JAX, if it is one; `None` if it is none.
pub(super) fn take(x: &Bound<'_, PyAny>) -> Option<PyResult<Taken>> {
    let py = x.py();
    let jax = loaded(py)?;
    if !x.is_instance(jax.array.bind(py)).ok()? {
        return None;
    }
    if x.is_instance(jax.tracer.bind(py)).ok()? {
        return Some(Ok(Taken::Followed(Followed::Jax)));
    }
    Some(dlpack::device(x).and_then(|device| {
        if dlpack::is_cuda(device.0) {
            return Ok(Taken::Followed(Followed::JaxOnGpu));
        }
        let home = Home::Jax { is_narrow: !is_wide(py, jax) };
        dlpack::take_of(x, device, home).map(Taken::Array)
    }))
}

/// Whether JAX has numbers of 64 bits.
fn is_wide(py: Python<'_>, jax: &Jax) -> bool {
    let is_wide = jax.config.bind(py).getattr("jax_enable_x64");
    is_wide.is_ok_and(|is_wide| is_wide.is_truthy().unwrap_or(false))
}

/// A scalar or an array of NumPy as one of JAX.
pub(crate) fn array<'py>(result: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = result.py();
    let jax = JAX.get(py).unwrap_or_else(|| unreachable!("an array of JAX was taken"));
    jax.asarray.bind(py).call1((result,))
}
