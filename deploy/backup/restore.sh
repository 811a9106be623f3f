#!/usr/bin/env bash
# Brings a backup back, into a database that is empty and a folder that is
# empty or missing. Nothing is overwritten.
#
#   RESTORE_URL=postgres://liminal_owner@db/liminal SHARED_FS_ROOT=/data \
#     deploy/backup/restore.sh /backup/dumps/liminal-20261120T020000Z.dump /backup/files/2026-W47
#
# RESTORE_URL is the owner of the tables to be; the role the program runs as
# must exist. The extension vector must be created in the database already, or
# the owner be allowed to create it. Afterwards `liminald migrate` brings the
# schema to the program's version, and runs go on when a worker starts: a run
# that Temporal no longer knows is started again from its row.
set -euo pipefail

die() { echo "restore.sh: $*" >&2; exit 1; }

[ $# -ge 1 ] || { sed -n '2,15s/^# \{0,1\}//p' "$0" >&2; exit 2; }
: "${RESTORE_URL:?the empty database to restore into}"
dump=$1 files=${2:-}
[ -s "$dump" ] || die "$dump is not a dump"

tables=$(psql -v ON_ERROR_STOP=1 -qtA "$RESTORE_URL" -c "SELECT count(*) FROM information_schema.tables WHERE table_schema NOT IN ('pg_catalog', 'information_schema')") ||
  die "the database cannot be reached"
[ "$tables" = 0 ] || die "the database holds $tables tables; restore into an empty one"
if [ -n "$files" ]; then
  : "${SHARED_FS_ROOT:?the folder to restore files into}"
  [ -d "$files" ] || die "$files is not a copy of files"
  if [ -d "$SHARED_FS_ROOT/users" ]; then die "$SHARED_FS_ROOT holds files already; restore into an empty folder"; fi
fi

# Where the extension exists already its entries are left out: only a superuser
# could make it. It is used once in the session that restores, because its own
# settings, which functions of ours carry, are known only after that.
list=$(mktemp); trap 'rm -f "$list"' EXIT
pg_restore --list "$dump" >"$list"
first=
if [ "$(psql -qtA "$RESTORE_URL" -c "SELECT count(*) FROM pg_extension WHERE extname = 'vector'")" = 1 ]; then
  sed -i '/ EXTENSION /d' "$list"
  first="SELECT '[1]'::vector;"
fi
{ echo "$first"; pg_restore --no-owner --use-list="$list" --file=- "$dump"; } |
  psql -v ON_ERROR_STOP=1 --single-transaction --quiet --output=/dev/null "$RESTORE_URL" ||
  die "the dump was not restored; the database is as it was"

if [ -n "$files" ]; then
  mkdir -p "$SHARED_FS_ROOT"
  cp -a --reflink=auto "$files/." "$SHARED_FS_ROOT/"
  # Among copies unchanged files share their bytes; here each must have one name.
  find "$SHARED_FS_ROOT" -type f -links +1 -exec sh -c 'for f; do cp -p "$f" "$f.restored" && mv "$f.restored" "$f"; done' sh {} +
fi
echo "restore.sh: restored $dump${files:+ and $files}; now run: liminald migrate"
