#!/bin/sh
# Fetches the real Claude Code into .cache, where it stays: its licence is its maker's,
# and neither it nor its prompts belong into the repository. Then it plays a turn of it
# through `liminald palace run`, against an invented backend on this machine: an
# overloaded backend at first, then a round with a tool.
#
#   scripts/claude.sh fetch     only fetches it, and prints its path
set -eu
cd "$(dirname "$0")/.."
version=${CLAUDE_CODE_VERSION:-2.1.332}
into=.cache/claude-code
case $(uname -s)-$(uname -m) in
Linux-x86_64) machine=linux-x64 ;;
Linux-aarch64) machine=linux-arm64 ;;
Darwin-arm64) machine=darwin-arm64 ;;
Darwin-x86_64) machine=darwin-x64 ;;
*) machine=unknown ;;
esac
client=$into/node_modules/@anthropic-ai/claude-code-$machine/claude
if [ ! -x "$client" ] || ! grep -q "\"version\": *\"$version\"" "$(dirname "$client")/package.json"; then
	command -v npm >/dev/null || { echo "claude.sh: there is no npm to fetch the client with" >&2; exit 1; }
	mkdir -p "$into"
	npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$into" "@anthropic-ai/claude-code@$version" >&2 ||
		{ echo "claude.sh: @anthropic-ai/claude-code@$version could not be fetched from the npm registry" >&2; exit 1; }
fi
[ -x "$client" ] || { echo "claude.sh: the package has no $client for this machine" >&2; exit 1; }
if [ "${1:-}" = fetch ]; then
	echo "$PWD/$client"
	exit
fi
exec "${GO:-go}" run ./scripts/claude --client "$client" "$@"
