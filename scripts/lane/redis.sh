#!/bin/bash
# Redis for tests, from Debian packages that are unpacked and never installed.
#
#   redis.sh PREFIX                    unpack below PREFIX; at once when it is there
#   redis.sh PREFIX start DIR [--aof]  start a server whose data and log are in DIR;
#                                      prints its URL. --aof: it keeps data over a restart
#   redis.sh PREFIX stop DIR           end that server
#
# The server listens on loopback on a free port, which it keeps over a restart
# of the same DIR when nobody else took it.
set -euo pipefail

usage() { sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2; }

die() { echo "redis.sh: $*" >&2; exit 1; }
self=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")
# shellcheck source=scripts/lane/packages.sh
. "$(dirname "$self")/packages.sh"

[ $# -ge 1 ] || usage
mkdir -p "$(dirname "$1")"
prefix=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
server=$prefix/usr/bin/redis-server
cli=$prefix/usr/bin/redis-cli

# build unpacks Redis, and of its libraries what this machine lacks. What was
# installed when it was built may have been removed since.
build() {
  local stamp work
  stamp=$(cat "$self" "$(dirname "$self")/packages.sh" | sha256sum | cut -c1-16)
  if [ "$(cat "$prefix/.stamp" 2>/dev/null)" = "$stamp" ] && [ -z "$(missing "$prefix")" ]; then return; fi
  work=$(mktemp -d)
  # shellcheck disable=SC2064
  trap "rm -rf '$work'" EXIT
  mkdir "$work/deb"
  (
    private_apt "$work/apt" "$(suite)"
    cd "$work/deb"
    rm -rf "$prefix.new"
    unpack "$prefix.new" redis-server redis-tools
    complete "$prefix.new" redis-server redis-tools
  )
  echo "$stamp" >"$prefix.new/.stamp"
  rm -rf "$prefix"
  mv "$prefix.new" "$prefix"
}

# answers says whether our server, and no other, listens on a port.
answers() {
  [ "$("$cli" -h 127.0.0.1 -p "$1" config get dir 2>/dev/null | sed -n 2p)" = "$dir" ]
}

start() {
  local aof=no port tries
  [ "${1:-}" = --aof ] && aof=yes
  for tries in 1 2 3 4 5 6 7 8; do
    port=$((20000 + RANDOM % 12000))
    [ "$tries" = 1 ] && [ -e "$dir/port" ] && port=$(cat "$dir/port")
    # RDB snapshots are off: --aof is the one way to keep data. The databases
    # are for tests that run whole programs: each takes one (e2e/teststack).
    "$server" --bind 127.0.0.1 --port "$port" --dir "$dir" --save '' --appendonly "$aof" \
      --daemonize yes --pidfile "$dir/pid" --logfile "$dir/log" --databases 1024 >/dev/null
    for _ in $(seq 600); do # one that cannot listen says so
      if answers "$port"; then
        echo "$port" >"$dir/port"
        echo "redis://127.0.0.1:$port/0"
        return
      fi
      grep -q 'Failed listening on port' "$dir/log" && break
      sleep 0.05
    done
    : >"$dir/log"
  done
  echo "redis.sh: the server did not start; see $dir/log" >&2
  exit 1
}

stop() {
  [ -e "$dir/pid" ] || return 0
  local pid
  pid=$(cat "$dir/pid")
  kill "$pid" 2>/dev/null || true
  # In a container whose first process reaps nobody, a dead one stays a zombie.
  while kill -0 "$pid" 2>/dev/null && ! grep -qs '^State:[[:space:]]*Z' "/proc/$pid/status"; do sleep 0.02; done
  rm -f "$dir/pid"
}

build
command=${2:-}
[ -n "$command" ] || exit 0
[ $# -ge 3 ] || usage
mkdir -p "$3"
dir=$(cd "$3" && pwd)
export LD_LIBRARY_PATH
LD_LIBRARY_PATH=$(libraries "$prefix")
case $command in
  start) start "${4:-}" ;;
  stop) stop ;;
  *) usage ;;
esac
