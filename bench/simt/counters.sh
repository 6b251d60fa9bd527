#!/usr/bin/env bash
# The hardware's counters beside the simulator's, for every production kernel and every rung of the ladder: counters.sh [PROGRAM].
# Nsight Compute watches `warpfold … --device cuda`; the simulator is given the same arrays, grid and block. Everything goes to
# $OUT (default: results/h200): counters.json, which is kept, and counters.log, which says what differed.
# SIZES, TYPES, OPS, RUNGS and MANY (words; the last three may be empty) narrow the run; by default two sizes of every reduction and type that the GPU
# does, and of every rung, and many reductions at once of one size.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "${1:-target/release/warpfold}")
out=${OUT:-results/h200}
mkdir -p "$out"
ncu=$(command -v ncu || ls -d /opt/nvidia/nsight-compute/*/ncu /usr/local/cuda/bin/ncu 2>/dev/null | tail -1)
[[ -n $ncu ]] || { echo "Nsight Compute (ncu) is not on this machine; install it with the CUDA toolkit" >&2; exit 1; }
exec python3 "$here/counters.py" --program "$program" --reduce-each "${EXAMPLES:-$(dirname "$program")}/reduce_each" \
    --reduce-many-each "${EXAMPLES:-$(dirname "$program")}/reduce_many_each" --ncu "$ncu" --out "$out" \
    --sizes ${SIZES:-1000 200003} ${TYPES:+--types $TYPES} ${OPS+--ops $OPS} ${RUNGS+--rungs $RUNGS} ${MANY+--many $MANY}
