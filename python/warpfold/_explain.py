"""How a reduction would run, and where."""

from collections import namedtuple

from . import _core
from ._types import Device


def devices():
    """The devices that reductions run on.

    The processor, and the GPUs whose arrays are taken; a GPU's instruction set is its architecture, and its threads are its own affair: 0.

    Returns
    -------
    list of Device
        Each with its kind, name, instruction set and threads.

    Examples
    --------
    >>> import warpfold as wf
    >>> wf.devices()[0].kind
    'cpu'
    """
    isa, threads = _core._processor()
    gpus = [Device("cuda", f"cuda:{number} {name}", architecture, 0) for number, name, architecture in _core._gpus()]
    return [Device("cpu", "cpu:0", isa, threads), *gpus]


class Explanation(
    namedtuple("Explanation", ["op", "dtype", "elements", "outputs", "bytes", "device", "isa", "threads", "kernel", "why", "workspace"])
):
    """How a reduction would run; printed as a sentence, and in notebooks as a table."""

    __slots__ = ()

    def __str__(self):
        threads = "thread" if self.threads == 1 else "threads"
        outputs = "output" if self.outputs == 1 else "outputs"
        return (
            f"{self.op} of {self.elements} {self.dtype} ({self.bytes} bytes), {self.outputs} {outputs}: on {self.device} by {self.threads} {threads}, "
            f"{self.isa} kernels, {self.kernel} ({self.why}), {self.workspace} bytes of workspace"
        )

    def _repr_html_(self):
        # Not needed to import the package.
        import html

        rows = "".join(f"<tr><th>{name}</th><td>{html.escape(str(value))}</td></tr>" for name, value in self._asdict().items())
        return f"<table>{rows}</table>"


Explanation.__module__ = "warpfold"


def explain(op, x, /, axis=None, *, where=None, accuracy="exact", nan="propagate", threads=None):
    """How a reduction would run: nothing is reduced.

    Parameters
    ----------
    op : str
        The name of a function of one array, as ``'sum'``.
    x : array
        What it would reduce.
    axis : int or tuple of int, optional
        The axes it would reduce. By default all of them.
    where : array of bool, optional
        Its mask.
    accuracy : {'exact', 'fast'}
        As the function's.
    nan : {'propagate', 'ignore'}
        As the function's.
    threads : int, optional
        As the function's.

    Returns
    -------
    Explanation
        The instruction set, threads, kernel and the bytes that are read. A sentence where it is printed, a table in notebooks.

    Examples
    --------
    >>> import numpy as np
    >>> import warpfold as wf
    >>> wf.explain("sum", np.ones((1000, 8)), axis=0).kernel
    'columns'
    """
    return Explanation(**_core._explain(op, x, axis, where, accuracy, nan, threads))
