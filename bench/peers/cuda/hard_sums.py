#!/usr/bin/env python3
"""Ten hard sums, and what everyone makes of them: errors in units of the last place of the element type.

hard_sums.py [--warpfold PROGRAM] [--cub PROGRAM] [--out FILE.json]

Contestants that are not installed are left out. The truth is math.fsum, which rounds the exact sum once; the sums are of f64, or of f32,
whose exact sum is rounded to f32 here.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy

MILLION = 1_000_000


def hard_sums():
    """Name, what makes it hard, source, array."""
    k = numpy.arange(1, 10 * MILLION + 1, dtype=numpy.float64)
    random = numpy.random.Generator(numpy.random.PCG64(1))
    yield ("tenths", "0.1 ten million times: each addition errs to the same side", "Kahan 1965", numpy.full(10 * MILLION, 0.1, numpy.float32))
    yield ("ones", "2^25 ones: a running f32 stops at 2^24", "folklore", numpy.ones(1 << 25, numpy.float32))
    yield ("harmonic", "1/k, k to 10^7: most terms are smaller than the sum's last place", "Higham 1993", (1 / k).astype(numpy.float32))
    yield ("basel", "1/k^2, k to 10^7, largest first", "Higham 2002, section 4", (1 / k**2).astype(numpy.float32))
    yield ("alternating", "(-1)^(k+1)/k, k to 10^7: terms cancel in pairs", "Leibniz", (numpy.where(k % 2 == 1, 1.0, -1.0) / k).astype(numpy.float32))
    yield ("peters", "1, 1e100, 1, -1e100, ten thousand times", "T. Peters, test of math.fsum", numpy.tile([1.0, 1e100, 1.0, -1e100], 10_000))
    yield ("swallowed", "1e16, a million ones, -1e16", "Kahan and Babuska", numpy.concatenate([[1e16], numpy.ones(MILLION), [-1e16]]))
    terms = [1.0]
    for n in range(1, 200):
        terms.append(terms[-1] * -30 / n)
    yield ("exponential", "the Taylor terms of exp(-30): 1e12 times larger than their sum", "Forsythe 1970", numpy.array(terms))
    x = random.standard_normal(MILLION)
    yield ("residuals", "a million deviations from their own mean", "Anderson 1999", x - x.mean())
    scales = numpy.ldexp(random.uniform(1, 2, MILLION // 2), random.integers(-1000, 960, MILLION // 2))
    mirrored = numpy.concatenate([scales, [1.0, 2.0**-8], -scales[::-1]])
    yield ("mirrored", "numbers of all sizes and their negatives, and 1 + 2^-8", "Ogita, Rump and Oishi 2005, in spirit", mirrored)


def warpfold(program, device):
    def sum_of(x, file):
        command = [program, "sum", file, "--dtype", "f32" if x.dtype == numpy.float32 else "f64", "--device", device]
        # Printed with as many digits as the type needs, so it is read as that type.
        return float(x.dtype.type(subprocess.run(command, check=True, capture_output=True, text=True).stdout))

    return sum_of


def cub(program):
    def sum_of(x, file):
        command = [program, "f32" if x.dtype == numpy.float32 else "f64", file]
        return float.fromhex(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])

    return sum_of


def contestants(args):
    """Name and function of an array and the file that holds it."""
    yield f"NumPy {numpy.__version__}", lambda x, _: float(numpy.sum(x))
    try:
        import torch

        yield f"torch {torch.__version__.split('+')[0]}, CPU", lambda x, _: torch.from_numpy(x).sum().item()
        if torch.cuda.is_available():
            yield f"torch {torch.__version__.split('+')[0]}, GPU", lambda x, _: torch.from_numpy(x).cuda().sum().item()
    except ImportError:
        pass
    try:
        import cupy

        yield f"CuPy {cupy.__version__}", lambda x, _: float(cupy.asarray(x).sum().get())
    except Exception:  # present without a GPU, it fails in ways of its own
        pass
    try:
        import jax

        jax.config.update("jax_enable_x64", True)
        yield f"JAX {jax.__version__}, {jax.default_backend()}", lambda x, _: float(jax.numpy.sum(jax.numpy.asarray(x)))
    except Exception:
        pass
    if args.cub:
        with tempfile.NamedTemporaryFile(suffix=".raw") as file:
            file.write(b"\0" * 4)
            file.flush()
            version = subprocess.run([args.cub, "f32", file.name], check=True, capture_output=True, text=True).stdout.rsplit(" ", 1)[0]
        yield version, cub(args.cub)
    if args.warpfold:
        yield "warpfold, CPU", warpfold(args.warpfold, "cpu")
        listed = subprocess.run([args.warpfold, "devices"], capture_output=True, text=True).stdout
        if "cuda:0" in listed:
            yield "warpfold, GPU", warpfold(args.warpfold, "cuda")


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--warpfold")
    options.add_argument("--cub")
    options.add_argument("--out")
    args = options.parse_args()
    everyone = list(contestants(args))
    rows = []
    for name, why, source, x in hard_sums():
        exact = math.fsum(x.tolist())
        rounded = x.dtype.type(exact)
        ulp = float(numpy.spacing(abs(rounded)))
        results = []
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "x.raw")
            x.tofile(file)
            for who, sum_of in everyone:
                value = sum_of(x, file)
                # Of the rounded sum: a correctly rounded result is off by 0.
                results.append({"who": who, "value": repr(value), "ulps": abs(value - float(rounded)) / ulp, "relative": abs(value - exact) / abs(exact)})
        rows.append({"name": name, "why": why, "source": source, "n": len(x), "type": str(x.dtype), "exact": repr(float(rounded)), "results": results})
        print(f"{name:12}", *(f"{r['who']}: {r['ulps']:.3g}" for r in results), sep="  ", file=sys.stderr)
    text = json.dumps({"schema": 1, "sums": rows}, indent=1)
    if args.out:
        with open(args.out, "w") as out:
            out.write(text + "\n")
    else:
        print(text)


main()
