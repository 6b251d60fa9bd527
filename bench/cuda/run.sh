#!/usr/bin/env bash
# On a machine with a GPU, in the folder that carry.sh made: verify first, then time beside CUB, a short table last.
# Everything goes to the folder $OUT too (default: results). Stages: verify, shapes, time, sanitize; by default verify and time.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-results}
mkdir -p "$out"
stages=${*:-verify time}
if [[ $stages == *time* ]]; then
    nvcc -O3 -std=c++17 -arch=native "$here/cub.cu" -o /tmp/cub_peer >"$out/nvcc.log" 2>&1 &
    compiling=$!
fi
nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem --format=csv,noheader | tee "$out/gpu.txt"
for stage in $stages; do
    case $stage in
    verify)
        WARPFOLD_REQUIRE_CUDA=1 timeout "${VERIFY_SECONDS:-240}" "$here/cuda_tests" --test-threads 8 >"$out/verify.log" 2>&1
        echo "verify: exit $?"
        grep -E '^test result|panicked|cuda .*cpu|right$' "$out/verify.log" | cut -c1-400 | head -40
        grep -A1 panicked "$out/verify.log" | grep -v panicked | cut -c1-300 | head -20
        ;;
    shapes) "$here/cuda_bench" shapes >"$out/shapes.jsonl" 2>>"$out/bench.log" ;;
    time)
        { CUDA_CACHE_DISABLE=1 "$here/cuda_bench" first; "$here/cuda_bench" first >/dev/null; "$here/cuda_bench" first;
            "$here/cuda_bench" latency; } 2>>"$out/bench.log" | tee "$out/latency.jsonl"
        wait "$compiling" || tail -5 "$out/nvcc.log"
        { "$here/cuda_bench" sizes && "$here/cuda_bench" types; } >"$out/warpfold.jsonl" 2>>"$out/bench.log"
        /tmp/cub_peer >"$out/peers.jsonl" 2>>"$out/bench.log"
        "$here/cuda_bench" sizes >>"$out/warpfold.jsonl" 2>>"$out/bench.log"
        python3 "$here/table.py" "$out"
        ;;
    sanitize)
        for tool in memcheck racecheck initcheck synccheck; do
            WARPFOLD_REQUIRE_CUDA=1 WARPFOLD_SANITIZER=1 timeout "${SANITIZE_SECONDS:-100}" compute-sanitizer --tool "$tool" --error-exitcode 9 \
                "$here/cuda_tests" --test-threads 1 sanitizer >"$out/$tool.log" 2>&1
            echo "$tool: exit $? $(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' "$out/$tool.log" | tail -1)"
        done
        ;;
    esac
done
# One file of logs, for places that hand back few files.
(cd "$out" && tar czf logs.tar.gz ./*.log ./*.txt && rm -f ./*.log ./*.txt)
