"""Reductions by NumPy, Polars and the standard library, called one at a time by the Rust driver.

Requests and answers are JSON, one a line: {"load": PATH, "op": NAME} makes an array the current one and lists who has the
reduction; {"call": INDEX} makes one call and gives its seconds, its value and the value's type.
"""

import json
import math
import platform
import sys
import time

import numpy as np
import polars as pl

NUMPY = f"NumPy {np.__version__}"
POLARS = f"Polars {pl.__version__}"
PYTHON = f"Python {platform.python_version()}"


def numpy_calls(op, x, y):
    return {
        "sum": ("np.sum(x)", lambda: np.sum(x)),
        "max": ("np.max(x)", lambda: np.max(x)),
        "argmax": ("np.argmax(x)", lambda: np.argmax(x)),
        "prod": ("np.prod(x)", lambda: np.prod(x)),
        "var": ("np.var(x)", lambda: np.var(x)),
        "l2": ("np.linalg.norm(x)", lambda: np.linalg.norm(x)),
        "dot": ("np.dot(x, y)", lambda: np.dot(x, y)),
    }.get(op)


def polars_calls(op, x, y):
    s, t = pl.Series(x), pl.Series(y)
    return {
        "sum": ("s.sum()", lambda: s.sum()),
        "max": ("s.max()", lambda: s.max()),
        "argmax": ("s.arg_max()", lambda: s.arg_max()),
        "prod": ("s.product()", lambda: s.product()),
        "var": ("s.var(ddof=0)", lambda: s.var(ddof=0)),
        "dot": ("s.dot(t)", lambda: s.dot(t)),
    }.get(op)


def fsum_calls(op, x, _):
    if op != "sum" or x.dtype.kind != "f":
        return None
    # A list of Python floats made beforehand is the fastest input for it.
    numbers = x.astype(np.float64).tolist()
    return "math.fsum(list)", lambda: math.fsum(numbers)


def entries(op, array):
    half = len(array) // 2
    x, y = (array[:half], array[half : 2 * half]) if op == "dot" else (array, array[:0])
    found = []
    for library, calls in ((NUMPY, numpy_calls), (POLARS, polars_calls), (PYTHON, fsum_calls)):
        try:
            if offer := calls(op, x, y):
                call, run = offer
                found.append((library, call, run))
        except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
            print(f"{library} has no {op} of {array.dtype}: {error}", file=sys.stderr)
    return found


def answer_call(run):
    start = time.perf_counter()
    try:
        value = run()
    except (OverflowError, TypeError, ValueError, pl.exceptions.PolarsError) as error:
        return {"error": f"{type(error).__name__}: {error}"}
    seconds = time.perf_counter() - start
    if value is None:
        return {"error": "no value"}
    integer = isinstance(value, (int, np.integer))
    text = str(int(value)) if integer else repr(float(value))
    kind = value.dtype.name if isinstance(value, np.generic) else type(value).__name__
    return {"seconds": seconds, "value": text, "type": kind}


def main():
    found = []
    for line in sys.stdin:
        request = json.loads(line)
        if "load" in request:
            found = []  # frees the last array first
            found = entries(request["op"], np.load(request["load"]))
            answer = [{"library": library, "call": call} for library, call, _ in found]
        else:
            answer = answer_call(found[request["call"]][2])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
