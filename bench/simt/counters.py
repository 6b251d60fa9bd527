#!/usr/bin/env python3
"""Reads the hardware's counters with Nsight Compute, and puts them beside the simulator's.

For each reduction, element type and size the same random array is reduced twice: on the GPU under ncu, and in the simulator (`warpfold explain`),
with the grid and the block that ncu saw; for each rung of the ladder, its first launch; for many reductions at once (segments, axes, groups), every launch of
`reduce_many_each`. ncu starts slowly, so one process under it does many. What must be equal is: shared
wavefronts and their ideal, global requests and sectors. Instructions and barriers are put beside each other; ptxas merges, predicates and drops what PTX writes out.
Of every launch the bytes that lanes read and wrote are counted from the machine code too: a launch that differs in requests or wavefronts while every lane moved the same
bytes differs in how lanes, or accesses of one lane, came together, and in nothing else (`grouping`).
Floats are reduced fast and exactly where those are two kernels.
"""

import argparse
import csv
import io
import itertools
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

# The hardware's name of each count, and the simulator's counts that it is the sum of.
EQUAL = {
    "memory_l1_wavefronts_shared": ["shared_load_wavefronts", "shared_store_wavefronts", "shared_atomic_wavefronts"],
    "memory_l1_wavefronts_shared_ideal": ["shared_load_ideal", "shared_store_ideal", "shared_atomic_ideal"],
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
OPS = ["sum", "min", "max", "minmax", "argmin", "argmax", "linf", "count", "l1", "l2", "var", "dot", "prod", "stats"]
# Reductions whose fast and exact results of floats come from kernels of their own.
TWICE = ["sum", "l1", "l2", "var", "dot"]
FLOATS = ["f16", "bf16", "f32", "f64", "complex64", "complex128"]
# Many reductions at once: an element type, a reduction, an accuracy, and what is parted how; one of every kind of kernel.
MANY = [*(f"f32 sum {accuracy} {case}" for accuracy in ["fast", "exact"]
          for case in ["every 1", "every 3", "every 16", "every 31", "every 256", "every 4096", "every 65536", "random 0-64", "Zipf",
                       "one giant among tiny ones", "transposed [SIDE, SIDE] axis 0", "[SIDE, SIDE] axis 0", "[SIDE, SIDE] axis 1",
                       "[QUARTER, 4] axis 0", "[QUARTER, 4] axis 1", "[4, QUARTER] axis 0", "[3, THIRD] axis 0", "[64, 3, 32, REST] axis 1",
                       "[64, 3, 32, REST] axis 2", "2^8 dense keys, uniform", "2^8 any keys, Zipf"]),
        *(f"{what} exact {case}" for what in ["f64 sum", "f16 mean", "i32 sum", "u8 max", "i64 argmax", "f32 var", "f64 l2", "f32 prod", "i32 var", "complex64 sum"]
          for case in ["every 16", "random 0-64", "[SIDE, SIDE] axis 0", "[64, 3, 32, REST] axis 2"]),
        "f32 sum exact 2^16 dense keys, Zipf", "i32 sum exact 2^8 dense keys, uniform"]
# A barrier of a block; MEMBAR is a fence.
BARRIER = re.compile(r"BAR\.")
# What lanes move, counted from the machine code, and the simulator's count. Asynchronous copies (LDGSTS, UBLKCP) and generic accesses have no such row.
MOVED = {
    "shared bytes read": (re.compile(r"LDS\b"), "shared_bytes_read"),
    "shared bytes written": (re.compile(r"STS\b"), "shared_bytes_written"),
    "global bytes read": (re.compile(r"LDG\b"), "global_bytes_read"),
    "global bytes written": (re.compile(r"STG\b"), "global_bytes_written"),
    "atomics": (re.compile(r"(ATOMS|ATOMG|ATOM|RED|REDG)\b"), "atomics"),
}
# Everything that is counted from the machine code.
CODE = {"block barriers": "block_barriers", **{name: own for name, (_, own) in MOVED.items()}}
WIDTH = re.compile(r"\.(?:([US])(8|16)|(64|128))\b")
TYPES = ["bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64", "complex64", "complex128"]


def number(text):
    """ncu writes `1,234` or `1234 {…}` for counts with instances."""
    return float(text.split("{")[0].split("(")[0].replace(",", "").strip())


def rows(text):
    """The rows of a CSV page, without what the program and ncu say before it."""
    lines = text.splitlines()
    start = next((k for k, line in enumerate(lines) if line.startswith('"ID"')), None)
    return [] if start is None else list(csv.DictReader(io.StringIO("\n".join(lines[start:]))))


def width(instruction):
    """Bytes that a lane moves."""
    found = WIDTH.search(instruction.split("[")[0])
    return int(found[2] or found[3]) // 8 if found else 4


def machine_code(ncu, report):
    """From the counts of the machine code, of each launch: warp instructions that are block barriers, and what lanes moved."""
    page = subprocess.run([ncu, "--import", report, "--page", "source", "--csv", "--print-source", "sass"],
                          capture_output=True, text=True).stdout
    launches, place = [], None
    for row in csv.reader(io.StringIO(page)):
        if "Source" in row and any("Instructions Executed" in cell for cell in row):
            warps = next(k for k, cell in enumerate(row) if "Instructions Executed" in cell and "Thread" not in cell)
            lanes = next(k for k, cell in enumerate(row) if "Thread Instructions Executed" in cell and "Predicated-On" in cell)
            place = (row.index("Source"), warps, lanes)
            launches.append({"block barriers": 0, **dict.fromkeys(MOVED, 0)})
        elif place and len(row) > max(place):
            warps, lanes = number(row[place[1]] or "0"), number(row[place[2]] or "0")
            instruction = re.sub(r"^@!?U?P\w+\s+", "", row[place[0]].strip())
            # One whose guard holds for no lane is executed and does nothing.
            if BARRIER.match(instruction) and lanes:
                launches[-1]["block barriers"] += int(warps)
            for name, (opcode, _) in MOVED.items():
                if opcode.match(instruction):
                    launches[-1][name] += int(lanes) * (1 if name == "atomics" else width(instruction))
    return launches


def hardware(arguments, command, stdin="", only=()):
    """What ncu counted of the kernels that a command launched, a row each in their order; nothing and why where it launched none."""
    with tempfile.TemporaryDirectory() as folder:
        report = f"{folder}/report.ncu-rep"
        metrics = ",".join([*EQUAL, *BESIDE, *SHAPE])
        run = subprocess.run([arguments.ncu, "--clock-control", "none", "--cache-control", "none", "--section", "SourceCounters",
                              "--metrics", metrics, "--export", report, "--force-overwrite", *only, *command],
                             input=stdin, capture_output=True, text=True)
        if not pathlib.Path(report).exists():
            return [], (run.stderr + run.stdout).strip() or "ncu said nothing"
        page = subprocess.run([arguments.ncu, "--import", report, "--page", "raw", "--csv", "--print-units", "base"], capture_output=True,
                              text=True, check=True).stdout
        # The row of units has no number.
        launches = [row for row in rows(page) if row.get("ID", "").strip()]
        counted = machine_code(arguments.ncu, report)
    if len(counted) != len(launches):
        print(f"machine code of {len(counted)} launches, counters of {len(launches)}: {' '.join(command)}", file=sys.stderr)
        counted = [None] * len(launches)
    return list(zip(launches, counted)), "the GPU launched nothing"


def simulated(arguments, kernel, n, grid, block):
    command = [arguments.program, "explain", kernel, "--n", str(n), "--grid", str(grid), "--block", str(block), "--compute", "90",
               "--format", "json"]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        return None, run.stderr.strip()
    return json.loads(run.stdout)["counts"], None


def beside(result, row, code, counts):
    """Puts the counts of one launch beside each other."""
    for name, own in {**EQUAL, **BESIDE}.items():
        if row.get(name, "").strip() in ("", "n/a"):
            continue
        result["counts"][name] = {"hardware": int(number(row[name])), "simulator": sum(counts[one] for one in own)}
    for name, own in CODE.items():
        if code is not None:
            result["counts"][name] = {"hardware": code[name], "simulator": counts[own]}
    return judged(result)


def judged(result):
    """Whether what must be equal is; if not, whether lanes have moved the same all the same."""
    def same(names):
        return all(pair["hardware"] == pair["simulator"] for name, pair in result["counts"].items() if name in names)
    result["equal"] = same(EQUAL)
    result.pop("grouping", None)
    if not result["equal"] and all(name in result["counts"] for name in MOVED):
        result["grouping"] = same(MOVED)
    return result


def compare_rungs(arguments, dtype, n):
    """The first launch of every rung, which folds the array; the ladder launches them all in one process."""
    asked = ["--n", str(n), "--type", dtype, "--block", str(arguments.block)]
    results, told = [], {}
    for name in arguments.rungs:
        run = subprocess.run([arguments.program, "explain", name, *asked, "--format", "json"], capture_output=True, text=True)
        if run.returncode:
            results.append({"rung": name, "dtype": dtype, "n": n, "not_simulated": run.stderr.strip()})
        else:
            told[name] = json.loads(run.stdout)
    rungs = [word for name in told for word in ("--rung", name)]
    command = [arguments.program, "ladder", *rungs, *asked, "--device", "cuda", "--runs", "1", "--hot"]
    # Any context and stream, these kernels, the first launch of each.
    first = "::regex:^(" + "|".join(sorted({one["kernel"] for one in told.values()})) + ")$:1"
    launches, why = hardware(arguments, command, only=["--kernel-id", first])
    for name, one in told.items():
        result = {"rung": name, "dtype": dtype, "n": n, "kernel": one["kernel"]}
        first = next(((row, count) for row, count in launches if row["Kernel Name"].split("(")[0] == one["kernel"]), None)
        if not first:
            results.append({**result, "not_run": why})
            continue
        row, code = first
        grid, block = (int(number(row[shape])) for shape in SHAPE)
        result = {**result, "grid": grid, "block": block, "counts": {}}
        if (grid, block) != (one["grid"], one["block"]):
            results.append({**result, "not_simulated": f"the simulator has {one['grid']} blocks of {one['block']}"})
            continue
        results.append(beside(result, row, code, one["counts"]))
    return results


def compare_reductions(arguments, op):
    """A reduction of every type and length in one process: one launch each, but that stats of complex numbers are several, as many for each length."""
    cells = [{"op": op, "dtype": dtype, "accuracy": accuracy, "n": n} for dtype in arguments.types
             for accuracy in (["fast", "exact"] if op in TWICE and dtype in FLOATS else ["exact"]) for n in arguments.sizes]
    with tempfile.TemporaryDirectory() as folder:
        done = f"{folder}/done"
        lines = "".join(" ".join(map(str, cell.values())) + "\n" for cell in cells)
        launches, why = hardware(arguments, [arguments.reduce_each, done], stdin=lines)
        refused = pathlib.Path(done).read_text().splitlines() if pathlib.Path(done).exists() else []
    several = [op == "stats" and cell["dtype"].startswith("complex") and not refusal for cell, refusal in zip(cells, refused)]
    singles = refused.count("") - sum(several)
    each, over = divmod(len(launches) - singles, sum(several) or 1)
    if len(refused) != len(cells) or over or (each == 0 and any(several)) or (each and not any(several)):
        return [{**cells[0], "not_run": f"{len(launches)} launches of {len(cells)} reductions: {why}"}]
    results, left = [], iter(launches)
    for cell, refusal, has_several in zip(cells, refused, several):
        if refusal:
            results.append({**cell, "not_run": refusal})
            continue
        for row, code in itertools.islice(left, each if has_several else 1):
            kernel = row["Kernel Name"].split("(")[0]
            grid, block = (int(number(row[name])) for name in SHAPE)
            result = {**cell, "kernel": kernel, "grid": grid, "block": block, "counts": {}}
            counts, unknown = simulated(arguments, kernel, cell["n"], grid, block)
            results.append({**result, "not_simulated": unknown} if counts is None else beside(result, row, code, counts))
    return results


def many_lines(n, part, parts):
    """Some of the cases of many reductions at once: element type, reduction, accuracy, length, and how the array is parted."""
    names = {"SIDE": math.isqrt(n), "QUARTER": n // 4, "THIRD": n // 3, "REST": n // (64 * 3 * 32)}
    lines = []
    for one in MANY[part::parts]:
        dtype, op, accuracy, case = one.split(" ", 3)
        for name, length in names.items():
            case = case.replace(name, str(length))
        lines.append((dtype, op, accuracy, n, case))
    return lines


def as_text(lines):
    return "".join(" ".join(map(str, line)) + "\n" for line in lines)


def simulated_many(arguments, lines):
    """Of each case the launches with their counts; or why not."""
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([arguments.reduce_many_each, "simt", f"{folder}/simt"], input=as_text(lines), capture_output=True, text=True)
        if run.returncode:
            return None, run.stderr.strip()
        return [json.loads(line) for line in pathlib.Path(f"{folder}/simt").read_text().splitlines()], None


def compare_many(arguments, n, part):
    """Every launch of one of some equal parts of the cases of many reductions at once."""
    lines = many_lines(n, part, arguments.parts)
    told, why = simulated_many(arguments, lines)
    if why:
        return [{"many": str(part), "n": n, "not_simulated": why}]
    with tempfile.TemporaryDirectory() as folder:
        launches, why = hardware(arguments, [arguments.reduce_many_each, "cuda", f"{folder}/cuda"], stdin=as_text(lines))
    results, left = [], iter(launches)
    for (dtype, op, accuracy, n, case), one in zip(lines, told):
        cell = {"many": case, "op": op, "dtype": dtype, "accuracy": accuracy, "n": n}
        if one["why"]:
            results.append({**cell, "not_run": one["why"]})
        for own in one["launches"]:
            row, code = next(left, (None, None))
            seen = row and (row["Kernel Name"].split("(")[0], *(int(number(row[name])) for name in SHAPE))
            if seen != (own["kernel"], own["grid"], own["block"]):
                # From here on nothing stands beside what it belongs to.
                return [*results, {**cell, "not_run": f"the GPU ran {seen} where the simulator ran {own['kernel']}: {why}"}]
            results.append(beside({**cell, "kernel": own["kernel"], "grid": own["grid"], "block": own["block"], "counts": {}}, row, code, own["counts"]))
    return results


def again(arguments, results):
    """Results of an earlier run, with what the simulator counts now in the place of what it counted then."""
    launches = {}
    for n in sorted({result["n"] for result in results if "many" in result and "counts" in result}):
        lines = many_lines(n, 0, 1)
        told, why = simulated_many(arguments, lines)
        if why:
            sys.exit(why)
        for (dtype, op, accuracy, n, case), one in zip(lines, told):
            launches[(case, dtype, op, accuracy, n)] = one["launches"]

    def taken(result):
        left = launches.get(tuple(result[key] for key in ("many", "dtype", "op", "accuracy", "n")), [])
        own = next((one for one in left if all(one[key] == result[key] for key in ("kernel", "grid", "block"))), None)
        if own is None:
            return None
        left.remove(own)
        return own["counts"]

    # Launches that are alike are told apart by their order, so no two threads may take one.
    of_many = {place: taken(result) for place, result in enumerate(results) if "many" in result and "counts" in result}

    def counted(place, result):
        if place in of_many:
            return of_many[place]
        if "rung" in result:
            command = [arguments.program, "explain", result["rung"], "--n", str(result["n"]), "--type", result["dtype"], "--block",
                       str(arguments.block), "--format", "json"]
            return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)["counts"]
        counts, why = simulated(arguments, result["kernel"], result["n"], result["grid"], result["block"])
        return counts or sys.exit(why)

    def anew(place, result):
        if "counts" not in result:
            return result
        counts = counted(place, result)
        if counts is None:
            return {key: value for key, value in result.items() if key not in ("counts", "equal", "grouping")} | {"not_simulated": "there is no such launch any more"}
        for name, own in {**EQUAL, **BESIDE, **{name: [own] for name, own in CODE.items()}}.items():
            if name in result["counts"]:
                result["counts"][name]["simulator"] = sum(counts[one] for one in own)
        return judged(result)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(anew, itertools.count(), results))


