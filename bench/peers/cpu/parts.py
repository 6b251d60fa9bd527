"""Times NumPy's reductions of rows and columns as crates/warpfold-engine/examples/parts.rs times the project's: a line of JSON a row."""

import json
import sys
import time

import numpy as np

OPS = {
    "sum": np.sum,
    "mean": np.mean,
    "var": np.var,
    "std": np.std,
    "l2": np.linalg.norm,
    "prod": np.prod,
    "min": np.min,
    "max": np.max,
    "argmin": np.argmin,
    "argmax": np.argmax,
    "any": np.any,
    "all": np.all,
    "count": np.count_nonzero,
}
TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i32": np.int32, "complex64": np.complex64}


def least(work):
    work()
    begin, best = time.perf_counter(), float("inf")
    while time.perf_counter() - begin < 0.2:
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def main():
    ops = sys.argv[1].split(",") if len(sys.argv) > 1 else list(OPS)
    types = sys.argv[2].split(",") if len(sys.argv) > 2 else list(TYPES)
    size = (int(sys.argv[3]) if len(sys.argv) > 3 else 32) << 20
    random = np.random.default_rng(1)
    for name in types:
        dtype = np.dtype(TYPES[name])
        n = size // dtype.itemsize
        x = random.random(n)
        x = (x * 2e9 - 1e9 if name == "i32" else x + 1j * random.random(n) if name == "complex64" else x).astype(dtype)
        shapes = [((n // k, k), 1) for k in (4, 16, 64, 1024, 16384)]
        shapes += [((k, n // k), 0) for k in (4, 64, 2048)] + [((n // k, k), 0) for k in (4, 64)]
        for op in (op for op in ops if op in OPS):
            with np.errstate(all="ignore"):
                for shape, axis in shapes:
                    rows, work = x.reshape(shape), OPS[op]
                    seconds = least(lambda: work(rows, axis=axis))
                    rate = round(x.nbytes / seconds / 1e9, 3)
                    print(json.dumps({"library": f"numpy {np.__version__}", "op": op, "dtype": name, "shape": list(shape), "axis": axis, "gb_per_s": rate}), flush=True)


main()
