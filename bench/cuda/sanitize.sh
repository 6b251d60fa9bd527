#!/usr/bin/env bash
# Runs the tests called "sanitizer" (every kernel, few launches each) under compute-sanitizer's four tools, and every rung of the ladder with
# every operation and type over short arrays (of $SANITIZE_CELLS of them), on a machine with a GPU and in the folder that carry.sh made. Writes
# $OUT/sanitizer.json (default: results/), which results/<device>/ keeps; the tools' logs lie beside it. Exits with 1 unless every tool
# ran to the end and found nothing.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-results}
mkdir -p "$out"
command -v compute-sanitizer >/dev/null || { echo "compute-sanitizer is not on this machine; it comes with the CUDA toolkit" >&2; exit 2; }
clean=0
rows=()

# under TOOL WHAT PATTERN COMMAND...: the pattern finds what the command says of how much it did.
under() {
    local tool=$1 what=$2 pattern=$3 log=$out/$1_$2.log started=$SECONDS code summary tests
    shift 3
    WARPFOLD_REQUIRE_CUDA=1 timeout "${SANITIZE_SECONDS:-300}" compute-sanitizer --tool "$tool" --error-exitcode 9 "$@" >"$log" 2>&1
    code=$?
    summary=$(grep -E '(ERROR|RACECHECK) SUMMARY' "$log" | tail -1 | sed 's/^=* *//; s/"//g')
    tests=$(grep -oE "$pattern" "$log" | tail -1)
    [[ $code == 0 && -n $tests ]] || clean=1
    echo "$tool, $what: exit $code, $tests, ${summary:-no summary}, $((SECONDS - started)) s"
    rows+=("  {\"tool\": \"$tool\", \"what\": \"$what\", \"exit\": $code, \"tests\": \"$tests\", \"summary\": \"$summary\", \"seconds\": $((SECONDS - started))}")
}

for tool in memcheck racecheck initcheck synccheck; do
    under $tool kernels '[0-9]+ passed; [0-9]+ failed' "$here/cuda_tests" --test-threads 1 sanitizer
    under $tool ladder '[0-9]+ right, [0-9]+ wrong' \
        "$here/warpfold" ladder --verify-all --device cuda --n 2049 --sample "${SANITIZE_CELLS:-3000}"
done
joined=$(printf ',\n%s' "${rows[@]}")
device=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1)
version=$(compute-sanitizer --version | grep -oE '[0-9]{4}\.[0-9.]+' | head -1)
printf '{"schema": 1, "date": "%s", "revision": "%s", "device": "%s", "driver": "%s", "compute-sanitizer": "%s", "tools": [\n%s\n]}\n' \
    "$(date -u +%FT%TZ)" "$(cat "$here/revision" 2>/dev/null)" "${device%,*}" "${device##*, }" "$version" "${joined:2}" >"$out/sanitizer.json"
exit $clean
