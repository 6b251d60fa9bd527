#!/usr/bin/env bash
# Measures sums of text, packed text and files from the disk beside Polars and dd; writes results/<machine>/streams.json. Takes quiet cores, 3 GiB on the
# disk of the temporary folder, and root for a page cache that is dropped as a whole; zstd and gzip of the system.
# Arguments go to streams.py: --rows N, --gib N, --repeat R, --folder FOLDER, --machine NAME.
set -euo pipefail

source "$(dirname "${BASH_SOURCE[0]}")/tools.sh"

cd "$root"
cargo build --quiet --release --locked -p warpfold-cli
"$tools/bin/python" "$here/streams.py" target/release/warpfold "$root/results" "$@"
