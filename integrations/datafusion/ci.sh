#!/usr/bin/env bash
# What has to hold of the functions for DataFusion. A first build takes a quarter of an hour on two quiet cores, so the repository's own CI does not
# run this, nor does it take Ballista in, which ballista/cluster.sh does; whoever changes partials, the engine or this folder does.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
export CARGO_INCREMENTAL=0
cargo fmt --all --check
cargo clippy --all-targets --locked -- -D warnings
cargo test --locked
