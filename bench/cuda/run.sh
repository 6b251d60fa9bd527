#!/usr/bin/env bash
# On a machine with a GPU, in the folder that carry.sh made: verify first, then time beside CUB. Everything goes to the folder
# $OUT (default: results): cuda.json is what results/<device>/ keeps. Stages, by default verify and time:
#   verify    every test of the library on CUDA
#   time      warpfold bench cuda, with CUB's figures of the same run (where there is nvcc)
#   segments  many reductions at once: their tests alone; warpfold bench segments, beside CUB (where there is nvcc) and torch (where it is installed)
#   groups    sums by keys: their tests alone; warpfold bench segments of keys, beside CUB (where there is nvcc) and torch (where it is installed)
#   ladder    every cell of the ladder verified; the ladder at 2^25 f32 and 2^28 i32, beside CUB (where there is nvcc)
#   replay    the documents' own experiments, beside torch and JAX where they are installed, and CUB (where there is nvcc)
#   sweep     blocks, sizes, types and elements a thread, as JSON and as charts; the rooflines; and the page of everything that is there
#   program   the program itself: files and standard input through the GPU, against the processor
#   tune      warpfold tune, and the gains
#   hard      ten hard sums: everyone's errors (docs/hard-sums.md)
#   soak      100,000 random arrays, exact, CPU against GPU; 16 threads x 64 queues for $SOAK_SECONDS (60)
#   sanitize  compute-sanitizer's four tools: see sanitize.sh
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-results}
out=$(mkdir -p "$out" && cd "$out" && pwd)
export XDG_CONFIG_HOME=$out WARPFOLD_REVISION=${WARPFOLD_REVISION:-$(cat "$here/revision" 2>/dev/null)}
stages=${*:-verify time}
compiling=
# The peers' programs, compiled while other stages run; what does not compile is left out.
compile() {
    tar xzf "$here/peers/cccl.tar.gz" -C /tmp
    local peer newest
    local peers="cub reproducible hard_cub segments groups"
    [[ $stages == segments || $stages == groups ]] && peers=$stages
    for peer in $peers; do
        # The plain peer is the toolkit's own.
        [[ $peer == reproducible || $peer == segments || $peer == groups ]] && newest=-I/tmp/cccl || newest=
        timeout 120 nvcc -O3 -std=c++17 -arch=native $newest "$here/peers/$peer.cu" -o "/tmp/peer_$peer" &
    done
    wait
}
if [[ $stages =~ time|hard|ladder|replay|segments|groups ]] && command -v nvcc >/dev/null; then
    compile >"$out/nvcc.log" 2>&1 &
    compiling=$!
fi
peer() { [[ -n $compiling ]] && { wait "$compiling" 2>/dev/null; [[ -x /tmp/peer_$1 ]]; } || { echo "no peer $1"; tail -5 "$out/nvcc.log" 2>/dev/null; false; }; }
"$here/warpfold" devices | tee "$out/devices.txt"

# The same array on both devices gives the same line.
program() {
    local file=/tmp/warpfold_program.raw case
    head -c $((1 << 30)) /dev/urandom >"$file"
    for case in "sum i32" "argmax i16" "minmax u64" "count i8" "prod u8" "l2 i32" "max f32" "argmin f16"; do
        set -- $case
        for way in "$file" -; do
            local gpu cpu
            gpu=$("$here/warpfold" "$1" "$way" --input raw --dtype "$2" --nan ignore --overflow wrap --device cuda <"$file" 2>&1)
            cpu=$("$here/warpfold" "$1" "$way" --input raw --dtype "$2" --nan ignore --overflow wrap --device cpu <"$file" 2>&1)
            [[ $gpu == "$cpu" ]] && echo "$case from ${way/$file/a file}: same" || echo "$case from $way: DIFFERENT: $gpu, $cpu"
        done
    done
    for device in cpu cuda; do "$here/warpfold" sum "$file" --dtype i32 --device "$device" --verbose; done
    rm -f "$file"
}

# The tests of many reductions of a kind, the peers that have as many seconds each, then warpfold's figures of cases that a pattern names: `parts KIND SECONDS PEER CASES TEST...`
parts() {
    local kind=$1 seconds=$2 theirs=$3 cases=$4 began=$SECONDS left
    shift 4
    WARPFOLD_REQUIRE_CUDA=1 timeout --kill-after 5 "${VERIFY_SECONDS:-30}" "$here/cuda_tests" --test-threads 8 "$@" >"$out/verify_$kind.log" 2>&1
    echo "verify $kind: exit $?"
    grep -E '^test result|panicked|FAILED' "$out/verify_$kind.log" | cut -c1-400 | head -40
    grep -A1 panicked "$out/verify_$kind.log" | grep -v panicked | cut -c1-300 | head -20
    # The peers have the GPU to themselves, then warpfold has what is left of the time.
    timeout --kill-after 5 "$theirs" python3 "$here/peers/${kind}_torch.py" >"$out/peers_$kind.jsonl" 2>"$out/${kind}_torch.log"
    tail -3 "$out/${kind}_torch.log"
    peer "$kind" && timeout --kill-after 5 "$theirs" "/tmp/peer_$kind" >>"$out/peers_$kind.jsonl" 2>"$out/${kind}_cub.log"
    left=$((seconds + began - SECONDS))
    timeout --kill-after 5 $((left > 40 ? left : 40)) "$here/warpfold" bench segments --device cuda --filter "$cases" --peers "$out/peers_$kind.jsonl" --export "$out/$kind.json" >"$out/$kind.txt" 2>"$out/$kind.log"
    echo "bench $kind: exit $?"
    # Of a run that was cut short, the rows there were.
    [[ -s $out/$kind.txt ]] && cut -c1-300 "$out/$kind.txt" || tail -60 "$out/$kind.log"
}

