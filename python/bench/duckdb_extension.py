"""What the functions of the extension for DuckDB cost beside DuckDB's own: processor seconds, in alternation. Prints JSON.

    python python/bench/duckdb_extension.py FILE.duckdb_extension [ROWS] [ROUNDS] > results/python/duckdb-extension.json
"""

import json
import sys
import time

import duckdb
from machine import circumstances


def main():
    extension, rows, rounds = sys.argv[1], *(sys.argv[2:] + ["1e7", "9"][len(sys.argv) - 2 :])
    rows, rounds = int(float(rows)), int(rounds)
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    connection.execute(f"LOAD '{extension}'")
    connection.execute("SELECT setseed(0.5)")
    connection.execute(f"CREATE TABLE t AS SELECT (random() - 0.5) * pow(10, i % 9) AS x, (i * 7919) % 1000 AS k, (i * 7919) % 1000000 AS many FROM range({rows}) AS r(i)")
    cells = {}
    for groups in ["", "k", "many"]:
        for function, own in [("exact_sum(x)", ["sum(x)", "fsum(x)"]), ("exact_avg(x)", ["avg(x)", "favg(x)"]), ("exact_var(x)", ["var_samp(x)"])]:
            seconds = {name: [] for name in [function, *own]}
            values = {name: set() for name in seconds}
            for turn in range(rounds + 1):
                for name in seconds:
                    inner = f"SELECT {name} AS y FROM t" + (f" GROUP BY {groups}" if groups else "")
                    begun = time.process_time()
                    found = connection.execute(f"SELECT min(y), max(y), count(y) FROM ({inner})").fetchall()[0]
                    if turn:
                        seconds[name].append(time.process_time() - begun)
                        values[name].add(tuple(float(value).hex() for value in found))
            mean = {name: sum(all_) / len(all_) for name, all_ in seconds.items()}
            cells[f"{function} by {groups}" if groups else function] = {
                "cpu_seconds": mean,
                "times": {name: mean[function] / mean[name] for name in own},
                "different_values": {name: len(all_) for name, all_ in values.items()},
            }
    report = {
        **circumstances("duckdb_extension.py"),
        "duckdb": duckdb.__version__,
        "rows": rows,
        "rounds": rounds,
        "keys": {"k": 1000, "many": 1_000_000},
        "cells": cells,
    }
    print(json.dumps(report, indent=1))


main()
