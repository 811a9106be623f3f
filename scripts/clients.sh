#!/usr/bin/env bash
# Installs the clients that e2e/clients talks to Liminal with, at the versions their
# lock files pin: Python's from PyPI below .cache/clients, Node's from the npm
# registry below e2e/clients/node. It does nothing where they are there already.
#
#   scripts/clients.sh             prints the Python to run the scripts with
#
#   PYTHON=FILE       3.11 or newer, with its venv module; python3 without
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
cache=$here/.cache/clients
venv=$cache/venv
python=${PYTHON:-python3}
scripts=$here/e2e/clients

die() { echo "clients: $*" >&2; exit 1; }

# fresh STAMP FILE... tells whether what was installed is of these files.
fresh() { [ "$(cat "$1" 2>/dev/null)" = "$(cat "${@:2}" | sha256sum)" ]; }

mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9 # two test programs may begin at once

if ! fresh "$venv/.stamp" "$scripts/python/requirements.txt"; then
  command -v "$python" >/dev/null || die "there is no $python (Debian: apt-get install python3 python3-venv); name another with PYTHON="
  rm -rf "$venv"
  "$python" -m venv "$venv" >"$cache/venv.log" 2>&1 || {
    cat "$cache/venv.log" >&2
    die "$python cannot make a virtual environment (Debian: apt-get install python3-venv)"
  }
  "$venv/bin/pip" install --quiet --disable-pip-version-check --no-input -r "$scripts/python/requirements.txt" >"$cache/pip.log" 2>&1 || {
    tail -5 "$cache/pip.log" >&2
    die "e2e/clients/python/requirements.txt could not be installed (all of pip's words: $cache/pip.log). Behind a proxy or a mirror set HTTPS_PROXY or PIP_INDEX_URL"
  }
  cat "$scripts/python/requirements.txt" | sha256sum >"$venv/.stamp"
fi

if ! fresh "$scripts/node/node_modules/.stamp" "$scripts/node/package-lock.json"; then
  command -v npm >/dev/null || die "there is no npm (Debian: apt-get install nodejs npm)"
  (cd "$scripts/node" && npm ci --no-audit --no-fund --ignore-scripts >"$cache/npm.log" 2>&1) || {
    tail -5 "$cache/npm.log" >&2
    die "e2e/clients/node could not be installed (all of npm's words: $cache/npm.log). Behind a proxy or a mirror set HTTPS_PROXY or npm_config_registry"
  }
  cat "$scripts/node/package-lock.json" | sha256sum >"$scripts/node/node_modules/.stamp"
fi

echo "$venv/bin/python"
