"""Reductions of segments, axes and groups by NumPy and Polars, beside the rows of `warpfold bench segments` in the same run.

segments.py REPORT RESULTS NAME: makes arrays like those of the report's rows (of f32 the very numbers, from their seeds), times both libraries, and writes the
report with their figures to RESULTS/<machine>/NAME.json. Sums of f32 are compared with exact sums of integers.
"""

import functools
import json
import os
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
BUDGET, CALLS = float(os.environ.get("WARPFOLD_PEER_SECONDS", "1")), 25


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


# NumPy's reductions along an axis, and Polars' of a group: what is called, and how it is written.
NUMPY_OPS = {
    "sum": np.sum, "mean": np.mean, "var": np.var, "std": np.std, "prod": np.prod, "min": np.min, "max": np.max, "argmin": np.argmin,
    "argmax": np.argmax, "any": np.any, "all": np.all, "count": np.count_nonzero, "l2": np.linalg.norm,
}
REDUCEAT = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum}
VALUE = pl.col("x")
POLARS_OPS = {
    "sum": VALUE.sum(), "mean": VALUE.mean(), "var": VALUE.var(ddof=0), "std": VALUE.std(ddof=0), "prod": VALUE.product(), "min": VALUE.min(),
    "max": VALUE.max(), "argmin": VALUE.arg_min(), "argmax": VALUE.arg_max(), "l2": (VALUE * VALUE).sum().sqrt(), "l1": VALUE.abs().sum(),
}
POLARS_OPS["stats"] = [
    POLARS_OPS[op].alias(op) for op in ("sum", "mean", "var", "std", "min", "max", "argmin", "argmax", "l1", "l2")
] + [VALUE.len().alias("count"), VALUE.is_nan().sum().alias("nan_count")]
TYPES = {
    "bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32,
    "u64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64, "complex64": np.complex64, "complex128": np.complex128,
}


@functools.lru_cache(maxsize=1)
def array(dtype, op, n):
    """Elements as the report's rows have them: floats near normal, products near one, integers over their type; None where NumPy has no such type."""
    if dtype not in TYPES:
        return None
    kind, random = np.dtype(TYPES[dtype]), np.random.default_rng(SEED)
    if op == "prod":
        if kind.kind == "f":
            return np.exp2(random.uniform(-1 / 16, 1 / 16, n)).astype(kind)
        return np.exp(2j * np.pi * random.random(n)).astype(kind) if kind.kind == "c" else np.where(random.random(n) < 0.5, 1, -1).astype(kind)
    if op in ("any", "all"):
        return np.full(n, op == "all").astype(kind)
    if dtype == "f32":
        return (units(n) / GRID).astype(kind)
    if kind.kind in "fc":
        return (random.standard_normal(n) + (1j * random.standard_normal(n) if kind.kind == "c" else 0)).astype(kind)
    wide = words(SEED, n)
    return (wide >> np.uint64(26)).astype(kind) if kind.itemsize == 8 else wide.astype(kind)


@functools.lru_cache(maxsize=2)
def grouped(n, groups, kind):
    return keys(n, groups, kind)


def reduceat(op, x):
    """NumPy's reduction of runs, whose sums and products of integers have 64 bits, as those of axes and ours have."""
    wide = {"i": np.int64, "u": np.uint64}.get(x.dtype.kind) if op in ("sum", "prod") else None
    return functools.partial(REDUCEAT[op].reduceat, dtype=wide)


