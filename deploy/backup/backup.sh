#!/usr/bin/env bash
# One backup: a logical dump of each database, kept 7 days, and a copy of
# people's files once a week, kept 4 weeks. Redis is not backed up: it holds
# nothing that must survive (OPS-05).
#
#   BACKUP_URL=postgres://liminal_backup@db/liminal SHARED_FS_ROOT=/data \
#   BACKUP_DIR=/backup deploy/backup/backup.sh
#
# BACKUP_URL needs a role with BYPASSRLS (row-level security holds for the
# owner of the tables as well): CREATE ROLE liminal_backup LOGIN BYPASSRLS;
# GRANT pg_read_all_data TO liminal_backup;
# TEMPORAL_BACKUP_URLS, separated by spaces, are Temporal's own databases; leave
# it empty where somebody else runs Temporal.
#
# Run it every night: deploy/systemd/liminald-backup.timer, or a CronJob.
set -euo pipefail
umask 077

die() { echo "backup.sh: $*" >&2; exit 1; }
say() { echo "backup.sh: $*"; }

: "${BACKUP_URL:?the database to back up, as a role with BYPASSRLS}"
: "${BACKUP_DIR:?the folder backups are kept in}"
: "${SHARED_FS_ROOT:?the folder of people’s files}"
dumps_days=${BACKUP_DUMP_DAYS:-7}
files_weeks=${BACKUP_FILES_WEEKS:-4}
now=${BACKUP_NOW:-$(date -u +%Y%m%dT%H%M%SZ)}

mkdir -p "$BACKUP_DIR/dumps" "$BACKUP_DIR/files"
exec 9>"$BACKUP_DIR/.lock"
flock -n 9 || die "another backup is running"

# dump writes under another name until it is complete and can be read back.
dump() { # NAME URL
  local to=$BACKUP_DIR/dumps/$1-$now.dump
  # Without the keys of runs of which nothing is kept: what they seal in a dump
  # nobody can read, whenever it was made.
  pg_dump --format=custom --compress=6 --no-password --exclude-table-data=public.run_key --file="$to.part" "$2" || { rm -f "$to.part"; die "the database $1 was not dumped"; }
  pg_restore --list "$to.part" >/dev/null || { rm -f "$to.part"; die "the dump of $1 cannot be read back"; }
  mv "$to.part" "$to"
  say "$to, $(stat -c %s "$to") bytes"
}

dump liminal "$BACKUP_URL"
n=0
for url in ${TEMPORAL_BACKUP_URLS:-}; do
  n=$((n + 1))
  dump "temporal$n" "$url"
done

# Files once a week. Unchanged ones are links to the copy before, among the
# copies only: a file of people's with two names would be refused.
week=$(date -u -d "${now:0:8}" +%G-W%V)
if [ ! -d "$BACKUP_DIR/files/$week" ]; then
  part=$BACKUP_DIR/files/.$week.part
  rm -rf "$part"; mkdir "$part"
  last=$(find "$BACKUP_DIR/files" -mindepth 1 -maxdepth 1 -type d -name '*-W*' ! -name '.*' | sort | tail -n 1)
  for part_of in users shared artifacts; do
    [ -d "$SHARED_FS_ROOT/$part_of" ] || continue
    if command -v rsync >/dev/null; then
      rsync -a --exclude='/*/tmp/' ${last:+--link-dest="$last/$part_of"} "$SHARED_FS_ROOT/$part_of/" "$part/$part_of/"
    else
      cp -a --reflink=auto "$SHARED_FS_ROOT/$part_of" "$part/$part_of"
    fi
  done
  mv "$part" "$BACKUP_DIR/files/$week"
  say "$BACKUP_DIR/files/$week"
fi

# What is older than promised goes; names carry the time, so a clock that was
# wrong, or a copy elsewhere, changes nothing.
oldest=$(date -u -d "${now:0:8} - $dumps_days days" +%Y%m%d)
for f in "$BACKUP_DIR"/dumps/*.dump; do
  [ -e "$f" ] || continue
  stamp=${f##*-}
  if [ "${stamp:0:8}" -lt "$oldest" ]; then rm "$f"; say "removed ${f##*/}"; fi
done
oldest=$(date -u -d "${now:0:8} - $((files_weeks * 7)) days" +%G-W%V)
for d in "$BACKUP_DIR"/files/*-W*; do
  [ -d "$d" ] || continue
  if [[ ${d##*/} < $oldest ]]; then rm -rf "$d"; say "removed ${d##*/}"; fi
done
