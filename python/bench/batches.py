"""Whether a row's result depends on its batch, as JSON: python batches.py [--cub librows_cub.so] [--types f16,bf16] > results/MACHINE/batches.json

Rows of 16-bit floats in batches of every size from 1 to 4096, begun at another row each time, so that rows stand at many places. Each result is compared with
that of its row alone, bit by bit, and with the exact value rounded once (`math.fsum` and fractions for a sample of rows). `sizes` counts the batch sizes in
which any row had other bits than alone, `rows` the results that had; `right` says how many of the sampled results are the exact value rounded once.
The library is built of bench/peers/cuda/rows_cub.cu; without it CUB is left out.
"""

import argparse
import ctypes
import json
import math
import sys
from fractions import Fraction

import machine
import torch
import warpfold as wf

BATCHES = 4096
SAMPLED = 64
TYPES = {"f16": torch.float16, "bf16": torch.bfloat16}
OPS = {
    "sum": (lambda x: wf.sum(x, axis=1), lambda x: torch.sum(x, 1)),
    "mean": (lambda x: wf.mean(x, axis=1), lambda x: torch.mean(x, 1)),
    "var": (lambda x: wf.var(x, axis=1, correction=1), lambda x: torch.var(x, 1)),
    "l2": (lambda x: wf.l2(x, axis=1), lambda x: torch.linalg.vector_norm(x, dim=1)),
    "max": (lambda x: wf.max(x, axis=1), lambda x: torch.amax(x, 1)),
}


# The operations that CUB's rows have, by their numbers there.
CUB = {"sum": 0, "mean": 1, "l2": 2, "max": 3}


def by_cub(library, op):
    """Rows reduced by CUB."""

    def reduce(x):
        out = torch.empty(len(x), dtype=x.dtype, device=x.device)
        torch.cuda.current_stream().synchronize()
        pointers = ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(out.data_ptr())
        rows, length = (ctypes.c_longlong(size) for size in x.shape)
        code = library.rows_cub(CUB[op], x.dtype == torch.float16, pointers[0], rows, length, pointers[1])
        if code:
            sys.exit(f"CUB: CUDA error {code}")
        torch.cuda.synchronize()
        return out

    return reduce


def nearest(guess, square, dtype):
    """The number of a type nearest to a fraction (or its root), of those beside a guess: ties to even."""
    candidates = sorted({guess, step(guess, -math.inf, dtype), step(guess, math.inf, dtype)})

    def distance(c):
        # Of roots distances are compared by squares of midpoints, which are exact.
        return abs(Fraction(c) - square[0])

    if not square[1]:
        best = min(candidates, key=lambda c: (distance(c), bits(c, dtype) & 1))
        return best
    for a, b in zip(candidates, candidates[1:]):
        middle = (Fraction(a) + Fraction(b)) / 2
        if square[0] < middle * middle or (square[0] == middle * middle and bits(a, dtype) & 1 == 0):
            return a
    return candidates[-1]


def bits(value, dtype):
    return torch.tensor(value, dtype=dtype).view(torch.int16).item()


def step(value, towards, dtype):
    # torch.nextafter has no f16 everywhere: neighbours have neighbouring bits, and zero both least numbers.
    up = towards > value
    if value == 0:
        return torch.tensor(1 if up else 1 - 2**15, dtype=torch.int16).view(dtype).item()
    magnitude = 1 if up == (value > 0) else -1
    return torch.tensor(bits(value, dtype) + magnitude, dtype=torch.int16).view(dtype).item()


def exact(op, row, dtype):
    """The result of a row, rounded once from the exact value."""
    values = [Fraction(v) for v in row]
    n, total = len(values), sum(values)
    if op == "max":
        return float(max(values))
    fraction, is_root = {
        "sum": (total, False),
        "mean": (total / n, False),
        "var": ((sum(v * v for v in values) - total * total / n) / (n - 1), False),
        "l2": (sum(v * v for v in values), True),
    }[op]
    near = math.sqrt(fraction) if is_root else float(fraction)
    guess = torch.tensor(near, dtype=dtype).item()
    return nearest(guess, (fraction, is_root), dtype)


def compared(reduce, rows, op):
    alone = torch.cat([reduce(rows[k : k + 1]) for k in range(len(rows))])
    doubled = torch.cat([rows, rows])
    kept = torch.cat([alone, alone])
    sizes = differ = 0
    for size in range(1, BATCHES + 1):
        first = size * 1237 % len(rows)
        found = reduce(doubled[first : first + size])
        wrong = (found.view(torch.int16) != kept[first : first + size].view(torch.int16)).sum()
        if wrong.item():
            sizes += 1
            differ += wrong.item()
    sample = range(0, len(rows), len(rows) // SAMPLED)
    right = sum(alone[k].item() == exact(op, rows[k].double().tolist(), rows.dtype) for k in sample)
    return {"sizes": sizes, "rows": differ, "right": f"{right} of {len(sample)}"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cub", help="the library built of bench/peers/cuda/rows_cub.cu")
    parser.add_argument("--types", default=",".join(TYPES), help="f16, bf16 or both, with a comma between")
    return parser.parse_args()


def main():
    found = []
    asked = arguments()
    library = ctypes.CDLL(asked.cub) if asked.cub else None
    for dtype in asked.types.split(","):
        for length in (1024, 4096, 16384):
            generator = torch.Generator(device="cuda").manual_seed(length)
            rows = torch.randn((BATCHES, length), device="cuda", generator=generator).to(TYPES[dtype])
            for op, (mine, torchs) in OPS.items():
                peers = {name: compared(f, rows, op) for name, f in (("warpfold", mine), ("torch", torchs))}
                if library and op in CUB:
                    peers["cub"] = compared(by_cub(library, op), rows, op)
                found.append({"op": op, "dtype": dtype, "length": length, **peers})
                print(found[-1], file=sys.stderr)
    described = machine.gpu()
    if library:
        described["versions"]["cub"] = str(library.cub_version())
    print(json.dumps({**described, "batches": BATCHES, "rows": found}, indent=1))


if __name__ == "__main__":
    main()
