#!/usr/bin/env bash
# PostgreSQL with pgvector for tests, in a folder of its own.
#
#   scripts/lane/postgres.sh PREFIX                       build, or find it built
#   scripts/lane/postgres.sh start PREFIX DIR [--durable] prints the superuser's URL
#   scripts/lane/postgres.sh stop DIR
#
# Everything comes from this machine's Debian mirror: the server and a
# transaction pooler as packages that are unpacked and not installed, pgvector
# as the source package of a newer Debian, compiled here (10 s). Nothing on the
# system changes, and it does not matter whether PostgreSQL is installed.
#
# A cluster listens on a free port of the loopback only and trusts whoever
# reaches it. It is for tests: without --durable it forgets what it was told
# when the machine loses power, and is twice as fast for it.
set -euo pipefail

self=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")
vector_suite=${LANE_VECTOR_SUITE:-trixie} # the oldest Debian with pgvector's source

die() { echo "postgres.sh: $*" >&2; exit 1; }
# shellcheck source=scripts/lane/packages.sh
. "$(dirname "$self")/packages.sh"
say() { echo "postgres.sh: $*" >&2; }

# stamp changes when what this script would build changes.
stamp() { { cat "$self" "$(dirname "$self")/packages.sh"; echo "$vector_suite"; uname -m; } | sha256sum | cut -c1-16; }

vector() { # PREFIX VERSION HEADERS
  local prefix=$1 v=$2 headers=$3
  apt-get source -qq --download-only pgvector || die "cannot download the source of pgvector"
  tar xzf pgvector_*.orig.tar.gz
  cd pgvector-*/
  local flags=(-O2 -fPIC -ftree-vectorize -fassociative-math -fno-signed-zeros -fno-trapping-math
    -fno-strict-aliasing -fwrapv -fexcess-precision=standard)
  printf '%s\n' src/*.c | xargs -P"$(nproc)" -I{} gcc "${flags[@]}" \
    -I"$headers/usr/include/postgresql/$v/server" -I"$headers/usr/include/postgresql" -c {} -o {}.o
  gcc -shared -o "$prefix/usr/lib/postgresql/$v/lib/vector.so" src/*.c.o -lm
  local to=$prefix/usr/share/postgresql/$v/extension
  cp vector.control sql/vector--*--*.sql "$to/"
  cp sql/vector.sql "$to/vector--$(sed -n "s/^default_version = '\(.*\)'/\1/p" vector.control).sql"
}

build() {
  local prefix=$1 v
  # What was installed when it was built may have been removed since.
  if [ "$(cat "$prefix/.stamp" 2>/dev/null)" = "$(stamp)" ] && [ -z "$(missing "$prefix")" ]; then return; fi
  command -v gcc >/dev/null || die "gcc is needed to compile pgvector"
  work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
  private_apt "$work/apt" "$(suite)" "$vector_suite"
  v=$(apt-cache depends postgresql | sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p' | head -n1)
  [ -n "$v" ] || die "Debian $(suite) names no postgresql package"
  say "building PostgreSQL $v with pgvector below $prefix"
  mkdir -p "$(dirname "$prefix")" "$work/deb"
  prefix=$(cd "$(dirname "$prefix")" && pwd)/$(basename "$prefix")
  rm -rf "$prefix.new"; mkdir "$prefix.new"
  cd "$work/deb"
  unpack "$work/headers" "postgresql-server-dev-$v" libpq-dev
  unpack "$prefix.new" "postgresql-$v" "postgresql-client-$v" pgbouncer
  complete "$prefix.new" "postgresql-$v" "postgresql-client-$v" pgbouncer
  (vector "$prefix.new" "$v" "$work/headers")
  rm -f "$prefix.new/usr/lib/postgresql/$v/lib/llvmjit"*
  rm -rf "$prefix.new/usr/share/doc" "$prefix.new/usr/share/man" "$prefix.new/usr/share/locale" "$prefix.new/usr/lib/postgresql/$v/lib/bitcode"
  echo "$v" > "$prefix.new/.version"
  stamp > "$prefix.new/.stamp"
  rm -rf "$prefix"; mv "$prefix.new" "$prefix"
}

# as_nobody runs a command without root's rights: the server refuses them.
as_nobody() {
  if [ "$(id -u)" = 0 ]; then setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; else "$@"; fi
}

free_port() {
  local port
  for _ in $(seq 50); do
    port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
    if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then echo "$port"; return; fi
  done
  die "no free port found"
}

settings() { # DIR durable?
  cat <<CONF
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 300
shared_buffers = 256MB
max_wal_senders = 0
wal_level = minimal
max_wal_size = 2GB
jit = off
timezone = 'UTC'
log_min_messages = warning
log_min_error_statement = panic
max_parallel_maintenance_workers = 0  # pgvector below 0.8.2 overflows a buffer in a parallel build
CONF
  if [ "$2" != --durable ]; then printf 'fsync = off\nsynchronous_commit = off\nfull_page_writes = off\n'; fi
}

start() {
  local prefix dir=$2 durable=${3:-} v bin port
  prefix=$(cd "$1" && pwd); v=$(cat "$prefix/.version"); bin=$prefix/usr/lib/postgresql/$v/bin
  mkdir -p "$dir"; dir=$(cd "$dir" && pwd)
  if [ "$(id -u)" = 0 ]; then chown 65534:65534 "$dir"; fi
  as_nobody test -x "$bin/postgres" -a -w "$dir" || die "the user nobody cannot reach $prefix or $dir; choose folders that everybody may enter"
  export LD_LIBRARY_PATH; LD_LIBRARY_PATH=$(libraries "$prefix")
  cd "$dir"
  echo "$bin" > .bin
  if [ ! -s data/PG_VERSION ]; then
    as_nobody "$bin/initdb" -D "$dir/data" -U postgres --auth=trust -E UTF8 --locale=C.UTF-8 --no-sync >initdb.log 2>&1 || { cat initdb.log >&2; die "initdb failed"; }
    settings "$dir" "$durable" | as_nobody tee -a data/postgresql.conf >/dev/null
  fi
  if as_nobody "$bin/pg_ctl" -D data status >/dev/null 2>&1; then port=$(sed -n 4p data/postmaster.pid)
  else
    for attempt in 1 2 3; do # another program may take the port first
      port=$(free_port)
      as_nobody "$bin/pg_ctl" -D data -w -t 60 -l data/server.log -o "-p $port" start >/dev/null 2>&1 && break
      [ "$attempt" != 3 ] || { tail -20 data/server.log >&2; die "PostgreSQL does not start"; }
    done
  fi
  echo "postgres://postgres@127.0.0.1:$port/postgres?sslmode=disable"
}

stop() {
  local dir; dir=$(cd "$1" && pwd); cd "$dir"
  LD_LIBRARY_PATH=$(libraries "$(cat .bin | sed 's,/usr/lib/postgresql/.*,,')") as_nobody "$(cat .bin)/pg_ctl" -D data -m immediate -w stop >/dev/null 2>&1 || true
}

case ${1:-} in
  start) [ $# -ge 3 ] || die "start needs PREFIX and DIR"; build "$2"; start "$2" "$3" "${4:-}" ;;
  stop) [ $# = 2 ] || die "stop needs DIR"; stop "$2" ;;
  '' | -*) sed -n '2,15s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  *) build "$1" ;;
esac
