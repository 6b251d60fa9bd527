"""What an exact sum of a DuckDB column costs by Arrow, beside DuckDB's own sums: processor seconds, in alternation. Prints JSON.

    python python/bench/duckdb_arrow.py [ROWS] [ROUNDS] > results/python/duckdb.json
"""

import json
import sys
import time

import duckdb
import warpfold as wf
from machine import circumstances


def main():
    rows, rounds = (int(float(a)) for a in (sys.argv[1:] + ["1e7", "9"][len(sys.argv) - 1 :])[:2])
    connection = duckdb.connect()
    connection.execute("SELECT setseed(0.5)")
    connection.execute(f"CREATE TABLE t AS SELECT (random() - 0.5) * pow(10, i % 9) AS x FROM range({rows}) AS r(i)")
    ways = {
        "warpfold.sum of to_arrow_table": lambda: wf.sum(connection.sql("SELECT x FROM t").to_arrow_table()["x"]),
        "sum": lambda: connection.sql("SELECT sum(x) FROM t").fetchall()[0][0],
        "fsum": lambda: connection.sql("SELECT fsum(x) FROM t").fetchall()[0][0],
    }
    seconds = {name: [] for name in ways}
    values = {name: set() for name in ways}
    for turn in range(rounds + 1):
        for name, way in ways.items():
            begun = time.process_time()
            value = float(way())
            if turn:
                seconds[name].append(time.process_time() - begun)
                values[name].add(value.hex())
    mean = {name: sum(all_) / len(all_) for name, all_ in seconds.items()}
    report = {
        **circumstances("duckdb_arrow.py"),
        "duckdb": duckdb.__version__,
        "rows": rows,
        "rounds": rounds,
        "cpu_seconds": mean,
        "times_sum": {name: value / mean["sum"] for name, value in mean.items()},
        "different_values": {name: len(all_) for name, all_ in values.items()},
    }
    print(json.dumps(report, indent=1))


main()
