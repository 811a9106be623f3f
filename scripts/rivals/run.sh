#!/usr/bin/env bash
# Measures Liminal beside LangGraph and DBOS on this machine, in turns, and
# prints one table in Markdown. README.md beside this file says what is measured.
#
#   scripts/rivals/run.sh                 needs bin/liminald: make rivals builds it
#
#   RIVALS_RUNS=300    runs alone; twice as many at 16 at once. Below 100, a try:
#                      liminald bench measures little too (--quick)
#   RIVALS_ROUNDS=2    how often everything is measured, in turns
#   RIVALS_ONLY=…      these subjects, separated by spaces; run.sh --list names them
#   RIVALS_NOTE=…      a sentence to print above the table
#   RIVALS_OUT=FILE    write the table there too
#   LIMINALD=FILE      the program to measure; bin/liminald without
#   PYTHON=FILE        3.11 or newer, with its venv module; python3 without
#   LANE_ROOT=DIR      where PostgreSQL is built or lies built, as for scripts/lane.sh
#
# Python's packages come from PyPI, once, into .cache/rivals. PostgreSQL is one
# of its own that lasts as long as this; figures stay in .cache/rivals/results.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
self=$here/scripts/rivals
cache=$here/.cache/rivals
venv=$cache/venv
python=${PYTHON:-python3}
liminald=${LIMINALD:-$here/bin/liminald}
runs=${RIVALS_RUNS:-300}
rounds=${RIVALS_ROUNDS:-2}

# What is measured unless RIVALS_ONLY says otherwise, in this order.
default=(liminal langgraph-postgres-sync langgraph-sqlite-sync langgraph-postgres-exit langgraph-sqlite-exit dbos-postgres)
# The same through each rival's asynchronous interface, which costs it more.
others=(langgraph-postgres-sync-asyncio langgraph-sqlite-sync-asyncio langgraph-postgres-exit-asyncio langgraph-sqlite-exit-asyncio dbos-postgres-asyncio)

die() { echo "rivals: $*" >&2; exit 1; }
say() { echo "rivals: $*" >&2; }

case ${1:-} in
  '') ;;
  --list) printf '%s\n' "${default[@]}" "${others[@]}"; exit ;;
  *) sed -n '2,19s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
read -r -a subjects <<<"${RIVALS_ONLY:-${default[*]}}"
for subject in "${subjects[@]}"; do
  case " ${default[*]} ${others[*]} " in *" $subject "*) ;; *) die "no subject is called $subject; scripts/rivals/run.sh --list names them" ;; esac
done
for number in "$runs" "$rounds"; do
  case $number in "" | *[!0-9]* | 0*) die "RIVALS_RUNS and RIVALS_ROUNDS are whole numbers above 0" ;; esac
done

# environment makes the virtual environment, or finds it made of the same pins.
environment() {
  command -v "$python" >/dev/null ||
    die "there is no $python; install Python 3.11 or newer (Debian: apt-get install python3 python3-venv) or name it with PYTHON="
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    die "$("$python" --version) is too old; the pinned packages need 3.11 or newer: name one with PYTHON="
  local stamp
  stamp=$({ "$python" -c 'import sys; print(sys.version, sys.prefix)'; cat "$self/requirements.txt"; } | sha256sum | cut -c1-16)
  if [ "$(cat "$venv/.stamp" 2>/dev/null)" = "$stamp" ]; then return; fi
  say "installing the pinned packages below $venv"
  rm -rf "$venv"
  mkdir -p "$cache"
  "$python" -m venv "$venv" >"$cache/venv.log" 2>&1 || {
    cat "$cache/venv.log" >&2
    die "$python cannot make a virtual environment (Debian: apt-get install python3-venv; or name another with PYTHON=)"
  }
  "$venv/bin/pip" install --quiet --disable-pip-version-check --no-input -r "$self/requirements.txt" >"$cache/pip.log" 2>&1 || {
    tail -5 "$cache/pip.log" >&2
    die "the packages of scripts/rivals/requirements.txt could not be installed (all of pip's words: $cache/pip.log). They come from PyPI, once; behind a proxy or a mirror set HTTPS_PROXY or PIP_INDEX_URL"
  }
  echo "$stamp" >"$venv/.stamp"
}

# liminal measures this program, embedded whatever the environment names. Its
# scratch folder is on the disk that PostgreSQL and SQLite write to.
liminal() { # OUT
  local quick=
  [ "$runs" -ge 100 ] || quick=1
  (cd "$work" && env -u DATABASE_URL -u REDIS_URL -u TEMPORAL_ADDRESS -u LIMINAL_MIGRATE_URL \
    "$liminald" bench --only turn ${quick:+--quick} --json --scratch "$work" >"$1" 2>"$work/liminal.log") ||
    { tail -5 "$work/liminal.log" >&2; die "liminald bench failed"; }
}

rival() { # SUBJECT OUT
  local parts args dir=$work/$1
  IFS=- read -r -a parts <<<"$1"
  case ${parts[0]} in
    langgraph) args=(drive_langgraph.py --store "${parts[1]}" --durability "${parts[2]}") ;;
    dbos) args=(drive_dbos.py) ;;
  esac
  case $1 in *-asyncio) args+=(--api asyncio) ;; esac
  rm -rf "$dir"
  mkdir "$dir"
  (cd "$dir" && "$venv/bin/python" -B "$self/${args[0]}" "${args[@]:1}" --name "$1" --runs "$runs" \
    --postgres "$postgres" --postmaster "$postmaster" --dir "$dir" --out "$2" >"$work/$1.log" 2>&1) ||
    { tail -20 "$work/$1.log" >&2; die "$1 failed"; }
}

environment
case " ${subjects[*]} " in
  *' liminal '*)
    [ -x "$liminald" ] || die "there is no $liminald; build it (make build) or name it with LIMINALD="
    case $("$liminald" bench --help 2>&1 || true) in *--only*) ;; *) die "the bench of $liminald knows no --only; build it anew (make build)" ;; esac
    ;;
esac

work=$cache/run-$$
results=$cache/results
stop() {
  "$here/scripts/lane/postgres.sh" stop "$work/postgres" >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT TERM
mkdir -p "$work/postgres"
say "starting PostgreSQL"
root=${LANE_ROOT:-$here/.cache/lane}
postgres=$("$here/scripts/lane/postgres.sh" start "$root/postgres" "$work/postgres" --durable)
postmaster=$(head -n 1 "$work/postgres/data/postmaster.pid")
version=$("$venv/bin/python" -c 'import psycopg, sys; print(psycopg.connect(sys.argv[1]).execute("SHOW server_version").fetchone()[0])' "$postgres")

rm -rf "$results"
mkdir -p "$results"
for round in $(seq "$rounds"); do
  for subject in "${subjects[@]}"; do
    say "round $round of $rounds: $subject"
    if [ "$subject" = liminal ]; then liminal "$results/$round-$subject.json"; else rival "$subject" "$results/$round-$subject.json"; fi
  done
done
table=$("$venv/bin/python" -B "$self/table.py" --dir "$results" --postgres "$version" --note "${RIVALS_NOTE:-}")
if [ -n "${RIVALS_OUT:-}" ]; then echo "$table" >"$RIVALS_OUT"; fi
echo "$table"
