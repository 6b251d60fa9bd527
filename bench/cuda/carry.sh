#!/usr/bin/env bash
# Builds the CUDA tests and the program for release and puts them, stripped, into a folder that can be carried to a machine with a
# GPU and run there without cargo:   bench/cuda/carry.sh FOLDER    and there:   FOLDER/run.sh [STAGE]...
set -euo pipefail
to=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")/../.."
export CARGO_PROFILE_RELEASE_DEBUG=0
built=$(cargo test --release --no-run --package warpfold --features cuda-tests --test cuda --message-format=json |
    python3 -c 'import json,sys; print([m["executable"] for m in map(json.loads, sys.stdin) if m.get("executable")][-1])')
cargo build --release --package warpfold-cli
install "$built" "$to/cuda_tests"
install target/release/warpfold "$to/warpfold"
strip "$to/cuda_tests" "$to/warpfold"
git rev-parse --short HEAD >"$to/revision"
mkdir -p "$to/peers"
install -m 644 bench/peers/cuda/* "$to/peers/"
# CUB's newest headers, which promise the same bits on every GPU; a toolkit may hold older ones.
headers=.tools/cccl
if [[ ! -d $headers ]]; then
    python3 -m pip download --quiet --no-deps --only-binary :all: --dest .tools 'nvidia-cuda-cccl==13.3.5.0.6'
    python3 -m zipfile -e .tools/nvidia_cuda_cccl-13.3.5.0.6-*.whl .tools/wheel
    mv .tools/wheel/nvidia/cu13/include/cccl "$headers"
    rm -r .tools/wheel .tools/nvidia_cuda_cccl-*.whl
fi
tar czf "$to/peers/cccl.tar.gz" -C .tools cccl
install bench/cuda/run.sh bench/cuda/sanitize.sh "$to/"
