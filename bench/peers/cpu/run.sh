#!/usr/bin/env bash
# Benchmarks warpfold, then warpfold and its peers on the same arrays; writes results/<machine>/cpu.json.
# Arguments go to the program: --filter REGEX, --bytes N.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
tools=$root/.tools/peers-cpu

if ! cmp -s "$here/requirements.txt" "$tools/requirements.txt"; then
    python3 -m venv --clear "$tools"
    "$tools/bin/pip" install --quiet --requirement "$here/requirements.txt"
    cp "$here/requirements.txt" "$tools/"
fi

WARPFOLD_REVISION=$(git -C "$root" describe --always --dirty) \
    cargo run --quiet --release --locked --manifest-path "$here/Cargo.toml" -- \
    --python "$tools/bin/python" --results "$root/results" "$@"
