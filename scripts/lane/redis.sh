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

[ $# -ge 1 ] || usage
mkdir -p "$1"
prefix=$(cd "$1" && pwd)
server=$prefix/usr/bin/redis-server
cli=$prefix/usr/bin/redis-cli

libraries() {
  find "$prefix/usr/lib" -name '*.so*' -printf '%h\n' | sort -u | paste -sd:
}

# needed lists redis-server, redis-tools and those of their libraries that this
# machine does not have installed.
needed() {
  echo redis-server redis-tools
  apt-cache depends --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances redis-tools |
    sed -n 's/.* \(lib.*\|lua.*\)/\1/p' | sort -u | while read -r package; do
      dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok' || echo "$package"
    done
}

unpack() {
  [ -e "$prefix/.complete" ] && return
  local work
  work=$(mktemp -d)
  trap 'rm -rf "$work"' RETURN
  # Packages may only be read where apt's own user can reach them.
  chmod 755 "$work"
  (cd "$work" && apt-get download -q $(needed) >&2) || {
    echo "redis.sh: the packages of Redis cannot be downloaded; run apt-get update, or check the apt sources" >&2
    exit 1
  }
  for package in "$work"/*.deb; do dpkg-deb -x "$package" "$prefix"; done
  local missing
  missing=$(LD_LIBRARY_PATH=$(libraries) ldd "$server" "$cli" | grep 'not found' || true)
  [ -z "$missing" ] || { echo "redis.sh: libraries are missing: $missing" >&2; exit 1; }
  touch "$prefix/.complete"
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
    # are for tests that run whole programs: each takes one (e2e/ground).
    "$server" --bind 127.0.0.1 --port "$port" --dir "$dir" --save '' --appendonly "$aof" \
      --daemonize yes --pidfile "$dir/pid" --logfile "$dir/log" --databases 1024 >/dev/null
    for _ in $(seq 100); do
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

unpack
command=${2:-}
[ -n "$command" ] || exit 0
[ $# -ge 3 ] || usage
mkdir -p "$3"
dir=$(cd "$3" && pwd)
export LD_LIBRARY_PATH
LD_LIBRARY_PATH=$(libraries)
case $command in
  start) start "${4:-}" ;;
  stop) stop ;;
  *) usage ;;
esac
