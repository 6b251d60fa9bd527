#!/usr/bin/env bash
# Measures sums of segments, axes and groups, then NumPy and Polars on the same arrays; writes results/<machine>/segments.json.
# Arguments go to the program: --n N, --filter REGEX, --threads N.
set -euo pipefail

source "$(dirname "${BASH_SOURCE[0]}")/tools.sh"
report=$(mktemp --suffix .json)
trap 'rm -f "$report"' EXIT

cd "$root"
WARPFOLD_REVISION=$(git describe --always --dirty) \
    cargo run --quiet --release --locked -p warpfold-cli -- bench segments --export "$report" "$@"
"$tools/bin/python" "$here/segments.py" "$report" "$root/results"
