#!/usr/bin/env bash
# Runs the parts of `make test` one after the other, and says at the end what each
# took and which failed, and what its tests said: where a proof grows, it is seen,
# and who has only the end of the output knows what to mend. A part that fails
# does not keep the others from being tried.
#
# usage: scripts/proof.sh TARGET[+TARGET…]…
#
# Parts with a + between them run beside each other, PROOF_JOBS at a time (default
# 2), and the next begins when one ends: together they keep the processors busy,
# and none of them measures. What a part prints comes when it has ended. Each
# works on two things at a time itself; more parts at once would only make what
# waits for a page or a server wait too long.
#
# Under "processors" is what a part's processes took as far as they were waited
# for: a browser's and a killed server's are not. What the whole machine took
# stands in the last row.
#
# A part that this machine does not allow writes why to the file PROOF_SKIPPED,
# on one line, and ends well: it is neither passed nor failed, and the table says
# so.
set -uo pipefail

make=${MAKE:-make}
jobs=${PROOF_JOBS:-2}
table=()
failed=()
status=0

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# busy is how many seconds this machine's processors have worked since it began.
busy() { awk -v hz="$(getconf CLK_TCK)" '$1 == "cpu" { printf "%d", ($2 + $3 + $4 + $7 + $8) / hz }' /proc/stat 2>/dev/null || echo 0; }
before=$(busy)

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
  [ "$2" = 0 ] || { status=$2 verdict=FAILED failed+=("$1"); }
  read -r wall spent <"$logs/took.$1"
  table+=("$(printf '%-20s %6d s %8d s  %s' "$1" "$wall" "$spent" "$verdict")")
}

# failures PART is what its failed tests said, without what they logged.
failures() {
  awk '/^ *--- FAIL: / { on = 12 } /^[^ ]/ && !/^--- FAIL: / { on = 0 } /^(FAIL|panic:|WARNING: DATA RACE|make.*Error)/ { print substr($0, 1, 300) } on && on-- { print substr($0, 1, 300) }' "$logs/$1" | head -60
}

for group; do
  IFS=+ read -ra parts <<<"$group"
  declare -A running=()
  for part in "${parts[@]}" ''; do
    # At the end, which the empty name is, all are waited for.
    while [ ${#running[@]} -ge "$([ -n "$part" ] && echo "$jobs" || echo 1)" ]; do
      rc=0
      wait -n -p pid "${!running[@]}" || rc=$?
      ended=${running[$pid]}
      unset "running[$pid]"
      echo "== $ended"
      cat "$logs/$ended"
      told "$ended" $rc
    done
    [ -n "$part" ] || break
    (timed "$part") >"$logs/$part" 2>&1 & # a subshell, whose children are counted by themselves
    running[$!]=$part
  done
done
printf '\n%-20s %8s %10s\n' part wall processors
printf '%s\n' "${table[@]}"
printf '%-20s %6d s %8d s  of %d\n' 'all of it' $SECONDS $(($(busy) - before)) $((SECONDS * $(nproc)))
for part in "${failed[@]}"; do
  printf '\nfailed in %s:\n' "$part"
  failures "$part"
done
exit $status
