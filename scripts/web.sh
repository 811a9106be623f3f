#!/usr/bin/env bash
# The web client's side of `make`.
#
# usage: scripts/web.sh build    make web/dist anew from its sources
#        scripts/web.sh check    types, lint, unit tests, and dist is what a rebuild gives
#        scripts/web.sh browser [FLAG…]
#                                browser tests against the program named by LIMINALD;
#                                flags are go test's
#
# Only `build` needs Node on a developer's machine: without it the other two
# say what they leave out. In CI (CI=true) nothing may be left out. That dist
# was made from the sources beside it is also tested in Go, without Node.
set -euo pipefail
cd "$(dirname "$0")/../web"

least=20.19

node_suffices() {
  command -v node >/dev/null && command -v npm >/dev/null &&
    [ "$(printf '%s\n%s\n' "$least" "$(node -p process.versions.node)" | sort -V | head -n 1)" = "$least" ]
}

# leave_out TEXT ends the script well, except where nothing may be left out.
leave_out() {
  echo "$1"
  [ "${CI:-}" != true ] || exit 1
  exit 0
}

install() {
  # A lock that is newer than what was installed from it means: install again.
  [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund
}

case "${1:-}" in
  build)
    node_suffices || { echo "making web/dist needs Node $least or newer and npm" >&2; exit 1; }
    install
    npm run build
    ;;
  check)
    node_suffices || leave_out "not checked: types, lint, unit tests and rebuild of web/ (they need Node $least or newer and npm)"
    install
    npm run typecheck
    npm run lint
    npm test
    committed=$(mktemp -d)
    trap 'rm -rf "$committed"' EXIT
    cp -R dist "$committed"
    npm run build
    diff -rq "$committed/dist" dist ||
      { echo "web/dist is not what its sources build to; commit the result of: make web" >&2; exit 1; }
    ;;
  browser)
    node_suffices || leave_out "not run: browser tests (they need Node $least or newer and npm)"
    # shellcheck disable=SC2086 # of two names, one
    command -v ${CHROMIUM:-chromium-headless-shell chromium} >/dev/null ||
      leave_out "not run: browser tests (they need Chromium, as in: apt-get install chromium-headless-shell)"
    install
    cd .. && "${GO:-go}" test -count=1 -parallel 2 -timeout 60m "${@:2}" ./web/e2e/...
    ;;
  *)
    echo "usage: scripts/web.sh build | check | browser" >&2
    exit 2
    ;;
esac
