#!/usr/bin/env python3
"""Reductions of rows, columns, segments and by keys by torch, where it is installed: the parts of `cuda_parts`, one JSON object a line.

parts_torch.py [operations] [types] [MiB] [parts], parts being axes (unless given), segments (torch.segment_reduce) or keys (scatter_reduce, whose indices have 64
bits). Times are the device's: events around calls back to back.
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


# Names of reductions in torch.segment_reduce and scatter_reduce.
OF_SEGMENTS = {"sum": "sum", "mean": "mean", "max": "max", "min": "min", "prod": "prod"}
OF_KEYS = OF_SEGMENTS | {"max": "amax", "min": "amin"}


def axes(op, x):
    """What describes each part, bytes that are read beside the elements, and the call."""
    for shape, axis in shapes(len(x)):
        view = x.view(shape)
        yield {"shape": shape, "axis": axis}, 0, lambda: OPS[op](view, axis)


def segments(op, x):
    for length in [4, 16, 64, 1024, 16384, None]:
        if length is None:
            lengths = torch.randint(1, 65, (len(x) // 32,), device="cuda")
            offsets = torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])
            offsets = torch.cat([offsets[offsets < len(x)], lengths.new_tensor([len(x)])])
        else:
            offsets = torch.arange(0, len(x) + 1, length, device="cuda")
        name = "random up to 64" if length is None else f"every {length}"
        yield {"segments": name}, 8 * len(offsets), lambda: torch.segment_reduce(x, OF_SEGMENTS[op], offsets=offsets, axis=0, unsafe=True)


def keys(op, x):
    for bits in [8, 16, 20]:
        numbers = torch.randint(0, 1 << bits, (len(x),), device="cuda")
        out = torch.zeros(1 << bits, device="cuda", dtype=x.dtype)
        yield {"keys": f"2^{bits}"}, 8 * len(x), lambda: out.scatter_reduce(0, numbers, x, reduce=OF_KEYS[op], include_self=False)


def main():
    known = {"axes": axes, "segments": segments, "keys": keys}
    parts = sys.argv[4] if len(sys.argv) > 4 else "axes"
    all_ops = OPS if parts == "axes" else OF_SEGMENTS
    ops = [op for op in (sys.argv[1].split(",") if len(sys.argv) > 1 else all_ops) if op in all_ops]
    types = sys.argv[2].split(",") if len(sys.argv) > 2 else list(TYPES)
    size = int(sys.argv[3]) << 20 if len(sys.argv) > 3 else 256 << 20
    for name in types:
        dtype = TYPES[name]
        n = size // dtype.itemsize
        x = torch.rand(n, device="cuda", dtype=torch.float32) * 2 - 1
        x = (x * 1e6).to(dtype) if name == "i32" else x.to(dtype)
        for op in ops:
            for described, beside, call in known[parts](op, x):
                line = {"library": f"torch {torch.__version__}", "op": op, "dtype": name, **described}
                try:
                    out = call()
                    us = microseconds(call)
                    written = sum(one.numel() * one.element_size() for one in (out if isinstance(out, list) else [out]))
                    line |= {"us": round(us, 2), "gb_per_s": round((size + beside + written) / us / 1e3, 1)}
                except RuntimeError as error:
                    line["refused"] = str(error).splitlines()[0][:100]
                print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
