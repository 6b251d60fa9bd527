"""What operators of one's own cost, as text, of whole arrays and of parts.

    python python/bench/operators.py [--export results/python/operators.json]

Each figure is a median over rounds, in GB/s of the elements that are read, on one thread and on all. Every result is compared first with the
function that computes the same, where there is one.
"""

import argparse
import datetime
import json
import statistics
import time

import numpy as np
import warpfold as wf
from machine import cpu

N = 1 << 22
WELFORD = """a.n + b.n,
    a.mean + (b.mean - a.mean) * (b.n / (a.n + b.n)),
    a.m2 + b.m2 + (b.mean - a.mean) * (b.mean - a.mean) * (a.n * b.n / (a.n + b.n))"""
OPERATORS = {
    "moments": (wf.operator(state="n: f64, mean: f64, m2: f64", lift="1, x, 0", merge=WELFORD, finish="m2 / n"), wf.var),
    "largest": (
        wf.operator(state="most: f64, at: u64", lift="x, index", merge="max(a.most, b.most), select(b.most > a.most, b.at, a.at)", finish="at"),
        wf.argmax,
    ),
    "logsumexp": (
        wf.operator(
            state="most: f64, s: f64",
            lift="x, 1",
            merge="max(a.most, b.most), a.s * exp(a.most - max(a.most, b.most)) + b.s * exp(b.most - max(a.most, b.most))",
            finish="most + log(s)",
        ),
        None,
    ),
}
SHAPES = {
    "whole": ((N,), None),
    "rows of 4": ((N // 4, 4), 1),
    "rows of 32": ((N // 32, 32), 1),
    "rows of 64": ((N // 64, 64), 1),
    "rows of 100": ((N // 100, 100), 1),
    "rows of 1024": ((N // 1024, 1024), 1),
    "columns of 4": ((4, N // 4), 0),
    "64 columns": ((N // 64, 64), 0),
}


def seconds(call, rounds=5):
    taken = []
    for _ in range(rounds):
        begun = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--export")
    export = parser.parse_args().export
    numbers = np.random.default_rng(1).normal(3, 2, N)
    keys = np.random.default_rng(2).integers(0, 256, N)
    rows = []
    for name, (operator, same) in OPERATORS.items():
        calls = {}
        for shape, (sizes, axis) in SHAPES.items():
            x = numbers[: int(np.prod(sizes))].reshape(sizes)
            if same is not None:
                assert np.allclose(wf.reduce(x, operator, axis), same(x, axis), rtol=1e-9, atol=0), (name, shape)
            calls[shape] = x.nbytes, lambda threads, x=x, axis=axis: wf.reduce(x, operator, axis, threads=threads)
        calls["256 keys"] = numbers.nbytes, lambda threads: wf.group_by(keys, numbers, groups=256, threads=threads).reduce(operator)
        for shape, (size, call) in calls.items():
            rates = {threads: size / seconds(lambda t=threads: call(t)) / 1e9 for threads in (1, None)}
            row = {"operator": name, "shape": shape, "one_thread_gbs": round(rates[1], 3), "all_threads_gbs": round(rates[None], 3)}
            rows.append(row)
            print(row)
    if export:
        about = {"date": datetime.date.today().isoformat(), "cpu": cpu(), "elements": N, "dtype": "float64", "rounds": 5, "rows": rows}
        with open(export, "w") as file:
            file.write(json.dumps(about, indent=1) + "\n")


if __name__ == "__main__":
    main()
