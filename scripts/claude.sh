#!/bin/sh
# Plays a turn of the real Claude Code through `liminald palace run`, against an
# invented backend on this machine: an overloaded backend at first, then a
# round with a tool. The client is fetched into .cache and stays there: its licence
# is its maker's, and neither it nor its prompts belong into the repository.
set -eu
cd "$(dirname "$0")/.."
version=${CLAUDE_CODE_VERSION:-latest}
into=.cache/claude-code
client=$into/node_modules/@anthropic-ai/claude-code-linux-x64/claude
if [ ! -x "$client" ]; then
	command -v npm >/dev/null || { echo "claude.sh: skipped, there is no npm to fetch the client with" >&2; exit 0; }
	npm install --silent --no-audit --no-fund --prefix "$into" "@anthropic-ai/claude-code@$version"
fi
[ -x "$client" ] || { echo "claude.sh: the package has no $client for this machine" >&2; exit 1; }
exec "${GO:-go}" run ./scripts/claude --client "$client" "$@"
