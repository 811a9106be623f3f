#!/usr/bin/env bash
# Measures the capture proxy beside LiteLLM and claude-code-router, in turns, before one
# invented backend on this machine, and prints a table in Markdown: what each adds to a
# chunk and to the first byte, its processor time, streams it cut, and whether requests
# and answers keep their bytes. It is no part of `make test`.
#
#   scripts/palace-rivals.sh           needs bin/liminald: make build
#
#   PALACE_RIVALS_STREAMS=40   streams to each in turn
#   PALACE_RIVALS_BURST=640    streams at 32 at once
#   PYTHON=FILE                3.10 or newer, with its venv module
#
# The others come from PyPI and the npm registry, once, into .cache/palace-rivals, at the
# versions below. One that a registry does not give is left out, loudly.
set -euo pipefail
cd "$(dirname "$0")/.."
litellm_version=1.105.7
router_version=2.0.0
cache=$PWD/.cache/palace-rivals
python=${PYTHON:-python3}
say() { echo "palace-rivals: $*" >&2; }

[ -x bin/liminald ] || { say "there is no bin/liminald; make build makes it"; exit 1; }
mkdir -p "$cache"

litellm=$cache/venv/bin/litellm
if [ "$(cat "$cache/venv/.version" 2>/dev/null)" != "$litellm_version" ]; then
  say "installing litellm $litellm_version"
  rm -rf "$cache/venv"
  if "$python" -m venv "$cache/venv" >"$cache/pip.log" 2>&1 &&
    "$cache/venv/bin/pip" install --quiet --disable-pip-version-check --no-input "litellm[proxy]==$litellm_version" >>"$cache/pip.log" 2>&1; then
    echo "$litellm_version" >"$cache/venv/.version"
  else
    tail -3 "$cache/pip.log" >&2
    say "SKIPPED, NOT MEASURED: litellm $litellm_version could not be installed (all of pip's words: $cache/pip.log)"
    litellm=
  fi
fi

router=$cache/node/node_modules/@musistudio/claude-code-router/dist/cli.js
if ! grep -qs "\"version\": *\"$router_version\"" "$cache/node/node_modules/@musistudio/claude-code-router/package.json"; then
  say "installing @musistudio/claude-code-router $router_version"
  mkdir -p "$cache/node"
  if ! { command -v npm >/dev/null && npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$cache/node" "@musistudio/claude-code-router@$router_version" >"$cache/npm.log" 2>&1; }; then
    tail -3 "$cache/npm.log" >&2 2>/dev/null || true
    say "SKIPPED, NOT MEASURED: @musistudio/claude-code-router $router_version could not be installed (all of npm's words: $cache/npm.log)"
    router=
  fi
fi
if [ -n "$router" ] && [ ! -f "$router" ]; then
  say "SKIPPED, NOT MEASURED: @musistudio/claude-code-router $router_version has no $router"
  router=
fi
[ -n "$litellm$router" ] || { say "neither of them is there"; exit 1; }

say "the machine's load is $(cut -d' ' -f1-3 /proc/loadavg); figures of a busy machine are for comparing within one run"
exec "${GO:-go}" run ./scripts/palacerivals --liminald bin/liminald --litellm "$litellm" --claude-code-router "$router" \
  --versions "LiteLLM=$litellm_version,claude-code-router=$router_version,liminald palace=$(bin/liminald version | awk '{print $2}')" \
  --streams "${PALACE_RIVALS_STREAMS:-40}" --burst "${PALACE_RIVALS_BURST:-640}"
