# Sourced by the scripts beside it: where things are (`here`, `root`), and an environment with the peers in `tools`, made anew where its list has changed.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
tools=$root/.tools/peers-cpu

if ! cmp -s "$here/requirements.txt" "$tools/requirements.txt"; then
    python3 -m venv --clear "$tools"
    "$tools/bin/pip" install --quiet --requirement "$here/requirements.txt"
    cp "$here/requirements.txt" "$tools/"
fi