# Rungs that fold by atomics, and all others. Products of many elements by compare-and-swap take the square of their number: minutes each.
first="--rung 01 --rung 02"
later=$(printf -- '--rung %02d ' {3..16})

for stage in $stages; do
    case $stage in
    verify)
        WARPFOLD_REQUIRE_CUDA=1 timeout "${VERIFY_SECONDS:-240}" "$here/cuda_tests" --test-threads 8 >"$out/verify.log" 2>&1
        echo "verify: exit $?"
        grep -E '^test result|panicked|cuda .*cpu|right$' "$out/verify.log" | cut -c1-400 | head -40
        grep -A1 panicked "$out/verify.log" | grep -v panicked | cut -c1-300 | head -20
        ;;
    time)
        peers=()
        for name in cub reproducible; do
            peer $name && "/tmp/peer_$name" >>"$out/peers.jsonl" && peers=(--peers "$out/peers.jsonl")
        done
        "$here/warpfold" bench cuda "${peers[@]}" --export "$out/cuda.json" 2>&1 | tee "$out/bench.log"
        ;;
    segments) parts segments "${SEGMENTS_SECONDS:-100}" 15 '/(every|random|Zipf|one|\[)' segments:: axes:: many_large::more_elements many_large::a_quarter ;;
    groups) parts groups "${GROUPS_SECONDS:-200}" 40 'dense keys' groups:: many_large::more_keys many_large::as_many_keys ;;
    ladder)
        for asked in "$later" "$first --op sum" "$first --op min" "$first --op max" "$first --op prod --n 2049"; do
            # shellcheck disable=SC2086 # words
            found=$("$here/warpfold" ladder --verify-all --device cuda --format json $asked 2>>"$out/ladder_verify.log")
            echo "ladder, every cell of $asked: exit $?"
            echo "{\"asked\": \"$asked\", \"revision\": \"$WARPFOLD_REVISION\", ${found#\{}" | tee -a "$out/ladder_verified.jsonl" | cut -c1-600
        done
        peers=()
        if [[ -s $out/peers.jsonl ]] || { peer cub && /tmp/peer_cub >"$out/peers.jsonl"; }; then peers=(--peers "$out/peers.jsonl"); fi
        for asked in "33554432 f32" "268435456 i32"; do
            set -- $asked
            "$here/warpfold" ladder --device cuda --n "$1" --type "$2" "${peers[@]}" --export "$out/ladder_$2.json" 2>&1 | tee "$out/ladder_$2.log"
        done
        ;;
    replay)
        peers=()
        if [[ -s $out/peers.jsonl ]] || { peer cub && /tmp/peer_cub >"$out/peers.jsonl"; }; then peers=(--peers "$out/peers.jsonl"); fi
        for document in blog lesson slides harris guide thesis; do
            "$here/warpfold" replay "$document" --device cuda "${peers[@]}" --export "$out/replay_$document.json" 2>&1 | tee "$out/replay_$document.log"
        done
        ;;
    sweep)
        for asked in "block $((1 << 28))" "size $((1 << 28))" "type $((1 << 27))" "items $((1 << 28))"; do
            set -- $asked
            "$here/warpfold" sweep "$1" --device cuda --n "$2" --export "$out/sweep_$1.json" --export "$out/sweep_$1.svg" 2>&1 | tee "$out/sweep_$1.log"
        done
        for dtype in f32 i32; do
            "$here/warpfold" roofline --device cuda --n $((1 << 25)) --type $dtype --export "$out/roofline_$dtype.json" 2>&1 | tee "$out/roofline_$dtype.log"
        done
        "$here/warpfold" report --out "$out/report.html" --from "$out"/ladder_{f32,i32}.json "$out"/{replay,sweep,roofline}_*.json 2>&1 | tee "$out/report.log"
        ;;
    program) program 2>&1 | tee "$out/program.log" ;;
    tune) "$here/warpfold" tune --export "$out/tune.json" 2>&1 | tee "$out/tune.log" ;;
    hard)
        peer hard_cub && with_cub=(--cub /tmp/peer_hard_cub) || with_cub=()
        python3 "$here/peers/hard_sums.py" --warpfold "$here/warpfold" "${with_cub[@]}" --out "$out/hard_sums.json" 2>&1 | tee "$out/hard.log"
        ;;
    soak)
        WARPFOLD_REQUIRE_CUDA=1 WARPFOLD_SOAK=${SOAK_SECONDS:-60} "$here/cuda_tests" --ignored --nocapture soak 2>&1 |
            tee "$out/soak.log" | tail -5
        ;;
    sanitize) "$here/sanitize.sh" ;;
    esac
done
# One file of logs, for places that hand back few files.
(cd "$out" && tar czf logs.tar.gz ./*.log ./*.txt && rm -f ./*.log ./*.txt)
