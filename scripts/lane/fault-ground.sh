#!/usr/bin/env bash
# What the production form of e2e/fault stands on: a PostgreSQL cluster that
# keeps its word after kill -9, with the program's database in it, and the
# programs to run. Nothing is running when it ends; it prints where things are:
#
#   scripts/lane/fault-ground.sh DIR
#   POSTGRES=/…/bin/postgres          REDIS=/…/redis-server   TEMPORAL=/…/temporal
#   POSTGRES_LIBRARIES=/…             REDIS_LIBRARIES=/…      PSQL=/…/bin/psql
#   POSTGRES_DATA=DIR/postgres/data
#
# The servers themselves are built once, below LANE_ROOT as for scripts/lane.sh.
set -euo pipefail
[ $# = 1 ] || { sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2; }
die() { echo "fault-ground.sh: $*" >&2; exit 1; }
here=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=scripts/lane/packages.sh
. "$here/scripts/lane/packages.sh"
root=${LANE_ROOT:-$here/.cache/lane}
mkdir -p "$root"
root=$(cd "$root" && pwd)

{
  "$here/scripts/lane/postgres.sh" "$root/postgres"
  "$here/scripts/lane/redis.sh" "$root/redis"
  (cd "$here" && "${GO:-go}" build -ldflags '-s -w' -o "$root/bin/temporal" ./scripts/temporal)
} >&2

bin=$(echo "$root"/postgres/usr/lib/postgresql/*/bin)
postgres_libraries=$(libraries "$root/postgres")
trap '"$here/scripts/lane/postgres.sh" stop "$1/postgres" >&2' EXIT
url=$("$here/scripts/lane/postgres.sh" start "$root/postgres" "$1/postgres" --durable)

psql_() { LD_LIBRARY_PATH=$postgres_libraries "$bin/psql" -v ON_ERROR_STOP=1 -qtA "$@" >&2; }
psql_ "$url" <<'SQL'
CREATE ROLE liminal_owner LOGIN;
CREATE ROLE liminal_app LOGIN;
CREATE DATABASE liminal OWNER liminal_owner;
SQL
psql_ "${url/\/postgres\?//liminal?}" -c 'CREATE EXTENSION vector'

cat <<ENV
POSTGRES=$bin/postgres
POSTGRES_LIBRARIES=$postgres_libraries
POSTGRES_DATA=$(cd "$1" && pwd)/postgres/data
PSQL=$bin/psql
REDIS=$root/redis/usr/bin/redis-server
REDIS_LIBRARIES=$(libraries "$root/redis")
TEMPORAL=$root/bin/temporal
ENV
