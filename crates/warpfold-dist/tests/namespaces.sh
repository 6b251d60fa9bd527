#!/usr/bin/env bash
# Worlds over TCP between two network namespaces, as between two machines: right over a slow and lossy link, and ended in time where the link is cut.
# crates/warpfold-dist/tests/namespaces.sh WORLD: WORLD is the built example `world`; needs root and iproute2. Without either it says so and ends well.
set -euo pipefail
world=$(realpath "$1")
a=wf-a-$$ b=wf-b-$$
if ! ip netns add "$a" 2>/dev/null; then
  echo "namespaces.sh: network namespaces cannot be made here; worlds between them are not tested"
  exit 0
fi
trap 'ip netns del "$a"; ip netns del "$b" 2>/dev/null || true' EXIT
ip netns add "$b"
ip -n "$a" link add veth0 type veth peer name veth1 netns "$b"
ip -n "$a" addr add 10.77.0.1/24 dev veth0
ip -n "$b" addr add 10.77.0.2/24 dev veth1
for at in "$a veth0" "$b veth1"; do
  # shellcheck disable=SC2086
  set -- $at
  ip -n "$1" link set "$2" up
  ip -n "$1" link set lo up
done
export WARPFOLD_TOKEN=$RANDOM$RANDOM WARPFOLD_WORLD_SIZE=3 WARPFOLD_ADDRESS=10.77.0.1:29555 WARPFOLD_TIMEOUT=60
rank() { # rank NUMBER NAMESPACE WHAT
  WARPFOLD_RANK=$1 WARPFOLD_BIND=10.77.0.1:29555 timeout 200 ip netns exec "$2" "$world" tcp "$3"
}
all() { # all WHAT: rank 0 here, two there
  rank 1 "$b" "$1" & local one=$!
  rank 2 "$b" "$1" & local two=$!
  rank 0 "$a" "$1"
  wait $one && wait $two
}
[[ $(all check) == "ok: 3 ranks by TCP" ]]
echo "namespaces.sh: right over a link"
if ip netns exec "$b" tc qdisc add dev veth1 root netem delay 5ms 3ms loss 2% reorder 10% 2>/dev/null; then
  [[ $(all check) == "ok: 3 ranks by TCP" ]]
  echo "namespaces.sh: right over a link that is slow, lossy and out of order"
  ip netns exec "$b" tc qdisc del dev veth1 root
else
  echo "namespaces.sh: this kernel has no netem; the link was neither slow nor lossy"
fi
# A cut in the midst of exchanges: rank 0 names the first rank that is silent, the others rank 0, after twice the time.
export WARPFOLD_TIMEOUT=4
folder=$(mktemp -d)
for number in 1 2; do rank $number "$b" time >"$folder/$number" 2>&1 & done
rank 0 "$a" time >"$folder/0" 2>&1 & zero=$!
sleep 2
ip -n "$a" link set veth0 down
begun=$SECONDS
wait $zero || true
((SECONDS - begun < 30))
grep -qE "rank [12] of 3 is lost: it (did not answer within 4s|was silent for too long)" "$folder/0" || { cat "$folder/0"; exit 1; }
wait || true
grep -q "rank 0 of 3 is lost" "$folder/1" && grep -q "rank 0 of 3 is lost" "$folder/2" || { cat "$folder/1" "$folder/2"; exit 1; }
rm -r "$folder"
echo "namespaces.sh: a cut link ends all ranks in time"
