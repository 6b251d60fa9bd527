"""What a call costs in Python, beside the libraries that are installed, in one run.

    python python/bench/bench.py [--rust target/release/warpfold] [--wheel dist/warpfold.whl] [--export results/python/<date>.json]

Each figure is a median over rounds, and peers take turns within a round, so that a disturbed machine disturbs all of them. Results are
compared with math.fsum or rational arithmetic before anything is timed; peers round as they do, and are not compared.
"""

import argparse
import datetime
import importlib.metadata
import importlib.util
import json
import math
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import timeit
from fractions import Fraction

import numpy as np
import warpfold as wf
from machine import cpu


def have(name):
    return importlib.util.find_spec(name) is not None


def verified(x):
    """The array, once its sum is the exact one rounded."""
    total = sum(map(Fraction, x.astype(np.float64).tolist())) if x.size < 10**6 else None
    expected = x.dtype.type(float(total)) if total is not None and x.dtype == np.float64 else None
    if x.dtype == np.float32 and total is not None:
        # No float32 lies between the two sums that are rounded to it: the nearest float64 decides unless it is a tie.
        near = np.float32(float(total))
        assert abs(Fraction(float(wf.sum(x))) - total) <= min(
            abs(Fraction(float(n)) - total) for n in (near, np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf)))
        )
    elif expected is not None:
        assert wf.sum(x) == expected
    else:
        assert float(wf.sum(x, dtype="float64")) == math.fsum(x)
    return x


def turns(calls, rounds, shortest):
    """The median seconds of a call of each, in turn."""
    number = {}
    for name, call in calls.items():
        call()
        one = max(min(timeit.repeat(call, number=1, repeat=3)), 1e-9)
        number[name] = max(1, math.ceil(shortest / one))
    seconds = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            time.sleep(0.02)  # Threads of the peer before may spin for a while,
            call()  # and this one's sleep by now.
            seconds[name].append(timeit.timeit(call, number=number[name]) / number[name])
    return {
        name: {"median": statistics.median(s), "min": min(s), "quartiles": [float(q) for q in np.quantile(s, [0.25, 0.75])], "rounds": len(s)}
        for name, s in seconds.items()
    }


def peers(x, sums):
    """The same reduction by everything that is here."""
    calls = {"warpfold": lambda: wf.sum(x), "numpy": lambda: np.sum(x), "numpy method": lambda: x.sum()}
    if sums:
        calls["math.fsum"] = lambda: math.fsum(x)
    if have("torch"):
        import torch

        t = torch.from_numpy(x)
        calls["torch"] = lambda: torch.sum(t)
        calls["warpfold of a tensor"] = lambda: wf.sum(t)

        def deterministic():
            torch.use_deterministic_algorithms(True)
            found = torch.sum(t)
            torch.use_deterministic_algorithms(False)
            return found

        calls["torch deterministic"] = deterministic
    if have("polars"):
        import polars

        s = polars.from_numpy(x).to_series() if x.ndim > 1 else polars.Series(x)
        calls["polars"] = lambda: s.sum()
        calls["warpfold of a polars series"] = lambda: wf.sum(s)
    if have("duckdb"):
        import duckdb

        database = duckdb.connect()
        database.execute("CREATE TABLE t AS SELECT column0 AS v FROM x")
        for function in ("sum", "fsum"):
            calls[f"duckdb {function}"] = lambda function=function: database.execute(f"SELECT {function}(v) FROM t").fetchone()[0]
    if have("jax"):
        import jax

        jax.config.update("jax_enable_x64", True)
        j, total = jax.numpy.asarray(x), jax.jit(jax.numpy.sum)
        calls["jax"] = lambda: total(j).block_until_ready()
    return calls


def imports():
    """Milliseconds that an import takes beside a bare interpreter: the median of eleven of each."""
    def run(code):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return (time.perf_counter() - start) * 1e3

    both = [(run("pass"), run("import warpfold")) for _ in range(11)]
    return statistics.median(b - a for a, b in both)


