#!/usr/bin/env python3
"""Compares the program's readers with Python's csv module and with NumPy, case by case: values, not only crashes.

    cargo build -p warpfold-io --example read_each
    python3 fuzz/compare/run.py --reader target/debug/examples/read_each --cases 100000

Ends with 1 at the first differences, which it prints. A run is the same wherever its seed is.
"""

import argparse
import collections
import datetime
import json
import math
import random
import struct
import subprocess
import sys
import time

import numpy

import arrays
import texts

BATCH = 2000


def answers(reader, cases):
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    ran = subprocess.run([reader], input=lines, capture_output=True, text=True, check=False)
    found = [json.loads(line) for line in ran.stdout.splitlines()]
    if ran.returncode or len(found) != len(cases):
        sys.exit(f"the reader ended with {ran.returncode} after {len(found)} of {len(cases)} cases:\n{ran.stderr}\n{cases[len(found)] if len(found) < len(cases) else ''}")
    return found


def compare_text(seed, count, reader):
    """Yields a class of outcomes for each case, and a difference or None."""
    generator = random.Random(seed)
    made = [texts.generate(generator) for _ in range(count)]
    found = answers(reader, [{**case, "bytes": text.encode().hex()} for case, text, _ in made])
    for (case, text, plain), answer in zip(made, found):
        try:
            elements, names, rows, left_out = texts.expected(case, text, plain)
        except texts.Refused as why:
            said = answer.get("error")
            difference = None if said else f"taken, and expected was: {why}"
            yield "refused by both" + ("" if said and str(why) in said else ", for another reason"), difference, (case, text, answer)
            continue
        if "error" in answer:
            yield "refused", f"refused, and expected were {len(elements)} bytes", (case, text, answer)
            continue
        is_same = same(case["dtype"], elements, bytes.fromhex(answer["elements"]))
        is_same = is_same and (names, rows, left_out) == (answer["names"], answer["rows"], answer["left_out"])
        yield "the same elements", None if is_same else f"expected {elements.hex()}, names {names}, rows {rows}, left out {left_out}", (case, text, answer)


def same(dtype, a, b):
    """Bit by bit, but that a NaN is a NaN."""
    if dtype != "float64" or len(a) != len(b):
        return a == b
    count = len(a) // 8
    pairs = zip(struct.unpack(f"={count}d", a), struct.unpack(f"={count}d", b))
    return all(x == y and math.copysign(1, x) == math.copysign(1, y) or math.isnan(x) and math.isnan(y) for x, y in pairs)


def compare_npy(seed, count, reader):
    generator = random.Random(seed)
    made = [arrays.generate(generator) for _ in range(count)]
    found = answers(reader, [{"kind": "npy", "bytes": file.hex()} for file in made])
    for file, answer in zip(made, found):
        numpys, why = arrays.expected(file)
        said = answer.get("error")
        shown = (file, why or numpys, answer)
        if numpys is None:
            reason = None if said else arrays.looser(file, why)
            name = "refused by both" if said else f"taken here alone: {reason}"
            yield name, None if said or reason else "taken, and NumPy refuses it", shown
        elif said:
            reason = arrays.stricter(file, said)
            yield f"refused here alone: {reason}", None if reason else "refused, and NumPy takes it", shown
        else:
            dtype, shape, elements, _ = numpys
            is_same = dtype in [answer["dtype"], *answer["aliases"]] and (shape, elements.hex()) == (answer["shape"], answer["elements"])
            yield "the same elements", None if is_same else "other elements", shown


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reader", required=True, help="the example read_each of warpfold-io")
    parser.add_argument("--cases", type=int, default=4000, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--export", help="a JSON file for the summary")
    asked = parser.parse_args()
    summary = {"date": datetime.date.today().isoformat(), "seed": asked.seed, "python": sys.version.split()[0], "numpy": numpy.__version__}
    differences = 0
    for kind, compare in [("text", compare_text), ("npy", compare_npy)]:
        begun, classes = time.monotonic(), collections.Counter()
        for start in range(0, asked.cases, BATCH):
            for name, difference, shown in compare(f"{kind} {asked.seed} {start}", min(BATCH, asked.cases - start), asked.reader):
                classes[name] += 1
                if difference:
                    differences += 1
                    if differences <= 12:
                        print(kind, difference, *map(repr, shown), sep="\n    ")
        summary[kind] = {"cases": sum(classes.values()), "outcomes": dict(classes.most_common()), "seconds": round(time.monotonic() - begun, 1)}
    summary["differences"] = differences
    print(json.dumps(summary, indent=1))
    if asked.export:
        with open(asked.export, "w", encoding="utf-8") as file:
            file.write(json.dumps(summary, indent=1) + "\n")
    sys.exit(bool(differences))


if __name__ == "__main__":
    main()
