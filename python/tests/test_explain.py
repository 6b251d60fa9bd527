"""What would run, and where; a notebook that shows it."""

import importlib.util
import os
import subprocess
import sys

import numpy as np
import pytest
import warpfold as wf


def test_devices():
    [cpu] = wf.devices()
    assert cpu.kind == "cpu" and cpu.isa in ("baseline", "avx2", "avx512")
    if hasattr(os, "sched_getaffinity") and "RAYON_NUM_THREADS" not in os.environ:
        assert cpu.threads == len(os.sched_getaffinity(0))


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="there is no /proc here")
def test_warm_starts_the_threads():
    code = (
        "import os, warpfold as wf; before = len(os.listdir('/proc/self/task')); assert wf.warm() is None; "
        "after = len(os.listdir('/proc/self/task')); assert after - before >= wf.devices()[0].threads - 1, (before, after); "
        "wf.warm(); assert len(os.listdir('/proc/self/task')) == after"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "op,shape,axis,kernel,outputs",
    [
        ("sum", (4000,), None, "flat", 1),
        ("sum", (40, 100), (0, 1), "flat", 1),
        ("var", (400, 100), 1, "runs", 400),
        ("min", (400, 100), 0, "columns", 100),
        ("count_nonzero", (400, 100), (), "single elements", 40_000),
    ],
)
def test_plans(op, shape, axis, kernel, outputs):
    for dtype in ("float32", "int64"):
        x = np.ones(shape, dtype)
        plan = wf.explain(op, x, axis=axis, threads=1)
        assert (plan.kernel, plan.outputs, plan.elements, plan.bytes) == (kernel, outputs, x.size, x.nbytes)
        assert (plan.op, plan.dtype, plan.threads, plan.device) == (op, dtype, 1, "cpu")
        assert plan.isa == wf.devices()[0].isa
        assert f"{x.nbytes} bytes" in str(plan) and kernel in str(plan)


def test_threads_of_plans():
    big = np.broadcast_to(np.float32(1), (1 << 28,))[:: 1]
    small = wf.explain("sum", np.ones(100))
    assert small.threads == 1
    mask = np.broadcast_to(True, big.shape)
    plan = wf.explain("sum", big, where=mask)
    assert plan.kernel == "masked blocks" and plan.threads == wf.devices()[0].threads and plan.bytes == 5 << 28
    assert wf.explain("sum", big, where=mask, threads=1).threads == 1


def test_what_is_refused():
    x = np.ones(3)
    with pytest.raises(ValueError, match="count_nonzero"):
        wf.explain("median", x)
    with pytest.raises(ValueError, match="axis 2"):
        wf.explain("sum", x, axis=2)
    with pytest.raises(TypeError):
        wf.explain("min", x + 1j)


def test_tables_are_escaped():
    table = wf.explain("sum", np.ones(3))._repr_html_()
    assert table.startswith("<table>") and "<th>isa</th>" in table and "each output" not in table
    odd = wf.Explanation(*["<b>"] * 11)._repr_html_()
    assert "&lt;b&gt;" in odd and "<b>" not in odd


@pytest.mark.skipif(importlib.util.find_spec("nbclient") is None or importlib.util.find_spec("ipykernel") is None, reason="nbclient and ipykernel are not installed")
@pytest.mark.filterwarnings("ignore")
def test_a_notebook_shows_a_table():
    import nbclient
    import nbformat

    cells = ["import numpy as np, warpfold as wf", "wf.explain('sum', np.ones((1000, 8)), axis=0)"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    [output] = notebook.cells[1].outputs
    assert "<th>kernel</th><td>columns</td>" in output["data"]["text/html"]
