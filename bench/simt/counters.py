#!/usr/bin/env python3
"""Reads the hardware's counters with Nsight Compute, and puts them beside the simulator's.

For each reduction, element type and size the program reduces the same random array twice: on the GPU under ncu, and in the simulator
(`warpfold explain`), with the grid and the block that ncu saw; for each rung of the ladder, its first launch. What must be equal is: shared
wavefronts and their ideal, global requests and sectors. Instructions and barriers are put beside each other; ptxas merges, predicates and drops what PTX writes out.
"""

import argparse
import csv
import io
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

# The hardware's name of each count, and the simulator's counts that it is the sum of.
EQUAL = {
    "memory_l1_wavefronts_shared": ["shared_load_wavefronts", "shared_store_wavefronts"],
    "memory_l1_wavefronts_shared_ideal": ["shared_load_ideal", "shared_store_ideal"],
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": ["global_load_requests"],
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": ["global_load_sectors"],
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": ["global_store_requests"],
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": ["global_store_sectors"],
}
BESIDE = {
    "smsp__inst_executed.sum": ["warp_instructions"],
    "smsp__thread_inst_executed.sum": ["active_lanes"],
    "smsp__thread_inst_executed_pred_on.sum": ["predicated_on_lanes"],
}
SHAPE = ["launch__grid_size", "launch__block_size"]
OPS = ["sum", "min", "max", "minmax", "argmin", "argmax", "linf", "count", "l1", "l2", "var", "dot", "prod"]
TYPES = ["bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64", "complex64", "complex128"]


def number(text):
    """ncu writes `1,234` or `1234 {…}` for counts with instances."""
    return float(text.split("{")[0].split("(")[0].replace(",", "").strip())


def rows(text):
    """The rows of a CSV page, without what the program and ncu say before it."""
    lines = text.splitlines()
    start = next((k for k, line in enumerate(lines) if line.startswith('"ID"')), None)
    return [] if start is None else list(csv.DictReader(io.StringIO("\n".join(lines[start:]))))


def barriers(ncu, report):
    """Warp instructions that are block barriers, from the counts of the machine code; one figure a launch, where the page has it."""
    page = subprocess.run([ncu, "--import", report, "--page", "source", "--csv", "--print-source", "sass"],
                          capture_output=True, text=True).stdout
    total, found, place = 0, False, None
    for row in csv.reader(io.StringIO(page)):
        if "Source" in row and any("Instructions Executed" in cell for cell in row):
            wanted = [k for k, cell in enumerate(row) if "Instructions Executed" in cell and "Thread" not in cell]
            place = (row.index("Source"), wanted[0])
        elif place and len(row) > max(place) and "BAR." in row[place[0]]:
            found = True
            total += number(row[place[1]] or "0")
    return int(total) if found else None


def reduction(arguments, op, dtype, n):
    """A reduction by the library."""
    return [arguments.program, op, "--random", str(n), "--dtype", dtype, "--accuracy", "fast", "--device", "cuda", "--tuning", "none",
            "--no-progress"]


def hardware(arguments, command, only=()):
    """What ncu counted of the kernels that a command launched; None where it launched none."""
    # What the GPU is not asked for is not profiled: an error here is the program's own.
    with tempfile.TemporaryDirectory() as folder:
        report = f"{folder}/report.ncu-rep"
        metrics = ",".join([*EQUAL, *BESIDE, *SHAPE])
        run = subprocess.run([arguments.ncu, "--clock-control", "none", "--cache-control", "none", "--section", "SourceCounters",
                              "--metrics", metrics, "--export", report, "--force-overwrite", *only, *command], capture_output=True, text=True)
        if not pathlib.Path(report).exists():
            said = (run.stderr + run.stdout).strip().splitlines()
            return None, next((line for line in said if line.startswith("warpfold:")), said[-1] if said else "ncu said nothing")
        page = subprocess.run([arguments.ncu, "--import", report, "--page", "raw", "--csv", "--print-units", "base"], capture_output=True,
                              text=True, check=True).stdout
        # The row of units has no number.
        launches = [row for row in rows(page) if row.get("ID", "").strip()]
        barrier = barriers(arguments.ncu, report) if len(launches) == 1 else None
    return [(row, barrier) for row in launches], None


def simulated(arguments, kernel, n, row):
    grid, block = (int(number(row[name])) for name in SHAPE)
    command = [arguments.program, "explain", kernel, "--n", str(n), "--grid", str(grid), "--block", str(block), "--compute", "90",
               "--format", "json"]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        return None, run.stderr.strip()
    return json.loads(run.stdout)["counts"], None


def beside(result, row, barrier, counts):
    """Puts the counts of one launch beside each other."""
    for name, own in {**EQUAL, **BESIDE}.items():
        if row.get(name, "").strip() in ("", "n/a"):
            continue
        result["counts"][name] = {"hardware": int(number(row[name])), "simulator": sum(counts[one] for one in own)}
    if barrier is not None:
        result["counts"]["block barriers"] = {"hardware": barrier, "simulator": counts["block_barriers"]}
    result["equal"] = all(pair["hardware"] == pair["simulator"] for name, pair in result["counts"].items() if name in EQUAL)
    return result


