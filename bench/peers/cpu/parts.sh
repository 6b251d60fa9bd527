#!/usr/bin/env bash
# Measures every reduction that matters of rows, columns and keys beside NumPy and Polars: writes parts-32MiB.json, parts-256MiB.json, parts-256MiB-avx2.json and
# keys.json of results/<machine>/. About an hour on two quiet cores; an argument measures one of the four (such as keys).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ops=sum,var,l2,max,argmax,prod,stats
types=f16,f32,f64,i32,complex64
# Axes of ten shapes, and segments of nine lengths.
shapes='/(every|\[)'
export WARPFOLD_PEER_SECONDS=0.2

measure() {
    local name=$1
    shift
    [[ -n $only && $only != "$name" ]] || "$here/segments.sh" --name "$name" --time 60 "$@"
}

only=${1:-}
measure parts-32MiB --n 2^23 --ops "$ops" --dtypes "$types" --filter "exact$shapes"
measure parts-256MiB --n 2^26 --ops "$ops" --dtypes "$types" --filter "exact$shapes"
measure parts-256MiB-avx2 --n 2^26 --ops "$ops" --dtypes "$types" --filter "exact/\[" --isa avx2
# Four million elements of f64.
measure keys --n 2^23 --ops sum,mean,var,l2,prod,max,argmax,stats --dtypes f64 --filter 'exact/2\^.* any'
