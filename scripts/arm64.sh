#!/usr/bin/env bash
# Builds the engine for arm64 and plays its tests there: on such a machine as it
# is, elsewhere under qemu-user (Debian: apt-get install qemu-user). Assembly is
# written for amd64 only, so this is what plain Go computes, in the other order of
# sums of a processor that multiplies and adds in one step.
#
#   scripts/arm64.sh [go test flags]
#
# Under emulation it takes about two minutes, so `make test` does not play it.
set -euo pipefail
cd "$(dirname "$0")/.."
export CGO_ENABLED=0 GOOS=linux GOARCH=arm64
run=()
if [ "$(uname -m)" != aarch64 ]; then
	qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static) || {
		echo "arm64: qemu-aarch64 is not installed; on Debian: apt-get install qemu-user" >&2
		exit 1
	}
	run=(-exec "$qemu")
fi
go build ./internal/lora/... ./internal/model/local ./internal/cell ./internal/embed/...
# Where a test measures time or trains for long, an emulated processor is no
# place for it.
go test "${run[@]}" "$@" ./internal/tensors ./internal/tokens ./internal/lora/kernels ./internal/lora/llm ./internal/lora/peft ./internal/lora/serve ./internal/model/local
