#!/usr/bin/env bash
# NVIDIA's own NCCL, from its PyPI wheel (350 MB), answers for its version and makes a unique id without a GPU; no part of CI for its size.
# crates/warpfold-dist/tests/nccl.sh WORLD [FOLDER]: WORLD is the built example `world`; the wheel is unpacked in FOLDER, or found there.
set -euo pipefail
world=$(realpath "$1")
folder=${2:-$(mktemp -d)}
library=$folder/nvidia/nccl/lib/libnccl.so.2
if [[ ! -f $library ]]; then
  pip -q --disable-pip-version-check download --no-deps -d "$folder/wheel" nvidia-nccl-cu12
  python3 -m zipfile -e "$folder"/wheel/nvidia_nccl_cu12-*.whl "$folder"
fi
said=$("$world" probe "$library")
echo "$said"
[[ $said == '{"nccl": "NCCL 2.'*', "unique_id": true}' ]] || { echo "nccl.sh: expected a version and an id"; exit 1; }