def offers(name, op, x, whole):
    """What there is to call for a row: library, call, what runs it, how its sums are read and what they are exactly, in units (None for other reductions)."""
    n = len(x)
    plain = np.asarray
    if found := re.fullmatch(r"(transposed )?\[([\d, ]+)\] axis (\d+)", name):
        if op not in NUMPY_OPS:
            return
        shape, axis = [int(length) for length in found[2].split(",")], int(found[3])
        used = np.prod(shape)
        # A transposed view's shape is listed as it is folded.
        def arrange(a):
            return a[:used].reshape(shape[::-1]).T if found[1] else a[:used].reshape(shape)
        exact, parts, call = whole is not None and arrange(whole).sum(axis=axis).ravel(), arrange(x), NUMPY_OPS[op]
        if parts.ndim > 2 and op == "l2":
            return
        yield NUMPY, f"np.{call.__name__}(x, axis={axis})", lambda: call(parts, axis=axis), lambda r: r.ravel(), exact
    elif found := re.fullmatch(r"every (\d+)", name):
        length = int(found[1])
        used = n // length * length
        exact = whole is not None and whole[:used].reshape(-1, length).sum(axis=1)
        parts, starts, flat = x[:used].reshape(-1, length), np.arange(0, used, length), x[:used]
        if op in NUMPY_OPS:
            call = NUMPY_OPS[op]
            yield NUMPY, f"np.{call.__name__}(x.reshape(-1, n), axis=1)", lambda: call(parts, axis=1), plain, exact
        if op in REDUCEAT:
            at = reduceat(op, x)
            yield NUMPY, f"np.{REDUCEAT[op].__name__}.reduceat(x, starts)", lambda: at(flat, starts), plain, exact
    elif found := re.fullmatch(r"2\^(\d+) (dense|any) keys, (uniform|Zipf)", name):
        groups = 1 << int(found[1])
        k = grouped(n, groups, found[3])
        exact = present = None
        if whole is not None:
            order = np.argsort(k, kind="stable")
            ends = np.cumsum(np.bincount(k, minlength=groups))
            running = np.concatenate(([0], np.cumsum(whole[order])))
            exact = np.diff(running[np.concatenate(([0], ends))])
            del order, running
            present = exact[np.bincount(k, minlength=groups) > 0]
        if found[2] == "dense" and op == "sum" and x.dtype.kind == "f":
            yield NUMPY, "np.bincount(k, x)", lambda: np.bincount(k, x, minlength=groups), plain, exact
        if op in POLARS_OPS and x.dtype.kind in "iuf" and x.dtype != np.float16:
            table = pl.DataFrame({"k": k, "x": x})
            wanted = POLARS_OPS[op]
            call = lambda: table.group_by("k").agg(wanted)
            yield POLARS, f"df.group_by(k).agg({op} of x)", call, lambda r: r.sort("k")["x"].to_numpy(), present
    elif op in REDUCEAT:
        lengths = segment_lengths(name, n)
        # NumPy gives an element, not zero, for an empty segment, so it gets those that have elements.
        starts = np.concatenate(([0], np.cumsum(lengths)))[:-1][lengths > 0]
        used = int(lengths.sum())
        flat, at = x[:used], reduceat(op, x)
        exact = whole is not None and np.add.reduceat(whole[:used], starts)
        yield NUMPY, f"np.{REDUCEAT[op].__name__}.reduceat(x, starts)", lambda: at(flat, starts), plain, exact


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
    source, results, title = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    report = json.loads(source.read_text())
    done, by_keys = set(), {}
    for row in report["rows"]:
        op, dtype, _, name = row["name"].split("/", 3)
        if (op, dtype, name) in done:
            continue
        done.add((op, dtype, name))
        row["peers"] = []
        n = 4 * report["n"] // (2 if dtype == "bf16" else np.dtype(TYPES[dtype]).itemsize)
        x = array(dtype, op if op in ("prod", "any", "all") else "", n)
        if x is None:
            continue
        whole = units(n) if (op, dtype) == ("sum", "f32") else None
        for library, call, run, read, exact in offers(name, op, x, whole):
            # What is known of keys changes nothing for Polars.
            same = (op, dtype, call, re.sub("dense|any", "", name))
            with np.errstate(all="ignore"):
                result, seconds = by_keys.get(same) or timed(run)
            if library == POLARS:
                by_keys[same] = (result if whole is not None else None, seconds)
            rate = row["bytes"] / seconds
            peer = {"library": library, "call": call, "microseconds": seconds * 1e6, "bytes_per_second": rate, "ulps": None}
            if whole is not None:
                found = read(result)
                assert len(found) == len(exact), f"{name}: {call} gave {len(found)} sums of {len(exact)}"
                peer["ulps"] = ulps(found, exact)
            row["peers"].append(peer)
            ours = row["bytes_per_second"]
            print(f"{row['name']:<40} {call:<40} {seconds * 1e3:9.2f} ms {rate / 1e9:7.2f} GB/s, ours {ours / 1e9:7.2f}", flush=True)
    target = results / report["slug"]
    target.mkdir(parents=True, exist_ok=True)
    rows = ",\n".join(json.dumps(row) for row in report.pop("rows"))
    # A row a line, as the program writes its reports.
    (target / f"{title}.json").write_text(f'{json.dumps(report)[:-1]}, "rows": [\n{rows}\n]}}\n')


if __name__ == "__main__":
    main()
