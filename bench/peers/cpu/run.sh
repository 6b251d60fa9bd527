#!/usr/bin/env bash
# Benchmarks warpfold, then warpfold and its peers on the same arrays; writes results/<machine>/cpu.json.
# Arguments go to the program: --filter REGEX, --bytes N.
set -euo pipefail

source "$(dirname "${BASH_SOURCE[0]}")/tools.sh"

WARPFOLD_REVISION=$(git -C "$root" describe --always --dirty) \
    cargo run --quiet --release --locked --manifest-path "$here/Cargo.toml" -- \
    --python "$tools/bin/python" --results "$root/results" "$@"
