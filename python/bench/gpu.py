"""Reductions of tensors on a GPU, beside torch's own, and of whole arrays beside CuPy's and JAX's where those are installed, as JSON: python gpu.py > results/MACHINE/python.json

Results are checked first: sums against math.fsum up to 2^24 elements, everything against the same call on the host.
`enqueue` is the host's time for a call whose result stays on the GPU; `value` the time until it is a number on the host, `host` the same by `out=` on the
host; `device` the time of a call on the GPU, between events around many of them. Medians of repetitions in turns; microseconds.
`torch deterministic` is torch under use_deterministic_algorithms; `cuda.compute` is CUB by its Python interface, prepared once, into memory that is
there before; it does not offer CUB's gpu_to_gpu determinism. JAX has streams of its own, which the events know nothing of: its `device` is left out.
"""

import importlib.metadata
import importlib.util
import json
import math
import os
import statistics
import time

import machine
import torch
import warpfold as wf
from warpfold.torch import exact

REPEAT = 15

# JAX would take most of the memory.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
LIBRARIES = [name for name in ("cupy", "jax") if importlib.util.find_spec(name)]
if importlib.util.find_spec("cuda") and importlib.util.find_spec("cuda.compute"):
    LIBRARIES.append("cuda.compute")
PACKAGES = {"cupy": "cupy-cuda13x", "cuda.compute": "cuda-cccl"}


def deterministic(f):
    """The same, as torch does it where it is told to be deterministic."""

    def call():
        torch.use_deterministic_algorithms(True)
        try:
            return f()
        finally:
            torch.use_deterministic_algorithms(False)

    return call


def peers_of(x):
    """The same reductions of an array by the other libraries, by their names and operations."""
    found = {}
    if "cupy" in LIBRARIES:
        import cupy

        c = cupy.from_dlpack(x)
        found["cupy"] = {
            "sum": lambda: cupy.sum(c),
            "var": lambda: cupy.var(c, ddof=1),
            "l2": lambda: cupy.linalg.norm(c),
            "sumsq": lambda: cupy.dot(c, c),
            "max": lambda: cupy.amax(c),
            "argmax": lambda: cupy.argmax(c),
            "dot": lambda: cupy.dot(c, c),
        }
    if "cuda.compute" in LIBRARIES:
        found["cuda.compute"] = {op: cub(x, op) for op in ("sum", "max")}
    if "jax" in LIBRARIES:
        import jax
        import jax.numpy as jnp

        j = jax.device_put(x.cpu().numpy(), jax.devices("gpu")[0])
        functions = {
            "sum": jnp.sum,
            "var": lambda j: jnp.var(j, ddof=1),
            "l2": jnp.linalg.norm,
            "sumsq": lambda j: jnp.sum(j * j),
            "max": jnp.max,
            "argmax": jnp.argmax,
            "dot": lambda j: jnp.dot(j, j),
        }
        found["jax"] = {op: (lambda f: lambda: f(j))(jax.jit(f)) for op, f in functions.items()}
    return found


def cub(x, op):
    """A reduction by cuda.compute, prepared as its documentation advises for many calls; returns the tensor that it writes into."""
    import cuda.compute as cc
    import numpy as np

    out = torch.empty(1, dtype=x.dtype, device=x.device)
    start = np.array([0 if op == "sum" else -np.inf], dtype=str(x.dtype).removeprefix("torch."))
    operator = cc.OpKind.PLUS if op == "sum" else cc.OpKind.MAXIMUM
    reducer = cc.make_reduce_into(d_in=x, d_out=out, op=operator, h_init=start)
    given = {"d_in": x, "d_out": out, "num_items": x.numel(), "op": operator, "h_init": start}
    storage = torch.empty(reducer(temp_storage=None, **given), dtype=torch.uint8, device=x.device)

    class Stream:
        def __cuda_stream__(self):
            return (0, torch.cuda.current_stream().cuda_stream)

    stream = Stream()

    def call():
        reducer(temp_storage=storage, stream=stream, **given)
        return out

    return call


def microseconds(f, calls):
    start = time.perf_counter()
    for _ in range(calls):
        f()
    return (time.perf_counter() - start) / calls * 1e6


def enqueue(f, calls):
    torch.cuda.synchronize()
    found = microseconds(f, calls)
    torch.cuda.synchronize()
    return found


def on_device(f, calls):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    begin.record()
    for _ in range(calls):
        f()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / calls * 1e3


