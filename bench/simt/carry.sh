#!/usr/bin/env bash
# Puts the release program and the script that counts with it into a folder that can be carried to a machine with a GPU and Nsight Compute,
# and run there without cargo:   bench/simt/carry.sh FOLDER    and there:   FOLDER/counters.sh FOLDER/warpfold
set -euo pipefail
to=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")/../.."
CARGO_PROFILE_RELEASE_DEBUG=0 cargo build --release --locked --package warpfold-cli --bins --example reduce_each --example reduce_many_each
install target/release/warpfold target/release/examples/reduce_{,many_}each "$to/"
strip "$to/warpfold" "$to"/reduce_{,many_}each
install bench/simt/counters.sh bench/simt/counters.py "$to/"
