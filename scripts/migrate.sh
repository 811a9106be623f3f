#!/usr/bin/env bash
# Brings a PostgreSQL database up to date with psql alone.
#
#   DATABASE_URL=… scripts/migrate.sh [FOLDER]
#
# It does what `liminald migrate` does, with the same files (migrations/postgres
# by default), the same lock and the same ledger, so either may run first, and
# running it again is safe. An applied file that was edited, renamed or removed
# stops it before anything is changed, and so does a database that has had more
# than the folder holds.
#
# LIMINAL_MIGRATE_URL is the connection string of the tables' owner; when it is
# set, the role of DATABASE_URL is given what the program needs.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$here/migrations/postgres}
: "${DATABASE_URL:?name the database, as in postgres://owner@host/liminal}"
owner=${LIMINAL_MIGRATE_URL:-$DATABASE_URL}
command -v psql >/dev/null || { echo "migrate.sh: psql is needed" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
script=$work/migrate.sql

# The lock is asked for again and again, each time in a statement of its own:
# one that waits deadlocks with CREATE INDEX CONCURRENTLY.
cat > "$work/lock.sql" <<'SQL'
SELECT pg_try_advisory_lock(x'6c696d696e616c'::bigint) AS held \gset
\if :held
\else
  \! sleep 0.2
  \ir lock.sql
\endif
SQL

cat > "$script" <<'SQL'
\set ON_ERROR_STOP on
SET client_min_messages = warning;
\ir lock.sql
CREATE TABLE IF NOT EXISTS migration (
		number integer PRIMARY KEY, name text NOT NULL, sum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now());
SQL

# check compares an entry of the ledger with a file, before any file is run.
check() { # NUMBER NAME SUM
  cat >> "$script" <<SQL
DO \$\$ DECLARE done migration; BEGIN
  SELECT * INTO done FROM migration WHERE number = $1;
  IF done.number IS NULL THEN
    IF EXISTS (SELECT 1 FROM migration WHERE number > $1) THEN
      RAISE 'migration $(printf %04d "$1")_$2 was never applied and a later one was; restore the files as they were';
    END IF;
  ELSIF done.name <> '$2' THEN
    RAISE 'the database has had migration $(printf %04d "$1")_% where this folder has $(printf %04d "$1")_$2; restore the files as they were', done.name;
  ELSIF done.sum <> '$3' THEN
    RAISE 'migration $(printf %04d "$1")_$2 was edited after it was applied; restore the file and put the change into a new migration';
  END IF;
END \$\$;
SQL
}

# apply runs a file and writes its entry, both or neither.
apply() { # NUMBER NAME SUM FILE
  cat >> "$script" <<SQL
SELECT NOT EXISTS (SELECT 1 FROM migration WHERE number = $1) AS pending \gset
\if :pending
  BEGIN;
  SET LOCAL app.system = 'on';
  SET LOCAL max_parallel_maintenance_workers = 0;
  \o /dev/null
  \i '$4'
  \o
  INSERT INTO migration (number, name, sum) VALUES ($1, '$2', '$3');
  COMMIT;
  \echo applied $(printf %04d "$1")_$2
\endif
SQL
}

last=0
applies=()
for file in "$folder"/*.sql; do
  base=$(basename "$file" .sql)
  [[ $base =~ ^([0-9]{4})_([a-z0-9_]+)$ ]] || { echo "migrate.sh: $file is not named NNNN_words.sql" >&2; exit 1; }
  number=$((10#${BASH_REMATCH[1]})) name=${BASH_REMATCH[2]}
  [ "$number" = $((last + 1)) ] || { echo "migrate.sh: $file stands where number $((last + 1)) is expected" >&2; exit 1; }
  last=$number
  sum=$(sha256sum < "$file" | cut -d' ' -f1)
  cp "$file" "$work/$base.sql" # what was summed is what runs
  check "$number" "$name" "$sum"
  applies+=("$number $name $sum $work/$base.sql")
done
cat >> "$script" <<SQL
DO \$\$ BEGIN
  IF EXISTS (SELECT 1 FROM migration WHERE number > $last) THEN
    RAISE 'the database is newer than this folder, which ends at $(printf %04d "$last")';
  END IF;
END \$\$;
SQL
for each in "${applies[@]}"; do
  read -r number name sum file <<< "$each"
  apply "$number" "$name" "$sum" "$file"
done

if [ -n "${LIMINAL_MIGRATE_URL:-}" ] && [ "$LIMINAL_MIGRATE_URL" != "$DATABASE_URL" ]; then
  role=$(sed -nE 's,^postgres(ql)?://([^:@/]+)(:[^@]*)?@.*,\2,p' <<< "$DATABASE_URL")
  [ -z "$role" ] || printf '\\o /dev/null\nSELECT app_grant(:'"'role'"');\n' >> "$script"
fi
psql "$owner" -X -q -v role="${role:-}" -f "$script"