def every_rung(arguments):
    """The rungs, as the program lists them."""
    run = subprocess.run([arguments.program, "ladder", "--device", "simt", "--n", "1", "--format", "json"], capture_output=True, text=True,
                         check=True)
    return [rung["name"] for rung in json.loads(run.stdout)["rungs"] if rung["launches"]]


def summary(results, arguments):
    """Says how many agree; whether all do."""
    compared = sum("equal" in result for result in results)
    wrong = sum(result.get("equal") is False for result in results)
    grouped = sum(result.get("grouping") is True for result in results)
    print(f"{compared} launches compared, {wrong} differ in what must be equal, {grouped} of them by grouping alone; {arguments.out}/counters.json")
    return compared > 0 and wrong == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--reduce-each", required=True, help="the program's example of that name")
    parser.add_argument("--reduce-many-each", required=True, help="likewise")
    parser.add_argument("--ncu", help="Nsight Compute")
    parser.add_argument("--again", type=pathlib.Path, nargs="*", help="no GPU: what the simulator counts now, beside what the hardware counted in these reports")
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--sizes", nargs="+", type=int, required=True)
    parser.add_argument("--types", nargs="+", default=TYPES)
    parser.add_argument("--at-once", type=int, default=12, help="ncu takes turns by itself; the simulator has no need to")
    parser.add_argument("--ops", nargs="*", default=OPS)
    parser.add_argument("--rungs", nargs="*", help="every one by default")
    parser.add_argument("--rung-types", nargs="+", default=["f32", "f64"])
    parser.add_argument("--many", nargs="*", type=int, default=[200003], help="elements of many reductions at once; 0 words for none")
    parser.add_argument("--parts", type=int, default=6, help="processes that share these")
    parser.add_argument("--block", type=int, default=256, help="threads of a block of the rungs")
    arguments = parser.parse_args()
    if not arguments.again and not arguments.ncu:
        parser.error("--ncu reads the hardware's counters; without a GPU, --again takes reports that have them")
    if arguments.again:
        reports = [json.loads(report.read_text()) for report in arguments.again]
        results = again(arguments, [result for report in reports for result in report["results"]])
        (arguments.out / "counters.json").write_text(json.dumps({**reports[0], "results": results}, indent=1) + "\n")
        summary(results, arguments)
        return
    first_line = subprocess.run([arguments.ncu, "--version"], capture_output=True, text=True).stdout.strip().splitlines()[-1:]
    gpu = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True)
    results = []
    with (arguments.out / "counters.log").open("w") as log, ThreadPoolExecutor(arguments.at_once) as pool:
        arguments.rungs = every_rung(arguments) if arguments.rungs is None else arguments.rungs
        ladders = [(dtype, n) for dtype in arguments.rung_types for n in arguments.sizes if arguments.rungs]
        of_ladder = pool.map(lambda cell: compare_rungs(arguments, *cell), ladders)
        of_library = pool.map(lambda op: compare_reductions(arguments, op), arguments.ops)
        parts = itertools.product(arguments.many, range(arguments.parts))
        of_many = pool.map(lambda asked: compare_many(arguments, *asked), parts)
        for found in itertools.chain(of_ladder, of_library, of_many):
            results += found
            for result in found:
                if result.get("equal") is not True:
                    print(json.dumps(result), file=log, flush=True)
            # Written each time, so that a run that is cut short leaves what it has.
            report = {"gpu": gpu.stdout.strip(), "ncu": "".join(first_line), "must_be_equal": list(EQUAL), "results": results}
            (arguments.out / "counters.json").write_text(json.dumps(report, indent=1) + "\n")
    sys.exit(0 if summary(results, arguments) else 1)


if __name__ == "__main__":
    main()
