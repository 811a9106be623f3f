#!/usr/bin/env bash
# promtool, from the Debian package of Prometheus that is unpacked and not
# installed.
#
#   promtool.sh PREFIX          unpack below PREFIX, at once when it is there; prints its path
#   promtool.sh PREFIX check    check this folder's configuration and try its alerts
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$1"
prefix=$(cd "$1" && pwd)
tool=$prefix/usr/bin/promtool

if ! [ -x "$tool" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  chmod 755 "$work" # apt's own user must reach it
  (cd "$work" && apt-get download -q prometheus >&2) || {
    echo "promtool.sh: the package prometheus cannot be downloaded; run apt-get update, or check the apt sources" >&2
    exit 1
  }
  dpkg-deb -x "$work"/prometheus_*.deb "$work/tree"
  mkdir -p "$prefix/usr/bin"
  mv "$work/tree/usr/bin/promtool" "$tool.$$"
  mv "$tool.$$" "$tool" # at once: others may be waiting for it
fi

case ${2:-path} in
  path) echo "$tool" ;;
  check)
    cd "$here"
    "$tool" check config prometheus.yml
    "$tool" test rules alerts_test.yml
    ;;
  *) echo "promtool.sh: there is no $2" >&2; exit 2 ;;
esac
