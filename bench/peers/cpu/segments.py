"""Sums of segments, axes and groups by NumPy and Polars, beside the rows of `warpfold bench segments` in the same run.

segments.py REPORT RESULTS: makes the arrays of the report's rows anew from their seeds, checks what both libraries find against exact sums of integers,
times them, and writes the report with their figures to RESULTS/<machine>/segments.json.
"""

import json
import re
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl

NUMPY = f"NumPy {np.__version__}"
POLARS = f"Polars {pl.__version__}"
SEED, LENGTHS, KEYS = 1, 7, 11
GRID = 1 << 23
BUDGET, CALLS = 1.0, 25


def words(seed, count):
    """The lab's splitmix64, all places at once."""
    z = np.arange(1, count + 1, dtype=np.uint64)
    z *= np.uint64(0x9E3779B97F4A7C15)
    z += np.uint64(seed)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z ^= z >> np.uint64(shift)
        z *= np.uint64(factor)
    z ^= z >> np.uint64(31)
    return z


def units(n):
    return (words(SEED, n) >> np.uint64(40)).astype(np.int64) - GRID


def keys(n, groups, kind):
    drawn = words(KEYS, n)
    if kind == "uniform":
        return (drawn % np.uint64(groups)).astype(np.uint32)
    fraction = (drawn >> np.uint64(11)).astype(np.float64) / 2.0**53
    rank = np.minimum(((groups + 1.0) ** fraction).astype(np.uint64) - np.uint64(1), np.uint64(groups - 1))
    return ((rank * np.uint64(0x9E3779B97F4A7C15)) % np.uint64(groups)).astype(np.uint32)


def segment_lengths(name, n):
    if name == "random 0-64":
        lengths = (words(LENGTHS, n // 16 + 65) % np.uint64(65)).astype(np.int64)
        ends = np.minimum(np.cumsum(lengths), n)
        last = int(np.searchsorted(ends, n))
        assert ends[last] == n, "enough lengths were drawn"
        return np.diff(ends[: last + 1], prepend=0)
    if name == "Zipf":
        count = min(max(n // 4096, 1), 1 << 16)
        harmonic = 0.0
        for k in range(1, count + 1):
            harmonic += 1.0 / k
        lengths = [int(n / (k * harmonic)) for k in range(1, count + 1)]
        drawn = words(LENGTHS, count)
        for k in range(count - 1, 0, -1):
            other = int(drawn[k]) % (k + 1)
            lengths[k], lengths[other] = lengths[other], lengths[k]
        return np.array(lengths)
    tiny = min(n // 256, 1 << 20)
    lengths = np.full(tiny + 1, 4)
    lengths[tiny // 2] = n - 4 * tiny
    return lengths


def ulps(found, exact_units):
    """The largest distance from the exact sums, in units of the last place of the result's own type."""
    exact = exact_units.astype(np.float64) / GRID
    spacing = np.spacing(np.maximum(np.abs(exact), np.finfo(found.dtype).tiny).astype(found.dtype))
    return float(np.max(np.abs(found.astype(np.float64) - exact) / spacing, initial=0.0))


def offers(name, x, whole):
    """What there is to call for a row: library, call, what runs it, how its result is read, the exact sums in units."""
    n = len(x)
    plain = np.asarray
    if found := re.fullmatch(r"(transposed )?\[([\d, ]+)\] axis (\d+)", name):
        shape, axis = [int(length) for length in found[2].split(",")], int(found[3])
        used = np.prod(shape)
        # A transposed view's shape is listed as it is folded.
        def arrange(a):
            return a[:used].reshape(shape[::-1]).T if found[1] else a[:used].reshape(shape)
        exact, array = arrange(whole).sum(axis=axis).ravel(), arrange(x)
        yield NUMPY, f"x.sum(axis={axis})", lambda: array.sum(axis=axis), lambda r: r.ravel(), exact
    elif found := re.fullmatch(r"every (\d+)", name):
        length = int(found[1])
        used = n // length * length
        exact, array = whole[:used].reshape(-1, length).sum(axis=1), x[:used].reshape(-1, length)
        yield NUMPY, "x.reshape(-1, n).sum(axis=1)", lambda: array.sum(axis=1), plain, exact
        starts = np.arange(0, used, length)
        flat = x[:used]
        yield NUMPY, "np.add.reduceat(x, starts)", lambda: np.add.reduceat(flat, starts), plain, exact
    elif found := re.fullmatch(r"2\^(\d+) (dense|any) keys, (uniform|Zipf)", name):
        groups = 1 << int(found[1])
        k = keys(n, groups, found[3])
        order = np.argsort(k, kind="stable")
        ends = np.cumsum(np.bincount(k, minlength=groups))
        running = np.concatenate(([0], np.cumsum(whole[order])))
        exact = np.diff(running[np.concatenate(([0], ends))])
        del order, running
        if found[2] == "dense":
            yield NUMPY, "np.bincount(k, x)", lambda: np.bincount(k, x, minlength=groups), plain, exact
        present = exact[np.bincount(k, minlength=groups) > 0]
        table = pl.DataFrame({"k": k, "x": x})
        sums = lambda: table.group_by("k").agg(pl.col("x").sum())
        yield POLARS, "df.group_by(k).agg(x.sum())", sums, lambda r: r.sort("k")["x"].to_numpy(), present
    else:
        lengths = segment_lengths(name, n)
        # NumPy gives an element, not zero, for an empty segment, so it gets those that have elements.
        starts = np.concatenate(([0], np.cumsum(lengths)))[:-1][lengths > 0]
        used = int(lengths.sum())
        flat, exact = x[:used], np.add.reduceat(whole[:used], starts)
        yield NUMPY, "np.add.reduceat(x, starts)", lambda: np.add.reduceat(flat, starts), plain, exact


def timed(run):
    """The result of the first call, which is not timed unless it takes long, and the median time of the others."""
    begun = time.perf_counter()
    result = run()
    first = time.perf_counter() - begun
    seconds = [first] if first > BUDGET else []
    while sum(seconds) < BUDGET and len(seconds) < CALLS:
        begun = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - begun)
    return result, float(np.median(seconds))


def main():
    source, results = Path(sys.argv[1]), Path(sys.argv[2])
    report = json.loads(source.read_text())
    n = report["n"]
    whole = units(n)
    x = (whole / GRID).astype(np.float32)
    done = set()
    for row in report["rows"]:
        name = row["name"].split("/", 3)[3]
        if name in done:
            continue
        done.add(name)
        row["peers"] = []
        for library, call, run, read, exact in offers(name, x, whole):
            result, seconds = timed(run)
            rate = row["bytes"] / seconds
            found = read(result)
            assert len(found) == len(exact), f"{name}: {call} gave {len(found)} sums of {len(exact)}"
            peer = {"library": library, "call": call, "microseconds": seconds * 1e6, "bytes_per_second": rate, "ulps": ulps(found, exact)}
            row["peers"].append(peer)
            ours = row["bytes_per_second"]
            print(f"{name:<32} {call:<30} {seconds * 1e3:9.2f} ms {rate / 1e9:7.2f} GB/s, ours {ours / 1e9:7.2f}; {peer['ulps']:.1f} ulp", flush=True)
    target = results / report["slug"]
    target.mkdir(parents=True, exist_ok=True)
    (target / "segments.json").write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
