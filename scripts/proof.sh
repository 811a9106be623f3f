#!/usr/bin/env bash
# Runs the parts of `make test` one after the other, up to the first that fails,
# and says at the end what each took: where a proof grows, it is seen.
#
# usage: scripts/proof.sh TARGET…
set -uo pipefail

make=${MAKE:-make}
table=()

# children sets spent to the processor time of everything that was waited for so
# far, in seconds. In a subshell it would be the subshell's.
said=$(mktemp)
trap 'rm -f "$said"' EXIT
children() {
  times >"$said"
  spent=$(awk 'NR == 2 { gsub(/[ms]/, " "); printf "%d", $1 * 60 + $2 + $3 * 60 + $4 }' "$said")
}

status=0
for part; do
  children
  began=$SECONDS before=$spent
  echo "== $part"
  "$make" --no-print-directory "$part" || status=$?
  children
  table+=("$(printf '%-20s %6d s %8d s' "$part" $((SECONDS - began)) $((spent - before)))")
  [ $status -eq 0 ] || { table+=("$part failed"); break; }
done
printf '\n%-20s %8s %10s\n' part wall processors
printf '%s\n' "${table[@]}"
printf '%-20s %6d s\n' 'all of it' $SECONDS
exit $status
