#!/usr/bin/env bash
# A scheduler and two executors of Ballista with the functions: `ballista/cluster.sh FILE` tests them and writes a summary. A first build compiles some
# 350 crates, a quarter of an hour on two cores, so neither the repository's CI nor ci.sh runs it.
set -euo pipefail
out=$(realpath -m "${1:?name the file of the summary, such as ../../results/datafusion/ballista-DATE.json}")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export CARGO_INCREMENTAL=0
# What is tested is who computes what, not how fast.
quick=()
for crate in arrow-{arith,array,buffer,data,ord,row,select} datafusion-{common,functions-aggregate,functions-aggregate-common,physical-expr-common,physical-plan} hashbrown parquet; do
    quick+=(--config "profile.dev.package.$crate.opt-level=0")
done
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cargo test "${quick[@]}" --locked -p warpfold-ballista -- --nocapture 2>&1 | tee "$log"
python3 - "$log" "$out" <<'EOF'
import json, re, sys, time
from pathlib import Path
log = Path(sys.argv[1]).read_text()
lock = Path("Cargo.lock").read_text()
version = lambda name: re.search(rf'name = "{name}"\nversion = "([^"]+)"', lock)[1]
cpu = next((line.split(": ")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "")
tests = re.findall(r"^test (a_\w+) \.\.\. ", log, re.M)
told = dict(re.findall(r"^ *(\w+): (.+?) ms$", log, re.M))
Path(sys.argv[2]).write_text(json.dumps({
    "date": time.strftime("%Y-%m-%d"),
    "processor": cpu,
    "command": "integrations/datafusion/ballista/cluster.sh",
    "ballista": version("ballista"),
    "datafusion": version("datafusion"),
    "cluster": "1 scheduler, 2 executors of 2 tasks, each a process, over loopback",
    "partitions": [1, 2, 8],
    "passed": sorted(tests),
    "milliseconds": {name: int(value) for name, value in told.items()},
}, indent=1) + "\n")
EOF