def rust(program):
    """Seconds of the same reduction by the program's own benchmark."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "rust.json"
        subprocess.run(
            [program, "bench", "cpu", "--filter", "^sum/(f32|f64)/natural/256MiB", "--export", str(file)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        report = json.loads(file.read_text())
    return {row["dtype"]: row["seconds"]["median"] for row in report["rows"] if row["bytes"] == 1 << 28}


def chosen(row, rng):
    """Masks, weights, expressions and torch's own functions, small and large."""
    for n in (1000, 1 << 22):
        rounds, shortest = (15, 0.02) if n == 1000 else (11, 0.0)
        x, y, w = rng.standard_normal(n), rng.standard_normal(n), rng.random(n)
        mask = rng.random(n) < 0.5
        kept = x[mask]
        assert wf.sum(x, where=mask) == math.fsum(kept)
        row("sum where", x, {"warpfold": lambda: wf.sum(x, where=mask), "numpy": lambda: np.sum(x, where=mask)}, rounds, shortest)
        row("sum initial", x, {"warpfold": lambda: wf.sum(x, initial=1.0), "numpy": lambda: np.sum(x, initial=1.0)}, rounds, shortest)
        assert wf.mean("x", x=x[:100], weights="w", w=w[:100]) == float(
            sum(Fraction(a) * Fraction(b) for a, b in zip(x[:100].tolist(), w[:100].tolist())) / sum(map(Fraction, w[:100].tolist()))
        )
        row("mean weights", x, {"warpfold": lambda: wf.mean(x, weights=w), "numpy": lambda: np.average(x, weights=w)}, rounds, shortest)
        row("var weights", x, {"warpfold": lambda: wf.var(x, weights=w), "numpy": lambda: np.cov(x, aweights=w, ddof=0)}, rounds, shortest)
        assert wf.sum("abs(x - y)", x=x, y=y) == math.fsum(np.abs(x - y))
        row("sum abs(x - y)", x, {"warpfold": lambda: wf.sum("abs(x - y)", x=x, y=y), "numpy": lambda: np.sum(np.abs(x - y))}, rounds, shortest)
    table, masks = rng.standard_normal((2048, 2048)), rng.random((2048, 2048)) < 0.5
    for axis in (0, 1):
        assert wf.sum(table, axis=axis, where=masks).tolist() == [math.fsum(v[m]) for v, m in zip(*((table, masks) if axis else (table.T, masks.T)))]
        calls = {"warpfold": lambda: wf.sum(table, axis=axis, where=masks), "numpy": lambda: np.sum(table, axis=axis, where=masks)}
        row(f"sum where axis={axis}", table, calls, 11, 0.0)
    if not have("torch"):
        return
    import torch
    import warpfold.torch

    for n in (1000, 1 << 22):
        x = rng.standard_normal(n)
        t = torch.from_numpy(x)

        def inside(function):
            def call():
                with warpfold.torch.exact():
                    return function()

            return call

        assert inside(t.sum)().item() == math.fsum(x)
        rounds, shortest = (15, 0.02) if n == 1000 else (11, 0.0)
        for name in ("sum", "var", "norm"):
            function = getattr(t, name)
            row(f"torch's {name} inside exact", x, {"warpfold": inside(function), "torch": function}, rounds, shortest)
    source, index = torch.from_numpy(rng.standard_normal(100_000)), torch.from_numpy(rng.integers(0, 1000, 100_000))
    zeros = torch.zeros(1000, dtype=torch.float64)
    calls = {"warpfold": inside(lambda: zeros.index_add(0, index, source)), "torch": lambda: zeros.index_add(0, index, source)}
    with warpfold.torch.exact():
        sums = zeros.index_add(0, index, source)
    assert sums.tolist() == [math.fsum(source[index == k]) for k in range(1000)]
    row("torch's index_add inside exact", source.numpy(), calls, 11, 0.0)


