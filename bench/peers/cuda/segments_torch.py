#!/usr/bin/env python3
"""Sums of float32 over rows and axes by torch, where it is installed: one JSON object a line, shapes named as warpfold bench segments names them.

Device events around calls back to back, the median of nine samples of about 4 ms; the same array of 1 GiB again, as warpfold's. A few sums are compared
with those in double precision before they are timed; what torch cannot do has a line on standard error.
"""
import json
import sys

from torch_time import microseconds

N = 1 << 28


def shapes():
    """Name, lengths, the axis that is folded, whether the array is transposed."""
    for length in [1, 3, 16, 31, 256, 4096, 1 << 16, 1 << 24, N]:
        yield f"every {length}", [N // length, length], 1, False
    matrices = [[1 << 14, 1 << 14], [N // 4, 4], [4, N // 4], [3, N // 3], [512, 3, 512, 341]]
    for lengths in matrices:
        for axis in range(len(lengths)):
            yield f"{lengths} axis {axis}", lengths, axis, False
    for lengths in matrices[:2]:
        for axis in range(2):
            yield f"{lengths[::-1]} transposed axis {axis}", lengths, axis, True


def main():
    import torch

    peer = f"torch {torch.__version__}"
    numbers = torch.rand(N, device="cuda") * 2 - 1

    for name, lengths, axis, transposed in shapes():
        n = 1
        for length in lengths:
            n *= length
        x = numbers[:n].view(lengths)
        x = x.t() if transposed else x
        try:
            found = x.sum(axis)
            few = (slice(0, 5),) * found.dim()
            kept = tuple(slice(None) if k == axis else slice(0, 5) for k in range(x.dim()))
            off = (found[few].double() - x[kept].double().sum(axis)).abs().max().item()
            if off > 2**-22 * (1 + x.shape[axis]):
                raise ArithmeticError(f"off by {off}")
            outputs = found.numel()
            del found
            us = microseconds(lambda: x.sum(axis))
        except (RuntimeError, ArithmeticError) as error:
            print(f"{peer}, {name}: {str(error).splitlines()[0]}", file=sys.stderr)
            torch.cuda.empty_cache()
            continue
        line = {"peer": peer, "op": "sum", "type": "f32", "n": n, "shape": name, "us": us, "gb_s": 4 * (n + outputs) / us / 1e3}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    try:
        main()
    except ImportError as error:
        sys.exit(f"no torch: {error}")
