#!/usr/bin/env bash
# Measures reductions of segments, axes and groups, then NumPy and Polars on such arrays; writes results/<machine>/NAME.json (NAME is segments unless the
# first argument is --name NAME). Other arguments go to the program: --n N, --ops sum,var, --dtypes f32,f64, --filter REGEX, --time MS, --threads N, --isa ISA.
set -euo pipefail

source "$(dirname "${BASH_SOURCE[0]}")/tools.sh"
report=$(mktemp --suffix .json)
trap 'rm -f "$report"' EXIT

name=segments
if [[ ${1:-} == --name ]]; then
    name=$2
    shift 2
fi
cd "$root"
WARPFOLD_REVISION=$(git describe --always --dirty) \
    cargo run --quiet --release --locked -p warpfold-cli -- bench segments --export "$report" "$@"
"$tools/bin/python" "$here/segments.py" "$report" "$root/results" "$name"
