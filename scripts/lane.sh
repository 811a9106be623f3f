#!/usr/bin/env bash
# The production lane: real PostgreSQL with pgvector, Redis, and a separate
# Temporal server that keeps its runs in PostgreSQL, all on loopback.
#
#   scripts/lane.sh up [--durable]   start what does not run; prints the environment
#   scripts/lane.sh down             stop it all; data is kept
#   scripts/lane.sh clean            stop it all and remove the data
#   scripts/lane.sh run CMD ARG…     start a lane of its own, run CMD with its
#                                    LANE_ variables, and remove it again;
#                                    --program before CMD: with all of them, on
#                                    a migrated database that survives a power cut
#   scripts/lane.sh env              print the environment of a running lane
#
# The environment has LANE_POSTGRES (a superuser), LANE_REDIS and LANE_TEMPORAL
# for tests, and DATABASE_URL, LIMINAL_MIGRATE_URL, REDIS_URL and
# TEMPORAL_ADDRESS of a database made for you: eval "$(scripts/lane.sh up)".
# LANE_RERANKER is the model that scripts/reranker.sh fetches, where it could.
#
# Everything is built once, from Debian packages that are unpacked and not
# installed, below LANE_ROOT (default .cache/lane).
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
GO=${GO:-go}

die() { echo "lane.sh: $*" >&2; exit 1; }
# shellcheck source=scripts/lane/packages.sh
. "$here/scripts/lane/packages.sh"

# reachable says whether the user nobody, as whom root runs PostgreSQL, may
# enter a folder.
reachable() {
  mkdir -p "$1" || return 1
  [ "$(id -u)" != 0 ] || setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$1"
}

root=${LANE_ROOT:-$here/.cache/lane}
if ! reachable "$root"; then
  root=/var/tmp/liminal-lane-$(printf %s "$here" | sha256sum | cut -c1-12)
  reachable "$root" || die "no folder that the user nobody may enter; set LANE_ROOT to one"
fi
root=$(cd "$root" && pwd)

build() {
  "$here/scripts/lane/postgres.sh" "$root/postgres"
  "$here/scripts/lane/redis.sh" "$root/redis"
  (cd "$here" && "$GO" build -ldflags '-s -w' -o "$root/bin/temporal" ./scripts/temporal)
}

# psql runs statements of standard input as the superuser.
psql_() {
  local bin
  bin=$(echo "$root"/postgres/usr/lib/postgresql/*/bin)
  LD_LIBRARY_PATH=$(libraries "$root/postgres") \
    "$bin/psql" -v ON_ERROR_STOP=1 -qtA "$@"
}

alive() { [ -s "$1" ] && kill -0 "$(cat "$1")" 2>/dev/null; }

temporal() { # DIR SUPERUSER
  if alive "$1/temporal/pid"; then cat "$1/temporal/address"; return; fi
  mkdir -p "$1/temporal"
  local listen=127.0.0.1:0
  [ ! -s "$1/temporal/address" ] || listen=$(cat "$1/temporal/address")
  rm -f "$1/temporal/ready"
  setsid "$root/bin/temporal" --postgres "$2" --listen "$listen" --ready-file "$1/temporal/ready" \
    </dev/null >>"$1/temporal/log" 2>&1 &
  echo $! >"$1/temporal/pid"
  for _ in $(seq 1200); do
    if [ -s "$1/temporal/ready" ]; then cp "$1/temporal/ready" "$1/temporal/address"; cat "$1/temporal/address"; return; fi
    alive "$1/temporal/pid" || { tail -20 "$1/temporal/log" >&2; die "Temporal did not start"; }
    sleep 0.1
  done
  die "Temporal is not ready after two minutes; see $1/temporal/log"
}

# database makes the database of the program with its owner and the role it
# runs as, which owns nothing.
database() { # SUPERUSER
  psql_ "$1" <<'SQL'
SELECT 'CREATE ROLE liminal_owner LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'liminal_owner')\gexec
SELECT 'CREATE ROLE liminal_app LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'liminal_app')\gexec
SELECT 'CREATE DATABASE liminal OWNER liminal_owner' WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'liminal')\gexec
SQL
  psql_ "${1/\/postgres\?//liminal?}" -c 'CREATE EXTENSION IF NOT EXISTS vector' 2>/dev/null
}

# reranker names the model of scripts/reranker.sh where it can be had. Tests that
# need it say what is missing.
reranker() {
  local file
  if file=$(SHARED_FS_ROOT='' "$here/scripts/reranker.sh" "$root/models"); then echo "export LANE_RERANKER='$file'"; fi
}

up() { # DIR [--durable]
  build >&2
  mkdir -p "$1"
  local postgres redis temporal
  postgres=$("$here/scripts/lane/postgres.sh" start "$root/postgres" "$1/postgres" "${2:-}")
  redis=$("$here/scripts/lane/redis.sh" "$root/redis" start "$1/redis" ${2:+--aof})
  temporal=$(temporal "$1" "$postgres")
  database "$postgres"
  local at=${postgres#*@}
  at=${at/\/postgres\?//liminal?}
  cat >"$1/env" <<ENV
export LANE_POSTGRES='$postgres'
export LANE_REDIS='$redis'
export LANE_TEMPORAL='$temporal'
export LANE_BIN='$(echo "$root"/postgres/usr/lib/postgresql/*/bin)'
export LANE_LIB='$(libraries "$root/postgres")'
$(reranker)
export LIMINAL_MIGRATE_URL='postgres://liminal_owner@$at'
export DATABASE_URL='postgres://liminal_app@$at'
export REDIS_URL='$redis'
export TEMPORAL_ADDRESS='$temporal'
export LIMINAL_ALLOW_OLD_PGVECTOR=true  # Debian's is older than we want in production
ENV
}

down() { # DIR
  if alive "$1/temporal/pid"; then
    local pid
    pid=$(cat "$1/temporal/pid")
    kill "$pid"
    # In a container whose first process reaps nobody, a dead one stays a zombie.
    while kill -0 "$pid" 2>/dev/null && ! grep -qs '^State:[[:space:]]*Z' "/proc/$pid/status"; do sleep 0.05; done
  fi
  rm -f "$1/temporal/pid"
  [ ! -d "$1/redis" ] || "$here/scripts/lane/redis.sh" "$root/redis" stop "$1/redis"
  [ ! -d "$1/postgres" ] || "$here/scripts/lane/postgres.sh" stop "$1/postgres"
}

clean() { down "$1"; rm -rf "$1"; }

case ${1:-} in
  up) up "$root/up" "${2:-}"; cat "$root/up/env" ;;
  env) cat "$root/up/env" 2>/dev/null || die "no lane runs; start one: scripts/lane.sh up" ;;
  down) down "$root/up" ;;
  clean) clean "$root/up" ;;
  run)
    shift
    program=
    if [ "${1:-}" = --program ]; then program=1; shift; fi
    [ "${1:-}" != -- ] || shift
    [ $# -gt 0 ] || die "run needs a command"
    dir=$root/run-$$
    trap 'clean "$dir"' EXIT
    up "$dir" ${program:+--durable}
    if [ -z "$program" ]; then sed -i '/ LANE_/!d' "$dir/env"; fi
    # shellcheck disable=SC1091
    . "$dir/env"
    if [ -n "$program" ]; then "$here/bin/liminald" migrate; fi
    "$@"
    ;;
  *) sed -n '2,20s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
