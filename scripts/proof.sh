#!/usr/bin/env bash
# Runs the parts of `make test` one after the other, and says at the end what each
# took and which failed: where a proof grows, it is seen. A part that fails does
# not keep the others from being tried.
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
  verdict=
  "$make" --no-print-directory "$part" || { status=$? verdict=FAILED; }
  children
  table+=("$(printf '%-20s %6d s %8d s  %s' "$part" $((SECONDS - began)) $((spent - before)) "$verdict")")
done
printf '\n%-20s %8s %10s\n' part wall processors
printf '%s\n' "${table[@]}"
printf '%-20s %6d s\n' 'all of it' $SECONDS
exit $status
