"""Text, packed text and files from the disk: streams.py PROGRAM RESULTS [--rows N] [--gib N] [--repeat R] [--folder FOLDER].

PROGRAM is a release build. RESULTS is a folder, in which <machine>/streams.json is written. Takes polars, and gzip, zstd and dd of the system.

Text: one column of doubles, three ways written, summed by the program and by Polars in alternation, each a process of its own that is timed from its start to its
end; processor seconds are those of the process, so that what else runs matters less; the page cache is warm. The median of R counts. Polars' time of doing
nothing but to import and to read one row is taken off. Disk: .npy and raw files of some GiB with the page cache dropped before each reading (as root), beside dd
with blocks of 1 MiB and of 8 MiB. Turns are interleaved, and each reading is compared with the faster dd of its own turn, so that what else the disk does
weighs on both: the median of these R shares counts.
"""

import argparse
import datetime
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

POLARS = """
import sys
import polars as pl
print(pl.scan_csv(sys.argv[1], has_header=True, schema={"x": pl.Float64}).select(pl.col("x").sum()).collect()["x"][0])
"""


def run(command, threads=None):
    """Wall and processor seconds of a process, and what it printed."""
    environment = dict(os.environ, **({"POLARS_MAX_THREADS": str(threads)} if threads else {}))
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    out = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, out.strip()


def texts(folder, rows):
    """Columns as they are written: all digits, three behind the point, and whole numbers."""
    import numpy as np

    rng = np.random.default_rng(7)
    x = rng.standard_normal(rows) * np.exp(4 * rng.standard_normal(rows))
    ways = {"all digits": repr, "three decimals": "{:.3f}".format, "integers": lambda v: str(int(v * 1000))}
    for name, way in ways.items():
        path = folder / f"{name.replace(' ', '-')}.csv"
        with open(path, "w") as file:
            file.write("x\n")
            for start in range(0, rows, 100_000):
                file.writelines(way(v) + "\n" for v in x[start : start + 100_000].tolist())
        yield name, path


def text_rows(program, folder, rows, repeat):
    one = folder / "one.csv"
    one.write_text("x\n1.5\n")
    import_only = statistics.median(run([sys.executable, "-c", POLARS, str(one)])[1] for _ in range(repeat))
    for name, path in texts(folder, rows):
        size = path.stat().st_size
        packed = {"": path}
        if name == "all digits":
            subprocess.run(["gzip", "-kf6", path], check=True)
            subprocess.run(["zstd", "-kqf", path], check=True)
            packed |= {".gz": Path(f"{path}.gz"), ".zst": Path(f"{path}.zst")}
        for packing, file in packed.items():
            ours, theirs, values = [], [], set()
            for _ in range(repeat):
                ours.append(run([program, "sum", str(file), "--column", "x", "--no-progress"]))
                theirs.append(run([sys.executable, "-c", POLARS, str(file)]))
                values |= {ours[-1][2]}
            assert len(values) == 1, values
            cpu, cpu_polars = (statistics.median(r[1] for r in runs) for runs in (ours, theirs))
            wall, wall_polars = (statistics.median(r[0] for r in runs) for runs in (ours, theirs))
            yield {
                "text": name + packing,
                "bytes": size,
                "rows": rows,
                "cpu_seconds": cpu,
                "gb_per_cpu_second": size / cpu / 1e9,
                "wall_seconds": wall,
                "polars_cpu_seconds": cpu_polars - import_only,
                "polars_wall_seconds": wall_polars,
                "cpu_times_polars": cpu / (cpu_polars - import_only),
            }


def drop(path):
    """Has the next reading come from the disk."""
    os.sync()
    descriptor = os.open(path, os.O_RDONLY)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)
    try:
        Path("/proc/sys/vm/drop_caches").write_text("1")
    except OSError:
        pass


def disk_rows(program, folder, gib, repeat):
    import numpy as np

    n = int(gib * 2**27)
    npy = folder / "x.npy"
    np.save(npy, np.random.default_rng(3).standard_normal(n))
    commands = {
        "dd bs=1M": ["dd", f"if={npy}", "of=/dev/null", "bs=1M", "status=none"],
        "dd bs=8M": ["dd", f"if={npy}", "of=/dev/null", "bs=8M", "status=none"],
        "sum of .npy": [program, "sum", str(npy), "--no-progress"],
        # Its header is sixteen doubles more.
        "sum of raw": [program, "sum", str(npy), "--input", "raw", "--dtype", "f64", "--no-progress"],
        "sum of a pipe": ["sh", "-c", f"cat {npy} | '{program}' sum - --input npy --no-progress"],
    }
    seconds = {name: [] for name in commands}
    for _ in range(repeat):
        for name, command in commands.items():
            drop(npy)
            seconds[name].append(run(command)[0])
    size = npy.stat().st_size
    npy.unlink()
    best = [min(turn) for turn in zip(seconds["dd bs=1M"], seconds["dd bs=8M"])]
    for name, all_ in seconds.items():
        shares = [floor / own for floor, own in zip(best, all_)]
        yield {
            "reading": name,
            "bytes": size,
            "wall_seconds": min(all_),
            "median": statistics.median(all_),
            "gb_per_second": size / min(all_) / 1e9,
            "share_of_dd": statistics.median(shares),
            "shares": shares,
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("results", type=Path)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--gib", type=float, default=2)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--folder", type=Path, help="on the disk that is to be read")
    parser.add_argument("--machine", default="amd-epyc-2c")
    parser.add_argument("--only", choices=["text", "disk"], help="the other's rows stay, with the date and the command of their run")
    args = parser.parse_args()
    program = shutil.which(args.program) or str(Path(args.program).resolve())
    import polars

    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        folder = Path(folder)
        texts_ = list(text_rows(program, folder, args.rows, args.repeat)) if args.only != "disk" else []
        disk = list(disk_rows(program, folder, args.gib, args.repeat)) if args.only != "text" else []
    cpu = next((line.split(": ")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.processor())
    report = {
        "date": datetime.date.today().isoformat(),
        "processor": cpu,
        "threads": os.cpu_count(),
        "load": os.getloadavg()[0],
        "polars": polars.__version__,
        # Without the program and the folder of results, which lie where they lie.
        "command": " ".join(["bench/peers/cpu/streams.sh", *sys.argv[3:]]),
        "text": texts_,
        "disk": disk,
    }
    out = args.results / args.machine / "streams.json"
    if args.only:
        before = json.loads(out.read_text())
        other = "disk" if args.only == "text" else "text"
        report[other] = before[other]
        of_other = {name: before[name] for name in ("date", "load", "command")}
        report[f"{other}_run"] = before.get(f"{other}_run", of_other)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(report, indent=1) + "\n")
    for row in texts_:
        print(f"{row['text']:<18} {row['gb_per_cpu_second']:.2f} GB/s a core, CPU {row['cpu_times_polars']:.2f} x Polars")
    for row in disk:
        print(f"{row['reading']:<18} {row['gb_per_second']:.2f} GB/s, {100 * row['share_of_dd']:.0f} % of dd")


main()
