#!/usr/bin/env python3
"""Reductions of rows and columns by torch, where it is installed: the same shapes as `cuda_parts`, one JSON object a line.

parts_torch.py [operations] [types] [MiB]. Times are the device's: events around calls back to back.
"""
import json
import sys

import torch
from torch_time import microseconds

def stats(x, axis):
    """What stats tell, by torch's own calls."""
    var, mean = torch.var_mean(x, axis, correction=0)
    least, most = torch.aminmax(x, dim=axis)
    norms = [torch.linalg.vector_norm(x, order, axis) for order in (1, 2)]
    return [x.sum(axis), mean, var, var.sqrt(), least, most, x.argmin(axis), x.argmax(axis), *norms, x.isnan().sum(axis)]


OPS = {
    "sum": lambda x, axis: x.sum(axis),
    "mean": lambda x, axis: x.mean(axis),
    "var": lambda x, axis: x.var(axis, correction=0),
    "std": lambda x, axis: x.std(axis, correction=0),
    "l1": lambda x, axis: torch.linalg.vector_norm(x, 1, axis),
    "l2": lambda x, axis: torch.linalg.vector_norm(x, 2, axis),
    "linf": lambda x, axis: torch.linalg.vector_norm(x, float("inf"), axis),
    "max": lambda x, axis: x.amax(axis),
    "argmax": lambda x, axis: x.argmax(axis),
    "any": lambda x, axis: x.any(axis),
    "count": lambda x, axis: x.count_nonzero(axis),
    "prod": lambda x, axis: x.prod(axis),
    "stats": stats,
}
TYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64, "i32": torch.int32}


def shapes(n):
    for length in [4, 16, 64, 256, 1024, 4096, 16384]:
        yield [n // length, length], 1
    for rows in [4, 64, 2048]:
        yield [rows, n // rows], 0
    for width in [4, 64]:
        yield [n // width, width], 0
    yield [1, n], 1


def main():
    ops = sys.argv[1].split(",") if len(sys.argv) > 1 else list(OPS)
    types = sys.argv[2].split(",") if len(sys.argv) > 2 else list(TYPES)
    size = int(sys.argv[3]) << 20 if len(sys.argv) > 3 else 256 << 20
    for name in types:
        dtype = TYPES[name]
        n = size // dtype.itemsize
        x = torch.rand(n, device="cuda", dtype=torch.float32) * 2 - 1
        x = (x * 1e6).to(dtype) if name == "i32" else x.to(dtype)
        for op in ops:
            for shape, axis in shapes(n):
                line = {"library": f"torch {torch.__version__}", "op": op, "dtype": name, "shape": shape, "axis": axis}
                try:
                    view = x.view(shape)
                    out = OPS[op](view, axis)
                    us = microseconds(lambda: OPS[op](view, axis))
                    written = sum(one.numel() * one.element_size() for one in (out if isinstance(out, list) else [out]))
                    line |= {"us": round(us, 2), "gb_per_s": round((size + written) / us / 1e3, 1)}
                except RuntimeError as error:
                    line["refused"] = str(error).splitlines()[0][:100]
                print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
