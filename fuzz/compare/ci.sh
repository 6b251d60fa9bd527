#!/usr/bin/env bash
# A sample of the comparison of the readers with Python's csv module and NumPy: ci.sh READER, the example read_each. NumPy is installed where it is missing.
set -euo pipefail

reader=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=python3
if ! python3 -c 'import numpy' 2>/dev/null; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    python3 -m venv "$work"
    "$work/bin/pip" install --quiet --disable-pip-version-check numpy
    python=$work/bin/python
fi
PYTHONDONTWRITEBYTECODE=1 "$python" "$here/run.py" --reader "$reader" --cases 20000
