"""Sums and groups of Parquet files by the program, Polars and DuckDB in one run: parquet.py PROGRAM RESULTS [--rows N] [--keys K] [--repeat R].

PROGRAM is a release build with the feature `parquet`. RESULTS is a folder, in which <machine>/parquet.json is written. Takes pyarrow, polars, duckdb and numpy.
Every measurement is a process of its own, so that peaks of memory are its own; the program's times are those of whole processes, the peers' those of the query
alone, after the import and with the page cache warm. The least of R times counts.
"""

import argparse
import datetime
import json
import math
import os
import platform
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

QUERIES = ["sum", "group", "where"]
# Of the keys, those below this one: half of a million.
BELOW = 500_000
DUCKDB = {
    f"duckdb {name}": (
        f"select {name}(x) from '{{}}'",
        f"select key, {name}(x) as s from '{{}}' group by key",
        f"select {name}(abs(x)) from '{{}}' where key < {BELOW}",
    )
    for name in ("sum", "fsum")
}


def write(path, rows, keys, groups):
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(1)
    schema = pa.schema({"key": pa.int64(), "x": pa.float64()})
    with pq.ParquetWriter(path, schema, compression="snappy") as writer:
        for group in range(groups):
            n = rows * (group + 1) // groups - rows * group // groups
            # Magnitudes over some decades, so that the order of additions shows.
            x = rng.standard_normal(n) * np.exp(4 * rng.standard_normal(n))
            writer.write_table(pa.table([rng.integers(0, keys, n), x], schema=schema), row_group_size=n)


def peer(engine, query, path, repeat):
    """Times a peer in this process."""
    times = []
    if engine == "polars":
        import polars as pl

        version = pl.__version__
        frame = pl.scan_parquet(path)
        lazy = {
            "sum": frame.select(pl.col("x").sum()),
            "group": frame.group_by("key").agg(pl.col("x").sum()),
            "where": frame.filter(pl.col("key") < BELOW).select(pl.col("x").abs().sum()),
        }[query]
        for _ in range(repeat):
            start = time.perf_counter()
            found = lazy.collect()
            times.append(time.perf_counter() - start)
        value = float(found.filter(pl.col("key") == 0)["x"][0]) if query == "group" else found["x"][0]
    else:
        import duckdb

        version = duckdb.__version__
        sql = DUCKDB[engine][QUERIES.index(query)].format(path)
        for _ in range(repeat):
            start = time.perf_counter()
            found = duckdb.sql(sql).to_arrow_table()
            times.append(time.perf_counter() - start)
        table = found.to_pydict()
        value = table["s"][table["key"].index(0)] if query == "group" else next(iter(table.values()))[0]
    print(json.dumps({"version": version, "times": times, "value": value}))


def child(command):
    """Runs a command; its output, wall time and peak of memory in MiB, as it was some milliseconds before its end."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    peak = [0]

    def watch():
        while process.poll() is None:
            try:
                status = Path(f"/proc/{process.pid}/status").read_text()
            except OSError:
                return
            found = re.search(r"VmHWM:\s*(\d+)", status)
            # Between fork and exec it is that of this process.
            if found and time.perf_counter() - start > 0.005:
                peak[0] = max(peak[0], int(found[1]) >> 10)
            time.sleep(0.003)

    watcher = threading.Thread(target=watch)
    watcher.start()
    out = process.stdout.read()
    process.wait()
    seconds = time.perf_counter() - start
    watcher.join()
    if process.returncode:
        sys.exit(f"{command}: status {process.returncode}")
    return out, seconds, peak[0]


def program(binary, query, path, repeat, scratch):
    times = []
    for _ in range(repeat):
        command = [binary, "sum", path, "--no-progress"]
        command += ["--map", "abs(x)", "--where", f"key < {BELOW}"] if query == "where" else ["--column", "x"]
        if query == "group":
            command += ["--by", "key", "--out", f"{scratch}/groups.npz"]
        out, seconds, peak = child(command)
        times.append(seconds)
    if query == "group":
        import numpy as np

        groups = np.load(f"{scratch}/groups.npz")
        value = float(groups["sum"][list(groups["key"]).index(0)])
    else:
        value = float(out)
    version = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    return {"version": version, "times": times, "value": value, "peak_mib": peak}


def exact(path):
    """The correctly rounded sums: of the column, of key 0, of the magnitudes of some keys."""
    import numpy as np
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path)
    tables = (file.read_row_group(k) for k in range(file.num_row_groups))
    zero, below = [], []

    def values():
        for table in tables:
            zero.extend(table.filter(pc.equal(table["key"], 0))["x"].to_pylist())
            below.append(np.abs(table.filter(pc.less(table["key"], BELOW))["x"].to_numpy()))
            yield from table["x"].to_numpy()

    whole = math.fsum(values())
    return {"sum": whole, "group": math.fsum(zero), "where": math.fsum(x for part in below for x in part)}


def machine():
    text = Path("/proc/cpuinfo").read_text()
    model = re.search(r"model name\s*:\s*(.*)", text)[1]
    name = re.sub(r"[^a-z0-9]+", "-", re.sub(r"\(.*?\)", "", model).lower()).strip("-")
    return f"{name}-{os.cpu_count()}c", model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("results")
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--row-groups", type=int, default=64)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--file", help="the Parquet file, which is kept; written where it is missing")
    parser.add_argument("--without", help="a build without the feature, of which the size is written down")
    parser.add_argument("--remark", default="the machine was quiet")
    parser.add_argument("--peer", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        return peer(*options.peer, options.file, options.repeat)
    with tempfile.TemporaryDirectory() as scratch:
        path = options.file or f"{scratch}/data.parquet"
        if not os.path.exists(path):
            write(path, options.rows, options.keys, options.row_groups)
        expected = exact(path)
        rows, load = [], os.getloadavg()
        for query in QUERIES:
            for engine in ["warpfold", "polars", *DUCKDB]:
                if engine == "warpfold":
                    row = program(options.program, query, path, options.repeat, scratch)
                else:
                    out, _, peak = child([sys.executable, __file__, "-", "-", "--peer", engine, query, "--file", path, "--repeat", str(options.repeat)])
                    row = json.loads(out) | {"peak_mib": peak}
                row["is_correctly_rounded"] = row["value"] == expected[query]
                rows.append({"query": query, "engine": engine, "seconds": min(row["times"]), **row})
                print(json.dumps(rows[-1]), file=sys.stderr)
        name, model = machine()
        report = {
            "machine": model, "cores": os.cpu_count(), "system": platform.platform(), "date": datetime.date.today().isoformat(),
            "remark": options.remark, "load_before": load, "load_after": os.getloadavg(),
            "file": {"rows": options.rows, "keys": options.keys, "row_groups": options.row_groups, "bytes": os.path.getsize(path), "columns": "key int64, x float64", "compression": "snappy"},
            "program": {"bytes": os.path.getsize(options.program), "bytes_without_the_feature": options.without and os.path.getsize(options.without)},
            "rows": rows,
        }
        folder = Path(options.results) / name
        folder.mkdir(exist_ok=True)
        (folder / "parquet.json").write_text(json.dumps(report, indent=1) + "\n")


main()
