#!/usr/bin/env bash
# Runs every fuzzer of the repository for a moment, as many at once as there are
# processors. What a fuzzer found once is kept under testdata/fuzz and runs in
# every `go test`.
#
# usage: scripts/fuzz.sh [duration]                  default 1s a fuzzer
#        scripts/fuzz.sh duration NAME FOLDER        one of them
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-1s}
go=${GO:-go}

# fuzz runs one fuzzer. When its time is up in the middle of an input, Go's
# engine may report its own deadline as a failure (golang/go#75804, fixed in Go
# 1.27); it is none as long as no failing input was written down.
fuzz() { # NAME FOLDER
  local said
  said=$(mktemp)
  if "$go" test -vet=off -parallel 1 -run '^$' -fuzz "^$1\$" -fuzztime "$time" "$2" >"$said" 2>&1; then
    echo "$1: $(tail -n 1 "$said")"
  elif grep -q 'context deadline exceeded' "$said" && ! grep -q 'Failing input written' "$said"; then
    echo "$1: ok  	$2: its time was up in the middle of an input; nothing was found"
  else
    cat "$said"
    rm "$said"
    return 1
  fi
  rm "$said"
}

if [ $# -eq 3 ]; then
  fuzz "$2" "$3"
  exit
fi

echo "each for $time"
grep -rl --include='*_test.go' --exclude-dir=node_modules --exclude-dir='.?*' '^func Fuzz' . | sort | while read -r file; do
  grep -oE '^func Fuzz[A-Za-z0-9_]*' "$file" | sed "s/^func //; s|\$| $(dirname "$file")|"
done | xargs -P "$(nproc)" -n 2 scripts/fuzz.sh "$time"
