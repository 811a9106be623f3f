#!/usr/bin/env bash
# Runs every fuzzer of the repository for a moment. What a fuzzer found once is
# kept under testdata/fuzz and runs in every `go test`.
#
# usage: scripts/fuzz.sh [duration]    default 5s a fuzzer
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-5s}
go=${GO:-go}

grep -rl --include='*_test.go' --exclude-dir=node_modules --exclude-dir='.?*' '^func Fuzz' . | sort | while read -r file; do
  grep -oE '^func Fuzz[A-Za-z0-9_]*' "$file" | sed 's/^func //' | while read -r name; do
    echo "fuzz $name in $(dirname "$file") for $time"
    "$go" test -run '^$' -fuzz "^$name\$" -fuzztime "$time" "$(dirname "$file")"
  done
done
