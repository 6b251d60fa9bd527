#!/usr/bin/env bash
# The pages that `warpfold explain --format html` and `warpfold report` write, in a headless browser: run.sh PROGRAM [FOLDER FOR SCREENSHOTS].
# Needs chromium and node; on Debian, as root, it installs what is missing.
set -euo pipefail
program=$(realpath "$1") shots=${2:-}
[[ -z $shots ]] || shots=$(mkdir -p "$shots" && realpath "$shots")
cd "$(dirname "$0")"
need() {
    command -v "$1" >/dev/null && return
    [[ $(id -u) == 0 && -e /etc/debian_version ]] || { echo "$1 is needed; install it (Debian: apt-get install $2)" >&2; exit 1; }
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$2"; } >/dev/null
}
need chromium chromium
need node nodejs
need npm npm
npm ci --silent --no-audit --no-fund
pages=$(mktemp -d)
trap 'rm -rf "$pages"' EXIT
"$program" explain sum --n 1000 --block 128 --format html >"$pages/sum.html"
"$program" explain argmax_f64_skip_nan --n 77 --block 32 --format html >"$pages/argmax.html"
"$program" explain count_u8 --n 0 --block 512 --format html >"$pages/empty.html"
"$program" explain 07_strided_index --n 300 --block 128 --format html >"$pages/rung.html"
"$program" explain 15_single_pass --block 256 --predict rtx3090 --format html >"$pages/roof.html"
"$program" explain 16_bulk_copy --n 8192 --block 64 --format html >"$pages/newest.html"
"$program" explain rows --n 300 --format html >"$pages/rows.html"
"$program" report --device simt --predict rtx3070 --out "$pages/predicted.html"
"$program" report --device simt --out "$pages/report.html" --export "$pages/counted.json"
node timed.mjs "$pages/counted.json" >"$pages/timed.json"
"$program" report --from "$pages/timed.json" --out "$pages/measured.html"
node page.mjs "$pages" "$shots"
node report.mjs "$pages" "$shots"
