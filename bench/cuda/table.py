#!/usr/bin/env python3
"""A short table of the figures that run.sh left in a folder: warpfold beside CUB and the read ceiling of the same run.
Everything goes to cuda.json in that folder too, with the device, its driver and clocks, and the date."""
import datetime
import json
import sys
from pathlib import Path

folder = Path(sys.argv[1])
read = lambda name: [json.loads(line) for line in (folder / name).read_text().splitlines() if line.startswith("{")]
ours, peers = read("warpfold.jsonl"), read("peers.jsonl")
key = lambda row: (row["op"], row["type"], row["n"])
best = {}
for row in ours:  # the sizes are timed twice, before and after the peer: the better of the two
    if key(row) not in best or row["us"] < best[key(row)]["us"]:
        best[key(row)] = row
peer = {key(row): row for row in peers}
ceiling = max(row["gb_s"] for row in peers if row["op"] == "read")
empty = next(row["us"] for row in peers if row["op"] == "empty")
print(f"read ceiling {ceiling:.0f} GB/s, empty kernel {empty:.2f} us")
print("sum of f32:      n        us      GB/s   CUB us  CUB/ours")
for (op, dtype, n), row in best.items():
    if (op, dtype) == ("sum", "f32"):
        cub = peer.get((op, dtype, n), {"us": float("nan")})
        print(f"{n:18} {row['us']:9.2f} {row['gb_s']:9.1f} {cub['us']:8.2f} {cub['us'] / row['us']:9.3f}")
ops = list(dict.fromkeys(row["op"] for row in ours))
print("2 GiB, GB/s (of the ceiling; times CUB):\n" + " " * 11 + "".join(f"{op:>20}" for op in ops))
for dtype in dict.fromkeys(row["type"] for row in ours):
    cells = []
    for op in ops:
        row = max((r for r in best.values() if r["op"] == op and r["type"] == dtype), key=lambda r: r["n"], default=None)
        if op == "sum" and dtype == "f32":
            row = best.get(("sum", "f32", 1 << 29), row)
        if row is None:
            cells.append("")
            continue
        cub = peer.get(key(row))
        ratio = f" {cub['us'] / row['us']:.2f}" if cub else ""
        cells.append(f"{row['gb_s']:.0f} ({row['gb_s'] / ceiling:.0%}{ratio})")
    print(f"{dtype:11}" + "".join(f"{cell:>20}" for cell in cells))

device, driver, *clocks = [field.strip() for field in (folder / "gpu.txt").read_text().strip().split(",")]
everything = {
    "device": device,
    "driver": driver,
    "clocks (multiprocessors, memory)": clocks,
    "date": datetime.date.today().isoformat(),
    "method": "cold: arrays in rotation through 4 GiB; back to back on one stream, device events, median of 11; sizes in elements",
    "read ceiling GB/s": ceiling,
    "warpfold": list(best.values()),
    "peers": peers,
    "latency": read("latency.jsonl"),
}
rows = json.dumps(everything, indent=0, ensure_ascii=False).replace(",\n\"", ", \"").replace("{\n", "{").replace("\n}", "}")
(folder / "cuda.json").write_text(rows + "\n")
