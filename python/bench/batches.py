"""Whether a row's result depends on its batch, as JSON: python batches.py [librows_cub.so] > results/MACHINE/batches.json

Rows of bfloat16 in batches of every size from 1 to 4096, begun at another row each time, so that rows stand at many places. Each result is compared with
that of its row alone, bit by bit, and with the exact value rounded once (`math.fsum` and fractions for a sample of rows). `sizes` counts the batch sizes in
which any row had other bits than alone, `rows` the results that had; `right` says how many of the sampled results are the exact value rounded once.
The library is built of bench/peers/cuda/rows_cub.cu; without it CUB is left out.
"""

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
        out = torch.empty(len(x), dtype=torch.bfloat16, device=x.device)
        torch.cuda.current_stream().synchronize()
        pointers = ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(out.data_ptr())
        rows, length = (ctypes.c_longlong(size) for size in x.shape)
        code = library.rows_cub(CUB[op], pointers[0], rows, length, pointers[1])
        if code:
            sys.exit(f"CUB: CUDA error {code}")
        torch.cuda.synchronize()
        return out

    return reduce


def nearest(low, high, square):
    """The bfloat16 nearest to a fraction (or its root), from candidates beside it: ties to even."""
    candidates = sorted({v for c in (low, high) for v in (c, before(c), after(c))})

    def distance(c):
        # Of roots distances are compared by squares of midpoints, which are exact.
        return abs(Fraction(c) - square[0])

    if not square[1]:
        best = min(candidates, key=lambda c: (distance(c), bits(c) & 1))
        return best
    for a, b in zip(candidates, candidates[1:]):
        middle = (Fraction(a) + Fraction(b)) / 2
        if square[0] < middle * middle or (square[0] == middle * middle and bits(a) & 1 == 0):
            return a
    return candidates[-1]


def bits(value):
    return torch.tensor(value, dtype=torch.bfloat16).view(torch.int16).item()


def before(value):
    return step(value, -math.inf)


def after(value):
    return step(value, math.inf)


def step(value, towards):
    x = torch.tensor(value, dtype=torch.bfloat16)
    return torch.nextafter(x, torch.tensor(towards, dtype=torch.bfloat16)).item()


def exact(op, row):
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
    guess = torch.tensor(near, dtype=torch.bfloat16).item()
    return nearest(guess, guess, (fraction, is_root))


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
    right = sum(alone[k].item() == exact(op, rows[k].double().tolist()) for k in sample)
    return {"sizes": sizes, "rows": differ, "right": f"{right} of {len(sample)}"}


def main():
    found = []
    library = ctypes.CDLL(sys.argv[1]) if len(sys.argv) > 1 else None
    for length in (1024, 4096, 16384):
        generator = torch.Generator(device="cuda").manual_seed(length)
        rows = torch.randn((BATCHES, length), device="cuda", generator=generator).to(torch.bfloat16)
        for op, (mine, torchs) in OPS.items():
            peers = {name: compared(f, rows, op) for name, f in (("warpfold", mine), ("torch", torchs))}
            if library and op in CUB:
                peers["cub"] = compared(by_cub(library, op), rows, op)
            found.append({"op": op, "length": length, **peers})
    described = machine.gpu()
    if library:
        described["versions"]["cub"] = str(library.cub_version())
    print(json.dumps({**described, "batches": BATCHES, "rows": found}, indent=1))


if __name__ == "__main__":
    main()