def compare_rung(arguments, name, dtype, n):
    """The first launch of a rung, which folds the array."""
    asked = ["--n", str(n), "--type", dtype, "--block", str(arguments.block)]
    run = subprocess.run([arguments.program, "explain", name, *asked, "--format", "json"], capture_output=True, text=True)
    if run.returncode:
        return [{"rung": name, "dtype": dtype, "n": n, "not_simulated": run.stderr.strip()}]
    told = json.loads(run.stdout)
    command = [arguments.program, "ladder", "--rung", name, *asked, "--device", "cuda", "--runs", "1", "--hot"]
    launches, why = hardware(arguments, command, ["--kernel-name", told["kernel"], "--launch-count", "1"])
    if not launches:
        return [{"rung": name, "dtype": dtype, "n": n, "not_run": why}]
    row, barrier = launches[0]
    grid, block = (int(number(row[shape])) for shape in SHAPE)
    result = {"rung": name, "dtype": dtype, "n": n, "kernel": told["kernel"], "grid": grid, "block": block, "counts": {}}
    if (grid, block) != (told["grid"], told["block"]):
        return [{**result, "not_simulated": f"the simulator has {told['grid']} blocks of {told['block']}"}]
    return [beside(result, row, barrier, told["counts"])]


def compare(arguments, op, dtype, n):
    launches, why = hardware(arguments, reduction(arguments, op, dtype, n))
    if launches is None:
        yield {"op": op, "dtype": dtype, "n": n, "not_run": why}
        return
    for row, barrier in launches:
        kernel = row["Kernel Name"].split("(")[0]
        result = {"op": op, "dtype": dtype, "n": n, "kernel": kernel, "grid": int(number(row[SHAPE[0]])),
                  "block": int(number(row[SHAPE[1]])), "counts": {}}
        counts, why = simulated(arguments, kernel, n, row)
        if counts is None:
            result["not_simulated"] = why
            yield result
            continue
        yield beside(result, row, barrier, counts)


def every_rung(arguments):
    """The rungs, as the program lists them."""
    run = subprocess.run([arguments.program, "ladder", "--device", "simt", "--n", "1", "--format", "json"], capture_output=True, text=True,
                         check=True)
    return [rung["name"] for rung in json.loads(run.stdout)["rungs"] if rung["launches"]]


def every_size(arguments, op, dtype):
    """Until a size shows that the GPU does not do this at all."""
    results = []
    for n in arguments.sizes:
        results += compare(arguments, op, dtype, n)
        if "not_run" in results[-1]:
            break
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--ncu", required=True)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--sizes", nargs="+", type=int, required=True)
    parser.add_argument("--types", nargs="+", default=TYPES)
    parser.add_argument("--at-once", type=int, default=6, help="ncu takes turns by itself; the simulator has no need to")
    parser.add_argument("--ops", nargs="*", default=OPS)
    parser.add_argument("--rungs", nargs="*", help="every one by default")
    parser.add_argument("--rung-types", nargs="+", default=["f32", "f64"])
    parser.add_argument("--block", type=int, default=256, help="threads of a block of the rungs")
    arguments = parser.parse_args()
    first_line = subprocess.run([arguments.ncu, "--version"], capture_output=True, text=True).stdout.strip().splitlines()[-1:]
    gpu = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True)
    results, wrong = [], 0
    with (arguments.out / "counters.log").open("w") as log, ThreadPoolExecutor(arguments.at_once) as pool:
        pairs = [(op, dtype) for op in arguments.ops for dtype in arguments.types]
        rungs = every_rung(arguments) if arguments.rungs is None else arguments.rungs
        cells = [(rung, dtype, n) for rung in rungs for dtype in arguments.rung_types for n in arguments.sizes]
        of_ladder = pool.map(lambda cell: compare_rung(arguments, *cell), cells)
        of_library = pool.map(lambda pair: every_size(arguments, *pair), pairs)
        for found in itertools.chain(of_ladder, of_library):
            results += found
            for result in found:
                if result.get("equal") is not True:
                    wrong += "equal" in result
                    print(json.dumps(result), file=log, flush=True)
            # Written each time, so that a run that is cut short leaves what it has.
            report = {"gpu": gpu.stdout.strip(), "ncu": "".join(first_line), "must_be_equal": list(EQUAL), "results": results}
            (arguments.out / "counters.json").write_text(json.dumps(report, indent=1) + "\n")
    compared = sum("equal" in result for result in results)
    print(f"{compared} launches compared, {wrong} differ in what must be equal; {arguments.out}/counters.json")
    sys.exit(1 if wrong or not compared else 0)


if __name__ == "__main__":
    main()
