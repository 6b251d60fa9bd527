#!/usr/bin/env bash
# The Python front: builds the wheel, installs it where nothing else is, and tests it there.
# Needs Rust and Python 3.11 or newer. The development profile is enough: what is tested here is the front, and the kernels have their own tests.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PIP_DISABLE_PIP_VERSION_CHECK=1 CARGO_TARGET_DIR="$root/target"
# Others' packages, which take long to come: `ci.sh packages` fetches them beforehand, while something else is compiled.
tools=$root/target/python/tools peers=$root/target/python/peers

python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "python3 is $(python3 --version), and 3.11 or newer is needed" >&2
    exit 1
}

packages() {
    python3 -m venv --clear "$tools"
    "$tools/bin/pip" install --quiet 'maturin>=1.14,<2' mypy
    python3 -m venv --clear "$peers"
    "$peers/bin/pip" install --quiet numpy pytest mypy ml_dtypes polars pyarrow pandas duckdb 'dask[array,dataframe]' nbclient ipykernel
    touch "$root/target/python/fetched"
}
if [[ ${1:-} == packages ]]; then
    rm -f "$root/target/python/fetched"
    packages
    exit
fi
[[ -e $root/target/python/fetched ]] || packages
# Once: the next run has their newest again.
rm "$root/target/python/fetched"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$tools/bin/mypy" --strict "$root"/python/warpfold/{,torch/}*.pyi
(cd "$root/python" && "$tools/bin/maturin" build --profile dev --features extension-module,as-tested --locked --interpreter python3 --out "$work/wheels")
ls -l "$work/wheels"

# Where nothing else is installed.
python3 -m venv "$work/empty"
"$work/empty/bin/pip" install --quiet --no-index "$work"/wheels/*.whl
cd "$work"
"$work/empty/bin/python" -c 'import array, warpfold; assert warpfold.sum(array.array("d", [0.1] * 10)) == 1.0'

# Beside what it works with; the tests run the examples of the README and the manual.
"$peers/bin/pip" install --quiet --no-index --force-reinstall --no-deps "$work"/wheels/*.whl
# The extension for DuckDB, which takes no Python to build.
(cd "$root" && cargo build --locked --quiet -p warpfold-duckdb -p warpfold-python --features warpfold-python/as-tested)
export WARPFOLD_DUCKDB="$root/target/debug/libwarpfold_duckdb.so"
"$peers/bin/pytest" -c "$root/python/pyproject.toml" --rootdir "$root/python" -p no:cacheprovider "$root/python/tests"
