#!/usr/bin/env bash
# Runs the parts of `make test` one after the other, and says at the end what each
# took and which failed: where a proof grows, it is seen. A part that fails does
# not keep the others from being tried.
#
# usage: scripts/proof.sh TARGET[+TARGET…]…
#
# Parts with a + between them run at the same time: each of them keeps one
# processor busy. What they print comes when they have ended.
#
# A part that this machine does not allow writes why to the file PROOF_SKIPPED,
# on one line, and ends well: it is neither passed nor failed, and the table says
# so.
set -uo pipefail

make=${MAKE:-make}
table=()
status=0

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# timed PART runs a part; its wall and processor seconds are left in a file.
timed() {
  local began=$SECONDS rc=0
  PROOF_SKIPPED=$logs/skipped.$1 "$make" --no-print-directory "$1" || rc=$?
  times >"$logs/times"."$1"
  awk -v wall=$((SECONDS - began)) 'NR == 2 { gsub(/[ms]/, " "); printf "%d %d\n", wall, $1 * 60 + $2 + $3 * 60 + $4 }' "$logs/times.$1" >"$logs/took.$1"
  return $rc
}

# told PART RC adds a part's row to the table.
told() {
  local verdict='' wall=0 spent=0
  [ ! -s "$logs/skipped.$1" ] || verdict=$(cat "$logs/skipped.$1")
  [ "$2" = 0 ] || { status=$2 verdict=FAILED; }
  read -r wall spent <"$logs/took.$1"
  table+=("$(printf '%-20s %6d s %8d s  %s' "$1" "$wall" "$spent" "$verdict")")
}

for group; do
  IFS=+ read -ra parts <<<"$group"
  if [ ${#parts[@]} = 1 ]; then
    echo "== $group"
    (timed "$group") # in a subshell, whose children are counted by themselves
    told "$group" $?
    continue
  fi
  pids=()
  for part in "${parts[@]}"; do
    (timed "$part") >"$logs/$part" 2>&1 &
    pids+=($!)
  done
  for i in "${!parts[@]}"; do
    rc=0
    wait "${pids[i]}" || rc=$?
    echo "== ${parts[i]}"
    cat "$logs/${parts[i]}"
    told "${parts[i]}" $rc
  done
done
printf '\n%-20s %8s %10s\n' part wall processors
printf '%s\n' "${table[@]}"
printf '%-20s %6d s\n' 'all of it' $SECONDS
exit $status