def measured(functions, calls, host=None):
    """Each function's medians; all of them in turns."""
    found = {name: {"enqueue": [], "value": [], "device": []} for name in functions}
    if host:
        found["warpfold"]["host"] = []
    for _ in range(REPEAT):
        if host:
            found["warpfold"]["host"].append(microseconds(lambda: host().item(), calls))
        for name, f in functions.items():
            found[name]["enqueue"].append(enqueue(f, calls))
            if name == "jax":
                f().block_until_ready()
            # One element of an array of JAX would be a program more.
            number = (lambda: f().item()) if name == "jax" else (lambda: f().reshape(-1)[0].item())
            found[name]["value"].append(microseconds(number, calls))
            if name != "jax":
                found[name]["device"].append(on_device(f, calls))
    for times in found.values():
        if not times["device"]:
            del times["device"]
    return {name: {kind: statistics.median(times) for kind, times in kinds.items()} for name, kinds in found.items()}


def inside_exact(f):
    """The same, as `exact()` does it; entering is a part of each call."""

    def call():
        with exact():
            return f()

    return call


def calls_of(elements):
    return max(5, min(200, (1 << 26) // max(elements, 1)))


def models():
    """What models reduce, as torch does it, plainly and deterministically, and as it does it inside `exact()`."""
    rows = []
    for dtype in (torch.float32, torch.bfloat16):
        x = torch.randn((4096, 4096), device="cuda").to(dtype)
        index = torch.randint(0, 1000, (4096,), device="cuda")
        table = torch.zeros((1000, 4096), device="cuda", dtype=dtype)
        for op, f in {
            "sum": lambda: x.sum(),
            "sum of rows": lambda: x.sum(-1),
            "sum of columns": lambda: x.sum(0),
            "mean of rows": lambda: x.mean(-1),
            "var of rows": lambda: x.var(-1),
            "var of columns": lambda: x.var(0),
            "norm of rows": lambda: torch.linalg.vector_norm(x, dim=-1),
            "index_add": lambda: table.index_add(0, index, x),
        }.items():
            functions = {"warpfold": inside_exact(f), "torch": f, "torch deterministic": deterministic(f)}
            times = measured(functions, 5)
            rows.append({"op": f"{op}, torch's, inside exact", "dtype": str(dtype)[6:], "shape": [4096, 4096], "axis": None, "us": times})
    return rows


def main():
    rows = []
    for log in (10, 16, 20, 24, 28):
        x = torch.randn(1 << log, device="cuda") * 1e3
        expected = wf.sum(x.cpu())
        assert wf.sum(x).item() == expected.item()
        if log <= 24:
            assert expected.item() == torch.tensor(math.fsum(x.cpu().double().tolist())).item()
        others = peers_of(x)
        for op, mine, peer in (
            ("sum", lambda: wf.sum(x), lambda: torch.sum(x)),
            ("var", lambda: wf.var(x, correction=1), lambda: torch.var(x)),
            ("l2", lambda: wf.l2(x), lambda: torch.linalg.vector_norm(x)),
            ("sumsq", lambda: wf.sumsq(x), lambda: torch.dot(x, x)),
            ("max", lambda: wf.max(x), lambda: torch.amax(x)),
            ("argmax", lambda: wf.argmax(x), lambda: torch.argmax(x)),
            ("dot", lambda: wf.dot(x, x), lambda: torch.dot(x, x)),
        ):
            out = torch.empty((), dtype=torch.int64 if op == "argmax" else torch.float32)
            correction = {"correction": 1} if op == "var" else {}
            host = None if op == "dot" else lambda: getattr(wf, op)(x, out=out, **correction)
            functions = {"warpfold": mine, "torch": peer, "torch deterministic": deterministic(peer)}
            functions |= {name: calls[op] for name, calls in others.items() if op in calls}
            times = measured(functions, calls_of(1 << log), host)
            rows.append({"op": op, "dtype": "float32", "shape": [1 << log], "axis": None, "us": times})
    for dtype in (torch.float32, torch.bfloat16):
        for shape in ((4096, 4096), (65536, 1024), (1024, 16384)):
            x = torch.randn(shape, device="cuda").to(dtype)
            for op, mine, peer in (
                ("sum", lambda: wf.sum(x, axis=1), lambda: torch.sum(x, 1)),
                ("max", lambda: wf.max(x, axis=1), lambda: torch.amax(x, 1)),
                ("l2", lambda: wf.l2(x, axis=1), lambda: torch.linalg.vector_norm(x, dim=1)),
            ):
                assert mine().cpu().equal(getattr(wf, op)(x.cpu(), axis=1))
                times = measured({"warpfold": mine, "torch": peer}, 5)
                rows.append({"op": op, "dtype": str(dtype)[6:], "shape": list(shape), "axis": 1, "us": times})
    rows += models()
    about = machine.gpu()
    about["versions"] |= {name: importlib.metadata.version(PACKAGES.get(name, name)) for name in LIBRARIES}
    print(json.dumps({**about, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
