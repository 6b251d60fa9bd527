#!/usr/bin/env bash
# What a first build costs: the program's release build from nothing, and a program that depends on `warpfold`, from nothing and at each change.
# bench/build/first-run.sh OUT.json [FOLDER]: everything is built in FOLDER, which is emptied first (a temporary one if none is named).
# CPU seconds are user and system together. Wall seconds tell something on a quiet machine only; the load before each build is noted.
set -euo pipefail
out=$(realpath -m "$1")
folder=${2:-$(mktemp -d)}
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
root=$PWD
rm -rf "${folder:?}"/{program,user,crate}
mkdir -p "$folder"
rows=()

# measure WHAT COMMAND ASKED_CPU ASKED_WALL FILE ASKED_BYTES: runs the command in the current folder; asked is 0 where nothing is, FILE may be empty.
measure() {
    local what=$1 command=$2 load bytes=0 times wall user system cpu
    load=$(cut -d' ' -f1 /proc/loadavg)
    echo "== $what: $command" >&2
    TIMEFORMAT='%R %U %S'
    times=$( { time bash -c "$command" >"$folder/log" 2>&1; } 2>&1 ) || { tail -20 "$folder/log" >&2; exit 1; }
    read -r wall user system <<<"$times"
    cpu=$(awk "BEGIN { printf \"%.1f\", $user + $system }")
    [[ -z $5 ]] || bytes=$(stat -c %s "$5")
    echo "   $cpu CPU s, $wall s, $bytes bytes (load before: $load)" >&2
    rows+=("    { \"what\": \"$what\", \"command\": \"$command\", \"cpu_seconds\": $cpu, \"asked_cpu_seconds\": $3, \"wall_seconds\": $wall, \"asked_wall_seconds\": $4, \"load_before\": $load, \"bytes\": $bytes, \"asked_bytes\": $6 }")
}

export CARGO_INCREMENTAL=0
cargo fetch --locked -q
export CARGO_TARGET_DIR=$folder/program
measure "the program, from nothing" "cargo build --release --locked" 330 180 "$folder/program/release/warpfold" 12000000

# A program of a user's, whose every line is compiled at each change.
mkdir -p "$folder/crate/src"
cat > "$folder/crate/Cargo.toml" <<TOML
[package]
name = "user"
version = "0.0.0"
edition = "2024"

[dependencies]
warpfold = { path = "$root/crates/warpfold", features = ["cuda", "simt"] }

[workspace]
TOML
cat > "$folder/crate/src/main.rs" <<'RUST'
fn main() {
    println!("{}", warpfold::sum(&[0.1f32, 0.2]));
}
RUST
cp "$root/Cargo.lock" "$folder/crate/Cargo.lock"
cd "$folder/crate"
export CARGO_TARGET_DIR=$folder/user
cargo fetch -q
measure "sum of f32 in a program that depends on warpfold, every feature, from nothing" "cargo build --release" 200 0 "" 0
echo '// A change.' >> src/main.rs
measure "the same at each change" "cargo build --release" 0 1 "" 0
cat > src/main.rs <<'RUST'
use std::hint::black_box;

use warpfold::{Complex, Element, Ordered, Segments, View, bf16, f16, group_by, reduce, reduce_axes, reduce_pair, reduce_segments};

fn every<T: Element>(x: &[T]) -> warpfold::Result<()>
where
    T::Sum: std::fmt::Debug,
{
    let one = reduce(x);
    println!("{:?}", (one.partial(warpfold::Op::Sum)?, one.partial(warpfold::Op::Var)?));
    black_box((warpfold::mean(x)?, warpfold::var(x, 0)?, warpfold::std(x, 0)?, warpfold::l2(x)));
    black_box((warpfold::l1(x), warpfold::count(x), warpfold::any(x), warpfold::all(x)));
    black_box(reduce_pair(x, x).partial(warpfold::Op::Dot)?);
    let view = View::new(x, &[1, x.len() as u64])?;
    let axes = reduce_axes(&view, &[0])?;
    black_box((axes.sum()?, axes.mean()?, axes.var(0)?, axes.l2()?, axes.count()?));
    let segments = reduce_segments(x, Segments::every(1))?;
    black_box((segments.sum()?, segments.mean()?, segments.var(0)?, segments.l2()?, segments.count()?));
    let keys: Vec<i64> = (0..x.len() as i64).map(|k| k % 2).collect();
    let groups = group_by(&keys, x)?;
    black_box((groups.sum()?, groups.mean()?, groups.var(0)?, groups.l2()?, groups.count()?));
    Ok(())
}

fn ordered<T: Ordered>(x: &[T]) -> warpfold::Result<()> {
    black_box((warpfold::min(x)?, warpfold::max(x)?, warpfold::minmax(x)?, warpfold::argmin(x)?, warpfold::argmax(x)?));
    let view = View::new(x, &[1, x.len() as u64])?;
    let axes = reduce_axes(&view, &[0])?;
    black_box((axes.min()?, axes.max()?, axes.argmin()?, axes.argmax()?));
    Ok(())
}

fn main() -> warpfold::Result<()> {
    macro_rules! numbers { ($($ty:ty),*) => { $( every::<$ty>(&[1 as $ty, 0 as $ty])?; ordered::<$ty>(&[1 as $ty, 0 as $ty])?; )* } }
    numbers!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);
    every(&[true, false])?;
    ordered(&[true, false])?;
    every(&[f16::ONE])?;
    ordered(&[f16::ONE])?;
    every(&[bf16::ONE])?;
    ordered(&[bf16::ONE])?;
    every(&[Complex::new(1f32, 0.0)])?;
    every(&[Complex::new(1f64, 0.0)])?;
    Ok(())
}
RUST
cargo build --release -q
"$folder/user/release/user" > /dev/null
echo '// A change.' >> src/main.rs
measure "every reduction, over axes, of segments and groups, of every type, at each change" "cargo build --release" 0 5 "" 0

cd "$root"
{
    printf '{\n  "date": "%s",\n  "machine": "%s",\n  "cores": %s,\n  "rust": "%s",\n  "revision": "%s",\n  "rows": [\n' \
        "$(date -u +%F)" "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)" "$(nproc)" "$(rustc --version)" "$(git rev-parse --short HEAD 2>/dev/null || echo unknown)"
    (IFS=$'\n'; printf '%s' "$(printf '%s,\n' "${rows[@]}" | sed '$ s/,$//')")
    printf '\n  ]\n}\n'
} > "$out"
cat "$out"
