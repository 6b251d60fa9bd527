#!/usr/bin/env bash
# The Python front: builds the wheel, installs it where nothing else is, and tests it there.
# Needs Rust and Python 3.11 or newer. The development profile is enough: what is tested here is the front, and the kernels have their own tests.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 CARGO_TARGET_DIR="$root/target"

python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "python3 is $(python3 --version), and 3.11 or newer is needed" >&2
    exit 1
}

python3 -m venv "$work/tools"
"$work/tools/bin/pip" install --quiet 'maturin>=1.14,<2' mypy
"$work/tools/bin/mypy" --strict "$root"/python/warpfold/{,torch/}*.pyi
(cd "$root/python" && "$work/tools/bin/maturin" build --profile dev --locked --interpreter python3 --out "$work/wheels")
ls -l "$work/wheels"

# Where nothing else is installed.
python3 -m venv "$work/empty"
"$work/empty/bin/pip" install --quiet --no-index "$work"/wheels/*.whl
cd "$work"
"$work/empty/bin/python" -c 'import array, warpfold; assert warpfold.sum(array.array("d", [0.1] * 10)) == 1.0'

# Beside what it works with; the tests run the examples of the README and the manual.
"$work/empty/bin/pip" install --quiet numpy pytest mypy ml_dtypes polars pyarrow pandas duckdb 'dask[array,dataframe]' nbclient ipykernel
# The extension for DuckDB, which takes no Python to build.
(cd "$root" && cargo build --locked --quiet -p warpfold-duckdb)
export WARPFOLD_DUCKDB="$root/target/debug/libwarpfold_duckdb.so"
"$work/empty/bin/pytest" -c "$root/python/pyproject.toml" --rootdir "$root/python" -p no:cacheprovider "$root/python/tests"
