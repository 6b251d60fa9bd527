#!/usr/bin/env bash
# Measures sums of segments, axes and groups, then NumPy and Polars on the same arrays; writes results/<machine>/segments.json.
# Arguments go to the program: --n N, --filter REGEX, --threads N.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
tools=$root/.tools/peers-cpu
report=$(mktemp --suffix .json)
trap 'rm -f "$report"' EXIT

if ! cmp -s "$here/requirements.txt" "$tools/requirements.txt"; then
    python3 -m venv --clear "$tools"
    "$tools/bin/pip" install --quiet --requirement "$here/requirements.txt"
    cp "$here/requirements.txt" "$tools/"
fi

cd "$root"
WARPFOLD_REVISION=$(git describe --always --dirty) \
    cargo run --quiet --release --locked -p warpfold-cli -- bench segments --export "$report" "$@"
"$tools/bin/python" "$here/segments.py" "$report" "$root/results"