def followed(row, rng):
    """Calls that torch and JAX follow: with gradients, and compiled."""
    x = rng.standard_normal(1000).astype(np.float32)
    if have("torch"):
        import torch

        t = torch.from_numpy(x).requires_grad_()
        row("sum with a gradient", x, {"warpfold": lambda: wf.sum(t), "torch": lambda: torch.sum(t)}, 15, 0.02)
        both = {"warpfold": lambda: torch.autograd.grad(wf.sum(t), t), "torch": lambda: torch.autograd.grad(torch.sum(t), t)}
        row("sum and its gradient", x, both, 15, 0.02)
    if have("jax"):
        import jax
        import warpfold.jax

        a = jax.device_put(x, jax.devices("cpu")[0])
        mine, theirs = jax.jit(wf.jax.sum), jax.jit(jax.numpy.sum)
        calls = {"warpfold": lambda: mine(a).block_until_ready(), "jax": lambda: theirs(a).block_until_ready(), "warpfold, eager": lambda: wf.sum(a)}
        row("sum by jax.jit", x, calls, 15, 0.02)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rust", help="the program, for its own figures of 256 MiB")
    parser.add_argument("--wheel", help="a wheel, for its size")
    parser.add_argument("--revision", help="the revision that was built")
    parser.add_argument("--export", help="a JSON file to write")
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    report = {
        "schema": 1,
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "revision": options.revision,
        "machine": {"cpu": cpu(), "cores": os.cpu_count(), "python": platform.python_version()},
        "load_before": os.getloadavg(),
        "versions": {n: importlib.metadata.version(n) for n in ("warpfold", "numpy", "torch", "polars", "jax") if have(n)},
        "import_ms": imports(),
        "rows": [],
    }
    if options.wheel:
        report["wheel_bytes"] = os.path.getsize(options.wheel)

    def row(name, x, calls, rounds, shortest):
        seconds = turns(calls, rounds, shortest)
        report["rows"].append({"name": name, "dtype": x.dtype.name, "n": x.size, "seconds": seconds})
        best = seconds["warpfold"]["median"]
        print(f"{name} {x.dtype} n={x.size}")
        for peer, s in seconds.items():
            print(f"    {peer:28} {s['median'] * 1e6:12.3f} us   {s['median'] / best:6.2f}")

    for kind in (np.float32, np.float64):
        x = verified(rng.standard_normal(1000).astype(kind))
        row("sum", x, peers(x, True), 15, 0.02)
    x = rng.standard_normal(1000).astype(np.float32)
    row("var", x, {"warpfold": lambda: wf.var(x), "numpy": lambda: np.var(x)}, 15, 0.02)
    table = rng.standard_normal((100, 100)).astype(np.float32)
    row("sum over rows", table, {"warpfold": lambda: wf.sum(table, axis=1), "numpy": lambda: np.sum(table, axis=1)}, 15, 0.02)
    chosen(row, rng)
    followed(row, rng)
    for kind in (np.float32, np.float64):
        big = rng.standard_normal((1 << 28) // np.dtype(kind).itemsize, dtype=kind)
        if kind is np.float64:
            assert wf.sum(big[: 1 << 20]) == math.fsum(big[: 1 << 20])
        first = rust(options.rust) if options.rust else {}
        row("sum of 256 MiB", big, peers(big, False), 15, 0.0)
        second = rust(options.rust) if options.rust else {}
        key = "f32" if kind is np.float32 else "f64"
        if key in first:
            report["rows"][-1]["rust_seconds"] = [first[key], second[key]]
            print(f"    {'the Rust program, before':28} {first[key] * 1e6:12.3f} us\n    {'and after':28} {second[key] * 1e6:12.3f} us")
    report["load_after"] = os.getloadavg()
    print(f"import {report['import_ms']:.1f} ms, load {report['load_before'][0]:.1f} to {report['load_after'][0]:.1f}")
    if options.export:
        path = pathlib.Path(options.export)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
