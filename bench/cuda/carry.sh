#!/usr/bin/env bash
# Builds the CUDA tests and the program for release and puts them, stripped, into a folder that can be carried to a machine with a
# GPU and run there without cargo:   bench/cuda/carry.sh FOLDER    and there:   FOLDER/run.sh [STAGE]...
set -euo pipefail
to=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")/../.."
export CARGO_PROFILE_RELEASE_DEBUG=0
built=$(cargo test --release --no-run --package warpfold --features cuda --test cuda --message-format=json |
    python3 -c 'import json,sys; print([m["executable"] for m in map(json.loads, sys.stdin) if m.get("executable")][-1])')
cargo build --release --package warpfold-cli
install "$built" "$to/cuda_tests"
install target/release/warpfold "$to/warpfold"
strip "$to/cuda_tests" "$to/warpfold"
git rev-parse --short HEAD >"$to/revision"
install -m 644 bench/peers/cuda/cub.cu "$to/"
install bench/cuda/run.sh bench/cuda/sanitize.sh "$to/"
